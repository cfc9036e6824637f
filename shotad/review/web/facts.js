/**
 * What is known of a line besides its text: findings, why it is as it is, what the machine saw and wrote, who made it.
 */

import { make, setText } from "./build.js";
import { sentence, sentences } from "./sentences.js";
import { hasText, language, text } from "./texts.js";
import { shortTime } from "./times.js";
import { about } from "./wording.js";

/** What became of a line, where that must be said. */
const STATUSES = {
  shortened: text("facts.shortened"),
  dropped: text("facts.dropped"),
  failed: text("facts.failed"),
  silent: text("facts.silent"),
};
/** What stood there before a person changed it: start, end, and what became of it. */
const MACHINE_STATUSES = {
  shortened: (values) => text("facts.machine_shortened", values),
  dropped: (values) => text("facts.machine_dropped", values),
  failed: (values) => text("facts.machine_failed", values),
  silent: (values) => text("facts.machine_silent", values),
};

const paragraph = (words, className = "") => (words ? make("p", { className }, words) : null);
const titled = ({ title, text: said }) => [
  make("h4", {}, sentence(title)),
  make("p", { class: "d-said" }, sentences(said)),
];
const bulleted = (items) =>
  items.length ? make("ul", {}, ...items.map((item) => make("li", {}, sentence(item)))) : null;

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
  const engineLine = (engine) => (engine ? paragraph(text("facts.by", { engine: sentence(engine) }), "d-note") : null);
  const parts = [];
  if (stage1) {
    if (stage1.steps.length) parts.push(...stage1.steps.flatMap(titled));
    else parts.push(paragraph(sentence(stage1.text), "d-said"));
    parts.push(engineLine(stage1.engine));
  }
  if (stage2)
    parts.push(
      make("h4", {}, text("facts.raw")),
      paragraph(sentence(stage2.raw), "d-said d-raw"),
      engineLine(stage2.engine),
    );
  return parts;
}

/**
 * Where a line comes from.
 *
 * @param {HTMLElement} place
 * @returns {{show: (detail: import("./detail.js").Detail|null) => void}}
 */
export function originPanel(place) {
  const showNotes = makeFold(place, text("facts.notes"), true);
  const showStages = makeFold(place, text("facts.stages"));
  const showMaker = makeFold(place, text("facts.maker"));
  const showHistory = makeFold(place, text("facts.history"));
  return {
    show(detail) {
      const { notes = [], stage1, stage2, made: maker, explanation, history = [] } = detail ?? {};
      showNotes(notes, () => notes.flatMap(titled));
      showStages([stage1, stage2], () => stageParts({ stage1, stage2 }));
      showMaker([maker, explanation], () => [paragraph(sentence(maker ?? "")), paragraph(explanation)]);
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
    const { text: written, status, reason, fit_steps: fitSteps, doubt } = line;
    const key = JSON.stringify([written, status, reason, fitSteps, doubt]);
    if (key === filledFrom) return;
    filledFrom = key;
    // Why a machine wrote nothing is of no use to who writes; only that it failed is.
    const isUnwritten = !written && status !== "failed";
    const word = isUnwritten ? "" : STATUSES[status];
    const reasonText = isUnwritten ? "" : sentence(reason) || (word ? text("facts.no_reason") : "");
    const parts = [];
    if (reasonText) parts.push(make("p", {}, word ? make("strong", {}, `${word}: `) : null, reasonText));
    if (fitSteps.length) parts.push(paragraph(text("facts.fit"), "d-note"), bulleted(fitSteps));
    // Where nothing speaks against the line there is nothing to say.
    if (doubt && (doubt.value > 0 || doubt.reasons.length)) parts.push(paragraph(doubtText(doubt), "d-note"), bulleted(doubt.reasons));
    box.hidden = !parts.length;
    box.replaceChildren(...parts.filter(Boolean));
  };
  return { show };
}

/** From these doubts on, each of them in words. */
const DOUBT_WORDS = [
  [0.5, text("facts.doubtful")],
  [0.25, text("facts.some_doubt")],
  [0, text("facts.little_doubt")],
];

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
  const written = make("p", { class: "d-said" });
  const note = make("p", { class: "d-note" });
  const heading = make("h3", {}, text("facts.machine"));
  const box = make("section", { class: "d-section d-machine", hidden: true }, heading, written, note, giveBack);
  place.append(box);
  return {
    show(line) {
      const { machine } = line;
      const isSame = machine !== null && isAsMachineWrote(line, machine);
      box.hidden = !machine || (isSame && line.state === "machine");
      if (box.hidden) return;
      written.lang = machine.text ? line.language : language;
      setText(written, machine.text || text("facts.machine_nothing"));
      const times = { start: shortTime(machine.start), end: shortTime(machine.end) };
      const words = MACHINE_STATUSES[machine.status]?.(times) ?? text("times.range", times);
      setText(note, machine.reason ? about(words, sentence(machine.reason)) : words);
      giveBack.hidden = isSame;
    },
  };
}

/** A finding: level in a word and a sign, then the sentence, then what to do. */
function findingItem({ rule, level, text: said, hint: givenHint }) {
  const message = sentence(said);
  const isError = level === "error";
  const hint = hasText(`rule.${rule}`) ? text(`rule.${rule}`) : givenHint;
  const sign = make("span", { class: "d-sign", "aria-hidden": "true" }, isError ? "✖" : "▲");
  const ended = /[.!?]$/u.test(message) ? message : `${message}.`;
  const lead = isError ? text("facts.error") : text("facts.warning");
  const words = [make("strong", {}, lead), " ", ended, hint ? ` ${hint}` : "", ` (${text("facts.rule", { rule })})`];
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
      list.setAttribute("aria-label", text("list.findings", { count: findings.length }));
      list.hidden = !findings.length;
    },
  };
}
