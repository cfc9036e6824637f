/**
 * The script: lines, empty slots and, between them, the words of the dialogue, as one grid in plain HTML. The chosen
 * line is open in place. All rows are in the page, so that a screen reader reaches each of them;
 * `content-visibility` spares the browser the rows that are out of sight (measured: benchmarks/LOG.md).
 */

import { make } from "./build.js";
import { register } from "./commands.js";
import { lineBeside } from "./lineacts.js";
import { say } from "./say.js";
import { emit, line, number, select, store, subscribe } from "./store.js";
import { clock } from "./times.js";
import { aloud, count, setText } from "./wording.js";

/** Icon and word of each state; the icon is never alone. */
const STATES = {
  empty: ["", "to write"],
  machine: ["○", "machine"],
  edited: ["✎\ufe0e", "written"],
  accepted: ["✓\ufe0e", "accepted"],
  dropped: ["—", "left out"],
};

/** Whether a slot waits for its line. */
export const isEmpty = (entry) => !entry.heard && !entry.text;

/** What the filter may let through. */
export const FILTERS = {
  all: { title: "All", lets: () => true },
  empty: { title: "To write", lets: isEmpty },
  open: { title: "Not accepted", lets: (entry) => entry.heard && entry.state !== "accepted" },
  findings: { title: "With findings", lets: (entry) => entry.findings.length > 0 },
  machine: { title: "As the machine wrote", lets: (entry) => entry.heard && entry.state === "machine" },
  dropped: { title: "Left out", lets: (entry) => !entry.heard && Boolean(entry.text) },
};

/** @type {Map<string, HTMLElement>} */
const rows = new Map();
/** @type {HTMLElement} */
let list;
/** Where the chosen line is edited; it stands in the chosen row. */
const panel = make("div", { id: "detail", className: "open", role: "gridcell", "data-where": "edit" });

/** From this doubt on a row says that its line is doubtful. */
const DOUBTFUL = 0.5;
const isDoubtful = (entry) => entry.doubt !== null && entry.doubt.value >= DOUBTFUL;

/** @param {import("./store.js").Line} entry */
export const stateOf = (entry) => (isEmpty(entry) ? "empty" : entry.heard ? entry.state : "dropped");

/** "✓ accepted by Ann"; nothing for an empty slot. */
export function stateWords(entry) {
  const state = stateOf(entry);
  if (state === "empty") return "";
  return `${STATES[state].join(" ")}${entry.by && state === "accepted" ? ` by ${entry.by}` : ""}`;
}

/** About how many words (or characters, as the language has it) this film's voice says in some seconds. */
export const unitsFor = (seconds) => Math.max(1, Math.floor(seconds / (store.film?.unit_seconds || 0.4)));

/** How much an empty slot may hold, and what is to be known of it: ["4.2 s, about 11 words", "song likely here"]. */
function sizeWords(entry, second = "s") {
  const length = entry.room_seconds ?? entry.end - entry.start;
  const size = `${length.toFixed(1)} ${second}, about ${count(unitsFor(length), store.film?.unit ?? "word")}`;
  return entry.voice ? [size, entry.voice] : [size];
}

/** "Empty slot · 4.2 s, about 11 words · song likely here" */
export const emptyText = (entry) => ["Empty slot", ...sizeWords(entry)].join(" · ");

/**
 * How a row is read: "Line 12 of 40, at 1 minute 20 seconds, machine, 2 findings: She opens the door.", or "Empty slot
 * 12 of 40, at 1 minute 20 seconds: 4.2 seconds, about 11 words". No middle dots: screen readers name them.
 *
 * @param {import("./store.js").Line} entry
 * @param {number} place  From 1.
 * @returns {string}
 */
export function label(entry, place) {
  const state = stateOf(entry);
  const isToWrite = state === "empty";
  const parts = [`${isToWrite ? "Empty slot" : "Line"} ${place} of ${store.order.length}`, `at ${aloud(Math.floor(entry.start + 1e-6), 0)}`];
  if (!isToWrite) parts.push(STATES[state][1]);
  if (isDoubtful(entry)) parts.push("doubtful");
  if (entry.voice && !isToWrite) parts.push(entry.voice);
  if (entry.findings.length) parts.push(count(entry.findings.length, "finding"));
  if (!isToWrite && isOverlong(entry)) parts.push(`${secondsOver(entry).toFixed(1)} seconds too long`);
  return `${parts.join(", ")}: ${isToWrite ? sizeWords(entry, "seconds").join(", ") : entry.text}`;
}

/** Seconds over its time that a line may take without a word about it: a breath before speech that a render spares. */
export const ALLOWANCE = 0.2;

