/** The note to a colleague on a line: a small field, saved as it is written. */

import { make } from "./build.js";
import { act, lineById } from "./store.js";
import { text } from "./texts.js";

/** Characters that a note may have. */
const LONGEST = 2000;
/** Milliseconds without a key after which a note is saved. */
const REST = 800;

/**
 * @param {HTMLElement} place
 * @returns {{show: (line: import("./store.js").Line) => void, focus: () => void}} `show` brings it up to date; call
 *   it whenever another line is chosen, and when the line has changed.
 */
export function notePanel(place) {
  const field = make("textarea", { id: "line-note", rows: 2, maxLength: LONGEST, autocomplete: "off" });
  field.setAttribute("aria-describedby", "line-note-by");
  const label = make("label", { htmlFor: field.id }, text("notes.label"));
  const hint = make("span", { id: "line-note-by", className: "hint" });
  place.append(make("div", { className: "line-note" }, label, field, hint));
  let id = null;
  let timer = 0;
  let visit = 0; // what is typed in one visit to the field is undone together

  const save = () => {
    clearTimeout(timer);
    timer = 0;
    const written = field.value.trim();
    const line = lineById(id);
    if (!line || written === (line.note?.text ?? "")) return;
    act("note", { text: written }, { line: id, group: `note-${id}-${visit}`, quiet: true });
  };
  field.addEventListener("focus", () => (visit += 1));
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(save, REST);
  });
  field.addEventListener("blur", save);

  const show = (line) => {
    const isNew = line.id !== id;
    if (isNew && timer) save();
    id = line.id;
    // What somebody types is never replaced by what is saved.
    if (isNew || (!timer && document.activeElement !== field)) field.value = line.note?.text ?? "";
    hint.textContent = line.note?.by
      ? text("notes.by", { name: line.note.by })
      : text("notes.hint");
  };
  return { show, focus: () => field.focus() };
}
