/** Where a moment lies in the film, in words: what the time line shows, for those who do not see it. Pure. */

import { countInView, firstEndingAfter, itemAt } from "./timeline-scale.js";
import { shortTime, spokenTime } from "./times.js";
import { pluralize, threadLetters } from "./wording.js";

/** @returns {string} "shot 3 of 17, thread B, close-up" */
export function shotWords(film, seconds) {
  const shot = itemAt(film.shots, seconds);
  if (!shot) return "after the last shot";
  const thread = shot.thread === null || shot.thread === undefined ? "" : `thread ${threadLetters(shot.thread)}`;
  return [`shot ${shot.index + 1} of ${film.shots.length}`, thread, shot.scale].filter(Boolean).join(", ");
}

/** The gap in speech around a second, or null where there is speech, or none is known. */
export function gapAt(film, seconds) {
  const gaps = film.free ?? [];
  const at = firstEndingAfter(gaps.map(([start, end]) => ({ start, end })), seconds);
  const gap = gaps[at];
  return gap && gap[0] <= seconds ? gap : null;
}

/** @returns {string} "no speech from 1:20.4 to 1:26.7, 6.3 seconds" */
export function speechWords(film, seconds, write = shortTime) {
  const gap = gapAt(film, seconds);
  if (gap) return `no speech from ${write(gap[0])} to ${write(gap[1])}, ${pluralize(Number((gap[1] - gap[0]).toFixed(1)), "second")}`;
  const speech = itemAt(film.speech, seconds);
  return speech ? `speech until ${write(speech.end)}` : "close to speech";
}

/** @returns {string} "line 4 of 17, accepted" or "before line 5" */
export function lineWords(lines, seconds) {
  const at = firstEndingAfter(lines, seconds);
  const line = lines[at];
  if (!line) return "after the last line";
  if (line.start > seconds) return `${(line.start - seconds).toFixed(1)} seconds before line ${at + 1}`;
  return `line ${at + 1} of ${lines.length}, ${line.heard ? line.state : line.text ? "left out" : "to write"}`;
}

/** One sentence for the eye. */
export const whereText = (film, lines, seconds) =>
  [shortTime(seconds), shotWords(film, seconds), speechWords(film, seconds), lineWords(lines, seconds)].join(" · ");

/** Some sentences for the ear. */
export function whereSpoken(film, lines, seconds) {
  const parts = [spokenTime(seconds), shotWords(film, seconds), speechWords(film, seconds, spokenTime), lineWords(lines, seconds)];
  return parts.map((part) => `${part[0].toUpperCase()}${part.slice(1)}.`).join(" ");
}

/** What the picture of the time line shows between two seconds. */
export function viewWords(film, lines, from, to) {
  const parts = [
    pluralize(countInView(film.shots, from, to), "shot"),
    pluralize(countInView(film.speech, from, to), "stretch of speech", "stretches of speech"),
    pluralize(countInView(film.slots, from, to), "slot"),
    pluralize(countInView(lines, from, to), "line"),
  ];
  return `Time line from ${shortTime(from)} to ${shortTime(to)}: ${parts.join(", ")}.`;
}
