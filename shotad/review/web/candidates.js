/** The candidates of a line: a group of radio buttons, numbered as the keys that choose them. */

import { make, setText } from "./build.js";
import { act } from "./store.js";
import { text } from "./texts.js";

/** Keys 1 to 5 choose from the list of lines; further candidates have their number only to be read. */
const KEYS = 5;

/** What the group calls itself: how many there are, and whether the text has left them. */
function legendText({ candidates, chosen, text: written }) {
  const count = candidates.length;
  const isOwnText = written && (chosen === null || written !== candidates[chosen]);
  if (isOwnText) return text("candidates.legend_other_text", { count });
  return text("candidates.legend", { count });
}

function option(candidate, index, line) {
  const input = make("input", { type: "radio", name: "candidate", value: index + 1 });
  input.addEventListener("change", () => act("choose", { number: index + 1 }, { line: line.id }));
  const number = make("span", { class: "d-number" }, String(index + 1));
  if (index < KEYS) number.title = text("candidates.key", { key: index + 1 });
  return make("label", { class: "d-candidate", lang: line.language }, input, number, make("span", {}, candidate));
}

/**
 * @param {HTMLElement} place
 * @returns {{show: (line: import("./store.js").Line) => void}}
 */
export function candidatePanel(place) {
  const legend = make("h3");
  const box = make("div", { class: "d-candidates" });
  const group = make("fieldset", { class: "d-group", hidden: true }, make("legend", {}, legend), box);
  place.append(group);
  let filledFrom = "";

  const fill = (line) => {
    const key = JSON.stringify([line.id, line.candidates]);
    if (key === filledFrom) return;
    filledFrom = key;
    // The old choice must not take the focus along when it goes.
    const hadFocus = box.contains(document.activeElement);
    box.replaceChildren(...line.candidates.map((candidate, i) => option(candidate, i, line)));
    if (hadFocus) box.querySelector("input")?.focus();
  };
  const mark = (line) => {
    for (const [i, label] of [...box.children].entries()) {
      const isChosen = i === line.chosen;
      label.querySelector("input").checked = isChosen && line.text === line.candidates[i];
      label.classList.toggle("chosen", isChosen);
    }
  };
  return {
    show(line) {
      group.hidden = !line.candidates.length;
      if (group.hidden) return;
      fill(line);
      mark(line);
      setText(legend, legendText(line));
    },
  };
}
