/**
 * The script: lines, empty slots and, between them, the words of the dialogue, as one grid in plain HTML. The chosen
 * line is open in place. All rows are in the page, so that a screen reader reaches each of them;
 * `content-visibility` spares the browser the rows that are out of sight, group by group (measured:
 * benchmarks/LOG.md).
 */

import { make, setText } from "./build.js";
import { register } from "./commands.js";
import { lineBeside } from "./lineacts.js";
import { say } from "./say.js";
import { chosenLine, isEmpty, lineById, lineNumber, openLine, select, store, subscribe, writeIn } from "./store.js";
import { decimal, language, text } from "./texts.js";
import { clock, spokenSeconds, spokenTime } from "./times.js";

/**
 * Icon and word of each state; the icon is never alone.
 *
 * @type {Record<"empty"|"machine"|"edited"|"accepted"|"dropped", [string, string]>}
 */
export const STATES = {
  empty: ["", text("list.state.empty")],
  machine: ["○", text("list.state.machine")],
  edited: ["✎\ufe0e", text("list.state.edited")],
  accepted: ["✓\ufe0e", text("list.state.accepted")],
  dropped: ["—", text("list.state.dropped")],
};

/**
 * What the filter may let through.
 *
 * @type {Record<string, {title: string, lets: (line: import("./store.js").Line) => boolean}>}
 */
export const FILTERS = {
  all: { title: text("list.filter.all"), lets: () => true },
  empty: { title: text("list.filter.empty"), lets: isEmpty },
  open: { title: text("list.filter.open"), lets: (line) => line.heard && line.state !== "accepted" },
  findings: { title: text("list.filter.findings"), lets: hasFinding },
  machine: { title: text("list.filter.machine"), lets: (line) => line.heard && line.state === "machine" },
  dropped: { title: text("list.filter.dropped"), lets: (line) => !line.heard && Boolean(line.text) },
};

/**
 * A remark beside a line. level: what must be looked at stands in a frame of its own.
 *
 * @typedef {{text: string, level?: "warning"|"error"}} Remark
 */

/** @returns {Remark[]} What is said beside a line, its state first. */
function remarksOf(line, state) {
  if (state === "empty") return [];
  const remarks = [{ text: STATES[state].join(" ") }];
  if (isDoubtful(line)) remarks.push({ text: `? ${text("list.doubtful")}` });
  if (line.voice) remarks.push({ text: VOICES[line.voice] });
  if (isOverlong(line)) remarks.push({ text: `▲ ${tooLong(line)}`, level: "warning" });
  if (line.findings.length) {
    const isError = line.findings.some((finding) => finding.level === "error");
    remarks.push({ text: `${isError ? "✖\ufe0e" : "▲"} ${findingsText(line)}`, level: isError ? "error" : "warning" });
  }
  if (line.note) remarks.push({ text: `✉\ufe0e ${text("list.note")}` });
  return remarks;
}

/**
 * Shows remarks; nothing is touched where they stand there already.
 *
 * @param {HTMLElement} place
 * @param {Remark[]} remarks
 */
function showRemarks(place, remarks) {
  const words = remarks.map((remark) => remark.text).join(", ");
  if (place.dataset.words === words) return;
  place.dataset.words = words;
  const plain = remarks.filter(({ level }) => !level);
  const plainWords = plain.map((remark) => remark.text).join(", ");
  const urgent = remarks.filter(({ level }) => level);
  const framed = urgent.map((remark) => make("span", { className: remark.level }, remark.text));
  place.replaceChildren(plainWords, ...framed.flatMap((remark) => [" ", remark]));
}

/** @type {Map<string, HTMLElement>} */
const rows = new Map();
/** @type {HTMLElement} */
let list;
/** Where the chosen line is edited; it stands in the chosen row. */
const panel = make("div", { id: "detail", className: "open", role: "gridcell", "data-where": "edit" });

/** From this doubt on a row says that its line is doubtful. */
const DOUBTFUL = 0.5;
const isDoubtful = (line) => line.doubt !== null && line.doubt.value >= DOUBTFUL;

/**
 * @param {import("./store.js").Line} line
 * @returns {keyof typeof STATES}
 */
