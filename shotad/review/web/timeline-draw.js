/**
 * Drawing of the time line: on a canvas, only what is in view. States are told by pattern and sign, threads by
 * letter; colours come from the style sheet, so that dark pages and forced colours are kept.
 */

import { eachInView, tickStep } from "./timeline-scale.js";
import { clock } from "./times.js";
import { threadLetters } from "./wording.js";

/** Rows from the top: name, height in CSS pixels. */
export const ROWS = [
  { name: "time", title: "Time", height: 18 },
  { name: "shots", title: "Shots", height: 18 },
  { name: "sound", title: "Sound", height: 44 },
  { name: "speech", title: "Dialogue", height: 20 },
  { name: "lines", title: "Lines", height: 40 },
];
export const HEIGHT = ROWS.reduce((sum, row) => sum + row.height, 0);
/** Top of each row. */
export const TOP = Object.fromEntries(ROWS.map((row, i) => [row.name, ROWS.slice(0, i).reduce((sum, one) => sum + one.height, 0)]));

const NAMES = ["wave", "ink", "soft", "ground", "edge", "speech", "slot", "line", "accepted", "edited", "chosen", "on-chosen", "on-speech", "bad"];
const THREADS = 8;
/** Pixels under which a line has no pattern. */
const NARROW = 4;
const SCALES = { "extreme close-up": "ECU", "close-up": "CU", medium: "MS", full: "FS", long: "LS" };

