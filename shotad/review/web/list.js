/**
 * The list of lines: a listbox in plain HTML. All rows are in the page, so that a screen reader reaches each of
 * them; `content-visibility` spares the browser the rows that are out of sight (measured: benchmarks/LOG.md).
 */

import { make } from "./build.js";
import { register } from "./commands.js";
import { beside } from "./lineacts.js";
import { say } from "./say.js";
import { emit, line, number, select, store, subscribe } from "./store.js";
import { clock } from "./times.js";
import { aloud, count, setText } from "./wording.js";

/** Icon and word of each state; the icon is never alone. */
const STATES = {
  machine: ["○", "machine"],
  edited: ["✎\ufe0e", "edited"],
  accepted: ["✓\ufe0e", "accepted"],
  dropped: ["—", "not heard"],
};

/** What the filter may let through. */
export const FILTERS = {
  all: { title: "All lines", lets: () => true },
  open: { title: "Not accepted", lets: (one) => one.heard && one.state !== "accepted" },
  findings: { title: "With findings", lets: (one) => one.findings.length > 0 },
  machine: { title: "As the machine wrote", lets: (one) => one.heard && one.state === "machine" },
  dropped: { title: "Not heard", lets: (one) => !one.heard },
};

/** @type {Map<string, HTMLElement>} */
const rows = new Map();
/** @type {HTMLElement} */
let list;

/** From this doubt on a row says that its line is doubtful. */
const DOUBTFUL = 0.5;
const isDoubtful = (one) => one.doubt !== null && one.doubt.value >= DOUBTFUL;

/** @param {import("./store.js").Line} one */
const stateOf = (one) => (one.heard ? one.state : "dropped");

/**
 * How a row is read: "Line 12 of 40, 1 minute 20, machine, 2 findings: She opens the door."
 *
 * @param {import("./store.js").Line} one
 * @param {number} at Place from 1.
 * @returns {string}
 */
export function label(one, at) {
  const parts = [`Line ${at} of ${store.order.length}`, aloud(Math.floor(one.start + 1e-6), 0), STATES[stateOf(one)][1]];
  if (isDoubtful(one)) parts.push("doubtful");
  if (one.voice) parts.push(one.voice);
  if (one.findings.length) parts.push(count(one.findings.length, "finding"));
  if (one.allowed !== null && one.words > one.allowed) parts.push(`${count(one.words - one.allowed, "word")} over`);
  return `${parts.join(", ")}: ${one.text || "no text"}`;
}

const worst = (one) => (one.findings.some((each) => each.level === "error") ? "error" : "warning");

/** A row as all are at first; copies of it are made faster than rows. */
const BLANK = make("div", { role: "option", className: "row", tabIndex: -1, "aria-selected": "false" });
for (const name of ["at", "state", "text", "found", "words"])
  BLANK.append(make("span", name === "text" ? { className: name } : { className: name, lang: "en" }));

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
 * @param {import("./store.js").Line} one
 */
function fill(row, one) {
  const [at, state, text, found, words] = row.children;
  const kind = stateOf(one);
  row.dataset.state = kind;
  setText(at, clock(one.start));
  setText(state, STATES[kind].join(" "));
  setText(text, one.text || "(no text)");
  // The name of the row is read in the language of the line: its words are the matter.
  if (row.lang !== one.language) row.lang = one.language;
  const told = isDoubtful(one) ? ["? doubtful"] : [];
  if (one.voice) told.push(one.voice);
  if (one.findings.length) told.push(`${worst(one) === "error" ? "✖\ufe0e" : "▲"} ${count(one.findings.length, "finding")}`);
  setText(found, told.join(" · "));
  if (one.findings.length) found.dataset.level = worst(one);
  else delete found.dataset.level;
  setText(words, one.allowed === null ? count(one.words, "word") : `${one.words}/${one.allowed} words`);
  words.className = one.allowed !== null && one.words > one.allowed ? "words over" : "words";
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
  tell(store.order.some((id) => lets(store.lines.get(id))));
  emit("shown", store.shown);
}

/** Says in the page where nothing is to be listed. */
function tell(some) {
  const note = document.getElementById("list-note");
  setText(note, store.order.length ? `No line is so: ${FILTERS[store.filter].title.toLowerCase()}. The chosen line stays.` : "There are no lines yet.");
  note.hidden = some;
  list.setAttribute("role", store.order.length ? "listbox" : "group"); // a list box without options is none
  if (some) list.removeAttribute("aria-describedby");
  else list.setAttribute("aria-describedby", note.id);
}

/** @type {string[]} The order in which the rows are. */
let arranged = [];

