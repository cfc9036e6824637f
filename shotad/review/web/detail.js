/**
 * The chosen line with all that belongs to it. What the list knows is shown at once; what must be fetched waits
 * until the person rests on a line, so that going through hundreds of lines stays smooth.
 */

import { ApiError, get } from "./api.js";
import { make as el } from "./build.js";
import { button } from "./commands.js";
import { candidates } from "./candidates.js";
import { editor } from "./editor.js";
import { facts, findings, machine, why } from "./facts.js";
import { frames } from "./frames.js";
import { material } from "./material.js";
import { noteField } from "./notes.js";
import { moments } from "./moments.js";
import { line, number, store, subscribe } from "./store.js";
import { exact, setText } from "./wording.js";

/** Milliseconds on a line before its detail is fetched. */
const REST = 120;
/** Milliseconds after a change before it is fetched again: typing does not ask at each key. */
const AGAIN = 1500;
/** Details that are kept. */
const KEPT = 60;

const STATES = { machine: "As the machine wrote it", edited: "Edited", accepted: "Accepted" };
const SIGNS = { machine: "○", edited: "✎", accepted: "✓" };

/** Fetches details: one at a time, always the one that is wanted now. */
function details(told) {
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
      if (wanted?.id === id) told(detail);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (wanted?.id === id) told(null, error.message);
    } finally {
      busy = false;
      if (wanted?.id !== id || wanted?.stamp !== stamp) fetchOne();
      else wanted = null;
    }
  };
  return (shown, isNew) => {
    clearTimeout(timer);
    const have = kept.get(shown.id);
    if (isNew) told(have?.detail ?? null);
    if (have?.stamp === shown.stamp) return (wanted = null);
    timer = setTimeout(() => {
      wanted = { id: shown.id, stamp: shown.stamp };
      fetchOne();
    }, isNew ? REST : AGAIN);
    return wanted;
  };
}

/** Number, time and state of the line. */
function head(place) {
  const title = el("h3", { class: "d-title" });
  const state = el("span", { class: "d-state" });
  const place_ = el("p", { class: "d-when" });
  place.append(el("div", { class: "d-headed" }, title, place_, state));
  return (shown) => {
    setText(title, `Line ${number(shown.id)} of ${store.order.length}`);
    const by = shown.by && shown.state !== "machine" ? ` by ${shown.by}` : "";
    state.replaceChildren(el("span", { "aria-hidden": "true" }, SIGNS[shown.state]), ` ${STATES[shown.state]}${by}`);
    state.dataset.state = shown.state;
    const kind = shown.kind === "text" ? " · reads text on screen" : "";
    setText(place_, `${exact(shown.start)} to ${exact(shown.end)}${kind}${shown.heard ? "" : " · not heard"}`);
  };
}

/** The buttons of what is done most. */
function tools(place) {
  const drop = button("drop", "Drop");
  const accept = button("accept", "Accept");
  accept.classList.add("primary");
  const unaccept = button("unaccept", "Take acceptance back");
  const doing = el("div", { class: "d-row d-tools", role: "group", "aria-label": "Line" },
    button("hear", "Hear line"), accept, unaccept, drop, button("split", "Split"), button("join", "Join with next"),
    button("describe-anew", "Describe again…"), button("remove", "Remove"));
  place.append(doing);
  const remove = doing.lastChild;
  return (shown) => {
    setText(drop, shown.heard ? "Drop" : "Take back in");
    unaccept.hidden = shown.state !== "accepted";
    accept.hidden = shown.state === "accepted";
    remove.hidden = shown.slot !== null && !shown.hold.includes("added");
  };
}

function build(place) {
  const empty = el("p", { class: "d-note" }, "No line is chosen.");
  const body = el("div", { class: "d-body", "data-where": "edit", hidden: true });
  place.append(empty, body);
  const problem = el("p", { class: "d-wrong", hidden: true });
  const above = [head(body), tools(body)];
  const text = el("section", { class: "d-section d-text", "aria-label": "Text" });
  body.append(text);
  const edit = editor(text, "line-findings");
  const parts = [findings(text, "line-findings"), why(text)];
  const sheet = material(body);
  const pictures = frames(body);
  const choice = candidates(body);
  const times = moments(body);
  const origin = machine(body, button("machine", "Give back to the machine"));
  const note = noteField();
  body.append(el("section", { class: "d-section" }, note.element));
  const known = facts(body);
  body.append(problem);
  return {
    line(shown, isNew) {
      empty.hidden = Boolean(shown);
      body.hidden = !shown;
      if (!shown) return;
      for (const part of [...above, ...parts, origin]) part(shown);
      edit.show(shown, isNew);
      note.show(shown);
      choice.show(shown);
      times.show(shown, isNew);
    },
    detail(detail, wrong = "") {
      sheet.show(detail?.material);
      pictures.show(detail?.frames ?? (wrong ? [] : null));
      known.detail(detail);
      problem.hidden = !wrong;
      setText(problem, wrong);
    },
  };
}

/** Starts the detail of the chosen line. */
export function start() {
  const view = build(document.getElementById("detail-body"));
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
  subscribe("current", soon);
  subscribe("film", soon);
  subscribe("lines", ({ changed, gone }) => (changed.includes(store.current) || gone.length || changed.length > 1) && soon());
}
