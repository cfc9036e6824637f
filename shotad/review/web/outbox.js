/**
 * What a person did and the server has not answered yet, in order; kept in the tab's session storage, so that it
 * outlives a server that is gone and a page that is loaded again. The tab that asked and a number name each act: the
 * server does it once, however often it is sent.
 *
 * @typedef {{tab: string, number: number, act: string, line: string, seen: string|null, args: object, group: string,
 *   sent?: boolean, held?: boolean}} Entry  An act, as the server takes it. line: id, or "". seen: stamp of the line
 *   that the person saw. sent: the server may have done it. held: a text that was refused; it is not sent again, but
 *   kept until a person has decided.
 */

import { base, tab } from "./api.js";

/** One for each film: a tab that goes from one film to another must not send the acts of the first to the second. */
const STORAGE_KEY = `shotad-outbox${base.slice(0, -1)}`;
const BATCH_ACTS = 200; // acts sent at once
const BATCH_CHARACTERS = 200_000; // sent at once: the server reads no more than a million bytes

/** @type {Entry[]} */
let entries = read();
let lastNumber = 0;

/** @returns {Entry[]} */
function read() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORAGE_KEY));
    return Array.isArray(stored) ? stored : [];
  } catch {
    return []; // storage that is forbidden, or that somebody else wrote
  }
}

function write() {
  try {
    if (entries.length) sessionStorage.setItem(STORAGE_KEY, JSON.stringify(entries));
    else sessionStorage.removeItem(STORAGE_KEY);
  } catch {
    // Storage that is full or forbidden: they live as long as the page.
  }
}

/** Whether anything would be lost if the tab were closed. */
export const hasEntries = () => entries.length > 0;

/** How many acts wait to be answered. */
export const waitingCount = () => entries.filter((entry) => !entry.held).length;

/**
 * Puts an act behind all others. A text takes the place of the one before it of the same line and `group` if that was
 * not sent yet, and of those of the line that were refused.
 *
 * @param {{act: string, line: string, seen: string|null, args: object, group: string}} act
 * @returns {Entry}
 */
export function put(act) {
  const isText = act.act === "write";
  if (isText) entries = entries.filter((entry) => !(entry.held && entry.line === act.line));
  const last = entries.findLast((entry) => entry.line === act.line);
  if (isText && last?.act === "write" && last.group === act.group && !last.sent) {
    last.args = act.args;
    write();
    return last;
  }
  lastNumber += 1;
  const entry = { tab, number: lastNumber, ...act };
  entries.push(entry);
  write();
  return entry;
}

/**
 * The acts to send now, as many as one request takes; from now on they count as sent.
 *
 * @param {number} limit How many at most.
 * @returns {Entry[]}
 */
export function nextBatch(limit) {
  const batch = [];
  let charactersLeft = BATCH_CHARACTERS;
  const waiting = entries.filter((entry) => !entry.held);
  for (const entry of waiting.slice(0, Math.min(limit, BATCH_ACTS))) {
    charactersLeft -= JSON.stringify(entry).length;
    if (batch.length && charactersLeft < 0) break;
    entry.sent = true;
    batch.push(entry);
  }
  write();
  return batch;
}

/** @param {Entry} answered */
export function remove(answered) {
  entries = entries.filter((entry) => entry !== answered);
  write();
}

/** @param {Entry} entry A text that was refused. */
export function hold(entry) {
  entry.held = true;
  write();
}

/**
 * The texts that are not saved yet.
 *
 * @returns {Map<string, {text: string, seen: string|null, held: boolean}>} The newest of each line; seen: stamp of the
 *   line over which it was typed.
 */
export function texts() {
  const newest = new Map();
  for (const entry of entries)
    if (entry.act === "write") newest.set(entry.line, { text: entry.args.text, seen: entry.seen, held: Boolean(entry.held) });
  return newest;
}

/** @param {string} id Line whose texts are not wanted any more. */
export function forget(id) {
  entries = entries.filter((entry) => !(entry.act === "write" && entry.line === id));
  write();
}
