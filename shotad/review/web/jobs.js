/**
 * Long work: what the server does for the page, how far it is, and what came of it. A card of a job can stand in
 * several places at once: in the foot of the page and in the dialog that began it.
 */

import { post } from "./api.js";
import { make } from "./build.js";
import { keepFocus } from "./commands.js";
import { alert, say } from "./say.js";
import { applyJob as take, emit, lineById, lineNumber, select, settled, store, subscribe, undo } from "./store.js";
import { clock } from "./times.js";

const KEPT = 2; // jobs that have ended and are still shown in the foot
const ENDED = new Set(["done", "failed", "stopped"]);

/** @type {Set<string>} Jobs that this page saw running, or began itself. */
const seen = new Set();
/** @type {Set<string>} */
const dismissed = new Set();
/** @type {Map<string, string|null>} What an undo would take back when the job had just ended. */
const labels = new Map();
/** @type {Map<string, ((job: any) => void)[]>} */
const waiting = new Map();

/** @param {any} job */
export const hasEnded = (job) => ENDED.has(job?.state);

/** Kinds of jobs that write lines. */
const WRITE = new Set(["redo", "name"]);

/** Whether a job that writes lines is at work: it tells itself what it changed. */
export const isWritingLines = () => [...store.jobs.values()].some((job) => job.state === "running" && WRITE.has(job.kind));

/**
 * Has the server begin a job.
 *
 * @param {object} body As `POST /api/jobs` takes it.
 * @returns {Promise<any>} The job. Throws ApiError.
 */
export async function startJob(body) {
  await settled(); // what was typed is saved before the machine reads it
  const job = await post("/api/jobs", body);
  seen.add(job.id);
  take(job);
  return store.jobs.get(job.id);
}

/**
 * @param {string} id
 * @returns {Promise<any>} The job, when it has ended.
 */
export function whenEnded(id) {
  const job = store.jobs.get(id);
  if (hasEnded(job)) return Promise.resolve(job);
  return new Promise((resolve) => waiting.set(id, [...(waiting.get(id) ?? []), resolve]));
}

/**
 * Makes a card that follows a job.
 *
 * @param {string} id
 * @param {{brief?: boolean}} [options] brief: one line while it runs, no details afterwards but files.
 * @returns {HTMLElement}
 */
export function jobCard(id, { brief = false } = {}) {
  const title = make("p", { className: "job-title", tabIndex: -1 });
  const made = make("div", { className: `job${brief ? " brief" : ""}`, role: "group" }, title, make("div", { className: "job-body" }));
  made.dataset.job = id;
  show(made, store.jobs.get(id));
  return made;
}

const STATES = { waiting: "waits", running: "", done: "done", failed: "failed", stopped: "stopped" };

/** Brings a card up to date. */
function show(element, job) {
  if (!job) return;
  const [title, body] = element.children;
  const words = [job.title, STATES[job.state]].filter(Boolean).join(": ");
  if (title.textContent !== words) title.textContent = words;
  element.setAttribute("aria-label", job.title);
  const before = element.dataset.state;
  element.dataset.state = job.state;
  if (hasEnded(job)) {
    if (before === job.state) return;
    const held = body.contains(document.activeElement);
    body.replaceChildren(...outcome(job, element.classList.contains("brief")));
    if (held) title.focus();
    return;
  }
  if (!body.querySelector("progress")) body.replaceChildren(...running(job));
  const bar = body.querySelector("progress");
  if (job.done === null || job.done === undefined) bar.removeAttribute("value");
  else bar.value = job.done;
  const note = job.notes?.at(-1) ?? "";
  const percent = job.done ? ` ${Math.floor(job.done * 100)} %` : "";
  const step = job.stopping ? "Stopping after this step" : `${job.step || (job.state === "waiting" ? "Waiting for other work" : "Begins")}${percent}`;
  body.querySelector(".job-step").textContent = step;
  body.querySelector(".job-note").textContent = note;
  body.querySelector("button").setAttribute("aria-disabled", String(Boolean(job.stopping)));
}

