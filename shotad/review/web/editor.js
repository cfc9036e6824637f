/**
 * The text of the chosen line: saved as it is typed, the newest text next.
 *
 * What a person types is never replaced by an answer to what they typed before.
 */

import { tab } from "./api.js";
import { make } from "./build.js";
import { register } from "./commands.js";
import { lineBeside } from "./lineacts.js";
import { ALLOWANCE, stateWords, unitsFor } from "./list.js";
import * as outbox from "./outbox.js";
import { say } from "./say.js";
import { act, line, number, select, store, subscribe } from "./store.js";
import { count, setText, short } from "./wording.js";

/** Milliseconds without a key after which people hear how full the line is. */
const REST = 1000;
const SAID_EMPTY = "A line without words is not saved. Drop it if nothing is to be said here.";

const LINE_END = /\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/u;
/** What nobody sees, as the server leaves it out: controls, and marks without width or that turn letters. */
const UNSEEN =
  /[\p{Cc}\p{Cs}\u00ad\u034f\u180e\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Text as the server keeps it: nothing that is not seen, no tabs, no blank lines, no space around lines. */
export const cleaned = (text) =>
  text
    .split(LINE_END)
    .map((line) => line.replaceAll("\t", " ").replace(UNSEEN, "").trim())
    .filter(Boolean)
    .join("\n");

/** Words as they are budgeted: each with a letter or a digit in it. */
export const wordsIn = (text) => text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** Letters and digits: how long a text is in languages that do not part words by spaces. */
const lettersIn = (text) => (text.match(/[\p{L}\p{N}]/gu) ?? []).length;

/** How long a text is in the unit of its language: words, or characters where words are not parted by blanks. */
const unitsIn = (text) => (store.film?.unit === "character" ? lettersIn(text) : wordsIn(text));

/**
 * Seconds that a text takes to say: as the voice said it where it has, else as fast as it speaks this film.
 *
 * @param {string} text
 * @param {import("./store.js").Line} shown
 */
const secondsOf = (text, shown) =>
  cleaned(text) === shown.text && shown.seconds !== null ? shown.seconds : unitsIn(text) * (store.film?.unit_seconds ?? 0.4);

/**
 * The one budget of a line: "2.9 of 4.2 s", and by how much that is too long.
 *
 * @param {string} text
 * @param {import("./store.js").Line} shown
 * @returns {{text: string, over: string, share: number}}
 */
export function budget(text, shown) {
  const seconds = secondsOf(text, shown);
  const length = shown.room_seconds;
  if (length === null) return { text: `${seconds.toFixed(1)} s`, over: "", share: 0 };
  if (!unitsIn(text)) return { text: `${length.toFixed(1)} s, about ${count(unitsFor(length), store.film?.unit ?? "word")}`, over: "", share: 0 };
  const over = seconds > length + ALLOWANCE ? `${(seconds - length).toFixed(1)} s too long` : "";
  return { text: `${seconds.toFixed(1)} of ${length.toFixed(1)} s`, over, share: seconds / Math.max(0.1, length) };
}

/** Place in `text` where two lines part best: a sentence's end near the middle, else a clause's, else a space. */
export function bestSplit(text) {
  for (const pattern of [/[.!?…]["”’)]*\s+/gu, /[,;:—–]\s+/gu, /\s+/gu]) {
    const ends = [...text.matchAll(pattern)].map((match) => match.index + match[0].length);
    const inside = ends.filter((at) => at > 0 && at < text.length);
    if (inside.length) return inside.reduce((a, b) => (Math.abs(b - text.length / 2) < Math.abs(a - text.length / 2) ? b : a));
  }
  return null;
}

/** Characters as the server counts them, up to a place in a field's text. */
const serverPlace = (value, at) => [...cleaned(value.slice(0, at) + "x")].length - 1;

/** Milliseconds between two keys after which an undo takes back only what came later. */
const BURST = 1000;

/**
 * @param {HTMLElement} place
 * @param {string} described  Ids of what further describes the field.
 * @returns {{show: (line: object) => void, focus: () => void}}
 */
export function editor(place, described) {
  const field = make("textarea", {
    id: "line-text", rows: 2, spellcheck: true, autocomplete: "off",
    "aria-describedby": `line-budget ${described}`,
  });
  // A description that changes is read at each change: at each word, while one writes. So it stands still meanwhile,
  // and what the budget is then is said after a rest.
  const description = make("span", { id: "line-budget", class: "hidden" });
  const spoken = make("span", { class: "hidden", role: "status" });
  const full = make("span", { id: "line-full" });
  const over = make("strong", { id: "line-over", class: "d-over", hidden: true });
  const begins = make("span", { class: "d-begins" });
  const state = make("span", { class: "d-saved" });
  const bar = make("span", { class: "d-bar", "aria-hidden": "true" }, make("span"));
  place.append(field, bar, make("p", { class: "d-full" }, full, over, begins, state), description, spoken);

  let id = null;
  let base = null; // stamp of the line over which is typed; null: nothing typed since it was last as the server has it
  let began = null; // the text before this visit to the field
  let burst = 0; // what is typed in one go is undone in one go
  let typedAt = 0;
  let isStuck = false; // a conflict is open: nothing is sent, nothing replaced
  let timer = 0;
  let overBefore = "";

  const tell = (which) => {
    if (which !== id) return;
    const kept = outbox.texts().get(id);
    const isEmpty = base !== null && !wordsIn(field.value) && Boolean(began);
    const isLate = kept?.held || (kept && store.undelivered);
    // Keys that were sent together have one answer, which comes once for each: "Saved" stays until more is typed.
    if (kept || base !== null) setText(state, isEmpty ? SAID_EMPTY : isLate ? "Not saved" : kept ? "Saving…" : "Saved");
    state.classList.toggle("bad", Boolean(isLate) && !isEmpty);
    if (!kept && !isEmpty) base = null;
  };
  const save = (text, seen, group) => {
    act("write", { text }, { line: id, seen, group, quiet: true }).then(tell.bind(null, id));
    tell(id);
  };

  let toldBudget = ""; // the words that were last described or said
  const measure = ({ isNew = false } = {}) => {
    const shown = line(id);
    if (!shown) return;
    const { text, over: excess, share } = budget(field.value, shown);
    setText(full, text);
    over.hidden = !excess;
    setText(over, excess);
    setText(begins, [`starts at ${short(shown.start)}`, stateWords(shown)].filter(Boolean).join(" · "));
    bar.firstChild.style.inlineSize = `${Math.min(100, share * 100)}%`;
    bar.classList.toggle("over", Boolean(excess));
    clearTimeout(timer);
    const words = excess ? `${text}, ${excess}` : text;
    if (isNew || document.activeElement !== field) {
      toldBudget = words;
      setText(description, words);
      setText(spoken, "");
    } else if (words !== toldBudget)
      timer = setTimeout(() => {
        toldBudget = words;
        if (excess !== overBefore && (excess || wordsIn(field.value))) say(excess ? `${text}: ${excess}.` : `${text}. It fits.`);
        else if (wordsIn(field.value)) setText(spoken, text);
        overBefore = excess;
      }, REST);
  };
  const newBurst = () => (burst += 1);
  const group = () => `typing-${tab}-${burst}`;
  const typed = () => {
    const shown = line(id);
    if (!shown) return;
    if (performance.now() - typedAt > BURST) newBurst();
    typedAt = performance.now();
    if (base === null) [base, began] = [shown.stamp, began ?? shown.text];
    measure();
    if (!wordsIn(field.value) && began) return tell(id);
    isStuck = false; // its dialog was left open-ended: the same question comes again
    save(field.value, base, group());
  };
  const put = (shown) => {
    const { selectionStart: from, selectionEnd: to } = field;
    field.value = shown.text;
    if (document.activeElement === field) field.setSelectionRange(from, to);
    base = null;
    setText(state, "");
  };
  const leave = () => {
    const shown = line(id);
    if (!shown || isStuck || wordsIn(field.value) || !began) return;
    field.value = began;
    if (cleaned(began) !== shown.text) save(began, base ?? shown.stamp, group());
    say(`${SAID_EMPTY} Its text is back.`);
    measure();
  };

  field.addEventListener("input", typed);
  field.addEventListener("pointerdown", newBurst);
  field.addEventListener("focus", () => {
    newBurst();
    began = null;
    overBefore = over.textContent;
    measure({ isNew: true });
  });
  field.addEventListener("blur", leave);

  subscribe("conflict", ({ act: name, id: which }) => {
    if (name === "write" && which === id) isStuck = true;
  });
  subscribe("settled-conflict", ({ id: which }) => {
    if (which !== id) return;
    isStuck = false;
    if (line(id)) put(line(id));
    measure();
    tell(id);
  });

  /** Shows a line. Called at once when another is chosen: a key may be pressed before the screen is drawn again. */
  const show = (shown) => {
    const isNew = shown.id !== id;
    if (isNew) {
      leave();
      id = shown.id;
      newBurst();
      began = null;
      isStuck = false;
      const kept = outbox.texts().get(id);
      field.lang = shown.language;
      put(shown);
      if (kept && cleaned(kept.text) !== shown.text) {
        field.value = kept.text;
        base = kept.seen;
      }
      tell(id);
      overBefore = "";
    } else if (!isStuck && !outbox.texts().has(id) && cleaned(field.value) !== shown.text) {
      // Not an echo of what is typed: a candidate was chosen, a step undone, or somebody else wrote.
      put(shown);
    }
    field.setAttribute("aria-label", `${shown.text ? "Line" : "Empty slot"} ${number(id)} of ${store.order.length}, at ${short(shown.start)}`);
    field.placeholder = shown.text ? "" : "Write what is to be said here";
    measure({ isNew });
  };

  subscribe("current", () => line() && show(line()));
  subscribe("undelivered", () => tell(id));

  const toField = () => {
    if (!line()) return;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  };
  const split = () => {
    const isInField = document.activeElement === field;
    const at = isInField ? field.selectionStart : bestSplit(field.value);
    if (at === null || !cleaned(field.value.slice(0, at)) || !cleaned(field.value.slice(at)))
      return say("Put the cursor between two words to split the line there.");
    return act("split", { at: serverPlace(field.value, at) }, { line: id });
  };
  /** Enter in the text: to the next line, where one goes on writing. */
  const toNextLine = () => {
    const next = lineBeside(id, 1);
    if (!next) return say("This is the last line.");
    return select(next);
  };
  const heading = "Choose and edit";
  register({ name: "edit", title: "Write in the line", group: heading, keys: { list: ["Enter", "e"] }, run: toField });
  register({ name: "next-line", title: "From the text to the next line (Shift+Enter breaks the line)", group: heading, keys: { edit: ["Enter"] },
    when: (event) => event.target === field, run: toNextLine });
  register({ name: "split", title: "Split the line (in the text: at the cursor)", group: heading, keys: { list: ["s"], edit: ["Alt+S"] }, run: split });
  register({ name: "back-to-list", title: "From the text back to the script", group: "Move",
    keys: { edit: ["Escape"] }, run: () => select(store.current, { focus: true }) });
  return { show, focus: toField };
}
