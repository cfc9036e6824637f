/** What is seen of the player: the picture with its caption, one row of keys, and more behind a button. */

import { make, setText } from "./build.js";
import { commandButton } from "./commands.js";
import { store } from "./store.js";
import { clock, shortTime, spokenTime } from "./times.js";

/** Speeds that can be chosen. */
export const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 2];
export const MEASURING = "The film's loudness is still being measured: levels may change a little.";
/** Seconds that the time slider moves by a key. */
const SLIDE = 1;

const MODES = { hear: "as the audience hears it", film: "the film alone", voice: "the voice alone" };

const SVG = "http://www.w3.org/2000/svg";

/** A drawing of lines on 16 by 16. */
function icon(path) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 16 16");
  drawing.setAttribute("aria-hidden", "true");
  const lines = document.createElementNS(SVG, "path");
  lines.setAttribute("d", path);
  drawing.append(lines);
  return drawing;
}

const CORNERS = "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4";

/** A button of which a sign is seen and a name is heard. */
function signed(command, sign, name) {
  const made = commandButton(command, name);
  const seen = typeof sign === "string" ? make("span", { "aria-hidden": "true" }, sign) : sign;
  made.replaceChildren(seen, make("span", { class: "hidden" }, name));
  return made;
}

/** What a screen shows where no film can be shown. */
function explain(playable) {
  if (playable.state === "gone") return playable.why;
  if (playable.state === "making") {
    const share = playable.done ? ` (${Math.round(playable.done * 100)} %)` : "";
    return `A copy of the film that this browser can play is being made${share}. Everything else works meanwhile, and the sound too. ${playable.why}`;
  }
  return `There is no picture. ${playable.why} Everything else works.`;
}

/** The panel of what is needed less: place, volume, frames, and one line in three ways. */
function morePanel({ volume, seek, setVolume }) {
  const slider = make("input", { type: "range", class: "p-slider", min: 0, max: 1, step: SLIDE, value: 0, "aria-label": "Place in the film" });
  const loud = make("input", { type: "range", class: "p-loud", min: 0, max: 100, step: 5, value: Math.round(volume * 100), "aria-label": "Volume", "aria-valuetext": `${Math.round(volume * 100)} percent` });
  const hearing = make("div", { class: "p-row", role: "group", "aria-label": "Hear the chosen line" },
    commandButton("hear", "Hear line"), commandButton("hear-voice", "Voice alone"), commandButton("hear-film", "Film alone"));
  const frames = make("div", { class: "p-row", role: "group", "aria-label": "Picture" },
    commandButton("frame-back", "−1 frame"), commandButton("frame-on", "+1 frame"));
  if (document.pictureInPictureEnabled) frames.append(commandButton("picture-in-picture", "Own window"));
  // On a telephone the row has no space for these.
  const narrow = make("div", { class: "p-row p-narrow", role: "group", "aria-label": "Film" },
    commandButton("loop", "Repeat slot"), commandButton("slower", "Slower"), commandButton("faster", "Faster"), commandButton("full-screen", "Full screen"));
  slider.addEventListener("input", () => seek(Number(slider.value)));
  loud.addEventListener("input", () => {
    setVolume(Number(loud.value) / 100);
    loud.setAttribute("aria-valuetext", `${loud.value} percent`);
  });
  const panel = make("div", { id: "player-more", class: "p-more", role: "group", "aria-label": "More of the player", hidden: true },
    make("label", { class: "p-field" }, make("span", {}, "Place"), slider),
    make("label", { class: "p-field" }, make("span", {}, "Volume"), loud), hearing, frames, narrow);
  return { panel, slider };
}

/** Opens and closes a panel by its button; Escape and a click elsewhere close it. */
function disclosure(opener, panel) {
  const set = (isOpen) => {
    panel.hidden = !isOpen;
    opener.setAttribute("aria-expanded", String(isOpen));
  };
  opener.setAttribute("aria-controls", panel.id);
  set(false);
  opener.addEventListener("click", () => set(panel.hidden));
  for (const part of [opener, panel])
    part.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || panel.hidden) return;
      event.preventDefault();
      set(false);
      opener.focus();
    });
  document.addEventListener("pointerdown", (event) => {
    if (!panel.contains(event.target) && !opener.contains(event.target)) set(false);
  });
}

/**
 * Builds the player.
 *
 * @param {HTMLElement} place
 * @param {{volume: number, seek: (seconds: number) => void, setVolume: (level: number) => void,
 *   setSpeed: (speed: number) => void}} does
 */
