/** The film, and what is heard of a line: as the audience hears it, the voice alone, or the film alone. */

import { ApiError, get, post } from "./api.js";
import { make as el } from "./build.js";
import { button, register } from "./commands.js";
import { alert, say } from "./say.js";
import { Beside } from "./sound.js";
import { emit, line, settled, store, subscribe } from "./store.js";
import { clock } from "./times.js";
import { aloud, setText, short } from "./wording.js";

const KINDS = { mix: "as the audience hears it", voice: "the voice alone", programme: "the film alone" };
/** Seconds that the time slider moves by a key. */
const SLIDE = 1;
/** Milliseconds of silence after which people are told that something is going on. */
const LONG = 1200;
const VOLUME = "shotad-volume";
/** Seconds into a frame that are sought: exactly at its start browsers may show the frame before (23.976 a second). */
const INSIDE = 0.001;
/** Said where a browser wants a fresh key for a sound: now that it is made, it begins at once. */
const ONCE_MORE = "Ready. Press once more to hear it.";

/** @type {HTMLVideoElement} */
let video;
/** @type {Beside} */
let beside;
let view;
/** Film second where we are while no film can be shown. */
let position = 0;
/** What is being heard: its line, kind, text, and what the server said of it. */
let heard = null;
let asked = 0;

const canShow = () => ["film", "proxy"].includes(store.film?.playable?.state) && Boolean(video.currentSrc || video.src);
const frame = () => 1 / (store.film?.film?.frame_rate || 25);
const duration = () => store.film?.film?.duration ?? 0;

/** Film second that is seen or heard now. */
export function now() {
  if (beside?.running) return beside.seconds;
  return canShow() && video.readyState > 0 ? video.currentTime : position;
}

/** Whether the film or a sound runs. */
export const playing = () => Boolean(beside?.running) || (canShow() && !video.paused && !video.ended);

/** Goes to a second of the film. */
export function seek(seconds) {
  if (heard) stop();
  position = Math.min(Math.max(0, seconds), duration());
  if (canShow()) video.currentTime = position + INSIDE;
  moved();
}

/** Stops whatever runs. */
export function stop() {
  asked += 1;
  if (heard) {
    position = beside.running ? beside.seconds : position;
    beside.stop();
    heard = null;
    video.volume = volume();
    view.caption("");
  }
  video.pause();
  view.state();
  moved();
}

/** Plays the film, or stops it. */
export async function toggle() {
  if (heard || playing()) return stop();
  if (!canShow()) return say(view.why());
  try {
    await video.play();
  } catch (error) {
    if (error.name === "NotAllowedError") say(ONCE_MORE);
    else if (error.name !== "AbortError") alert(`The film cannot be played: ${error.message}`);
  }
  return view.state();
}

/** One frame on or back. */
export function step(by) {
  if (heard || playing()) stop();
  // Half a frame more, so that rounding never shows the same frame again.
  const at = Math.round(now() / frame()) + by;
  seek(at * frame());
  say(aloud(now(), 3), "time");
}

/**
 * Lets a line be heard; the same again stops it.
 *
 * @param {"mix"|"voice"|"programme"} kind
 */
export async function hear(kind = "mix") {
  const shown = line();
  if (!shown) return say("No line is chosen.");
  const again = heard && heard.id === shown.id && heard.kind === kind;
  if (heard || playing()) stop();
  if (again) return undefined;
  const turn = (asked += 1);
  heard = { id: shown.id, kind, text: "", start: 0, line: null, warnings: [] };
  view.waiting(`Line is being prepared: ${KINDS[kind]}…`);
  const long = setTimeout(() => turn === asked && say("The line is being prepared."), LONG);
  try {
    await settled(); // what is typed is saved before it is spoken
    const stamp = line(shown.id)?.stamp ?? shown.stamp;
    const path = `/api/hear/${encodeURIComponent(shown.id)}?kind=${kind}&stamp=${encodeURIComponent(stamp)}`;
    const sound = await get(path);
    clearTimeout(long);
    if (turn !== asked) return undefined;
    heard = { ...heard, ...sound, text: line(shown.id)?.spoken?.text || line(shown.id)?.text || "" };
    view.heard(heard);
    beside.audio.volume = volume();
    if (!(await beside.start(sound.url, sound.start, canShow()))) return undefined;
    view.state();
  } catch (error) {
    clearTimeout(long);
    if (turn !== asked) return undefined;
    heard = null;
    beside.stop(); // the picture alone may have begun
    view.waiting("");
    view.state();
    if (error.name === "NotAllowedError") {
      view.waiting(ONCE_MORE);
      return say(ONCE_MORE);
    }
    alert(error instanceof ApiError ? error.message : `The sound cannot be played: ${error.message}`);
  }
  return undefined;
}

