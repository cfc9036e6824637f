/**
 * Long work: what the server does for the page, how far it is, and what came of it. A card of a job can stand in
 * several places at once: in the foot of the page and in the dialog that began it.
 *
 * @typedef {import("./store.js").Job} Job
 */

import { addressOf, post } from "./api.js";
import { make, setText } from "./build.js";
import { keepFocus } from "./commands.js";
import { alert, say } from "./say.js";
import { faultText, hintText, problemText, sentence } from "./sentences.js";
import { applyJob, emit, lineById, lineNumber, openLine, settled, store, subscribe, undo } from "./store.js";
import { language, percent, text } from "./texts.js";
import { clock } from "./times.js";
import { about, sizeText, stepName } from "./wording.js";

const KEPT = 2; // jobs that have ended and are still shown in the foot
/** The title of a job with what became of it. */
const STATE_TITLES = {
  waiting: (title) => text("job.waits", { job: title }),
  running: (title) => title,
  done: (title) => text("job.done", { job: title }),
  failed: (title) => text("job.failed", { job: title }),
  stopped: (title) => text("job.stopped", { job: title }),
};

/** @type {Set<string>} Jobs that this page saw running, or began itself. */
const watchedIds = new Set();
/** @type {Set<string>} Jobs whose cards are not shown in the foot any more. */
const dismissedIds = new Set();
/** @type {Map<string, string>} What an undo would take back when the job had just ended. */
const undoAtEnd = new Map();
/** @type {Map<string, ((job: Job) => void)[]>} Who waits for the end of a job. */
const endListeners = new Map();

/** What an undo would take back now, in words; empty: nothing. */
const undoName = () => sentence(store.film?.history?.undo ?? "");

/** @param {Job|undefined} job */
export const hasEnded = (job) => ["done", "failed", "stopped"].includes(job?.state);

/**
 * @param {string} kind
 * @returns {boolean} Whether a job of a kind runs or waits.
 */
export const isAtWork = (kind) => [...store.jobs.values()].some((job) => job.kind === kind && !hasEnded(job));

/** @returns {boolean} Whether a job that writes lines is at work: it says itself what it changed. */
export function isWritingLines() {
  return [...store.jobs.values()].some((job) => job.state === "running" && ["redo", "name"].includes(job.kind));
}

/**
 * Has the server begin a job.
 *
 * @param {object} order As `POST /api/jobs` takes it.
 * @returns {Promise<Job>} Throws ApiError.
 */
export async function startJob(order) {
  await settled(); // what was typed is saved before the machine reads it
  return followJob(await post("/api/jobs", order));
}

/**
 * Shows a job that this page began.
 *
 * @param {Job} job
 * @returns {Job} Its newest view.
 */
export function followJob(job) {
  watchedIds.add(job.id);
  applyJob(job);
  return store.jobs.get(job.id);
}

/**
 * @param {string} id
 * @returns {Promise<Job>} The job, when it has ended.
 */
export function whenEnded(id) {
  const job = store.jobs.get(id);
  if (hasEnded(job)) return Promise.resolve(job);
  return new Promise((resolve) => endListeners.set(id, [...(endListeners.get(id) ?? []), resolve]));
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
  const body = make("div", { className: "job-body" });
  const card = make("div", { className: `job${brief ? " brief" : ""}`, role: "group" }, title, body);
  card.dataset.job = id;
  updateCard(card, store.jobs.get(id));
  return card;
}

/** Brings a card up to date. */
function updateCard(card, job) {
  if (!job) return;
  const [title, body] = card.children;
  setText(title, STATE_TITLES[job.state](sentence(job.title)));
  card.setAttribute("aria-label", sentence(job.title));
  const stateBefore = card.dataset.state;
  card.dataset.state = job.state;
  if (!hasEnded(job)) {
    showProgress(body, job);
    return;
  }
  if (stateBefore === job.state) return;
  const hadFocus = body.contains(document.activeElement);
  body.replaceChildren(...outcomeParts(job, card.classList.contains("brief")));
  if (hadFocus) title.focus();
}

/** What a job does now. */
function stepText(job) {
  if (job.stopping) return text("job.stopping");
  if (job.step) return stepName(job.step);
  return job.state === "waiting" ? text("job.waiting") : text("job.begins");
}

/** Shows how far a job is that runs or waits. */
function showProgress(body, job) {
  if (!body.querySelector("progress")) body.replaceChildren(...progressParts(job));
  const bar = body.querySelector("progress");
  if (typeof job.done === "number") bar.value = job.done;
  else bar.removeAttribute("value");
  const words = [stepText(job), job.done && !job.stopping ? percent(job.done) : ""];
  body.querySelector(".job-step").textContent = words.filter(Boolean).join(" ");
  body.querySelector(".job-note").textContent = sentence(job.notes.at(-1) ?? "");
  body.querySelector("button").setAttribute("aria-disabled", String(Boolean(job.stopping)));
}

