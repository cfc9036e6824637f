/**
 * What the page knows: the film, its lines, the chosen line; and the acts on them.
 *
 * Topics that `subscribe` takes, and what comes with each:
 * - `film`: the film, fetched again. All may be different.
 * - `lines` {changed, gone}: ids of lines that are new or different, and of those that were removed.
 * - `current`: id of the chosen line, or null. `focus` id: its row takes the focus, too; `write` id: its text does.
 *   `arrived` id: the person went on to this line after finishing another.
 * - `progress`, `history`: as in the film; undone, redone or done steps change them.
 * - `player` {seconds, playing, line}: where the film is; `line`: id of the line that is spoken there.
 * - `sound`: the player begins to be heard: what else is heard ends.
 * - `playable`: state of the film file that the browser plays. `heard` {settled}: levels are exact from now on.
 * - `waveform`, `slots`, `reviewer`, `job`: there is another. `subtitles` boolean: whether they are spoken now.
 * - `conflict` {act, id, line: theirs, mine: args, error}: somebody else changed a line. `conflict-settled`: a person
 *   has decided about it.
 * - `connection` boolean: whether the server can be reached.
 * - `outbox`: another number of acts waits. `undelivered` error|null: why they cannot be sent, or that they were.
 *   `unsaved`: a text was refused, or put off.
 * - `trouble` {what, hint}: something is wrong with the files; empty when it is mended.
 *
 * @typedef {import("./sentences.js").Sentence} Sentence
 * @typedef {import("./sentences.js").Fault} Fault
 * @typedef {{rule: string, title: string, level: "error"|"warning", text: string, hint: string}} Finding
 *
 * @typedef {object} Line  One line of the script, or an empty slot (no text, not heard).
 * @property {string} id
 * @property {string} stamp  Another one after each change of the line.
 * @property {number} start  Seconds, as all times.
 * @property {number} end
 * @property {string} text
 * @property {string} kind
 * @property {string} language
 * @property {"placed"|"shortened"|"dropped"|"failed"|"silent"} status  The first two are heard.
 * @property {boolean} heard  Whether the audience hears it.
 * @property {Sentence} reason  Why it was dropped, shortened or failed.
 * @property {{text: string, by: string}|null} note  To a colleague.
 * @property {{value: number, reasons: string[]}|null} doubt  From 0 to 1.
 * @property {"machine"|"edited"|"accepted"} state
 * @property {string} by  Who accepted it.
 * @property {string|null} slot  Id of its slot.
 * @property {"song"|"shout"|""} voice  Voice that is likely heard in its slot.
 * @property {number|null} seconds  How long it takes to say.
 * @property {string[]} candidates
 * @property {number|null} chosen  Index of the chosen candidate.
 * @property {string[]} fit_steps  What was done to make it fit.
 * @property {{at: [number, number]|null, text: string}|null} spoken  As it was last spoken.
 * @property {{seconds: number, fits: boolean, name: string}|null} recording  In a person's own voice.
 * @property {string} own_voice  The line's own voice; empty: that of the film.
 * @property {number} pace  Times the film's pace.
 * @property {{start: number, end: number, text: string, status: string, reason: string}|null} machine  As the machine
 *   wrote it, where a person changed it.
 * @property {string[]} hold  What of it a person changed.
 * @property {Fault|null} apart  Why it cannot be joined with the next line; null: it can.
 * @property {[number, number]|null} room  Free time around it.
 * @property {number|null} room_seconds  Seconds that it may last.
 * @property {Finding[]} findings
 *
 * @typedef {{lines: number, machine: number, edited: number, accepted: number, dropped: number, by: string[]}} Progress
 * @typedef {{undo: Sentence|null, redo: Sentence|null, undo_line: string|null, redo_line: string|null}} History  What the
 *   next undo and redo would do, and on which line, if it is one.
 * @typedef {{id: string, start: number, end: number, words: number, by_hand: boolean, voice: "song"|"shout"|""}} Slot
 * @typedef {{index: number, start: number, end: number, thread: number|null, scale: string|null}} Shot
 * @typedef {{start: number, end: number, kind: string, text: string, speaker: string}} Utterance
 * @typedef {{state: "film"|"proxy"|"making"|"gone"|"none", url: string|null, done: number, why: Sentence}} Playable
 * @typedef {{name: string, title: string, speaks: boolean|null, why: Sentence}} VoiceChoice
 *
 * @typedef {object} Film  Answer of /api/film.
 * @property {string} version
 * @property {{name: string, title: string, duration: number, frame_rate: number}} film
 * @property {string} language
 * @property {string} reviewer
 * @property {Playable} playable
 * @property {{name: string, notice: Sentence, choices: VoiceChoice[], subtitles: boolean}} voice  subtitles: those of
 *   foreign dialogue are spoken too.
 * @property {Shot[]} shots
 * @property {Utterance[]} speech
 * @property {"word"|"character"} unit  In which the length of a text is counted.
 * @property {number} unit_seconds  That the voice needs for one.
 * @property {Slot[]} slots
 * @property {[number, number][]} free  Times without speech.
 * @property {Progress} progress
 * @property {History} history
 * @property {{done: boolean, version: number}} findings
 * @property {number} revision
 * @property {Fault} trouble  What is wrong with the files; empty: nothing.
 * @property {Job[]} jobs
 * @property {number} jobs_version
 * @property {string[]} formats  Of the script.
 * @property {{kind: string, endings: string[]}[]} makes  What can be rendered.
 * @property {{stage1: Sentence|null, stage2: Sentence|null, local: boolean, notice: Sentence, notes: boolean, answers: boolean}} engines
 * @property {{wordless: number, missing: string, written: number[]}|null} transcript  Places of dialogue without words,
 *   what is missing to transcribe them, and the indexes in `speech` of words that a machine wrote down; null: that is
 *   not offered.
 * @property {Line[]} lines  Used once: `store.lines` and `store.order` are kept up to date.
 *
 * @typedef {object} Job  Long work of the server.
 * @property {string} id
 * @property {number} version  A newer view has a greater one.
 * @property {string} kind
 * @property {Sentence} title
 * @property {"waiting"|"running"|"done"|"failed"|"stopped"} state
 * @property {boolean} stopping
 * @property {string} step
 * @property {number|null} done  Share of it, 0 to 1.
 * @property {Sentence[]} notes
 * @property {any} result
 * @property {Fault|null} error
 *
 * @typedef {object} Changed  Answer to an act, and news of one.
 * @property {number} revision
 * @property {Sentence} said  What happened.
 * @property {Line[]} lines
 * @property {string[]} gone
 * @property {string|null} focus  Line to go to.
 * @property {Progress} progress
 * @property {History} history
 * @property {string} origin  The tab that asked; "disk": another program; "job".
 * @property {Slot[]} [slots]  All slots, where they changed.
 */

