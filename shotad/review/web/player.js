/**
 * The film with its description, from anywhere: played on, or for one line; and the film or the voice alone.
 *
 * All of it is one sound that the server makes while it is played (`/media/sound/KIND.wav`). When a line is changed
 * meanwhile, the new sound takes over where the old one is.
 */

import { addressOf, ApiError, get, post } from "./api.js";
import { register } from "./commands.js";
import { followJob, isAtWork } from "./jobs.js";
import * as outbox from "./outbox.js";
import { buildPlayer, MEASURING, SPEEDS } from "./playerview.js";
import { alert, say, unsay } from "./say.js";
import { faultText, sentence } from "./sentences.js";
import { Sound } from "./sound.js";
import { chosenLine, emit, lineById, settled, store, subscribe } from "./store.js";
import { text } from "./texts.js";
import { spokenTime } from "./times.js";

/** Seconds of a step back or on. */
const STEP = 2;
/** Seconds that are repeated before a slot, and after it. */
const LOOP_BEFORE = 2;
const LOOP_AFTER = 1;
/** Seconds before its end from which the film is played from the beginning. */
const END_EDGE = 0.1;
/** Milliseconds of silence after which the page says that something is going on. */
const PATIENCE = 1200;
/** Milliseconds after the last change of a line before its new sound is asked for. */
const CHANGE_REST = 400;
/** Milliseconds on a line before the film goes there: one that seeks at each key of two hundred lines would choke. */
const LINE_REST = 150;
/** Seconds ahead, and before the place, within which a changed line is heard at once. */
const AHEAD = 60;
const BEHIND = 10;
/** Seconds of film of which captions are fetched at once, and how long before their end more are. */
const CAPTION_SECONDS = 30;
const CAPTION_EDGE = 8;
/** Seconds into a frame that are sought: exactly at its start browsers may show the frame before (23.976 a second). */
const INSIDE = 0.001;
const VOLUME_KEY = "shotad-volume";
/** Said where a browser wants a fresh key for a sound: now that it is made, it begins at once. */
const PRESS_AGAIN = text("player.press_again");
const PREPARING = {
  line: text("player.line_prepared"),
  sound: text("player.sound_prepared"),
};
const NOTHING_WRITTEN = text("player.nothing_written");

/**
 * @typedef {"mix"|"programme"|"voice"} Kind  The film with its description, the film alone, the voice alone.
 *
 * @typedef {object} Playback  What is played.
 * @property {"watch"|"loop"|"hear"|"film"|"voice"} mode  The film on; a slot again and again; a line: with the film,
 *   the film alone, the voice alone.
 * @property {Kind} kind
 * @property {number} from  Film second.
 * @property {number} until  Film second.
 * @property {string|null} id  Of the line that is heard or repeated.
 * @property {string} written  Text of the line when it was asked for.
 * @property {string} [url]  Where the sound is not the server's of the film.
 * @property {string} [caption]  Text of the voice alone.
 * @property {string[]} warnings  What a person must know of what is heard.
 * @property {boolean} isSettled  Levels are exact.
 */

/** @type {HTMLVideoElement} */
let video;
/** @type {Sound} */
let sound;
/** @type {import("./playerview.js").PlayerView} */
let view;
/** State of the film file that was shown last. */
let shownState = "";
/** Film second where we are while no film can be shown. */
let position = 0;
/** @type {Playback|null} */
let playback = null;
/** Grows with each playback that begins or ends: what belongs to an older one is let go. */
let turn = 0;
/** Whether the film is played with its description, and whether the slot of the chosen line is repeated. */
let isDescribed = true;
let isLooping = false;

const hasFilm = (playable) => ["film", "proxy"].includes(playable?.state);
const canShow = () => hasFilm(store.film?.playable) && Boolean(video.currentSrc || video.src);
const frameSeconds = () => 1 / (store.film?.film.frame_rate || 25);
const duration = () => store.film?.film.duration ?? 0;
/** A second within the film. */
const withinFilm = (seconds) => Math.min(Math.max(0, seconds), duration());
/** To the millisecond, as addresses have it. */
const toMilliseconds = (seconds) => Math.round(seconds * 1000) / 1000;
/** Whether the film is played on, or a slot again and again: not one line. */
const isWatching = () => playback?.mode === "watch" || playback?.mode === "loop";

