/** What this browser remembers of a person's habits. */

import { emit } from "./store.js";

const KEY = "shotad-settings";

/** @type {{singleKeys: boolean, name: string, asked: boolean}} */
export const settings = { singleKeys: true, name: "", asked: false, ...read() };

/** @returns {object} */
function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {}; // storage that is forbidden, or that somebody else wrote
  }
}

/**
 * Changes settings, and remembers them.
 *
 * @param {Partial<typeof settings>} changes
 */
export function set(changes) {
  Object.assign(settings, changes);
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // They hold for this page then.
  }
  emit("settings", settings);
}
