/**
 * What the server says, in the language of the page. A sentence that the review itself makes comes as a key of the page's
 * texts with values; one of another part of the program as it is, in English.
 *
 * @typedef {string|number|{time: number}|{seconds: number}|{size: number}|Message|Value[]} Value  time: a second of
 *   the film. seconds: a length. size: in bytes. Several: a list.
 * @typedef {{key: string, values: Record<string, Value>, text: string}} Message  text: the same in English.
 * @typedef {string|Message} Sentence
 * @typedef {{what?: string, hint?: string, key?: string, values?: Record<string, Value>}} Fault  What went wrong, and
 *   what to do, in English. key: of the problem's text; its hint has the same key with `.hint`.
 */

import { hasText, language, listed, text } from "./texts.js";
import { exactTime, secondsText } from "./times.js";
import { sizeText } from "./wording.js";

/** @param {Value} value @returns {string|number} */
function wordOf(value) {
  if (typeof value !== "object") return value;
  if (Array.isArray(value)) return listed(value.map(sentence));
  if ("time" in value) return exactTime(value.time);
  if ("seconds" in value) return secondsText(value.seconds);
  if ("size" in value) return sizeText(value.size);
  return sentence(value);
}

const wordsOf = (values = {}) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, wordOf(value)]));

/**
 * @param {Sentence} said
 * @returns {string} In the language of the page, where it has the text.
 */
export function sentence(said) {
  if (typeof said === "string") return said;
  if (!hasText(said.key)) return said.text;
  const words = text(said.key, wordsOf(said.values));
  // A sentence that begins with the words of another text, a reason say, begins with a capital all the same.
  const isBegunByOther = Object.values(said.values).some((value) => value?.key && words.startsWith(sentence(value)));
  return isBegunByOther && words.endsWith(".") ? words[0].toLocaleUpperCase(language) + words.slice(1) : words;
}

/**
 * @param {Sentence|Sentence[]} said
 * @returns {string} All of them, one after the other.
 */
export const sentences = (said) => [said].flat().map(sentence).join(" ");

/**
 * @param {Sentence} said  What was done.
 * @returns {string} The same, and that it can be undone.
 */
export const withUndo = (said) => `${sentence(said)} ${text("page.can_undo")}`;

/**
 * @param {Fault|null|undefined} fault
 * @returns {string} What went wrong; empty where nothing did.
 */
export function problemText(fault) {
  return fault?.key && hasText(fault.key) ? text(fault.key, wordsOf(fault.values)) : (fault?.what ?? "");
}

/**
 * @param {Fault|null|undefined} fault
 * @returns {string} What to do about it; empty where nothing is to be said.
 */
export function hintText(fault) {
  const key = `${fault?.key}.hint`;
  return hasText(key) ? text(key, wordsOf(fault.values)) : (fault?.hint ?? "");
}

/**
 * @param {Fault|null|undefined} fault
 * @returns {string} What went wrong, and what to do; empty where nothing did.
 */
export const faultText = (fault) => [problemText(fault), hintText(fault)].filter(Boolean).join(" ");
