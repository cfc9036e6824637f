/**
 * What is known of a line's slot and is not said: pictures, who is seen, texts to take in, shots, dialogue.
 *
 * A text is taken in as if it had been typed behind what the line says: it is saved, undone and counted so too.
 */

import { make } from "./build.js";
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

/** Seen, and in which shots: one line of what is known, with its heading in front. */
function remark(title, texts) {
  if (!texts.length) return null;
  return make("p", { class: "d-remark", dir: "auto" }, make("strong", {}, `${title}: `), texts.join(" · "));
}

/**
 * @param {HTMLElement} place
 * @returns {{show: (material: object|null|undefined) => void}} null: nothing is known; undefined: not known yet.
 */
export function material(place) {
  const section = make("div", { class: "d-section d-material", role: "group", "aria-label": "What is known of this moment" });
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
    if (!text.offer) return make("li", { dir: "auto" }, text.words);
    const take = make("button", { type: "button", class: "d-offer", "aria-label": `Take in: + ${text.offer}`, onclick: () => takeIn(text.offer) }, `+ ${text.offer}`);
    const taken = make("span", { class: "d-note", hidden: true }, `In the line: ${text.offer}`);
    offers.push({ text, take, taken });
    return make("li", { dir: "auto" }, take, taken);
  };

  const picture = ({ url, name }) =>
    make("li", {}, make("img", { src: url, alt: name, title: name, loading: "lazy", decoding: "async", width: 112, height: 63 }));

  const fill = () => {
    offers = [];
    const { pictures, no_pictures: noPictures, marks, people, texts, shots } = shown;
    const parts = [
      pictures.length ? make("ul", { class: "d-pictures", "aria-label": "Pictures" }, ...pictures.map(picture)) : null,
      noPictures ? make("p", { class: "d-note" }, noPictures) : null,
      texts.length ? make("ul", { class: "d-offers", "aria-label": "Text on the screen" }, ...texts.map(offered)) : null,
      ...marks.map((mark) => make("p", { class: "d-remark" }, make("strong", {}, mark))),
      remark("Seen", people),
      remark("Shots", shots),
    ];
    section.replaceChildren(...parts.filter(Boolean));
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

  register({
    name: "dialogue-here", title: "Dialogue before and after: have it read", group: "Find", keys: { list: ["y"], edit: ["Alt+B"] },
    run: () => {
      const before = shown?.before ?? [];
      const after = shown?.after ?? [];
      if (!before.length && !after.length) return say("No words of the dialogue are known here.");
      const spoken = [before.length ? `Before: ${before.join(" ")}` : "", after.length ? `After: ${after.join(" ")}` : ""];
      return say(spoken.filter(Boolean).join(" "));
    },
  });

  let filledFrom = "";
  return {
    show(material) {
      const key = JSON.stringify(material ?? null);
      if (key === filledFrom) return mark();
      filledFrom = key;
      shown = material ?? null;
      offers = [];
      if (shown) fill();
      else section.replaceChildren(make("p", { class: "d-note coming" }, material === null ? "Nothing is known of this moment." : ""));
      return undefined;
    },
  };
}
