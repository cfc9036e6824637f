/** What is done to many lines at once: find and replace, shift from here on; and a new line at the playhead. */

import { make } from "./build.js";
import { register } from "./commands.js";
import { disabledWhile, makeDialog } from "./dialogs.js";
import * as player from "./player.js";
import { say } from "./say.js";
import { sentence, withUndo } from "./sentences.js";
import { freeTime } from "./slots.js";
import { act, chosenLine, isEmpty, lineNumber, store, writeIn } from "./store.js";
import { text, withDecimalMark } from "./texts.js";
import { clock } from "./times.js";

/** Seconds that a slot lasts at most which is added at the playhead. */
const LONGEST_ADDED = 8;
/** Seconds that must be free for it. */
const SHORTEST_ADDED = 1;

/** A text as a pattern that means just itself. */
const escaped = (words) => words.replace(/[.*+?^${}()|[\]\\]/gu, "\\$&");

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

/** A row of a form: a label, and its field. */
const fieldRow = (label, field) => make("div", { className: "fields" }, make("label", { htmlFor: field.id }, label), field);

/** @returns {() => void} Opens the dialog. */
function replaceDialog() {
  const find = make("input", { type: "text", id: "replace-find", autocomplete: "off", required: true });
  const replacement = make("input", { type: "text", id: "replace-by", autocomplete: "off" });
  const matchCase = make("input", { type: "checkbox", id: "replace-case" });
  const wholeWords = make("input", { type: "checkbox", id: "replace-words", checked: true });
  const matches = make("p", { className: "hint", role: "status" });
  const submit = make("button", { type: "submit", className: "primary" }, text("replace.submit"));
  const form = make("form", {},
    fieldRow(text("replace.find"), find),
    fieldRow(text("replace.by"), replacement),
    make("label", { className: "choice" }, wholeWords, ` ${text("replace.whole_words")}`),
    make("label", { className: "choice" }, matchCase, ` ${text("replace.match_case")}`),
    matches, make("div", { className: "buttons" }, submit));
  const dialog = makeDialog("replace-dialog", text("replace.heading"), form);

  /** "Found 3 times in 2 lines." */
  const matchText = () => {
    if (!find.value) return "";
    const search = pattern(find.value, { matchCase: matchCase.checked, wholeWords: wholeWords.checked });
    let places = 0;
    let lines = 0;
    for (const line of store.lines.values()) {
      const number = line.heard ? [...line.text.matchAll(search)].length : 0;
      places += number;
      if (number) lines += 1;
    }
    if (!places) return text("replace.nothing");
    const inLines = text("replace.in_lines", { count: lines });
    return text("replace.found", { count: places, lines: inLines });
  };
  const showMatches = () => (matches.textContent = matchText());
  const replace = async () => {
    const options = { match_case: matchCase.checked, whole_words: wholeWords.checked };
    const args = { find: find.value, text: replacement.value, ...options };
    const changed = await act("replace", args, { line: "", seen: null, quiet: true });
    if (changed) dialog.announce(withUndo(changed.said));
    showMatches();
  };
  form.addEventListener("input", showMatches);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    disabledWhile(submit, replace);
  });
  return () => {
    showMatches();
    dialog.showModal();
    find.focus();
    find.select();
  };
}

/** @returns {() => void} Opens the dialog. */
function shiftDialog() {
  const amount = make("input", {
    type: "text", id: "shift-by", inputMode: "decimal", autocomplete: "off", size: 8, value: withDecimalMark("0.5"),
    "aria-describedby": "shift-hint",
  });
  const hint = text("shift.hint");
  const submit = make("button", { type: "submit", className: "primary" }, text("shift.submit"));
  const about = make("p");
  const form = make("form", {}, about, fieldRow(text("shift.by"), amount),
    make("p", { className: "hint", id: "shift-hint" }, hint), make("div", { className: "buttons" }, submit));
  const dialog = makeDialog("shift-dialog", text("shift.heading"), form);

  const shift = async (seconds) => {
    const changed = await act("shift_from", { by: seconds }, { quiet: true });
    if (changed) dialog.announce(withUndo(changed.said));
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const seconds = Number(amount.value.trim().replace(",", ".").replace("−", "-").replace(/\s*s$/u, ""));
    const isWrong = !Number.isFinite(seconds) || seconds === 0;
    amount.setAttribute("aria-invalid", String(isWrong));
    if (isWrong) dialog.announce(text("shift.no_number", {
      written: amount.value, example: withDecimalMark("0.5"), earlier: withDecimalMark("-1.2"),
    }), true);
    else disabledWhile(submit, () => shift(seconds));
  });
  return () => {
    const line = chosenLine();
    if (!line) return say(text("list.none_chosen"));
    about.textContent = text("shift.about", {
      number: lineNumber(line.id), time: clock(line.start, 1),
    });
    dialog.showModal();
    amount.focus();
    return amount.select();
  };
}

/**
 * Says why no line can be added at a second, and where the next free time begins.
 *
 * @param {number} second
 * @param {[number, number][]} gaps  Free time.
 */
function sayNotFree(second, gaps) {
  const isSpeech = store.film.speech.some(({ start, end }) => start <= second && second < end);
  const time = clock(second, 1);
  const reason = isSpeech
    ? text("add.speech", { time })
    : text("add.too_little", { time });
  const next = gaps.find(([from]) => from > second);
  const nextText = next ? text("add.next_free", { time: clock(next[0], 1) }) : "";
  say([reason, nextText].filter(Boolean).join(" "));
}

/**
 * A new line where the film stands; then one writes. In an empty slot it is that slot's line, in a slot that has a line
 * a second one beside it, in free time that of a new slot.
 */
async function addAtPlayhead() {
  player.followNow();
  const second = player.now();
  const holdsSecond = ({ start, end }) => start <= second && second < end;
  const emptySlot = [...store.lines.values()].find((line) => isEmpty(line) && holdsSecond(line));
  if (emptySlot) {
    writeIn(emptySlot.id);
    return;
  }
  if (store.film.slots.some(holdsSecond)) {
    await addLine("insert", { start: second });
    return;
  }
  const gaps = freeTime();
  const gap = gaps.find(([from, to]) => from <= second && second <= to - SHORTEST_ADDED);
  if (!gap) {
    sayNotFree(second, gaps);
    return;
  }
  await addLine("add_slot", { start: second, end: Math.min(gap[1], second + LONGEST_ADDED) });
}

/** Adds a line by an act, and goes there to write. */
async function addLine(name, args) {
  const changed = await act(name, args, { line: "", seen: null, quiet: true });
  if (!changed) return;
  if (changed.slots) store.film.slots = changed.slots;
  say(sentence(changed.said));
  if (changed.focus) writeIn(changed.focus);
}

/** Registers the commands. */
export function start() {
  const replaceKeys = { any: ["Ctrl+Shift+H"] };
  register({
    name: "find-replace",
    title: text("command.find_replace"),
    group: "find",
    keys: replaceKeys,
    run: replaceDialog(),
  });
  register({ name: "shift-from-here", title: text("command.shift_from_here"), group: "time", run: shiftDialog() });
  register({
    name: "add-here", title: text("command.add_here"), group: "edit", keys: { any: ["Alt+A"] },
    run: addAtPlayhead,
  });
}
