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
import { act, applyChange, chosenLine, flush, lineById, lineNumber, store, subscribe } from "./store.js";

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
const NO_MICROPHONE =
  "The browser gives the microphone only to pages on this computer. " +
  "Open the page at 127.0.0.1, through an SSH tunnel from elsewhere; or choose a sound file.";
const NO_DRAFT = "Nothing is recorded that waits to be kept.";
const HEAR_KEY = "Alt+P";
const KEEP_KEY = "Alt+U";
const WHAT_NEXT = `Hear it (${HEAR_KEY}), keep it (${KEEP_KEY}) or discard it.`;

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
    NotAllowedError:
      "This page may not use the microphone. Allow it beside the address of the page, and record again; " +
      "or choose a sound file.",
    NotFoundError: "No microphone was found. Plug one in and record again, or choose a sound file.",
    NotReadableError: "Another program uses the microphone. Close it and record again.",
  };
  return problems[error?.name] ?? `The microphone cannot be used: ${error?.message ?? error}`;
}

/** "good", or what to do. @param {number} peak dBFS */
function levelWords(peak) {
  if (peak > TOO_LOUD) return "too loud: go further away";
  return peak < TOO_SOFT ? "too soft: come nearer" : "good";
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
  say(`Recording begins in ${COUNTDOWN} seconds, with a tone.`);
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
    say("A line that is not heard cannot be recorded. Write it first.");
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
    say("Nothing was recorded.");
    return;
  }
  const draft = await microphone.stop();
  if (draft) drafts.set(id, draft);
  showPanel();
  if (!draft) return;
  const length = `${draft.seconds.toFixed(1)} s recorded, level ${levelWords(microphone.peak)}`;
  say(`Line ${lineNumber(id)}: ${length}. ${WHAT_NEXT}`);
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
    say("The browser cannot play this file here. Keep it to hear it in the film.");
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
  say([answer.changed.said, ...answer.warnings].join(" "));
  return showPanel();
}

function discardDraft() {
  if (!drafts.delete(store.current)) return say(NO_DRAFT);
  stopSound();
  say("Discarded.");
  return showPanel();
}

/** Takes a sound file as the draft of the chosen line. */
function bringFile(file) {
  const line = chosenLine();
  if (!line?.heard) return say("A line that is not heard cannot be recorded. Write it first.");
  if (file.size > LARGEST) return alert(`${file.name} has more than ${LARGEST / 1e6} MB. Give the sound of one line.`);
  const blob = file.type.startsWith("audio/") ? file : new Blob([file], { type: "audio/wav" });
  drafts.set(line.id, { blob, seconds: 0, name: file.name });
  showPanel();
  return say(`${file.name} for line ${lineNumber(line.id)}. ${WHAT_NEXT}`);
}

/** How the line is spoken, or what is being recorded of it. */
function stateText(line) {
  if (recording?.id === line.id) {
    if (recording.countdown) return `Recording begins in ${recording.countdown}…`;
    const { microphone } = recording;
    if (!microphone?.startTime) return "The microphone is being opened…";
    return `Recording: ${microphone.seconds.toFixed(1)} s. Read the line, then stop.`;
  }
  const draft = drafts.get(line.id);
  if (draft?.name) return `${draft.name}: not kept yet.`;
  if (draft) return `${draft.seconds.toFixed(1)} s recorded: not kept yet.`;
  const { recording: kept } = line;
  if (!kept) return line.heard ? "Spoken by the voice." : "Write the line first; then it can be recorded.";
  if (kept.fits) return `In your own voice, ${kept.seconds.toFixed(1)} s.`;
  return "Recorded for another text: the voice speaks the line until you keep the recording or record again.";
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
    const options = [["", "As the film"], ...usable.map(({ name, title }) => [name, title])];
    if (chosen && !usable.some(({ name }) => name === chosen)) options.push([chosen, chosen]);
    const before = [...select.options].map((option) => option.value).join("\n");
    if (before !== options.map(([name]) => name).join("\n")) select.replaceChildren(...options.map(optionOf));
    select.value = chosen;
  };
  return { element: choiceLabel("Voice", select), show };
}

/** The pace of the line. */
function paceField() {
  const optionOfPace = (pace) => optionOf([pace, pace === 1 ? "As the film" : `${pace} times`]);
  const select = make("select", {}, ...PACES.map(optionOfPace));
  select.addEventListener("change", () => act("pace", { times: Number(select.value) }));
  const show = (pace) => {
    const isListed = [...select.options].some((option) => Number(option.value) === pace);
    if (!isListed) select.append(optionOfPace(pace));
    select.value = String(pace);
  };
  return { element: choiceLabel("Pace", select), show };
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
  const command = (name, title, run, keys) => register({ name, title, group: "Choose and edit", keys, run });
  const toggle = () => (recording ? end() : begin());
  command("record", "Record the line in your own voice; again: stop", toggle, { any: ["Alt+R"] });
  command("record-hear", "Hear the recording that is not kept yet; again: stop", hearDraft, { any: [HEAR_KEY] });
  command("record-keep", "Keep the recording", keepDraft, { any: [KEEP_KEY] });
  command("record-discard", "Discard the recording that is not kept yet", discardDraft);
  command("recording-fits", "Use the recording for the line's new words", () => act("keep_recording"));
  command("recording-remove", "Remove the recording: the voice speaks the line", () => act("discard_recording"));
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
    "aria-label": "Level of the microphone",
  });
  const level = make("span", { className: "rec-level" });
  const levels = make("p", { className: "rec-levels", hidden: true }, meter, level);
  const record = commandButton("record", "Record");
  const draftButtons = [
    commandButton("record-hear", "Hear recording"),
    commandButton("record-keep", "Keep"),
    commandButton("record-discard", "Discard"),
  ];
  const fits = commandButton("recording-fits", "Use it for these words");
  const remove = commandButton("recording-remove", "Back to the voice");
  const countdown = make("input", { type: "checkbox" });
  countdown.addEventListener("change", () => (isCountdownWanted = countdown.checked));
  const file = make("input", { type: "file", accept: "audio/*,.wav,.flac", className: "rec-file" });
  file.addEventListener("change", () => {
    if (file.files[0]) bringFile(file.files[0]);
    file.value = "";
  });
  const voice = voiceField();
  const pace = paceField();
  const countdownLabel = make("label", { className: "choice" }, countdown, ` Count ${COUNTDOWN}, 2, 1 first`);
  const sayAs = commandButton("say-as", "Say a word as…");
  const panel = make("details", { className: "d-more rec" },
    make("summary", {}, "How it is spoken"), state, levels,
    make("div", { className: "d-row" }, record, ...draftButtons, fits, remove),
    make("div", { className: "d-row rec-options" }, countdownLabel, choiceLabel("Sound file", file)),
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
    setText(record, isRecording ? "Stop" : hasDraft || kept ? "Record again" : "Record");
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
      setText(level, `Level ${levelWords(recording.microphone.peak)}`);
    }
    voice.show(line.own_voice);
    pace.show(line.pace);
    if (focused?.hidden) record.focus();
  };
  showPanel = () => chosenLine() && show(chosenLine());
  return { show };
}
