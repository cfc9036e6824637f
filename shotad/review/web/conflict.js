/** Somebody else changed a line meanwhile: both versions are shown, a person decides, nothing is lost. */

import { dialog, make } from "./build.js";
import * as outbox from "./outbox.js";
import { say } from "./say.js";
import { act, emit, line, number, store, subscribe } from "./store.js";

/** @type {{act: string, id: string|null, line: any, mine: any}[]} */
const waiting = [];
/** @type {HTMLDialogElement} */
let made;
let body;

/** What was wanted, where it was no text. */
const WISHES = { accept: "accept it", unaccept: "take the acceptance back", drop: "drop it", restore: "take it back in", choose: "choose another candidate", split: "split it", join: "join it with the next", move: "move it", shift: "move it", machine: "give it back to the machine", remove: "remove it", undo: "undo a step", redo: "do a step again" };

/** @param {string} title */
function version(title, text, id) {
  return make("div", { className: "version" }, make("h3", { id }, title), make("p", { tabIndex: 0, role: "group", "aria-labelledby": id, lang: text ? (store.film?.language ?? "") : "en" }, text || "(no text)"));
}

function press(text, run, primary = false) {
  const one = make("button", { type: "button", className: primary ? "primary" : "" }, text);
  one.addEventListener("click", run);
  return one;
}

/** Ends the conflict on top, and shows the next. */
function done(said) {
  const [over] = waiting.splice(0, 1);
  made.close();
  say(said);
  if (over?.id) emit("settled-conflict", over);
  if (waiting.length) show();
}

/** @param {string} text */
async function copy(text) {
  await navigator.clipboard.writeText(text);
  say("Your text is copied.");
}

/** Their text and mine. */
function texts(conflict) {
  const { id, line: theirs, mine } = conflict;
  const keep = () => {
    outbox.forget(id);
    emit("lines", { changed: [id], gone: [] });
    done("Their text is kept.");
  };
  const take = async () => {
    const now = line(id);
    if (!now) return;
    done("Your text is taken.");
    await act("write", { text: mine.text }, { line: id, seen: now.stamp, quiet: true });
  };
  body.replaceChildren(
    make("p", {}, theirs ? `Line ${number(id)} was changed by somebody else, or in another tab, while you typed.` : "The line was taken away while you typed."),
    make("div", { className: "versions" }, version("Their text", theirs?.text ?? "", "theirs"), version("Your text", mine.text, "mine")),
    make("div", { className: "buttons" }, press("Keep theirs", keep), theirs ? press("Take mine", take, true) : null, press("Copy mine", () => copy(mine.text))),
  );
}

/** Something else was wanted of a line that is another one now. */
function wish(conflict) {
  const { id, line: theirs, mine, act: name, error } = conflict;
  const again = async () => {
    const now = line(id);
    done("");
    if (now) await act(name, mine, { line: id, seen: now.stamp });
  };
  const can = theirs && id && !["undo", "redo"].includes(name);
  body.replaceChildren(
    make("p", {}, error?.message ?? "The line was changed meanwhile."),
    make("p", {}, `Nothing was done: you wanted to ${WISHES[name] ?? name}.`),
    theirs ? version("The line now", theirs.text, "theirs") : null ?? "",
    make("div", { className: "buttons" }, press("Leave it as it is now", () => done("Left as it is."), true), can ? press("Do it nevertheless", again) : null),
  );
}

function show() {
  const conflict = waiting[0];
  if (conflict.act === "write") texts(conflict);
  else wish(conflict);
  if (!made.open) made.showModal();
  // On what is to be read, not on a button: a key that was meant for the text decides nothing.
  body.querySelector(".version p, button")?.focus();
}

/** @param {any} conflict */
function add(conflict) {
  const same = waiting.find((one) => one.id === conflict.id && one.act === conflict.act);
  if (same) Object.assign(same, conflict);
  else waiting.push(conflict);
  if (waiting[0] === same) show();
  else if (!made.open) show();
}

/** Starts listening for conflicts. */
export function start() {
  body = make("div", {});
  made = dialog("conflict", "The line was changed meanwhile", body);
  // Escape leaves both: theirs on the line, mine among what is not saved yet.
  made.addEventListener("cancel", () => {
    const [over] = waiting.splice(0, 1);
    if (over?.act === "write") emit("unsaved");
  });
  subscribe("conflict", add);
}
