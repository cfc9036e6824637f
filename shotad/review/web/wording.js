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
