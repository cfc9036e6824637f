/** The time line: shots, speech, slots and lines beside each other; scrolled, zoomed, clicked, dragged. */

import { make, setText } from "./build.js";
import { register } from "./commands.js";
import * as player from "./player.js";
import { say } from "./say.js";
import { act, chosenLine, lineById, select, store, subscribe } from "./store.js";
import { Drawing, HEIGHT, ROWS, TOP } from "./timeline-draw.js";
import { firstEndingAfter } from "./timeline-scale.js";
import { exactTime, spokenTime } from "./times.js";
import { viewWords, whereSpoken, whereText } from "./whereabouts.js";

/** Pixels per second: closest view, and what is shown at first. */
const CLOSEST = 400;
const FIRST = 24;
const ZOOM = 1.6;
/** Browsers stop at elements wider than this. */
const WIDEST = 8e6;
/** Pixels around a handle that take hold of it: for a mouse, for a finger. */
const GRIP = { mouse: 6, pen: 8, touch: 16 };
/** Milliseconds of rest after which the picture's words are written again. */
const REST = 150;

class Timeline {
  constructor(place) {
    this.scale = FIRST;
    this.width = 1;
    this.lines = [];
    this.wanted = null;
    this.drag = null;
    this.due = 0;
    this.build(place);
    this.waveform = null;
    this.drawing = new Drawing(this.canvas);
    this.listen(place);
  }

  build(place) {
    this.canvas = make("canvas", { class: "t-canvas", role: "img", "aria-label": "Time line" });
    this.head = make("div", { class: "t-head", "aria-hidden": "true" });
    this.stay = make("div", { class: "t-stay" }, this.canvas, this.head);
    this.spacer = make("div", { class: "t-spacer" }, this.stay);
    this.scroller = make("div", { class: "t-scroll", tabIndex: 0, role: "group", "aria-label": "Time line; plus and minus zoom, zero shows all", "aria-describedby": "t-where" }, this.spacer);
    const titles = ROWS.map((row) => {
      const title = make("span", {}, row.title);
      title.style.blockSize = `${row.height}px`;
      return title;
    });
    this.where = make("p", { class: "t-where", id: "t-where" });
    place.append(
      make("div", { class: "t-rows" }, make("div", { class: "t-titles", "aria-hidden": "true" }, ...titles), this.scroller),
      make("div", { class: "t-foot" }, this.where, legend()));
    this.spacer.style.blockSize = `${HEIGHT}px`;
  }

