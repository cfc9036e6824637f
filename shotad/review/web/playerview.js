/** What is seen of the player: the picture with its caption, one row of keys, and more behind a button. */

import { addressOf } from "./api.js";
import { make, setText } from "./build.js";
import { commandButton } from "./commands.js";
import { followOpener, placeBeside } from "./popups.js";
import { sentence } from "./sentences.js";
import { lineNumber, store } from "./store.js";
import { percent, text } from "./texts.js";
import { clock, shortTime, spokenTime } from "./times.js";

/** Speeds that can be chosen. */
export const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 2];
export const MEASURING = text("player.measuring");
/** Seconds that the slider of the place moves by a key. */
const SLIDER_STEP = 1;

/** Which line is heard, and in which way. */
const MODE_TEXTS = {
  hear: (number) => text("player.hear_line", { number }),
  film: (number) => text("player.hear_film", { number }),
  voice: (number) => text("player.hear_voice", { number }),
};
/** The commands that do it. */
const MODE_COMMANDS = { hear: "hear", film: "hear-film", voice: "hear-voice" };

/** What is seen of a button, and not read. */
const sign = (symbol) => make("span", { "aria-hidden": "true" }, symbol);
/** What is read of a button, and not seen. */
const spokenName = (name) => make("span", { class: "hidden" }, name);

/** A button of which a sign is seen and a name is heard. */
function signButton(command, signNode, name) {
  const button = commandButton(command, name);
  button.replaceChildren(signNode, spokenName(name));
  return button;
}

/** What the screen says where no film can be shown. */
function noPictureText(playable) {
  const reason = sentence(playable.why);
  if (playable.state === "gone") return reason;
  if (playable.state !== "making") return text("player.without", { reason });
  const making = playable.done
    ? text("player.making_share", { share: percent(playable.done) })
    : text("player.making");
  return `${making} ${text("player.making_hint")} ${reason}`;
}

/** A row of buttons of the panel. */
const buttonRow = (label, buttons, className = "p-row") =>
  make("div", { class: className, role: "group", "aria-label": label }, ...buttons);

/** The panel of what is needed less: place, volume, frames, and one line in three ways. */
function makeMorePanel({ volume, seek, setVolume }) {
  const slider = make("input", {
    type: "range",
    class: "p-slider",
    min: 0,
    max: 1,
    step: SLIDER_STEP,
    value: 0,
    "aria-label": text("player.place_label"),
  });
  slider.addEventListener("input", () => seek(Number(slider.value)));
  const volumePercent = Math.round(volume * 100);
  const volumeSlider = make("input", {
    type: "range",
    class: "p-slider",
    min: 0,
    max: 100,
    step: 5,
    value: volumePercent,
    "aria-label": text("player.volume"),
    "aria-valuetext": percent(volume),
  });
  volumeSlider.addEventListener("input", () => {
    setVolume(Number(volumeSlider.value) / 100);
    volumeSlider.setAttribute("aria-valuetext", percent(Number(volumeSlider.value) / 100));
  });
  const hearButtons = [
    commandButton("hear", text("player.line")),
    commandButton("hear-voice", text("player.voice")),
    commandButton("hear-film", text("player.film")),
  ];
  const pictureButtons = [
    commandButton("frame-back", text("moments.earlier")),
    commandButton("frame-on", text("moments.later")),
  ];
  pictureButtons.push(commandButton("full-screen", text("player.full_screen")));
  const soundButtons = [commandButton("subtitles", text("player.subtitles"))];
  if (document.pictureInPictureEnabled)
    pictureButtons.push(commandButton("picture-in-picture", text("player.own_window")));
  // On a telephone the row of keys has no space for these.
  const narrowButtons = [
    commandButton("ask", text("ask.submit")),
    commandButton("loop", text("player.repeat")),
    commandButton("slower", text("player.slower")),
    commandButton("faster", text("player.faster")),
  ];
  const options = {
    id: "player-more",
    class: "p-more",
    role: "group",
    "aria-label": text("player.more"),
    hidden: true,
  };
  const panel = make("div", options,
    make("label", { class: "p-field" }, make("span", {}, text("player.place")), slider),
    make("label", { class: "p-field" }, make("span", {}, text("player.volume")), volumeSlider),
    buttonRow(text("player.hear"), hearButtons),
    buttonRow(text("player.foreign"), soundButtons),
    buttonRow(text("player.picture"), pictureButtons),
    buttonRow(text("page.film"), narrowButtons, "p-row p-narrow"));
  return { panel, slider };
}

