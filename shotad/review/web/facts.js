/**
 * What is known of a line besides its text: findings, why it is as it is, what the machine saw and wrote, who made it.
 */

import { make, setText } from "./build.js";
import { shortTime } from "./times.js";
import { pluralize } from "./wording.js";

/** What became of a line, where that must be said. */
const STATUSES = { shortened: "Shortened", dropped: "Dropped", failed: "Failed", silent: "Silent" };

const paragraph = (text, className = "") => (text ? make("p", { className }, text) : null);
const titled = ({ title, text }) => [make("h4", {}, title), make("p", { class: "d-said" }, text)];
const bulleted = (texts) => (texts.length ? make("ul", {}, ...texts.map((text) => make("li", {}, text))) : null);

/**
 * A part that opens; hidden while it has nothing to say.
 *
 * @param {HTMLElement} place
 * @param {string} title
 * @param {boolean} [open]
 * @returns {(source: any, fill: () => (Node|null)[]) => void} Shows what `fill` makes; not again from the same source.
 */
function makeFold(place, title, open = false) {
  const body = make("div", { class: "d-fold" });
  const summary = make("summary", {}, make("h3", {}, title));
  const fold = make("details", { class: "d-details", hidden: true, open }, summary, body);
  place.append(fold);
  let filledFrom = "";
  return (source, fill) => {
    const key = JSON.stringify(source);
    if (key === filledFrom) return;
    filledFrom = key;
    const parts = fill().filter(Boolean);
    fold.hidden = !parts.length;
    body.replaceChildren(...parts);
  };
}

/** What was seen (Stage I), step by step, and the whole answer of who wrote the lines (Stage II). */
function stageParts({ stage1, stage2 }) {
  const engineLine = (engine) => (engine ? paragraph(`By ${engine}.`, "d-note") : null);
  const parts = [];
  if (stage1) {
    if (stage1.steps.length) parts.push(...stage1.steps.flatMap(titled));
    else parts.push(paragraph(stage1.text, "d-said"));
    parts.push(engineLine(stage1.engine));
  }
  if (stage2)
    parts.push(make("h4", {}, "The lines that it wrote, letter for letter"), paragraph(stage2.raw, "d-said d-raw"), engineLine(stage2.engine));
  return parts;
}

/**
 * Where a line comes from.
 *
 * @param {HTMLElement} place
 * @returns {{show: (detail: import("./detail.js").Detail|null) => void}}
 */
export function originPanel(place) {
  const showNotes = makeFold(place, "Notes", true);
  const showStages = makeFold(place, "What the machine saw and wrote");
  const showMaker = makeFold(place, "Who made it");
  const showHistory = makeFold(place, "What was done to it");
  return {
    show(detail) {
      const { notes = [], stage1, stage2, made: maker, explanation, history = [] } = detail ?? {};
      showNotes(notes, () => notes.flatMap(titled));
      showStages([stage1, stage2], () => stageParts({ stage1, stage2 }));
      showMaker([maker, explanation], () => [paragraph(maker), paragraph(explanation)]);
      showHistory(history, () => [bulleted(history.map((row) => row.said))]);
    },
  };
}

/**
 * Why a line was shortened, dropped or failed, how it was made to fit, and how doubtful it is.
 *
 * @param {HTMLElement} place
 * @returns {{show: (line: import("./store.js").Line) => void}}
 */
