/** Finding lines: search in their text, the filter, the time to go to. */

import { labelled, make, setText } from "./build.js";
import { register } from "./commands.js";
import { makeDialog } from "./dialogs.js";
import { FILTERS, setFilter } from "./list.js";
import { seek } from "./player.js";
import { say } from "./say.js";
import { chosenLine, lineById, lineNumber, openLine, select, store, subscribe } from "./store.js";
import { text } from "./texts.js";
import { clock, parseTime } from "./times.js";

/** Without case and accents: who searches "cafe" finds "Café". */
const plain = (words) => words.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** @type {HTMLInputElement} */
let searchField;
/** @type {HTMLOutputElement} */
let matchCount;
/** @type {HTMLSelectElement} */
let filterField;

const searchedText = () => searchField.value.trim();

/** @returns {string[]} Ids of the lines with the words that are searched, in order of time. */
function matchingIds() {
  const query = plain(searchedText());
  return query ? store.order.filter((id) => plain(store.lines.get(id).text).includes(query)) : [];
}

/** Paints the words that are searched, where the browser can do so without touching the rows. */
function highlight(ids) {
  if (!globalThis.CSS?.highlights) return;
  const query = plain(searchedText());
  const ranges = [];
  for (const id of ids) {
    const words = document.getElementById(`line-${id}`)?.querySelector(".text")?.firstChild;
    const place = words ? words.data.toLowerCase().indexOf(query) : -1;
    if (place < 0) continue; // it matches without its accents: the places of letters differ
    const range = new Range();
    range.setStart(words, place);
    range.setEnd(words, place + query.length);
    ranges.push(range);
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

/** Shows how many matches there are, and which of them is chosen. */
function showMatches() {
  const ids = matchingIds();
  const index = ids.indexOf(store.current);
  if (!searchedText()) matchCount.textContent = "";
  else if (!ids.length) matchCount.textContent = text("search.none");
  else if (index < 0) matchCount.textContent = text("search.found", { number: ids.length });
  else matchCount.textContent = text("search.match", { number: index + 1, total: ids.length });
  highlight(ids);
}

/** Shows all lines. */
function clearFilter() {
  filterField.value = "all";
  setFilter("all");
}

/**
 * Goes to the next or previous line with the words, and round at the end.
 *
 * @param {1|-1} direction
 */
function step(direction) {
  if (!searchedText()) {
    searchField.focus();
    return;
  }
  const ids = matchingIds();
  if (!ids.length) {
    say(text("search.none_said", { words: searchedText() }));
    return;
  }
  const current = lineNumber(store.current ?? "");
  const isAhead = (id) => (lineNumber(id) - current) * direction > 0;
  const target = direction > 0 ? (ids.find(isAhead) ?? ids[0]) : (ids.findLast(isAhead) ?? ids.at(-1));
  // The filter must not hide the match.
  if (!FILTERS[store.filter].lets(store.lines.get(target))) clearFilter();
  select(target);
  showMatches();
  if (document.activeElement === searchField)
    say(text("search.match_said", {
      match: matchCount.textContent, number: lineNumber(target), text: lineById(target).text,
    }));
}

/** @param {KeyboardEvent} event In the field of the search. */
function onKey(event) {
  if (event.isComposing) return;
  const hasModifier = event.ctrlKey || event.altKey || event.metaKey;
  const toList = () => select(store.current, { focus: true });
  let run = null;
  if (event.key === "Escape") run = toList;
  else if (event.key === "ArrowDown" && !hasModifier) run = toList;
  else if (event.key === "Enter" && !hasModifier) run = () => step(event.shiftKey ? -1 : 1);
  if (!run) return;
  event.preventDefault();
  run();
}

/** Writes behind each word of the filter how many lines it has. */
function showFilterCounts() {
  const lines = [...store.lines.values()];
  for (const option of filterField.options) {
    const { title, lets } = FILTERS[option.value];
    setText(option, text("search.filter_count", { filter: title, number: lines.filter(lets).length }));
  }
}

/** The dialog that asks for a time. @returns {() => void} Opens it. */
function timeDialog() {
  const field = make("input", {
    type: "text", inputMode: "decimal", autocomplete: "off", required: true, id: "go-to-time",
    "aria-describedby": "go-to-hint",
  });
  const hint = make("p", { id: "go-to-hint", className: "hint" }, text("go_to.hint", { example: clock(80.5, 1) }));
  const error = make("p", { role: "alert", className: "fault" });
  const go = make("button", { className: "primary" }, text("go_to.submit"));
  const label = labelled(text("go_to.label"), field);
  const form = make("form", { method: "dialog", noValidate: true }, label, hint, error, go);
  const dialog = makeDialog("go-to", text("go_to.heading"), form);
  form.addEventListener("submit", (event) => {
    const seconds = parseTime(field.value);
    if (seconds !== null) {
      setTimeout(() => goToTime(seconds)); // when the dialog has given the focus back
      return;
    }
    event.preventDefault();
    error.textContent = text("go_to.no_time", { written: field.value, example: clock(80.5, 1) });
    field.setAttribute("aria-invalid", "true");
    field.focus();
  });
  return () => {
    error.textContent = "";
    field.removeAttribute("aria-invalid");
    field.value = chosenLine() ? clock(chosenLine().start, 1) : "";
    dialog.showModal();
    field.select();
  };
}

/**
 * Goes to a second of the film, and to the line there.
 *
 * @param {number} seconds
 */
export function goToTime(seconds) {
  const id = store.order.find((each) => store.lines.get(each).end > seconds) ?? store.order.at(-1);
  if (id && !store.shown.includes(id)) clearFilter();
  if (id) openLine(id);
  seek(seconds); // a moment within the line, not its start
  const values = { time: clock(seconds, 1), length: clock(store.film.film.duration), number: lineNumber(id ?? "") };
  say(id ? text("go_to.at_line", values) : text("go_to.at", values));
}

function registerCommands() {
  const toSearch = () => {
    searchField.focus();
    searchField.select();
  };
  register({ name: "search", title: text("command.search"), group: "find", keys: ["/"], run: toSearch });
  register({
    name: "search-next",
    title: text("command.search_next"),
    group: "find",
    keys: { any: ["F3"] },
    run: () => step(1),
  });
  const previousKeys = { any: ["Shift+F3"] };
  register({
    name: "search-previous",
    title: text("command.search_previous"),
    group: "find",
    keys: previousKeys,
    run: () => step(-1),
  });
  register({ name: "go-to", title: text("command.go_to"), group: "find", keys: ["g"], run: timeDialog() });
  register({ name: "filter", title: text("command.filter"), group: "find", run: () => filterField.focus() });
}

/** Starts the tools above the list. */
export function start() {
  searchField = make("input", {
    type: "search", id: "search", autocomplete: "off", spellcheck: false, placeholder: text("search.placeholder"),
    "aria-label": text("command.search"), "aria-keyshortcuts": "/", "aria-describedby": "search-count",
  });
  matchCount = make("output", { id: "search-count", htmlFor: "search" });
  const options = Object.entries(FILTERS).map(([value, { title }]) => make("option", { value }, title));
  filterField = make("select", { id: "filter", "aria-label": text("search.filter") }, ...options);
  registerCommands();
  document.getElementById("find").append(searchField, matchCount, filterField);
  searchField.addEventListener("input", showMatches);
  searchField.addEventListener("keydown", onKey);
  filterField.addEventListener("change", () => {
    setFilter(filterField.value);
    say(text("search.filtered", { filter: FILTERS[filterField.value].title, count: store.shown.length }));
  });
  for (const topic of ["film", "lines"])
    subscribe(topic, () => {
      showFilterCounts();
      if (searchField.value) showMatches();
    });
  subscribe("current", () => searchField.value && showMatches());
}