/** @returns {number} Film second that is seen or heard now. */
export function now() {
  if (sound?.isRunning && playback?.mode !== "voice") return sound.seconds;
  return canShow() && video.readyState > 0 ? video.currentTime : position;
}

/** Address of the film's sound, by the second from which it is played. */
const urlFrom = (kind) => (seconds) =>
  addressOf(`/media/sound/${kind}.wav?v=${store.revision}&from=${toMilliseconds(seconds)}`);

/**
 * Goes to a second of the film, whatever line was chosen just before; what is played on goes on from there.
 *
 * @param {number} seconds
 */
export function seek(seconds) {
  forgetFollow();
  return goTo(seconds);
}

/** @param {number} seconds  Film second from which what is played on goes on. */
function goTo(seconds) {
  const target = withinFilm(seconds);
  if (isWatching()) {
    if (sound.seek(target)) return emitPosition();
    return begin({ ...playback, from: Math.min(target, Math.max(0, duration() - END_EDGE)) });
  }
  if (playback) stop();
  position = target;
  if (canShow()) video.currentTime = position + INSIDE;
  return emitPosition();
}

/** Stops whatever is played. */
export function stop() {
  turn += 1;
  if (sound.isRunning && playback?.mode !== "voice") position = sound.seconds;
  sound.stop();
  playback = null;
  captions.lines = [];
  view.showCaption("");
  endPreparing();
  showState();
  emitPosition();
}

/** Nothing is prepared any more: the page does not say so any longer. */
function endPreparing() {
  view.showMessage("");
  Object.values(PREPARING).forEach(unsay);
}

const showState = () =>
  view.showState({
    mode: playback?.mode ?? null, isDescribed, isLooping, isWithSubtitles: Boolean(store.film?.voice.subtitles),
  });

/** @returns {Playback} The film, played on. */
const watching = () => ({
  mode: "watch", kind: isDescribed ? "mix" : "programme", from: 0, until: Infinity, id: null, written: "",
  warnings: [], isSettled: true,
});

/**
 * Plays the film on from a second; a slot again and again where slots are repeated.
 *
 * @param {number} [from]  From where we are if it is left out; from the beginning at the film's end.
 */
export function play(from = now()) {
  if (isLooping && loopOf(chosenLine())) return loop();
  const isAtEnd = from >= duration() - END_EDGE;
  return begin({ ...watching(), from: isAtEnd ? 0 : from });
}

/** Plays from the chosen line or where the film stands, or pauses what is played. */
function togglePlay() {
  if (playback) return stop();
  followNow();
  return play();
}

/** The seconds that are repeated for a line; null: there is none. */
function loopOf(line) {
  if (!line) return null;
  const slot = store.film.slots.find((each) => each.id === line.slot) ?? line;
  return { from: withinFilm(slot.start - LOOP_BEFORE), until: withinFilm(slot.end + LOOP_AFTER) };
}

/** Repeats the slot of the chosen line. */
function loop() {
  const line = chosenLine();
  return begin({ ...watching(), mode: "loop", id: line.id, ...loopOf(line) });
}

/** Repeats the slot of the chosen line, or not any more: then the film goes on. */
function toggleLoop() {
  if (!isLooping && !chosenLine()) return say(text("list.none_chosen"));
  isLooping = !isLooping;
  say(isLooping ? text("player.repeated") : text("player.not_repeated"));
  if (isLooping) return loop();
  if (playback?.mode === "loop") playback = { ...playback, mode: "watch", until: Infinity };
  return showState();
}

/** Says after a while that something is being prepared, if it still is. @returns {number} A timer. */
const announceLater = (words, startTurn) => setTimeout(() => turn === startTurn && say(words), PATIENCE);

/**
 * Plays something; what is played ends.
 *
 * @param {Playback} wanted
 */
