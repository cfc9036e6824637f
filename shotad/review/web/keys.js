/**
 * Keys to commands.
 *
 * Keys of one character act only while the focus is in the list of lines, and can be switched off (WCAG 2.1.4).
 * A text field keeps what it needs itself. In a dialog or a menu the page's keys do nothing, and a key with Alt does
 * not open a menu of the browser either: whoever presses Alt+H means to hear the line, not Firefox's Help.
 */

import { allCommands, isKeyOfPage, runCommand } from "./commands.js";
import { settings } from "./settings.js";

const FIELD = "input:not([type=checkbox], [type=radio], [type=button], [type=range]), textarea, select, [contenteditable=true]";
/** What a field does itself: its own undo comes first. */
const FIELD_KEYS = new Set(["Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+Y", "Ctrl+X", "Ctrl+C", "Ctrl+V", "Ctrl+A"]);
const UNDO_KEYS = new Set(["Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+Y"]);
/** A field whose every change is saved: its undo is that of the page, the same before and after a reload. */
const SAVED_FIELD = "#line-text";
/** Characters of keys, without and with Shift, where Alt makes another one (macOS). */
const CHARACTERS = { BracketLeft: "[{", BracketRight: "]}", Comma: ",<", Period: ".>", Slash: "/?" };

/** The character of a key, whatever Alt makes of it. */
function characterOf(event) {
  // On Windows Alt and digits of the number pad write a character: Alt+0233 is é.
  if (event.altKey && /^Numpad\d$/u.test(event.code) && /^\d$/u.test(event.key)) return "";
  const isPlain = !event.altKey || event.getModifierState("AltGraph");
  if (isPlain || /^[\x20-\x7e]$/u.test(event.key) || event.key.length > 1) return event.key;
  const letter = /^(?:Key|Digit)(.)$/u.exec(event.code)?.[1].toLowerCase();
  return letter ?? CHARACTERS[event.code]?.[event.shiftKey ? 1 : 0] ?? event.key;
}

/**
 * @param {KeyboardEvent} event
 * @returns {string} As the table of commands writes keys: "j", "?", "Ctrl+Shift+Z", "Alt+[", "ArrowDown"; empty for
 *   keys of the browser.
 */
function keyOf(event) {
  const isAltGraph = event.getModifierState("AltGraph"); // on Windows it comes with Ctrl and Alt: it only makes a character
  // The command key of macOS does what Ctrl does for undo alone; the rest of it is the browser's.
  const isMacUndo = event.metaKey && event.key.toLowerCase() === "z";
  if (event.metaKey && !isMacUndo) return "";
  const ctrl = (event.ctrlKey || isMacUndo) && !isAltGraph;
  const alt = event.altKey && !isAltGraph;
  let key = characterOf(event);
  if (!key) return "";
  const isLetter = /^\p{L}$/u.test(key);
  if (isLetter) key = ctrl || alt ? key.toUpperCase() : key.toLowerCase(); // whatever Caps Lock says
  const shift = event.shiftKey && (key.length > 1 || isLetter || key === " ");
  return [ctrl && "Ctrl", alt && "Alt", shift && "Shift", key].filter(Boolean).join("+");
}

/** Whether a key types a character, alone. */
const isSingle = (key) => [...key].length === 1 && key !== " ";

/** Whether a field needs a key itself. */
function isKeyOfField(key, field) {
  if (isSingle(key)) return true;
  if (field.matches("select") && key.startsWith("Alt+Arrow")) return true;
  return FIELD_KEYS.has(key) && !(UNDO_KEYS.has(key) && field.matches(SAVED_FIELD));
}

/**
 * @param {string} key
 * @param {Element} target Element that has the focus.
 * @returns {import("./commands.js").Command|undefined}
 */
function findCommand(key, target) {
  const places = ["any"];
  // The chosen line is opened within the list: what acts in its fields and buttons are the keys of editing.
  if (target.closest("[data-where=edit]")) places.unshift("edit");
  // Where nothing has the focus, as after loading, they act on the chosen line.
  else if (target.closest("#list") || target === document.body) places.unshift("list");
  if (target.matches(FIELD) && isKeyOfField(key, target)) return undefined;
  if (isSingle(key) && !settings.singleKeys) return undefined;
  for (const place of places) {
    const command = allCommands().find((each) => each.keys[place].includes(key));
    if (command) return command;
  }
  return undefined;
}

/** Whether a key would open a menu of the browser: where Alt makes another character (macOS), that is typed. */
function opensBrowserMenu(event) {
  const isAltKey = event.altKey && !event.ctrlKey && /^[\x21-\x7e]$/u.test(event.key);
  return isAltKey || (event.key === "F10" && !event.shiftKey);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.defaultPrevented || event.isComposing || !(event.target instanceof Element)) return;
  const key = keyOf(event);
  if (document.querySelector("dialog[open], .menu:popover-open")) {
    if (opensBrowserMenu(event) && isKeyOfPage(key)) event.preventDefault();
    return;
  }
  const command = key ? findCommand(key, event.target) : undefined;
  if (!command || (command.when && !command.when(event))) return;
  event.preventDefault();
  // A key that is held repeats movement only: nobody accepts forty lines by leaning on a key.
  if (!event.repeat || command.repeats) runCommand(command.name, event);
}

/** Listens to keys. */
export function start() {
  document.addEventListener("keydown", onKey);
}