/** Seconds by which a line is longer than the time that it has. */
const secondsOver = (entry) => (entry.seconds ?? 0) - (entry.room_seconds ?? Infinity);
const isOverlong = (entry) => entry.heard && secondsOver(entry) > ALLOWANCE;
const worstLevel = (entry) => (entry.findings.some((finding) => finding.level === "error") ? "error" : "warning");

/** A row as all are at first; copies of it are made faster than rows. */
const BLANK = make("div", { role: "row", className: "row", tabIndex: -1, "aria-selected": "false" },
  make("div", { role: "gridcell", className: "line" },
    make("span", { className: "at", lang: "en" }), make("span", { className: "text" }),
    make("span", { className: "signs", lang: "en" })));

/** @returns {HTMLElement} */
function newRow(id) {
  const row = BLANK.cloneNode(true);
  row.id = `line-${id}`;
  row.dataset.id = id;
  return row;
}

/**
 * Brings a row up to date.
 *
 * @param {HTMLElement} row
 * @param {import("./store.js").Line} entry
 */
function fill(row, entry) {
  const [at, text, signs] = row.firstElementChild.children;
  const state = stateOf(entry);
  row.dataset.state = state;
  setText(at, clock(entry.start));
  setText(text, state === "empty" ? emptyText(entry) : entry.text);
  // The name of the row is read in the language of the line: its words are the matter.
  if (row.lang !== entry.language) row.lang = entry.language;
  const remarks = state === "empty" ? [] : [STATES[state].join(" ")];
  if (isDoubtful(entry)) remarks.push("? doubtful");
  if (entry.voice && state !== "empty") remarks.push(entry.voice);
  if (isOverlong(entry)) remarks.push(`▲ ${secondsOver(entry).toFixed(1)} s too long`);
  if (entry.findings.length) remarks.push(`${worstLevel(entry) === "error" ? "✖\ufe0e" : "▲"} ${count(entry.findings.length, "finding")}`);
  if (entry.note) remarks.push("✉\ufe0e note");
  setText(signs, remarks.join(" · "));
}

/** Numbers change when lines come or go: then all names do. */
function name(ids) {
  const places = new Map(store.order.map((id, i) => [id, i + 1]));
  for (const id of ids) {
    const text = label(store.lines.get(id), places.get(id));
    const row = rows.get(id);
    if (row.getAttribute("aria-label") !== text) row.setAttribute("aria-label", text);
  }
}

/** Shows what the filter lets through; the chosen line stays until one leaves it. */
function filter() {
  const { lets } = FILTERS[store.filter];
  store.shown = [];
  for (const id of store.order) {
    const show = id === store.current || lets(store.lines.get(id));
    if (show) store.shown.push(id);
    const row = rows.get(id);
    if (row.hidden === show) row.hidden = !show;
  }
  list.classList.toggle("filtered", store.filter !== "all"); // dialogue stands beside its lines, or not at all
  tell(store.order.some((id) => lets(store.lines.get(id))));
  emit("shown", store.shown);
}

/** Says in the page where nothing is to be listed. */
function tell(hasLines) {
  const note = document.getElementById("list-note");
  setText(note, store.order.length ? `No line is so: ${FILTERS[store.filter].title.toLowerCase()}. The chosen line stays.` : "There are no lines yet.");
  note.hidden = hasLines;
  list.setAttribute("role", list.childElementCount ? "grid" : "group"); // a grid without rows is none
  if (hasLines) list.removeAttribute("aria-describedby");
  else list.setAttribute("aria-describedby", note.id);
}

/** The words of the dialogue, in order of time: their rows, and when they begin. */
let dialogue = [];

/** A row of what somebody says in the film: to read, not to choose. */
function dialogueRow({ start, text, speaker }) {
  const words = make("span", { className: "text", dir: "auto" }, speaker ? `${speaker}: ${text}` : text);
  return make("div", { role: "row", className: "speech", lang: store.film?.language ?? "" },
    make("div", { role: "gridcell", className: "line" }, make("span", { className: "at" }, clock(start)), words));
}

/** @type {string[]} The order in which the rows are. */
let arranged = [];

/** All rows in order of time: lines, and the dialogue between them. */
function* inOrder() {
  let next = 0;
  for (const id of store.order) {
    const { start } = store.lines.get(id);
    for (; next < dialogue.length && dialogue[next].start < start; next += 1) yield dialogue[next].row;
    yield rows.get(id);
  }
  for (; next < dialogue.length; next += 1) yield dialogue[next].row;
}

