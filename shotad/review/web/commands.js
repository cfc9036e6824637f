/**
 * The table of commands: what can be done on the page, by which key and by which button.
 *
 * Help, keys and the hints of buttons come from this table. A button with `data-command="NAME"` runs it.
 *
 * @typedef {"list"|"edit"|"any"} Where  list: focus in the list of lines. edit: in an element within
 *   `[data-where=edit]`. any: everywhere, except that text fields keep what they need themselves.
 * @typedef {{name: string, title: string, group: string, keys?: string[] | Partial<Record<Where, string[]>>,
 *   where?: Where, run: (event?: Event) => any, repeats?: boolean, when?: (event: KeyboardEvent) => boolean}} Command
 *   repeats: a key that is held does it again and again. when: whether the key is ours now; if not, the browser has it.
 *   Keys are written "j", "?", "ArrowDown", "Ctrl+Z",
 *   "Ctrl+Shift+Z", "Alt+[", "F6". A list of keys acts at `where` (list unless told); the object names keys by place.
 */

import { alert } from "./say.js";

/** Headings of the help page, in order. */
export const GROUPS = ["Move", "Hear", "Choose and edit", "Accept", "Time", "Find", "Work", "Page"];

/** @type {Map<string, Command & {keys: Record<Where, string[]>}>} */
const table = new Map();

/** @returns {(Command & {keys: Record<Where, string[]>})[]} All commands, as registered. */
export const all = () => [...table.values()];

/** @returns {Command & {keys: Record<Where, string[]>}} The command of a name. */
export const command = (name) => table.get(name);

/**
 * @param {Command} command
 */
export function register(command) {
  if (table.has(command.name)) throw new Error(`command ${command.name} is there already`);
  const given = Array.isArray(command.keys) ? { [command.where ?? "list"]: command.keys } : (command.keys ?? {});
  const keys = { list: [], edit: [], any: [], ...given };
  table.set(command.name, { ...command, keys });
  for (const button of document.querySelectorAll(`[data-command="${command.name}"]`)) hint(button);
}

/**
 * Runs a command; afterwards the focus is somewhere, if need be on the chosen line.
 *
 * @param {string} name
 * @param {Event} [event]
 * @returns {Promise<any>}
 */
export async function run(name, event) {
  const command = table.get(name);
  if (!command) {
    alert(`“${name}” cannot be done here.`);
    return null;
  }
  try {
    return await command.run(event);
  } catch (error) {
    console.error(name, error);
    alert(`${command.title}: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  } finally {
    keepFocus();
  }
}

/** Where the focus has nowhere to be (its element went), the chosen line takes it. */
export function keepFocus() {
  const at = document.activeElement;
  if (at && at !== document.body && at.isConnected) return;
  if (document.querySelector("dialog[open], .menu:popover-open")) return;
  const list = document.getElementById("list");
  (list?.querySelector(".row[tabindex='0']") ?? list)?.focus({ preventScroll: true });
}

/** How a key is written for people: "Ctrl+Shift+Z", "↓". */
export function written(key) {
  const arrows = { ArrowDown: "Down", ArrowUp: "Up", ArrowLeft: "Left", ArrowRight: "Right", " ": "Space" };
  return key
    .split(/\+(?=.)/u)
    .map((part) => arrows[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join("+");
}

/** The keys of a command as they are written for people, those that act everywhere first. */
export const keysOf = (command) => [...command.keys.any, ...command.keys.edit, ...command.keys.list].map(written);

/**
 * Gives a button its hint and its keys, for the mouse and for screen readers.
 *
 * @param {Element} button
 */
export function hint(button) {
  const command = table.get(button.dataset.command);
  if (!command) return;
  const keys = [...command.keys.any, ...command.keys.edit, ...command.keys.list];
  if (keys.length) {
    button.setAttribute("aria-keyshortcuts", keys.map((key) => key.replace("Ctrl", "Control").replace(/ $/u, "Space")).join(" "));
    button.title = `${command.title} (${keys.map(written).join(", ")})`;
  }
  if (!button.textContent.trim() && !button.getAttribute("aria-label")) button.textContent = command.title;
}

/**
 * Makes a button that runs a command.
 *
 * @param {string} name
 * @param {string} [label] The command's title unless told.
 * @returns {HTMLButtonElement}
 */
export function button(name, label = "") {
  const made = document.createElement("button");
  made.type = "button";
  made.dataset.command = name;
  made.textContent = label || table.get(name)?.title || "";
  hint(made);
  return made;
}

/** Lets buttons run their commands. */
export function start() {
  document.addEventListener("click", (event) => {
    const pressed = event.target instanceof Element ? event.target.closest("[data-command]") : null;
    if (!pressed || pressed.getAttribute("aria-disabled") === "true") return;
    event.preventDefault();
    run(pressed.dataset.command, event);
  });
}
