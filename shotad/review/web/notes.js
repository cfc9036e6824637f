/** The note to a colleague on a line: a small field, saved as it is written. */

import { make } from "./build.js";
import { act, line } from "./store.js";

/** Characters that a note may have. */
const LONGEST = 2000;
/** Milliseconds without a key after which a note is saved. */
const REST = 800;

/**
 * Makes the field.
 *
 * @returns {{element: HTMLElement, show: (line: any) => void}} `show` brings it up to date with the chosen line; call
 *   it whenever another is chosen, and when the line has changed.
 */
export function noteField() {
  const field = make("textarea", { id: "line-note", rows: 2, maxLength: LONGEST, autocomplete: "off" });
  field.setAttribute("aria-describedby", "line-note-by");
  const by = make("span", { id: "line-note-by", className: "hint" });
  const element = make("div", { className: "line-note" }, make("label", { htmlFor: field.id }, "Note to a colleague"), field, by);
  let id = null;
  let timer = 0;
  let visit = 0;

  const save = () => {
    clearTimeout(timer);
    timer = 0;
    const text = field.value.trim();
    const shown = line(id);
    if (!shown || text === (shown.note?.text ?? "")) return;
    act("note", { text }, { line: id, group: `note-${id}-${visit}`, quiet: true });
  };
  field.addEventListener("focus", () => (visit += 1));
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(save, REST);
  });
  field.addEventListener("blur", save);

  const show = (shown) => {
    const isNew = shown.id !== id;
    if (isNew && timer) save();
    id = shown.id;
    // What somebody types is never replaced by what is saved.
    if (isNew || (!timer && document.activeElement !== field)) field.value = shown.note?.text ?? "";
    by.textContent = shown.note?.by ? `By ${shown.note.by}. Never spoken.` : "Never spoken. It goes along into Word, Excel, CSV, DAPT and WebVTT.";
  };
  return { element, show };
}
