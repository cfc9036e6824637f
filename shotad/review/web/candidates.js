/** The candidates of a line: a group of radio buttons, numbered as the keys that choose them. */

import { make as el } from "./build.js";
import { act, line } from "./store.js";
import { count, setText } from "./wording.js";

/** Keys 1 to 5 choose from the list of lines; further candidates have their number only to be read. */
const KEYS = 5;

/** What the group calls itself: how many there are, and whether the text has left them. */
function legendOf(shown) {
  const many = shown.candidates.length;
  const own = shown.chosen === null || shown.text !== shown.candidates[shown.chosen];
  return `${count(many, "candidate")}${own && shown.text ? "; the text differs" : ""}`;
}

function option(text, index, id) {
  const input = el("input", { type: "radio", name: "candidate", value: index + 1 });
  input.addEventListener("change", () => act("choose", { number: index + 1 }, { line: id }));
  const number = el("span", { class: "d-number" }, String(index + 1));
  if (index < KEYS) number.title = `Key ${index + 1}`;
  return el("label", { class: "d-candidate" }, input, number, el("span", { class: "d-candidate-text" }, text));
}

/**
 * @param {HTMLElement} place
 * @returns {{show: (line: object) => void}}
 */
export function candidates(place) {
  const legend = el("h3");
  const box = el("div", { class: "d-candidates" });
  const group = el("fieldset", { class: "d-group", hidden: true }, el("legend", {}, legend), box);
  place.append(group);
  let made = "";

  const fill = (shown) => {
    const key = JSON.stringify([shown.id, shown.candidates]);
    if (key === made) return;
    made = key;
    // The old choice must not take the focus along when it goes.
    const focused = box.contains(document.activeElement);
    box.replaceChildren(...shown.candidates.map((text, i) => option(text, i, shown.id)));
    for (const label of box.children) label.lang = shown.language;
    if (focused) box.querySelector("input")?.focus();
  };
  const mark = (shown) => {
    for (const [i, label] of [...box.children].entries()) {
      const is = i === shown.chosen;
      const input = label.querySelector("input");
      input.checked = is && shown.text === shown.candidates[i];
      label.classList.toggle("chosen", is);
    }
  };
  return {
    show(shown = line()) {
      group.hidden = !shown?.candidates.length;
      if (group.hidden) return;
      fill(shown);
      mark(shown);
      setText(legend, legendOf(shown));
    },
  };
}
