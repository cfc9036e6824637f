/** The time line: shots, speech, slots and lines beside each other; scrolled, zoomed, clicked, dragged. */

import { addressOf } from "./api.js";
import { make, setText } from "./build.js";
import { register } from "./commands.js";
import * as player from "./player.js";
import { say } from "./say.js";
import { act, chosenLine, lineById, openLine, store, subscribe } from "./store.js";
import { text } from "./texts.js";
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
/** Pixels beside a narrow line that still hit it. */
const SLACK = 4;
/** Milliseconds of rest after which the picture's words are written again. */
const REST = 150;
/** Media queries that change the colours. */
const COLOUR_QUERIES = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "(prefers-contrast: more)"];

class Timeline {
  /** @param {HTMLElement} place */
  constructor(place) {
    /** Pixels per second. */
    this.scale = FIRST;
    /** Pixels that are seen. */
    this.width = 1;
    /** @type {import("./store.js").Line[]} In order of time. */
    this.lines = [];
    /** @type {{start: number, end: number}|null} What comes into view with the next picture. */
    this.wanted = null;
    /** @type {{id: string, end: "start"|"end", times: {start?: number, end?: number}}|null} */
    this.drag = null;
    /** @type {import("./timeline-draw.js").Waveform|null} */
    this.waveform = null;
    this.frameRequest = 0;
    this.restTimer = 0;
    this.build(place);
    this.drawing = new Drawing(this.canvas);
    this.listen();
  }

  build(place) {
    this.canvas = make("canvas", { class: "t-canvas", role: "img", "aria-label": text("page.timeline") });
    this.head = make("div", { class: "t-head", "aria-hidden": "true" });
    // The canvas is as wide as the window and stays in it; the spacer is as wide as the film, and is scrolled.
    this.spacer = make("div", { class: "t-spacer" }, make("div", { class: "t-stay" }, this.canvas, this.head));
    this.spacer.style.blockSize = `${HEIGHT}px`;
    this.scroller = make("div", {
      class: "t-scroll", tabIndex: 0, role: "group", "aria-label": text("timeline.label"),
      "aria-describedby": "t-where",
    }, this.spacer);
    const titles = ROWS.map((row) => {
      const title = make("span", {}, row.title);
      title.style.blockSize = `${row.height}px`;
      return title;
    });
    this.legend = legend();
    this.where = make("p", { class: "t-where", id: "t-where" });
    const titleColumn = make("div", { class: "t-titles", "aria-hidden": "true" }, ...titles);
    place.append(
      make("div", { class: "t-rows" }, titleColumn, this.scroller),
      make("div", { class: "t-foot" }, this.where, this.legend.element),
    );
  }

  listen() {
    const { scroller, canvas } = this;
    scroller.addEventListener("scroll", () => this.drawSoon(), { passive: true });
    scroller.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("pointerdown", (event) => this.onPointerDown(event));
    // A click that opened a line, or one while somebody writes, leaves the focus there: the browser would move it here.
    canvas.addEventListener("mousedown", (event) => {
      if (document.activeElement?.closest("#list")) event.preventDefault();
    });
    canvas.addEventListener("pointermove", (event) => this.onPointerMove(event));
    canvas.addEventListener("pointerup", () => this.onPointerUp());
    canvas.addEventListener("pointercancel", () => this.endDrag());
    new ResizeObserver(() => this.resize()).observe(scroller);
    const restyle = () => {
      this.drawing.restyle();
      this.drawSoon();
    };
    for (const query of COLOUR_QUERIES) matchMedia(query).addEventListener("change", restyle);
  }

  /** Seconds of the film. */
  get length() {
    return store.film?.film.duration || 1;
  }

  /** First second in view. */
  get from() {
    return this.scroller.scrollLeft / this.scale;
  }

  /** Pixels from the left edge of what is seen. */
  xOf(seconds) {
    return (seconds - this.from) * this.scale;
  }

