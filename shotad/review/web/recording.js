/**
 * A line in the describer's own voice: recorded here or brought as a sound file, heard, and kept or discarded.
 *
 * While the microphone is on, nothing is said by the page: a screen reader would be recorded along. A short tone
 * says that it begins; how loud it was is said at its end.
 */

import { tab, upload } from "./api.js";
import { make, setText } from "./build.js";
import { commandButton, register } from "./commands.js";
import { stop } from "./player.js";
import { alert, say } from "./say.js";
import { act, applyChange, chosenLine, flush, lineById, lineNumber, store, subscribe } from "./store.js";

/** Seconds after which a recording ends by itself. */
const LONGEST = 120;
/** Seconds that are counted down before it begins, where that is wanted. */
const COUNT = 3;
/** Lossless where the browser can, else what it has. */
const KINDS = ["audio/webm;codecs=pcm", "audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];
/** What a microphone does for calls makes a voice sound like one. */
const PLAIN = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
/** dBFS of peaks: above, it is cut off; below, it is too soft. */
const [TOO_LOUD, TOO_SOFT] = [-1, -30];
const BYTES = 50_000_000;
/** Times the film's pace at which a line may be spoken. */
const PACES = [0.8, 0.9, 1, 1.1, 1.2, 1.3];

/** Recordings that are neither kept nor discarded, by line. @type {Map<string, {blob: Blob, seconds: number}>} */
const waiting = new Map();

let context = null;
/** @returns {AudioContext} */
const sound = () => (context ??= new AudioContext());

/** What people do about a microphone that cannot be had. */
function why(error) {
  const reasons = {
    NotAllowedError: "This page may not use the microphone. Allow it beside the address of the page, and record again; or choose a sound file.",
    NotFoundError: "No microphone was found. Plug one in and record again, or choose a sound file.",
    NotReadableError: "Another program uses the microphone. Close it and record again.",
  };
  return reasons[error?.name] ?? `The microphone cannot be used: ${error?.message ?? error}`;
}

/** "good", and what to do where it is not. */
export function levelWords(peak) {
  if (peak > TOO_LOUD) return "too loud: go further away";
  return peak < TOO_SOFT ? "too soft: come nearer" : "good";
}

/** A tone of a tenth of a second; resolves when it is over. */
function tone() {
  const audio = sound();
  const [source, gain] = [audio.createOscillator(), audio.createGain()];
  [source.frequency.value, gain.gain.value] = [880, 0.2];
  source.connect(gain).connect(audio.destination);
  source.start();
  source.stop(audio.currentTime + 0.1);
  return new Promise((over) => setTimeout(over, 250));
}

/** The microphone while it is on. */
class Take {
  constructor(id, stream) {
    [this.id, this.stream, this.parts, this.peak, this.began] = [id, stream, [], -Infinity, 0];
    const audio = sound();
    this.analyser = audio.createAnalyser();
    this.analyser.fftSize = 2048;
    this.samples = new Float32Array(this.analyser.fftSize);
    this.source = audio.createMediaStreamSource(stream);
    this.source.connect(this.analyser);
    const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
    this.recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: 256_000 });
    this.recorder.addEventListener("dataavailable", (event) => event.data.size && this.parts.push(event.data));
  }

  get seconds() {
    return this.began ? (performance.now() - this.began) / 1000 : 0;
  }

  start() {
    this.began = performance.now();
    this.recorder.start();
  }

  /** dBFS of what was loudest just now. */
  level() {
    this.analyser.getFloatTimeDomainData(this.samples);
    const peak = 20 * Math.log10(this.samples.reduce((most, one) => Math.max(most, Math.abs(one)), 1e-6));
    this.peak = Math.max(this.peak, peak);
    return peak;
  }

  /** Turns the microphone off; the recording, or null where none had begun. */
  async stop() {
    const { seconds, recorder } = this;
    const over = new Promise((done) => recorder.addEventListener("stop", done, { once: true }));
    if (recorder.state !== "inactive") {
      recorder.stop();
      await over;
    }
    this.source.disconnect();
    for (const track of this.stream.getTracks()) track.stop();
    return this.parts.length ? { blob: new Blob(this.parts, { type: recorder.mimeType }), seconds } : null;
  }
}

/** The recording that is under way: its line, its microphone when that is on, and whether it was called off. */
let going = null;
let playing = null;
/** @type {(() => void)[]} Panels that show what goes on. */
const views = [];
const show = () => views.forEach((view) => view());

function silence() {
  playing?.stop();
  playing = null;
  stop();
}

/** Whether to count before it begins; set by the box on the page. */
const options = { count: false };

