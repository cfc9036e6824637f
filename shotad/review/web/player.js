/**
 * The film with its description, from anywhere: played on, or for one line; and the film or the voice alone.
 *
 * All of it is one sound that the server makes while it is played (`/media/sound/KIND.wav`). When a line is changed
 * meanwhile, the new sound takes over where the old one is.
 */

import { ApiError, get, post } from "./api.js";
import { register } from "./commands.js";
import * as outbox from "./outbox.js";
import { buildPlayer as build, MEASURING, SPEEDS } from "./playerview.js";
import { alert, say, unsay } from "./say.js";
import { Sound } from "./sound.js";
import { chosenLine, emit, lineById, settled, store, subscribe } from "./store.js";
import { spokenTime } from "./times.js";

/** Seconds of a step back or on. */
const STEP = 2;
/** Seconds that are repeated before a slot, and after it. */
const LOOP_BEFORE = 2;
const LOOP_AFTER = 1;
/** Milliseconds of silence after which people are told that something is going on. */
const LONG = 1200;
/** Milliseconds after the last change of a line before its new sound is asked for. */
const REST = 400;
/** Seconds ahead, and before the place, within which a changed line is heard anew at once. */
const AHEAD = 60;
const BEHIND = 10;
/** Seconds of film of which captions are fetched at once, and how long before their end more are. */
const CAPTIONS = 30;
const SOON = 8;
/** Seconds into a frame that are sought: exactly at its start browsers may show the frame before (23.976 a second). */
const INSIDE = 0.001;
const VOLUME = "shotad-volume";
/** Said where a browser wants a fresh key for a sound: now that it is made, it begins at once. */
const ONCE_MORE = "Ready. Press once more to hear it.";
const PREPARING = { line: "The line is being prepared.", sound: "The sound is being prepared." };
const NOTHING_WRITTEN = "Nothing is written here yet: you hear the film of this slot.";

/**
 * @typedef {{mode: "watch"|"loop"|"hear"|"film"|"voice", kind: "mix"|"programme"|"voice", from: number, until: number,
 *   id: string|null, written: string, url?: string, caption?: {from: number, to: number, text: string},
 *   warnings: string[], settled: boolean}} Run
 *   What is played: from and until are film seconds; `written` is the text of the line when it was asked for.
 */

/** @type {HTMLVideoElement} */
let video;
/** @type {Sound} */
let sound;
let view;
/** Film second where we are while no film can be shown. */
let position = 0;
/** @type {Run|null} */
let run = null;
let asked = 0;
/** Whether the film is played with its description, and whether the slot of the chosen line is repeated. */
let described = true;
let looping = false;

const canShow = () => ["film", "proxy"].includes(store.film?.playable?.state) && Boolean(video.currentSrc || video.src);
const frame = () => 1 / (store.film?.film?.frame_rate || 25);
const duration = () => store.film?.film?.duration ?? 0;
const inFilm = (seconds) => Math.min(Math.max(0, seconds), duration());
/** To the millisecond, as addresses have it. */
const exactly = (seconds) => Math.round(seconds * 1000) / 1000;

/** Film second that is seen or heard now. */
export function now() {
  if (sound?.running && run?.mode !== "voice") return sound.seconds;
  return canShow() && video.readyState > 0 ? video.currentTime : position;
}

/** Whether anything is played, or about to be. */
export const isPlaying = () => run !== null;

const urlFrom = (kind) => (seconds) => `/media/sound/${kind}.wav?v=${store.revision}&from=${exactly(seconds)}`;

/** Goes to a second of the film; what is played on goes on from there. */
export function seek(seconds) {
  const to = inFilm(seconds);
  if (run?.mode === "watch" || run?.mode === "loop") {
    if (sound.seek(to)) return moved();
    return begin({ ...run, from: Math.min(to, Math.max(0, duration() - 0.1)) });
  }
  if (run) stop();
  position = to;
  if (canShow()) video.currentTime = position + INSIDE;
  return moved();
}

/** Stops whatever is played. */
export function stop() {
  asked += 1;
  if (sound.running && run?.mode !== "voice") position = sound.seconds;
  sound.stop();
  run = null;
  spoken.lines = [];
  view.caption("");
  prepared();
  view.state(current());
  moved();
}