  /** Fetches the wave form; one that is not computed yet is fetched when the server says that it is. */
  async fetchWaveform() {
    if (this.waveform) return;
    const response = await fetch(addressOf("/media/waveform"), { credentials: "same-origin" }).catch(() => null);
    if (response?.status !== 200) return; // not yet, or the film is gone
    const peaks = await response.arrayBuffer().catch(() => null);
    if (!peaks) return; // the server ended meanwhile
    this.waveform = { peaks: new Uint8Array(peaks), rate: Number(response.headers.get("x-peaks-a-second")) };
    this.drawSoon();
  }

  resize() {
    this.width = this.scroller.clientWidth || 1;
    this.drawing.resize(this.width);
    if (store.film) this.setScale(this.scale);
  }

  /** Zooms; the second at `x` stays where it is. */
  setScale(scale, x = this.width / 2) {
    const second = this.from + x / this.scale;
    const least = this.width / this.length; // all of the film is seen
    const most = Math.max(least, Math.min(CLOSEST, WIDEST / this.length));
    this.scale = Math.min(most, Math.max(least, scale));
    this.spacer.style.inlineSize = `${Math.max(this.width, Math.floor(this.length * this.scale))}px`;
    this.scroller.scrollLeft = second * this.scale - x;
    this.drawSoon();
  }

  /** Zooms around the chosen line, or the middle where that is out of sight. */
  zoom(factor) {
    const line = chosenLine();
    const x = line ? this.xOf(line.start) : 0;
    this.setScale(this.scale * factor, x > 0 && x < this.width ? x : this.width / 2);
    this.sayExtent();
  }

  /** Says how much is seen. */
  sayExtent() {
    const seconds = this.width / this.scale;
    const length = spokenTime(seconds, seconds < 20 ? 1 : 0);
    say(text("timeline.extent", { length }), "zoom");
  }

  /** Shows an interval, with `margin` times its length before it and after it. */
  fit(start, end, margin = 0) {
    const around = Math.max(0.5, (end - start) * margin);
    const [from, to] = [Math.max(0, start - around), Math.min(this.length, end + around)];
    this.setScale(this.width / Math.max(0.2, to - from), 0);
    this.scroller.scrollLeft = from * this.scale;
    this.drawSoon();
    this.sayExtent();
  }

  /** Brings an interval into view with the next picture, if it is not well within it. */
  follow(interval) {
    this.wanted = interval;
    this.drawSoon();
  }

  /** Scrolls to what is wanted in view. */
  scrollToWanted() {
    if (!this.wanted) return;
    const { start, end } = this.wanted;
    this.wanted = null;
    const edge = Math.min(80, this.width / 6);
    const isWithin = this.xOf(start) >= edge && this.xOf(end) <= this.width - edge;
    if (!isWithin) this.scroller.scrollLeft = start * this.scale - this.width / 3;
  }

  /** Draws once for each picture of the screen, however much changed. */
  drawSoon() {
    this.frameRequest ||= requestAnimationFrame(() => {
      this.frameRequest = 0;
      this.draw();
    });
  }

  draw() {
    if (!store.film) return;
    this.scrollToWanted();
    const content = { film: store.film, lines: this.drawnLines(), chosenId: store.current, waveform: this.waveform };
    this.drawing.draw(content, { from: this.from, scale: this.scale });
    this.placeHead();
    clearTimeout(this.restTimer);
    this.restTimer = setTimeout(() => this.describe(), REST);
  }

  /** Lines as they are drawn: the dragged one where the pointer holds it. */
  drawnLines() {
    const { drag } = this;
    if (!drag) return this.lines;
    return this.lines.map((line) => (line.id === drag.id ? { ...line, ...drag.times } : line));
  }

  /** Writes what the picture shows, for those who do not see it. */
  describe() {
    if (!store.film) return;
    const words = viewWords(store.film, this.lines, this.from, this.from + this.width / this.scale);
    if (this.canvas.getAttribute("aria-label") !== words) this.canvas.setAttribute("aria-label", words);
    this.showWhere(player.now());
  }