/** Puts the rows into the order of time; moves only those that are elsewhere. */
function arrange() {
  arranged = store.order;
  let next = list.firstElementChild;
  for (const row of inOrder()) {
    if (row === next) next = next.nextElementSibling;
    else if (row.isConnected && row.contains(document.activeElement)) {
      // A focused row that is moved would lose the focus: what lies between moves instead.
      while (next && next !== row) {
        const away = next;
        next = next.nextElementSibling;
        list.append(away);
      }
      next = row.nextElementSibling;
    } else list.insertBefore(row, next);
  }
}

/** Whether the rows were built before: a page that opens shows its beginning, and is not scrolled to its first line. */
let isBuilt = false;

/** Builds all rows again. */
function build() {
  const hadFocus = list.contains(document.activeElement);
  rows.clear();
  for (const id of store.order) {
    const row = newRow(id);
    fill(row, store.lines.get(id));
    rows.set(id, row);
  }
  const spoken = store.film.speech.filter((utterance) => utterance.text);
  dialogue = spoken.map((utterance) => ({ start: utterance.start, row: dialogueRow(utterance) }));
  const all = document.createDocumentFragment();
  all.append(...inOrder());
  list.replaceChildren(all);
  arranged = store.order;
  name(store.order);
  filter();
  mark(store.current, hadFocus, isBuilt);
  isBuilt = true;
}

/** @type {string|null} */
let marked = null;

/** Opens a row: the panel moves into it, and what in it had the focus has it still. */
function open(row) {
  if (panel.parentElement === row) return;
  const focused = panel.contains(document.activeElement) ? document.activeElement : null;
  row.append(panel);
  focused?.focus({ preventScroll: true });
}

/** Makes a row the chosen one, open and in sight, focused if another row has the focus. */
function mark(id, focus = hasFocusedRow(), scroll = true) {
  const before = rows.get(marked);
  if (before && marked !== id) {
    before.setAttribute("aria-selected", "false");
    // Firefox goes on to call a cell selected that was made while its row was, and Orca reads it after each other row.
    before.prepend(before.firstElementChild);
    before.tabIndex = -1;
  }
  marked = id;
  const row = rows.get(id);
  list.tabIndex = row ? -1 : 0; // an empty list can be reached as well
  if (!row) return;
  if (row.hidden) row.hidden = false;
  row.setAttribute("aria-selected", "true");
  row.tabIndex = 0;
  open(row);
  if (focus) row.focus({ preventScroll: true });
  if (scroll) row.scrollIntoView({ block: "nearest" });
}

/** Whether a row itself has the focus, not what is edited in it. */
const hasFocusedRow = () => document.activeElement === list || document.activeElement?.classList.contains("row");

/** @param {{changed: string[], gone: string[]}} news */
function update({ changed, gone }) {
  const focused = hasFocusedRow();
  const added = changed.filter((id) => !rows.has(id) && store.lines.has(id));
  for (const id of added) rows.set(id, newRow(id));
  for (const id of changed) if (rows.has(id)) fill(rows.get(id), store.lines.get(id));
  if (store.current !== marked) mark(store.current, false);
  for (const id of gone) {
    rows.get(id)?.remove();
    rows.delete(id);
  }
  const isMoved = arranged !== store.order; // lines came, went, or changed places
  if (isMoved) arrange();
  name(isMoved ? store.order : changed.filter((id) => rows.has(id)));
  if (isMoved || store.filter !== "all") filter();
  if (focused && !hasFocusedRow()) mark(store.current, true);
}

/** Goes to a line, and says it where the focus is elsewhere. */
function go(id, otherwise) {
  if (!id) return say(otherwise);
  select(id);
  return told(id);
}

/**
 * Says which line is chosen now, unless its row or its text has the focus: that is read anyway, for the text is moved
 * to its row and focused again (heard with Orca, where both were said).
 *
 * @param {string} id
 */
export function told(id) {
  if (!hasFocusedRow() && !panel.contains(document.activeElement)) say(label(line(id), number(id)), "line");
}

/** @type {HTMLElement|null} The row that is played now. */
let playedRow = null;

/** While the film runs, the row of the moment is marked and kept in sight, unless somebody writes. */
function follow({ seconds, playing }) {
  const id = playing ? store.order.findLast((each) => store.lines.get(each).start <= seconds + 0.05) : null;
  const row = id ? rows.get(id) : null;
  if (row === playedRow) return;
  playedRow?.classList.remove("played");
  playedRow = row;
  if (!row) return;
  row.classList.add("played");
  if (!panel.contains(document.activeElement)) row.scrollIntoView({ block: "nearest" });
}

/** How many rows are in sight. */
function page() {
  const closed = [...rows.values()].find((row) => !row.hidden && row !== panel.parentElement);
  return Math.max(1, Math.floor(list.clientHeight / Math.max(1, closed?.offsetHeight ?? 1)) - 1);
}

