/** Somebody else changed a line meanwhile: both versions are shown, a person decides, nothing is lost. */

import { make } from "./build.js";
import { makeDialog } from "./dialogs.js";
import * as outbox from "./outbox.js";
import { say } from "./say.js";
import { act, emit, lineById, lineNumber, store, subscribe } from "./store.js";
import { language, text } from "./texts.js";

/**
 * @typedef {{act: string, id: string|null, line: import("./store.js").Line|null, mine: any,
 *   error?: import("./api.js").ApiError}} Conflict  line: as it is now. mine: arguments of the act.
 */

/** @type {Conflict[]} */
const conflicts = [];
/** @type {ReturnType<typeof makeDialog>} */
let dialog;
/** @type {HTMLElement} */
let body;

/** Says that nothing was done, and what was wanted of the line, by act. */
const WISHES = {
  accept: text("conflict.wish.accept"),
  unaccept: text("conflict.wish.unaccept"),
  drop: text("conflict.wish.drop"),
  restore: text("conflict.wish.restore"),
  choose: text("conflict.wish.choose"),
  split: text("conflict.wish.split"),
  join: text("conflict.wish.join"),
  move: text("conflict.wish.move"),
  shift: text("conflict.wish.move"),
  machine: text("conflict.wish.machine"),
  remove: text("conflict.wish.remove"),
  undo: text("conflict.wish.undo"),
  redo: text("conflict.wish.redo"),
};

/** A version of the text, under its title. */
function version(title, written, id) {
  const lang = written ? (store.film?.language ?? "") : language;
  const content = written || text("conflict.no_text");
  const words = make("p", { tabIndex: 0, role: "group", "aria-labelledby": id, lang }, content);
  return make("div", { className: "version" }, make("h3", { id }, title), words);
}

function makeButton(label, onClick, className = "") {
  const button = make("button", { type: "button", className }, label);
  button.addEventListener("click", onClick);
  return button;
}

/** Ends the conflict that is shown, and shows the next. */
function settle(message) {
  const settled = conflicts.shift();
  dialog.close();
  say(message);
  if (settled?.id) emit("conflict-settled", settled);
  if (conflicts.length) show();
}

async function copyText(written) {
  await navigator.clipboard.writeText(written);
  say(text("conflict.copied"));
}

/** @param {Conflict} conflict Of two texts. */
function showTexts({ id, line: theirs, mine }) {
  const keepTheirs = () => {
    outbox.forget(id);
    emit("lines", { changed: [id], gone: [] });
    settle(text("conflict.kept_theirs"));
  };
  const takeMine = async () => {
    const line = lineById(id);
    if (!line) return;
    settle(text("conflict.took_mine"));
    await act("write", { text: mine.text }, { line: id, seen: line.stamp, quiet: true });
  };
  const words = theirs
    ? text("conflict.changed", { number: lineNumber(id) })
    : text("conflict.removed");
  const versions = [
    version(text("conflict.theirs"), theirs?.text ?? "", "theirs"),
    version(text("conflict.mine"), mine.text, "mine"),
  ];
  const buttons = [
    makeButton(text("conflict.keep_theirs"), keepTheirs),
    theirs ? makeButton(text("conflict.take_mine"), takeMine, "primary") : null,
    makeButton(text("conflict.copy_mine"), () => copyText(mine.text)),
  ];
  body.replaceChildren(
    make("p", {}, words),
    make("div", { className: "versions" }, ...versions),
    make("div", { className: "buttons" }, ...buttons),
  );
}

/** @param {Conflict} conflict Of something else that was wanted of a line which is another one now. */
function showWish({ id, line: theirs, mine, act: name, error }) {
  const doNevertheless = async () => {
    const line = lineById(id);
    settle("");
    if (line) await act(name, mine, { line: id, seen: line.stamp });
  };
  const canDo = theirs && id && !["undo", "redo"].includes(name);
  const buttons = [
    makeButton(text("conflict.leave"), () => settle(text("conflict.left")), "primary"),
    canDo ? makeButton(text("conflict.nevertheless"), doNevertheless) : null,
  ];
  body.replaceChildren(
    make("p", {}, error?.message ?? text("conflict.changed_meanwhile")),
    make("p", {}, WISHES[name] ?? text("conflict.wish.other")),
    theirs ? version(text("conflict.now"), theirs.text, "theirs") : "",
    make("div", { className: "buttons" }, ...buttons),
  );
}

/** Shows the first conflict. */
function show() {
  const [conflict] = conflicts;
  if (conflict.act === "write") showTexts(conflict);
  else showWish(conflict);
  if (!dialog.open) dialog.showModal();
  // On what is to be read, not on a button: a key that was meant for the text decides nothing.
  body.querySelector(".version p, button")?.focus();
}

/** @param {Conflict} conflict */
function add(conflict) {
  const same = conflicts.find((other) => other.id === conflict.id && other.act === conflict.act);
  if (same) Object.assign(same, conflict);
  else conflicts.push(conflict);
  const isShown = conflicts[0] === same;
  if (isShown || !dialog.open) show();
}

/** Starts listening for conflicts. */
export function start() {
  body = make("div", {});
  dialog = makeDialog("conflict", text("conflict.heading"), body);
  // Escape leaves both: theirs on the line, mine among what is not saved yet.
  dialog.addEventListener("cancel", () => {
    const conflict = conflicts.shift();
    if (conflict?.act === "write") emit("unsaved");
  });
  subscribe("conflict", add);
}
