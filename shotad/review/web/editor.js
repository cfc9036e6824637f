/**
 * The text of the chosen line: saved as it is typed, the newest text next.
 *
 * What a person types is never replaced by an answer to what they typed before.
 */

import { tab } from "./api.js";
import { make as el } from "./build.js";
import { register } from "./commands.js";
import * as outbox from "./outbox.js";
import { say } from "./say.js";
import { act, line, select, store, subscribe } from "./store.js";
import { count, setText } from "./wording.js";

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

/**
 * "9 of 12 words · 3.4 of 4.1 s", and in words by how much that is too much.
 *
 * @param {string} text
 * @param {import("./store.js").Line} line
 */
export function fullness(text, { allowed = null, unit = "word", seconds = null, room_seconds: room = null }) {
  const words = unit === "word" ? wordsIn(text) : lettersIn(text);
  const parts = [allowed === null ? count(words, unit) : `${words} of ${count(allowed, unit)}`];
  if (seconds !== null) parts.push(room === null ? `${seconds.toFixed(1)} s` : `${seconds.toFixed(1)} of ${room.toFixed(1)} s`);
  const over = [];
  if (allowed !== null && words > allowed) over.push(`${count(words - allowed, unit)} too many`);
  if (seconds !== null && room !== null && seconds > room + 0.05) over.push(`${(seconds - room).toFixed(1)} s too long`);
  return { text: parts.join(" · "), over: over.join(", ") };
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

/**
 * @param {HTMLElement} place
 * @param {string} described  Ids of what further describes the field.
 * @returns {{show: (line: object) => void, focus: () => void}}
 */
export function editor(place, described) {
  const field = el("textarea", {
    id: "line-text", rows: 2, spellcheck: true, autocomplete: "off",
    "aria-describedby": `line-full line-over ${described}`,
  });
  const full = el("span", { id: "line-full" });
  const over = el("strong", { id: "line-over", class: "d-over", hidden: true });
  const state = el("span", { class: "d-saved" });
  const bar = el("span", { class: "d-bar", "aria-hidden": "true" }, el("span"));
  place.append(el("h3", { class: "d-label" }, el("label", { for: "line-text" }, "Text of the line")), field, bar,
    el("p", { class: "d-full" }, full, over, state));

  let id = null;
  let base = null; // stamp of the line over which is typed; null: nothing typed since it was last as the server has it
  let began = null; // the text before this visit to the field
  let visit = 0;
  let stuck = false; // a conflict is open: nothing is sent, nothing replaced
  let timer = 0;
  let wasOver = "";

  const told = (which) => {
    if (which !== id) return;
    const kept = outbox.texts().get(id);
    const empty = base !== null && !wordsIn(field.value);
    const late = kept?.held || (kept && store.undelivered);
    // Keys that were sent together have one answer, which is heard once for each: "Saved" stays until more is typed.
    if (kept || base !== null) setText(state, empty ? SAID_EMPTY : late ? "Not saved" : kept ? "Saving…" : "Saved");
    state.classList.toggle("bad", Boolean(late) && !empty);
    if (!kept && !empty) base = null;
  };
  const save = (text, seen, group) => {
    act("write", { text }, { line: id, seen, group, quiet: true }).then(told.bind(null, id));
    told(id);
  };

  const measure = () => {
    const shown = line(id);
    if (!shown) return;
    const { text, over: much } = fullness(field.value, shown);
    setText(full, text);
    over.hidden = !much;
    setText(over, much);
    const share = shown.room_seconds ? (shown.seconds ?? 0) / shown.room_seconds : 0;
    bar.hidden = !shown.room_seconds;
    bar.firstChild.style.inlineSize = `${Math.min(100, share * 100)}%`;
    bar.classList.toggle("over", share > 1);
    clearTimeout(timer);
    if (much !== wasOver && document.activeElement === field)
      timer = setTimeout(() => {
        say(much ? `${text}: ${much}.` : `${text}. It fits.`);
        wasOver = much;
      }, REST);
  };
  const groupNow = () => `typing-${tab}-${visit}`;
  const typed = () => {
    const shown = line(id);
    if (!shown) return;
    if (base === null) [base, began] = [shown.stamp, began ?? shown.text];
    measure();
    if (!wordsIn(field.value)) return told(id);
    stuck = false; // its dialog was left open-ended: the same question comes again
    save(field.value, base, groupNow());
  };
  const put = (shown) => {
    const { selectionStart: from, selectionEnd: to } = field;
    field.value = shown.text;
    if (document.activeElement === field) field.setSelectionRange(from, to);
    base = null;
    setText(state, "");
  };
  const left = () => {
    const shown = line(id);
    if (!shown || stuck || wordsIn(field.value) || !began) return;
    field.value = began;
    if (cleaned(began) !== shown.text) save(began, base ?? shown.stamp, groupNow());
    say(`${SAID_EMPTY} Its text is back.`);
    measure();
  };

  field.addEventListener("input", typed);
  field.addEventListener("focus", () => {
    visit += 1;
    began = null;
    wasOver = over.textContent;
  });
  field.addEventListener("blur", left);

  subscribe("conflict", ({ act: name, id: which }) => {
    if (name === "write" && which === id) stuck = true;
  });
  subscribe("settled-conflict", ({ id: which }) => {
    if (which !== id) return;
    stuck = false;
    if (line(id)) put(line(id));
    measure();
    told(id);
  });

  /** Shows a line. Called at once when another is chosen: a key may be pressed before the screen is drawn again. */
  const show = (shown) => {
    if (shown.id !== id) {
      left();
      id = shown.id;
      visit += 1;
      began = null;
      stuck = false;
      const kept = outbox.texts().get(id);
      field.lang = shown.language;
      put(shown);
      if (kept && cleaned(kept.text) !== shown.text) {
        field.value = kept.text;
        base = kept.seen;
      }
      told(id);
      wasOver = "";
    } else if (!stuck && !outbox.texts().has(id) && cleaned(field.value) !== shown.text) {
      // Not an echo of what is typed: a candidate was chosen, a step undone, or somebody else wrote.
      if (wordsIn(field.value) || document.activeElement !== field) put(shown);
    }
    measure();
  };

  subscribe("current", () => line() && show(line()));
  subscribe("undelivered", () => told(id));

  const toField = () => {
    if (!line()) return;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  };
  const split = () => {
    const inField = document.activeElement === field;
    const at = inField ? field.selectionStart : bestSplit(field.value);
    if (at === null || !cleaned(field.value.slice(0, at)) || !cleaned(field.value.slice(at)))
      return say("Put the cursor between two words to split the line there.");
    return act("split", { at: serverPlace(field.value, at) }, { line: id });
  };
  register({ name: "edit", title: "Edit the text", group: "Choose and edit", keys: { list: ["Enter", "e"] }, run: toField });
  register({ name: "split", title: "Split the line (in the text: at the cursor)", group: "Choose and edit",
    keys: { list: ["s"], edit: ["Alt+S"] }, run: split });
  register({ name: "back-to-list", title: "Back to the list of lines", group: "Move",
    keys: { edit: ["Escape", "Ctrl+Enter"] }, run: () => select(store.current, { focus: true }) });
  return { show, focus: toField };
}
