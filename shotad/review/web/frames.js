/**
 * The frames that the model saw of a line's slot, as it saw them: raw, or with what was painted on them.
 *
 * @typedef {{number: number, seconds: number, shot: number, index: number, role: string, scale: string|null,
 *   shown: boolean, painted: boolean, url: string, painted_url: string}} Frame  number: from 1. shown: it is one of
 *   the few that tell enough. painted: the model saw marks on it.
 */

import { addressOf } from "./api.js";
import { make, setText } from "./build.js";
import { say } from "./say.js";
import { shortTime } from "./times.js";
import { pluralize } from "./wording.js";

/** What a frame is: "Frame 3, 1:20.4, shot 2". */
const nameOf = ({ number, seconds, shot }) => `Frame ${number}, ${shortTime(seconds)}, shot ${shot}`;

/** An index within a list. */
const clamp = (index, length) => Math.min(length - 1, Math.max(0, index));

/** A dialog with one frame large; arrow keys go through all. */
function makeEnlarger() {
  const image = make("img", { class: "d-large" });
  const caption = make("p", { class: "d-caption", role: "status" });
  let frames = [];
  let isPainted = false;
  let index = 0;
  const show = () => {
    const frame = frames[index];
    image.src = addressOf(isPainted ? frame.painted_url : frame.url);
    image.alt = nameOf(frame);
    setText(caption, `${nameOf(frame)} (${index + 1} of ${frames.length})`);
    earlier.setAttribute("aria-disabled", String(index === 0));
    later.setAttribute("aria-disabled", String(index === frames.length - 1));
  };
  const step = (direction) => {
    index = clamp(index + direction, frames.length);
    show();
  };
  const earlier = make("button", { type: "button", onclick: () => step(-1) }, "Frame before");
  const later = make("button", { type: "button", onclick: () => step(1) }, "Frame after");
  const close = make("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const buttons = make("div", { class: "d-row" }, earlier, later, close);
  const dialog = make("dialog", { class: "d-enlarged", "aria-label": "Frame, enlarged" }, image, caption, buttons);
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "ArrowRight") step(1);
  });
  document.body.append(dialog);
  return {
    /** Shows a frame; resolves to the index of the one that was shown last. */
    open(shownFrames, firstIndex, painted) {
      [frames, index, isPainted] = [shownFrames, firstIndex, painted];
      show();
      dialog.showModal();
      close.focus();
      return new Promise((resolve) => dialog.addEventListener("close", () => resolve(index), { once: true }));
    },
  };
}

/**
 * @param {HTMLElement} place
 * @returns {{show: (frames: Frame[]|null) => void}} null: they are being fetched.
 */
export function framePanel(place) {
  const enlarger = makeEnlarger();
  const painted = make("input", { type: "checkbox", id: "frames-painted" });
  const paintedLabel = make("label", { class: "d-switch" }, painted, "Show what was painted on them for the model");
  const allToggle = make("button", { type: "button", class: "d-every", "aria-pressed": "false", hidden: true }, "All frames");
  const list = make("ul", { class: "d-frames", "aria-labelledby": "frames-heading" });
  const note = make("p", { class: "d-note" });
  const heading = make("h3", { id: "frames-heading" }, "Frames that the model saw");
  const header = make("div", { class: "d-headed" }, heading, allToggle, paintedLabel);
  place.append(make("section", { class: "d-section" }, header, list, note));
  /** @type {Frame[]} All that the model saw. */
  let frames = [];
  /** @type {Frame[]} Those in the list: all, or the few that tell enough. */
  let listed = [];

  const sourceOf = (frame) => addressOf(painted.checked ? frame.painted_url : frame.url);
  const buttons = () => [...list.querySelectorAll("button")];
  // One stop of the Tab key for all frames; arrow keys move among them.
  const focusFrame = (index) => {
    for (const [i, button] of buttons().entries()) button.tabIndex = i === index ? 0 : -1;
    buttons()[index]?.focus();
  };
  const enlarge = async (index) => focusFrame(await enlarger.open(listed, index, painted.checked));
  const frameItem = (frame, index) => {
    const image = make("img", {
      src: sourceOf(frame), alt: nameOf(frame), loading: "lazy", decoding: "async", width: 144, height: 81,
    });
    const under = `${frame.number} · ${shortTime(frame.seconds)}`;
    const options = { type: "button", tabIndex: index ? -1 : 0, title: "Enlarge", onclick: () => enlarge(index) };
    const caption = make("span", { class: "d-under", "aria-hidden": "true" }, under);
    return make("li", {}, make("button", options, image, caption));
  };
  list.addEventListener("keydown", (event) => {
    const index = buttons().indexOf(document.activeElement);
    const target = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: listed.length - 1 }[event.key];
    if (index < 0 || target === undefined || event.altKey || event.ctrlKey) return;
    event.preventDefault();
    focusFrame(clamp(target, listed.length));
  });
  painted.addEventListener("change", () => {
    for (const [i, image] of [...list.querySelectorAll("img")].entries()) image.src = sourceOf(listed[i]);
  });

  /** Fills the list; how many frames are in it. */
  const fill = () => {
    const few = frames.filter((frame) => frame.shown);
    const isAll = !few.length || allToggle.getAttribute("aria-pressed") === "true";
    listed = isAll ? frames : few;
    list.replaceChildren(...listed.map(frameItem));
    allToggle.hidden = !few.length || few.length === frames.length;
    const total = pluralize(frames.length, "frame");
    const countText = listed.length === frames.length ? total : `${listed.length} of ${total}`;
    setText(heading, frames.length ? `${countText} that the model saw` : "Frames that the model saw");
    return countText;
  };
  allToggle.addEventListener("click", () => {
    allToggle.setAttribute("aria-pressed", String(allToggle.getAttribute("aria-pressed") !== "true"));
    say(`${fill()} shown.`, "frames");
  });

  let filledFrom = "";
  return {
    show(fetched) {
      const key = JSON.stringify(fetched);
      if (key === filledFrom) return;
      filledFrom = key;
      frames = fetched ?? [];
      allToggle.setAttribute("aria-pressed", "false");
      fill();
      list.hidden = !frames.length;
      paintedLabel.hidden = !frames.some((frame) => frame.painted);
      note.hidden = frames.length > 0;
      note.classList.toggle("coming", fetched === null); // keeps the height, so that nothing jumps
      const noFrames = "No model looked at frames for this line.";
      setText(note, fetched === null ? "…" : frames.length ? "" : noFrames);
    },
  };
}