/** Nothing is prepared any more: nobody is told so. */
function prepared() {
  view.waiting("");
  Object.values(PREPARING).forEach(unsay);
}

/** What the view shows of how the player stands. */
const current = () => ({ mode: run?.mode ?? null, described, looping });

/**
 * Plays the film on from a second.
 *
 * @param {number} [from]  Where we are unless told; from the beginning at its end.
 */
export function play(from = now()) {
  if (looping && loopOf(chosenLine())) return loop();
  const start = from >= duration() - 0.1 ? 0 : from;
  return begin({ ...watching(), from: start });
}

const watching = () => ({
  mode: "watch", kind: described ? "mix" : "programme", from: 0, until: Infinity, id: null, written: "", warnings: [], settled: true,
});

/** Plays, or pauses what is played. */
export const togglePlay = () => (run ? stop() : play());

/** The seconds that are repeated for a line; null: there is none. */
function loopOf(shown) {
  if (!shown) return null;
  const slot = store.film.slots.find((each) => each.id === shown.slot) ?? shown;
  return { from: inFilm(slot.start - LOOP_BEFORE), until: inFilm(slot.end + LOOP_AFTER) };
}

/** Repeats the slot of the chosen line. */
function loop() {
  const shown = chosenLine();
  const { from, until } = loopOf(shown);
  return begin({ ...watching(), mode: "loop", id: shown.id, from, until });
}

/** Repeats the slot of the chosen line, or not any more: then the film goes on. */
function toggleLoop() {
  if (!looping && !chosenLine()) return say("No line is chosen.");
  looping = !looping;
  say(looping ? "This slot is repeated." : "The slot is not repeated any more.");
  if (looping) return loop();
  if (run?.mode === "loop") run = { ...run, mode: "watch", until: Infinity };
  return view.state(current());
}

/** Plays a run; what is played ends. @param {Run} wanted */
async function begin(wanted) {
  const turn = (asked += 1);
  sound.stop();
  run = wanted;
  pending.clear();
  spoken.version = "";
  view.state(current());
  view.waiting("Preparing the sound…");
  const long = setTimeout(() => turn === asked && say(PREPARING.sound), LONG);
  try {
    await settled(); // what is typed is saved before it is spoken
    if (turn !== asked) return;
    for (const [id, { stamp }] of store.lines) stamps.set(id, stamp);
    position = wanted.from;
    sound.volume = volume();
    if (wanted.kind === "mix") captions(wanted.from);
    const from = exactly(wanted.from);
    const url = wanted.url ?? urlFrom(wanted.kind)(from);
    if (!(await sound.start(url, from, wanted.mode !== "voice" && canShow()))) return;
    prepared();
    view.heard(wanted);
  } catch (error) {
    if (turn === asked) failedToPlay(error);
  } finally {
    clearTimeout(long);
  }
}

/** @param {Error} error */
function failedToPlay(error) {
  stop();
  if (error.name === "NotAllowedError") {
    view.waiting(ONCE_MORE);
    return say(ONCE_MORE);
  }
  return alert(error instanceof ApiError ? error.message : `The sound cannot be played: ${error.message}`);
}

/** What is written of a line, also what is not saved yet. */
const writtenOf = (id) => outbox.texts().get(id)?.text ?? lineById(id)?.text ?? "";

const MODES = { mix: "hear", programme: "film", voice: "voice" };

/**
 * Lets a line be heard; the same again stops it, unless it was changed.
 *
 * @param {"mix"|"voice"|"programme"} kind
 */