function running(job) {
  const stop = make("button", { type: "button", "aria-label": `Stop: ${job.title}` }, "Stop");
  stop.addEventListener("click", async () => {
    if (stop.getAttribute("aria-disabled") === "true") return;
    try {
      await post(`/api/jobs/${encodeURIComponent(job.id)}/stop`);
    } catch (error) {
      alert(error.message);
    }
  });
  return [
    make("progress", { max: 1, "aria-label": job.title }),
    make("span", { className: "job-step" }),
    stop,
    make("p", { className: "job-note hint" }),
  ];
}

/** Which line a finding is about: the beginning of a sentence. */
const lineOf = ({ cue_id: id }) => (id && store.lines.has(id) ? `line ${lineNumber(id)} ` : "");

/** What came of a job, as elements. */
function outcome(job, brief) {
  if (job.state === "stopped") return [make("p", {}, "Stopped. What was done before is kept.")];
  if (job.state === "failed")
    return [make("p", { className: "fault" }, job.error?.what ?? "It failed."), job.error?.hint ? make("p", {}, job.error.hint) : null].filter(Boolean);
  const result = job.result ?? {};
  const parts = [result.said ? make("p", { className: "job-said" }, result.said) : null, files(result.files)];
  if (!brief) {
    parts.push(lines(result.lines, job), many("Not made", result.failures, (one) => `${one.name}: ${one.reason}`, "fault"));
    parts.push(many("How it sounds", result.told, (one) => one));
    parts.push(many("Rules", result.findings, (one) => `${one.level === "error" ? "Must be put right" : "Look at it"}: ${lineOf(one)}${one.message}`));
    parts.push(many("Lines that found no place", result.unspoken, (id) => lineLink(id)));
    parts.push(many("Notes", [...(result.warnings ?? []), ...(job.notes ?? [])], (one) => one));
  }
  if (job.kind === "redo" && result.lines?.some((one) => one.changed)) parts.push(undoButton(job));
  return parts.filter(Boolean);
}

const UNITS = ["bytes", "kB", "MB", "GB"];

/** @param {number} bytes */
export function fileSize(bytes) {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const value = bytes / 1000 ** power;
  return `${power && value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[power]}`;
}

function files(some) {
  if (!some?.length) return null;
  const items = some.map((file) =>
    make("li", {}, make("a", { href: file.url, download: file.name }, file.name), ` (${fileSize(file.size)}${file.fresh === false ? ", as it was" : ""})`),
  );
  return make("ul", { className: "files", "aria-label": "Files to download" }, ...items);
}

/** A heading and a list; null where there is nothing in it. */
function many(heading, rows, item, style = "") {
  if (!rows?.length) return null;
  const list = make("ul", { className: style }, ...rows.map((row) => make("li", {}, item(row))));
  return make("div", { className: "job-part" }, make("h3", {}, heading), list);
}

function lines(rows, job) {
  if (!rows?.length) return null;
  const items = rows.map((row) => {
    const parts = [lineLink(row.id)];
    parts.push(make("p", {}, make("strong", {}, "Before: "), row.old || "(no line)"));
    parts.push(
      row.changed
        ? make("p", {}, make("strong", {}, "Now: "), row.new)
        : make("p", {}, make("strong", {}, "Kept: "), row.reason),
    );
    return make("li", { className: row.changed ? "changed" : "same" }, ...parts);
  });
  return make("ul", { className: "redone", "aria-label": job.title }, ...items);
}