export function buildPlayer(place, does) {
  const video = make("video", { class: "p-video", preload: "metadata", tabIndex: -1, "aria-label": "Film" });
  video.playsInline = true;
  video.muted = true; // its sound is that of the server, with the description or without
  const audios = [make("audio", { preload: "auto" }), make("audio", { preload: "auto" })];
  const caption = make("p", { class: "p-caption", "aria-hidden": "true", hidden: true }); // who listens hears the line itself
  const without = make("div", { class: "p-without", hidden: true });
  const reason = make("p");
  const making = make("progress", { max: 1, "aria-label": "Copy of the film", hidden: true });
  without.append(reason, making);
  const screen = make("div", { class: "p-screen" }, video, without, caption);

  const play = commandButton("play", "Play");
  play.classList.add("primary", "p-play");
  const loop = commandButton("loop", "⟲ Slot");
  loop.classList.add("p-wide");
  loop.replaceChildren(make("span", { "aria-hidden": "true" }, "⟲ "), "Slot");
  const description = commandButton("description", "AD on");
  const here = make("span");
  const whole = make("span", { class: "p-wide" });
  const time = make("span", { class: "p-time" }, here, whole);
  const speed = make("select", { class: "p-speed p-wide", "aria-label": "Speed" },
    ...SPEEDS.map((each) => make("option", { value: each, selected: each === 1 }, `${each}×`)));
  speed.addEventListener("change", () => does.setSpeed(Number(speed.value)));
  const full = signed("full-screen", icon(CORNERS), "Full screen");
  full.classList.add("p-wide");
  const opener = make("button", { type: "button", class: "p-opener" }, make("span", { "aria-hidden": "true" }, "…"), make("span", { class: "hidden" }, "More of the player"));
  const { panel, slider } = morePanel(does);
  disclosure(opener, panel);
  const keys = make("div", { class: "p-keys", role: "group", "aria-label": "Player" },
    signed("back-2", "↶ 2", "Back 2 seconds"), play, signed("on-2", "2 ↷", "On 2 seconds"), time, loop, speed, description, full, opener, panel);
  const told = make("p", { class: "p-told" });
  const warnings = make("ul", { class: "p-warnings", "aria-label": "Of what was heard", hidden: true });
  const notice = make("p", { class: "p-notice", hidden: true });
  const notes = make("div", { class: "p-notes" }, notice, told, warnings);
  place.append(screen, ...audios, keys, notes);
  const press = (command, isPressed) => {
    for (const each of place.querySelectorAll(`button[data-command="${command}"]`)) each.setAttribute("aria-pressed", String(isPressed));
  };
  document.addEventListener("fullscreenchange", () => press("full-screen", document.fullscreenElement === place));
  press("full-screen", false);

  let tenth = "";
  return {
    video,
    audios,
    /** State of the picture that is shown, as the server calls it. */
    shown: "",
    time(seconds, length) {
      const text = shortTime(seconds);
      setText(whole, ` / ${clock(length)}`);
      if (text === tenth) return;
      tenth = text;
      setText(here, text);
      slider.max = String(length);
      if (document.activeElement !== slider) slider.value = String(seconds);
      slider.setAttribute("aria-valuetext", spokenTime(seconds, 0));
    },
    state({ mode, described, looping }) {
      setText(play, mode ? "Pause" : "Play");
      play.setAttribute("aria-label", mode ? "Pause" : described ? "Play with description" : "Play the film alone");
      place.classList.toggle("hearing", Boolean(mode));
      press("loop", looping);
      press("description", described);
      for (const [name, its] of [["hear", "hear"], ["hear-voice", "voice"], ["hear-film", "film"]])
        for (const each of document.querySelectorAll(`button[data-command="${name}"]`)) each.classList.toggle("on", mode === its);
      if (!mode && !warnings.childElementCount) setText(told, "");
    },
    speed: (chosen) => (speed.value = String(chosen)),
    caption(text) {
      if (caption.hidden === !text && caption.textContent === text) return;
      caption.hidden = !text;
      setText(caption, text);
      caption.lang = store.film?.language ?? "";
    },
    /** While something is prepared; empty: it is there. */
    waiting(text) {
      setText(told, text);
      if (text) this.warn([]);
    },
    /** Which line is heard, and what is to be known of it. */
    heard({ mode, id, settled, warnings: texts }) {
      if (!MODES[mode]) return;
      const roughly = settled ? "" : ` ${MEASURING}`;
      setText(told, `You hear line ${store.order.indexOf(id) + 1}: ${MODES[mode]}.${roughly}`);
      this.warn(texts);
    },
    warn(texts) {
      warnings.hidden = !texts.length;
      warnings.replaceChildren(...texts.map((text) => make("li", {}, make("span", { "aria-hidden": "true" }, "▲ "), text)));
    },
    film(film) {
      tenth = "";
      setText(notice, film.voice.notice);
      notice.hidden = !film.voice.notice;
    },
    /** Shows the film, or why there is none. True where a file is loaded anew. */
    playable(playable) {
      const isShown = Boolean(["film", "proxy"].includes(playable.state) && playable.url);
      const isNew = isShown && (video.getAttribute("src") !== playable.url || this.shown === "gone" || Boolean(video.error));
      if (isNew) {
        video.src = playable.url;
        video.load();
      } else if (!isShown && video.hasAttribute("src")) {
        video.removeAttribute("src");
        video.load();
      }
      this.shown = playable.state;
      video.hidden = !isShown;
      without.hidden = isShown;
      making.hidden = playable.state !== "making";
      if (playable.done === null || playable.done === undefined) making.removeAttribute("value");
      else making.value = playable.done;
      setText(reason, isShown ? "" : explain(playable));
      screen.classList.toggle("empty", !isShown);
      return isNew;
    },
    why: () => reason.textContent,
    async fullScreen() {
      await place.requestFullscreen();
      play.focus(); // so that Space plays and pauses
    },
  };
}
