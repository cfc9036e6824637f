/**
 * The table of commands: what can be done on the page, by which key and by which button.
 *
 * Help, keys and the hints of buttons come from this table. A button with `data-command="NAME"` runs it.
 *
 * @typedef {"list"|"edit"|"any"} Place  Where keys act. list: the focus is in the list of lines. edit: it is in an
 *   element within `[data-where=edit]`. any: everywhere, except that text fields keep what they need themselves.
 * @typedef {Record<Place, string[]>} Keys  Written "j", "?", "ArrowDown", "Ctrl+Z", "Ctrl+Shift+Z", "Alt+[", "F6".
 *
 * @typedef {object} Command
 * @property {string} name
 * @property {string} title
 * @property {keyof typeof GROUPS} group
 * @property {Keys} keys
 * @property {(event?: Event) => any} run
 * @property {boolean} [repeats]  A key that is held does it again and again.
 * @property {(event: KeyboardEvent) => boolean} [when]  Whether the key is ours now; if not, the browser has it.
 */

import { alert } from "./say.js";
import { text } from "./texts.js";
import { about } from "./wording.js";

/** Groups of the help page, in order, and their headings. */
export const GROUPS = {
  move: text("help.move"),
  hear: text("help.hear"),
  edit: text("help.edit"),
  accept: text("help.accept"),
  time: text("help.time"),
  find: text("help.find"),
  work: text("help.work"),
  page: text("help.page"),
};

/** @type {Map<string, Command>} */
const table = new Map();

/** @returns {Command[]} All commands, as registered. */
export const allCommands = () => [...table.values()];

/**
 * @param {string} name
 * @returns {Command|undefined}
 */
export const commandNamed = (name) => table.get(name);

/**
 * Puts a command into the table.
 *
 * @param {Omit<Command, "keys"> & {keys?: string[]|Partial<Keys>}} command  A plain list of keys acts in the list.
 */
export function register(command) {
  if (table.has(command.name)) throw new Error(`command ${command.name} is there already`);
  const keys = Array.isArray(command.keys) ? { list: command.keys } : command.keys;
  table.set(command.name, { ...command, keys: { list: [], edit: [], any: [], ...keys } });
  for (const button of document.querySelectorAll(`[data-command="${command.name}"]`)) describeButton(button);
}

/**
 * Runs a command; afterwards the focus is somewhere, if need be on the chosen line.
 *
 * @param {string} name
 * @param {Event} [event]
 * @returns {Promise<any>} What the command returns; null where it failed, which the page says.
 */
export async function runCommand(name, event) {
  const command = table.get(name);
  if (!command) {
    alert(text("command.not_here", { command: name }));
    return null;
  }
  try {
    return await command.run(event);
  } catch (error) {
    console.error(name, error);
    alert(about(command.title, error instanceof Error ? error.message : String(error)));
    return null;
  } finally {
    keepFocus();
  }
}

/** Where the focus has nowhere to be (its element went), the chosen line takes it. */
export function keepFocus() {
  const focused = document.activeElement;
  if (focused && focused !== document.body && focused.isConnected) return;
  if (document.querySelector("dialog[open], .menu:popover-open")) return;
  const list = document.getElementById("list");
  (list?.querySelector(".row[tabindex='0']") ?? list)?.focus({ preventScroll: true });
}

const KEY_LABELS = {
  ArrowDown: text("key.down"),
  ArrowUp: text("key.up"),
  ArrowLeft: text("key.left"),
  ArrowRight: text("key.right"),
  PageDown: text("key.page_down"),
  PageUp: text("key.page_up"),
  Home: text("key.home"),
  End: text("key.end"),
  Enter: text("key.enter"),
  Escape: text("key.escape"),
  Ctrl: text("key.ctrl"),
  Shift: text("key.shift"),
  " ": text("key.space"),
};

/**
 * @param {string} key As in the table.
 * @returns {string} As it is written for people: "Ctrl+Shift+Z", "Down".
 */
export function keyLabel(key) {
  const parts = key.split(/\+(?=.)/u);
  return parts.map((part) => KEY_LABELS[part] ?? (part.length === 1 ? part.toUpperCase() : part)).join("+");
}

/** All keys of a command, those that act everywhere first. */
const keysOf = ({ keys }) => [...keys.any, ...keys.edit, ...keys.list];

/**
 * @param {Command} command
 * @returns {string[]} Its keys as they are written for people, those that act everywhere first.
 */
export const keyLabels = (command) => keysOf(command).map(keyLabel);

/**
 * @param {string} key As in the table.
 * @returns {boolean} Whether it is a key of any command, wherever that acts.
 */
export const isKeyOfPage = (key) => allCommands().some((command) => keysOf(command).includes(key));

/**
 * Gives a button its hint and its keys, for the mouse and for screen readers.
 *
 * @param {HTMLElement} button With `data-command`.
 */
export function describeButton(button) {
  const command = table.get(button.dataset.command);
  if (!command) return;
  const keys = keysOf(command);
  if (keys.length) {
    const ariaKeys = keys.map((key) => key.replace("Ctrl", "Control").replace(/ $/u, "Space"));
    button.setAttribute("aria-keyshortcuts", ariaKeys.join(" "));
    button.title = `${command.title} (${keyLabels(command).join(", ")})`;
  }
  if (!button.textContent.trim() && !button.getAttribute("aria-label")) button.textContent = command.title;
}

/**
 * Makes a button that runs a command.
 *
 * @param {string} name
 * @param {string} [label] The command's title if it is left out.
 * @returns {HTMLButtonElement}
 */
export function commandButton(name, label = "") {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.command = name;
  button.textContent = label || table.get(name)?.title || "";
  describeButton(button);
  return button;
}

/**
 * Shows in a button the key that does the same while one writes: the shortest of those that act everywhere.
 *
 * @param {HTMLElement} button  With `data-command`.
 * @returns {HTMLElement} The button.
 */
export function showKey(button) {
  const keys = table.get(button.dataset.command)?.keys.any.map(keyLabel) ?? [];
  if (!keys.length) return button;
  const shortest = keys.reduce((a, b) => (b.length < a.length ? b : a));
  const badge = document.createElement("kbd");
  badge.setAttribute("aria-hidden", "true"); // it has its keys in `aria-keyshortcuts` too
  badge.textContent = shortest;
  button.append(badge);
  return button;
}

/** Lets buttons run their commands. */
export function start() {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-command]") : null;
    if (!button || button.getAttribute("aria-disabled") === "true") return;
    event.preventDefault();
    runCommand(button.dataset.command, event);
  });
}