  listen(place) {
    const { scroller, canvas } = this;
    scroller.addEventListener("scroll", () => this.soon(), { passive: true });
    scroller.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", () => this.letGo());
    new ResizeObserver(() => this.resize()).observe(scroller);
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)", "(prefers-contrast: more)"])
      matchMedia(query).addEventListener("change", () => (this.drawing.restyle(), this.soon()));
  }

  get length() {
    return store.film?.film.duration || 1;
  }

  /** First second in view. */
  get from() {
    return this.scroller.scrollLeft / this.scale;
  }

  /** Fetches the wave form; one that is not computed yet is fetched when the server says that it is. */
  async fetchWaveform() {
    if (this.waveform) return;
    const answer = await fetch("/media/waveform", { credentials: "same-origin" }).catch(() => null);
    if (answer?.status !== 200) return; // not yet, or the film is gone
    const rate = Number(answer.headers.get("x-peaks-a-second"));
    this.waveform = { peaks: new Uint8Array(await answer.arrayBuffer()), rate };
    this.soon();
  }

  resize() {
    this.width = this.scroller.clientWidth || 1;
    this.drawing.resize(this.width);
    if (store.film) this.setScale(this.scale);
  }

  /** Least and greatest pixels per second. */
  limits() {
    const least = this.width / this.length;
    return [least, Math.max(least, Math.min(CLOSEST, WIDEST / this.length))];
  }

  /**
   * Zooms; the second under `at` (pixels from the left) stays where it is.
   */
  setScale(scale, at = this.width / 2) {
    const second = this.from + at / this.scale;
    const [least, most] = this.limits();
    this.scale = Math.min(most, Math.max(least, scale));
    this.spacer.style.inlineSize = `${Math.max(this.width, Math.floor(this.length * this.scale))}px`;
    this.scroller.scrollLeft = second * this.scale - at;
    this.soon();
  }

  zoom(by) {
    const shown = chosenLine();
    const at = shown ? (shown.start - this.from) * this.scale : this.width / 2;
    this.setScale(this.scale * by, at > 0 && at < this.width ? at : this.width / 2);
    this.told();
  }

  /** Says how much is seen. */
  told() {
    say(`The time line shows ${spokenTime(this.width / this.scale, this.width / this.scale < 20 ? 1 : 0)}.`, "zoom");
  }

  /** Shows an interval with some room around it. */
  fit(start, end, room = 0) {
    const around = Math.max(0.5, (end - start) * room);
    const [low, high] = [Math.max(0, start - around), Math.min(this.length, end + around)];
    this.setScale(this.width / Math.max(0.2, high - low), 0);
    this.scroller.scrollLeft = low * this.scale;
    this.soon();
    this.told();
  }

  /** Brings an interval into view with the next picture, if it is not well within it. */
  follow(interval) {
    this.wanted = interval;
    this.soon();
  }

  followed() {
    if (!this.wanted) return;
    const { start, end } = this.wanted;
    this.wanted = null;
    const [left, right] = [(start - this.from) * this.scale, (end - this.from) * this.scale];
    const edge = Math.min(80, this.width / 6);
    if (left < edge || right > this.width - edge) this.scroller.scrollLeft = start * this.scale - this.width / 3;
  }

  soon() {
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      this.draw();
    });
  }

  draw() {
    if (!store.film) return;
    this.followed();
    const what = { film: store.film, lines: this.shown(), chosen: store.current, waveform: this.waveform };
    this.drawing.draw(what, { from: this.from, scale: this.scale });
    this.playhead();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.rested(), REST);
  }

  /** Lines as they are drawn: the dragged one where the pointer holds it. */
  shown() {
    if (!this.drag) return this.lines;
    return this.lines.map((one) => (one.id === this.drag.id ? { ...one, ...this.drag.times } : one));
  }

  rested() {
    if (!store.film) return;
    const words = viewWords(store.film, this.lines, this.from, this.from + this.width / this.scale);
    if (this.canvas.getAttribute("aria-label") !== words) this.canvas.setAttribute("aria-label", words);
    setText(this.where, whereText(store.film, this.lines, player.now()));
  }

  playhead() {
    const x = (player.now() - this.from) * this.scale;
    this.head.hidden = x < 0 || x > this.width;
    this.head.style.transform = `translateX(${Math.round(x)}px)`;
  }

  /** The film runs: the playhead goes along, and the view page by page. */
  played({ seconds, playing }) {
    const x = (seconds - this.from) * this.scale;
    if (playing && (x < 0 || x > this.width)) this.scroller.scrollLeft = seconds * this.scale - this.width * 0.1;
    this.playhead();
    if (!playing || Math.floor(seconds * 4) !== this.quarter) {
      this.quarter = Math.floor(seconds * 4);
      setText(this.where, whereText(store.film, this.lines, seconds));
    }
  }

  taken() {
    this.lines = store.order.map((id) => store.lines.get(id));
    this.soon();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const command = { "+": "in", "=": "in", "-": "out", 0: "all" }[event.key];
    if (!command) return;
    event.preventDefault();
    if (command === "all") this.fit(0, this.length);
    else this.zoom(command === "in" ? ZOOM : 1 / ZOOM);
  }

  /** Pixels and second of a pointer. */
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { x, y: event.clientY - box.top, seconds: this.from + x / this.scale };
  }

  /** Which end of the chosen line is under the pointer. */
  grip(event) {
    const { x, y } = this.at(event);
    const shown = chosenLine();
    if (!shown || y < TOP.lines) return null;
    const reach = GRIP[event.pointerType] ?? GRIP.mouse;
    const away = { start: x - (shown.start - this.from) * this.scale, end: x - (shown.end - this.from) * this.scale };
    const near = Object.keys(away).filter((end) => Math.abs(away[end]) <= reach);
    if (near.length < 2) return near[0] ?? null;
    return Math.abs(away.start) < Math.abs(away.end) ? "start" : "end";
  }

  down(event) {
    if (event.button !== 0 || !store.film) return;
    const end = this.grip(event);
    if (end) {
      this.canvas.setPointerCapture(event.pointerId);
      this.drag = { id: store.current, end, times: {} };
      event.preventDefault();
      return;
    }
    const { y, seconds } = this.at(event);
    const hit = y >= TOP.lines ? this.lineAt(seconds) : null;
    if (hit) select(hit.id, { focus: true });
    else player.seek(seconds);
  }

  /** The line under a second; a few pixels beside a narrow one will do. */
  lineAt(seconds) {
    const slack = 4 / this.scale;
    const hit = this.lines[firstEndingAfter(this.lines, seconds - slack)];
    return hit && hit.start <= seconds + slack ? hit : null;
  }

  move(event) {
    if (!this.drag) {
      this.canvas.classList.toggle("grip", Boolean(this.grip(event)));
      return;
    }
    const shown = lineById(this.drag.id);
    if (!shown) return this.letGo();
    const [low, high] = shown.room ?? [0, this.length];
    const frame = 1 / (store.film.film.frame_rate || 25);
    const seconds = Math.round(Math.min(high, Math.max(low, this.at(event).seconds)) * 1000) / 1000;
    const { end } = this.drag;
    this.drag.times = { [end]: end === "start" ? Math.min(seconds, shown.end - frame) : Math.max(seconds, shown.start + frame) };
    setText(this.where, `${end === "start" ? "Start" : "End"} at ${exactTime(this.drag.times[end])}`);
    this.soon();
  }

  async up() {
    const { drag } = this;
    if (!drag) return;
    if (drag.times[drag.end] !== undefined) await act("move", drag.times, { line: drag.id });
    this.letGo();
  }

  letGo() {
    this.drag = null;
    this.taken();
  }
}

