/**
 * What the page knows: the film, its lines, the chosen line; and the acts on them.
 *
 * Topics: `film` (all again), `lines` {changed, gone}, `current` id, `focus` id (the list takes the focus),
 * `findings`, `job`, `jobs`, `playable`, `player`, `history`, `progress`, `reviewer`,
 * `conflict` {act, line: theirs, mine: args}, `connection` boolean, `outbox` (what waits in it is another),
 * `undelivered` (why it cannot be sent, or null), `unsaved` (a text was refused), `settings`, `shown`.
 *
 * @typedef {{rule: string, level: "error"|"warning", text: string, hint: string}} Finding
 * @typedef {{id: string, stamp: string, start: number, end: number, text: string, kind: string, status: string,
 *   heard: boolean, reason: string, doubt: {value: number, reasons: string[]}|null, state: "machine"|"edited"|"accepted", by: string, slot: string|null, voice: string,
 *   room: [number, number]|null, apart: string, seconds: number|null, room_seconds: number|null,
 *   candidates: string[], chosen: number|null, fit_steps: string[], spoken: object|null, machine: object|null,
 *   hold: string[], findings: Finding[]}} Line
 * @typedef {{revision: number, said: string, lines: Line[], gone: string[], focus: string|null,
 *   progress: object, history: {undo: string|null, redo: string|null}, origin: string}} Changed
 */

import { ApiError, get, post, tab } from "./api.js";
import * as outbox from "./outbox.js";
import { alert, say } from "./say.js";