async function begin() {
  const shown = chosenLine();
  if (!shown) return;
  if (!shown.heard) return say("A line that is not heard cannot be recorded. Write it first.");
  if (!navigator.mediaDevices?.getUserMedia) {
    alert("The browser gives the microphone only to pages on this computer. Open the page at 127.0.0.1, through an SSH tunnel from elsewhere; or choose a sound file.");
    return;
  }
  silence();
  const mine = (going = { id: shown.id, take: null, left: 0 });
  show();
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: PLAIN });
    mine.take = new Take(shown.id, stream);
    await sound().resume();
    if (options.count) {
      say(`Recording begins in ${COUNT} seconds, with a tone.`);
      for (mine.left = COUNT; mine.left > 0 && going === mine; mine.left -= 1) {
        show();
        await new Promise((over) => setTimeout(over, 1000));
      }
    }
    if (going === mine) await tone();
    if (going !== mine) return void mine.take.stop();
    mine.take.start();
    watch(mine);
  } catch (error) {
    mine.take?.stop();
    if (going === mine) going = null;
    alert(why(error));
  }
  show();
}

/** Shows the level after each picture of the screen, and ends what goes on for too long. */
function watch(mine) {
  if (going !== mine) return;
  mine.level = mine.take.level();
  show();
  if (mine.take.seconds > LONGEST) end();
  else requestAnimationFrame(() => watch(mine));
}

async function end() {
  const mine = going;
  going = null;
  show();
  if (!mine?.take?.began) return say("Nothing was recorded.");
  const made = await mine.take.stop();
  if (made) waiting.set(mine.id, made);
  show();
  if (made) say(`Line ${lineNumber(mine.id)}: ${made.seconds.toFixed(1)} s recorded, level ${levelWords(mine.take.peak)}. Hear it, keep it or discard it.`);
  return made;
}

const toggle = () => (going ? end() : begin());

/** Plays what was just recorded; again: stops it. */
async function hear() {
  const made = waiting.get(store.current);
  if (playing) return silence();
  if (!made) return say("Nothing is recorded that waits to be kept.");
  silence();
  try {
    const audio = sound();
    await audio.resume();
    const source = audio.createBufferSource();
    source.buffer = await audio.decodeAudioData(await made.blob.arrayBuffer());
    source.connect(audio.destination);
    source.addEventListener("ended", () => playing === source && (playing = null));
    playing = source;
    source.start();
  } catch {
    say("The browser cannot play this file here. Keep it to hear it in the film.");
  }
}

async function keep() {
  const id = store.current;
  const made = waiting.get(id);
  if (!made) return say("Nothing is recorded that waits to be kept.");
  silence();
  await flush(); // what was typed until now is the text that was read
  const query = new URLSearchParams({ tab, seen: lineById(id)?.stamp ?? "" });
  const answer = await upload(`/api/lines/${encodeURIComponent(id)}/recording?${query}`, made.blob);
  waiting.delete(id);
  applyChange(answer.changed);
  say([answer.changed.said, ...answer.warnings].join(" "));
  show();
}

function discard() {
  if (!waiting.delete(store.current)) return say("Nothing is recorded that waits to be kept.");
  silence();
  say("Discarded.");
  show();
}

/** Takes a sound file as the recording of the chosen line. */
function bring(file) {
  const shown = chosenLine();
  if (!shown?.heard) return say("A line that is not heard cannot be recorded. Write it first.");
  if (file.size > BYTES) return alert(`${file.name} has more than ${BYTES / 1e6} MB. Give the sound of one line.`);
  waiting.set(shown.id, { blob: file.type.startsWith("audio/") ? file : new Blob([file], { type: "audio/wav" }), seconds: 0, name: file.name });
  show();
  say(`${file.name} for line ${lineNumber(shown.id)}. Hear it, keep it or discard it.`);
}

/**
 * The part of the chosen line that is about its recording.
 *
 * @param {HTMLElement} place
 * @returns {{show: (line: object) => void}}
 */