function progressParts(job) {
  const stop = make(
    "button",
    { type: "button", "aria-label": text("job.stop_job", { job: sentence(job.title) }) },
    text("job.stop"),
  );
  stop.addEventListener("click", async () => {
    if (stop.getAttribute("aria-disabled") === "true") return;
    try {
      await post(`/api/jobs/${encodeURIComponent(job.id)}/stop`);
    } catch (error) {
      alert(error.message);
    }
  });
  return [
    make("progress", { max: 1, "aria-label": sentence(job.title) }),
    make("span", { className: "job-step" }),
    stop,
    make("p", { className: "job-note hint" }),
  ];
}

/** What came of a job, as elements. */
function outcomeParts(job, isBrief) {
  if (job.state === "stopped") return [make("p", {}, text("job.was_stopped"))];
  if (job.state === "failed") {
    const hint = hintText(job.error);
    const problem = problemText(job.error) || text("job.it_failed");
    return [make("p", { className: "fault" }, problem), hint ? make("p", {}, hint) : null].filter(Boolean);
  }
  const result = job.result ?? {};
  const parts = [
    result.said ? make("p", { className: "job-said" }, sentence(result.said)) : null,
    fileList(result.files ?? []),
  ];
  if (!isBrief) {
    const notes = [...(result.warnings ?? []), ...job.notes];
    parts.push(
      lineResults(result.lines ?? [], sentence(job.title)),
      titledList(text("job.not_made"), result.failures, ({ name, reason }) => about(name, reason), "fault"),
      titledList(text("job.sounds"), result.told, sentence),
      titledList(text("job.rules"), result.findings, findingText),
      titledList(text("job.no_place"), result.unspoken, lineLink),
      titledList(text("job.notes"), notes, sentence),
    );
  }
  if (job.kind === "redo" && result.lines?.some((line) => line.changed)) parts.push(undoButton(job));
  return parts.filter(Boolean);
}

/** A finding of a render as a sentence, with the line that it is about. */
function findingText({ level, text: said, cue_id: id }) {
  const isError = level === "error";
  const values = { number: lineNumber(id ?? ""), message: sentence(said) };
  if (!values.number) return isError ? text("job.error", values) : text("job.warning", values);
  return isError
    ? text("job.line_error", values)
    : text("job.line_warning", values);
}

/** @param {{name: string, url: string, size: number, fresh?: boolean}[]} files fresh: false if nothing was to be done. */
function fileList(files) {
  if (!files.length) return null;
  const items = files.map((file) => {
    const size = sizeText(file.size);
    const facts = file.fresh === false ? text("job.file_as_before", { size }) : size;
    const link = make("a", { href: addressOf(file.url), download: file.name }, file.name);
    return make("li", {}, link, ` (${facts})`);
  });
  return make("ul", { className: "files", "aria-label": text("job.files") }, ...items);
}

/** A heading and a list; null where there is nothing in it. */
function titledList(heading, rows, contentOf, className = "") {
  if (!rows?.length) return null;
  const items = rows.map((row) => make("li", {}, contentOf(row)));
  return make("div", { className: "job-part" }, make("h3", {}, heading), make("ul", { className }, ...items));
}

/** Lines that were described again: before, and now. */
function lineResults(rows, title) {
  if (!rows.length) return null;
  const paragraph = (heading, words, lang = language) =>
    make("p", {}, make("strong", {}, heading), " ", make("span", { lang }, words));
  const filmLanguage = store.film.language;
  const items = rows.map((row) => {
    const before = row.old
      ? paragraph(text("job.before"), row.old, filmLanguage)
      : paragraph(text("job.before"), text("import.no_line"));
    const after = row.changed
      ? paragraph(text("job.now"), row.new, filmLanguage)
      : paragraph(text("job.kept"), sentence(row.reason));
    return make("li", { className: row.changed ? "changed" : "same" }, lineLink(row.id), before, after);
  });
  return make("ul", { className: "redone", "aria-label": title }, ...items);
}

/**
 * Makes a button that leads to a line.
 *
 * @param {string} id
 * @returns {HTMLElement} Only the id where the line is gone.
 */
export function lineLink(id) {
  const line = lineById(id);
  if (!line) return make("span", {}, id);
  const words = text("job.line", { number: lineNumber(id), time: clock(line.start) });
  const button = make("button", { type: "button", className: "plain" }, words);
  button.addEventListener("click", () => {
    button.closest("dialog")?.close();
    setTimeout(() => openLine(id));
  });
  return button;
}