export const store = {
  /** @type {any} Answer of /api/film; its `lines` are in `lines` and `order` below. */
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
  /** @type {Map<string, any>} Jobs by id. */
  jobs: new Map(),
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
 * @param {string|null} [id] The chosen line unless told.
 * @returns {Line|null}
 */
export const line = (id = store.current) => (id === null ? null : (store.lines.get(id) ?? null));

/**
 * @param {string} id
 * @returns {number} Place of the line among all, from 1.
 */
export const number = (id) => store.order.indexOf(id) + 1;

/** @type {Map<string, number>} Revision at which we learned of each line: older news of it is no news. */
const known = new Map();
const before = (a, b) => a.start - b.start || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Puts `order` right. It stays the same array while the order is the same. */
function sort() {
  const all = store.order.map((id) => store.lines.get(id));
  const right = all.length === store.lines.size && all.every((one, i) => one && (i === 0 || before(all[i - 1], one) < 0));
  if (!right) store.order = [...store.lines.values()].sort(before).map((one) => one.id);
}

/**
 * Takes in the whole film.
 *
 * @param {any} film Answer of /api/film.
 */
export function load(film) {
  store.film = film;
  store.revision = film.revision;
  found = film.findings?.version ?? 0;
  store.lines = new Map(film.lines.map((one) => [one.id, one]));
  const jobs = [...begunAfter(film), ...(film.jobs ?? []).map(newer)];
  store.jobs = new Map(jobs.map((one) => [one.id, one]));
  known.clear();
  sort();
  if (!store.lines.has(store.current)) store.current = store.order[0] ?? null;
  emit("film", film);
  emit("current", store.current);
  for (const [error, entry] of early.splice(0)) failed(error, entry);
}

/** The newer view of a job: its end may have been told while the whole film was on its way here. */
function newer(job) {
  const known = store.jobs.get(job.id);
  return known?.version > job.version ? known : job;
}

/** Jobs that were begun after the server had written this answer: those with newer views than it can hold. */
const begunAfter = (film) => [...store.jobs.values()].filter((job) => job.version > (film.jobs_version ?? Infinity));

/** Fetches the film again, when it may have changed while nobody told us. */
export async function reload() {
  const film = await get("/api/film");
  // Findings that were told while it was on its way are newer than those in it.
  load((film.findings?.version ?? 0) < found ? await get("/api/film") : film);
}

/** Of the findings that we hold: how often the server had told news of them. */
let found = 0;

/** Whether we hold the findings of that version, which a connection begins with. */
export function findingsAreOf(version) {
  const are = version === found;
  found = version ?? 0;
  return are;
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
 * Takes in what changed.
 *
 * @param {Changed} changed
 */
export function apply(changed) {
  const news = (id) => (known.get(id) ?? -1) <= changed.revision;
  const lines = (changed.lines ?? []).filter((one) => news(one.id));
  const gone = (changed.gone ?? []).filter((id) => news(id) && store.lines.has(id));
  const place = store.order.indexOf(store.current);
  for (const one of lines) store.lines.set(one.id, one);
  for (const id of gone) store.lines.delete(id);
  for (const id of [...lines.map((one) => one.id), ...gone]) known.set(id, changed.revision);
  sort();
  if (changed.revision >= store.revision) {
    store.revision = changed.revision;
    if (changed.progress) store.film.progress = changed.progress;
    if (changed.history) store.film.history = changed.history;
  }
  if (!store.lines.has(store.current)) store.current = store.order[Math.min(place, store.order.length - 1)] ?? null;
  if (lines.length || gone.length) emit("lines", { changed: lines.map((one) => one.id), gone });
  if (gone.length) emit("current", store.current);
  emit("progress", store.film.progress);
  emit("history", store.film.history);
}

/**
 * Takes in findings that the server came to later.
 *
 * @param {{lines: Record<string, Finding[]>, summary: any}} news
 */
export function findings(news) {
  const changed = Object.keys(news.lines).filter((id) => store.lines.has(id));
  for (const id of changed) store.lines.set(id, { ...store.lines.get(id), findings: news.lines[id] });
  found = news.summary?.version ?? found;
  emit("findings", news);
  if (changed.length) emit("lines", { changed, gone: [] });
}

/**
 * Takes in how long lines take to say, now that the voice has spoken more of them.
 *
 * @param {{lines: Record<string, number>, unit_seconds: number}} news
 */
export function lengths(news) {
  const changed = Object.keys(news.lines).filter((id) => store.lines.has(id) && store.lines.get(id).seconds !== news.lines[id]);
  for (const id of changed) store.lines.set(id, { ...store.lines.get(id), seconds: news.lines[id] });
  if (store.film) store.film.unit_seconds = news.unit_seconds;
  if (changed.length) emit("lines", { changed, gone: [] });
}

/** @param {any} news A job, as it is now. */
export function job(news) {
  store.jobs.set(news.id, newer(news));
  emit("job", store.jobs.get(news.id));
}

/** Milliseconds until what could not be sent is sent again. */
const AGAIN = 2000;
/** @type {Map<object, {quiet: boolean, from: string|null, promise: Promise<any>, resolve: Function, reject: Function}>} */
const asked = new Map();
/** @type {Promise<void>|null} The outbox is on its way. */
let sending = null;
let again = 0;
/** @type {[ApiError, object][]} Refusals of acts that were sent before the film was here to show them. */
const early = [];

/**
 * Takes in an answer: says it, and goes where it leads.
 *
 * @param {Changed} changed
 * @param {boolean} quiet
 * @param {string|null} from Line that was chosen when the act was asked for.
 */
function answer(changed, quiet, from) {
  apply(changed);
  if (!quiet) say(changed.said);
  // Who has gone on meanwhile stays where he is.
  if (!quiet && changed.focus && store.lines.has(changed.focus) && store.current === from) select(changed.focus);
  return changed;
}

/**
 * Does one act: puts it into the outbox, and sends that.
 *
 * @param {string} name Name of the act, as the server knows it.
 * @param {object} args
 * @param {{line?: string|null, group?: string, seen?: string|null, quiet?: boolean}} [options] seen: stamp of the
 *   line that the person looked at, where it is not the one that the page holds now (text that was begun before
 *   somebody else changed the line). quiet: nothing is said, the chosen line stays; so it is with `write`.
 * @returns {Promise<Changed|undefined>} undefined where it waits: the server cannot be reached now. Throws ApiError
 *   where it was refused.
 */
export function perform(name, args, options = {}) {
  const id = options.line === undefined ? store.current : options.line;
  const quiet = options.quiet ?? name === "write";
  const seen = options.seen === undefined ? (store.lines.get(id)?.stamp ?? null) : options.seen;
  const entry = outbox.put({ act: name, line: id ?? "", seen, args, group: options.group ?? "" });
  if (!asked.has(entry)) {
    const one = { quiet, from: store.current };
    one.promise = new Promise((resolve, reject) => Object.assign(one, { resolve, reject }));
    asked.set(entry, one);
  }
  const { promise, resolve } = asked.get(entry);
  emit("outbox");
  // What cannot be sent now is sent together, later.
  if (store.undelivered) resolve(undefined);
  else flush();
  return promise;
}

/**
 * As `perform`; people are told why an act is refused.
 *
 * @param {string} name
 * @param {object} [args]
 * @param {{line?: string|null, group?: string, seen?: string|null, quiet?: boolean}} [options]
 * @returns {Promise<Changed|null|undefined>} null where it was refused, and `conflict` went out where somebody else
 *   changed the line.
 */
export const act = (name, args = {}, options = {}) => perform(name, args, options).catch(() => null);

/** Sends what is in the outbox. Ends when all of it is answered, or the server cannot be reached. */
export function flush() {
  if (!sending && outbox.waiting()) sending = deliver();
  return sending ?? Promise.resolve();
}

/** One batch goes after the other, so that none overtakes. */
async function deliver() {
  clearTimeout(again);
  try {
    let most = Infinity;
    for (let batch = outbox.next(most); batch.length; batch = outbox.next(most)) {
      const { answers, error } = await post("/api/acts", { tab, acts: batch }).catch((fault) => {
        // Something in it is no act, or far too long: alone it is refused, and the others are not.
        if (![400, 413].includes(fault.status)) throw fault;
        most = 1;
        return { answers: batch.length === 1 ? [{ refused: fault }] : [] };
      });
      for (const [i, one] of answers.entries()) settle(batch[i], one);
      if (error) throw new ApiError(500, error);
    }
    sending = null;
    undelivered(null);
  } catch (error) {
    sending = null;
    if (!(error instanceof ApiError)) throw error;
    undelivered(error);
  }
}

/** An act was answered. */
function settle(entry, { changed, refused, lines }) {
  const { quiet = true, from = null, resolve, reject } = asked.get(entry) ?? {};
  asked.delete(entry);
  if (changed) {
    outbox.done(entry);
    if (store.film) answer(changed, quiet, from);
    resolve?.(changed);
  } else {
    if (entry.act === "write") outbox.hold(entry);
    else outbox.done(entry);
    const error = new ApiError(lines ? 409 : 400, refused, lines ?? []);
    if (store.film) failed(error, entry);
    else early.push([error, entry]);
    reject?.(error);
  }
  emit("outbox");
}

/** The outbox could not be sent, or (null) it could. */
function undelivered(error) {
  const told = store.undelivered;
  store.undelivered = error;
  if (error) {
    again = setTimeout(flush, AGAIN);
    for (const one of asked.values()) one.resolve(undefined);
    if (error.status === 0) connection(false);
    else if (told?.message !== error.message) alert(error.message);
  } else if (told) connection(true);
  if (error || told) emit("undelivered", error);
}

/** Tells people why an act was refused; a conflict goes to its dialog, with both versions. */
function failed(error, { act: name, line: id, args }) {
  if (error.status === 409) {
    for (const one of error.lines) known.set(one.id, store.revision);
    for (const one of error.lines) store.lines.set(one.id, one);
    sort();
    emit("lines", { changed: error.lines.map((one) => one.id), gone: [] });
    const theirs = error.lines.find((one) => one.id === id) ?? line(id);
    emit("conflict", { act: name, id: id || null, line: theirs, mine: args, error });
  } else {
    alert(error.message);
    if (name === "write") emit("unsaved");
  }
}

/** @param {"undo"|"redo"} way */
async function step(way) {
  // What was asked for before may be the step to take back.
  if (!outbox.waiting() && !store.film?.history?.[way]) {
    say(`There is nothing to ${way}.`);
    return null;
  }
  return act(way, {}, { line: "", seen: null, quiet: false });
}

/** @returns {Promise<Changed|null|undefined>} */
export const undo = () => step("undo");
/** @returns {Promise<Changed|null|undefined>} */
export const redo = () => step("redo");

/** Waits until everything that was asked for is answered, or the server cannot be reached. */
export async function settled() {
  while (sending) await sending;
}

/**
 * @param {boolean} is Whether the server can be reached.
 */
export function connection(is) {
  if (is === store.connected) return;
  store.connected = is;
  emit("connection", is);
  if (is) flush();
}
