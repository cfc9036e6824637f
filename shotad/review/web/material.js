/**
 * What is known of a line's slot and is not said: pictures, who is seen, texts to take in, shots, dialogue.
 *
 * A text is taken in as if it had been typed behind what the line says: it is saved, undone and counted so too.
 *
 * @typedef {{text: string, kind: string, offer: string, words: number, beginning: string}} ScreenText  offer: what can
 *   be taken into the line; empty for what is too long for that. words: how many it has.
 * @typedef {{start: number, text: string, speaker: string}} Dialogue
 * @typedef {object} Material
 * @property {{url: string, shot: number, second: number}[]} pictures  shot: from 1.
 * @property {boolean} lacks_pictures  The film is not there from which they would be cut.
 * @property {("song"|"shout"|"credits")[]} marks  What to know before a line is written here.
 * @property {{shots: number[], known: string[], faces: number}[]} people  Who is seen, in which shots, from 1.
 * @property {ScreenText[]} texts
 * @property {{number: number, start: number, scale: string, same_as: number|null, new_place: boolean}[]} shots
 * @property {Dialogue[]} before
 * @property {Dialogue[]} after
 */

import { addressOf } from "./api.js";
import { make } from "./build.js";
import { register } from "./commands.js";
import { say } from "./say.js";
import { subscribe } from "./store.js";
import { listed, text } from "./texts.js";
import { shortTime } from "./times.js";

/** Letters and digits alone, by which it is known whether a line says a text already. */
const letters = (words) => words.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();

const textField = () => document.getElementById("line-text");

/** Puts a text behind that of the line. */
function takeIn(offer) {
  const field = textField();
  field.value = `${field.value.trim()} ${offer}`.trim();
  field.dispatchEvent(new Event("input", { bubbles: true }));
  say(text("material.taken", { text: offer }));
}

/** Several remarks of one kind as a paragraph, with a heading in front where they do not say themselves what they are. */
function remark(heading, remarks) {
  if (!remarks.length) return null;
  const title = heading ? make("strong", {}, `${heading} `) : null;
  return make("p", { class: "d-remark", dir: "auto" }, title, remarks.join("; "));
}

/** Scales of shots, as film grammar calls them. */
export const SCALES = {
  "extreme close-up": text("scale.extreme_close_up"),
  "close-up": text("scale.close_up"),
  medium: text("scale.medium"),
  full: text("scale.full"),
  long: text("scale.long"),
};

/** "Shot 5 from 1:12.4: medium, same set-up as shot 3" */
function shotText({ number, start, scale, same_as: sameAs, new_place: isNewPlace }) {
  const details = [];
  if (scale) details.push(SCALES[scale] ?? scale);
  if (sameAs) details.push(text("material.same_as", { number: sameAs }));
  else if (isNewPlace) details.push(text("material.new_place"));
  const values = { number, time: shortTime(start), details: details.join(", ") };
  if (details.length) return text("material.shot_with", values);
  return text("material.shot", values);
}

/** "Shots 4 and 5: Thom, person A and 2 other faces" */
function peopleText({ shots, known, faces }) {
  const others = known.length
    ? text("material.other_faces", { count: faces })
    : text("material.faces", { count: faces });
  const people = listed(faces ? [...known, others] : known);
  return text("material.people", {
    count: shots.length, shots: listed(shots.map(String)), people,
  });
}

/** Kinds of texts that are too long to read out. */
const TEXT_KINDS = {
  title: (values) => text("material.title", values),
  caption: (values) => text("material.caption", values),
  scene: (values) => text("material.scene", values),
};

/** Remarks on a slot, by the server's word for each. */
const MARKS = {
  song: text("material.song"),
  shout: text("material.shout"),
  credits: text("material.credits"),
};

/** "1:10.2 Anna: Wait for me!" */
const dialogueText = ({ start, text: spoken, speaker }) =>
  `${shortTime(start)} ${speaker ? `${speaker}: ` : ""}${spoken}`;

