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
import { text } from "./texts.js";
import { shortTime } from "./times.js";

/** What a frame is: "Frame 3, 1:20.4, shot 2". */
const nameOf = ({ number, seconds, shot }) =>
  text("frames.frame", { number, time: shortTime(seconds), shot });

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
    const place = { frame: nameOf(frame), number: index + 1, total: frames.length };
    setText(caption, text("frames.caption", place));
    earlier.setAttribute("aria-disabled", String(index === 0));
    later.setAttribute("aria-disabled", String(index === frames.length - 1));
  };
  const step = (direction) => {
    index = clamp(index + direction, frames.length);
    show();
  };
  const earlier = make("button", { type: "button", onclick: () => step(-1) }, text("frames.before"));
  const later = make("button", { type: "button", onclick: () => step(1) }, text("frames.after"));
  const close = make("button", { type: "button", onclick: () => dialog.close() }, text("dialog.close"));
  const buttons = make("div", { class: "d-row" }, earlier, later, close);
  const dialog = make(
    "dialog",
    { class: "d-enlarged", "aria-label": text("frames.enlarged") },
    image,
    caption,
    buttons,
  );
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
  const paintedLabel = make("label", { class: "d-switch" }, painted, text("frames.painted"));
  const allToggle = make(
    "button",
    { type: "button", class: "d-every", "aria-pressed": "false", hidden: true },
    text("frames.all"),
  );
  const list = make("ul", { class: "d-frames", "aria-labelledby": "frames-heading" });
  const note = make("p", { class: "d-note" });
  const heading = make("h3", { id: "frames-heading" }, text("frames.heading"));
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
    const options = {
      type: "button",
      tabIndex: index ? -1 : 0,
      title: text("frames.enlarge"),
      onclick: () => enlarge(index),
    };
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

  /** Fills the list. */
  const fill = () => {
    const few = frames.filter((frame) => frame.shown);
    const isAll = !few.length || allToggle.getAttribute("aria-pressed") === "true";
    listed = isAll ? frames : few;
    list.replaceChildren(...listed.map(frameItem));
    allToggle.hidden = !few.length || few.length === frames.length;
    const count = frames.length;
    if (!count) setText(heading, text("frames.heading"));
    else if (listed.length === count) setText(heading, text("frames.heading_all", { count }));
    else setText(heading, text("frames.heading_some", { shown: listed.length, count }));
  };
  allToggle.addEventListener("click", () => {
    allToggle.setAttribute("aria-pressed", String(allToggle.getAttribute("aria-pressed") !== "true"));
    fill();
    say(text("frames.shown", { shown: listed.length, count: frames.length }), "frames");
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
      const noFrames = text("frames.none");
      setText(note, fetched === null ? "…" : frames.length ? "" : noFrames);
    },
  };
}