export function reasonPanel(place) {
  const box = make("div", { class: "d-why", hidden: true });
  place.append(box);
  let filledFrom = "";

  const show = (line) => {
    const { text, status, reason, fit_steps: fitSteps, doubt } = line;
    const key = JSON.stringify([text, status, reason, fitSteps, doubt]);
    if (key === filledFrom) return;
    filledFrom = key;
    // Why a machine wrote nothing is of no use to who writes; only that it failed is.
    const isUnwritten = !text && status !== "failed";
    const word = isUnwritten ? "" : STATUSES[status];
    const reasonText = isUnwritten ? "" : reason || (word ? "no reason is on record." : "");
    const parts = [];
    if (reasonText) parts.push(make("p", {}, word ? make("strong", {}, `${word}: `) : null, reasonText));
    if (fitSteps.length) parts.push(paragraph("To make it fit:", "d-note"), bulleted(fitSteps));
    // Where nothing speaks against the line there is nothing to say.
    if (doubt && (doubt.value > 0 || doubt.reasons.length)) parts.push(paragraph(doubtText(doubt), "d-note"), bulleted(doubt.reasons));
    box.hidden = !parts.length;
    box.replaceChildren(...parts.filter(Boolean));
  };
  return { show };
}

/** From these doubts on, each of them in words. */
const DOUBT_WORDS = [[0.5, "This line is doubtful"], [0.25, "Some doubt about this line"], [0, "A little doubt about this line"]];

/** The doubt in words, before its reasons. */
function doubtText({ value, reasons }) {
  const words = DOUBT_WORDS.find(([least]) => value >= least)[1];
  return reasons.length ? `${words}:` : `${words}.`;
}

/** Whether a line says what the machine wrote, when it said it. */
function isAsMachineWrote(line, machine) {
  const isSameText = machine.text === line.text && machine.status === line.status;
  return isSameText && machine.start === line.start && machine.end === line.end;
}

/**
 * What the machine wrote at first, where a person changed it.
 *
 * @param {HTMLElement} place
 * @param {HTMLElement} giveBack  The button that gives the line back.
 * @returns {{show: (line: import("./store.js").Line) => void}}
 */
export function machinePanel(place, giveBack) {
  const text = make("p", { class: "d-said" });
  const note = make("p", { class: "d-note" });
  const heading = make("h3", {}, "What the machine wrote");
  const box = make("section", { class: "d-section d-machine", hidden: true }, heading, text, note, giveBack);
  place.append(box);
  return {
    show(line) {
      const { machine } = line;
      const isSame = machine !== null && isAsMachineWrote(line, machine);
      box.hidden = !machine || (isSame && line.state === "machine");
      if (box.hidden) return;
      text.lang = line.language;
      setText(text, machine.text || "(nothing)");
      const status = STATUSES[machine.status]?.toLowerCase();
      const statusText = status ? `, ${status}${machine.reason ? `: ${machine.reason}` : ""}` : "";
      setText(note, `${shortTime(machine.start)} to ${shortTime(machine.end)}${statusText}`);
      giveBack.hidden = isSame;
    },
  };
}

/** A finding: level in a word and a sign, then the sentence, then what to do. */
function findingItem({ rule, level, text, hint }) {
  const isError = level === "error";
  const sign = make("span", { class: "d-sign", "aria-hidden": "true" }, isError ? "✖" : "▲");
  const sentence = /[.!?]$/u.test(text) ? text : `${text}.`;
  const words = [make("strong", {}, isError ? "Error: " : "Warning: "), sentence, hint ? ` ${hint}` : "", ` (rule ${rule})`];
  return make("li", { class: "d-finding", "data-level": level }, sign, make("span", {}, ...words));
}

/**
 * Findings of the guidelines.
 *
 * @param {HTMLElement} place
 * @param {string} id Of the element that holds them, which describes the field of the text.
 * @returns {{show: (line: import("./store.js").Line) => void}}
 */
export function findingPanel(place, id) {
  const list = make("ul", { class: "d-findings" });
  place.append(make("div", { id }, list));
  let filledFrom = "";
  return {
    show({ findings }) {
      const key = JSON.stringify(findings);
      if (key === filledFrom) return;
      filledFrom = key;
      list.replaceChildren(...findings.map(findingItem));
      list.setAttribute("aria-label", pluralize(findings.length, "finding"));
      list.hidden = !findings.length;
    },
  };
}