export const stateOf = (line) => (isEmpty(line) ? "empty" : line.heard ? line.state : "dropped");

/**
 * @param {import("./store.js").Line} line
 * @returns {string} "✓ accepted by Ann"; nothing for an empty slot.
 */
export function stateText(line) {
  const state = stateOf(line);
  if (state === "empty") return "";
  const [sign, word] = STATES[state];
  const isNamed = line.by && state === "accepted";
  return `${sign} ${isNamed ? text("list.accepted_by", { name: line.by }) : word}`;
}

/**
 * @param {number} seconds
 * @returns {number} About how many words (or characters, as the language has it) this film's voice says in them.
 */
export const unitsFor = (seconds) => Math.max(1, Math.floor(seconds / (store.film?.unit_seconds || 0.4)));

/** What is likely heard in a slot, by the server's word for it. */
export const VOICES = {
  song: text("list.voice.song"),
  shout: text("list.voice.shout"),
};

/**
 * @param {number} seconds
 * @returns {string} How much such a slot may hold: "4.2 s, about 11 words".
 */
export function sizeOf(seconds) {
  const values = { seconds: decimal(seconds, 1), count: unitsFor(seconds) };
  if (store.film?.unit === "character") return text("list.size_characters", values);
  return text("list.size", values);
}

const lengthOf = (line) => line.room_seconds ?? line.end - line.start;

/** "Empty slot · 4.2 s, about 11 words · song likely here" */
const emptyText = (line) =>
  [text("list.empty_slot"), sizeOf(lengthOf(line)), VOICES[line.voice]].filter(Boolean).join(" · ");

/** The same for the ear: "4.2 seconds, about 11 words, song likely here". */
function spokenSize(line) {
  const seconds = lengthOf(line);
  const values = { seconds: spokenSeconds(seconds), count: unitsFor(seconds) };
  const size =
    store.film?.unit === "character"
      ? text("list.spoken_size_characters", values)
      : text("list.spoken_size", values);
  return line.voice ? `${size}, ${VOICES[line.voice]}` : size;
}

const findingsText = ({ findings }) => text("list.findings", { count: findings.length });
const tooLong = (line) => text("list.too_long", { seconds: decimal(secondsOver(line), 1) });

/**
 * The name of a row, as it is read: "Line 12 of 40, at 1 minute 20 seconds, machine, 2 findings: She opens the door.",
 * or "Empty slot 12 of 40, at 1 minute 20 seconds: 4.2 seconds, about 11 words". No middle dots: screen readers name them.
 *
 * @param {import("./store.js").Line} line
 * @param {number} number  Place of the line, from 1.
 * @returns {string}
 */
function rowName(line, number) {
  const state = stateOf(line);
  const isEmpty = state === "empty";
  const place = { number, total: store.order.length, time: spokenTime(Math.floor(line.start + 1e-6), 0) };
  const parts = [
    isEmpty
      ? text("list.row_empty", place)
      : text("list.row", place),
  ];
  if (!isEmpty) parts.push(STATES[state][1]);
  if (isDoubtful(line)) parts.push(text("list.doubtful"));
  if (line.voice && !isEmpty) parts.push(VOICES[line.voice]);
  if (line.findings.length) parts.push(findingsText(line));
  if (!isEmpty && isOverlong(line))
    parts.push(text("list.spoken_too_long", { seconds: spokenSeconds(secondsOver(line)) }));
  return `${parts.join(", ")}: ${isEmpty ? spokenSize(line) : line.text}`;
}

/** Seconds over its time that a line may take without a word about it: a breath before speech that a render spares. */
export const ALLOWANCE = 0.2;

/** Seconds by which a line is longer than the time that it has. */
const secondsOver = (line) => (line.seconds ?? 0) - (line.room_seconds ?? Infinity);
const isOverlong = (line) => line.heard && secondsOver(line) > ALLOWANCE;

/**
 * @param {import("./store.js").Line} line
 * @returns {boolean} Whether the guidelines have something to say about a line, or it is longer than its time.
 */
export function hasFinding(line) {
  return line.findings.length > 0 || isOverlong(line);
}

