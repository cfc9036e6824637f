/** Start and end of a line: fields that take a typed time, arrow keys for a frame and Page keys for 0.1 s. */

import { make as el } from "./build.js";
import { button, run } from "./commands.js";
import { say } from "./say.js";
import { act, line } from "./store.js";
import { parse } from "./times.js";
import { aloud, exact, setText } from "./wording.js";

/** Keys of a spin button and the commands that they are. */
const STEPS = { ArrowUp: "later", ArrowDown: "earlier", PageUp: "later-far", PageDown: "earlier-far" };
const BUTTONS = [
  ["earlier-far", "−0.1 s"],
  ["earlier", "−1 frame"],
  ["later", "+1 frame"],
  ["later-far", "+0.1 s"],
];

/** One of the two fields, `which` is "start" or "end". */
function moment(which, title) {
  const id = `moment-${which}`;
  const field = el("input", {
    id, type: "text", role: "spinbutton", inputmode: "decimal", autocomplete: "off", spellcheck: false,
    "aria-describedby": "moment-room",
  });
  const error = el("span", { class: "d-wrong", hidden: true });
  let typed = false;

  const show = (shown) => {
    const seconds = shown[which];
    if (!typed) field.value = exact(seconds);
    field.setAttribute("aria-valuenow", seconds.toFixed(3));
    field.setAttribute("aria-valuetext", aloud(seconds, 3));
    const [low, high] = shown.room ?? [];
    for (const [name, value] of [["aria-valuemin", low], ["aria-valuemax", high]])
      if (value === undefined) field.removeAttribute(name);
      else field.setAttribute(name, value.toFixed(3));
  };
  const take = async () => {
    if (!typed) return;
    const seconds = parse(field.value);
    const wrong = seconds === null;
    field.setAttribute("aria-invalid", String(wrong));
    error.hidden = !wrong;
    setText(error, wrong ? `“${field.value}” is no time. Write minutes and seconds, as in 1:20.400.` : "");
    if (wrong) return say(error.textContent);
    typed = false;
    if (line() && Math.abs(seconds - line()[which]) >= 0.0005) await act("move", { [which]: seconds });
    if (line()) show(line());
  };
  const forget = () => {
    typed = false;
    error.hidden = true;
    field.removeAttribute("aria-invalid");
    if (line()) show(line());
  };
  field.addEventListener("input", () => (typed = true));
  field.addEventListener("change", take);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.ctrlKey) take();
    else if (event.key === "Escape") forget();
    else if (STEPS[event.key] && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      if (typed) take();
      else run(`${which}-${STEPS[event.key]}`, event);
    }
  });
  const buttons = BUTTONS.map(([step, text]) => {
    const made = button(`${which}-${step}`, text);
    made.setAttribute("aria-label", `${title} ${text}`); // as it is written: who speaks to the computer says what they see
    made.className = "d-step";
    return made;
  });
  const box = el("div", { class: "d-moment" },
    el("label", { for: id }, title), field, el("div", { class: "d-steps" }, ...buttons), error);
  return { box, show, forget };
}

/**
 * @param {HTMLElement} place
 * @returns {{show: (line: object, isNew: boolean) => void}}
 */
export function moments(place) {
  const fields = [moment("start", "Start"), moment("end", "End")];
  const room = el("p", { id: "moment-room", class: "d-note" });
  place.append(el("fieldset", { class: "d-group" }, el("legend", {}, el("h3", {}, "When it is spoken")),
    el("div", { class: "d-moments" }, ...fields.map((one) => one.box)), room));
  return {
    show(shown, isNew) {
      for (const field of fields) (isNew ? field.forget : field.show)(shown);
      setText(room, shown.room
        ? `Can be placed from ${exact(shown.room[0])} to ${exact(shown.room[1])}: ${(shown.room[1] - shown.room[0]).toFixed(1)} s are free.`
        : "How much is free around it is not known.");
    },
  };
}
