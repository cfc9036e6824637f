/**
 * Drawing of the time line: on a canvas, only what is in view. States have their pattern and sign, threads their
 * letter; colours come from the style sheet, so that dark pages and forced colours are kept.
 *
 * @typedef {{peaks: Uint8Array, rate: number}} Waveform  rate: peaks a second.
 */

import { text } from "./texts.js";
import { eachInView, tickStep } from "./timeline-scale.js";
import { clock } from "./times.js";
import { threadLetters } from "./wording.js";

/** Rows from the top: name, height in CSS pixels. */
export const ROWS = [
  { name: "time", title: text("timeline.time"), height: 18 },
  { name: "shots", title: text("timeline.shots"), height: 18 },
  { name: "sound", title: text("timeline.sound"), height: 44 },
  { name: "speech", title: text("timeline.dialogue"), height: 20 },
  { name: "lines", title: text("timeline.lines"), height: 40 },
];
const heightOf = (rows) => rows.reduce((sum, row) => sum + row.height, 0);
export const HEIGHT = heightOf(ROWS);
/** @type {Record<string, number>} Top of each row. */
export const TOP = Object.fromEntries(ROWS.map((row, i) => [row.name, heightOf(ROWS.slice(0, i))]));

/** Custom properties of the style sheet, without their "--t-". */
const COLOURS = [
  "wave", "ink", "soft", "ground", "edge", "speech", "slot", "line", "accepted", "edited", "chosen", "on-chosen",
  "on-speech",
];
/** Threads that have a colour of their own. */
const THREADS = 8;
/** Height of a line, and of one that is left out; and of what stands for it where it is narrow, by state. */
const [LINE_HEIGHT, DROPPED_HEIGHT] = [24, 14];
const TICK_HEIGHTS = { machine: 9, edited: 17, accepted: 25, dropped: 4 };
/** Pixels in which no text stands. */
const LEAST_WIDTH = 8;
/** Letters of a text that must be seen: less of it says nothing. */
const LEAST_LETTERS = 6;
/** Pixels under which a line has no pattern. */
const NARROW = 4;
const SCALES = {
  "extreme close-up": text("timeline.scale.extreme_close_up"),
  "close-up": text("timeline.scale.close_up"),
  medium: text("timeline.scale.medium"),
  full: text("timeline.scale.full"),
  long: text("timeline.scale.long"),
};

/** Reads the colours that the style sheet gives now. */
function coloursOf(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(`--t-${name}`).trim();
  const colours = Object.fromEntries(COLOURS.map((name) => [name, read(name)]));
  colours.threads = Array.from({ length: THREADS }, (_, i) => read(`thread-${i}`));
  colours.font = `11px ${style.fontFamily}`;
  return colours;
}

/** Slanted stripes, for edited lines and for hand-made slots. */
function stripes(context, colour, gap) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = gap;
  const paint = tile.getContext("2d");
  paint.strokeStyle = colour;
  paint.lineWidth = 1.5;
  for (const shift of [-gap, 0, gap]) {
    paint.beginPath();
    paint.moveTo(shift, gap);
    paint.lineTo(shift + gap, 0);
    paint.stroke();
  }
  return context.createPattern(tile, "repeat");
}

/**
 * What of a text stays within a box: the whole, or its beginning, or else a shorter text, or nothing.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string} words
 * @param {number} width  Pixels that it may take.
 * @param {string} [shorter]  What stands where too little of the text would be seen.
 * @returns {string}
 */
function fittingText(context, words, width, shorter = "") {
  if (!words || width < LEAST_WIDTH) return "";
  const widthOf = (part) => context.measureText(part).width;
  const fullWidth = widthOf(words);
  if (fullWidth <= width) return words;
  let letters = Math.floor((words.length * width) / fullWidth);
  while (letters > 0 && widthOf(`${words.slice(0, letters)}…`) > width) letters -= 1;
  if (letters >= LEAST_LETTERS) return `${words.slice(0, letters).trimEnd()}…`;
  return widthOf(shorter) <= width ? shorter : "";
}

/** The sign of a line's state, and that of its worst finding. */
function lineSigns({ state, findings }) {
  const sign = { machine: "○", edited: "✎", accepted: "✓" }[state];
  const hasError = findings.some((finding) => finding.level === "error");
  const findingSign = hasError ? "✖" : findings.length ? "▲" : "";
  return `${sign}${findingSign}`;
}