import { ApiError, get, post, tab } from "./api.js";
import * as outbox from "./outbox.js";
import { alert, say } from "./say.js";
import { sentence } from "./sentences.js";
import { text } from "./texts.js";

export const store = {
  /** @type {Film|null} */
  film: null,
  /** @type {Map<string, Line>} */
  lines: new Map(),
  /** @type {string[]} Ids in order of time. */
  order: [],
  /** @type {string[]} Ids that the filter lets through, in order of time. */
  shown: [],
  /** @type {string|null} */
  current: null,
  filter: "all",
  revision: 0,
  /** @type {Map<string, Job>} */
  jobs: new Map(),
  /** @type {{seconds: number, playing: boolean, line?: string|null}} */
  player: { seconds: 0, playing: false },
  connected: true,
  /** @type {ApiError|null} Why the outbox could not be sent the last time. */
  undelivered: null,
};

/** @type {Map<string, Set<(data: any) => void>>} */
const listeners = new Map();

/**
 * @param {string} topic
 * @param {(data: any) => void} listener
 * @returns {() => void} Ends the subscription.
 */
export function subscribe(topic, listener) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic).add(listener);
  return () => listeners.get(topic).delete(listener);
}

/**
 * @param {string} topic
 * @param {any} [data]
 */
export function emit(topic, data) {
  for (const listener of listeners.get(topic) ?? [])
    try {
      listener(data);
    } catch (error) {
      console.error(topic, error); // one part that fails does not silence the others
    }
}

/**
 * @param {string|null} id
 * @returns {Line|null}
 */
export const lineById = (id) => (id === null ? null : (store.lines.get(id) ?? null));

/** @returns {Line|null} */
export const chosenLine = () => lineById(store.current);

/**
 * @param {string} id
 * @returns {number} Place of the line in the script, from 1; 0 if it is not in it.
 */
export const lineNumber = (id) => store.order.indexOf(id) + 1;

