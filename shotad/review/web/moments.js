/** Start and end of a line: fields that take a typed time, arrow keys for a frame and Page keys for 0.1 s. */

import { make, setText } from "./build.js";
import { commandButton, runCommand } from "./commands.js";
import { say } from "./say.js";
import { act, chosenLine } from "./store.js";
import { decimal, text } from "./texts.js";
import { exactTime, parseTime, spokenTime } from "./times.js";

/** Keys of a spin button, and the commands (after "start-" or "end-") that they are. */
const STEPS = { ArrowUp: "later", ArrowDown: "earlier", PageUp: "later-far", PageDown: "earlier-far" };
const BUTTONS = [
  ["earlier-far", text("moments.earlier_far")],
  ["earlier", text("moments.earlier")],
  ["later", text("moments.later")],
  ["later-far", text("moments.later_far")],
];
/** Seconds: times that differ by less are the same. */
const SAME = 0.0005;

/**
 * Makes one of the two fields.
 *
 * @param {"start"|"end"} end
 * @param {string} title
 * @returns {{element: HTMLElement, show: (line: import("./store.js").Line) => void, reset: () => void}} `reset` gives
 *   up what is typed.
 */
function makeTimeField(end, title) {
  const id = `moment-${end}`;
  const field = make("input", {
    id, type: "text", role: "spinbutton", inputmode: "decimal", autocomplete: "off", spellcheck: false,
    "aria-describedby": "moment-room",
  });
  const error = make("span", { class: "d-wrong", hidden: true });
  let isTyped = false;

  const show = (line) => {
    const seconds = line[end];
    if (!isTyped) field.value = exactTime(seconds);
    field.setAttribute("aria-valuenow", seconds.toFixed(3));
    field.setAttribute("aria-valuetext", spokenTime(seconds, 3));
    const [low, high] = line.room ?? [];
    for (const [name, limit] of [["aria-valuemin", low], ["aria-valuemax", high]])
      if (limit === undefined) field.removeAttribute(name);
      else field.setAttribute(name, limit.toFixed(3));
  };
  const take = async () => {
    if (!isTyped) return;
    const seconds = parseTime(field.value);
    const isWrong = seconds === null;
    field.setAttribute("aria-invalid", String(isWrong));
    error.hidden = !isWrong;
    setText(error, isWrong ? text("moments.no_time", { written: field.value, example: exactTime(80.4) }) : "");
    if (isWrong) {
      say(error.textContent);
      return;
    }
    isTyped = false;
    if (chosenLine() && Math.abs(seconds - chosenLine()[end]) >= SAME) await act("move", { [end]: seconds });
    if (chosenLine()) show(chosenLine());
  };
  const reset = () => {
    isTyped = false;
    error.hidden = true;
    field.removeAttribute("aria-invalid");
    if (chosenLine()) show(chosenLine());
  };
  field.addEventListener("input", () => (isTyped = true));
  field.addEventListener("change", take);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.ctrlKey) take();
    else if (event.key === "Escape") reset();
    else if (STEPS[event.key] && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      if (isTyped) take();
      else runCommand(`${end}-${STEPS[event.key]}`, event);
    }
  });
  const buttons = BUTTONS.map(([step, label]) => {
    const button = commandButton(`${end}-${step}`, label);
    button.setAttribute("aria-label", `${title} ${label}`); // as it is written: who speaks to the computer says what they see
    button.className = "d-step";
    return button;
  });
  const steps = make("div", { class: "d-steps" }, ...buttons);
  const element = make("div", { class: "d-moment" }, make("label", { for: id }, title), field, steps, error);
  return { element, show, reset };
}

/**
 * @param {HTMLElement} place
 * @returns {{show: (line: import("./store.js").Line, isNew: boolean) => void}} isNew: another line than before; what
 *   was typed for that is given up.
 */
export function timePanel(place) {
  const fields = [makeTimeField("start", text("moments.start")), makeTimeField("end", text("moments.end"))];
  const room = make("p", { id: "moment-room", class: "d-note" });
  const legend = make("legend", {}, make("h3", {}, text("moments.heading")));
  const row = make("div", { class: "d-moments" }, ...fields.map((field) => field.element));
  place.append(make("fieldset", { class: "d-group" }, legend, row, room));
  return {
    show(line, isNew) {
      for (const field of fields) {
        if (isNew) field.reset();
        else field.show(line);
      }
      if (!line.room) return setText(room, text("moments.unknown"));
      const [from, to] = line.room;
      const values = { from: exactTime(from), to: exactTime(to), seconds: decimal(to - from, 1) };
      return setText(room, text("moments.free", values));
    },
  };
}
