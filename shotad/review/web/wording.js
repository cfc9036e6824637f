/** Numbers and letters, as words for people. */

/**
 * @param {number} number
 * @param {string} noun
 * @param {string} [nouns] Its plural, where that is not made by an s.
 * @returns {string} "1 word", "2 words"
 */
export const pluralize = (number, noun, nouns = `${noun}s`) => `${number} ${number === 1 ? noun : nouns}`;

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

const UNITS = ["bytes", "kB", "MB", "GB"];

/**
 * @param {number} bytes
 * @returns {string} "740 bytes", "1.2 MB"
 */
export function sizeText(bytes) {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const size = bytes / 1000 ** power;
  return `${power && size < 10 ? size.toFixed(1) : Math.round(size)} ${UNITS[power]}`;
}

/**
 * @param {string} name
 * @param {string} text  A sentence about what is called so.
 * @returns {string} "movie.mp4: It failed.", and as it is where the sentence begins with the name.
 */
export const about = (name, text) => (text.startsWith(name) ? text : `${name}: ${text}`);
