/**
 * Pure arithmetic of the time line: what of a sorted row is in view, and where ticks stand. Items are in order of
 * time, with `start` and `end` in seconds.
 */

/**
 * @param {{end: number}[]} items
 * @param {number} seconds
 * @returns {number} Index of the first item that ends after a second; the number of items where none does.
 */
export function firstEndingAfter(items, seconds) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].end <= seconds) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Calls `draw` for each item that is seen between two seconds.
 *
 * @template {{start: number, end: number}} Item
 * @param {Item[]} items
 * @param {number} from
 * @param {number} to
 * @param {(item: Item) => void} draw
 */
export function eachInView(items, from, to, draw) {
  for (let i = firstEndingAfter(items, from); i < items.length && items[i].start < to; i += 1) draw(items[i]);
}

/**
 * @param {{start: number, end: number}[]} items
 * @param {number} from
 * @param {number} to
 * @returns {number} How many items are seen between two seconds.
 */
export function countInView(items, from, to) {
  let count = 0;
  eachInView(items, from, to, () => (count += 1));
  return count;
}

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
/** Pixels that ticks stand from each other at least. */
const TICK_DISTANCE = 80;

/**
 * @param {number} pixelsPerSecond
 * @returns {number} Seconds between ticks.
 */
export const tickStep = (pixelsPerSecond) => STEPS.find((step) => step * pixelsPerSecond >= TICK_DISTANCE) ?? 3600;

/**
 * @template {{start: number, end: number}} Item
 * @param {Item[]} items
 * @param {number} seconds
 * @returns {Item|null} The item that holds a second.
 */
export function itemAt(items, seconds) {
  const item = items[firstEndingAfter(items, seconds)];
  return item && item.start <= seconds ? item : null;
}