function pictureItem({ url, shot, second }) {
  const name = text("material.picture", { number: shot, time: shortTime(second) });
  const options = { src: addressOf(url), alt: name, title: name, loading: "lazy", decoding: "async", width: 112, height: 63 };
  return make("li", {}, make("img", options));
}

/**
 * @param {HTMLElement} place
 * @returns {{show: (material: Material|null|undefined) => void}} null: nothing is known; undefined: it is being
 *   fetched.
 */
export function materialPanel(place) {
  const section = make("div", { class: "d-section d-material", role: "group", "aria-label": text("material.heading") });
  place.append(section);
  /** @type {Material|null} */
  let material = null;
  /** @type {{screenText: ScreenText, take: HTMLElement, item: HTMLElement}[]} */
  let offers = [];

  /** Texts that the line says already are not offered again; they stand in the field. */
  const markOffers = () => {
    const lineLetters = letters(textField()?.value ?? "");
    for (const { screenText, take, item } of offers) {
      const isTaken = lineLetters.includes(letters(screenText.text));
      if (isTaken && take === document.activeElement) textField().focus();
      item.hidden = isTaken;
      const list = item.parentElement;
      if (list) list.hidden = [...list.children].every((each) => each.hidden); // an empty list is none
    }
  };

  const textItem = (screenText) => {
    const { offer, kind, words, beginning } = screenText;
    if (!offer)
      return make("li", { dir: "auto" }, (TEXT_KINDS[kind] ?? TEXT_KINDS.scene)({ count: words, text: beginning }));
    const label = text("material.take_in", { text: offer });
    const options = { type: "button", class: "d-offer", "aria-label": label, onclick: () => takeIn(offer) };
    const take = make("button", options, `+ ${offer}`);
    const item = make("li", { dir: "auto" }, take);
    offers.push({ screenText, take, item });
    return item;
  };

  const fill = () => {
    const { pictures, lacks_pictures: lacksPictures, marks, people, texts, shots } = material;
    const parts = [];
    if (pictures.length)
      parts.push(
        make("ul", { class: "d-pictures", "aria-label": text("material.pictures") }, ...pictures.map(pictureItem)),
      );
    if (lacksPictures) {
      const words = text("material.no_pictures");
      parts.push(make("p", { class: "d-note" }, words));
    }
    if (texts.length)
      parts.push(make("ul", { class: "d-offers", "aria-label": text("material.texts") }, ...texts.map(textItem)));
    for (const mark of marks) parts.push(make("p", { class: "d-remark" }, make("strong", {}, MARKS[mark])));
    parts.push(remark(text("material.seen"), people.map(peopleText)), remark("", shots.map(shotText)));
    section.replaceChildren(...parts.filter(Boolean));
    markOffers();
  };

  const takeInNext = () => {
    const next = offers.find(({ item }) => !item.hidden);
    if (next) takeIn(next.screenText.offer);
    else say(text("material.no_text"));
  };
  const sayDialogue = () => {
    const before = (material?.before ?? []).map(dialogueText).join(" ");
    const after = (material?.after ?? []).map(dialogueText).join(" ");
    const sentences = [];
    if (before) sentences.push(text("material.before", { dialogue: before }));
    if (after) sentences.push(text("material.after", { dialogue: after }));
    say(sentences.join(" ") || text("material.no_dialogue"));
  };

  subscribe("lines", markOffers);
  document.addEventListener("input", (event) => event.target === textField() && markOffers());
  register({
    name: "take-in", title: text("command.take_in"), group: "edit",
    keys: { list: ["i"], any: ["Alt+I"] }, run: takeInNext,
  });
  register({
    name: "dialogue-here", title: text("command.dialogue_here"), group: "find",
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
      const words = fetched === null ? text("material.nothing") : "";
      return section.replaceChildren(make("p", { class: "d-note" }, words));
    },
  };
}
