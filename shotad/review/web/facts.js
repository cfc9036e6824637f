/** What is known of a line besides its text: why it is as it is, who made it, how it was last spoken, what both stages said. */

import { make as el } from "./build.js";
import { count, setText, short } from "./wording.js";

const STATUS = { shortened: "Shortened", dropped: "Dropped", failed: "Failed", silent: "Silent" };

/** A part that opens; hidden while it has nothing to say. */
function fold(place, title, open = false) {
  const summary = el("summary", {}, el("h3", {}, title));
  const body = el("div", { class: "d-fold" });
  const made = el("details", { class: "d-details", hidden: true, open }, summary, body);
  place.append(made);
  let was = "";
  return (key, fill) => {
    if (key === was) return;
    was = key;
    const nodes = fill().filter(Boolean);
    made.hidden = !nodes.length;
    body.replaceChildren(...nodes);
  };
}

/** A finding as a sentence: what to do may follow it. */
const ended = (text) => (/[.!?]$/u.test(text) ? text : `${text}.`);
const paragraph = (text, kind = "") => (text ? el("p", { className: kind }, text) : null);
const part = (title, text) => [el("h4", {}, title), el("p", { class: "d-said" }, text)];
const listed = (items) => (items.length ? el("ul", {}, ...items.map((text) => el("li", {}, text))) : null);

/** What Stage I said, step by step, and the whole answer of Stage II. */
function stages(detail) {
  if (!detail) return [];
  const { stage1, stage2 } = detail;
  const steps = stage1?.steps?.length ? stage1.steps.flatMap((step) => part(step.title, step.text)) : [];
  if (stage1 && !steps.length) steps.push(paragraph(stage1.text, "d-said"));
  const by = (engine) => (engine ? paragraph(`By ${engine}.`, "d-note") : null);
  return [
    ...steps,
    stage1 && by(stage1.engine),
    stage2 && el("h4", {}, "Answer of Stage II"),
    stage2 && paragraph(stage2.raw, "d-said d-raw"),
    stage2 && by(stage2.engine),
  ];
}

function history(detail) {
  const said = (detail?.history ?? []).map((one) => [one.at ?? one.when, one.said].filter(Boolean).join(": "));
  return [listed(said)];
}

/**
 * @param {HTMLElement} place
 * @returns {{detail: (detail: object|null) => void}}
 */
export function facts(place) {
  const notes = fold(place, "Notes", true);
  const stage = fold(place, "What Stage I and Stage II said");
  const made = fold(place, "Who made it");
  const past = fold(place, "What was done to it");
  return {
    detail(detail) {
      notes(JSON.stringify(detail?.notes), () => (detail?.notes ?? []).flatMap((note) => part(note.title, note.text)));
      stage(JSON.stringify([detail?.stage1, detail?.stage2]), () => stages(detail));
      made(JSON.stringify([detail?.made, detail?.explanation]), () => [paragraph(detail?.made), paragraph(detail?.explanation)]);
      past(JSON.stringify(detail?.history), () => history(detail));
    },
  };
}

/**
 * Why a line was shortened, dropped or failed, how it was made to fit, and how doubtful it is.
 *
 * @param {HTMLElement} place
 */
export function why(place) {
  const box = el("div", { class: "d-why", hidden: true });
  place.append(box);
  let was = "";
  return (line) => {
    const key = JSON.stringify([line.status, line.reason, line.fit_steps, line.doubt]);
    if (key === was) return;
    was = key;
    const steps = line.fit_steps ?? [];
    // Why a machine wrote nothing is of no use to who writes; only that it failed is.
    const isUnwritten = !line.text && line.status !== "failed";
    const word = isUnwritten ? "" : STATUS[line.status];
    const reason = isUnwritten ? "" : line.reason;
    const doubts = line.doubt?.reasons ?? [];
    // A silent line's own reason says it already.
    box.hidden = !word && !reason && !steps.length && !line.doubt;
    const title = word ? `${word}: ` : "";
    const head = el("p", {}, title && el("strong", {}, title), reason || (word ? "no reason is on record." : ""));
    box.replaceChildren(head, ...(steps.length ? [el("p", { class: "d-note" }, "To make it fit:"), listed(steps)] : []), ...(line.doubt ? [doubt(line.doubt), listed(doubts)] : []).filter(Boolean));
    head.hidden = !title && !reason;
  };
}

/** The number, in words that say which way it goes. */
const doubt = ({ value, reasons }) =>
  el("p", { class: "d-note" }, `Doubt ${value.toFixed(2)}, from 0 (nothing speaks against the line) to 1${reasons.length ? ":" : "."}`);

/**
 * What the machine wrote at first, where a person changed it.
 *
 * @param {HTMLElement} place
 * @param {HTMLElement} back  The button that gives the line back.
 */
export function machine(place, back) {
  const text = el("p", { class: "d-said" });
  const when = el("p", { class: "d-note" });
  const box = el("section", { class: "d-section d-machine", hidden: true }, el("h3", {}, "What the machine wrote"), text, when, back);
  place.append(box);
  return (line) => {
    const own = line.machine;
    const same = own && own.text === line.text && own.start === line.start && own.end === line.end && own.status === line.status;
    box.hidden = !own || (same && line.state === "machine");
    if (box.hidden) return;
    text.lang = line.language;
    setText(text, own.text || "(nothing)");
    const status = STATUS[own.status] ? ` · ${STATUS[own.status].toLowerCase()}${own.reason ? `: ${own.reason}` : ""}` : "";
    setText(when, `${short(own.start)} to ${short(own.end)}${status}`);
    back.hidden = same;
  };
}

/**
 * Findings of the guidelines: level in a word and a sign, then the sentence, then what to do.
 *
 * @param {HTMLElement} place
 * @param {string} id
 */
export function findings(place, id) {
  const list = el("ul", { class: "d-findings" });
  place.append(el("div", { id }, list));
  let was = "";
  const item = ({ rule, level, text, hint }) =>
    el("li", { class: "d-finding", "data-level": level },
      el("span", { class: "d-sign", "aria-hidden": "true" }, level === "error" ? "✖" : "▲"),
      el("span", {}, el("strong", {}, level === "error" ? "Error: " : "Warning: "), ended(text),
        hint ? el("span", { class: "d-hint" }, ` ${hint}`) : null, el("span", { class: "d-rule" }, ` (rule ${rule})`)));
  return (line) => {
    const key = JSON.stringify(line.findings);
    if (key === was) return;
    was = key;
    const many = line.findings?.length ?? 0;
    list.replaceChildren(...(line.findings ?? []).map(item));
    list.setAttribute("aria-label", count(many, "finding"));
    list.hidden = !many;
  };
}
