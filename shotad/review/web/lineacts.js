/** Commands that do one act on the chosen line. */

import { register } from "./commands.js";
import { waitingCount } from "./outbox.js";
import { say } from "./say.js";
import { act, chosenLine, emit, isEmpty, lineById, lineNumber, select, store, writeIn } from "./store.js";
import { pluralize } from "./wording.js";

/** Candidates that have a key. */
const CHOICES = 5;
/** Seconds of a large step. */
const LARGE_STEP = 0.1;
/** Milliseconds: steps closer together than this are undone together. */
const GROUP_GAP = 1000;

/**
 * @param {string} id
 * @param {1|-1} direction
 * @returns {string|null} The next line on this side that the filter shows.
 */
export function lineBeside(id, direction) {
  const ids = store.shown.length ? store.shown : store.order;
  const index = ids.indexOf(id);
  return index < 0 ? null : (ids[index + direction] ?? null);
}

/** The next line of those shown, after this one, that waits for somebody: empty, or not accepted; else the next. */
function nextOfWork(id) {
  const later = store.shown.slice(store.shown.indexOf(id) + 1).map(lineById);
  const next = later.find((line) => (line.heard ? line.state !== "accepted" : !line.text));
  return next?.id ?? lineBeside(id, 1);
}

/** Goes on to a line: an empty slot is to be written, of any other the focus stays where it is in its row. */
function goOn(id) {
  if (isEmpty(lineById(id))) writeIn(id);
  else select(id);
}

/** Accepts and goes on at once; comes back if it could not be done. An empty slot is only left behind. */
async function accept() {
  const id = store.current;
  if (id === null) return;
  const next = nextOfWork(id);
  const number = lineNumber(id);
  const field = document.getElementById("line-text");
  if (!lineById(id).text && !field?.value.trim()) {
    say(next ? "Nothing is written there." : "Nothing is written there, and this was the last line.");
    if (next) goOn(next);
    if (next) emit("arrived", next);
    return;
  }
  const acceptance = act("accept", {}, { line: id, quiet: true });
  if (next) goOn(next);
  const changed = await acceptance;
  if (changed === null && store.current === next) select(id);
  if (!changed) return;
  say(`Line ${number}: ${changed.said}${next ? "" : " That was the last line."}`);
  if (next && store.current === next) emit("arrived", next);
}

async function drop() {
  const line = chosenLine();
  if (line) await act(line.heard ? "drop" : "restore", {}, { line: line.id });
}

/** Joins with the next line, unless it is known why they stay apart; what still waits may change that. */
async function join() {
  const line = chosenLine();
  if (line?.apart && !waitingCount()) return say(line.apart);
  return act("join");
}

/** @param {number} number Of a candidate, from 1. */
async function choose(number) {
  const line = chosenLine();
  if (!line) return;
  const total = line.candidates.length;
  if (number <= total) await act("choose", { number });
  else if (total) say(`Line ${lineNumber(line.id)} has ${pluralize(total, "candidate")}.`);
  else say("This line has no candidates to choose from.");
}

let lastStep = { name: "", time: 0, group: "" };

/** The group of a step: steps of the same name in quick succession are undone together. */
function groupOf(name) {
  const time = performance.now();
  const isSame = lastStep.name === name && time - lastStep.time < GROUP_GAP;
  lastStep = { name, time, group: isSame ? lastStep.group : `${name}-${Math.round(time)}` };
  return lastStep.group;
}

/**
 * Moves an end of the chosen line, or all of it.
 *
 * @param {"start"|"end"|"both"} part
 * @param {1|-1} direction
 * @param {boolean} isLarge  By 0.1 s instead of a frame.
 */
async function nudge(part, direction, isLarge) {
  const line = chosenLine();
  if (!line) return;
  const seconds = direction * (isLarge ? LARGE_STEP : 1 / (store.film?.film.frame_rate || 25));
  const [name, args] = part === "both" ? ["shift", { by: seconds }] : ["move", { [`${part}_by`]: seconds }];
  const group = groupOf(`${name}-${part}-${line.id}`);
  const changed = await act(name, args, { line: line.id, group, quiet: true });
  if (changed) say(changed.said, "time");
}

/** Commands that move times: name, title, key, part of the line, direction. */
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
  const editing = { group: "Choose and edit" };
  for (let i = 1; i <= CHOICES; i += 1) {
    const keys = { list: [String(i)], any: [`Alt+${i}`] };
    register({ name: `choose-${i}`, title: `Choose candidate ${i}`, ...editing, keys, run: () => choose(i) });
  }
  register({ name: "drop", title: "Leave the line out, or take it back in", ...editing, keys: ["d"], run: drop });
  register({ name: "join", title: "Join with the next line", ...editing, keys: ["m"], run: join });
  register({ name: "machine", title: "Give the line back to the machine", ...editing, run: () => act("machine") });
  register({ name: "remove", title: "Remove the line", ...editing, run: () => act("remove") });
  const acceptKeys = { list: ["a"], edit: ["Ctrl+Enter", "Ctrl+Shift+Enter"], any: ["Alt+Enter"] };
  const acceptTitle = "Done: accept the line, and go on to the next";
  register({ name: "accept", title: acceptTitle, group: "Accept", keys: acceptKeys, run: accept });
  const unaccept = () => act("unaccept");
  register({ name: "unaccept", title: "Take the acceptance back", group: "Accept", keys: ["u"], run: unaccept });
  for (const [name, title, key, part, direction] of MOVES) {
    const moving = { group: "Time", repeats: true };
    const byFrame = () => nudge(part, direction, false);
    const byLargeStep = () => nudge(part, direction, true);
    register({ name, title: `${title} by one frame`, keys: [key], ...moving, run: byFrame });
    register({ name: `${name}-far`, title: `${title} by 0.1 s`, keys: [`Alt+${key}`], ...moving, run: byLargeStep });
  }
}
