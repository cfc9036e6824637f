/** Times of a film, written, spoken and read. */

import { decimal, text, withDecimalMark, withUnit } from "./texts.js";

/**
 * @param {number} seconds
 * @param {number} [digits] Digits after the point.
 * @returns {string} "1:20", "1:02:03.5", with the decimal mark of the language
 */
export function clock(seconds, digits = 0) {
  const unit = 10 ** digits;
  const ticks = Math.max(0, digits ? Math.round(seconds * unit) : Math.floor(seconds + 1e-6));
  const whole = Math.floor(ticks / unit);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const twoDigits = (number) => String(number).padStart(2, "0");
  const fraction = digits ? `.${String(ticks % unit).padStart(digits, "0")}` : "";
  return withDecimalMark(`${hours ? `${hours}:${twoDigits(minutes)}` : minutes}:${twoDigits(rest)}${fraction}`);
}

/** @param {number} seconds To the millisecond: 80.4 is "1:20.400". */
export const exactTime = (seconds) => clock(seconds, 3);

/** @param {number} seconds To a tenth: 80.43 is "1:20.4". */
export const shortTime = (seconds) => clock(seconds, 1);

/**
 * @param {number} seconds
 * @returns {string} "4.2 s"
 */
export const secondsText = (seconds) => text("times.seconds", { seconds: decimal(seconds, 1) });

/**
 * @param {number} seconds
 * @returns {string} The same for the ear: "4.2 seconds"
 */
export const spokenSeconds = (seconds) =>
  withUnit(seconds, "second", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

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
  if (hours) parts.push(withUnit(hours, "hour"));
  if (minutes) parts.push(withUnit(minutes, "minute"));
  if (rest || !parts.length) parts.push(withUnit(rest, "second", { maximumFractionDigits: digits }));
  return parts.join(" ");
}

/**
 * Reads a time that somebody wrote: "80", "1:20", "1:20.5", "1:02:03", "1 20", "1m20s".
 *
 * @param {string} written
 * @returns {number|null} Seconds; null if it is no time.
 */
export function parseTime(written) {
  const parts = written.trim().toLowerCase().replace(",", ".").replace(/s$/u, "").split(/[:\s]+|[hm]\s*/u);
  if (parts.at(-1) === "") parts[parts.length - 1] = "0"; // "1m" and "2h" end with their unit
  const isTime = parts.length <= 3 && parts.every((part) => /^\d+(\.\d+)?$/u.test(part));
  if (!isTime) return null;
  const seconds = parts.reduce((sum, part) => sum * 60 + Number(part), 0);
  const isHoursAlone = /^\s*\d+\s*h\s*$/iu.test(written);
  return isHoursAlone ? seconds * 60 : seconds;
}
