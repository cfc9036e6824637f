/**
 * A line in the describer's own voice: recorded here or brought as a sound file, heard, and kept or discarded.
 *
 * While the microphone is on, nothing is said by the page: a screen reader would be recorded along. A short tone
 * says that it begins; how loud it was is said at its end.
 */

import { tab, upload } from "./api.js";
import { make, setText } from "./build.js";
import { commandButton, register } from "./commands.js";
import * as player from "./player.js";
import { alert, say } from "./say.js";
import { sentence } from "./sentences.js";
import { act, applyChange, chosenLine, flush, lineById, lineNumber, store, subscribe } from "./store.js";
import { decimal, text } from "./texts.js";
import { sizeText } from "./wording.js";

/** Seconds after which a recording ends by itself. */
const LONGEST = 120;
/** Milliseconds that the browser has to get its sound going. */
const LONGEST_RESUME = 1000;
/** Seconds that are counted down before it begins, where that is wanted. */
const COUNTDOWN = 3;
/** Lossless where the browser can, else what it has. */
const MEDIA_TYPES = ["audio/webm;codecs=pcm", "audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];
/** What a microphone does for calls makes a voice sound like one. */
const PLAIN = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
/** dBFS of peaks: above, it is cut off; below, it is too soft. */
const [TOO_LOUD, TOO_SOFT] = [-1, -30];
/** dBFS that the meter shows as silence. */
const SILENCE = -60;
/** Bytes that a sound file may have. */
const LARGEST = 50_000_000;
/** Times the film's pace at which a line may be spoken. */
const PACES = [0.8, 0.9, 1, 1.1, 1.2, 1.3];
const NO_MICROPHONE = text("recording.no_microphone");
const NO_DRAFT = text("recording.no_draft");
const NOT_HEARD = text("recording.not_heard");
const HEAR_KEY = "Alt+P";
const KEEP_KEY = "Alt+U";
const WHAT_NEXT = text("recording.next", { hear: HEAR_KEY, keep: KEEP_KEY });

/** @typedef {{blob: Blob, seconds: number, name?: string}} Draft  name: of the file that was brought. */
/** @type {Map<string, Draft>} Recordings that are neither kept nor discarded, by line. */
const drafts = new Map();

/**
 * @typedef {{id: string, microphone: Microphone|null, countdown: number, level?: number}} Recording  countdown: seconds
 *   until it begins. level: dBFS just now.
 */
/** @type {Recording|null} The recording that is under way. */
let recording = null;
/** @type {{source: AudioBufferSourceNode|null}|null} The draft that is heard; its source is null until it is decoded. */
let heardDraft = null;
/** @type {() => void} Shows in the panel what goes on. */
let showPanel = () => {};
/** Set by the box on the page. */
let isCountdownWanted = false;

let context = null;
/** @returns {AudioContext} Made when it is first needed: browsers want a key or a click before. */
const audioContext = () => (context ??= new AudioContext());

/** @returns {boolean} Whether a line has a recording that is neither kept nor discarded. */
export const hasDraft = (id) => drafts.has(id);

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Why a microphone cannot be had, and what people do about it. */
function microphoneProblem(error) {
  const problems = {
    NotAllowedError: text("recording.not_allowed"),
    NotFoundError: text("recording.not_found"),
    NotReadableError: text("recording.not_readable"),
  };
  return problems[error?.name] ?? text("recording.microphone_fails", { reason: error?.message ?? String(error) });
}

/** "good", or what to do. @param {number} peak dBFS */
function levelWords(peak) {
  if (peak > TOO_LOUD) return text("recording.too_loud");
  return peak < TOO_SOFT ? text("recording.too_soft") : text("recording.good");
}

/** Plays a tone of a tenth of a second; resolves when it is over. */
function playTone() {
  const audio = audioContext();
  const oscillator = audio.createOscillator();
  const gain = audio.createGain();
  oscillator.frequency.value = 880;
  gain.gain.value = 0.2;
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start();
  oscillator.stop(audio.currentTime + 0.1);
  return wait(250);
}

/** The microphone while it is on. */
class Microphone {
  /** @param {MediaStream} stream */
  constructor(stream) {
    this.stream = stream;
    /** @type {Blob[]} */
    this.parts = [];
    this.peak = -Infinity; // dBFS
    this.startTime = 0; // 0: it is not recorded yet
    const audio = audioContext();
    this.analyser = audio.createAnalyser();
    this.analyser.fftSize = 2048;
    this.samples = new Float32Array(this.analyser.fftSize);
    this.source = audio.createMediaStreamSource(stream);
    this.source.connect(this.analyser);
    const mimeType = MEDIA_TYPES.find((type) => MediaRecorder.isTypeSupported(type));
    this.recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: 256_000 });
    this.recorder.addEventListener("dataavailable", (event) => event.data.size && this.parts.push(event.data));
  }

  /** Seconds that were recorded until now. */
  get seconds() {
    return this.startTime ? (performance.now() - this.startTime) / 1000 : 0;
  }

  start() {
    this.startTime = performance.now();
    this.recorder.start();
  }

  /** dBFS of what was loudest just now. */
  measureLevel() {
    this.analyser.getFloatTimeDomainData(this.samples);
    const loudest = this.samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1e-6);
    const level = 20 * Math.log10(loudest);
    this.peak = Math.max(this.peak, level);
    return level;
  }

  /**
   * Turns it off.
   *
   * @returns {Promise<Draft|null>} null where no recording had begun.
   */
  async stop() {
    const { seconds, recorder } = this;
    const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
    if (recorder.state !== "inactive") {
      recorder.stop();
      await stopped;
    }
    this.source.disconnect();
    for (const track of this.stream.getTracks()) track.stop();
    return this.parts.length ? { blob: new Blob(this.parts, { type: recorder.mimeType }), seconds } : null;
  }
}