/** Reads the colours that the style sheet gives now. */
export function colours(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(`--t-${name}`).trim();
  const own = Object.fromEntries(NAMES.map((name) => [name, read(name)]));
  own.threads = Array.from({ length: THREADS }, (_, i) => read(`thread-${i}`));
  own.font = `11px ${style.fontFamily}`;
  return own;
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

/** Text that stays within a box; none where there is no room for it. */
function label(context, text, x, y, width) {
  if (width < 14 || !text) return;
  const fits = Math.floor(width / 5.6);
  context.fillText(text.length > fits ? `${text.slice(0, Math.max(1, fits - 1))}…` : text, x, y);
}

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
    this.colour = colours(this.canvas);
    this.striped = stripes(this.context, this.colour.edited, 6);
    this.hatched = stripes(this.context, this.colour.slot, 5);
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
   * @param {{film: any, lines: any[], chosen: string|null, waveform: {peaks: Uint8Array, rate: number}|null}} what
   * @param {{from: number, scale: number}} view  First second, pixels per second.
   */
  draw(what, { from, scale }) {
    const { context, width, colour } = this;
    [this.from, this.scale, this.to] = [from, scale, from + width / scale];
    context.fillStyle = colour.ground;
    context.fillRect(0, 0, width, HEIGHT);
    context.font = colour.font;
    context.textBaseline = "middle";
    this.time();
    this.shots(what.film.shots);
    this.sound(what.waveform);
    this.speech(what.film.speech);
    this.slots(what.film.slots);
    this.lines(what.lines, what.chosen);
    this.rules();
  }

  /** Left edge and width of an interval on the screen; at least `least` wide, cut to just beyond the view. */
  box(item, least = 1) {
    const left = Math.max(-8, (item.start - this.from) * this.scale);
    const right = Math.min(this.width + 8, (item.end - this.from) * this.scale);
    return [left, Math.max(least, right - left)];
  }

  time() {
    const { context, colour, scale } = this;
    const step = tickStep(scale);
    const digits = step < 1 ? 1 : 0;
    context.fillStyle = colour.soft;
    for (let i = Math.floor(this.from / step); i * step < this.to; i++) {
      const x = Math.round((i * step - this.from) * scale);
      context.fillRect(x, 13, 1, 5);
      context.fillText(clock(i * step, digits), x + 3, 8);
    }
  }

  /** Where shots begin, the letter of their thread and their scale. */
  shots(shots) {
    const { context, colour } = this;
    const top = TOP.shots;
    let last = -Infinity;
    eachInView(shots, this.from, this.to, (shot) => {
      const [x, width] = this.box(shot, 0);
      // Of shots narrower than a pixel one stands for all.
      if (x + width - last < 1) return;
      last = x + width;
      const thread = shot.thread ?? null;
      context.fillStyle = thread === null ? colour.edge : colour.threads[thread % THREADS];
      context.fillRect(x, top + 14, Math.max(0.6, width - 1), 3);
      if (width > 3) {
        context.fillStyle = colour.edge;
        context.fillRect(x, top, 1, 17);
      }
      context.fillStyle = colour.ink;
      const words = [thread === null ? "" : threadLetters(thread), width > 40 ? (SCALES[shot.scale] ?? "") : ""];
      label(context, words.filter(Boolean).join(" "), x + 3, top + 8, width - 4);
    });
  }

  /**
   * The wave form: for each pixel the loudest of its peaks, around the middle of the row.
   *
   * @param {{peaks: Uint8Array, rate: number}|null} waveform
   */
  sound(waveform) {
    if (!waveform) return;
    const { context, colour, scale } = this;
    const { peaks, rate } = waveform;
    const half = (ROWS.find((row) => row.name === "sound").height - 4) / 2;
    const middle = TOP.sound + half + 2;
    context.fillStyle = colour.wave;
    for (let x = 0; x < this.width; x++) {
      const first = Math.floor((this.from + x / scale) * rate);
      const end = Math.max(first + 1, Math.floor((this.from + (x + 1) / scale) * rate));
      let loudest = 0;
      for (let i = first; i < end && i < peaks.length; i++) loudest = Math.max(loudest, peaks[i]);
      // The root shows quiet sound too, as ears hear it.
      const height = Math.max(0.5, half * Math.sqrt(loudest / 255));
      context.fillRect(x, middle - height, 1, 2 * height);
    }
  }

  /** When somebody speaks, with the words where they are known. */
  speech(speech) {
    const { context, colour } = this;
    const y = TOP.speech + 2;
    let last = -Infinity;
    eachInView(speech, this.from, this.to, (utterance) => {
      const [x, width] = this.box(utterance);
      if (x + width - last < 0.5) return;
      last = x + width;
      context.fillStyle = colour.speech;
      context.fillRect(x, y, width, 16);
      context.fillStyle = colour["on-speech"];
      label(context, utterance.text, x + 3, y + 8.5, width - 5);
    });
  }

  /** Slots stand behind their lines, so that one sees how much of them a line fills. */
  slots(slots) {
    const { context, colour } = this;
    const y = TOP.lines + 4;
    const height = ROWS.at(-1).height - 8;
    let last = -Infinity;
    eachInView(slots, this.from, this.to, (slot) => {
      const [x, width] = this.box(slot, 2);
      if (x + width - last < 1) return;
      last = x + width;
      if (width <= 3) {
        context.fillStyle = colour.slot;
        return context.fillRect(x, y, width, height);
      }
      context.fillStyle = slot.by_hand ? this.hatched : colour.ground;
      context.fillRect(x, y, width, height);
      context.strokeStyle = colour.slot;
      context.lineWidth = 1;
      context.setLineDash([4, 3]);
      context.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 1), height - 1);
      return context.setLineDash([]);
    });
  }

  lines(lines, chosen) {
    let own = null;
    eachInView(lines, this.from, this.to, (line) => {
      if (line.id === chosen) own = line;
      else if ((line.end - line.start) * this.scale < NARROW) this.tick(line);
      else this.line(line, false);
    });
    if (own) this.line(own, true);
  }

  /** A line too narrow for its pattern: its height still tells what it is. */
  tick(line) {
    const { context, colour } = this;
    const tall = { machine: 9, edited: 17, accepted: 25 }[line.heard ? line.state : "machine"];
    context.fillStyle = colour[line.state === "machine" ? "line" : line.state];
    const height = line.heard ? tall : 4;
    context.fillRect((line.start - this.from) * this.scale, TOP.lines + 29 - height, 1, height);
  }

  line(line, chosen) {
    const { context, colour } = this;
    const [x, width] = this.box(line, 3);
    const isEmpty = !line.heard && !line.text;
    const [y, height] = line.heard || isEmpty ? [TOP.lines + 8, 24] : [TOP.lines + 16, 14];
    if (isEmpty && !chosen) return; // its slot is drawn
    const accepted = line.state === "accepted";
    const fill = chosen ? colour.chosen : accepted ? colour.accepted : colour.ground;
    context.fillStyle = fill;
    context.fillRect(x, y, width, height);
    if (line.state === "edited" && !chosen) {
      context.fillStyle = this.striped;
      context.fillRect(x, y, width, height);
    }
    context.setLineDash(line.heard ? [] : [3, 2]);
    context.strokeStyle = chosen ? colour.ink : line.state === "machine" ? colour.line : colour[line.state];
    context.lineWidth = chosen ? 2 : 1;
    context.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 1), height - 1);
    context.setLineDash([]);
    if (width < 14) return;
    const sign = { machine: "○", edited: "✎", accepted: "✓" }[line.state];
    const level = line.findings?.some((one) => one.level === "error") ? "✖" : line.findings?.length ? "▲" : "";
    const words = isEmpty ? "to write" : `${sign}${level}${line.heard ? "" : " left out"} ${line.text}`;
    const middle = y + height / 2 + 0.5;
    if (line.state === "edited" && !chosen) {
      // Words on stripes would be hard to read.
      context.fillStyle = colour.ground;
      const room = Math.min(width - 6, Math.max(12, words.length * 6));
      context.fillRect(x + 3, y + 5, room, height - 10);
    }
    context.fillStyle = chosen || accepted ? colour["on-chosen"] : colour.ink;
    context.save();
    context.beginPath();
    context.rect(x + 2, y, width - 4, height);
    context.clip();
    label(context, words, x + 4, middle, width - 6);
    context.restore();
    if (chosen) this.handles(x, width, y, height);
  }

  /** What start and end are dragged by. */
  handles(x, width, y, height) {
    const { context, colour } = this;
    context.fillStyle = colour.ink;
    for (const at of [x - 3, x + width - 2]) context.fillRect(at, y - 2, 5, height + 4);
  }

  rules() {
    this.context.fillStyle = this.colour.edge;
    for (const row of ROWS.slice(1)) this.context.fillRect(0, TOP[row.name], this.width, 1);
  }
}
