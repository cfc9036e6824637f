/**
 * The chosen line with all that belongs to it. What the list knows is shown at once; what must be fetched waits
 * until the person rests on a line, so that going through hundreds of lines stays smooth.
 *
 * @typedef {import("./sentences.js").Sentence} Sentence
 * @typedef {{title: Sentence, text: Sentence[]}} Paragraph
 * @typedef {object} Detail  Answer of /api/lines/ID.
 * @property {string} id
 * @property {{text: Sentence, engine: Sentence, steps: Paragraph[]}|null} stage1
 * @property {{raw: Sentence, engine: Sentence}|null} stage2
 * @property {string} explanation
 * @property {Sentence} made  Who or what made the line.
 * @property {Paragraph[]} notes
 * @property {{said: Sentence}[]} history  What was done to the line since.
 * @property {import("./frames.js").Frame[]} frames
 * @property {import("./material.js").Material|null} material
 */

import { ApiError, get } from "./api.js";
import { make, setText } from "./build.js";
import { candidatePanel } from "./candidates.js";
import { commandButton, register, showKey } from "./commands.js";
import { textEditor } from "./editor.js";
import { findingPanel, machinePanel, originPanel, reasonPanel } from "./facts.js";
import { framePanel } from "./frames.js";
import { editingPlace } from "./list.js";
import { materialPanel } from "./material.js";
import { makeMenu } from "./menu.js";
import { timePanel } from "./moments.js";
import { notePanel } from "./notes.js";
import { hasDraft, recordingPanel } from "./recording.js";
import { chosenLine, store, subscribe } from "./store.js";
import { text } from "./texts.js";

/** Milliseconds on a line before its detail is fetched. */
const REST = 120;
/** Milliseconds after a change before it is fetched again: typing does not ask at each key. */
const CHANGE_REST = 1500;
/** Details that are kept. */
const CACHED = 60;

/**
 * Fetches details: one at a time, always the one that is wanted now.
 *
 * @param {(detail: Detail|null, problem?: string) => void} show  null: it is not there yet, or there is a problem.
 * @returns {(line: import("./store.js").Line, isNew: boolean) => void} Asks for a line's detail; isNew: another line
 *   than before was chosen.
 */
function detailFetcher(show) {
  /** @type {Map<string, {stamp: string, detail: Detail}>} */
  const cache = new Map();
  let wanted = null;
  let isBusy = false;
  let timer = 0;

  const fetchWanted = async () => {
    if (isBusy || wanted === null) return;
    const { id, stamp } = wanted;
    isBusy = true;
    try {
      const detail = await get(`/api/lines/${encodeURIComponent(id)}`);
      cache.delete(id);
      cache.set(id, { stamp, detail });
      if (cache.size > CACHED) cache.delete(cache.keys().next().value);
      if (wanted?.id === id) show(detail);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (wanted?.id === id) show(null, error.message);
    } finally {
      isBusy = false;
      const isAnotherWanted = wanted?.id !== id || wanted?.stamp !== stamp;
      if (isAnotherWanted) fetchWanted();
      else wanted = null;
    }
  };
  return (line, isNew) => {
    clearTimeout(timer);
    const cached = cache.get(line.id);
    if (isNew) show(cached?.detail ?? null);
    if (cached?.stamp === line.stamp) {
      wanted = null;
      return;
    }
    const fetchLine = () => {
      wanted = { id: line.id, stamp: line.stamp };
      fetchWanted();
    };
    timer = setTimeout(fetchLine, isNew ? REST : CHANGE_REST);
  };
}

/** Commands of the line that are needed less often. */
const LINE_MENU = [
  ["record", "record-hear", "record-keep", "record-discard", "say-as", "note"],
  ["split", "join", "shift-from-here", "describe-again"],
  ["unaccept", "drop", "machine", "remove", "remove-slot"],
];

/** Commands for a recording that is not kept yet. */
const DRAFT_COMMANDS = ["record-hear", "record-keep", "record-discard"];

/** Whether a command of the menu can be done with the chosen line. */
function canDo(name) {
  const line = chosenLine();
  if (line === null) return false;
  if (name === "unaccept") return line.state === "accepted";
  if (name === "machine") return Boolean(line.machine);
  if (name === "remove") return line.slot === null || line.hold.includes("added");
  if (name === "remove-slot") return line.slot !== null;
  if (name === "drop") return Boolean(line.text);
  if (name === "split" || name === "join") return line.heard;
  if (DRAFT_COMMANDS.includes(name)) return hasDraft(line.id);
  return true;
}