/** A row as all are at first; copies of it are made faster than rows. */
const BLANK_ROW = make("div", { role: "row", className: "row", tabIndex: -1, "aria-selected": "false" },
  make("div", { role: "gridcell", className: "line" },
    make("span", { className: "time", lang: language }), make("span", { className: "text" }),
    make("span", { className: "signs", lang: language })));

/** @returns {HTMLElement} */
function newRow(id) {
  const row = BLANK_ROW.cloneNode(true);
  row.id = `line-${id}`;
  row.dataset.id = id;
  return row;
}

/**
 * Brings a row up to date.
 *
 * @param {HTMLElement} row
 * @param {import("./store.js").Line} line
 */
function fill(row, line) {
  const [time, words, signs] = row.firstElementChild.children;
  const state = stateOf(line);
  row.dataset.state = state;
  setText(time, clock(line.start));
  setText(words, state === "empty" ? emptyText(line) : line.text);
  // The name of the row is read in the language of the line: its words are the matter.
  if (row.lang !== line.language) row.lang = line.language;
  showRemarks(signs, remarksOf(line, state));
}

/** Gives rows their names. Numbers change when lines come or go: then all names do. */
function nameRows(ids) {
  const numbers = new Map(store.order.map((id, i) => [id, i + 1]));
  for (const id of ids) {
    const name = rowName(store.lines.get(id), numbers.get(id));
    const row = rows.get(id);
    if (row.getAttribute("aria-label") !== name) row.setAttribute("aria-label", name);
  }
}

/** Shows what the filter lets through; the chosen line stays until the person leaves it. */
function applyFilter() {
  const { lets } = FILTERS[store.filter];
  store.shown = [];
  for (const id of store.order) {
    const show = id === store.current || lets(store.lines.get(id));
    if (show) store.shown.push(id);
    const row = rows.get(id);
    if (row.hidden === show) row.hidden = !show;
  }
  list.classList.toggle("filtered", store.filter !== "all"); // dialogue stands beside its lines, or not at all
  sizeGroups();
  showNote(store.order.some((id) => lets(store.lines.get(id))));
}

/** Says on the page where there is nothing to list. */
function showNote(hasLines) {
  const note = document.getElementById("list-note");
  const filtered = text("list.nothing_filtered", { filter: FILTERS[store.filter].title });
  setText(note, store.order.length ? filtered : text("list.no_lines"));
  note.hidden = hasLines;
  list.setAttribute("role", rows.size || dialogue.length ? "grid" : "group"); // a grid without rows is none
  if (hasLines) list.removeAttribute("aria-describedby");
  else list.setAttribute("aria-describedby", note.id);
}

/** @type {{start: number, row: HTMLElement}[]} The words of the dialogue, in order of time. */
let dialogue = [];

/** What stands for speech whose words are not known, by its kind. */
const WORDLESS = {
  speech: text("list.wordless"),
  lyrics: text("list.lyrics"),
};

/**
 * A row of what somebody says in the film: to read, not to choose.
 *
 * @param {import("./store.js").Utterance} utterance
 * @param {boolean} isByMachine  Its words were written down by a machine, which mishears some.
 */
function dialogueRow({ start, kind, text: spoken, speaker }, isByMachine) {
  const time = make("span", { className: "time" }, clock(start));
  if (!spoken) {
    const noWords = make("span", { className: "text", lang: language }, WORDLESS[kind] ?? WORDLESS.speech);
    const cell = make("div", { role: "gridcell", className: "line" }, time, noWords);
    return make("div", { role: "row", className: "speech wordless" }, cell);
  }
  const words = make("span", { className: "text", dir: "auto" }, speaker ? `${speaker}: ${spoken}` : spoken);
  const remarks = isByMachine ? make("span", { className: "signs", lang: language }, STATES.machine.join(" ")) : null;
  const cell = make("div", { role: "gridcell", className: "line" }, time, words, remarks);
  return make("div", { role: "row", className: "speech", lang: "" }, cell);
}

