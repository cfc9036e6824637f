// Pure arithmetic of the time line: what of a sorted row is in view, where ticks stand.

/** Index of the first item of `items` (in order of time) that ends after `seconds`. */
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

/** Calls `draw(item, index)` for each item that is seen between two seconds. */
export function eachInView(items, from, to, draw) {
  for (let i = firstEndingAfter(items, from); i < items.length && items[i].start < to; i++) draw(items[i], i);
}

/** How many items are seen between two seconds. */
export function countInView(items, from, to) {
  let n = 0;
  eachInView(items, from, to, () => n++);
  return n;
}

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];

/** Seconds between ticks that stand at least `apart` pixels from each other. */
export function tickStep(pixelsPerSecond, apart = 80) {
  return STEPS.find((step) => step * pixelsPerSecond >= apart) ?? 3600;
}

/** The item that holds a second, or null. */
export function itemAt(items, seconds) {
  const item = items[firstEndingAfter(items, seconds)];
  return item && item.start <= seconds ? item : null;
}