/** Opens and closes a panel by its button; Escape and a click elsewhere close it. @returns {() => void} Closes it. */
function makeDisclosure(opener, panel) {
  const place = () => placeBeside(panel, opener, "above"); // over the picture: the list beside it stays in sight
  followOpener(() => !panel.hidden, place);
  const setOpen = (isOpen) => {
    panel.hidden = !isOpen;
    opener.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) place();
  };
  opener.setAttribute("aria-controls", panel.id);
  setOpen(false);
  opener.addEventListener("click", () => setOpen(panel.hidden));
  for (const element of [opener, panel])
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || panel.hidden) return;
      event.preventDefault();
      setOpen(false);
      opener.focus();
    });
  document.addEventListener("pointerdown", (event) => {
    if (!panel.contains(event.target) && !opener.contains(event.target)) setOpen(false);
  });
  return () => {
    if (panel.contains(document.activeElement)) opener.focus();
    setOpen(false);
  };
}

/** The screen: the film with its caption, or why there is none. */
function makeScreen() {
  const video = make("video", { class: "p-video", preload: "metadata", tabIndex: -1, "aria-label": text("page.film") });
  video.playsInline = true;
  video.muted = true; // its sound is that of the server, with the description or without
  const caption = make("p", { class: "p-caption", "aria-hidden": "true", hidden: true }); // who listens hears the line itself
  const reason = make("p");
  const progress = make("progress", { max: 1, "aria-label": text("player.copy"), hidden: true });
  const noPicture = make("div", { class: "p-without", hidden: true }, reason, progress);
  const screen = make("div", { class: "p-screen" }, video, noPicture, caption);
  const element = make("div", { class: "p-frame" }, screen);
  // The screen has the shape of the film: no bars beside the picture.
  video.addEventListener("loadedmetadata", () => {
    const shape = video.videoWidth / video.videoHeight;
    if (Number.isFinite(shape)) element.style.setProperty("--shape", String(shape));
  });
  /** State of the film that was shown last. */
  let stateBefore = "";
  return {
    element,
    video,
    reason: () => reason.textContent,
    showCaption(line) {
      if (caption.hidden === !line && caption.textContent === line) return;
      caption.hidden = !line;
      setText(caption, line);
      caption.lang = store.film?.language ?? "";
    },
    showFilm(playable) {
      const { state, done } = playable;
      const url = playable.url && addressOf(playable.url);
      const isShown = Boolean(["film", "proxy"].includes(state) && url);
      const isOther = video.getAttribute("src") !== url || stateBefore === "gone" || Boolean(video.error);
      const isNew = isShown && isOther;
      if (isNew) {
        video.src = url;
        video.load();
      } else if (!isShown && video.hasAttribute("src")) {
        video.removeAttribute("src");
        video.load();
      }
      stateBefore = state;
      video.hidden = !isShown;
      noPicture.hidden = isShown;
      progress.hidden = state !== "making";
      if (typeof done === "number") progress.value = done;
      else progress.removeAttribute("value");
      setText(reason, isShown ? "" : noPictureText(playable));
      screen.classList.toggle("empty", !isShown);
      return isNew;
    },
  };
}

/**
 * @typedef {object} PlayerView
 * @property {HTMLVideoElement} video
 * @property {HTMLAudioElement[]} audios  Two: one takes over from the other.
 * @property {(seconds: number, length: number) => void} showTime
 * @property {(state: {mode: string|null, isDescribed: boolean, isLooping: boolean, isWithSubtitles: boolean}) => void
 *   } showState  mode: in which way it is played; null: it is not.
 * @property {(speed: number) => void} showSpeed
 * @property {(text: string) => void} showCaption  Empty: none.
 * @property {(text: string) => void} showMessage  What is being prepared; empty: nothing.
 * @property {(heard: {mode: string, id: string|null, isSettled: boolean, warnings: string[]}) => void} showHeard  Which
 *   line is heard, and what a person must know of it. isSettled: its level is exact.
 * @property {(warnings: string[]) => void} showWarnings
 * @property {(notice: string) => void} showNotice  What the voice does with the lines; empty: nothing to know.
 * @property {(playable: import("./store.js").Playable) => boolean} showFilm  Shows the film, or why there is none. True
 *   where a file is loaded.
 * @property {() => string} noPictureReason
 * @property {() => Promise<void>} enterFullScreen
 */

/**
 * Builds the player.
 *
 * @param {HTMLElement} place
 * @param {{volume: number, seek: (seconds: number) => void, setVolume: (level: number) => void,
 *   setSpeed: (speed: number) => void}} controls
 * @returns {PlayerView}
 */