/** @type {Map<string, number>} Revision at which we learned of each line: an older view of it is ignored. */
const revisions = new Map();

/** Order of time; of lines that start together, order of their ids. */
const compareLines = (a, b) => a.start - b.start || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Puts `order` right. It stays the same array while the order is the same. */
function sort() {
  const lines = store.order.map((id) => store.lines.get(id));
  const isComplete = lines.length === store.lines.size && lines.every(Boolean);
  const isInOrder = isComplete && lines.every((line, i) => i === 0 || compareLines(lines[i - 1], line) < 0);
  if (!isInOrder) store.order = [...store.lines.values()].sort(compareLines).map((line) => line.id);
}

/**
 * Takes in the whole film.
 *
 * @param {Film} film
 */
export function load(film) {
  store.film = film;
  store.revision = film.revision;
  findingsVersion = film.findings?.version ?? 0;
  store.lines = new Map(film.lines.map((line) => [line.id, line]));
  const jobs = [...jobsAfter(film), ...(film.jobs ?? []).map(newestView)];
  store.jobs = new Map(jobs.map((job) => [job.id, job]));
  revisions.clear();
  sort();
  if (!store.lines.has(store.current)) store.current = store.order[0] ?? null;
  emit("film", film);
  emit("current", store.current);
  for (const [error, entry] of earlyRefusals.splice(0)) showRefusal(error, entry);
}

/** The newer view of a job: news of its end may have come while the whole film was on its way here. */
function newestView(job) {
  const stored = store.jobs.get(job.id);
  return stored?.version > job.version ? stored : job;
}

/** Jobs that were begun after the server had written this answer: those with newer views than it can hold. */
const jobsAfter = (film) => [...store.jobs.values()].filter((job) => job.version > (film.jobs_version ?? Infinity));

/** Fetches the film again, when it may have changed without news of it. */
export async function reload() {
  const film = await get("/api/film");
  const isOutdated = (film.findings?.version ?? 0) < findingsVersion; // newer findings came while it was on its way
  load(isOutdated ? await get("/api/film") : film);
}

/** Number of the check whose findings the lines have. */
let findingsVersion = 0;

/**
 * Whether the lines have the findings of a check. From now on they count as having them: a page that has not fetches
 * them.
 *
 * @param {number|undefined} version
 * @returns {boolean}
 */
export function holdsFindings(version) {
  const isSame = version === findingsVersion;
  findingsVersion = version ?? 0;
  return isSame;
}

/**
 * Makes a line the chosen one.
 *
 * @param {string|null} id
 * @param {{focus?: boolean}} [options] focus: the list takes the focus as well.
 */
export function select(id, { focus = false } = {}) {
  if (id !== null && !store.lines.has(id)) return;
  if (id !== store.current) {
    store.current = id;
    emit("current", id);
  }
  if (focus) emit("focus", id);
}

/**
 * @param {Line} line
 * @returns {boolean} Whether it is a slot that waits for its line.
 */
export const isEmpty = (line) => !line.heard && !line.text;

/**
 * Opens a line to be written: it is chosen, and the cursor stands in its text, so that letters write and are no keys
 * of the list.
 *
 * @param {string} id
 */
export function writeIn(id) {
  if (!store.lines.has(id)) return;
  select(id);
  emit("write", id);
}

/**
 * Goes to a line: an empty slot is opened to be written, of any other line the row takes the focus.
 *
 * @param {string} id
 */
export function openLine(id) {
  const line = store.lines.get(id);
  if (line && isEmpty(line)) writeIn(id);
  else select(id, { focus: true });
}

/**
 * Takes in what changed.
 *
 * @param {Changed} changed
 */
export function applyChange(changed) {
  const isNewer = (id) => (revisions.get(id) ?? -1) <= changed.revision;
  const lines = (changed.lines ?? []).filter((line) => isNewer(line.id));
  const changedIds = lines.map((line) => line.id);
  const goneIds = (changed.gone ?? []).filter((id) => isNewer(id) && store.lines.has(id));
  const place = store.order.indexOf(store.current);
  for (const line of lines) store.lines.set(line.id, line);
  for (const id of goneIds) store.lines.delete(id);
  for (const id of [...changedIds, ...goneIds]) revisions.set(id, changed.revision);
  sort();
  if (changed.revision >= store.revision) {
    store.revision = changed.revision;
    if (changed.progress) store.film.progress = changed.progress;
    if (changed.history) store.film.history = changed.history;
  }
  if (!store.lines.has(store.current)) store.current = store.order[Math.min(place, store.order.length - 1)] ?? null;
  if (lines.length || goneIds.length) emit("lines", { changed: changedIds, gone: goneIds });
  if (goneIds.length) emit("current", store.current);
  emit("progress", store.film.progress);
  emit("history", store.film.history);
}

