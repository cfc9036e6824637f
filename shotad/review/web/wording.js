/** Numbers and letters, as words for people. */

import { hasText, text, withUnit } from "./texts.js";

/**
 * @param {number} thread From 0.
 * @returns {string} Letter of the thread: "A" … "Z", "AA" …
 */
export function threadLetters(thread) {
  let letters = "";
  for (let rest = thread + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"];

/**
 * @param {number} bytes
 * @returns {string} "740 bytes", "1.2 MB"
 */
export function sizeText(bytes) {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const size = bytes / 1000 ** power;
  const digits = power && size < 10 ? 1 : 0;
  const unitDisplay = power ? "short" : "long";
  return withUnit(size, UNITS[power], { unitDisplay, minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/**
 * @param {string} name
 * @param {string} said  A sentence about what is called so.
 * @returns {string} "movie.mp4: It failed.", and as it is where the sentence begins with the name.
 */
export const about = (name, said) => (said.startsWith(name) ? said : text("page.about", { name, text: said }));

/**
 * @param {string} name  What a part of the program calls the step of work that it does.
 * @returns {string} The same in the language of the page, where that has a word for it.
 */
export const stepName = (name) => (hasText(`step.${name}`) ? text(`step.${name}`) : name);