/** Takes back what a job did, if nothing was done since. */
function undoButton(job) {
  const button = make("button", { type: "button" }, text("job.undo"));
  button.setAttribute("aria-label", text("job.undo_job", { job: sentence(job.title) }));
  button.addEventListener("click", async () => {
    if (undoName() !== undoAtEnd.get(job.id)) {
      const words = text("job.changed_since");
      button.after(make("p", { role: "status" }, words));
      return;
    }
    const changed = await undo();
    if (!changed) return;
    const message = make("p", { role: "status", tabIndex: -1 }, sentence(changed.said) || text("job.undone"));
    button.replaceWith(message);
    message.focus();
  });
  return button;
}

/** Says the end of a job, also where its dialog is closed. */
function announceEnd(job) {
  const title = sentence(job.title);
  const failure = about(title, faultText(job.error) || text("job.it_failed"));
  const success = job.result?.said ? sentence(job.result.said) : `${STATE_TITLES[job.state](title)}.`;
  const words = job.state === "failed" ? failure : success;
  const dialog = document.querySelector("dialog[open]");
  // The page behind a modal dialog is silent: its own live region speaks.
  const isShown = !dialog?.querySelector(`[data-job="${CSS.escape(job.id)}"]`); // its card has the same words
  if (dialog) dialog.announce?.(words, false, isShown);
  else if (job.state === "failed") alert(words);
  else say(words);
}

/** The jobs that the foot shows: those that run, and the last of those that ended and are still of use. */
function jobsInFoot() {
  const isWanted = (job) => (watchedIds.has(job.id) || !hasEnded(job)) && !dismissedIds.has(job.id);
  const wanted = [...store.jobs.values()].filter(isWanted);
  // Of what has ended stays what somebody may still want of it: files, and why it failed. The rest was said.
  const hasFiles = (job) => job.state === "done" && job.result?.files?.length;
  const ended = wanted.filter((job) => job.state === "failed" || hasFiles(job));
  return [...wanted.filter((job) => !hasEnded(job)), ...ended.slice(-KEPT)];
}

/** Makes the region in the foot of the page. @returns {() => void} Brings it up to date. */
function makeRegion() {
  const list = make("div");
  const region = make("section", { id: "jobs", "aria-label": text("job.region"), hidden: true }, list);
  document.getElementById("foot").prepend(region);

  const holderOf = (id) => {
    const dismiss = make("button", { type: "button", className: "dismiss", hidden: true }, text("job.dismiss"));
    const holder = make("div", { className: "job-holder" }, jobCard(id, { brief: true }), dismiss);
    holder.dataset.id = id;
    dismiss.setAttribute("aria-label", text("job.dismiss_job", { job: sentence(store.jobs.get(id)?.title ?? id) }));
    dismiss.addEventListener("click", () => {
      dismissedIds.add(id);
      update();
    });
    return holder;
  };
  const update = () => {
    const ids = jobsInFoot().map((job) => job.id);
    for (const holder of [...list.children]) {
      if (ids.includes(holder.dataset.id)) continue;
      const hadFocus = holder.contains(document.activeElement);
      holder.remove();
      if (hadFocus) keepFocus();
    }
    for (const id of ids) {
      const isShown = [...list.children].some((holder) => holder.dataset.id === id);
      if (!isShown) list.append(holderOf(id));
    }
    for (const holder of list.children)
      holder.querySelector(".dismiss").hidden = !hasEnded(store.jobs.get(holder.dataset.id));
    region.hidden = !ids.length;
  };
  return update;
}

/** A job has ended: who waits for it goes on, and everybody hears of it once. */
function onEnd(job) {
  // Who has its dialog open has read there what came of it.
  if (document.querySelector(`dialog[open] [data-job="${CSS.escape(job.id)}"]`)) dismissedIds.add(job.id);
  if (!undoAtEnd.has(job.id)) {
    undoAtEnd.set(job.id, undoName());
    if (watchedIds.has(job.id)) announceEnd(job);
  }
  for (const resolve of endListeners.get(job.id) ?? []) resolve(job);
  endListeners.delete(job.id);
}

/** Starts following the jobs. */
export function start() {
  const updateRegion = makeRegion();
  subscribe("job", (job) => {
    if (!hasEnded(job)) watchedIds.add(job.id);
    for (const card of document.querySelectorAll("[data-job]")) if (card.dataset.job === job.id) updateCard(card, job);
    if (hasEnded(job)) onEnd(job);
    updateRegion();
  });
  // The film was fetched again: jobs may have ended while the server could not be reached.
  subscribe("film", () => {
    for (const job of store.jobs.values()) emit("job", job);
    updateRegion();
  });
}
