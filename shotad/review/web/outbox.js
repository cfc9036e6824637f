/**
 * What a person did and the server has not answered yet, in order; kept in the tab's session storage, so that it
 * outlives a server that is gone and a page that is loaded again. The tab that asked and a number name each act: the
 * server does it once, however often it is sent.
 *
 * @typedef {{tab: string, number: number, act: string, line: string, seen: string|null, args: object, group: string,
 *   sent?: boolean, held?: boolean}} Entry  sent: the server may have done it. held: a text that was refused; it is
 *   not sent again, but kept until a person has decided.
 */

import { tab } from "./api.js";

const KEY = "shotad-outbox";
const MOST = 200; // acts sent at once
const ROOM = 200_000; // characters sent at once: the server reads no more than a million bytes

/** @type {Entry[]} */
let entries = read();
let numbers = 0;

/** @returns {Entry[]} */
function read() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY));
    return Array.isArray(kept) ? kept : [];
  } catch {
    return []; // storage that is forbidden, or that somebody else wrote
  }
}

function keep() {
  try {
    if (entries.length) sessionStorage.setItem(KEY, JSON.stringify(entries));
    else sessionStorage.removeItem(KEY);
  } catch {
    // Storage that is full or forbidden: they live as long as the page.
  }
}

/** Whether anything would be lost if the tab were closed. */
export const some = () => entries.length > 0;

/** How many acts wait to be answered. */
export const waiting = () => entries.filter((one) => !one.held).length;

/**
 * Puts an act behind all others. A text takes the place of the one before it of the same line and `group` if that was
 * not sent yet, and of those of the line that were refused.
 *
 * @param {{act: string, line: string, seen: string|null, args: object, group: string}} act
 * @returns {Entry}
 */
export function put(act) {
  if (act.act === "write") entries = entries.filter((one) => !(one.held && one.line === act.line));
  const last = entries.findLast((one) => one.line === act.line);
  if (act.act === "write" && last?.act === "write" && last.group === act.group && !last.sent) {
    last.args = act.args;
    keep();
    return last;
  }
  const entry = { tab, number: (numbers += 1), ...act };
  entries.push(entry);
  keep();
  return entry;
}

/**
 * The acts to send now, as many as one request takes; from now on they count as sent.
 *
 * @param {number} most
 * @returns {Entry[]}
 */
export function next(most) {
  const batch = [];
  let room = ROOM;
  for (const one of entries.filter((each) => !each.held).slice(0, Math.min(most, MOST))) {
    room -= JSON.stringify(one).length;
    if (batch.length && room < 0) break;
    one.sent = true;
    batch.push(one);
  }
  keep();
  return batch;
}

/** @param {Entry} entry An act that was answered. */
export function done(entry) {
  entries = entries.filter((one) => one !== entry);
  keep();
}

/** @param {Entry} entry A text that was refused. */
export function hold(entry) {
  entry.held = true;
  keep();
}

/**
 * The texts that are not saved yet.
 *
 * @returns {Map<string, {text: string, seen: string|null, held: boolean}>} The newest of each line; seen: stamp of the
 *   line over which it was typed.
 */
export function texts() {
  const writes = entries.filter((one) => one.act === "write");
  return new Map(writes.map((one) => [one.line, { text: one.args.text, seen: one.seen, held: Boolean(one.held) }]));
}

/** @param {string} line Whose texts are not wanted any more. */
export function forget(line) {
  entries = entries.filter((one) => !(one.act === "write" && one.line === line));
  keep();
}
