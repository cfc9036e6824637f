/** Commands that do one act on the chosen line. */

import { register } from "./commands.js";
import { waiting } from "./outbox.js";
import { say } from "./say.js";
import { act, emit, line, number, select, store } from "./store.js";

const CHOICES = 5;
const FAR = 0.1; // seconds
const ONE_GO = 1000; // ms: steps closer together than this are undone together

/**
 * @param {string} id
 * @param {1|-1} way
 * @returns {string|null} The next line on this side that the filter shows.
 */
export function lineBeside(id, way) {
  const ids = store.shown.length ? store.shown : store.order;
  const at = ids.indexOf(id);
  return at < 0 ? null : (ids[at + way] ?? null);
}

/** The next line of those shown, after this one, that waits for somebody: empty, or not accepted. */
function nextOfWork(id) {
  const later = store.shown.slice(store.shown.indexOf(id) + 1).map((each) => line(each));
  const next = later.find((entry) => (entry.heard ? entry.state !== "accepted" : !entry.text));
  return next?.id ?? lineBeside(id, 1);
}

/** Accepts and goes on at once; comes back if it could not be done. An empty slot is only left behind. */
async function accept() {
  const id = store.current;
  if (id === null) return;
  const next = nextOfWork(id);
  const place = number(id);
  const field = document.getElementById("line-text");
  if (!line(id).text && !field?.value.trim()) {
    say(next ? "Nothing is written there." : "Nothing is written there, and this was the last line.");
    if (next) select(next);
    if (next) emit("arrived", next);
    return;
  }
  const doing = act("accept", {}, { line: id, quiet: true });
  if (next) select(next);
  const done = await doing;
  if (done === null && store.current === next) select(id);
  if (done) say(`Line ${place}: ${done.said}${next ? "" : " That was the last line."}`);
  if (done && next && store.current === next) emit("arrived", next);
}

async function drop() {
  const one = line();
  if (one) await act(one.heard ? "drop" : "restore", {}, { line: one.id });
}

/** Joins with the next line, unless it is known why they stay apart; what still waits may change that. */
async function join() {
  const one = line();
  if (one?.apart && !waiting()) return say(one.apart);
  return act("join");
}

/** @param {number} choice From 1. */
async function choose(choice) {
  const one = line();
  if (!one) return;
  const many = one.candidates.length;
  if (choice <= many) await act("choose", { number: choice });
  else say(many ? `Line ${number(one.id)} has ${many} candidate${many === 1 ? "" : "s"}.` : "This line has no candidates to choose from.");
}

let last = { name: "", at: 0, group: "" };

/** The name under which steps of one go are undone together. */
function group(name) {
  const now = performance.now();
  const same = last.name === name && now - last.at < ONE_GO;
  last = { name, at: now, group: same ? last.group : `${name}-${Math.round(now)}` };
  return last.group;
}

/**
 * @param {"start"|"end"|"both"} what
 * @param {1|-1} way
 * @param {boolean} far
 */
async function nudge(what, way, far) {
  const one = line();
  if (!one) return;
  const by = way * (far ? FAR : 1 / (store.film?.frame_rate ?? store.film?.film?.frame_rate ?? 25));
  const args = what === "both" ? { by } : { [`${what}_by`]: by };
  const name = what === "both" ? "shift" : "move";
  const done = await act(name, args, { line: one.id, group: group(`${name}-${what}-${one.id}`), quiet: true });
  if (done) say(done.said, "time");
}

/** Commands that move times: name, title, keys, what, which way. */
const MOVES = [
  ["start-earlier", "Start earlier", "[", "start", -1],
  ["start-later", "Start later", "]", "start", 1],
  ["end-earlier", "End earlier", "{", "end", -1],
  ["end-later", "End later", "}", "end", 1],
  ["line-earlier", "Whole line earlier", ",", "both", -1],
  ["line-later", "Whole line later", ".", "both", 1],
];

/** Registers them. */
export function start() {
  const edit = "Choose and edit";
  for (let i = 1; i <= CHOICES; i += 1)
    register({ name: `choose-${i}`, title: `Choose candidate ${i}`, group: edit, keys: { list: [String(i)], edit: [`Alt+${i}`] }, run: () => choose(i) });
  register({ name: "drop", title: "Leave the line out, or take it back in", group: edit, keys: ["d"], run: drop });
  register({ name: "join", title: "Join with the next line", group: edit, keys: ["m"], run: join });
  register({ name: "machine", title: "Give the line back to the machine", group: edit, run: () => act("machine") });
  register({ name: "remove", title: "Remove the line", group: edit, run: () => act("remove") });
  const keys = { list: ["a"], edit: ["Ctrl+Enter", "Alt+Enter", "Ctrl+Shift+Enter"] };
  register({ name: "accept", title: "Done: accept the line, and go on to the next", group: "Accept", keys, run: accept });
  register({ name: "unaccept", title: "Take the acceptance back", group: "Accept", keys: ["u"], run: () => act("unaccept") });
  for (const [name, title, key, what, way] of MOVES) {
    const one = (far) => ({ group: "Time", repeats: true, run: () => nudge(what, way, far) });
    register({ name, title: `${title} by one frame`, keys: [key], ...one(false) });
    register({ name: `${name}-far`, title: `${title} by 0.1 s`, keys: [`Alt+${key}`], ...one(true) });
  }
}
