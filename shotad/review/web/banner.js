/** Strips above the page: no connection, what is not saved yet, what is wrong with the files. */

import { make } from "./build.js";
import { keepFocus } from "./commands.js";
import * as outbox from "./outbox.js";
import { say } from "./say.js";
import { faultText, problemText } from "./sentences.js";
import { act, flush, lineById, lineNumber, store, subscribe } from "./store.js";
import { text } from "./texts.js";

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
  const words = text("banner.gone");
  return make(
    "div",
    { className: "bad" },
    make("p", { role: "alert" }, words),
    makeButton(text("banner.try_again"), retry),
  );
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
  const waiting = text(
    "banner.waiting",
    { count: number },
  );
  const words = store.connected ? `${store.undelivered.message} ${waiting}` : waiting;
  if (strip) {
    strip.querySelector("p").textContent = words;
    strip.querySelector("button").hidden = !store.connected;
    return;
  }
  const send = makeButton(text("banner.send_now"), flush);
  send.hidden = !store.connected;
  show("waiting", make("div", { className: "bad" }, make("p", { role: "status" }, words), send));
}

/**
 * A text that is not saved: it can be saved, copied, thrown away.
 *
 * @param {string} id Of its line.
 * @param {{text: string, seen: string|null, held: boolean}} typed
 */
function unsavedRow(id, typed) {
  const name = lineById(id)
    ? text("banner.line", { number: lineNumber(id) })
    : text("banner.line_gone");
  const saveNow = async () => {
    const options = { line: id, seen: typed.seen ?? undefined, quiet: true };
    if (await act("write", { text: typed.text }, options)) say(text("banner.saved", { line: name }));
    showUnsaved();
  };
  const copyText = async () => {
    await navigator.clipboard.writeText(typed.text);
    say(text("banner.copied"));
  };
  const throwAway = () => {
    outbox.forget(id);
    showUnsaved();
  };
  const save = lineById(id) && typed.held ? makeButton(text("banner.save_now"), saveNow) : null;
  save?.setAttribute("aria-label", text("banner.save_now_line", { line: name }));
  const quote = make("q", { lang: store.film?.language ?? "" }, typed.text);
  const buttons = [save, makeButton(text("banner.copy"), copyText), makeButton(text("banner.throw_away"), throwAway)];
  return make("li", {}, `${name}: `, quote, " ", ...buttons);
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
    const heading = make("p", { role: "alert" }, text("banner.unsaved"));
    show("unsaved", make("div", { className: "bad" }, heading, make("ul", {}, ...rows)));
  }
  if (hadFocus) keepFocus();
}

/** The trouble that was told last, whether or not it was put away since. */
let toldTrouble = "";

/**
 * Something is wrong with the files: stays until it is mended, or put away.
 *
 * @param {Partial<import("./api.js").Fault>} trouble
 */
function showTrouble(trouble) {
  const words = faultText(trouble);
  toldTrouble = words;
  if (!words) return show("trouble", null);
  const dismiss = makeButton(text("banner.dismiss"), () => show("trouble", null));
  dismiss.setAttribute("aria-label", text("banner.dismiss_trouble", { trouble: problemText(trouble) }));
  return show("trouble", make("div", { className: "bad" }, make("p", { role: "alert" }, words), dismiss));
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
    say(text("server.back"));
    showUnsaved();
  });
  subscribe("film", (film) => {
    showUnsaved();
    // What was put away does not come back when the film is fetched again.
    if (faultText(film.trouble) !== toldTrouble) showTrouble(film.trouble);
  });
  for (const topic of ["unsaved", "undelivered"]) subscribe(topic, showUnsaved);
  subscribe("outbox", () => (store.undelivered || strips.has("unsaved")) && showUnsaved());
  addEventListener("beforeunload", (event) => outbox.hasEntries() && event.preventDefault());
  subscribe("trouble", showTrouble);
}
