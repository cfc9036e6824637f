/**
 * Keys to commands.
 *
 * Keys of one character act only while the focus is in the list of lines, and can be switched off (WCAG 2.1.4).
 * A text field keeps what it needs itself, a dialog all of its keys.
 */

import { all, run } from "./commands.js";
import { settings } from "./settings.js";

const FIELD = "input:not([type=checkbox], [type=radio], [type=button], [type=range]), textarea, select, [contenteditable=true]";
/** What a field does itself: its own undo comes first. */
const OWN = new Set(["Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+Y", "Ctrl+X", "Ctrl+C", "Ctrl+V", "Ctrl+A"]);
const UNDO = new Set(["Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+Y"]);
/** A field whose every change is saved: its undo is that of the page, the same before and after a reload. */
const SAVED = "#line-text";
/** Where Alt makes another character of the key (macOS), the place of the key tells. */
const PLACES = { BracketLeft: "[{", BracketRight: "]}", Comma: ",<", Period: ".>", Slash: "/?" };

/** @param {KeyboardEvent} event */
function character(event) {
  if (!event.altKey || event.getModifierState("AltGraph") || /^[\x20-\x7e]$/u.test(event.key) || event.key.length > 1)
    return event.key;
  const letter = /^(?:Key|Digit)(.)$/u.exec(event.code)?.[1].toLowerCase();
  return letter ?? PLACES[event.code]?.[event.shiftKey ? 1 : 0] ?? event.key;
}

/**
 * @param {KeyboardEvent} event
 * @returns {string} As the table of commands writes keys: "j", "?", "Ctrl+Shift+Z", "Alt+[", "ArrowDown".
 */
export function nameOf(event) {
  const graph = event.getModifierState("AltGraph"); // on Windows AltGr comes with Ctrl and Alt: it only makes a character
  // The command key of macOS does what Ctrl does for undo alone; the rest of it is the browser's.
  const command = event.metaKey && event.key.toLowerCase() === "z";
  if (event.metaKey && !command) return "";
  const ctrl = (event.ctrlKey || command) && !graph;
  const alt = event.altKey && !graph;
  let key = character(event);
  const letter = /^\p{L}$/u.test(key);
  if (letter) key = ctrl || alt ? key.toUpperCase() : key.toLowerCase(); // whatever Caps Lock says
  const shift = event.shiftKey && (key.length > 1 || letter || key === " ");
  return [ctrl && "Ctrl", alt && "Alt", shift && "Shift", key].filter(Boolean).join("+");
}

/** A key that types a character, alone. */
const single = (key) => [...key].length === 1 && key !== " ";

/**
 * @param {string} key
 * @param {Element} target
 * @returns {import("./commands.js").Command|undefined}
 */
function find(key, target) {
  const places = ["any"];
  // The chosen line is opened within the list: what acts in its fields and buttons are the keys of editing.
  if (target.closest("[data-where=edit]")) places.unshift("edit");
  // Where nothing has the focus, as after loading, they act on the chosen line.
  else if (target.closest("#list") || target === document.body) places.unshift("list");
  const field = target.matches(FIELD);
  const isOwn = OWN.has(key) && !(UNDO.has(key) && target.matches(SAVED));
  if (field && (isOwn || single(key) || (target.matches("select") && key.startsWith("Alt+Arrow")))) return undefined;
  if (single(key) && !settings.singleKeys) return undefined;
  for (const place of places) {
    const command = all().find((one) => one.keys[place].includes(key));
    if (command) return command;
  }
  return undefined;
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (event.defaultPrevented || event.isComposing || !(event.target instanceof Element)) return;
  if (document.querySelector("dialog[open], .menu:popover-open")) return;
  const key = nameOf(event);
  const command = key ? find(key, event.target) : undefined;
  if (!command || (command.when && !command.when(event))) return;
  event.preventDefault();
  // A key that is held repeats movement only: nobody accepts forty lines by leaning on a key.
  if (!event.repeat || command.repeats) run(command.name, event);
}

/** Listens to keys. */
export function start() {
  document.addEventListener("keydown", pressed);
}
