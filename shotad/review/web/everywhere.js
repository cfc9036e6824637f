/** What is done to many lines at once: find and replace, shift from here on; and a new line at the playhead. */

import { make } from "./build.js";
import { register } from "./commands.js";
import { disabledWhile, makeDialog } from "./dialogs.js";
import { isEmpty } from "./list.js";
import { now } from "./player.js";
import { say } from "./say.js";
import { act, chosenLine, lineNumber, select, store } from "./store.js";
import { clock } from "./times.js";
import { pluralize } from "./wording.js";

/** Seconds that a slot lasts at most which is added at the playhead. */
const LONGEST_ADDED = 8;
/** Seconds that are free at the playhead at least. */
const SHORTEST_ADDED = 1;

/** A text as a pattern that means just itself. */
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/gu, "\\$&");

/**
 * The pattern of a search; the server replaces by the same rule.
 *
 * @param {string} words
 * @param {{matchCase: boolean, wholeWords: boolean}} options
 */
function pattern(words, { matchCase, wholeWords }) {
  const inner = escaped(words);
  const bounded = wholeWords ? `(?<![\\p{L}\\p{N}_])${inner}(?![\\p{L}\\p{N}_])` : inner;
  return new RegExp(bounded, matchCase ? "gu" : "giu");
}

function replaceDialog() {
  const find = make("input", { type: "text", id: "replace-find", autocomplete: "off", required: true });
  const by = make("input", { type: "text", id: "replace-by", autocomplete: "off" });
  const matchCase = make("input", { type: "checkbox", id: "replace-case" });
  const wholeWords = make("input", { type: "checkbox", id: "replace-words", checked: true });
  const found = make("p", { className: "hint", role: "status" });
  const go = make("button", { type: "submit", className: "primary" }, "Replace all");
  const form = make("form", {},
    make("div", { className: "fields" }, make("label", { htmlFor: find.id }, "Find"), find),
    make("div", { className: "fields" }, make("label", { htmlFor: by.id }, "Replace by"), by),
    make("label", { className: "choice" }, wholeWords, " Whole words only"),
    make("label", { className: "choice" }, matchCase, " Capital and small letters differ"),
    found, make("div", { className: "buttons" }, go));
  const dialog = makeDialog("replace-dialog", "Find and replace", form);

  const options = () => ({ matchCase: matchCase.checked, wholeWords: wholeWords.checked });
  const tell = () => {
    if (!find.value) return (found.textContent = "");
    const search = pattern(find.value, options());
    const perLine = [...store.lines.values()].filter((entry) => entry.heard).map((entry) => [...entry.text.matchAll(search)].length);
    const places = perLine.reduce((sum, many) => sum + many, 0);
    const lines = perLine.filter(Boolean).length;
    return (found.textContent = places ? `Found ${pluralize(places, "time")} in ${pluralize(lines, "line")}.` : "Nothing found.");
  };
  form.addEventListener("input", tell);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    disabledWhile(go, async () => {
      const args = { find: find.value, text: by.value, match_case: matchCase.checked, whole_words: wholeWords.checked };
      const changed = await act("replace", args, { line: "", seen: null, quiet: true });
      if (changed) dialog.tell(`${changed.said} You can undo it.`);
      tell();
    });
  });
  return () => {
    tell();
    dialog.showModal();
    find.focus();
    find.select();
  };
}

function shiftDialog() {
  const by = make("input", { type: "text", id: "shift-by", inputMode: "decimal", autocomplete: "off", size: 8, value: "0.5" });
  by.setAttribute("aria-describedby", "shift-hint");
  const hint = make("p", { className: "hint", id: "shift-hint" }, "Seconds; with a minus sign, earlier. Lines stay clear of speech.");
  const later = make("button", { type: "submit", className: "primary" }, "Shift");
  const about = make("p", {});
  const form = make("form", {}, about,
    make("div", { className: "fields" }, make("label", { htmlFor: by.id }, "Shift by"), by), hint,
    make("div", { className: "buttons" }, later));
  const dialog = makeDialog("shift-dialog", "Shift from here on", form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const seconds = Number(by.value.trim().replace(",", ".").replace("−", "-").replace(/\s*s$/u, ""));
    const isWrong = !Number.isFinite(seconds) || seconds === 0;
    by.setAttribute("aria-invalid", String(isWrong));
    if (isWrong) return dialog.tell(`“${by.value}” is no number of seconds. Write it like 0.5 or -1.2.`, true);
    return disabledWhile(later, async () => {
      const changed = await act("shift_from", { by: seconds }, { quiet: true });
      if (changed) dialog.tell(`${changed.said} You can undo it.`);
    });
  });
  return () => {
    const shown = chosenLine();
    if (!shown) return say("No line is chosen.");
    about.textContent = `Line ${lineNumber(shown.id)} at ${clock(shown.start, 1)} and all lines after it.`;
    dialog.showModal();
    by.focus();
    return by.select();
  };
}

/** Free time between speech and slots around a second; null where there is none. */
function freeAround(second) {
  const gap = store.film.free.find(([from, to]) => from <= second && second < to);
  if (!gap) return null;
  const slots = store.film.slots.filter((slot) => slot.start < gap[1] && slot.end > gap[0]);
  if (slots.some((slot) => slot.start <= second && second < slot.end)) return null;
  const next = Math.min(gap[1], ...slots.map((slot) => slot.start).filter((start) => start > second));
  return [second, next];
}

/** A new line where the film stands: in the empty slot there, else in free time; then one writes. */
async function addAtPlayhead() {
  const second = now();
  const here = [...store.lines.values()].find((entry) => isEmpty(entry) && entry.start <= second && second < entry.end);
  const toText = (id) => {
    select(id);
    document.getElementById("line-text")?.focus();
  };
  if (here) return toText(here.id);
  const free = freeAround(second);
  if (!free || free[1] - free[0] < SHORTEST_ADDED) {
    const next = store.film.free.find(([from, to]) => from >= second && freeAround(from) && to - from >= SHORTEST_ADDED);
    const why = store.film.speech.some((utterance) => utterance.start <= second && second < utterance.end) ? "Somebody speaks" : "A line has this time";
    return say(`${why} at ${clock(second, 1)}.${next ? ` The next free time begins at ${clock(next[0], 1)}.` : ""}`);
  }
  const changed = await act("add_slot", { start: free[0], end: Math.min(free[1], free[0] + LONGEST_ADDED) }, { line: "", seen: null, quiet: true });
  if (!changed) return undefined;
  if (changed.slots) store.film.slots = changed.slots;
  say(changed.said);
  return changed.focus ? toText(changed.focus) : undefined;
}

/** Registers the commands. */
export function start() {
  register({ name: "find-replace", title: "Find and replace…", group: "Find", keys: { any: ["Ctrl+Shift+H"] }, run: replaceDialog() });
  register({ name: "shift-from-here", title: "Shift this line and all after it…", group: "Time", run: shiftDialog() });
  register({ name: "add-here", title: "New line where the film stands", group: "Choose and edit", keys: { any: ["Alt+A"] }, run: addAtPlayhead });
}
