/** Times of a film, written and read. */

/**
 * @param {number} seconds
 * @param {number} [digits] Digits after the point.
 * @returns {string} "1:20", "1:02:03.5"
 */
export function clock(seconds, digits = 0) {
  const unit = 10 ** digits;
  const ticks = Math.max(0, digits ? Math.round(seconds * unit) : Math.floor(seconds + 1e-6));
  const whole = Math.floor(ticks / unit);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n) => String(n).padStart(2, "0");
  const fraction = digits ? `.${String(ticks % unit).padStart(digits, "0")}` : "";
  return `${h ? `${h}:${two(m)}` : m}:${two(s)}${fraction}`;
}

/**
 * Reads a time that somebody wrote: "80", "1:20", "1:20.5", "1:02:03", "1 20", "1m20s".
 *
 * @param {string} text
 * @returns {number|null} Seconds; null if it is no time.
 */
export function parse(text) {
  const parts = text.trim().toLowerCase().replace(",", ".").replace(/s$/u, "").split(/[:\s]+|[hm]\s*/u);
  if (parts.at(-1) === "") parts[parts.length - 1] = "0";
  if (!parts.length || parts.length > 3 || !parts.every((part) => /^\d+(\.\d+)?$/u.test(part))) return null;
  return parts.reduce((sum, part) => sum * 60 + Number(part), 0) * (/^\s*\d+\s*h\s*$/iu.test(text) ? 60 : 1);
}