/** After a sound has ended: what a person must know of it, said when it no longer talks over the voice. */
function ended() {
  const { warnings, line: spoken, kind } = heard ?? { warnings: [], line: null, kind: "mix" };
  position = beside.seconds;
  stop();
  const missing = kind !== "programme" && !spoken ? ["The line was not spoken: it does not fit."] : [];
  view.warn([...missing, ...warnings]);
  for (const text of [...missing, ...warnings]) say(text);
}

/** Tells everybody where the film is. */
function moved() {
  const seconds = now();
  store.player = { seconds, playing: playing() };
  view.time(seconds);
  emit("player", store.player);
}

/** While the picture runs, once for each picture of the screen. */
function run() {
  if (!playing() || beside.running) return;
  moved();
  requestAnimationFrame(run);
}

/** While a sound runs: the caption stands as long as the line is spoken. */
function moment(seconds) {
  moved();
  const [from, to] = heard?.line ?? [Infinity, -Infinity];
  view.caption(seconds >= from && seconds < to ? heard.text : "");
}

/** How loud, 0 to 1, as this browser remembers it. */
function volume(set) {
  try {
    if (set !== undefined) localStorage.setItem(VOLUME, String(set));
    const kept = Number(localStorage.getItem(VOLUME) ?? 1);
    return kept >= 0 && kept <= 1 ? kept : 1;
  } catch {
    return set ?? 1;
  }
}

/** The browser cannot play what it was given: the server makes a copy that it can. */
async function failed() {
  const reason = video.error?.message || `code ${video.error?.code}`;
  const playable = store.film?.playable;
  if (!video.error || !playable || !["film", "proxy"].includes(playable.state)) return;
  const why = `The browser cannot play this film (${reason}).`;
  store.film.playable = { ...playable, state: "none", url: null, why };
  view.playable(store.film.playable);
  try {
    const news = await post("/api/proxy", { error: reason });
    if (news?.state) emit("playable", (store.film.playable = news));
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    say(`${why} ${problem.what}`);
  }
}

/** What a screen shows where no film can be shown. */
function explain(playable) {
  if (playable.state === "making") {
    const share = playable.done ? ` (${Math.round(playable.done * 100)} %)` : "";
    return `A copy of the film that this browser can play is being made${share}. Everything else works meanwhile. ${playable.why}`;
  }
  return `There is no picture. ${playable.why} Everything else works.`;
}

