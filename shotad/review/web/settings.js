/** What this browser remembers of a person's habits. */

const STORAGE_KEY = "shotad-settings";

/**
 * singleKeys: whether keys of one character act. name: who reviews. language: tag of the language of the page; empty:
 * as the browser wants it.
 *
 * @type {{singleKeys: boolean, name: string, language: string}}
 */
export const settings = { singleKeys: true, name: "", language: "", ...read() };

/** @returns {object} */
function read() {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
  } catch {
    return {}; // storage that is forbidden, or that somebody else wrote
  }
}

/**
 * Changes settings, and remembers them.
 *
 * @param {Partial<typeof settings>} changes
 */
export function changeSettings(changes) {
  Object.assign(settings, changes);
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(settings));
  } catch {
    // They hold for this page then.
  }
}
