/** Commands that do one act on the chosen line. */

import { register } from "./commands.js";
import { waitingCount } from "./outbox.js";
import { say } from "./say.js";
import { faultText, sentence } from "./sentences.js";
import { act, chosenLine, emit, isEmpty, lineById, lineNumber, select, store, writeIn } from "./store.js";
import { text } from "./texts.js";

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
    say(next ? text("accept.empty") : text("accept.empty_last"));
    if (next) goOn(next);
    if (next) emit("arrived", next);
    return;
  }
  const acceptance = act("accept", {}, { line: id, quiet: true });
  if (next) goOn(next);
  const changed = await acceptance;
  if (changed === null && store.current === next) select(id);
  if (!changed) return;
  const done = text("accept.line", { number, done: sentence(changed.said) });
  say(next ? done : `${done} ${text("accept.last")}`);
  if (next && store.current === next) emit("arrived", next);
}

async function drop() {
  const line = chosenLine();
  if (line) await act(line.heard ? "drop" : "restore", {}, { line: line.id });
}

/** Joins with the next line, unless it is known why they stay apart; what still waits may change that. */
async function join() {
  const line = chosenLine();
  if (line?.apart && !waitingCount()) return say(faultText(line.apart));
  return act("join");
}

/** @param {number} number Of a candidate, from 1. */
async function choose(number) {
  const line = chosenLine();
  if (!line) return;
  const total = line.candidates.length;
  if (number <= total) await act("choose", { number });
  else if (total) say(text("choose.only", { number: lineNumber(line.id), count: total }));
  else say(text("choose.none"));
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
  if (changed) say(sentence(changed.said), "time");
}

/** Commands that move times: name, key, part of the line, direction, title by a frame, and by a large step. */
const MOVES = [
  ["start-earlier", "[", "start", -1, text("command.start_earlier"), text("command.start_earlier_far")],
  ["start-later", "]", "start", 1, text("command.start_later"), text("command.start_later_far")],
  ["end-earlier", "{", "end", -1, text("command.end_earlier"), text("command.end_earlier_far")],
  ["end-later", "}", "end", 1, text("command.end_later"), text("command.end_later_far")],
  ["line-earlier", ",", "both", -1, text("command.line_earlier"), text("command.line_earlier_far")],
  ["line-later", ".", "both", 1, text("command.line_later"), text("command.line_later_far")],
];

/** Registers them. */
export function start() {
  const editing = { group: "edit" };
  for (let i = 1; i <= CHOICES; i += 1) {
    const keys = { list: [String(i)], any: [`Alt+${i}`] };
    register({
      name: `choose-${i}`,
      title: text("command.choose", { number: i }),
      ...editing,
      keys,
      run: () => choose(i),
    });
  }
  register({ name: "drop", title: text("command.drop"), ...editing, keys: ["d"], run: drop });
  register({ name: "join", title: text("command.join"), ...editing, keys: ["m"], run: join });
  register({ name: "machine", title: text("command.machine"), ...editing, run: () => act("machine") });
  register({ name: "remove", title: text("command.remove"), ...editing, run: () => act("remove") });
  const acceptKeys = { list: ["a"], edit: ["Ctrl+Enter", "Ctrl+Shift+Enter"], any: ["Alt+Enter"] };
  const acceptTitle = text("command.accept");
  register({ name: "accept", title: acceptTitle, group: "accept", keys: acceptKeys, run: accept });
  const unaccept = () => act("unaccept");
  register({ name: "unaccept", title: text("command.unaccept"), group: "accept", keys: ["u"], run: unaccept });
  for (const [name, key, part, direction, title, farTitle] of MOVES) {
    const moving = { group: "time", repeats: true };
    const byFrame = () => nudge(part, direction, false);
    const byLargeStep = () => nudge(part, direction, true);
    register({ name, title, keys: [key], ...moving, run: byFrame });
    register({ name: `${name}-far`, title: farTitle, keys: [`Alt+${key}`], ...moving, run: byLargeStep });
  }
}