/** Stops a draft that is heard. */
function stopDraft() {
  heardDraft?.source?.stop();
  heardDraft = null;
}

/** Stops a draft that is heard, and the player. */
function stopSound() {
  stopDraft();
  player.stop();
}

/** Counts down; ends early where the recording is called off. */
async function countDown(started) {
  say(text("recording.begins_said", { count: COUNTDOWN }));
  for (started.countdown = COUNTDOWN; started.countdown > 0 && recording === started; started.countdown -= 1) {
    showPanel();
    await wait(1000);
  }
}

/** Begins to record the chosen line. */
async function begin() {
  const line = chosenLine();
  if (!line) return;
  if (!line.heard) {
    say(NOT_HEARD);
    return;
  }
  if (!navigator.mediaDevices?.getUserMedia) {
    alert(NO_MICROPHONE);
    return;
  }
  stopSound();
  const started = { id: line.id, microphone: null, countdown: 0 };
  recording = started;
  showPanel();
  try {
    started.microphone = new Microphone(await navigator.mediaDevices.getUserMedia({ audio: PLAIN }));
    // Without a device for sound, Firefox never resumes; the microphone records all the same, only unmeasured.
    await Promise.race([audioContext().resume(), wait(LONGEST_RESUME)]);
    if (isCountdownWanted) await countDown(started);
    if (recording === started) await playTone();
    if (recording !== started) {
      started.microphone.stop();
      return;
    }
    started.microphone.start();
    watchLevel(started);
  } catch (error) {
    started.microphone?.stop();
    if (recording === started) recording = null;
    alert(microphoneProblem(error));
  }
  showPanel();
}

/** Shows the level with each picture of the screen, and ends what goes on for too long. */
function watchLevel(started) {
  if (recording !== started) return;
  started.level = started.microphone.measureLevel();
  showPanel();
  if (started.microphone.seconds > LONGEST) end();
  else requestAnimationFrame(() => watchLevel(started));
}

/** Ends the recording that is under way; what was recorded is a draft then. */
async function end() {
  const { id, microphone } = recording;
  recording = null;
  showPanel();
  if (!microphone?.startTime) {
    say(text("recording.nothing"));
    return;
  }
  const draft = await microphone.stop();
  if (draft) drafts.set(id, draft);
  showPanel();
  if (!draft) return;
  const values = { number: lineNumber(id), seconds: decimal(draft.seconds, 1), level: levelWords(microphone.peak) };
  say(`${text("recording.recorded", values)} ${WHAT_NEXT}`);
}

/** Plays the draft of the chosen line; again: stops it. */
async function hearDraft() {
  const draft = drafts.get(store.current);
  if (heardDraft) return stopDraft();
  if (!draft) return say(NO_DRAFT);
  stopSound();
  const wanted = { source: null };
  heardDraft = wanted;
  try {
    const audio = audioContext();
    await audio.resume();
    const source = audio.createBufferSource();
    source.buffer = await audio.decodeAudioData(await draft.blob.arrayBuffer());
    if (heardDraft !== wanted) return undefined; // something else is heard by now
    source.connect(audio.destination);
    source.addEventListener("ended", () => {
      if (heardDraft === wanted) heardDraft = null;
    });
    wanted.source = source;
    source.start();
  } catch {
    if (heardDraft === wanted) heardDraft = null;
    say(text("recording.cannot_play"));
  }
  return undefined;
}