export function recordingPanel(place) {
  const state = make("p", { className: "rec-state" });
  const meter = make("meter", { min: -60, max: 0, low: TOO_SOFT, high: TOO_LOUD, optimum: -12, value: -60, "aria-label": "Level of the microphone" });
  const level = make("span", { className: "rec-level" });
  const levels = make("p", { className: "rec-levels", hidden: true }, meter, level);
  const start = commandButton("record", "Record");
  const [listen, take, drop] = [commandButton("record-hear", "Hear recording"), commandButton("record-keep", "Keep"), commandButton("record-discard", "Discard")];
  const [again, back] = [commandButton("recording-fits", "Use it for these words"), commandButton("recording-remove", "Back to the voice")];
  const count = make("input", { type: "checkbox" });
  const file = make("input", { type: "file", accept: "audio/*,.wav,.flac", className: "rec-file" });
  const voice = make("select", {});
  const pace = make("select", {}, ...PACES.map((times) => make("option", { value: times }, times === 1 ? "As the film" : `${times} times`)));
  const section = make("details", { className: "d-more rec" },
    make("summary", {}, "How it is spoken"), state, levels,
    make("div", { className: "d-row" }, start, listen, take, drop, again, back),
    make("div", { className: "d-row rec-options" },
      make("label", { className: "choice" }, count, ` Count ${COUNT}, 2, 1 first`),
      make("label", { className: "rec-choose" }, make("span", {}, "Sound file"), file)),
    make("div", { className: "d-row rec-options" },
      make("label", { className: "rec-choose" }, make("span", {}, "Voice"), voice),
      make("label", { className: "rec-choose" }, make("span", {}, "Pace"), pace), commandButton("say-as", "Say a word as…")));
  place.append(section);

  // Voices that send lines away speak a whole film or nothing.
  const voices = (chosen) => {
    const own = store.film.voice.choices.filter((one) => one.speaks !== false && !one.name.startsWith("openai"));
    const names = [["", "As the film"], ...own.map((one) => [one.name, one.title])];
    if (chosen && !own.some((one) => one.name === chosen)) names.push([chosen, chosen]);
    const known = [...voice.options].map((one) => one.value).join("\n");
    if (known !== names.map(([name]) => name).join("\n"))
      voice.replaceChildren(...names.map(([name, title]) => make("option", { value: name }, title)));
    voice.value = chosen;
  };
  voice.addEventListener("change", () => act("voice", { name: voice.value }));
  pace.addEventListener("change", () => act("pace", { times: Number(pace.value) }));

  count.addEventListener("change", () => (options.count = count.checked));
  file.addEventListener("change", () => {
    if (file.files[0]) bring(file.files[0]);
    file.value = "";
  });
  section.addEventListener("dragover", (event) => {
    event.preventDefault();
    section.classList.add("over");
  });
  section.addEventListener("dragleave", () => section.classList.remove("over"));
  section.addEventListener("drop", (event) => {
    event.preventDefault();
    section.classList.remove("over");
    if (event.dataTransfer.files[0]) bring(event.dataTransfer.files[0]);
  });

  const words = (shown) => {
    const made = waiting.get(shown.id);
    if (going?.id === shown.id) {
      if (going.left) return `Recording begins in ${going.left}…`;
      return going.take?.began ? `Recording: ${going.take.seconds.toFixed(1)} s. Read the line, then stop.` : "The microphone is being opened…";
    }
    if (made) return made.name ? `${made.name}: not kept yet.` : `${made.seconds.toFixed(1)} s recorded: not kept yet.`;
    const { recording: kept } = shown;
    if (!kept) return shown.heard ? "Spoken by the voice." : "Not heard, so nothing to record.";
    return kept.fits ? `In your own voice, ${kept.seconds.toFixed(1)} s.` : "Recorded for another text: the voice speaks the line until you keep the recording or record again.";
  };
  const draw = (shown) => {
    const [isOn, made, kept] = [going !== null, waiting.has(shown.id), shown.recording];
    // A button that goes away must not take the focus along.
    const focused = section.contains(document.activeElement) ? document.activeElement : null;
    setText(state, words(shown));
    setText(start, isOn ? "Stop" : made || kept ? "Record again" : "Record");
    section.classList.toggle("on", isOn);
    if (isOn || made) section.open = true;
    for (const one of [listen, take, drop]) one.hidden = isOn || !made;
    again.hidden = isOn || made || !kept || kept.fits;
    back.hidden = isOn || made || !kept;
    levels.hidden = going?.level === undefined;
    if (!levels.hidden) {
      meter.value = Math.max(-60, going.level);
      setText(level, `Level ${levelWords(going.take.peak)}`);
    }
    voices(shown.own_voice);
    if (![...pace.options].some((one) => Number(one.value) === shown.pace)) pace.append(make("option", { value: shown.pace }, `${shown.pace} times`));
    pace.value = String(shown.pace);
    if (focused?.hidden) start.focus();
  };
  const redraw = () => chosenLine() && draw(chosenLine());
  views.push(redraw);
  return { show: draw };
}

const named = (name, title, run, keys) => register({ name, title, group: "Choose and edit", keys, run });

named("record", "Record the line in your own voice; again: stop", toggle, { any: ["Alt+R"] });
named("record-hear", "Hear the recording that is not kept yet", hear);
named("record-keep", "Keep the recording", keep);
named("record-discard", "Discard the recording that is not kept yet", discard);
named("recording-fits", "Use the recording for the line's new words", () => act("keep_recording"));
named("recording-remove", "Remove the recording: the voice speaks the line", () => act("discard_recording"));

// Whoever goes on to another line has read this one.
subscribe("current", () => going && going.id !== store.current && end());
