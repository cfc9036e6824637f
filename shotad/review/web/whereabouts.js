/** Where a moment lies in the film, in words: what the time line shows, for those who do not see it. Pure. */

import { STATES, stateOf } from "./list.js";
import { SCALES } from "./material.js";
import { language, text, withUnit } from "./texts.js";
import { countInView, firstEndingAfter, itemAt } from "./timeline-scale.js";
import { shortTime, spokenSeconds, spokenTime } from "./times.js";
import { threadLetters } from "./wording.js";

/** @typedef {import("./store.js").Film} Film */
/** @typedef {import("./store.js").Line} Line */

/** "shot 3 of 17, thread B, close-up" */
function shotWords(film, seconds) {
  const shot = itemAt(film.shots, seconds);
  if (!shot) return text("where.after_shots");
  const place = text("where.shot", { number: shot.index + 1, total: film.shots.length });
  const thread = shot.thread === null ? "" : text("where.thread", { letters: threadLetters(shot.thread) });
  return [place, thread, SCALES[shot.scale] ?? shot.scale].filter(Boolean).join(", ");
}

/** The gap in speech around a second; null where there is speech, or none is known. */
const gapAt = (film, seconds) => itemAt(film.free.map(([start, end]) => ({ start, end })), seconds);

/** "no speech from 1:20.4 to 1:26.7, 6.3 seconds" */
function speechWords(film, seconds, timeText) {
  const gap = gapAt(film, seconds);
  if (gap) {
    const length = withUnit(gap.end - gap.start, "second", { maximumFractionDigits: 1 });
    return text("where.no_speech", { from: timeText(gap.start), to: timeText(gap.end), length });
  }
  const utterance = itemAt(film.speech, seconds);
  return utterance ? text("where.speech", { time: timeText(utterance.end) }) : text("where.beside_speech");
}

/** "line 4 of 17, accepted" or "1.2 seconds before line 5" */
function lineWords(lines, seconds) {
  const index = firstEndingAfter(lines, seconds);
  const line = lines[index];
  if (!line) return text("where.after_lines");
  const number = index + 1;
  if (line.start > seconds) return text("where.before_line", { seconds: spokenSeconds(line.start - seconds), number });
  const [, state] = STATES[stateOf(line)];
  return text("where.line", { number, total: lines.length, state });
}

/**
 * @param {Film} film
 * @param {Line[]} lines  In order of time.
 * @param {number} seconds
 * @returns {string} One sentence for the eye.
 */
export function whereText(film, lines, seconds) {
  const words = [shotWords(film, seconds), speechWords(film, seconds, shortTime), lineWords(lines, seconds)];
  return [shortTime(seconds), ...words].join("; ");
}

/**
 * @param {Film} film
 * @param {Line[]} lines  In order of time.
 * @param {number} seconds
 * @returns {string} Some sentences for the ear.
 */
export function whereSpoken(film, lines, seconds) {
  const words = [shotWords(film, seconds), speechWords(film, seconds, spokenTime), lineWords(lines, seconds)];
  const sentences = [spokenTime(seconds), ...words].map(
    (part) => `${part[0].toLocaleUpperCase(language)}${part.slice(1)}.`,
  );
  return sentences.join(" ");
}

/**
 * @param {Film} film
 * @param {Line[]} lines  In order of time.
 * @param {number} from  Seconds, as `to`.
 * @param {number} to
 * @returns {string} What the picture of the time line shows between two seconds.
 */
export function viewWords(film, lines, from, to) {
  const utterances = countInView(film.speech, from, to);
  const parts = [
    text("where.shots", { count: countInView(film.shots, from, to) }),
    utterances
      ? text("where.speech_places", { count: utterances })
      : text("where.silence"),
    text("where.slots", { count: countInView(film.slots, from, to) }),
    text("where.lines", { count: countInView(lines, from, to) }),
  ];
  const values = { from: shortTime(from), to: shortTime(to), content: parts.join(", ") };
  return text("where.view", values);
}
