/** The frames that the model saw of a line's slot, as it saw them: raw, or with what was painted on them. */

import { make as el } from "./build.js";
import { say } from "./say.js";
import { count, setText, short } from "./wording.js";

/** What a frame is: "Frame 3, 1:20.4, shot 2". */
export const nameOf = (frame) =>
  `Frame ${frame.number}, ${short(frame.seconds)}` + (frame.shot === null || frame.shot === undefined ? "" : `, shot ${frame.shot}`);

/** A dialog with one frame large; arrow keys go through all. */
function enlarging() {
  const image = el("img", { class: "d-large" });
  const caption = el("p", { class: "d-caption", role: "status" });
  let frames = [];
  let painted = false;
  let at = 0;
  const show = () => {
    const frame = frames[at];
    image.src = painted ? frame.painted_url : frame.url;
    image.alt = nameOf(frame);
    setText(caption, `${nameOf(frame)} (${at + 1} of ${frames.length})`);
    earlier.setAttribute("aria-disabled", String(at === 0));
    later.setAttribute("aria-disabled", String(at === frames.length - 1));
  };
  const go = (by) => {
    at = Math.min(frames.length - 1, Math.max(0, at + by));
    show();
  };
  const earlier = el("button", { type: "button", onclick: () => go(-1) }, "Frame before");
  const later = el("button", { type: "button", onclick: () => go(1) }, "Frame after");
  const close = el("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = el("dialog", { class: "d-enlarged", "aria-label": "Frame, enlarged" },
    image, caption, el("div", { class: "d-row" }, earlier, later, close));
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") go(-1);
    else if (event.key === "ArrowRight") go(1);
  });
  document.body.append(dialog);
  return {
    open(all, index, isPainted) {
      [frames, at, painted] = [all, index, isPainted];
      show();
      dialog.showModal();
      close.focus();
      return new Promise((gone) => dialog.addEventListener("close", () => gone(at), { once: true }));
    },
  };
}

/**
 * @param {HTMLElement} place
 * @returns {{show: (frames: object[]|null) => void}} null: not known yet.
 */
export function frames(place) {
  const large = enlarging();
  const painted = el("input", { type: "checkbox", id: "frames-painted" });
  const switcher = el("label", { class: "d-switch" }, painted, "Show what was painted on them for the model");
  const every = el("button", { type: "button", class: "d-every", "aria-pressed": "false", hidden: true }, "All frames");
  const list = el("ul", { class: "d-frames", "aria-labelledby": "frames-heading" });
  const note = el("p", { class: "d-note" });
  const heading = el("h3", { id: "frames-heading" }, "Frames that the model saw");
  place.append(el("section", { class: "d-section" }, el("div", { class: "d-headed" }, heading, every, switcher), list, note));
  let known = []; // all that the model saw
  let all = []; // those that are shown: a choice that tells what is seen, or all

  const source = (frame) => (painted.checked ? frame.painted_url : frame.url);
  const buttons = () => [...list.querySelectorAll("button")];
  // One stop of the Tab key for all frames; arrow keys move among them.
  const stopAt = (index, focus) => {
    for (const [i, button] of buttons().entries()) button.tabIndex = i === index ? 0 : -1;
    if (focus) buttons()[index]?.focus();
  };
  const enlarge = async (index) => stopAt(await large.open(all, index, painted.checked), true);
  const item = (frame, index) =>
    el("li", {}, el("button", { type: "button", tabIndex: index ? -1 : 0, title: "Enlarge", onclick: () => enlarge(index) },
      el("img", { src: source(frame), alt: nameOf(frame), loading: "lazy", decoding: "async", width: 144, height: 81 }),
      el("span", { class: "d-under", "aria-hidden": "true" }, `${frame.number} · ${short(frame.seconds)}`)));
  list.addEventListener("keydown", (event) => {
    const at = buttons().indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined || event.altKey || event.ctrlKey) return;
    event.preventDefault();
    stopAt(Math.min(all.length - 1, Math.max(0, to)), true);
  });
  painted.addEventListener("change", () => {
    for (const [i, image] of [...list.querySelectorAll("img")].entries()) image.src = source(all[i]);
  });

  const fill = () => {
    const chosen = known.filter((frame) => frame.shown !== false);
    const whole = every.getAttribute("aria-pressed") === "true";
    all = whole || !chosen.length ? known : chosen;
    list.replaceChildren(...all.map(item));
    every.hidden = !chosen.length || chosen.length === known.length;
    const many = all.length === known.length ? count(all.length, "frame") : `${all.length} of ${count(known.length, "frame")}`;
    setText(heading, known.length ? `${many} that the model saw` : "Frames that the model saw");
    return many;
  };
  every.addEventListener("click", () => {
    every.setAttribute("aria-pressed", String(every.getAttribute("aria-pressed") !== "true"));
    say(`${fill()} shown.`, "frames");
  });

  let made = "";
  return {
    show(given) {
      const key = JSON.stringify(given);
      if (key === made) return;
      made = key;
      known = given ?? [];
      every.setAttribute("aria-pressed", "false");
      fill();
      list.hidden = !known.length;
      switcher.hidden = !known.some((frame) => frame.painted ?? frame.painted_url);
      note.hidden = known.length > 0;
      note.classList.toggle("coming", given === null); // keeps the room, so that nothing jumps
      setText(note, given === null ? "…" : known.length ? "" : "No model looked at frames for this line.");
    },
  };
}