/** What patterns and signs mean. */
function legend() {
  const rows = [
    ["○", "as the machine wrote it"], ["✎, striped", "edited"], ["✓, filled", "accepted"], ["dashed, lower", "left out"], ["thin: low, middle, high", "machine, edited, accepted, where there is no room for signs"],
    ["▲ ✖", "warning, error"], ["letter", "thread of a shot"], ["hatched", "slot made by hand"],
    ["ECU CU MS FS LS", "extreme close-up, close-up, medium, full, long shot"],
  ];
  return make("details", { class: "t-legend" }, make("summary", {}, "What the signs mean"),
    make("dl", {}, ...rows.map(([sign, words]) => make("div", {}, make("dt", {}, sign), make("dd", {}, words)))));
}

/** @type {Timeline} */
let timeline;

function commands() {
  const group = "Time";
  const shown = (work) => () => chosenLine() && work(chosenLine());
  register({ name: "zoom-in", title: "Time line: zoom in", group, keys: ["+", "="], repeats: true, run: () => timeline.zoom(ZOOM) });
  register({ name: "zoom-out", title: "Time line: zoom out", group, keys: ["-"], repeats: true, run: () => timeline.zoom(1 / ZOOM) });
  register({ name: "zoom-all", title: "Time line: the whole film", group, keys: ["0"], run: () => timeline.fit(0, timeline.length) });
  register({ name: "zoom-line", title: "Time line: the chosen line", group, keys: ["z"], run: shown((one) => timeline.fit(one.start, one.end, 1)) });
  register({ name: "where-am-i", title: "Where am I: shot, thread, scale, speech, gap", group: "Find", keys: ["w"],
    run: () => store.film && say(whereSpoken(store.film, timeline.lines, player.now())) });
}

/** Starts the time line. */
export function start() {
  timeline = new Timeline(document.getElementById("timeline"));
  commands();
  subscribe("film", () => {
    timeline.fetchWaveform();
    timeline.taken();
    timeline.resize();
  });
  subscribe("lines", () => timeline.taken());
  subscribe("slots", () => timeline.soon());
  subscribe("waveform", () => timeline.fetchWaveform());
  subscribe("current", (id) => {
    const shown = lineById(id);
    if (shown) timeline.follow(shown);
    else timeline.soon();
  });
  subscribe("player", (news) => timeline.played(news));
}

/** The time line, for tests and measurements. */
export const currentTimeline = () => timeline;