export function buildPlayer(place, controls) {
  const screen = makeScreen();
  const audios = [make("audio", { preload: "auto" }), make("audio", { preload: "auto" })];

  const play = commandButton("play", text("player.play"));
  play.classList.add("primary", "p-play");
  const loop = commandButton("loop", text("player.slot"));
  loop.classList.add("p-wide");
  loop.prepend(sign("⟲ "));
  const description = commandButton("description", text("player.ad_on"));
  const position = make("span");
  const total = make("span", { class: "p-wide" });
  const time = make("span", { class: "p-time" }, position, total);
  const speedOptions = SPEEDS.map((speed) =>
    make("option", { value: speed, selected: speed === 1 }, text("player.times", { speed })),
  );
  const speedField = make(
    "select",
    { class: "p-speed p-wide", "aria-label": text("player.speed_label") },
    ...speedOptions,
  );
  speedField.addEventListener("change", () => controls.setSpeed(Number(speedField.value)));
  const ask = commandButton("ask", text("ask.submit"));
  ask.classList.add("p-wide");
  const opener = make("button", { type: "button", class: "p-opener" }, sign("…"), spokenName(text("player.more")));
  const { panel, slider } = makeMorePanel(controls);
  const closePanel = makeDisclosure(opener, panel);
  const back = signButton("back-2", sign("↶ 2"), text("command.back_2"));
  const on = signButton("on-2", sign("2 ↷"), text("command.on_2"));
  const keys = [back, play, on, time, loop, speedField, description, ask, opener, panel];

  const message = make("p", { class: "p-message" });
  const warningList = make("ul", { class: "p-warnings", "aria-label": text("player.warnings"), hidden: true });
  const notice = make("p", { class: "p-notice", hidden: true });
  place.append(screen.element, ...audios,
    make("div", { class: "p-keys", role: "group", "aria-label": text("player.label") }, ...keys),
    make("div", { class: "p-notes" }, notice, make("div", { class: "p-heard" }, message, warningList)));

  /** Marks all buttons of a command as pressed or not. */
  const setPressed = (command, isPressed) => {
    for (const button of place.querySelectorAll(`button[data-command="${command}"]`))
      button.setAttribute("aria-pressed", String(isPressed));
  };
  document.addEventListener("fullscreenchange", () => {
    setPressed("full-screen", document.fullscreenElement === place);
    closePanel(); // it was chosen there
  });
  setPressed("full-screen", false);

  const showWarnings = (warnings) => {
    warningList.hidden = !warnings.length;
    warningList.replaceChildren(...warnings.map((warning) => make("li", {}, sign("▲ "), warning)));
  };
  return {
    video: screen.video,
    audios,
    showFilm: screen.showFilm,
    showCaption: screen.showCaption,
    noPictureReason: screen.reason,
    showWarnings,
    showTime(seconds, length) {
      setText(total, ` / ${clock(length)}`);
      slider.max = String(length);
      const time = shortTime(seconds);
      if (position.textContent === time) return; // within the same tenth of a second
      setText(position, time);
      if (document.activeElement !== slider) slider.value = String(seconds);
      slider.setAttribute("aria-valuetext", spokenTime(seconds, 0));
    },
    showState({ mode, isDescribed, isLooping, isWithSubtitles }) {
      setText(play, mode ? text("player.pause") : text("player.play"));
      const playName = isDescribed ? text("player.play_description") : text("player.play_film");
      play.setAttribute("aria-label", mode ? text("player.pause") : playName);
      setPressed("loop", isLooping);
      setPressed("description", isDescribed);
      setPressed("subtitles", isWithSubtitles);
      for (const [buttonMode, command] of Object.entries(MODE_COMMANDS))
        for (const button of document.querySelectorAll(`button[data-command="${command}"]`))
          button.classList.toggle("on", mode === buttonMode);
      if (!mode && !warningList.childElementCount) setText(message, "");
    },
    showSpeed: (speed) => (speedField.value = String(speed)),
    showMessage(words) {
      setText(message, words);
      if (words) showWarnings([]);
    },
    showHeard({ mode, id, isSettled, warnings }) {
      if (!MODE_TEXTS[mode]) return;
      const words = MODE_TEXTS[mode](lineNumber(id));
      setText(message, isSettled ? words : `${words} ${MEASURING}`);
      showWarnings(warnings);
    },
    showNotice(words) {
      setText(notice, words);
      notice.hidden = !words;
    },
    async enterFullScreen() {
      await place.requestFullscreen();
      play.focus(); // so that Space plays and pauses
    },
  };
}
