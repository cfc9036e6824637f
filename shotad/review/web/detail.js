/**
 * The chosen line with all that belongs to it. What the list knows is shown at once; what must be fetched waits
 * until the person rests on a line, so that going through hundreds of lines stays smooth.
 */

import { ApiError, get } from "./api.js";
import { make } from "./build.js";
import { button, register } from "./commands.js";
import { candidates } from "./candidates.js";
import { editor } from "./editor.js";
import { facts, findings, machine, why } from "./facts.js";
import { frames } from "./frames.js";
import { editingPlace } from "./list.js";
import { material } from "./material.js";
import { menu } from "./menu.js";
import { noteField } from "./notes.js";
import { moments } from "./moments.js";
import { recording } from "./recording.js";
import { line, store, subscribe } from "./store.js";
import { setText } from "./wording.js";

/** Milliseconds on a line before its detail is fetched. */
const REST = 120;
/** Milliseconds after a change before it is fetched again: typing does not ask at each key. */
const AGAIN = 1500;
/** Details that are kept. */
const KEPT = 60;

/**
 * Fetches details: one at a time, always the one that is wanted now.
 *
 * @param {(detail: object|null, problem?: string) => void} take
 */
function details(take) {
  const kept = new Map();
  let wanted = null;
  let busy = false;
  let timer = 0;

  const fetchOne = async () => {
    if (busy || wanted === null) return;
    const { id, stamp } = wanted;
    busy = true;
    try {
      const detail = await get(`/api/lines/${encodeURIComponent(id)}`);
      kept.delete(id);
      kept.set(id, { stamp, detail });
      if (kept.size > KEPT) kept.delete(kept.keys().next().value);
      if (wanted?.id === id) take(detail);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (wanted?.id === id) take(null, error.message);
    } finally {
      busy = false;
      if (wanted?.id !== id || wanted?.stamp !== stamp) fetchOne();
      else wanted = null;
    }
  };
  return (shown, isNew) => {
    clearTimeout(timer);
    const have = kept.get(shown.id);
    if (isNew) take(have?.detail ?? null);
    if (have?.stamp === shown.stamp) return (wanted = null);
    timer = setTimeout(() => {
      wanted = { id: shown.id, stamp: shown.stamp };
      fetchOne();
    }, isNew ? REST : AGAIN);
    return wanted;
  };
}

/** Commands of the line that are needed less often. */
const MORE = [
  ["record", "say-as", "note"],
  ["split", "join", "shift-from-here", "describe-anew"],
  ["unaccept", "drop", "machine", "remove", "remove-slot"],
];

/** Whether a command of the menu can be done with a line. */
function canDo(name, shown) {
  if (name === "unaccept") return shown.state === "accepted";
  if (name === "machine") return Boolean(shown.machine);
  if (name === "remove") return shown.slot === null || shown.hold.includes("added");
  if (name === "remove-slot") return shown.slot !== null;
  if (name === "drop") return Boolean(shown.text);
  if (name === "split" || name === "join") return shown.heard;
  return true;
}

/** What is done most: hear, done, and a menu for the rest. */
function tools(place) {
  const done = button("accept", "Done, next");
  done.classList.add("primary");
  const lineMenu = menu("line-menu", "Line", MORE, (name) => line() !== null && canDo(name, line()));
  register({ name: "line-menu", title: "More that can be done with the line", group: "Choose and edit",
    keys: { edit: ["Alt+M"] }, run: () => lineMenu.toggle(more) });
  const more = button("line-menu", "More…");
  more.setAttribute("aria-haspopup", "true");
  more.setAttribute("aria-expanded", "false");
  place.append(make("div", { class: "d-row d-tools", role: "group", "aria-label": "Line" }, button("hear", "Hear"), done, more));
  return (shown) => done.classList.toggle("primary", Boolean(shown.text));
}

const MORE_OPEN = "shotad-more-open";

/** What is looked at now and then: candidates, times, frames, who made the line. It stays as it was left. */
function drawer(place) {
  const body = make("div", { class: "d-drawer" });
  const opened = make("details", { class: "d-more", id: "line-drawer" }, make("summary", {}, "Times, candidates, frames, and where the line comes from"), body);
  try {
    opened.open = sessionStorage.getItem(MORE_OPEN) === "yes";
  } catch {
    // Storage is forbidden: it is closed at first.
  }
  opened.addEventListener("toggle", () => {
    try {
      sessionStorage.setItem(MORE_OPEN, opened.open ? "yes" : "no");
    } catch {
      // It holds for this page then.
    }
  });
  place.append(opened);
  return body;
}

function build(place) {
  const empty = make("p", { class: "d-note" }, "No line is chosen.");
  const body = make("div", { class: "d-body", hidden: true });
  place.append(empty, body);
  const text = make("div", { class: "d-section d-text" });
  body.append(text);
  const edit = editor(text, "line-findings");
  const shownParts = [findings(text, "line-findings"), why(text)];
  const sheet = material(body);
  shownParts.push(tools(body));
  const own = recording(body);
  const inDrawer = drawer(body);
  const note = noteField();
  inDrawer.append(note.element);
  const toNote = () => {
    inDrawer.parentElement.open = true;
    document.getElementById("line-note").focus();
  };
  register({ name: "note", title: "Note to a colleague", group: "Choose and edit", run: toNote });
  const times = moments(inDrawer);
  const choice = candidates(inDrawer);
  const pictures = frames(inDrawer);
  shownParts.push(machine(inDrawer, button("machine", "Give back to the machine")));
  const recorded = facts(inDrawer);
  const problem = make("p", { class: "d-wrong", hidden: true });
  body.append(problem);
  // At once, not with the next picture of the screen: who is quick writes into the line that was just chosen.
  subscribe("current", () => {
    empty.hidden = line() !== null;
    body.hidden = line() === null;
  });
  return {
    line(shown, isNew) {
      if (!shown) return;
      for (const show of shownParts) show(shown);
      edit.show(shown, isNew);
      own.show(shown);
      note.show(shown);
      choice.show(shown);
      times.show(shown, isNew);
    },
    detail(detail, wrong = "") {
      sheet.show(detail?.material);
      pictures.show(detail?.frames ?? (wrong ? [] : null));
      recorded.detail(detail);
      problem.hidden = !wrong;
      setText(problem, wrong);
    },
  };
}

/** Starts the detail of the chosen line. */
export function start() {
  const view = build(editingPlace());
  const ask = details(view.detail);
  let due = 0;
  let shownId = null;
  const show = () => {
    due = 0;
    const shown = line();
    const isNew = shown?.id !== shownId;
    shownId = shown?.id ?? null;
    view.line(shown, isNew);
    if (shown) ask(shown, isNew);
  };
  // Once for each picture of the screen, however many news came.
  const soon = () => (due ||= requestAnimationFrame(show));
  // The first line at once: whoever presses a key before the screen is drawn has a field to write in.
  subscribe("current", () => (shownId === null ? show() : soon()));
  subscribe("film", soon);
  subscribe("lines", ({ changed, gone }) => (changed.includes(store.current) || gone.length || changed.length > 1) && soon());
}