/** Draws the time line on a canvas. */
export class Drawing {
  /**
   * @param {HTMLCanvasElement} canvas
   */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.restyle();
  }

  /** Takes up the colours of the page again. */
  restyle() {
    this.colours = coloursOf(this.canvas);
    this.striped = stripes(this.context, this.colours.edited, 6);
    this.hatched = stripes(this.context, this.colours.slot, 5);
  }

  /** @param {number} width CSS pixels. */
  resize(width) {
    const ratio = Math.min(2, devicePixelRatio || 1);
    this.width = width;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(HEIGHT * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${HEIGHT}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /**
   * Draws what is seen.
   *
   * @param {{film: import("./store.js").Film, lines: import("./store.js").Line[], chosenId: string|null,
   *   waveform: Waveform|null}} content  lines: in order of time.
   * @param {{from: number, scale: number}} view  First second, pixels per second.
   */
  draw({ film, lines, chosenId, waveform }, { from, scale }) {
    const { context, width, colours } = this;
    [this.from, this.scale, this.to] = [from, scale, from + width / scale];
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, width, HEIGHT);
    context.font = colours.font;
    context.textBaseline = "middle";
    this.drawTime();
    this.drawShots(film.shots);
    this.drawSound(waveform);
    this.drawSpeech(film.speech);
    this.drawSlots(film.slots);
    this.drawLines(lines, chosenId);
    this.drawRules();
  }

  /** Left edge and width of an interval on the screen; at least `least` wide, cut to just beyond the view. */
  box(item, least = 1) {
    const left = Math.max(-8, (item.start - this.from) * this.scale);
    const right = Math.min(this.width + 8, (item.end - this.from) * this.scale);
    return [left, Math.max(least, right - left)];
  }

  /** Ticks with their times. */
  drawTime() {
    const { context, colours, scale } = this;
    const step = tickStep(scale);
    const digits = step < 1 ? 1 : 0;
    context.fillStyle = colours.soft;
    for (let i = Math.floor(this.from / step); i * step < this.to; i += 1) {
      const x = Math.round((i * step - this.from) * scale);
      context.fillRect(x, 13, 1, 5);
      context.fillText(clock(i * step, digits), x + 3, 8);
    }
  }

  /** Where shots begin, the letter of their thread and their scale. */
  drawShots(shots) {
    const { context, colours } = this;
    const top = TOP.shots;
    let lastEnd = -Infinity;
    eachInView(shots, this.from, this.to, (shot) => {
      const [x, width] = this.box(shot, 0);
      // Of shots narrower than a pixel one stands for all.
      if (x + width - lastEnd < 1) return;
      lastEnd = x + width;
      const thread = shot.thread ?? null;
      context.fillStyle = thread === null ? colours.edge : colours.threads[thread % THREADS];
      context.fillRect(x, top + 14, Math.max(0.6, width - 1), 3);
      if (width > 3) {
        context.fillStyle = colours.edge;
        context.fillRect(x, top, 1, 17);
      }
      context.fillStyle = colours.ink;
      const words = [thread === null ? "" : threadLetters(thread), width > 40 ? (SCALES[shot.scale] ?? "") : ""];
      const label = fittingText(context, words.filter(Boolean).join(" "), width - 4, words[0]);
      context.fillText(label, x + 3, top + 8);
    });
  }

  /**
   * The wave form: for each pixel the loudest of its peaks, around the middle of the row.
   *
   * @param {Waveform|null} waveform
   */
  drawSound(waveform) {
    if (!waveform) return;
    const { context, colours, scale } = this;
    const { peaks, rate } = waveform;
    const half = (ROWS.find((row) => row.name === "sound").height - 4) / 2;
    const middle = TOP.sound + half + 2;
    context.fillStyle = colours.wave;
    for (let x = 0; x < this.width; x += 1) {
      const first = Math.floor((this.from + x / scale) * rate);
      const end = Math.max(first + 1, Math.floor((this.from + (x + 1) / scale) * rate));
      let loudest = 0;
      for (let i = first; i < end && i < peaks.length; i += 1) loudest = Math.max(loudest, peaks[i]);
      // The root shows quiet sound too, as ears hear it.
      const height = Math.max(0.5, half * Math.sqrt(loudest / 255));
      context.fillRect(x, middle - height, 1, 2 * height);
    }
  }

  /** When somebody speaks, with the words where they are known. */
  drawSpeech(speech) {
    const { context, colours } = this;
    const y = TOP.speech + 2;
    let lastEnd = -Infinity;
    eachInView(speech, this.from, this.to, (utterance) => {
      const [x, width] = this.box(utterance);
      if (x + width - lastEnd < 0.5) return;
      lastEnd = x + width;
      context.fillStyle = colours.speech;
      context.fillRect(x, y, width, 16);
      context.fillStyle = colours["on-speech"];
      context.fillText(fittingText(context, utterance.text, width - 5), x + 3, y + 8.5);
    });
  }

  /** Slots stand behind their lines, so that one sees how much of them a line fills. */
  drawSlots(slots) {
    const { context, colours } = this;
    const y = TOP.lines + 4;
    const height = ROWS.at(-1).height - 8;
    let lastEnd = -Infinity;
    eachInView(slots, this.from, this.to, (slot) => {
      const [x, width] = this.box(slot, 2);
      if (x + width - lastEnd < 1) return;
      lastEnd = x + width;
      if (width <= 3) {
        context.fillStyle = colours.slot;
        return context.fillRect(x, y, width, height);
      }
      context.fillStyle = slot.by_hand ? this.hatched : colours.ground;
      context.fillRect(x, y, width, height);
      context.strokeStyle = colours.slot;
      context.lineWidth = 1;
      context.setLineDash([4, 3]);
      context.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 1), height - 1);
      return context.setLineDash([]);
    });
  }

  /** The lines, the chosen one above all others. */
  drawLines(lines, chosenId) {
    let chosen = null;
    eachInView(lines, this.from, this.to, (line) => {
      if (line.id === chosenId) chosen = line;
      else if ((line.end - line.start) * this.scale < NARROW) this.drawTick(line);
      else this.drawLine(line, false);
    });
    if (chosen) this.drawLine(chosen, true);
  }

  /** A line too narrow for its pattern: its height still says what it is. */
  drawTick(line) {
    const { context, colours } = this;
    context.fillStyle = colours[line.state === "machine" ? "line" : line.state];
    const height = TICK_HEIGHTS[line.heard ? line.state : "dropped"];
    context.fillRect((line.start - this.from) * this.scale, TOP.lines + 29 - height, 1, height);
  }

  drawLine(line, isChosen) {
    const { context, colours } = this;
    const isEmpty = !line.heard && !line.text;
    if (isEmpty && !isChosen) return; // its slot is drawn
    const [x, width] = this.box(line, 3);
    const [y, height] = line.heard || isEmpty ? [TOP.lines + 8, LINE_HEIGHT] : [TOP.lines + 16, DROPPED_HEIGHT];
    const isStriped = line.state === "edited" && !isChosen;
    const isFilled = isChosen || line.state === "accepted";
    context.fillStyle = isChosen ? colours.chosen : isFilled ? colours.accepted : colours.ground;
    context.fillRect(x, y, width, height);
    if (isStriped) {
      context.fillStyle = this.striped;
      context.fillRect(x, y, width, height);
    }
    const stateColour = colours[line.state === "machine" ? "line" : line.state];
    context.setLineDash(line.heard ? [] : [3, 2]);
    context.strokeStyle = isChosen ? colours.ink : stateColour;
    context.lineWidth = isChosen ? 2 : 1;
    context.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 1), height - 1);
    context.setLineDash([]);
    const signs = isEmpty ? "" : lineSigns(line);
    const lead = line.heard ? signs : `${signs} ${text("list.state.dropped")}`;
    const words = isEmpty ? text("list.state.empty") : `${lead} ${line.text}`;
    const label = fittingText(context, words, width - 8, signs);
    if (isStriped && label) {
      // Words on stripes would be hard to read.
      context.fillStyle = colours.ground;
      context.fillRect(x + 3, y + 5, context.measureText(label).width + 2, height - 10);
    }
    context.fillStyle = isFilled ? colours["on-chosen"] : colours.ink;
    context.fillText(label, x + 4, y + height / 2 + 0.5);
    if (isChosen) this.drawHandles(x, width, y, height);
  }

  /** What start and end are dragged by. */
  drawHandles(x, width, y, height) {
    const { context, colours } = this;
    context.fillStyle = colours.ink;
    for (const left of [x - 3, x + width - 2]) context.fillRect(left, y - 2, 5, height + 4);
  }

  /** Rules between the rows. */
  drawRules() {
    this.context.fillStyle = this.colours.edge;
    for (const row of ROWS.slice(1)) this.context.fillRect(0, TOP[row.name], this.width, 1);
  }
}