export async function hear(kind = "mix") {
  const shown = chosenLine();
  if (!shown) return say("No line is chosen.");
  const mode = MODES[kind];
  const isSame = run?.id === shown.id && run.mode === mode && run.written === writtenOf(shown.id);
  if (run) stop();
  if (isSame) return undefined;
  const turn = (asked += 1);
  run = { ...watching(), mode, kind, id: shown.id, written: writtenOf(shown.id) };
  view.state(current());
  view.waiting("Preparing the line…");
  const long = setTimeout(() => turn === asked && say(PREPARING.line), LONG);
  try {
    await settled();
    const answer = await get(`/api/hear/${encodeURIComponent(shown.id)}?kind=${kind}`);
    clearTimeout(long);
    if (turn !== asked) return undefined;
    const isEmpty = !lineById(shown.id)?.text;
    const missing = kind === "mix" && !answer.line && !isEmpty ? ["The line is not spoken: it does not fit."] : [];
    if (isEmpty && kind !== "voice") say(NOTHING_WRITTEN);
    return await begin({
      mode, kind, id: shown.id, written: run.written, from: answer.start, until: answer.end, url: answer.url,
      caption: kind === "voice" ? { from: answer.start, to: answer.end, text: answer.text } : undefined,
      warnings: [...(isEmpty ? [NOTHING_WRITTEN] : missing), ...answer.warnings], settled: answer.settled,
    });
  } catch (error) {
    if (turn === asked) failedToPlay(error);
    return undefined;
  } finally {
    clearTimeout(long);
  }
}

/** After what was heard of a line has ended: what a person must know of it, said when it no longer talks over the voice. */
function ended() {
  const { mode, warnings, settled: isSettled } = run;
  const again = mode === "loop" ? loopOf(lineById(run.id)) : null;
  if (again) return seek(again.from);
  stop();
  if (mode === "watch") return say("The film is over.");
  view.warn(warnings);
  for (const text of [...warnings, isSettled ? "" : MEASURING]) if (text !== NOTHING_WRITTEN) say(text);
  return undefined;
}

// Captions: the lines that are spoken around the place, as the server will play them

/** What is known of the lines that are heard. `version` is that of the sound that is played. */
const spoken = { version: "", from: 0, to: 0, lines: [], asking: false };

/** Fetches the lines that are spoken from a second on, and takes in the version where nothing was known of it. */
async function captions(from, { isNew = true } = {}) {
  const turn = asked;
  spoken.asking = true;
  try {
    const start = Math.max(0, from - BEHIND);
    const answer = await get(`/api/spoken?from=${exactly(start)}&to=${exactly(from + CAPTIONS)}`);
    if (turn !== asked) return null;
    Object.assign(spoken, { from: start, to: from + CAPTIONS, lines: answer.lines });
    if (isNew) spoken.version = answer.version;
    if (answer.problem && run) view.warn([`${answer.problem.what} ${answer.problem.hint}`]);
    else if (answer.warnings.length && run?.mode === "watch") view.warn(answer.warnings);
    return answer;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (turn === asked) view.warn([error.message]);
    return null;
  } finally {
    spoken.asking = false;
  }
}

/** The line that is spoken at a second; undefined: none. */
const spokenAt = (seconds) => spoken.lines.find((each) => seconds >= each.start && seconds < each.end);

// Changes while it plays

/** Film seconds of lines that were changed since the sound was asked for. @type {Set<number>} */
const pending = new Set();
/** The lines as they were then, by their stamps: neighbours of a changed line are told too. @type {Map<string, string>} */
const stamps = new Map();
let changing = 0;

/** Notes lines that may be heard otherwise now. */
function changed({ changed: ids, gone }) {
  if (run?.kind !== "mix") return;
  for (const id of [...ids, ...gone]) {
    const stamp = lineById(id)?.stamp;
    if (stamps.get(id) === stamp) continue;
    stamps.set(id, stamp);
    // Where it was heard, and where it is now; of one that is gone only its name says when it was.
    const seconds = [spoken.lines.find((each) => each.id === id)?.start, lineById(id)?.start ?? Number(id.slice(1)) / 1000];
    for (const second of seconds) if (second !== undefined) pending.add(second);
  }
  soonAnew();
}

const isNear = (second, seconds) => second > seconds - BEHIND && second < seconds + AHEAD;

/** Lets the new sound take over, once nobody types, where a line that is near was changed. */
function soonAnew() {
  if (![...pending].some((second) => isNear(second, now()))) return;
  clearTimeout(changing);
  changing = setTimeout(anew, REST);
}

