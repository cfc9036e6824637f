/** Where a moment lies in the film, in words: what the time line shows, for those who do not see it. Pure. */

import { countInView, firstEndingAfter, itemAt } from "./timeline-scale.js";
import { shortTime, spokenTime } from "./times.js";
import { pluralize, threadLetters } from "./wording.js";

/** @typedef {import("./store.js").Film} Film */
/** @typedef {import("./store.js").Line} Line */

/** "shot 3 of 17, thread B, close-up" */
function shotWords(film, seconds) {
  const shot = itemAt(film.shots, seconds);
  if (!shot) return "after the last shot";
  const thread = shot.thread === null ? "" : `thread ${threadLetters(shot.thread)}`;
  return [`shot ${shot.index + 1} of ${film.shots.length}`, thread, shot.scale].filter(Boolean).join(", ");
}

/** The gap in speech around a second; null where there is speech, or none is known. */
const gapAt = (film, seconds) => itemAt(film.free.map(([start, end]) => ({ start, end })), seconds);

/** "no speech from 1:20.4 to 1:26.7, 6.3 seconds" */
function speechWords(film, seconds, timeText) {
  const gap = gapAt(film, seconds);
  if (gap) {
    const length = pluralize(Number((gap.end - gap.start).toFixed(1)), "second");
    return `no speech from ${timeText(gap.start)} to ${timeText(gap.end)}, ${length}`;
  }
  const utterance = itemAt(film.speech, seconds);
  return utterance ? `speech until ${timeText(utterance.end)}` : "just before or after speech";
}

/** What a line is, as the list calls it too. */
function stateWord(line) {
  if (!line.heard) return line.text ? "left out" : "to write";
  return line.state === "edited" ? "written" : line.state;
}

/** "line 4 of 17, accepted" or "1.2 seconds before line 5" */
function lineWords(lines, seconds) {
  const index = firstEndingAfter(lines, seconds);
  const line = lines[index];
  if (!line) return "after the last line";
  if (line.start > seconds) return `${(line.start - seconds).toFixed(1)} seconds before line ${index + 1}`;
  return `line ${index + 1} of ${lines.length}, ${stateWord(line)}`;
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
  const sentences = [spokenTime(seconds), ...words].map((part) => `${part[0].toUpperCase()}${part.slice(1)}.`);
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
    pluralize(countInView(film.shots, from, to), "shot"),
    utterances ? `speech in ${pluralize(utterances, "place")}` : "no speech",
    pluralize(countInView(film.slots, from, to), "slot"),
    pluralize(countInView(lines, from, to), "line"),
  ];
  return `Time line from ${shortTime(from)} to ${shortTime(to)}: ${parts.join(", ")}.`;
}