async function begin(wanted) {
  const startTurn = (turn += 1);
  sound.stop();
  playback = wanted;
  changedSeconds.clear();
  captions.version = "";
  showState();
  emit("sound");
  view.showMessage(text("player.preparing_sound"));
  const timer = announceLater(PREPARING.sound, startTurn);
  try {
    await settled(); // what is typed is saved before it is spoken
    if (turn !== startTurn) return;
    for (const [id, { stamp }] of store.lines) stamps.set(id, stamp);
    position = wanted.from;
    sound.volume = storedVolume();
    if (wanted.kind === "mix") fetchCaptions(wanted.from);
    const from = toMilliseconds(wanted.from);
    const url = wanted.url ? addressOf(wanted.url) : urlFrom(wanted.kind)(from);
    const hasBegun = await sound.start(url, from, wanted.mode !== "voice" && canShow());
    if (!hasBegun) return;
    endPreparing();
    view.showHeard(wanted);
  } catch (error) {
    if (turn === startTurn) showFailure(error);
  } finally {
    clearTimeout(timer);
  }
}

/** @param {Error} error  Why something cannot be played. */
function showFailure(error) {
  stop();
  if (error.name === "NotAllowedError") {
    view.showMessage(PRESS_AGAIN);
    say(PRESS_AGAIN);
    return;
  }
  alert(error instanceof ApiError ? error.message : text("player.no_sound", { reason: error.message }));
}

/** What is written of a line, also what is not saved yet. */
const writtenText = (id) => outbox.texts().get(id)?.text ?? lineById(id)?.text ?? "";

const MODES = { mix: "hear", programme: "film", voice: "voice" };

/**
 * Lets a line be heard; the same again stops it, unless it was changed.
 *
 * @param {Kind} kind
 */
async function hear(kind) {
  const line = chosenLine();
  if (!line) {
    say(text("list.none_chosen"));
    return;
  }
  const { id } = line;
  const written = writtenText(id);
  const isSame = playback?.id === id && playback.mode === MODES[kind] && playback.written === written;
  if (playback) stop();
  if (isSame) return;
  const startTurn = (turn += 1);
  const wanted = { ...watching(), mode: MODES[kind], kind, id, written };
  playback = wanted;
  showState();
  emit("sound");
  view.showMessage(text("player.preparing_line"));
  const timer = announceLater(PREPARING.line, startTurn);
  try {
    await settled();
    const answer = await get(`/api/hear/${encodeURIComponent(id)}?kind=${kind}`);
    clearTimeout(timer);
    if (turn !== startTurn) return;
    const { start: from, end: until, url, text: spoken, warnings, settled: isSettled } = answer;
    const isEmpty = !lineById(id)?.text;
    if (isEmpty && kind !== "voice") say(NOTHING_WRITTEN);
    const notes = [];
    if (isEmpty) notes.push(NOTHING_WRITTEN);
    else if (kind === "mix" && !answer.line) notes.push(text("player.not_spoken"));
    const caption = kind === "voice" ? spoken : undefined;
    await begin({ ...wanted, from, until, url, caption, warnings: [...notes, ...warnings.map(sentence)], isSettled });
  } catch (error) {
    if (turn === startTurn) showFailure(error);
  } finally {
    clearTimeout(timer);
  }
}

/** What was played has ended. What a person must know of it is said now, when it no longer talks over the voice. */
function onEnd() {
  const { mode, id, warnings, isSettled } = playback;
  const repeated = mode === "loop" ? loopOf(lineById(id)) : null;
  if (repeated) {
    goTo(repeated.from);
    return;
  }
  stop();
  if (mode === "watch") {
    say(text("player.over"));
    return;
  }
  view.showWarnings(warnings);
  for (const warning of warnings) if (warning !== NOTHING_WRITTEN) say(warning); // that was said at the start
  if (!isSettled) say(MEASURING);
}

// Captions: the lines that are spoken around the place, as the server will play them

/**
 * @type {{version: string, to: number, isFetching: boolean,
 *   lines: {id: string, start: number, end: number, text: string}[]}} version: of the sound that is played. to: film
 *   second up to which lines were fetched.
 */
const captions = { version: "", to: 0, lines: [], isFetching: false };

/**
 * Fetches the lines that are spoken from a second on.
 *
 * @param {number} from
 * @param {{isNew?: boolean}} [options]  isNew: the sound begins, so its version is that of the answer.
 * @returns {Promise<{version: string}|null>} null where it failed, or something else is played by now.
 */