/** Gives lines new values, and tells of those that are in the script. */
function updateLines(ids, valuesOf) {
  const changed = ids.filter((id) => store.lines.has(id));
  for (const id of changed) store.lines.set(id, { ...store.lines.get(id), ...valuesOf(id) });
  if (changed.length) emit("lines", { changed, gone: [] });
}

/**
 * Takes in findings that the server came to later.
 *
 * @param {{lines: Record<string, Finding[]>, summary: Film["findings"]}} update
 */
export function applyFindings(update) {
  findingsVersion = update.summary?.version ?? findingsVersion;
  updateLines(Object.keys(update.lines), (id) => ({ findings: update.lines[id] }));
}

/**
 * Takes in how long lines take to say, now that the voice has spoken more of them.
 *
 * @param {{lines: Record<string, number>, unit_seconds: number}} update
 */
export function applyLengths(update) {
  if (store.film) store.film.unit_seconds = update.unit_seconds;
  const ids = Object.keys(update.lines).filter((id) => store.lines.get(id)?.seconds !== update.lines[id]);
  updateLines(ids, (id) => ({ seconds: update.lines[id] }));
}

/** @param {Job} job As it is now. */
export function applyJob(job) {
  store.jobs.set(job.id, newestView(job));
  emit("job", store.jobs.get(job.id));
}

/** Milliseconds until acts that could not be sent are sent again. */
const RESEND_DELAY = 2000;
/**
 * @typedef {{quiet: boolean, from: string|null, promise: Promise<any>, resolve: Function, reject: Function}} Request
 *   from: the line that was chosen when the act was asked for.
 */
/** @type {Map<import("./outbox.js").Entry, Request>} */
const requests = new Map();
/** @type {Promise<void>|null} The outbox is on its way. */
let delivery = null;
let resendTimer = 0;
/** @type {[ApiError, import("./outbox.js").Entry][]} Refusals that came before the film was here to show them. */
const earlyRefusals = [];

/**
 * Takes in an answer: says it, and goes where it leads.
 *
 * @param {Changed} changed
 * @param {Pick<Request, "quiet"|"from">} request
 */
function showAnswer(changed, { quiet, from }) {
  applyChange(changed);
  if (quiet) return;
  say(sentence(changed.said));
  // Who has gone on meanwhile stays where he is.
  if (changed.focus && store.lines.has(changed.focus) && store.current === from) select(changed.focus);
}

/**
 * Does one act: puts it into the outbox, and sends that.
 *
 * @param {string} name Name of the act, as the server knows it.
 * @param {object} args
 * @param {{line?: string|null, group?: string, seen?: string|null, quiet?: boolean}} [options] line: id, the chosen
 *   line if it is left out. group: acts of one group are undone together. seen: stamp of the line that the person
 *   looked at, where it is not the one that the page holds now (text that was begun before somebody else changed the
 *   line). quiet: nothing is said, the chosen line stays; so it is with `write`.
 * @returns {Promise<Changed|undefined>} undefined where it waits: the server cannot be reached now. Throws ApiError
 *   where it was refused.
 */
export function perform(name, args, options = {}) {
  const id = options.line === undefined ? store.current : options.line;
  const stamp = options.seen === undefined ? (store.lines.get(id)?.stamp ?? null) : options.seen;
  const entry = outbox.put({ act: name, line: id ?? "", seen: stamp, args, group: options.group ?? "" });
  if (!requests.has(entry)) {
    const request = { quiet: options.quiet ?? name === "write", from: store.current };
    request.promise = new Promise((resolve, reject) => Object.assign(request, { resolve, reject }));
    requests.set(entry, request);
  }
  const { promise, resolve } = requests.get(entry);
  emit("outbox");
  // What cannot be sent now is sent together, later.
  if (store.undelivered) resolve(undefined);
  else flush();
  return promise;
}

/**
 * As `perform`; the page says why an act is refused.
 *
 * @param {string} name
 * @param {object} [args]
 * @param {{line?: string|null, group?: string, seen?: string|null, quiet?: boolean}} [options]
 * @returns {Promise<Changed|null|undefined>} null where it was refused, and `conflict` went out where somebody else
 *   changed the line.
 */