async function keepDraft() {
  const id = store.current;
  const draft = drafts.get(id);
  if (!draft) return say(NO_DRAFT);
  stopSound();
  await flush(); // what was typed until now is the text that was read
  const query = new URLSearchParams({ tab, seen: lineById(id)?.stamp ?? "" });
  const answer = await upload(`/api/lines/${encodeURIComponent(id)}/recording?${query}`, draft.blob);
  drafts.delete(id);
  applyChange(answer.changed);
  say([answer.changed.said, ...answer.warnings].map(sentence).join(" "));
  return showPanel();
}

function discardDraft() {
  if (!drafts.delete(store.current)) return say(NO_DRAFT);
  stopSound();
  say(text("recording.discarded"));
  return showPanel();
}

/** Takes a sound file as the draft of the chosen line. */
function bringFile(file) {
  const line = chosenLine();
  if (!line?.heard) return say(NOT_HEARD);
  if (file.size > LARGEST) return alert(text("recording.too_large", { file: file.name, size: sizeText(LARGEST) }));
  const blob = file.type.startsWith("audio/") ? file : new Blob([file], { type: "audio/wav" });
  drafts.set(line.id, { blob, seconds: 0, name: file.name });
  showPanel();
  return say(`${text("recording.file_for", { file: file.name, number: lineNumber(line.id) })} ${WHAT_NEXT}`);
}

/** How the line is spoken, or what is being recorded of it. */
function stateText(line) {
  if (recording?.id === line.id) {
    if (recording.countdown) return text("recording.begins", { seconds: recording.countdown });
    const { microphone } = recording;
    if (!microphone?.startTime) return text("recording.opening");
    return text("recording.running", { seconds: decimal(microphone.seconds, 1) });
  }
  const draft = drafts.get(line.id);
  if (draft?.name) return text("recording.file_not_kept", { file: draft.name });
  if (draft) return text("recording.not_kept", { seconds: decimal(draft.seconds, 1) });
  const { recording: kept } = line;
  if (!kept) return line.heard ? text("recording.by_voice") : text("recording.write_first");
  if (kept.fits) return text("recording.own_voice", { seconds: decimal(kept.seconds, 1) });
  return text("recording.other_text");
}

const choiceLabel = (label, input) => make("label", { className: "rec-choose" }, make("span", {}, label), input);
const optionOf = ([value, label]) => make("option", { value }, label);

/** The voice of the line. */
function voiceField() {
  const select = make("select", {});
  select.addEventListener("change", () => act("voice", { name: select.value }));
  /** @param {string} chosen Name of the line's own voice; empty: that of the film. */
  const show = (chosen) => {
    // Voices that send lines away speak a whole film or nothing.
    const usable = store.film.voice.choices.filter(({ name, speaks }) => speaks !== false && !name.startsWith("openai"));
    const options = [["", text("recording.as_film")], ...usable.map(({ name, title }) => [name, title])];
    if (chosen && !usable.some(({ name }) => name === chosen)) options.push([chosen, chosen]);
    const before = [...select.options].map((option) => option.value).join("\n");
    if (before !== options.map(([name]) => name).join("\n")) select.replaceChildren(...options.map(optionOf));
    select.value = chosen;
  };
  return { element: choiceLabel(text("recording.voice"), select), show };
}

/** The pace of the line. */
function paceField() {
  const optionOfPace = (pace) =>
    optionOf([pace, pace === 1 ? text("recording.as_film") : text("recording.pace_times", { pace })]);
  const select = make("select", {}, ...PACES.map(optionOfPace));
  select.addEventListener("change", () => act("pace", { times: Number(select.value) }));
  const show = (pace) => {
    const isListed = [...select.options].some((option) => Number(option.value) === pace);
    if (!isListed) select.append(optionOfPace(pace));
    select.value = String(pace);
  };
  return { element: choiceLabel(text("recording.pace"), select), show };
}

/** A file that is dropped on the panel is taken as well. */
function takeDroppedFiles(panel) {
  panel.addEventListener("dragover", (event) => {
    event.preventDefault();
    panel.classList.add("over");
  });
  panel.addEventListener("dragleave", () => panel.classList.remove("over"));
  panel.addEventListener("drop", (event) => {
    event.preventDefault();
    panel.classList.remove("over");
    if (event.dataTransfer.files[0]) bringFile(event.dataTransfer.files[0]);
  });
}

