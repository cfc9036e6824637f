/**
 * What the page knows: the film, its lines, the chosen line; and the acts on them.
 *
 * Topics: `film` (all anew), `lines` {changed, gone}, `current` id, `focus` id (the list takes the focus),
 * `findings`, `job`, `jobs`, `playable`, `voice`, `player`, `busy`, `history`, `progress`, `reviewer`,
 * `conflict` {act, line: theirs, mine: args}, `connection` boolean, `unsaved`, `settings`, `shown`.
 *
 * @typedef {{rule: string, level: "error"|"warning", text: string, hint: string}} Finding
 * @typedef {{id: string, stamp: string, start: number, end: number, text: string, kind: string, status: string,
 *   heard: boolean, reason: string, state: "machine"|"edited"|"accepted", by: string, slot: string|null,
 *   room: [number, number]|null, words: number, allowed: number|null, seconds: number, room_seconds: number,
 *   candidates: string[], chosen: number|null, fit_steps: string[], spoken: object|null, machine: object|null,
 *   hold: string[], findings: Finding[]}} Line
 * @typedef {{revision: number, said: string, lines: Line[], gone: string[], focus: string|null,
 *   progress: object, history: {undo: string|null, redo: string|null}, origin: string}} Changed
 */

import { ApiError, get, post, tab } from "./api.js";
import { alert, say } from "./say.js";
import * as unsaved from "./unsaved.js";

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
/** @type {Map<string, string>} Stamp before → stamp after, of our own acts. */
const grown = new Map();
const GROWN = 2000;

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

/** @param {any} news A job, as it is now. */
export function job(news) {
  store.jobs.set(news.id, newer(news));
  emit("job", store.jobs.get(news.id));
}

/**
 * What a stamp became by our own acts alone: what others changed is not followed. Undo leads back to stamps that
 * were there before, so the way ends where the line is now.
 */
function follow(stamp, now) {
  const seen = new Set();
  while (stamp !== now && grown.has(stamp) && !seen.has(stamp)) {
    seen.add(stamp);
    stamp = grown.get(stamp);
  }
  return stamp;
}

/** Remembers that our act made one stamp of another. */
function grew(stamp, changed, id) {
  const now = changed.lines?.find((one) => one.id === id)?.stamp;
  if (stamp && now && now !== stamp) grown.set(stamp, now);
  if (grown.size > GROWN) grown.delete(grown.keys().next().value);
}

let busy = 0;
/** @type {Promise<any>} Requests that change something go one after the other, so that none overtakes. */
let tail = Promise.resolve();

/**
 * @param {() => Promise<any>} work
 * @returns {Promise<any>}
 */
function inTurn(work) {
  emit("busy", (busy += 1) > 0);
  const turn = tail.then(work).finally(() => emit("busy", (busy -= 1) > 0));
  tail = turn.catch(() => {});
  return turn;
}

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
 * Does one act on a line, and saves it.
 *
 * @param {string} name Name of the act, as the server knows it.
 * @param {object | ((now: Line) => object)} [args] A function is asked when its turn has come, with the line as it is then.
 * @param {{line?: string|null, group?: string, seen?: string|null, quiet?: boolean}} [options] seen: stamp of the
 *   line that the person looked at, where it is not the one that the page holds now (text that was begun before
 *   somebody else changed the line). quiet: nothing is said, the chosen line stays; so it is with `write`.
 * @returns {Promise<Changed|null>} null where it failed; people have been told, and `conflict` went out on a 409.
 */
export function act(name, args = {}, options = {}) {
  const id = options.line === undefined ? store.current : options.line;
  const quiet = options.quiet ?? name === "write";
  const seen = options.seen === undefined ? (store.lines.get(id)?.stamp ?? null) : options.seen;
  const from = store.current;
  if (name === "write") unsaved.keep(id, args.text, seen);
  return inTurn(async () => {
    const stamp = seen === null ? null : follow(seen, store.lines.get(id)?.stamp);
    try {
      const given = typeof args === "function" ? args(store.lines.get(id)) : args;
      const body = { act: name, line: id ?? "", seen: stamp, args: given, group: options.group ?? "", tab };
      const changed = await post("/api/act", body);
      grew(stamp, changed, id);
      if (name === "write") unsaved.saved(id, args.text);
      return answer(changed, quiet, from);
    } catch (error) {
      failed(error, name, id, args);
      return null;
    }
  });
}

/** Tells people why an act failed; a conflict goes to its dialog, with both versions. */
function failed(error, name, id, args) {
  if (!(error instanceof ApiError)) throw error;
  if (error.status === 409) {
    for (const one of error.lines) known.set(one.id, store.revision);
    for (const one of error.lines) store.lines.set(one.id, one);
    sort();
    emit("lines", { changed: error.lines.map((one) => one.id), gone: [] });
    const theirs = error.lines.find((one) => one.id === id) ?? line(id);
    emit("conflict", { act: name, id, line: theirs, mine: args, error });
  } else {
    alert(error.message);
    if (error.status === 0) connection(false);
    if (name === "write") emit("unsaved", unsaved.all());
  }
}

/** @param {"undo"|"redo"} way */
function step(way) {
  const from = store.current;
  return inTurn(async () => {
    // Asked when its turn has come: what was asked for before may be the step to take back.
    if (!store.film?.history?.[way]) {
      say(`There is nothing to ${way}.`);
      return null;
    }
    const were = new Map(store.lines); // the news of it may come before the answer, and change them
    try {
      const changed = await post(`/api/${way}`, { tab });
      for (const one of changed.lines ?? []) grew(were.get(one.id)?.stamp, changed, one.id);
      return answer(changed, false, from);
    } catch (error) {
      failed(error, way, null, {});
      return null;
    }
  });
}

/** @returns {Promise<Changed|null>} */
export const undo = () => step("undo");
/** @returns {Promise<Changed|null>} */
export const redo = () => step("redo");

/** Waits until everything that was asked for is answered. */
export const settled = () => tail;

/**
 * @param {boolean} is Whether the server can be reached.
 */
export function connection(is) {
  if (is === store.connected) return;
  store.connected = is;
  emit("connection", is);
}