export const act = (name, args = {}, options = {}) => perform(name, args, options).catch(() => null);

/**
 * Sends the outbox.
 *
 * @returns {Promise<void>} Ends when all of it is answered, or the server cannot be reached.
 */
export function flush() {
  if (!delivery && outbox.waitingCount()) delivery = deliver();
  return delivery ?? Promise.resolve();
}

/** Sends one batch after the other, so that none overtakes. */
async function deliver() {
  clearTimeout(resendTimer);
  try {
    let limit = Infinity;
    for (let batch = outbox.nextBatch(limit); batch.length; batch = outbox.nextBatch(limit)) {
      const { answers, error } = await post("/api/acts", { tab, acts: batch }).catch((failure) => {
        // Something in it is no act, or far too long: alone it is refused, and the others are not.
        if (![400, 413].includes(failure.status)) throw failure;
        limit = 1;
        return { answers: batch.length === 1 ? [{ refused: failure }] : [] };
      });
      for (const [i, reply] of answers.entries()) settle(batch[i], reply);
      if (error) throw new ApiError(500, error);
    }
    delivery = null;
    setUndelivered(null);
  } catch (error) {
    delivery = null;
    if (!(error instanceof ApiError)) throw error;
    setUndelivered(error);
  }
}

/**
 * Takes in the server's reply to an act.
 *
 * @param {import("./outbox.js").Entry} entry
 * @param {{changed?: Changed, refused?: import("./api.js").Fault, lines?: Line[]}} reply lines: those of a conflict.
 */
function settle(entry, { changed, refused, lines }) {
  const request = requests.get(entry); // none for an act that was sent before the page was loaded again
  requests.delete(entry);
  if (changed) {
    outbox.remove(entry);
    if (store.film) showAnswer(changed, request ?? { quiet: true, from: null });
    request?.resolve(changed);
  } else {
    if (entry.act === "write") outbox.hold(entry);
    else outbox.remove(entry);
    const error = new ApiError(lines ? 409 : 400, refused, lines ?? []);
    if (store.film) showRefusal(error, entry);
    else earlyRefusals.push([error, entry]);
    request?.reject(error);
  }
  emit("outbox");
}

/** @param {ApiError|null} error Why the outbox could not be sent; null: it could. */
function setUndelivered(error) {
  const before = store.undelivered;
  store.undelivered = error;
  if (error) {
    resendTimer = setTimeout(flush, RESEND_DELAY);
    for (const request of requests.values()) request.resolve(undefined);
    if (error.status === 0) setConnected(false);
    else if (before?.message !== error.message) alert(error.message);
  } else if (before) setConnected(true);
  if (error || before) emit("undelivered", error);
}

/** Says why an act was refused; a conflict goes to its dialog, with both versions. */
function showRefusal(error, { act: name, line: id, args }) {
  if (error.status !== 409) {
    alert(error.message);
    if (name === "write") emit("unsaved");
    return;
  }
  for (const line of error.lines) {
    revisions.set(line.id, store.revision);
    store.lines.set(line.id, line);
  }
  sort();
  emit("lines", { changed: error.lines.map((line) => line.id), gone: [] });
  const theirs = error.lines.find((line) => line.id === id) ?? lineById(id);
  emit("conflict", { act: name, id: id || null, line: theirs, mine: args, error });
}

/** @param {"undo"|"redo"} direction */
async function step(direction) {
  // What was asked for before may be the step to take back.
  if (!outbox.waitingCount() && !store.film?.history?.[direction]) {
    say(direction === "undo" ? text("header.nothing_to_undo") : text("header.nothing_to_redo"));
    return null;
  }
  return act(direction, {}, { line: "", seen: null, quiet: false });
}

/** @returns {Promise<Changed|null|undefined>} */
export const undo = () => step("undo");
/** @returns {Promise<Changed|null|undefined>} */
export const redo = () => step("redo");

/** Waits until everything that was asked for is answered, or the server cannot be reached. */
export async function settled() {
  while (delivery) await delivery;
}

/** @param {boolean} isConnected Whether the server can be reached. */
export function setConnected(isConnected) {
  if (isConnected === store.connected) return;
  store.connected = isConnected;
  emit("connection", isConnected);
  if (isConnected) flush();
}