function registerCommands() {
  const command = (name, title, run, keys) => register({ name, title, group: "edit", keys, run });
  const toggle = () => (recording ? end() : begin());
  command("record", text("command.record"), toggle, { any: ["Alt+R"] });
  command("record-hear", text("command.record_hear"), hearDraft, { any: [HEAR_KEY] });
  command("record-keep", text("command.record_keep"), keepDraft, { any: [KEEP_KEY] });
  command("record-discard", text("command.record_discard"), discardDraft);
  command("recording-fits", text("command.recording_fits"), () => act("keep_recording"));
  command("recording-remove", text("command.recording_remove"), () => act("discard_recording"));
}

/**
 * The part of the chosen line that is about how it is spoken.
 *
 * @param {HTMLElement} place
 * @returns {{show: (line: import("./store.js").Line) => void}}
 */
export function recordingPanel(place) {
  registerCommands();
  // Whoever goes on to another line has read this one, and heard it.
  subscribe("current", () => {
    if (recording && recording.id !== store.current) end();
    stopDraft();
  });
  subscribe("sound", stopDraft); // one sound at a time

  const state = make("p", { className: "rec-state" });
  const meter = make("meter", {
    min: SILENCE, max: 0, low: TOO_SOFT, high: TOO_LOUD, optimum: -12, value: SILENCE,
    "aria-label": text("recording.meter"),
  });
  const level = make("span", { className: "rec-level" });
  const levels = make("p", { className: "rec-levels", hidden: true }, meter, level);
  const record = commandButton("record", text("recording.record"));
  const draftButtons = [
    commandButton("record-hear", text("recording.hear")),
    commandButton("record-keep", text("recording.keep")),
    commandButton("record-discard", text("recording.discard")),
  ];
  const fits = commandButton("recording-fits", text("recording.use"));
  const remove = commandButton("recording-remove", text("recording.back"));
  const countdown = make("input", { type: "checkbox" });
  countdown.addEventListener("change", () => (isCountdownWanted = countdown.checked));
  const file = make("input", { type: "file", accept: "audio/*,.wav,.flac", className: "rec-file" });
  file.addEventListener("change", () => {
    if (file.files[0]) bringFile(file.files[0]);
    file.value = "";
  });
  const voice = voiceField();
  const pace = paceField();
  const countdownLabel = make(
    "label",
    { className: "choice" },
    countdown,
    ` ${text("recording.countdown", { from: COUNTDOWN })}`,
  );
  const sayAs = commandButton("say-as", text("recording.say_as"));
  const panel = make("details", { className: "d-more rec" },
    make("summary", {}, text("recording.heading")), state, levels,
    make("div", { className: "d-row" }, record, ...draftButtons, fits, remove),
    make("div", { className: "d-row rec-options" }, countdownLabel, choiceLabel(text("recording.file"), file)),
    make("div", { className: "d-row rec-options" }, voice.element, pace.element, sayAs));
  place.append(panel);
  takeDroppedFiles(panel);

  const show = (line) => {
    const isRecording = recording !== null;
    const hasDraft = drafts.has(line.id);
    const { recording: kept } = line;
    // A button that goes away must not take the focus along.
    const focused = panel.contains(document.activeElement) ? document.activeElement : null;
    setText(state, stateText(line));
    const again = hasDraft || kept ? text("recording.again") : text("recording.record");
    setText(record, isRecording ? text("recording.stop") : again);
    const canRecord = line.heard || isRecording || hasDraft;
    record.setAttribute("aria-disabled", String(!canRecord));
    file.disabled = !line.heard;
    panel.classList.toggle("on", isRecording);
    if (isRecording || hasDraft) panel.open = true;
    for (const button of draftButtons) button.hidden = isRecording || !hasDraft;
    fits.hidden = isRecording || hasDraft || !kept || kept.fits;
    remove.hidden = isRecording || hasDraft || !kept;
    levels.hidden = recording?.level === undefined;
    if (!levels.hidden) {
      meter.value = Math.max(SILENCE, recording.level);
      setText(level, text("recording.level", { level: levelWords(recording.microphone.peak) }));
    }
    voice.show(line.own_voice);
    pace.show(line.pace);
    if (focused?.hidden) record.focus();
  };
  showPanel = () => chosenLine() && show(chosenLine());
  return { show };
}