/** The rows of the dialogue; the first that lacks words has the offer to write them down. */
function dialogueRows() {
  const byMachine = new Set(store.film.transcript?.written);
  const { speech } = store.film;
  const all = speech.map((utterance, i) => ({ start: utterance.start, row: dialogueRow(utterance, byMachine.has(i)) }));
  const firstWordless = speech.findIndex((utterance) => utterance.kind === "speech" && !utterance.text);
  if (firstWordless >= 0) all[firstWordless].row.firstElementChild.append(transcriptOffer);
  return all;
}

/** @type {string[]} The order in which the rows are. */
let arranged = [];

/** Rows of a group: the browser spares itself whole groups that are out of sight, where each row costs it a little. */
const GROUP_ROWS = 100;
/** Height of a row in rem until it was shown. */
const ROW_HEIGHT = 3;

/** @param {HTMLElement[]} groupRows */
const makeGroup = (groupRows) => make("div", { role: "rowgroup", className: "rows" }, ...groupRows);

/** The first row of a group, or of the next one that has any; null after the last. */
function firstRowFrom(group) {
  while (group && !group.firstElementChild) group = group.nextElementSibling;
  return group?.firstElementChild ?? null;
}

/** The row after a row; null after the last. */
const rowAfter = (row) => row.nextElementSibling ?? firstRowFrom(row.parentElement.nextElementSibling);

/** Puts a row before another one; at the end where that is null. */
function putBefore(row, next) {
  if (next) next.before(row);
  else (list.lastElementChild ?? list.appendChild(makeGroup([]))).append(row);
}

/** Says how high each group is while it is not laid out; one of which the filter shows nothing is not there. */
function sizeGroups() {
  const isFiltered = store.filter !== "all";
  const isShown = (row) => !row.hidden && !(isFiltered && row.classList.contains("speech"));
  for (const group of list.children) {
    const shownCount = [...group.children].filter(isShown).length;
    group.hidden = !shownCount;
    group.style.containIntrinsicBlockSize = `auto ${shownCount * ROW_HEIGHT}rem`;
  }
}