/** @param {number} by */
function jump(by) {
  const from = Math.max(0, store.shown.indexOf(store.current));
  const to = Math.min(store.shown.length - 1, Math.max(0, from + by));
  go(store.shown[to] ?? null, "There are no lines.");
}

/**
 * The next line, after the chosen one and round to the start, that is so.
 *
 * @param {(entry: import("./store.js").Line) => boolean} matches
 * @returns {string|null}
 */
export function nextThat(matches) {
  const from = store.order.indexOf(store.current);
  const ids = [...store.order.slice(from + 1), ...store.order.slice(0, from)];
  return ids.find((id) => matches(store.lines.get(id))) ?? null;
}

/** @param {string} value One of FILTERS. */
export function setFilter(value) {
  store.filter = value;
  filter();
  const first = store.shown.find((id) => FILTERS[value].lets(store.lines.get(id)));
  if (first && !FILTERS[value].lets(line())) select(first);
  filter();
}

/** @type {string|null} Where `nextDoubtful` led last. */
let lastDoubtful = null;

/**
 * The most doubtful of the other lines; once there, and nothing done to it, the next below it.
 *
 * @returns {string|null}
 */
function nextDoubtful() {
  const doubted = store.order.filter((id) => store.lines.get(id).doubt !== null);
  const worstFirst = doubted.sort((a, b) => store.lines.get(b).doubt.value - store.lines.get(a).doubt.value);
  const below = store.current === lastDoubtful ? worstFirst.indexOf(lastDoubtful) + 1 : 0;
  lastDoubtful = [...worstFirst.slice(below), ...worstFirst].find((id) => id !== store.current) ?? null;
  return lastDoubtful;
}

/** Goes to the next empty slot; who was writing goes on writing there. */
export function toNextEmpty() {
  const id = nextThat(isEmpty);
  if (!id) return say(isEmpty(line() ?? { heard: true }) ? "This is the only empty slot." : "No slot is empty: every one has its line.");
  const isWriting = panel.contains(document.activeElement);
  select(id, { focus: !isWriting });
  return isWriting ? told(id) : undefined;
}

function commands() {
  const move = (name, title, keys, run, more = {}) => register({ name, title, group: "Move", keys, run, repeats: true, ...more });
  const next = (way, end) => () => go(lineBeside(store.current, way), end);
  move("next", "Next line", { list: ["ArrowDown", "j"], any: ["Alt+ArrowDown"] }, next(1, "This is the last line."));
  move("previous", "Previous line", { list: ["ArrowUp", "k"], any: ["Alt+ArrowUp"] }, next(-1, "This is the first line."));
  move("page-down", "A page further", ["PageDown"], () => jump(page()));
  move("page-up", "A page back", ["PageUp"], () => jump(-page()));
  move("first", "First line", ["Home"], () => jump(-Infinity));
  move("last", "Last line", ["End"], () => jump(Infinity));
  move("next-empty", "Next empty slot", { any: ["Alt+N"] }, toNextEmpty);
  const isOpen = (entry) => entry.heard && entry.state !== "accepted";
  move("next-open", "Next line that is not accepted", ["n"], () => go(nextThat(isOpen), "All other lines are accepted."));
  const hasFindings = (entry) => entry.findings.length > 0;
  move("next-doubtful", "Next line, the most doubtful first", ["q"], () => go(nextDoubtful(), "No other line has a doubt."));
  move("next-finding", "Next line with a finding", ["f"], () => go(nextThat(hasFindings), "No other line has findings."));
}

/** Starts the list. */
export function start() {
  list = document.getElementById("list");
  commands();
  const rowOf = (event) => (event.target instanceof Element && !panel.contains(event.target) ? event.target.closest(".row") : null);
  list.addEventListener("click", (event) => rowOf(event) && select(rowOf(event).dataset.id, { focus: true }));
  // Who clicks twice wants to write.
  list.addEventListener("dblclick", (event) => rowOf(event) && document.getElementById("line-text")?.focus());
  // Selection follows focus, also where a screen reader moves the focus itself.
  list.addEventListener("focusin", (event) => {
    if (rowOf(event)) select(rowOf(event).dataset.id);
    else if (event.target === list && rows.has(store.current)) mark(store.current, true);
  });
  subscribe("film", build);
  subscribe("lines", update);
  subscribe("player", follow);
  subscribe("current", (id) => {
    mark(id);
    if (store.filter !== "all") filter();
  });
  subscribe("focus", (id) => mark(id, true));
  subscribe("arrived", told);
}

/** The place where the chosen line is edited. */
export const editingPlace = () => panel;
