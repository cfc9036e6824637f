/**
 * What is known of a line's slot and is not said: pictures, who is seen, texts to take in, shots, dialogue.
 *
 * A text is taken in as if it had been typed behind what the line says: it is saved, undone and counted so too.
 */

import { make as el } from "./build.js";
import { register } from "./commands.js";
import { say } from "./say.js";
import { line, subscribe } from "./store.js";
import { setText } from "./wording.js";

/** Letters and digits alone, by which it is known whether a line says a text already. */
const letters = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();

const field = () => document.getElementById("line-text");

/** Puts an offer behind the text of the line. */
function takeIn(offer) {
  const text = field();
  text.value = `${text.value.trim()} ${offer}`.trim();
  text.dispatchEvent(new Event("input", { bubbles: true }));
  say(`Taken in: ${offer}`);
}

/** A heading with its texts; null where nothing is known. */
function part(title, texts) {
  if (!texts.length) return null;
  return el("div", {}, el("h4", {}, title), ...texts.map((text) => el("p", { dir: "auto" }, text)));
}

/**
 * @param {HTMLElement} place
 * @returns {{show: (material: object|null|undefined) => void}} null: nothing is known; undefined: not known yet.
 */
export function material(place) {
  const heading = el("h3", { id: "material-heading" }, "Material for this line");
  const body = el("div", { class: "d-material" });
  const section = el("section", { class: "d-section", "aria-labelledby": "material-heading", hidden: true }, heading, body);
  place.append(section);
  let shown = null;
  let offers = []; // of each text that can be taken in: its words, its button, the word that it is in the line

  const mark = () => {
    const now = letters(field()?.value ?? "");
    for (const { text, take, taken } of offers) {
      const isIn = now.includes(letters(text.text));
      if (isIn && take === document.activeElement) field().focus();
      take.hidden = isIn;
      taken.hidden = !isIn;
    }
  };

  const offered = (text) => {
    const item = el("li", {}, el("span", { dir: "auto" }, text.words));
    if (!text.offer) return item;
    const take = el("button", { type: "button", "aria-label": `Take in: ${text.offer}`, onclick: () => takeIn(text.offer) }, "Take in");
    const taken = el("span", { class: "d-note", hidden: true }, "in the line");
    offers.push({ text, take, taken });
    item.append(" ", take, taken);
    return item;
  };

  const picture = ({ url, name }) =>
    el("li", {}, el("img", { src: url, alt: name, loading: "lazy", decoding: "async" }), el("span", { class: "d-under", "aria-hidden": "true" }, name));

  const fill = () => {
    offers = [];
    const { pictures, no_pictures: lost, marks, people, texts, shots, before, after } = shown;
    const parts = [
      ...marks.map((text) => el("p", { class: "d-why" }, text)),
      pictures.length ? el("ul", { class: "d-pictures", "aria-label": "Pictures" }, ...pictures.map(picture)) : null,
      lost ? el("p", { class: "d-note" }, lost) : null,
      texts.length ? el("div", {}, el("h4", {}, "Text on the screen"), el("ul", { class: "d-offers" }, ...texts.map(offered))) : null,
      part("Who is seen", people),
      part("Dialogue before", before),
      part("Dialogue after", after),
      part("Shots", shots),
    ];
    body.replaceChildren(...parts.filter(Boolean));
    setText(heading, `Material for this line (${shown.length})`);
    mark();
  };

  subscribe("lines", mark);
  document.addEventListener("input", (event) => event.target === field() && mark());
  register({
    name: "take-in", title: "Take the next text on the screen into the line", group: "Choose and edit",
    keys: { list: ["i"], edit: ["Alt+I"] },
    run: () => {
      const next = offers.find(({ take }) => !take.hidden);
      if (next && line()) takeIn(next.text.offer);
      else say("No text on the screen is left to take in here.");
    },
  });

  let made = "";
  return {
    show(given) {
      const key = JSON.stringify(given ?? null);
      if (key === made) return mark();
      made = key;
      shown = given ?? null;
      section.hidden = !shown;
      offers = [];
      if (shown) fill();
      return undefined;
    },
  };
}
