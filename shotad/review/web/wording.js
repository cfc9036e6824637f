/** Words and times as the detail of a line, the player and the time line write them. */

import { clock } from "./times.js";

/** `80.4 → "1:20.400"` */
export const exact = (seconds) => clock(seconds, 3);

/** `80.43 → "1:20.4"` */
export const short = (seconds) => clock(seconds, 1);

/** One of "1 word", "2 words". */
export const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/**
 * A time for the ear: `80.4 → "1 minute 20.4 seconds"`.
 *
 * @param {number} seconds
 * @param {number} [digits]
 */
export function aloud(seconds, digits = 1) {
  const unit = 10 ** digits;
  const ticks = Math.round(Math.max(0, seconds) * unit);
  const whole = Math.floor(ticks / unit);
  const [h, m] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = (ticks - (h * 3600 + m * 60) * unit) / unit;
  const parts = [h && count(h, "hour"), m && count(m, "minute"), (rest || !(h || m)) && count(rest, "second")];
  return parts.filter(Boolean).join(" ");
}

/** Letter of a thread, from 0: A … Z, AA … */
export function letterOf(thread) {
  let letters = "";
  for (let rest = thread + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

/** Sets text only where it differs: what is written again is spoken again, and drawn again. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
