/** Strips above the page: no connection, what is not saved yet, the reviewer's name. */

import { make } from "./build.js";
import { keepFocus } from "./commands.js";
import { nameForm } from "./header.js";
import * as outbox from "./outbox.js";
import { say } from "./say.js";
import { set, settings } from "./settings.js";
import { act, flush, line, number, store, subscribe } from "./store.js";
import { count } from "./wording.js";

/** @type {HTMLElement} */
let place;
/** @type {Map<string, HTMLElement>} */
const strips = new Map();

/** Shows a strip under a name, or takes it away. */
function show(name, strip) {
  const had = strips.get(name)?.contains(document.activeElement);
  strips.get(name)?.remove();
  strips.delete(name);
  if (strip) {
    strip.classList.add("strip");
    strips.set(name, strip);
    place.append(strip);
  }
  place.hidden = strips.size === 0;
  if (had) keepFocus(); // a page that is just there keeps its focus where it was
}

/** @param {() => void} retry */
function lost(retry) {
  const again = make("button", { type: "button" }, "Try again");
  again.addEventListener("click", retry);
  const text = make("p", { role: "alert" }, "The server is gone; what you do is kept here. Start “shotad review” again: then this page goes on by itself.");
  return make("div", { className: "bad" }, text, again);
}

/** How many changes wait, and why where the server could be reached. */
function waits() {
  const many = store.connected && !store.undelivered ? 0 : outbox.waiting();
  const there = strips.get("waiting");
  if (!many) {
    if (there) show("waiting", null);
    return;
  }
  const words = `${count(many, "change")} ${many === 1 ? "waits" : "wait"} here to be saved, and ${many === 1 ? "is" : "are"} sent again by itself.`;
  const text = store.connected ? `${store.undelivered.message} ${words}` : words;
  if (there) {
    there.querySelector("p").textContent = text;
    there.querySelector("button").hidden = !store.connected;
    return;
  }
  const again = make("button", { type: "button", hidden: !store.connected }, "Send now");
  again.addEventListener("click", flush);
  show("waiting", make("div", { className: "bad" }, make("p", { role: "status" }, text), again));
}

/** One text that is not saved: it can be saved, copied, thrown away. */
function row(id, typed) {
  const at = line(id) ? `Line ${number(id)}` : "A line that is gone";
  const text = make("q", { lang: store.film?.language ?? "" }, typed.text);
  const save = line(id) && typed.held ? make("button", { type: "button" }, "Save it now") : null;
  const copy = make("button", { type: "button" }, "Copy");
  const away = make("button", { type: "button" }, "Throw away");
  save?.setAttribute("aria-label", `Save it now: ${at}`);
  save?.addEventListener("click", async () => {
    if (await act("write", { text: typed.text }, { line: id, seen: typed.seen ?? undefined, quiet: true })) say(`${at} is saved.`);
    offer();
  });
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(typed.text);
    say("Copied.");
  });
  away.addEventListener("click", () => {
    outbox.forget(id);
    offer();
  });
  return make("li", {}, `${at}: `, text, " ", save, copy, away);
}

/** Offers what was typed and is not saved: it was refused, or the server is gone. */
function offer() {
  waits();
  for (const [id, typed] of outbox.texts()) if (typed.held && line(id)?.text === typed.text) outbox.forget(id);
  const texts = [...outbox.texts()].filter(([, typed]) => typed.held || store.undelivered);
  if (!texts.length) {
    show("unsaved", null);
    return;
  }
  const rows = texts.map(([id, typed]) => row(id, typed));
  const there = strips.get("unsaved");
  const had = there?.contains(document.activeElement);
  // Said once, and not again with every letter that is typed while the server is gone.
  if (there) there.querySelector("ul").replaceChildren(...rows);
  else show("unsaved", make("div", { className: "bad" }, make("p", { role: "alert" }, "You typed this, and it is not saved yet:"), make("ul", {}, ...rows)));
  if (had) keepFocus();
}

/** Something is wrong with the files: stays until it is mended, or put away. */
function trouble({ what = "", hint = "" }) {
  const text = [what, hint].filter(Boolean).join(" ");
  if (!text) return show("trouble", null);
  const away = make("button", { type: "button" }, "Dismiss");
  away.setAttribute("aria-label", `Dismiss: ${what}`);
  away.addEventListener("click", () => show("trouble", null));
  return show("trouble", make("div", { className: "bad" }, make("p", { role: "alert" }, text), away));
}

/** Asks for the name once, without taking the focus. */
function ask() {
  const done = () => {
    set({ asked: true });
    show("name", null);
  };
  const { form } = nameForm("first-name", done);
  const later = make("button", { type: "button" }, "Not now");
  later.addEventListener("click", done);
  show("name", make("section", { "aria-label": "Your name" }, make("p", {}, "Who reviews? Exports name you as the reviewer."), form, later));
}

/**
 * Starts the strips.
 *
 * @param {() => void} retry Tries to reach the server at once.
 */
export function start(retry) {
  place = document.getElementById("banner");
  subscribe("connection", (is) => {
    show("connection", is ? null : lost(retry));
    if (is) {
      say("The server is back.");
      offer();
    }
  });
  subscribe("film", (film) => {
    offer();
    if (!film.reviewer && !settings.name && !settings.asked) ask();
    else show("name", null);
  });
  for (const topic of ["unsaved", "undelivered"]) subscribe(topic, offer);
  subscribe("outbox", () => (store.undelivered || strips.has("unsaved")) && offer());
  addEventListener("beforeunload", (event) => outbox.some() && event.preventDefault());
  subscribe("trouble", trouble);
  subscribe("reviewer", (who) => who && show("name", null));
}