  showWhere(seconds) {
    setText(this.where, whereText(store.film, this.lines, seconds));
  }

  /** Puts the playhead where the film is. */
  placeHead() {
    const x = this.xOf(player.now());
    this.head.hidden = x < 0 || x > this.width;
    this.head.style.transform = `translateX(${Math.round(x)}px)`;
  }

  /** The film runs: the playhead goes along, and the view page by page. */
  onPlayer({ seconds, playing: isPlaying }) {
    const x = this.xOf(seconds);
    const isOutside = x < 0 || x > this.width;
    if (isPlaying && isOutside) this.scroller.scrollLeft = seconds * this.scale - this.width * 0.1;
    this.placeHead();
    // Words four times a second: more could not be read.
    const quarter = Math.floor(seconds * 4);
    if (isPlaying && quarter === this.quarter) return;
    this.quarter = quarter;
    this.showWhere(seconds);
  }

  /** Takes the lines of the script again. */
  takeLines() {
    this.lines = store.order.map((id) => store.lines.get(id));
    this.drawSoon();
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const actions = {
      "+": () => this.zoom(ZOOM),
      "=": () => this.zoom(ZOOM),
      "-": () => this.zoom(1 / ZOOM),
      0: () => this.fit(0, this.length),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** Pixels and second of a pointer. */
  pointOf(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { x, y: event.clientY - box.top, seconds: this.from + x / this.scale };
  }

  /** Which end of the chosen line is under the pointer. @returns {"start"|"end"|null} */
  gripAt(event) {
    const { x, y } = this.pointOf(event);
    const line = chosenLine();
    if (!line || y < TOP.lines) return null;
    const reach = GRIP[event.pointerType] ?? GRIP.mouse;
    const toStart = Math.abs(x - this.xOf(line.start));
    const toEnd = Math.abs(x - this.xOf(line.end));
    if (Math.min(toStart, toEnd) > reach) return null;
    return toStart < toEnd ? "start" : "end";
  }

  onPointerDown(event) {
    if (event.button !== 0 || !store.film) return;
    const end = this.gripAt(event);
    if (end) {
      this.canvas.setPointerCapture(event.pointerId);
      this.drag = { id: store.current, end, times: {} };
      event.preventDefault();
      return;
    }
    const { y, seconds } = this.pointOf(event);
    const line = y >= TOP.lines ? this.lineAt(seconds) : null;
    if (line) openLine(line.id);
    else player.seek(seconds);
  }

  /** The line under a second; a few pixels beside a narrow one will do. */
  lineAt(seconds) {
    const slack = SLACK / this.scale;
    const line = this.lines[firstEndingAfter(this.lines, seconds - slack)];
    return line && line.start <= seconds + slack ? line : null;
  }

  onPointerMove(event) {
    if (!this.drag) {
      this.canvas.classList.toggle("grip", Boolean(this.gripAt(event)));
      return;
    }
    const line = lineById(this.drag.id);
    if (!line) {
      this.endDrag();
      return;
    }
    const [low, high] = line.room ?? [0, this.length];
    const frame = 1 / (store.film.film.frame_rate || 25);
    const seconds = Math.round(Math.min(high, Math.max(low, this.pointOf(event).seconds)) * 1000) / 1000;
    const isStart = this.drag.end === "start";
    const time = isStart ? Math.min(seconds, line.end - frame) : Math.max(seconds, line.start + frame);
    this.drag.times = isStart ? { start: time } : { end: time };
    const values = { time: exactTime(time) };
    setText(this.where, isStart ? text("timeline.start_at", values) : text("timeline.end_at", values));
    this.drawSoon();
  }

  async onPointerUp() {
    const { drag } = this;
    if (!drag) return;
    if (drag.times[drag.end] !== undefined) await act("move", drag.times, { line: drag.id });
    this.endDrag();
  }

  endDrag() {
    this.drag = null;
    this.takeLines();
  }
}

/** A patch of a row as it is drawn, in the style of `name`. */
const patch = (name) => make("span", { class: `t-patch t-patch-${name}`, "aria-hidden": "true" });

/**
 * What is seen on the time line: first what one sees most.
 *
 * @returns {{element: HTMLElement, showThreads: (hasThreads: boolean) => void}}
 */
function legend() {
  const itemOf = ([sign, meaning, patchName]) =>
    make("div", {}, make("dt", {}, patchName ? patch(patchName) : null, sign), make("dd", {}, meaning));
  const thread = itemOf([text("timeline.sign.letter"), text("timeline.meaning.letter")]);
  const items = [
    [text("timeline.sign.slot"), text("timeline.meaning.slot"), "slot"],
    [text("timeline.sign.speech"), text("timeline.meaning.speech"), "speech"],
    [text("timeline.sign.chosen"), text("timeline.meaning.chosen"), "chosen"],
    [text("timeline.sign.head"), text("timeline.meaning.head"), "head"],
    ["○", text("timeline.meaning.machine")],
    [text("timeline.sign.edited"), text("timeline.meaning.edited")],
    [text("timeline.sign.accepted"), text("timeline.meaning.accepted")],
    [text("timeline.sign.dropped"), text("timeline.meaning.dropped")],
    [text("timeline.sign.thin"), text("timeline.meaning.thin")],
    ["▲ ✖", text("timeline.meaning.findings")],
    [text("timeline.sign.by_hand"), text("timeline.meaning.by_hand")],
    [text("timeline.sign.scales"), text("timeline.meaning.scales")],
  ].map(itemOf);
  const list = make("dl", {}, ...items, thread);
  const element = make("details", { class: "t-legend" }, make("summary", {}, text("timeline.legend")), list);
  return { element, showThreads: (hasThreads) => (thread.hidden = !hasThreads) };
}

/** @type {Timeline} */
let timeline;

function registerCommands() {
  const zoom = (name, title, keys, run) => register({ name, title, group: "time", keys, repeats: true, run });
  zoom("zoom-in", text("command.zoom_in"), ["+", "="], () => timeline.zoom(ZOOM));
  zoom("zoom-out", text("command.zoom_out"), ["-"], () => timeline.zoom(1 / ZOOM));
  const fitLine = () => {
    const line = chosenLine();
    if (line) timeline.fit(line.start, line.end, 1);
  };
  const fitFilm = () => timeline.fit(0, timeline.length);
  register({ name: "zoom-all", title: text("command.zoom_all"), group: "time", keys: ["0"], run: fitFilm });
  register({ name: "zoom-line", title: text("command.zoom_line"), group: "time", keys: ["z"], run: fitLine });
  register({
    name: "where-am-i", title: text("command.where_am_i"), group: "find", keys: ["w"],
    run: sayWhere,
  });
}

function sayWhere() {
  if (!store.film) return;
  player.followNow();
  say(whereSpoken(store.film, timeline.lines, player.now()));
}

/** Starts the time line. */
export function start() {
  timeline = new Timeline(document.getElementById("timeline"));
  registerCommands();
  subscribe("film", () => {
    timeline.fetchWaveform();
    timeline.takeLines();
    timeline.resize();
    timeline.legend.showThreads(store.film.shots.some((shot) => shot.thread !== null));
  });
  subscribe("lines", () => timeline.takeLines());
  subscribe("slots", () => timeline.drawSoon());
  subscribe("waveform", () => timeline.fetchWaveform());
  subscribe("current", (id) => {
    const line = lineById(id);
    if (line) timeline.follow(line);
    else timeline.drawSoon();
  });
  subscribe("player", (state) => timeline.onPlayer(state));
}

/** @returns {Timeline} For tests and measurements. */
export const currentTimeline = () => timeline;