/** Puts the rows into the order of time; moves only those that are elsewhere. */
function arrange() {
  arranged = store.order;
  let next = list.firstElementChild;
  for (const id of store.order) {
    const row = rows.get(id);
    if (row === next) next = next.nextElementSibling;
    else if (row === document.activeElement && row.isConnected) {
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

/** Builds all rows again. */
function build() {
  const had = list.contains(document.activeElement);
  rows.clear();
  const all = document.createDocumentFragment();
  for (const id of store.order) {
    const row = newRow(id);
    fill(row, store.lines.get(id));
    rows.set(id, row);
    all.append(row);
  }
  list.replaceChildren(all);
  arranged = store.order;
  name(store.order);
  filter();
  mark(store.current, had);
}

/** @type {string|null} */
let marked = null;

/** Makes a row the chosen one, in sight, focused if the list has the focus. */
function mark(id, focus = list.contains(document.activeElement)) {
  const old = rows.get(marked);
  if (old && marked !== id) {
    old.setAttribute("aria-selected", "false");
    old.tabIndex = -1;
  }
  marked = id;
  const row = rows.get(id);
  list.tabIndex = row ? -1 : 0; // an empty list can be reached as well
  if (!row) return;
  if (row.hidden) row.hidden = false;
  row.setAttribute("aria-selected", "true");
  row.tabIndex = 0;
  if (focus) row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

/** @param {{changed: string[], gone: string[]}} news */
function update({ changed, gone }) {
  const focused = list.contains(document.activeElement);
  const added = changed.filter((id) => !rows.has(id) && store.lines.has(id));
  for (const id of added) rows.set(id, newRow(id));
  for (const id of changed) if (rows.has(id)) fill(rows.get(id), store.lines.get(id));
  if (store.current !== marked) mark(store.current, false);
  for (const id of gone) {
    rows.get(id)?.remove();
    rows.delete(id);
  }
  const moved = arranged !== store.order; // lines came, went, or changed places
  if (moved) arrange();
  name(moved ? store.order : changed.filter((id) => rows.has(id)));
  if (moved || store.filter !== "all") filter();
  if (focused && !list.contains(document.activeElement)) mark(store.current, true);
}

/** Goes to a line. Where the focus is elsewhere, in its text say, no row is read: then the line is said. */
function go(id, otherwise) {
  if (!id) return say(otherwise);
  select(id);
  return told(id);
}

/**
 * Says which line is chosen now, unless the list has the focus and the row is read anyway.
 *
 * @param {string} id
 */
export function told(id) {
  if (!list.contains(document.activeElement)) say(label(line(id), number(id)), "line");
}

/** How many rows are in sight. */
function page() {
  const row = rows.get(store.current);
  return Math.max(1, Math.floor(list.clientHeight / Math.max(1, row?.offsetHeight ?? 1)) - 1);
}

/** @param {number} by */
function jump(by) {
  const at = Math.max(0, store.shown.indexOf(store.current));
  const to = Math.min(store.shown.length - 1, Math.max(0, at + by));
  go(store.shown[to] ?? null, "There are no lines.");
}

/**
 * The next line, after the chosen one and round to the start, that is so.
 *
 * @param {(one: import("./store.js").Line) => boolean} is
 * @returns {string|null}
 */
function nextThat(is) {
  const at = store.order.indexOf(store.current);
  const ids = [...store.order.slice(at + 1), ...store.order.slice(0, at)];
  return ids.find((id) => is(store.lines.get(id))) ?? null;
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
let led = null;

/**
 * The most doubtful of the other lines; once there, and nothing done to it, the next below it.
 *
 * @returns {string|null}
 */
function nextDoubtful() {
  const doubted = store.order.filter((id) => store.lines.get(id).doubt !== null);
  const worstFirst = doubted.sort((a, b) => store.lines.get(b).doubt.value - store.lines.get(a).doubt.value);
  const below = store.current === led ? worstFirst.indexOf(led) + 1 : 0;
  led = [...worstFirst.slice(below), ...worstFirst].find((id) => id !== store.current) ?? null;
  return led;
}

function commands() {
  const move = (name, title, keys, run, more = {}) => register({ name, title, group: "Move", keys, run, repeats: true, ...more });
  const next = (way, end) => () => go(beside(store.current, way), end);
  move("next", "Next line", { list: ["ArrowDown", "j"], any: ["Alt+ArrowDown"] }, next(1, "This is the last line."));
  move("previous", "Previous line", { list: ["ArrowUp", "k"], any: ["Alt+ArrowUp"] }, next(-1, "This is the first line."));
  move("page-down", "A page further", ["PageDown"], () => jump(page()));
  move("page-up", "A page back", ["PageUp"], () => jump(-page()));
  move("first", "First line", ["Home"], () => jump(-Infinity));
  move("last", "Last line", ["End"], () => jump(Infinity));
  const open = (one) => one.heard && one.state !== "accepted";
  move("next-open", "Next line that is not accepted", ["n"], () => go(nextThat(open), "All other lines are accepted."));
  const found = (one) => one.findings.length > 0;
  move("next-doubtful", "Next line, the most doubtful first", ["q"], () => go(nextDoubtful(), "No other line has a doubt."));
  move("next-finding", "Next line with a finding", ["f"], () => go(nextThat(found), "No other line has findings."));
}

/** Starts the list. */
export function start() {
  list = document.getElementById("list");
  commands();
  const rowOf = (event) => (event.target instanceof Element ? event.target.closest(".row") : null);
  list.addEventListener("click", (event) => rowOf(event) && select(rowOf(event).dataset.id, { focus: true }));
  // Selection follows focus, also where a screen reader moves the focus itself.
  list.addEventListener("focusin", (event) => {
    if (rowOf(event)) select(rowOf(event).dataset.id);
    else if (rows.has(store.current)) mark(store.current, true);
  });
  subscribe("film", build);
  subscribe("lines", update);
  subscribe("current", (id) => {
    mark(id);
    if (store.filter !== "all") filter();
  });
  subscribe("focus", (id) => mark(id, true));
  subscribe("arrived", told);
}
