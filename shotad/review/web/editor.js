/**
 * The text of the chosen line: saved as it is typed, the newest text next.
 *
 * What a person types is never replaced by an answer to what they typed before.
 */

import { tab } from "./api.js";
import { make, setText } from "./build.js";
import { register } from "./commands.js";
import { lineBeside } from "./lineacts.js";
import { ALLOWANCE, announceLine, isMovedTextRead, sizeOf, stateText } from "./list.js";
import * as outbox from "./outbox.js";
import { say } from "./say.js";
import { act, chosenLine, lineById, lineNumber, select, store, subscribe, writeIn } from "./store.js";
import { decimal, text } from "./texts.js";
import { secondsText, shortTime } from "./times.js";

/** Milliseconds without a key after which people hear how full the line is. */
const REST = 1000;
/** Milliseconds between two keys after which an undo takes back only what came later. */
const BURST_GAP = 1000;
const EMPTY_TEXT = text("editor.empty");

const LINE_END = /\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/u;
/** What nobody sees, as the server leaves it out: controls, and marks without width or that turn letters. */
const UNSEEN =
  /[\p{Cc}\p{Cs}\u00ad\u034f\u180e\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Text as the server keeps it: nothing that is not seen, no tabs, no blank lines, no space around lines. */
const cleaned = (written) =>
  written
    .split(LINE_END)
    .map((line) => line.replaceAll("\t", " ").replace(UNSEEN, "").trim())
    .filter(Boolean)
    .join("\n");

/** How many words there are, as they are budgeted: each with a letter or a digit in it. */
const wordCount = (written) => written.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** How many letters and digits: how long a text is in languages that do not part words by spaces. */
const letterCount = (written) => (written.match(/[\p{L}\p{N}]/gu) ?? []).length;

/** How long a text is in the unit of its language: words, or characters where words are not parted by blanks. */
const unitCount = (written) => (store.film?.unit === "character" ? letterCount(written) : wordCount(written));

/** Seconds that a text takes to say: as the voice said it where it has, else as fast as it speaks this film. */
function spokenSeconds(written, line) {
  const isSpoken = cleaned(written) === line.text && line.seconds !== null;
  return isSpoken ? line.seconds : unitCount(written) * (store.film?.unit_seconds ?? 0.4);
}

/**
 * The one budget of a line: "2.9 of 4.2 s", and by how much that is too long.
 *
 * @param {string} written
 * @param {import("./store.js").Line} line
 * @returns {{text: string, excess: string, share: number}} share: of the time that is filled.
 */
function budgetOf(written, line) {
  const seconds = spokenSeconds(written, line);
  const limit = line.room_seconds;
  if (limit === null) return { text: secondsText(seconds), excess: "", share: 0 };
  if (!unitCount(written)) return { text: sizeOf(limit), excess: "", share: 0 };
  const isOver = seconds > limit + ALLOWANCE;
  const excess = isOver ? text("list.too_long", { seconds: decimal(seconds - limit, 1) }) : "";
  // What is allowed over the time is no excess: such a line fills its time, and no more than that is shown.
  const used = isOver ? seconds : Math.min(seconds, limit);
  const budget = text("editor.budget", { seconds: decimal(used, 1), limit: decimal(limit, 1) });
  return { text: budget, excess, share: used / Math.max(0.1, limit) };
}

/** Place in a text where two lines part best: a sentence's end near the middle, else a clause's, else a space. */
function bestSplit(written) {
  const middle = written.length / 2;
  for (const pattern of [/[.!?…]["”’)]*\s+/gu, /[,;:—–]\s+/gu, /\s+/gu]) {
    const ends = [...written.matchAll(pattern)].map((match) => match.index + match[0].length);
    const places = ends.filter((place) => place > 0 && place < written.length);
    places.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    if (places.length) return places[0];
  }
  return null;
}

/** Characters as the server counts them, up to a place in a field's text. */
const serverPlace = (written, place) => [...cleaned(written.slice(0, place) + "x")].length - 1;

/**
 * @param {HTMLElement} place
 * @param {string} describedBy  Ids of what further describes the field.
 * @returns {{show: (line: import("./store.js").Line) => void}}
 */
export function textEditor(place, describedBy) {
  const field = make("textarea", {
    id: "line-text", rows: 2, spellcheck: true, autocomplete: "off",
    "aria-describedby": `line-budget ${describedBy}`,
  });
  // A description that changes is read at each change: at each word, while one writes. So it stands still meanwhile,
  // and what the budget is then is said after a rest.
  const description = make("span", { id: "line-budget", class: "hidden" });
  const spoken = make("span", { class: "hidden", role: "status" });
  const budget = make("span", { id: "line-full" });
  const excess = make("strong", { id: "line-over", class: "d-over", hidden: true });
  const budgetTitle = make("span", {}, text("editor.time"));
  const state = make("span", { class: "d-state" });
  const saved = make("span", { class: "d-saved" });
  const barTitle = text("editor.bar");
  const bar = make("span", { class: "d-bar", "aria-hidden": "true", title: barTitle }, make("span"));
  place.append(field, bar, make("p", { class: "d-full" }, budgetTitle, budget, excess, state, saved), description, spoken);

  let id = null;
  /** Stamp of the line over which is typed; null: nothing was typed since the field was last as the server has it. */
  let baseStamp = null;
  /** The text before this visit to the field; null: nothing was typed in it. */
  let textBefore = null;
  let burst = 0; // what is typed in one go is undone in one go
  let typedAt = 0;
  let hasConflict = false; // nothing is sent, nothing replaced
  let sayTimer = 0;
  let saidExcess = "";
  let saidBudget = ""; // the words that were last described or said

  const isEmptied = () => !wordCount(field.value) && Boolean(textBefore);
  const startBurst = () => (burst += 1);

  /** Says beside the field whether its text is saved. */
  const showSaved = () => {
    const unsaved = outbox.texts().get(id);
    const isEmpty = baseStamp !== null && isEmptied();
    const isLate = Boolean(unsaved && (unsaved.held || store.undelivered));
    // Keys that were sent together have one answer, which comes once for each: "Saved" stays until more is typed.
    if (unsaved || baseStamp !== null) {
      const words = isLate ? text("editor.not_saved") : unsaved ? text("editor.saving") : text("editor.saved");
      setText(saved, isEmpty ? EMPTY_TEXT : words);
    }
    saved.classList.toggle("bad", isLate && !isEmpty);
    if (!unsaved && !isEmpty) baseStamp = null;
  };
  const save = (written, stamp) => {
    const savedId = id;
    const group = `typing-${tab}-${burst}`;
    act("write", { text: written }, { line: id, seen: stamp, group, quiet: true }).then(() => {
      if (id === savedId) showSaved();
    });
    showSaved();
  };

  /** Shows how full the line is, and says it after a rest where that has changed. */
  const measure = ({ isNew = false, isAnnounced = false } = {}) => {
    const line = lineById(id);
    if (!line) return;
    const { text: budgetText, excess: excessText, share } = budgetOf(field.value, line);
    setText(budget, budgetText);
    excess.hidden = !excessText;
    setText(excess, excessText);
    setText(state, stateText(line));
    bar.firstChild.style.inlineSize = `${Math.min(100, share * 100)}%`;
    bar.classList.toggle("over", Boolean(excessText));
    clearTimeout(sayTimer);
    const words = [budgetText, excessText].filter(Boolean).join(", ");
    if (isNew || document.activeElement !== field) {
      saidBudget = words;
      setText(description, isAnnounced ? "" : words);
      setText(spoken, "");
      return;
    }
    if (words === saidBudget) return;
    sayTimer = setTimeout(() => {
      saidBudget = words;
      const hasWords = wordCount(field.value) > 0;
      const isExcessOther = excessText !== saidExcess;
      if (isExcessOther && excessText) say(text("editor.budget_over", { budget: budgetText, excess: excessText }));
      else if (isExcessOther && hasWords) say(text("editor.budget_fits", { budget: budgetText }));
      else if (hasWords) setText(spoken, budgetText);
      saidExcess = excessText;
    }, REST);
  };
  const onInput = () => {
    const line = lineById(id);
    if (!line) return;
    if (performance.now() - typedAt > BURST_GAP) startBurst();
    typedAt = performance.now();
    if (baseStamp === null) {
      baseStamp = line.stamp;
      textBefore ??= line.text;
    }
    measure();
    if (isEmptied()) {
      showSaved();
      return;
    }
    hasConflict = false; // its dialog was left open-ended: the same question comes again
    save(field.value, baseStamp);
  };
  /** Writes the line's text into the field. */
  const fill = (line) => {
    const { selectionStart, selectionEnd } = field;
    field.value = line.text;
    if (document.activeElement === field) field.setSelectionRange(selectionStart, selectionEnd);
    baseStamp = null;
    setText(saved, "");
  };
  /** A line that was left without words gets its text back. */
  const leave = () => {
    const line = lineById(id);
    if (!line || hasConflict || !isEmptied()) return;
    field.value = textBefore;
    if (cleaned(textBefore) !== line.text) save(textBefore, baseStamp ?? line.stamp);
    say(`${EMPTY_TEXT} ${text("editor.text_is_back")}`);
    measure();
  };

  field.addEventListener("input", onInput);
  field.addEventListener("pointerdown", startBurst);
  field.addEventListener("focus", () => {
    startBurst();
    textBefore = null;
    saidExcess = excess.textContent;
    measure({ isNew: true });
  });
  field.addEventListener("blur", leave);

  subscribe("conflict", (conflict) => {
    if (conflict.act === "write" && conflict.id === id) hasConflict = true;
  });
  subscribe("conflict-settled", (conflict) => {
    if (conflict.id !== id) return;
    hasConflict = false;
    if (lineById(id)) fill(lineById(id));
    measure();
    showSaved();
  });

  const showOther = (line) => {
    leave();
    id = line.id;
    startBurst();
    textBefore = null;
    hasConflict = false;
    field.lang = line.language;
    fill(line);
    const unsaved = outbox.texts().get(id);
    if (unsaved && cleaned(unsaved.text) !== line.text) {
      field.value = unsaved.text;
      baseStamp = unsaved.seen;
    }
    showSaved();
    saidExcess = "";
  };
  /** Shows a line. Called at once when another is chosen: a key may be pressed before the screen is drawn again. */
  const show = (line) => {
    const isNew = line.id !== id;
    if (isNew) showOther(line);
    else if (!hasConflict && !outbox.texts().has(id) && cleaned(field.value) !== line.text) {
      // Not an echo of what is typed: a candidate was chosen, a step undone, or somebody else wrote.
      fill(line);
    }
    const place = { number: lineNumber(id), total: store.order.length, time: shortTime(line.start) };
    const name = line.text
      ? text("editor.line", place)
      : text("editor.empty_slot", place);
    field.setAttribute("aria-label", name);
    field.placeholder = line.text ? "" : text("editor.placeholder");
    // Where all of the line is said, a new description would be read besides.
    measure({ isNew, isAnnounced: isNew && document.activeElement === field && !isMovedTextRead });
  };

  subscribe("current", () => chosenLine() && show(chosenLine()));
  subscribe("undelivered", showSaved);

  // A click on what is no control takes the focus from the text. Who then goes on typing means the text, and not the
  // keys of the list, which act where nothing has the focus.
  let wasWriting = false;
  document.addEventListener("pointerdown", () => (wasWriting = document.activeElement === field), { capture: true });
  document.addEventListener("click", () => {
    const isNowhere = document.activeElement?.matches("body, main > section");
    if (wasWriting && isNowhere && getSelection().isCollapsed) field.focus({ preventScroll: true });
  });

  const split = () => {
    const isInField = document.activeElement === field;
    const cursor = isInField ? field.selectionStart : bestSplit(field.value);
    const [head, tail] = [field.value.slice(0, cursor ?? 0), field.value.slice(cursor ?? 0)];
    if (!cleaned(head) || !cleaned(tail)) return say(text("editor.no_split"));
    return act("split", { at: serverPlace(field.value, cursor) }, { line: id });
  };
  /** Enter in the text: to the next line, where one goes on writing. */
  const toNextLine = () => {
    const next = lineBeside(id, 1);
    if (!next) return say(text("list.is_last"));
    select(next);
    return announceLine(next);
  };
  const editing = { group: "edit" };
  register({
    name: "edit",
    title: text("command.edit"),
    ...editing,
    keys: { list: ["Enter", "e"] },
    run: () => chosenLine() && writeIn(store.current),
  });
  register({
    name: "next-line", title: text("command.next_line"), ...editing,
    keys: { edit: ["Enter"] }, when: (event) => event.target === field, run: toNextLine,
  });
  register({
    name: "split", title: text("command.split"), ...editing,
    keys: { list: ["s"], any: ["Alt+S"] }, run: split,
  });
  register({
    name: "back-to-list", title: text("command.back_to_list"), group: "move", keys: { edit: ["Escape"] },
    run: () => select(store.current, { focus: true }),
  });
  return { show };
}