async function anew() {
  const turn = asked;
  changing = 0;
  if (!sound.running || run?.kind !== "mix") return;
  await settled();
  const seconds = now();
  pending.clear();
  const answer = await captions(seconds, { isNew: false });
  if (turn !== asked || !answer) return;
  if (answer.version === spoken.version) return;
  spoken.version = answer.version;
  try {
    await sound.change(urlFrom("mix"));
  } catch (error) {
    if (turn === asked) say(`The changed line cannot be heard: ${error.message}`);
  }
}

/** Tells everybody where the film is. */
function moved() {
  const seconds = now();
  const heard = run && run.mode !== "voice" && run.kind === "mix" ? spokenAt(seconds) : undefined;
  store.player = { seconds, playing: Boolean(run), line: heard?.id ?? null };
  view.time(seconds, duration());
  emit("player", store.player);
}

/** While it plays, once for each picture of the screen. */
function moment(seconds) {
  if (!run) return;
  if (seconds >= run.until) return void ended();
  moved();
  if (run.mode === "voice") return void view.caption(run.caption.text);
  view.caption(run.kind === "mix" ? (spokenAt(seconds)?.text ?? "") : "");
  if (run.kind !== "mix") return;
  if (pending.size && sound.running && !changing) soonAnew();
  if (seconds > spoken.to - SOON && spoken.to < duration() && !spoken.asking) captions(seconds, { isNew: false });
}

/** With the description, or the film alone: what is played on goes over. */
async function toggleDescription() {
  described = !described;
  say(described ? "With description." : "The film alone.");
  if (run?.mode === "watch" || run?.mode === "loop") run = { ...run, kind: described ? "mix" : "programme" };
  view.state(current());
  if (run?.mode !== "watch" && run?.mode !== "loop") return;
  if (!sound.running) return void begin(run);
  if (described) captions(now());
  await sound.change(urlFrom(run.kind));
}

/** @param {number} speed */
function setSpeed(speed) {
  sound.setSpeed(speed);
  view.speed(speed);
}

/** The next speed that is faster (1) or slower (-1). */
function changeSpeed(way) {
  const at = SPEEDS.indexOf(sound.speed) + way;
  setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at))]);
  say(`Speed ${sound.speed}.`, "speed");
}

/** Goes some seconds back or on. */
function skip(by) {
  const isOn = run?.mode === "watch" || run?.mode === "loop";
  if (run && !isOn) {
    // A line that is heard: the film is played on from there.
    const to = now() + by;
    stop();
    return play(inFilm(to));
  }
  seek(now() + by);
  if (!isOn) say(spokenTime(now(), 1), "time");
  return undefined;
}