/** Builds the player; the answer are the places where things are shown. */
function build(place) {
  video = el("video", { class: "p-video", preload: "metadata", tabIndex: -1, "aria-label": "Film" });
  video.playsInline = true;
  video.disablePictureInPicture = true;
  const audio = el("audio", { preload: "auto" });
  const caption = el("p", { class: "p-caption", "aria-hidden": "true", hidden: true }); // who listens hears the line itself
  const without = el("div", { class: "p-without", hidden: true });
  const reason = el("p");
  const making = el("progress", { max: 1, "aria-label": "Copy of the film", hidden: true });
  without.append(reason, making);
  const screen = el("div", { class: "p-screen" }, video, without, caption);

  const play = button("play-film", "Play");
  play.classList.add("p-play");
  const slider = el("input", { type: "range", class: "p-slider", min: 0, max: 1, step: SLIDE, value: 0, "aria-label": "Place in the film" });
  const time = el("span", { class: "p-time" });
  const loud = el("input", { type: "range", class: "p-loud", min: 0, max: 100, step: 5, value: Math.round(volume() * 100), "aria-label": "Volume", "aria-valuetext": `${Math.round(volume() * 100)} percent` });
  const hearing = el("div", { class: "p-hear", role: "group", "aria-label": "Hear the chosen line" },
    button("hear", "Hear line"), button("hear-voice", "Voice alone"), button("hear-film", "Film alone"));
  const controls = el("div", { class: "p-controls", role: "group", "aria-label": "Player" },
    play, button("frame-back", "−1 frame"), button("frame-on", "+1 frame"), time, slider,
    el("label", { class: "p-volume" }, el("span", {}, "Volume"), loud));
  const told = el("p", { class: "p-told", hidden: true });
  const warnings = el("ul", { class: "p-warnings", "aria-label": "Of what was heard", hidden: true });
  const notice = el("p", { class: "p-told", hidden: true });
  place.append(screen, audio, controls, notice, hearing, told, warnings);

  slider.addEventListener("input", () => seek(Number(slider.value)));
  loud.addEventListener("input", () => {
    const set = volume(Number(loud.value) / 100);
    loud.setAttribute("aria-valuetext", `${loud.value} percent`);
    video.volume = beside.audio.volume = set;
  });
  video.volume = volume();
  for (const name of ["play", "pause", "ended"])
    video.addEventListener(name, () => {
      view.state();
      run();
    });
  for (const name of ["seeked", "loadedmetadata"]) video.addEventListener(name, moved);
  video.addEventListener("error", failed);
  audio.addEventListener("error", () => heard && beside.running && (stop(), alert("The sound broke off.")));
  beside = new Beside(audio, video, { moment, ended });

  let tenth = "";
  return {
    time(seconds) {
      const text = `${short(seconds)} / ${clock(duration())}`;
      if (text === tenth) return;
      tenth = text;
      setText(time, text);
      if (document.activeElement !== slider || playing()) slider.value = String(seconds);
      slider.setAttribute("aria-valuetext", aloud(seconds, 0));
    },
    state() {
      const going = playing() || Boolean(heard);
      setText(play, going ? "Stop" : "Play");
      place.classList.toggle("hearing", Boolean(heard));
      for (const [name, kind] of [["hear", "mix"], ["hear-voice", "voice"], ["hear-film", "programme"]])
        for (const one of document.querySelectorAll(`button[data-command="${name}"]`))
          one.classList.toggle("on", heard?.kind === kind);
      if (!going) this.waiting("");
    },
    caption(text) {
      if (caption.hidden === !text && caption.textContent === text) return;
      caption.hidden = !text;
      setText(caption, text);
      caption.lang = store.film?.language ?? "";
    },
    waiting(text) {
      told.hidden = !text;
      setText(told, text);
      if (text) this.warn([]);
    },
    told(sound) {
      setText(told, `You hear line ${store.order.indexOf(sound.id) + 1}: ${KINDS[sound.kind]}.`);
    },
    heard(sound) {
      const missing = sound.kind !== "programme" && !sound.line;
      told.hidden = false;
      const roughly = sound.settled === false ? " How loud the whole film is, is still being measured: levels may shift a little." : "";
      setText(told, `You hear line ${store.order.indexOf(sound.id) + 1}: ${KINDS[sound.kind]}.${roughly}`);
      this.warn([...(missing ? ["The line is not spoken: it does not fit."] : []), ...(sound.warnings ?? [])]);
    },
    warn(texts) {
      warnings.hidden = !texts.length;
      warnings.replaceChildren(...texts.map((text) => el("li", {}, el("span", { "aria-hidden": "true" }, "▲ "), text)));
    },
    film() {
      slider.max = String(duration());
      tenth = "";
      this.time(now());
      setText(notice, store.film.voice.notice);
      notice.hidden = !store.film.voice.notice;
    },
    playable(playable) {
      const shows = ["film", "proxy"].includes(playable.state) && playable.url;
      if (shows && video.getAttribute("src") !== playable.url) {
        position = now();
        video.src = playable.url;
        // To where one is by then: a line may have been chosen while the film was on its way here.
        video.addEventListener("loadedmetadata", () => (video.currentTime = position + INSIDE), { once: true });
      } else if (!shows && video.hasAttribute("src")) {
        video.removeAttribute("src");
        video.load();
      }
      video.hidden = !shows;
      without.hidden = Boolean(shows);
      making.hidden = playable.state !== "making";
      if (playable.done === null || playable.done === undefined) making.removeAttribute("value");
      else making.value = playable.done;
      setText(reason, shows ? "" : explain(playable));
      screen.classList.toggle("empty", !shows);
    },
    why: () => reason.textContent,
  };
}

function commands() {
  const group = "Hear";
  register({ name: "hear", title: "Hear the line, from two seconds before; again: stop", group, keys: { list: [" ", "p"], edit: ["Ctrl+ "] }, run: () => hear("mix") });
  register({ name: "hear-voice", title: "Hear the voice alone", group, keys: ["v"], run: () => hear("voice") });
  register({ name: "hear-film", title: "Hear the film alone", group, keys: ["o"], run: () => hear("programme") });
  register({ name: "play-film", title: "Play the film from here; again: stop", group, keys: { any: ["Alt+P"] }, run: toggle });
  register({ name: "frame-back", title: "Film one frame back", group, repeats: true, run: () => step(-1) });
  register({ name: "frame-on", title: "Film one frame on", group, repeats: true, run: () => step(1) });
}

/** Starts the player. */
export function start() {
  view = build(document.getElementById("player"));
  commands();
  subscribe("film", (film) => {
    view.film();
    view.playable(film.playable);
  });
  subscribe("playable", view.playable);
  subscribe("heard", ({ settled: is }) => is && heard && (heard.settled = true) && view.told(heard));
  // Another line is shown from its start; what is heard of the last one ends.
  subscribe("current", (id) => {
    if (heard && heard.id !== id) stop();
    const shown = line(id);
    if (shown && !playing()) later(() => line()?.id === id && !playing() && !heard && seek(shown.start));
  });
}

let timer = 0;
/** After a rest: a film that seeks at each key of two hundred lines would choke. */
function later(work) {
  clearTimeout(timer);
  timer = setTimeout(work, 150);
}
