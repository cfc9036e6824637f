/** Strips above the page: no connection, what is not saved yet, what is wrong with the files. */

import { make } from "./build.js";
import { keepFocus } from "./commands.js";
import * as outbox from "./outbox.js";
import { say } from "./say.js";
import { act, flush, lineById, lineNumber, store, subscribe } from "./store.js";
import { pluralize } from "./wording.js";

/** @type {HTMLElement} */
let banner;
/** @type {Map<string, HTMLElement>} */
const strips = new Map();

/**
 * Shows a strip under a name, or takes it away.
 *
 * @param {string} name
 * @param {HTMLElement|null} strip
 */
function show(name, strip) {
  const hadFocus = strips.get(name)?.contains(document.activeElement);
  strips.get(name)?.remove();
  strips.delete(name);
  if (strip) {
    strip.classList.add("strip");
    strips.set(name, strip);
    banner.append(strip);
  }
  banner.hidden = strips.size === 0;
  if (hadFocus) keepFocus(); // a page that has just opened keeps its focus where it was
}

/** @returns {HTMLButtonElement} */
function makeButton(label, onClick) {
  const button = make("button", { type: "button" }, label);
  button.addEventListener("click", onClick);
  return button;
}

/** @param {() => void} retry */
function lostStrip(retry) {
  const text = "The server is gone; what you do is kept here. Start “shotad review” again: then this page goes on by itself.";
  return make("div", { className: "bad" }, make("p", { role: "alert" }, text), makeButton("Try again", retry));
}

/** How many changes wait, and why where the server could be reached. */
function showWaiting() {
  const isSending = store.connected && !store.undelivered;
  const number = isSending ? 0 : outbox.waitingCount();
  const strip = strips.get("waiting");
  if (!number) {
    if (strip) show("waiting", null);
    return;
  }
  const [waits, is] = number === 1 ? ["waits", "is"] : ["wait", "are"];
  const words = `${pluralize(number, "change")} ${waits} here to be saved, and ${is} sent again by itself.`;
  const text = store.connected ? `${store.undelivered.message} ${words}` : words;
  if (strip) {
    strip.querySelector("p").textContent = text;
    strip.querySelector("button").hidden = !store.connected;
    return;
  }
  const send = makeButton("Send now", flush);
  send.hidden = !store.connected;
  show("waiting", make("div", { className: "bad" }, make("p", { role: "status" }, text), send));
}

/**
 * A text that is not saved: it can be saved, copied, thrown away.
 *
 * @param {string} id Of its line.
 * @param {{text: string, seen: string|null, held: boolean}} typed
 */
function unsavedRow(id, typed) {
  const name = lineById(id) ? `Line ${lineNumber(id)}` : "A line that is gone";
  const saveNow = async () => {
    const options = { line: id, seen: typed.seen ?? undefined, quiet: true };
    if (await act("write", { text: typed.text }, options)) say(`${name} is saved.`);
    showUnsaved();
  };
  const copyText = async () => {
    await navigator.clipboard.writeText(typed.text);
    say("Copied.");
  };
  const throwAway = () => {
    outbox.forget(id);
    showUnsaved();
  };
  const save = lineById(id) && typed.held ? makeButton("Save it now", saveNow) : null;
  save?.setAttribute("aria-label", `Save it now: ${name}`);
  const text = make("q", { lang: store.film?.language ?? "" }, typed.text);
  const buttons = [save, makeButton("Copy", copyText), makeButton("Throw away", throwAway)];
  return make("li", {}, `${name}: `, text, " ", ...buttons);
}

/** Offers what was typed and is not saved: it was refused, or the server is gone. */
function showUnsaved() {
  showWaiting();
  for (const [id, typed] of outbox.texts()) if (typed.held && lineById(id)?.text === typed.text) outbox.forget(id);
  const texts = [...outbox.texts()].filter(([, typed]) => typed.held || store.undelivered);
  if (!texts.length) {
    show("unsaved", null);
    return;
  }
  const rows = texts.map(([id, typed]) => unsavedRow(id, typed));
  const strip = strips.get("unsaved");
  const hadFocus = strip?.contains(document.activeElement);
  // Said once, and not again with every letter that is typed while the server is gone.
  if (strip) strip.querySelector("ul").replaceChildren(...rows);
  else {
    const heading = make("p", { role: "alert" }, "You typed this, and it is not saved yet:");
    show("unsaved", make("div", { className: "bad" }, heading, make("ul", {}, ...rows)));
  }
  if (hadFocus) keepFocus();
}

/** The trouble that was told last, whether or not it was put away since. */
let toldTrouble = "";

/** @param {Partial<import("./api.js").Fault>} trouble */
const troubleText = ({ what: problem = "", hint = "" }) => [problem, hint].filter(Boolean).join(" ");

/**
 * Something is wrong with the files: stays until it is mended, or put away.
 *
 * @param {Partial<import("./api.js").Fault>} trouble
 */
function showTrouble(trouble) {
  const text = troubleText(trouble);
  toldTrouble = text;
  if (!text) return show("trouble", null);
  const dismiss = makeButton("Dismiss", () => show("trouble", null));
  dismiss.setAttribute("aria-label", `Dismiss: ${trouble.what}`);
  return show("trouble", make("div", { className: "bad" }, make("p", { role: "alert" }, text), dismiss));
}

/**
 * Starts the strips.
 *
 * @param {() => void} retry Tries to reach the server at once.
 */
export function start(retry) {
  banner = document.getElementById("banner");
  subscribe("connection", (isConnected) => {
    show("connection", isConnected ? null : lostStrip(retry));
    if (!isConnected) return;
    say("The server is back.");
    showUnsaved();
  });
  subscribe("film", (film) => {
    showUnsaved();
    // What was put away does not come back when the film is fetched again.
    if (troubleText(film.trouble) !== toldTrouble) showTrouble(film.trouble);
  });
  for (const topic of ["unsaved", "undelivered"]) subscribe(topic, showUnsaved);
  subscribe("outbox", () => (store.undelivered || strips.has("unsaved")) && showUnsaved());
  addEventListener("beforeunload", (event) => outbox.hasEntries() && event.preventDefault());
  subscribe("trouble", showTrouble);
}