async function fetchCaptions(from, { isNew = true } = {}) {
  const startTurn = turn;
  captions.isFetching = true;
  try {
    const [start, end] = [Math.max(0, from - BEHIND), from + CAPTION_SECONDS];
    const answer = await get(`/api/spoken?from=${toMilliseconds(start)}&to=${toMilliseconds(end)}`);
    if (turn !== startTurn) return null;
    Object.assign(captions, { to: end, lines: answer.lines });
    if (isNew) captions.version = answer.version;
    const { problem, warnings } = answer;
    if (problem && playback) view.showWarnings([faultText(problem)]);
    else if (warnings.length && playback?.mode === "watch") view.showWarnings(warnings.map(sentence));
    return answer;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (turn === startTurn) view.showWarnings([error.message]);
    return null;
  } finally {
    captions.isFetching = false;
  }
}

/** The line that is spoken at a second; undefined: none. */
const captionAt = (seconds) => captions.lines.find(({ start, end }) => seconds >= start && seconds < end);

// Changes while it plays

/** @type {Set<number>} Film seconds of lines that were changed since the sound was asked for. */
const changedSeconds = new Set();
/** @type {Map<string, string|undefined>} Stamps of the lines then: news of a change has its neighbours too. */
const stamps = new Map();
let changeTimer = 0;

/** Notes lines that may be heard otherwise now. */
function onLines({ changed, gone }) {
  if (playback?.kind !== "mix") return;
  for (const id of [...changed, ...gone]) {
    const line = lineById(id);
    if (stamps.get(id) === line?.stamp) continue;
    stamps.set(id, line?.stamp);
    // Where it was heard, and where it is now; of one that is gone only its id says when it was.
    const before = captions.lines.find((caption) => caption.id === id)?.start;
    if (before !== undefined) changedSeconds.add(before);
    changedSeconds.add(line?.start ?? Number(id.slice(1)) / 1000);
  }
  changeSoundSoon();
}

/** Lets the new sound take over, once nobody types, where a line near the place was changed. */
function changeSoundSoon() {
  const seconds = now();
  const isNear = (second) => second > seconds - BEHIND && second < seconds + AHEAD;
  if (![...changedSeconds].some(isNear)) return;
  clearTimeout(changeTimer);
  changeTimer = setTimeout(changeSound, CHANGE_REST);
}

/** Lets the new sound take over, if it is another one. */
async function changeSound() {
  const startTurn = turn;
  changeTimer = 0;
  if (!sound.isRunning || playback?.kind !== "mix") return;
  await settled();
  const seconds = now();
  changedSeconds.clear();
  const answer = await fetchCaptions(seconds, { isNew: false });
  if (turn !== startTurn || !answer || answer.version === captions.version) return;
  captions.version = answer.version;
  try {
    await sound.change(urlFrom("mix"));
  } catch (error) {
    if (turn === startTurn) say(text("player.no_change", { reason: error.message }));
  }
}

/** Shows where the film is, and emits it. */
function emitPosition() {
  const seconds = now();
  const isWithVoice = playback?.kind === "mix";
  const spokenId = (isWithVoice && captionAt(seconds)?.id) || null; // a subtitle is no line
  store.player = { seconds, playing: playback !== null, line: spokenId };
  view.showTime(seconds, duration());
  emit("player", store.player);
}

/** While it plays, once for each picture of the screen. */
function onMoment(seconds) {
  if (!playback) return;
  if (seconds >= playback.until) {
    onEnd();
    return;
  }
  emitPosition();
  if (playback.mode === "voice") {
    view.showCaption(playback.caption);
    return;
  }
  if (playback.kind !== "mix") {
    view.showCaption("");
    return;
  }
  view.showCaption(captionAt(seconds)?.text ?? "");
  if (changedSeconds.size && sound.isRunning && !changeTimer) changeSoundSoon();
  const isAtEdge = seconds > captions.to - CAPTION_EDGE && captions.to < duration();
  if (isAtEdge && !captions.isFetching) fetchCaptions(seconds, { isNew: false });
}

/** Subtitles of foreign dialogue are spoken too, or not any more; the server says when. */
async function toggleSubtitles() {
  if (store.film.voice.subtitles) {
    await post("/api/subtitles", { on: false });
    return;
  }
  if (isAtWork("subtitles")) {
    say(text("player.subtitles_already"));
    return;
  }
  followJob(await post("/api/subtitles", { on: true }));
  say(text("player.subtitles_begun"));
}

