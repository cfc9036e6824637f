/**
 * Text that was typed and is not saved yet, kept in the tab's session storage: it outlives a server that is gone
 * and a page that is loaded again.
 *
 * @typedef {{text: string, seen: string|null}} Typed  seen: stamp of the line it was typed over.
 */

const KEY = "shotad-unsaved";

/** @returns {Record<string, Typed>} By line. */
export function all() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

/** @param {Record<string, Typed>} texts */
function write(texts) {
  try {
    if (Object.keys(texts).length) sessionStorage.setItem(KEY, JSON.stringify(texts));
    else sessionStorage.removeItem(KEY);
  } catch {
    // Storage that is full or forbidden: the text stays in its field.
  }
}

/**
 * @param {string} id
 * @param {string} text
 * @param {string|null} seen
 */
export const keep = (id, text, seen) => write({ ...all(), [id]: { text, seen } });

/**
 * Forgets a text that is saved, unless a newer one was typed meanwhile.
 *
 * @param {string} id
 * @param {string} text
 */
export function saved(id, text) {
  if (all()[id]?.text === text) forget(id);
}

/** @param {string} id */
export function forget(id) {
  const texts = all();
  delete texts[id];
  write(texts);
}
