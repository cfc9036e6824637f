/** Somebody else changed a line meanwhile: both versions are shown, a person decides, nothing is lost. */

import { make } from "./build.js";
import { makeDialog } from "./dialogs.js";
import * as outbox from "./outbox.js";
import { say } from "./say.js";
import { act, emit, lineById, lineNumber, store, subscribe } from "./store.js";

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

/** What was wanted of the line, by act. */
const WISHES = {
  accept: "accept it",
  unaccept: "take the acceptance back",
  drop: "drop it",
  restore: "take it back in",
  choose: "choose another candidate",
  split: "split it",
  join: "join it with the next",
  move: "move it",
  shift: "move it",
  machine: "give it back to the machine",
  remove: "remove it",
  undo: "undo a step",
  redo: "do a step again",
};

/** A version of the text, under its title. */
function version(title, text, id) {
  const lang = text ? (store.film?.language ?? "") : "en";
  const words = make("p", { tabIndex: 0, role: "group", "aria-labelledby": id, lang }, text || "(no text)");
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

async function copyText(text) {
  await navigator.clipboard.writeText(text);
  say("Your text is copied.");
}

/** @param {Conflict} conflict Of two texts. */
function showTexts({ id, line: theirs, mine }) {
  const keepTheirs = () => {
    outbox.forget(id);
    emit("lines", { changed: [id], gone: [] });
    settle("Their text is kept.");
  };
  const takeMine = async () => {
    const line = lineById(id);
    if (!line) return;
    settle("Your text is taken.");
    await act("write", { text: mine.text }, { line: id, seen: line.stamp, quiet: true });
  };
  const text = theirs
    ? `Line ${lineNumber(id)} was changed by somebody else, or in another tab, while you typed.`
    : "The line was taken away while you typed.";
  const versions = [version("Their text", theirs?.text ?? "", "theirs"), version("Your text", mine.text, "mine")];
  const buttons = [
    makeButton("Keep theirs", keepTheirs),
    theirs ? makeButton("Take mine", takeMine, "primary") : null,
    makeButton("Copy mine", () => copyText(mine.text)),
  ];
  body.replaceChildren(
    make("p", {}, text),
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
    makeButton("Leave it as it is now", () => settle("Left as it is."), "primary"),
    canDo ? makeButton("Do it nevertheless", doNevertheless) : null,
  ];
  body.replaceChildren(
    make("p", {}, error?.message ?? "The line was changed meanwhile."),
    make("p", {}, `Nothing was done: you wanted to ${WISHES[name] ?? name}.`),
    theirs ? version("The line now", theirs.text, "theirs") : "",
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
  dialog = makeDialog("conflict", "The line was changed meanwhile", body);
  // Escape leaves both: theirs on the line, mine among what is not saved yet.
  dialog.addEventListener("cancel", () => {
    const conflict = conflicts.shift();
    if (conflict?.act === "write") emit("unsaved");
  });
  subscribe("conflict", add);
}
