/** Times of a film, written, spoken and read. */

import { pluralize } from "./wording.js";

/**
 * @param {number} seconds
 * @param {number} [digits] Digits after the point.
 * @returns {string} "1:20", "1:02:03.5"
 */
export function clock(seconds, digits = 0) {
  const unit = 10 ** digits;
  const ticks = Math.max(0, digits ? Math.round(seconds * unit) : Math.floor(seconds + 1e-6));
  const whole = Math.floor(ticks / unit);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const twoDigits = (number) => String(number).padStart(2, "0");
  const fraction = digits ? `.${String(ticks % unit).padStart(digits, "0")}` : "";
  return `${hours ? `${hours}:${twoDigits(minutes)}` : minutes}:${twoDigits(rest)}${fraction}`;
}

/** @param {number} seconds To the millisecond: 80.4 is "1:20.400". */
export const exactTime = (seconds) => clock(seconds, 3);

/** @param {number} seconds To a tenth: 80.43 is "1:20.4". */
export const shortTime = (seconds) => clock(seconds, 1);

/**
 * A time for the ear.
 *
 * @param {number} seconds
 * @param {number} [digits]
 * @returns {string} "1 minute 20.4 seconds"
 */
export function spokenTime(seconds, digits = 1) {
  const unit = 10 ** digits;
  const ticks = Math.round(Math.max(0, seconds) * unit);
  const whole = Math.floor(ticks / unit);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = (ticks - (hours * 3600 + minutes * 60) * unit) / unit;
  const parts = [];
  if (hours) parts.push(pluralize(hours, "hour"));
  if (minutes) parts.push(pluralize(minutes, "minute"));
  if (rest || !parts.length) parts.push(pluralize(rest, "second"));
  return parts.join(" ");
}

/**
 * Reads a time that somebody wrote: "80", "1:20", "1:20.5", "1:02:03", "1 20", "1m20s".
 *
 * @param {string} text
 * @returns {number|null} Seconds; null if it is no time.
 */
export function parseTime(text) {
  const parts = text.trim().toLowerCase().replace(",", ".").replace(/s$/u, "").split(/[:\s]+|[hm]\s*/u);
  if (parts.at(-1) === "") parts[parts.length - 1] = "0"; // "1m" and "2h" end with their unit
  const isTime = parts.length <= 3 && parts.every((part) => /^\d+(\.\d+)?$/u.test(part));
  if (!isTime) return null;
  const seconds = parts.reduce((sum, part) => sum * 60 + Number(part), 0);
  const isHoursAlone = /^\s*\d+\s*h\s*$/iu.test(text);
  return isHoursAlone ? seconds * 60 : seconds;
}
