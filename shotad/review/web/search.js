/** Finding lines: search in their text, the filter, the time to go to. */

import { labelled, make } from "./build.js";
import { commandButton, register } from "./commands.js";
import { makeDialog } from "./dialogs.js";
import { FILTERS, setFilter } from "./list.js";
import { say } from "./say.js";
import { chosenLine, lineById, lineNumber, select, store, subscribe } from "./store.js";
import { clock, parseTime } from "./times.js";

/** Without case and accents: who searches "cafe" finds "Café". */
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** @type {HTMLInputElement} */
let input;
/** @type {HTMLOutputElement} */
let count;
/** @type {HTMLSelectElement} */
let choice;

/** @returns {string[]} Ids of the lines with the words that are searched, in order of time. */
export function matchingIds() {
  const query = plain(input.value.trim());
  return query ? store.order.filter((id) => plain(store.lines.get(id).text).includes(query)) : [];
}

/** Paints what was found, where the browser can do so without touching the rows. */
function paint(found) {
  if (!globalThis.CSS?.highlights) return;
  const query = plain(input.value.trim());
  const ranges = [];
  for (const id of found) {
    const text = document.getElementById(`line-${id}`)?.querySelector(".text")?.firstChild;
    const at = text ? text.data.toLowerCase().indexOf(query) : -1;
    if (at < 0) continue; // found without its accents: the places of letters differ
    const range = new Range();
    range.setStart(text, at);
    range.setEnd(text, at + query.length);
    ranges.push(range);
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

/** Tells how many there are, and which of them is chosen. */
function tell() {
  const found = matchingIds();
  const at = found.indexOf(store.current);
  if (!input.value.trim()) count.textContent = "";
  else if (!found.length) count.textContent = "nothing found";
  else count.textContent = at < 0 ? `${found.length} found` : `${at + 1} of ${found.length}`;
  paint(found);
  return found;
}

/**
 * Goes to the next or previous line with the words, and round at the end.
 *
 * @param {1|-1} way
 */
function step(way) {
  const found = matchingIds();
  if (!input.value.trim()) {
    input.focus();
    return;
  }
  if (!found.length) {
    say(`Nothing found for “${input.value.trim()}”.`);
    return;
  }
  const here = lineNumber(store.current ?? "");
  const ahead = way > 0 ? found.find((id) => lineNumber(id) > here) : found.findLast((id) => lineNumber(id) < here);
  const to = ahead ?? (way > 0 ? found[0] : found.at(-1));
  // The filter must not hide what was found.
  if (!FILTERS[store.filter].lets(store.lines.get(to))) setFilter((choice.value = "all"));
  select(to);
  tell();
  if (document.activeElement === input) say(`${count.textContent}. Line ${lineNumber(to)}: ${lineById(to).text}`);
}

/** @param {KeyboardEvent} event */
function typed(event) {
  if (event.isComposing) return;
  const steps = { Enter: () => step(event.shiftKey ? -1 : 1), ArrowDown: () => select(store.current, { focus: true }) };
  const away = () => select(store.current, { focus: true });
  const run = event.key === "Escape" ? away : event.ctrlKey || event.altKey || event.metaKey ? null : steps[event.key];
  if (!run) return;
  event.preventDefault();
  run();
}

/** Words of the filter with how many lines each has. */
function counts() {
  for (const option of choice.options) {
    const { title, lets } = FILTERS[option.value];
    let many = 0;
    for (const one of store.lines.values()) if (lets(one)) many += 1;
    const text = `${title} (${many})`;
    if (option.textContent !== text) option.textContent = text;
  }
}

/** The dialog that asks for a time. */
function timeDialog() {
  const time = make("input", { type: "text", inputMode: "decimal", autocomplete: "off", required: true, id: "go-to-time", "aria-describedby": "go-to-hint" });
  const hint = make("p", { id: "go-to-hint", className: "hint" }, "Seconds, or minutes and seconds: 80 or 1:20.5");
  const fault = make("p", { role: "alert", className: "fault" });
  const go = make("button", { className: "primary" }, "Go");
  const form = make("form", { method: "dialog", noValidate: true }, field("Time in the film", time), hint, fault, go);
  const made = dialog("go-to", "Go to time", form);
  form.addEventListener("submit", (event) => {
    const seconds = parseTime(time.value);
    if (seconds === null) {
      event.preventDefault();
      fault.textContent = `“${time.value}” is no time. Write it like 80 or 1:20.5.`;
      time.setAttribute("aria-invalid", "true");
      time.focus();
    } else setTimeout(() => arrive(seconds)); // when the dialog has given the focus back
  });
  return () => {
    fault.textContent = "";
    time.removeAttribute("aria-invalid");
    time.value = chosenLine() ? clock(chosenLine().start, 1) : "";
    made.showModal();
    time.select();
  };
}

/** @param {number} seconds */
function arrive(seconds) {
  const id = store.order.find((each) => store.lines.get(each).end > seconds) ?? store.order.at(-1);
  if (id && !store.shown.includes(id)) setFilter((choice.value = "all"));
  if (id) select(id, { focus: true });
  // The player goes to the line's start, after a rest; here a moment within it is asked for.
  setTimeout(async () => (await import("./player.js")).seek(seconds), 300);
  say(`${clock(seconds, 1)} of ${clock(store.film.film.duration)}.${id ? ` Line ${lineNumber(id)}.` : ""}`);
}

/** Starts the tools above the list. */
export function start() {
  input = make("input", { type: "search", id: "search", autocomplete: "off", spellcheck: false, "aria-keyshortcuts": "/" });
  input.setAttribute("aria-describedby", "search-count");
  count = make("output", { id: "search-count", htmlFor: "search" });
  choice = make("select", { id: "filter" }, ...Object.entries(FILTERS).map(([value, one]) => make("option", { value }, one.title)));
  register({ name: "search", title: "Find in the script", group: "Find", keys: ["/"], run: () => (input.focus(), input.select()) });
  register({ name: "search-next", title: "Next match", group: "Find", keys: { any: ["F3"] }, run: () => step(1) });
  register({ name: "search-previous", title: "Previous match", group: "Find", keys: { any: ["Shift+F3"] }, run: () => step(-1) });
  register({ name: "go-to", title: "Go to time", group: "Find", keys: ["g"], run: timeDialog() });
  register({ name: "filter", title: "Choose which lines are shown", group: "Find", run: () => choice.focus() });
  input.placeholder = "Find";
  input.setAttribute("aria-label", "Find in the script");
  choice.setAttribute("aria-label", "Show");
  document.getElementById("find").append(input, count, choice, commandButton("next-empty", "Next empty"));
  input.addEventListener("input", tell);
  input.addEventListener("keydown", typed);
  choice.addEventListener("change", () => {
    setFilter(choice.value);
    const many = store.shown.length;
    say(`${FILTERS[choice.value].title}: ${many} line${many === 1 ? "" : "s"}.`);
  });
  for (const topic of ["film", "lines"])
    subscribe(topic, () => {
      counts();
      if (input.value) tell();
    });
  subscribe("current", () => input.value && tell());
}