/** What is played goes over to the sound with the subtitles, or without them. */
function onSubtitles() {
  showState();
  if (!store.film.voice.subtitles) say(text("player.subtitles_off"));
  changeSound();
}

/** With the description, or the film alone: what is played on goes over. */
async function toggleDescription() {
  isDescribed = !isDescribed;
  say(isDescribed ? text("player.with_description") : text("player.film_alone"));
  if (isWatching()) playback = { ...playback, kind: isDescribed ? "mix" : "programme" };
  showState();
  if (!isWatching()) return;
  if (!sound.isRunning) {
    begin(playback);
    return;
  }
  if (isDescribed) fetchCaptions(now());
  await sound.change(urlFrom(playback.kind));
}

/** @param {number} speed */
function setSpeed(speed) {
  sound.setSpeed(speed);
  view.showSpeed(speed);
}

/** @param {1|-1} direction  Faster, or slower. */
function changeSpeed(direction) {
  const index = SPEEDS.indexOf(sound.speed) + direction;
  setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, index))]);
  say(text("player.speed", { speed: sound.speed }), "speed");
}

/** @param {number} seconds  To go on; negative: back. */
function skip(seconds) {
  if (!playback) followNow();
  const target = now() + seconds;
  if (playback && !isWatching()) {
    // A line that is heard: the film is played on from there.
    stop();
    play(withinFilm(target));
    return;
  }
  goTo(target);
  if (!isWatching()) say(spokenTime(now(), 1), "time");
}

/** @param {1|-1} direction  One frame on, or back. */
function stepFrame(direction) {
  if (playback) stop();
  else followNow();
  const frame = Math.round(now() / frameSeconds()) + direction;
  goTo(frame * frameSeconds());
  say(spokenTime(now(), 3), "time");
}

/** @returns {number} How loud, 0 to 1, as this browser remembers it. */
function storedVolume() {
  try {
    const volume = Number(localStorage.getItem(VOLUME_KEY) ?? 1);
    return volume >= 0 && volume <= 1 ? volume : 1;
  } catch {
    return 1;
  }
}

/** @param {number} level  0 to 1. */
function setVolume(level) {
  sound.volume = level;
  try {
    localStorage.setItem(VOLUME_KEY, String(level));
  } catch {
    // It holds until something else is played.
  }
}

/** The browser cannot play what it was given: the server makes a copy that it can, or says why there is none. */
async function onVideoError() {
  const reason = video.error?.message || text("player.error_code", { code: video.error?.code ?? 0 });
  const playable = store.film?.playable;
  if (!video.error || !hasFilm(playable)) return;
  const problem = text("player.no_film", { reason });
  showFilm({ ...playable, state: "none", url: null, why: problem });
  try {
    const copy = await post("/api/proxy", { error: reason });
    if (!copy?.state) return;
    store.film.playable = copy;
    emit("playable", copy);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    say(`${problem} ${error.what}`);
  }
}

/**
 * Shows the file that the page plays; says that a film went or came back.
 *
 * @param {import("./store.js").Playable} playable
 */
function showFilm(playable) {
  const stateBefore = shownState;
  shownState = playable.state;
  store.film.playable = playable;
  const seconds = now();
  const isNew = view.showFilm(playable);
  if (isNew) {
    position = seconds;
    // To where one is by then: a line may have been chosen while the film was on its way here.
    const onLoaded = () => {
      if (sound.isRunning) sound.hasPicture = true;
      else video.currentTime = position + INSIDE;
    };
    video.addEventListener("loadedmetadata", onLoaded, { once: true });
  } else if (!canShow()) sound.hasPicture = false;
  if (playable.state === "gone" && stateBefore !== "gone") alert(sentence(playable.why));
  else if (stateBefore === "gone" && playable.state !== "gone") say(text("player.film_back"));
}

function toggleFullScreen() {
  return document.fullscreenElement ? document.exitFullscreen() : view.enterFullScreen();
}

function togglePictureInPicture() {
  if (document.pictureInPictureElement) return document.exitPictureInPicture();
  if (!canShow()) return say(view.noPictureReason() || text("player.no_picture"));
  return video.requestPictureInPicture();
}