/** One frame on or back. */
export function step(by) {
  if (run) stop();
  // Half a frame more, so that rounding never shows the same frame again.
  const at = Math.round(now() / frame()) + by;
  seek(at * frame());
  say(spokenTime(now(), 3), "time");
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

/** The browser cannot play what it was given: the server makes a copy that it can, or says why there is none. */
async function failed() {
  const reason = video.error?.message || `code ${video.error?.code}`;
  const playable = store.film?.playable;
  if (!video.error || !playable || !["film", "proxy"].includes(playable.state)) return;
  const why = `The browser cannot play this film (${reason}).`;
  take({ ...playable, state: "none", url: null, why });
  try {
    const news = await post("/api/proxy", { error: reason });
    if (news?.state) emit("playable", (store.film.playable = news));
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    say(`${why} ${problem.what}`);
  }
}

/** Takes in which file the page plays; a film that went or came back is told. */
function take(playable) {
  const before = view.shown;
  store.film.playable = playable;
  const at = now();
  const isNew = view.playable(playable);
  if (isNew) {
    position = at;
    // To where one is by then: a line may have been chosen while the film was on its way here.
    video.addEventListener("loadedmetadata", () => {
      if (sound.running) sound.picture = true;
      else video.currentTime = position + INSIDE;
    }, { once: true });
  } else if (!canShow()) sound.picture = false;
  if (playable.state === "gone" && before !== "gone") alert(playable.why);
  else if (before === "gone" && playable.state !== "gone") say("The film is back.");
}

function fullScreen() {
  if (document.fullscreenElement) return document.exitFullscreen();
  return view.fullScreen();
}

function pictureInPicture() {
  if (document.pictureInPictureElement) return document.exitPictureInPicture();
  if (!canShow()) return say(view.why() || "There is no picture.");
  return video.requestPictureInPicture();
}

function commands() {
  const group = "Hear";
  const everywhere = (...keys) => ({ any: keys });
  register({ name: "play", title: "Play with description, or pause", group, keys: { list: [" "], any: ["F8", "Alt+K"] }, run: togglePlay });
  register({ name: "back-2", title: "Back 2 seconds", group, repeats: true, keys: everywhere("Alt+J"), run: () => skip(-STEP) });
  register({ name: "on-2", title: "On 2 seconds", group, repeats: true, keys: everywhere("Alt+L"), run: () => skip(STEP) });
  register({ name: "loop", title: "Repeat this slot, or not", group, keys: { list: ["l"], any: ["Alt+O"] }, run: toggleLoop });
  register({ name: "hear", title: "Hear the line, from two seconds before; again: stop", group, keys: { list: ["h"], any: ["Ctrl+ ", "Alt+H"] }, run: () => hear("mix") });
  register({ name: "hear-voice", title: "Hear the voice alone", group, keys: ["v"], run: () => hear("voice") });
  register({ name: "hear-film", title: "Hear the film alone", group, keys: ["o"], run: () => hear("programme") });
  register({ name: "description", title: "Film with its description, or alone", group, run: toggleDescription });
  register({ name: "slower", title: "Slower", group, repeats: true, keys: ["<"], run: () => changeSpeed(-1) });
  register({ name: "faster", title: "Faster", group, repeats: true, keys: [">"], run: () => changeSpeed(1) });
  register({ name: "full-screen", title: "Full screen, or not", group, run: fullScreen });
  if (document.pictureInPictureEnabled)
    register({ name: "picture-in-picture", title: "Picture in a window of its own, or not", group, run: pictureInPicture });
  register({ name: "frame-back", title: "Film one frame back", group, repeats: true, run: () => step(-1) });
  register({ name: "frame-on", title: "Film one frame on", group, repeats: true, run: () => step(1) });
}

/** Keys of the keyboard and of headphones that play and pause, and those of a picture in its own window. */
function mediaKeys() {
  const session = navigator.mediaSession;
  if (!session) return;
  const handlers = {
    play: () => !run && play(), pause: () => run && stop(), seekbackward: () => skip(-STEP), seekforward: () => skip(STEP),
  };
  for (const [name, handler] of Object.entries(handlers)) session.setActionHandler(name, handler);
}

/** Starts the player. */
export function start() {
  commands();
  view = build(document.getElementById("player"), {
    volume: volume(),
    seek,
    setVolume: (level) => (sound.volume = volume(level)),
    setSpeed,
  });
  video = view.video;
  const broken = () => {
    stop();
    alert("The sound broke off. Press play to go on.");
  };
  sound = new Sound(...view.audios, video, { moment, ended, broken });
  mediaKeys();
  view.state(current());
  for (const name of ["seeked", "loadedmetadata"]) video.addEventListener(name, () => run || moved());
  video.addEventListener("error", failed);
  subscribe("film", (film) => {
    view.film(film);
    take(film.playable);
    moved();
  });
  subscribe("playable", take);
  subscribe("lines", changed);
  subscribe("heard", ({ settled: is }) => is && run && view.heard((run = { ...run, settled: true })));
  // Another line is shown from its start, and repeated where slots are; what is heard of the last one ends.
  subscribe("current", (id) => {
    if (run?.mode === "watch" || run?.id === id) return;
    if (looping && run?.mode === "loop") return void later(() => looping && run?.mode === "loop" && loop());
    if (run) stop();
    const shown = lineById(id);
    if (shown) later(() => chosenLine()?.id === id && !run && seek(shown.start));
  });
}

let timer = 0;
/** After a rest: a film that seeks at each key of two hundred lines would choke. */
function later(work) {
  clearTimeout(timer);
  timer = setTimeout(work, 150);
}