/** What is done most: hear, done, and a menu for the rest. */
function lineButtons(place) {
  const done = showKey(commandButton("accept", text("detail.done")));
  const menu = makeMenu("line-menu", text("detail.menu"), LINE_MENU, canDo);
  register({
    name: "line-menu", title: text("command.line_menu"), group: "edit",
    keys: { any: ["Alt+M"] }, run: () => chosenLine() && menu.toggle(more),
  });
  const more = commandButton("line-menu", text("detail.more"));
  more.setAttribute("aria-haspopup", "true");
  more.setAttribute("aria-expanded", "false");
  const buttons = [showKey(commandButton("hear", text("detail.hear"))), done, more];
  const tools = make("div", { class: "d-row d-tools", role: "group", "aria-label": text("detail.line") }, ...buttons);
  // Who writes and clicks a button goes on writing.
  tools.addEventListener("mousedown", (event) => {
    if (document.activeElement?.id === "line-text") event.preventDefault();
  });
  place.append(tools);
  return { show: (line) => done.classList.toggle("primary", Boolean(line.text)) };
}

const DRAWER_KEY = "shotad-more-open";

/** What is looked at now and then: candidates, times, frames, who made the line. It stays as it was left. */
function makeDrawer(place) {
  const body = make("div", { class: "d-drawer" });
  const title = make("summary", {}, text("detail.drawer"));
  const drawer = make("details", { class: "d-more", id: "line-drawer" }, title, body);
  try {
    drawer.open = sessionStorage.getItem(DRAWER_KEY) === "yes";
  } catch {
    // Storage is forbidden: it is closed at first.
  }
  drawer.addEventListener("toggle", () => {
    try {
      sessionStorage.setItem(DRAWER_KEY, drawer.open ? "yes" : "no");
    } catch {
      // It holds for this page then.
    }
  });
  place.append(drawer);
  return { drawer, body };
}

/** Builds the panels of a line, in the order in which they stand there. */
function build(place) {
  const empty = make("p", { class: "d-note" }, text("list.none_chosen"));
  const body = make("div", { class: "d-body", hidden: true });
  place.append(empty, body);
  const written = make("div", { class: "d-section d-text" });
  body.append(written);
  const editor = textEditor(written, "line-findings");
  const findings = findingPanel(written, "line-findings");
  const reason = reasonPanel(written);
  // Right below the text: they stay where they are when the material comes, and are in sight on a telephone.
  const buttons = lineButtons(body);
  const material = materialPanel(body);
  const recording = recordingPanel(body);
  const { drawer, body: inDrawer } = makeDrawer(body);
  const note = notePanel(inDrawer);
  const times = timePanel(inDrawer);
  const candidates = candidatePanel(inDrawer);
  const frames = framePanel(inDrawer);
  const machine = machinePanel(inDrawer, commandButton("machine", text("detail.give_back")));
  const origin = originPanel(inDrawer);
  const problem = make("p", { class: "d-wrong", hidden: true });
  body.append(problem);

  const toNote = () => {
    drawer.open = true;
    note.focus();
  };
  register({ name: "note", title: text("command.note"), group: "edit", run: toNote });
  // At once, not with the next picture of the screen: who is quick writes into the line that was just chosen.
  subscribe("current", () => {
    const line = chosenLine();
    empty.hidden = line !== null;
    body.hidden = line === null;
  });
  return {
    /** Shows what is known of the line at once. */
    showLine(line, isNew) {
      if (!line) return;
      for (const panel of [findings, reason, buttons, machine, editor, recording, note, candidates]) panel.show(line);
      times.show(line, isNew);
    },
    /** Shows what had to be fetched, or why it could not be. */
    showDetail(detail, problemText = "") {
      material.show(detail?.material);
      frames.show(detail?.frames ?? (problemText ? [] : null));
      origin.show(detail);
      problem.hidden = !problemText;
      setText(problem, problemText);
    },
  };
}

/** Starts the detail of the chosen line. */
export function start() {
  const view = build(editingPlace());
  const fetchDetail = detailFetcher(view.showDetail);
  let frameRequest = 0;
  let shownId = null;
  const show = () => {
    frameRequest = 0;
    const line = chosenLine();
    const isNew = line?.id !== shownId;
    shownId = line?.id ?? null;
    view.showLine(line, isNew);
    if (line) fetchDetail(line, isNew);
  };
  // Once for each picture of the screen, however many news came.
  const showSoon = () => (frameRequest ||= requestAnimationFrame(show));
  // The first line at once: whoever presses a key before the screen is drawn has a field to write in.
  subscribe("current", () => (shownId === null ? show() : showSoon()));
  subscribe("film", showSoon);
  subscribe("lines", ({ changed, gone }) => {
    // Lines beside it may have taken or given free time.
    if (changed.includes(store.current) || gone.length || changed.length > 1) showSoon();
  });
}