/** All rows in order of time: lines, and the dialogue between them. */
function* rowsInOrder() {
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
  let next = firstRowFrom(list.firstElementChild);
  for (const row of rowsInOrder()) {
    if (row === next) next = rowAfter(next);
    else if (row.isConnected && row.contains(document.activeElement)) {
      // A focused row that is moved would lose the focus: the rows between move to the end instead.
      while (next && next !== row) {
        const between = next;
        next = rowAfter(next);
        putBefore(between, null);
      }
      next = rowAfter(row);
    } else putBefore(row, next);
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
  dialogue = dialogueRows();
  const inOrder = [...rowsInOrder()];
  const groups = [];
  for (let i = 0; i < inOrder.length; i += GROUP_ROWS) groups.push(makeGroup(inOrder.slice(i, i + GROUP_ROWS)));
  list.replaceChildren(...groups);
  arranged = store.order;
  nameRows(store.order);
  applyFilter();
  mark(store.current, hadFocus, isBuilt);
  isBuilt = true;
}

/** @type {string|null} Id of the row that is open. */
let markedId = null;

/** Opens a row: the panel moves into it, and what in it had the focus has it still. */
function open(row) {
  if (panel.parentElement === row) return;
  const focused = panel.contains(document.activeElement) ? document.activeElement : null;
  row.append(panel);
  focused?.focus({ preventScroll: true });
}

/** Makes a row the chosen one, open and in sight, focused if another row has the focus. */
function mark(id, focus = isRowFocused(), scroll = true) {
  const previous = rows.get(markedId);
  if (previous && markedId !== id) {
    previous.setAttribute("aria-selected", "false");
    // Firefox goes on to call a cell selected that was made while its row was, and Orca reads it after each other row.
    previous.prepend(previous.firstElementChild);
    previous.tabIndex = -1;
  }
  if (markedId !== id) readId = null;
  markedId = id;
  const row = rows.get(id);
  list.tabIndex = row ? -1 : 0; // an empty list can be reached as well
  if (!row) return;
  if (row.hidden) {
    row.hidden = false;
    row.parentElement?.removeAttribute("hidden");
  }
  row.setAttribute("aria-selected", "true");
  row.tabIndex = 0;
  open(row);
  if (focus) row.focus({ preventScroll: true });
  if (scroll) bringIntoSight(row);
}

/** Milliseconds in which the row before closes and the material of the new one comes. */
const SETTLE = 1000;
let settleTimer = 0;

/**
 * Scrolls to an open row. Where it is higher than the window, its text and buttons are seen, not its end; there the
 * browser keeps them while all around them changes its height (`settling` in style.css).
 */
function bringIntoSight(row) {
  list.classList.add("settling");
  clearTimeout(settleTimer);
  settleTimer = setTimeout(() => list.classList.remove("settling"), SETTLE);
  for (const part of [row, panel.querySelector(".d-tools"), document.getElementById("line-text")])
    part?.scrollIntoView({ block: "nearest" });
}

/** @type {string|null} The chosen line, where its text took the focus from elsewhere: it is read therefore. */
let readId = null;

/** The cursor goes to the end of the chosen line's text; where it stands there already it went along with its row. */
function toText(id) {
  const field = document.getElementById("line-text");
  if (document.activeElement === field) return;
  readId = id;
  bringIntoSight(rows.get(id));
  field.focus({ preventScroll: true });
  field.setSelectionRange(field.value.length, field.value.length);
}

/** A click beside what can be clicked in the open row would give the row the focus: its text takes it. */
function onPanelClick() {
  const isTextSelected = !getSelection().isCollapsed; // to be copied
  if (isRowFocused() && !isTextSelected) writeIn(store.current);
}

/** Whether a row itself has the focus, not what is edited in it. */
const isRowFocused = () => document.activeElement === list || document.activeElement?.classList.contains("row");

/** @param {{changed: string[], gone: string[]}} ids */
function update({ changed, gone }) {
  const wasRowFocused = isRowFocused();
  const added = changed.filter((id) => !rows.has(id) && store.lines.has(id));
  for (const id of added) rows.set(id, newRow(id));
  for (const id of changed) if (rows.has(id)) fill(rows.get(id), store.lines.get(id));
  if (store.current !== markedId) mark(store.current, false);
  for (const id of gone) {
    rows.get(id)?.remove();
    rows.delete(id);
  }
  const isMoved = arranged !== store.order; // lines came, went, or changed places
  if (isMoved) arrange();
  nameRows(isMoved ? store.order : changed.filter((id) => rows.has(id)));
  if (isMoved || store.filter !== "all") applyFilter();
  if (wasRowFocused && !isRowFocused()) mark(store.current, true);
}

/**
 * Goes to a line. Where the focus is elsewhere, in its text say, no row is read: then the line is said.
 *
 * @param {string|null} id
 * @param {string} none  Said where there is no such line.
 */
function goTo(id, none) {
  if (!id) return say(none);
  select(id);
  return announceLine(id);
}

/**
 * Whether a screen reader reads the text again when it has been moved to another row and focused there. In Firefox it
 * does; Chromium sees the same field with the focus as before, and nothing is read (both heard with Orca).
 */
export const isMovedTextRead = CSS.supports("-moz-appearance", "none");

/**
 * Says which line is chosen now, unless its row or its text has the focus and is read anyway.
 *
 * @param {string} id
 */
export function announceLine(id) {
  const isTextRead = document.activeElement?.id === "line-text" && (isMovedTextRead || readId === id);
  const isRead = isRowFocused() || isTextRead;
  if (!isRead) say(rowName(lineById(id), lineNumber(id)), "line");
}

/** @type {HTMLElement|null} The row that is played now. */
let playedRow = null;

/** While the film runs, the row of the moment is marked and kept in sight, unless somebody writes. */
function follow({ seconds, playing }) {
  const hasStarted = (id) => store.lines.get(id).start <= seconds + 0.05;
  const playedId = playing ? store.order.findLast(hasStarted) : null;
  const row = playedId ? rows.get(playedId) : null;
  if (row === playedRow) return;
  playedRow?.classList.remove("played");
  playedRow = row;
  if (!row) return;
  row.classList.add("played");
  if (!panel.contains(document.activeElement)) row.scrollIntoView({ block: "nearest" });
}

/** How many rows are in sight. */
function rowsInSight() {
  const closed = [...rows.values()].find((row) => !row.hidden && row !== panel.parentElement);
  return Math.max(1, Math.floor(list.clientHeight / Math.max(1, closed?.offsetHeight ?? 1)) - 1);
}

/** @param {number} rowCount Rows down; negative: up. */
function jump(rowCount) {
  const from = Math.max(0, store.shown.indexOf(store.current));
  const target = Math.min(store.shown.length - 1, Math.max(0, from + rowCount));
  goTo(store.shown[target] ?? null, text("list.empty"));
}

/**
 * The next line that matches, after the chosen one and round to the start.
 *
 * @param {(line: import("./store.js").Line) => boolean} matches
 * @returns {string|null}
 */
function nextMatching(matches) {
  const from = store.order.indexOf(store.current);
  const ids = [...store.order.slice(from + 1), ...store.order.slice(0, from)];
  return ids.find((id) => matches(store.lines.get(id))) ?? null;
}

/** @param {string} value One of FILTERS. */
export function setFilter(value) {
  store.filter = value;
  applyFilter();
  const first = store.shown.find((id) => FILTERS[value].lets(store.lines.get(id)));
  if (first && !FILTERS[value].lets(chosenLine())) select(first);
  applyFilter();
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

/** Opens the next empty slot to be written. */
function goToNextEmpty() {
  const id = nextMatching(isEmpty);
  if (!id) {
    const line = chosenLine();
    return say(line && isEmpty(line) ? text("list.only_empty") : text("list.none_empty"));
  }
  writeIn(id);
  return announceLine(id);
}

function commands() {
  const move = (name, title, keys, run) => register({ name, title, group: "move", keys, run, repeats: true });
  const goNext = () => goTo(lineBeside(store.current, 1), text("list.is_last"));
  const goBack = () => goTo(lineBeside(store.current, -1), text("list.is_first"));
  move("next", text("command.next"), { list: ["ArrowDown", "j"], any: ["Alt+ArrowDown"] }, goNext);
  move("previous", text("command.previous"), { list: ["ArrowUp", "k"], any: ["Alt+ArrowUp"] }, goBack);
  move("page-down", text("command.page_down"), ["PageDown"], () => jump(rowsInSight()));
  move("page-up", text("command.page_up"), ["PageUp"], () => jump(-rowsInSight()));
  move("first", text("command.first"), ["Home"], () => jump(-Infinity));
  move("last", text("command.last"), ["End"], () => jump(Infinity));
  move("next-empty", text("command.next_empty"), { any: ["Alt+N"] }, goToNextEmpty);
  const goNextOpen = () => goTo(nextMatching(FILTERS.open.lets), text("list.all_accepted"));
  const goNextDoubtful = () => goTo(nextDoubtful(), text("list.no_doubt"));
  const goNextFinding = () => goTo(nextMatching(FILTERS.findings.lets), text("list.no_findings"));
  move("next-open", text("command.next_open"), ["n"], goNextOpen);
  move("next-doubtful", text("command.next_doubtful"), ["q"], goNextDoubtful);
  move("next-finding", text("command.next_finding"), ["f"], goNextFinding);
}

/** Starts the list. */
export function start() {
  list = document.getElementById("list");
  commands();
  const rowOf = ({ target }) => {
    const isOutside = target instanceof Element && !panel.contains(target);
    return isOutside ? target.closest(".row") : null;
  };
  list.addEventListener("click", (event) => rowOf(event) && openLine(rowOf(event).dataset.id));
  panel.addEventListener("click", onPanelClick);
  // Who clicks twice wants to write.
  list.addEventListener("dblclick", (event) => rowOf(event) && writeIn(rowOf(event).dataset.id));
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
    if (store.filter !== "all") applyFilter();
  });
  subscribe("focus", (id) => mark(id, true));
  subscribe("write", toText);
  subscribe("arrived", announceLine);
}

/**
 * Where the offer to transcribe the dialogue stands: once, in the first row of dialogue that lacks words. Keys act in
 * it as in the fields of a line, so that Enter and Space press its button.
 */
export const transcriptOffer = make("span", { className: "signs", "data-where": "edit" });

/** @returns {HTMLElement} The element in which the chosen line is edited. */
export const editingPlace = () => panel;