function registerCommands() {
  const command = (name, title, keys, run) => register({ name, title, group: "hear", keys, run });
  const repeated = (name, title, keys, run) => register({ name, title, group: "hear", keys, run, repeats: true });
  const hearTitle = text("command.hear");
  command("play", text("command.play"), { list: [" "], any: ["F8", "Alt+K"] }, togglePlay);
  repeated("back-2", text("command.back_2"), { any: ["Alt+J"] }, () => skip(-STEP));
  repeated("on-2", text("command.on_2"), { any: ["Alt+L"] }, () => skip(STEP));
  command("loop", text("command.loop"), { list: ["l"], any: ["Alt+O"] }, toggleLoop);
  command("hear", hearTitle, { list: ["h"], any: ["Ctrl+ ", "Alt+H"] }, () => hear("mix"));
  command("hear-voice", text("command.hear_voice"), ["v"], () => hear("voice"));
  command("hear-film", text("command.hear_film"), ["o"], () => hear("programme"));
  command("description", text("command.description"), [], toggleDescription);
  command("subtitles", text("command.subtitles"), [], toggleSubtitles);
  repeated("slower", text("command.slower"), ["<"], () => changeSpeed(-1));
  repeated("faster", text("command.faster"), [">"], () => changeSpeed(1));
  command("full-screen", text("command.full_screen"), [], toggleFullScreen);
  if (document.pictureInPictureEnabled)
    command("picture-in-picture", text("command.picture_in_picture"), [], togglePictureInPicture);
  repeated("frame-back", text("command.frame_back"), [], () => stepFrame(-1));
  repeated("frame-on", text("command.frame_on"), [], () => stepFrame(1));
}

/** Keys of the keyboard and of headphones that play and pause, and those of a picture in its own window. */
function listenToMediaKeys() {
  const session = navigator.mediaSession;
  if (!session) return;
  session.setActionHandler("play", () => !playback && play());
  session.setActionHandler("pause", () => playback && stop());
  session.setActionHandler("seekbackward", () => skip(-STEP));
  session.setActionHandler("seekforward", () => skip(STEP));
}

let followTimer = 0;
/** @type {(() => void)|null} Goes to the chosen line, after a rest. */
let follow = null;

/** Stays here: who goes to a moment after choosing a line does not want to be taken to the line's start. */
function forgetFollow() {
  clearTimeout(followTimer);
  follow = null;
}

/** Goes to the chosen line without waiting: what is done at once after choosing a line is done at that line. */
export function followNow() {
  const action = follow;
  forgetFollow();
  action?.();
}

/** @param {() => void} action  Goes to the chosen line. */
function followLater(action) {
  forgetFollow();
  follow = action;
  followTimer = setTimeout(followNow, LINE_REST);
}

/** Another line is chosen: after a rest it is shown from its start, and repeated where slots are. */
function onCurrent(id) {
  // The film goes on; a line that is heard is heard to its end while it is the chosen one.
  if (playback?.mode === "watch" || playback?.id === id) return;
  if (isLooping && playback?.mode === "loop") {
    followLater(() => isLooping && playback?.mode === "loop" && loop());
    return;
  }
  if (playback) stop();
  const line = lineById(id);
  if (!line) return;
  followLater(() => {
    if (store.current === id && !playback) goTo(line.start);
  });
}

/** Starts the player. */
export function start() {
  registerCommands();
  const place = document.getElementById("player");
  view = buildPlayer(place, { volume: storedVolume(), seek, setVolume, setSpeed });
  video = view.video;
  const onBreak = () => {
    stop();
    alert(text("player.broke_off"));
  };
  sound = new Sound(...view.audios, video, { onMoment, onEnd, onBreak });
  listenToMediaKeys();
  showState();
  for (const name of ["seeked", "loadedmetadata"]) video.addEventListener(name, () => playback || emitPosition());
  video.addEventListener("error", onVideoError);
  subscribe("film", (film) => {
    view.showNotice(sentence(film.voice.notice));
    showState();
    showFilm(film.playable);
    emitPosition();
  });
  subscribe("playable", showFilm);
  subscribe("lines", onLines);
  subscribe("subtitles", onSubtitles);
  subscribe("heard", (levels) => {
    if (!levels.settled || !playback) return;
    playback = { ...playback, isSettled: true };
    view.showHeard(playback);
  });
  subscribe("current", onCurrent);
}
