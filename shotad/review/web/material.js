/**
 * What is known of a line's slot and is not said: pictures, who is seen, texts to take in, shots, dialogue.
 *
 * A text is taken in as if it had been typed behind what the line says: it is saved, undone and counted so too.
 *
 * @typedef {{text: string, offer: string, words: string}} ScreenText  offer: what can be taken into the line; empty
 *   for what is only to read. words: the text with where and when it stands there.
 * @typedef {object} Material
 * @property {{url: string, name: string}[]} pictures
 * @property {string} no_pictures  Why there are none.
 * @property {string[]} marks  Remarks on the slot.
 * @property {string[]} people
 * @property {ScreenText[]} texts
 * @property {string[]} shots
 * @property {string[]} before  Dialogue.
 * @property {string[]} after
 */

import { addressOf } from "./api.js";
import { make } from "./build.js";
import { register } from "./commands.js";
import { say } from "./say.js";
import { subscribe } from "./store.js";

/** Letters and digits alone, by which it is known whether a line says a text already. */
const letters = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();

const textField = () => document.getElementById("line-text");

/** Puts a text behind that of the line. */
function takeIn(offer) {
  const field = textField();
  field.value = `${field.value.trim()} ${offer}`.trim();
  field.dispatchEvent(new Event("input", { bubbles: true }));
  say(`Taken in: ${offer}`);
}

/** Several remarks of one kind as a paragraph, with a heading in front where they do not say themselves what they are. */
function remark(heading, texts) {
  if (!texts.length) return null;
  const title = heading ? make("strong", {}, `${heading}: `) : null;
  return make("p", { class: "d-remark", dir: "auto" }, title, texts.join("; "));
}

function pictureItem({ url, name }) {
  const options = { src: addressOf(url), alt: name, title: name, loading: "lazy", decoding: "async", width: 112, height: 63 };
  return make("li", {}, make("img", options));
}

/**
 * @param {HTMLElement} place
 * @returns {{show: (material: Material|null|undefined) => void}} null: nothing is known; undefined: it is being
 *   fetched.
 */
export function materialPanel(place) {
  const section = make("div", { class: "d-section d-material", role: "group", "aria-label": "What is known of this moment" });
  place.append(section);
  /** @type {Material|null} */
  let material = null;
  /** @type {{text: ScreenText, take: HTMLElement, item: HTMLElement}[]} */
  let offers = [];

  /** Texts that the line says already are not offered again; they stand in the field. */
  const markOffers = () => {
    const lineLetters = letters(textField()?.value ?? "");
    for (const { text, take, item } of offers) {
      const isTaken = lineLetters.includes(letters(text.text));
      if (isTaken && take === document.activeElement) textField().focus();
      item.hidden = isTaken;
      const list = item.parentElement;
      if (list) list.hidden = [...list.children].every((each) => each.hidden); // an empty list is none
    }
  };

  const textItem = (text) => {
    const { offer, words } = text;
    if (!offer) return make("li", { dir: "auto" }, words);
    const options = { type: "button", class: "d-offer", "aria-label": `Take in: + ${offer}`, onclick: () => takeIn(offer) };
    const take = make("button", options, `+ ${offer}`);
    const item = make("li", { dir: "auto" }, take);
    offers.push({ text, take, item });
    return item;
  };

  const fill = () => {
    const { pictures, no_pictures: noPictures, marks, people, texts, shots } = material;
    const parts = [];
    if (pictures.length)
      parts.push(make("ul", { class: "d-pictures", "aria-label": "Pictures" }, ...pictures.map(pictureItem)));
    if (noPictures) parts.push(make("p", { class: "d-note" }, noPictures));
    if (texts.length)
      parts.push(make("ul", { class: "d-offers", "aria-label": "Text on the screen" }, ...texts.map(textItem)));
    for (const mark of marks) parts.push(make("p", { class: "d-remark" }, make("strong", {}, mark)));
    parts.push(remark("Seen", people), remark("", shots));
    section.replaceChildren(...parts.filter(Boolean));
    markOffers();
  };

  const takeInNext = () => {
    const next = offers.find(({ item }) => !item.hidden);
    if (next) takeIn(next.text.offer);
    else say("No text on the screen is left to take in here.");
  };
  const sayDialogue = () => {
    const before = material?.before ?? [];
    const after = material?.after ?? [];
    const sentences = [];
    if (before.length) sentences.push(`Before: ${before.join(" ")}`);
    if (after.length) sentences.push(`After: ${after.join(" ")}`);
    say(sentences.join(" ") || "No words of the dialogue are known here.");
  };

  subscribe("lines", markOffers);
  document.addEventListener("input", (event) => event.target === textField() && markOffers());
  register({
    name: "take-in", title: "Take the next text on the screen into the line", group: "Choose and edit",
    keys: { list: ["i"], any: ["Alt+I"] }, run: takeInNext,
  });
  register({
    name: "dialogue-here", title: "Dialogue before and after: have it read", group: "Find",
    keys: { list: ["y"], any: ["Alt+B"] }, run: sayDialogue,
  });

  let filledFrom = "";
  return {
    show(fetched) {
      const key = fetched === undefined ? "not fetched yet" : JSON.stringify(fetched);
      if (key === filledFrom) return markOffers();
      filledFrom = key;
      material = fetched ?? null;
      offers = [];
      if (material) return fill();
      const text = fetched === null ? "Nothing is known of this moment." : "";
      return section.replaceChildren(make("p", { class: "d-note" }, text));
    },
  };
}