/**
 * A button that leads to a line.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function lineLink(id) {
  const one = lineById(id);
  if (!one) return make("span", {}, id);
  const button = make("button", { type: "button", className: "plain to-line" }, `Line ${lineNumber(id)} at ${clock(one.start)}`);
  button.addEventListener("click", () => {
    button.closest("dialog")?.close();
    setTimeout(() => select(id, { focus: true }));
  });
  return button;
}

function undoButton(job) {
  const button = make("button", { type: "button" }, "Undo");
  button.setAttribute("aria-label", `Undo: ${job.title}`);
  button.addEventListener("click", async () => {
    if (store.film.history?.undo !== labels.get(job.id)) {
      const text = "Something else was changed since. Undo step by step, by Ctrl+Z in the list.";
      button.after(make("p", { role: "status" }, text));
      return;
    }
    const done = await undo();
    if (!done) return;
    const told = make("p", { role: "status", tabIndex: -1 }, done.said || "Undone.");
    button.replaceWith(told);
    told.focus();
  });
  return button;
}

/** Tells the end of a job to everybody, also where its dialog is closed. */
function told(job) {
  const open = document.querySelector("dialog[open]");
  const words = job.state === "failed" ? `${job.title}: ${job.error?.what ?? "failed"} ${job.error?.hint ?? ""}` : (job.result?.said ?? `${job.title}: ${STATES[job.state]}.`);
  if (open) {
    // The page behind a modal dialog is silent: its own live region speaks.
    const place = open.querySelector("[data-told]");
    if (place) place.textContent = words;
  } else if (job.state === "failed") alert(words);
  else say(words);
}

/** The region in the foot of the page: what runs, and what ended lately. */
function region() {
  const list = make("div", { className: "jobs-list" });
  const made = make("section", { id: "jobs", "aria-label": "Work of the machine", hidden: true }, list);
  document.getElementById("foot")?.prepend(made);
  return () => {
    const all = [...store.jobs.values()].filter((job) => (seen.has(job.id) || !hasEnded(job)) && !dismissed.has(job.id));
    // Of what has ended stays what somebody may still want of it: files, and why it failed. The rest was said.
    const kept = all.filter((job) => job.state === "failed" || (job.state === "done" && job.result?.files?.length));
    const shown = [...all.filter((job) => !hasEnded(job)), ...kept.slice(-KEPT)].map((job) => job.id);
    for (const old of [...list.children]) {
      if (shown.includes(old.dataset.of)) continue;
      const held = old.contains(document.activeElement);
      old.remove();
      if (held) keepFocus();
    }
    for (const id of shown) {
      if ([...list.children].some((one) => one.dataset.of === id)) continue;
      const holder = make("div", { className: "job-holder" }, jobCard(id, { brief: true }), dismiss(id));
      holder.dataset.of = id;
      list.append(holder);
    }
    for (const holder of list.children) holder.querySelector(".dismiss").hidden = !hasEnded(store.jobs.get(holder.dataset.of));
    made.hidden = !shown.length;
  };
}

function dismiss(id) {
  const button = make("button", { type: "button", className: "dismiss", hidden: true }, "Dismiss");
  button.setAttribute("aria-label", `Dismiss: ${store.jobs.get(id)?.title ?? id}`);
  button.addEventListener("click", () => {
    dismissed.add(id);
    button.closest(".job-holder").remove();
    const list = document.querySelector("#jobs .jobs-list");
    document.getElementById("jobs").hidden = !list.children.length;
    keepFocus();
  });
  return button;
}

export function start() {
  const draw = region();
  subscribe("job", (job) => {
    if (!hasEnded(job)) seen.add(job.id);
    for (const element of document.querySelectorAll("[data-job]")) if (element.dataset.job === job.id) show(element, job);
    if (hasEnded(job)) {
      // Who has its dialog open has read there what came of it.
      if (document.querySelector(`dialog[open] [data-job="${CSS.escape(job.id)}"]`)) dismissed.add(job.id);
      if (!labels.has(job.id)) {
        labels.set(job.id, store.film?.history?.undo ?? null);
        if (seen.has(job.id)) told(job);
      }
      for (const resolve of waiting.get(job.id) ?? []) resolve(job);
      waiting.delete(job.id);
    }
    draw();
  });
  // All again: jobs may have ended while the server could not be reached.
  subscribe("film", () => {
    for (const job of store.jobs.values()) emit("job", job);
    draw();
  });
}
