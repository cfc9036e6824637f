/** Slots and free time: where description can be spoken, and where a person wants some more, or none. */

import { ApiError, GONE } from "./api.js";
import { make, setText } from "./build.js";
import { register } from "./commands.js";
import { checkedValue, disabledWhile, makeDialog, radios } from "./dialogs.js";
import { jobCard, startJob } from "./jobs.js";
import { VOICES } from "./list.js";
import { say } from "./say.js";
import { sentence, withUndo } from "./sentences.js";
import { chosenLine, emit, lineById, openLine, perform, select, store } from "./store.js";
import { text } from "./texts.js";
import { clock, exactTime, parseTime, secondsText, shortTime } from "./times.js";
import { about } from "./wording.js";

/** @typedef {[number, number]} Gap  Free time: from, to. */

const SHORTEST = 1; // seconds of free time that are worth a slot
const PROPOSED = 8; // seconds of a slot that is proposed, at most
const PLAYHEAD_NEED = 2; // seconds that must be free behind the playhead for a slot to be proposed from there
const PAGE = 25; // slots shown at once

const rangeText = (start, end) => text("times.range", { start: shortTime(start), end: shortTime(end) });

/**
 * Parts of the film without speech, slots and lines of a person's own, of a second or longer.
 *
 * @returns {Gap[]}
 */
export function freeTime() {
  const ownLines = [...store.lines.values()].filter((line) => line.heard && !line.slot);
  const taken = [...store.film.slots, ...ownLines].sort((a, b) => a.start - b.start);
  const free = [];
  for (const [from, to] of store.film.free) {
    let second = from;
    for (const { start, end } of taken) {
      if (end <= second || start >= to) continue;
      if (start - second >= SHORTEST) free.push([second, start]);
      second = Math.max(second, end);
    }
    if (to - second >= SHORTEST) free.push([second, to]);
  }
  return free;
}

/** The free time that a moment lies in, else the next one near it; null: there is none. */
function nearestGap(second) {
  const distance = ([start, end]) => Math.max(start - second, second - end, 0);
  const nearestFirst = freeTime().sort((a, b) => distance(a) - distance(b));
  return nearestFirst[0] ?? null;
}

/** Where people are in the film: the player if it has been moved, else the chosen line. */
const currentSecond = () => store.player.seconds || chosenLine()?.start || 0;

/** Does an act whose answer the dialog shows. Throws ApiError, also where the act waits for the server. */
async function performNow(name, lineId, args) {
  const changed = await perform(name, args, { line: lineId, seen: null, quiet: true });
  if (!changed) throw store.undelivered ?? new ApiError(0, GONE);
  if (changed.slots) {
    store.film.slots = changed.slots;
    emit("slots", changed.slots);
  }
  return changed;
}

/** Takes a slot and its line away. @returns {Promise<import("./sentences.js").Sentence>} What the server says of it. */
async function removeSlot(id) {
  const changed = await performNow("remove_slot", id, {});
  return changed.said;
}

/** The form that adds a slot, with a line or without one. */
class AddForm {
  /**
   * @param {ReturnType<typeof makeDialog>} dialog
   * @param {() => void} onAdded
   */
  constructor(dialog, onAdded) {
    this.dialog = dialog;
    const time = { type: "text", inputMode: "decimal", autocomplete: "off", size: 9, "aria-describedby": "slot-room" };
    this.start = make("input", { ...time, id: "slot-start" });
    this.end = make("input", { ...time, id: "slot-end" });
    this.room = make("p", { id: "slot-room", className: "hint", role: "status" });
    for (const field of [this.start, this.end]) field.addEventListener("input", () => this.checkTimes());
    this.method = make("div");
    this.method.addEventListener("change", () => this.showFields());
    this.text = make("textarea", { id: "slot-text", rows: 2 });
    this.note = make("input", { id: "slot-note", type: "text", maxLength: 2000 });
    const label = (field, words) => make("label", { htmlFor: field.id }, words);
    const row = (...children) => make("div", { className: "fields" }, ...children);
    this.textRow = row(label(this.text, text("slots.your_line")), this.text);
    this.noteRow = row(label(this.note, text("redo.note")), this.note);
    const submit = make("button", { type: "submit", className: "primary" }, text("slots.add"));
    this.result = make("div", { className: "result" });
    this.form = make(
      "form",
      {},
      make("h3", {}, text("slots.add")),
      row(label(this.start, text("moments.start")), this.start, label(this.end, text("moments.end")), this.end),
      this.room,
      this.method,
      this.textRow,
      this.noteRow,
      make("div", { className: "buttons" }, submit),
      this.result,
    );
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      disabledWhile(submit, () => this.submit(onAdded));
    });
  }

  /** @param {"machine"|"self"} method Who describes it, at first. */
  show(method) {
    const choices = [
      ["machine", text("slots.by_machine")],
      ["self", text("slots.by_me")],
      ["later", text("slots.by_nobody")],
    ];
    this.method.replaceChildren(radios(text("slots.who"), "slot-how", choices, method));
    this.result.replaceChildren();
    this.showFields();
    const second = currentSecond();
    const gap = nearestGap(second);
    if (!gap) {
      this.start.value = this.end.value = "";
      this.room.textContent = text("slots.nothing_free");
      return;
    }
    // From the playhead where that lies in the gap, with some time behind it.
    const [from, to] = gap;
    const isBehindPlayhead = second > from && to - second >= PLAYHEAD_NEED;
    this.propose([isBehindPlayhead ? second : from, to]);
  }

  /** Shows the fields that the chosen method needs. */
  showFields() {
    const method = checkedValue(this.form, "slot-how");
    this.textRow.hidden = method !== "self";
    this.noteRow.hidden = method !== "machine";
  }

  /** Proposes a slot in a gap, of a length that lines have. */
  propose([from, to]) {
    this.start.value = exactTime(from);
    this.end.value = exactTime(Math.min(to, from + PROPOSED));
    this.checkTimes();
  }

  times() {
    return [parseTime(this.start.value), parseTime(this.end.value)];
  }

  /** Shows whether the times are times, and what is free there. */
  checkTimes() {
    const [start, end] = this.times();
    const isEndWrong = end === null || (start !== null && end <= start);
    this.start.setAttribute("aria-invalid", String(start === null));
    this.end.setAttribute("aria-invalid", String(isEndWrong));
    const sentences = [];
    if (start === null) sentences.push(text("slots.write_times", { example: clock(80.5, 1) }));
    else {
      sentences.push(this.roomText(start));
      if (end !== null && end > start) sentences.push(text("slots.length", { length: secondsText(end - start) }));
      else if (end !== null) sentences.push(text("slots.end_after"));
    }
    setText(this.room, sentences.join(" "));
  }

  /** What is free at a second. */
  roomText(second) {
    const gaps = freeTime();
    const gap = gaps.find(([from, to]) => second >= from - 0.001 && second < to);
    if (gap) {
      const values = { from: shortTime(gap[0]), to: shortTime(gap[1]), length: secondsText(gap[1] - gap[0]) };
      return text("slots.free_here", values);
    }
    const isSpeech = store.film.speech.some(({ start, end }) => start < second + 0.001 && second < end - 1e-6);
    const reason = isSpeech ? text("slots.speech") : text("slots.taken");
    const next = gaps.find(([from]) => from >= second);
    if (!next) return reason;
    const values = { from: shortTime(next[0]), to: shortTime(next[1]) };
    return `${reason} ${text("slots.free_next", values)}`;
  }

  /** The line is chosen now, and again when the dialog closes: that gives the focus back to the line before. */
  choose(id) {
    select(id);
    this.dialog.addEventListener("close", () => setTimeout(() => openLine(id)), { once: true });
  }

  async submit(onAdded) {
    const [start, end] = this.times();
    const method = checkedValue(this.form, "slot-how");
    const written = this.text.value.trim();
    if (start === null || end === null || end <= start) {
      this.dialog.announce(text("slots.give_times"), true);
      (start === null ? this.start : this.end).focus();
      return;
    }
    if (method === "self" && !written) {
      this.dialog.announce(text("slots.write_first"), true);
      this.text.focus();
      return;
    }
    try {
      const [act, args] = method === "self" ? ["add", { start, end, text: written }] : ["add_slot", { start, end }];
      const changed = await performNow(act, "", args);
      this.dialog.announce(sentence(changed.said));
      if (changed.focus) this.choose(changed.focus);
      this.text.value = "";
      if (method === "machine") {
        const job = await startJob({ kind: "redo", lines: [changed.focus], note: this.note.value.trim() });
        this.result.replaceChildren(jobCard(job.id));
      }
      onAdded();
    } catch (error) {
      this.dialog.announce(error.message, true);
    }
  }
}

/** What became of the line of a slot that is not heard. */
const LINE_STATUSES = {
  dropped: text("slots.dropped"),
  failed: text("slots.failed"),
  silent: text("slots.silent"),
};

/** The text of a slot's lines; why it has none. */
function slotText(lines) {
  const heardTexts = lines.filter((line) => line.heard).map((line) => line.text);
  if (heardTexts.length) return heardTexts.join(" / ");
  if (!lines.length) return text("slots.not_described");
  const [{ status, reason }] = lines;
  const word = LINE_STATUSES[status] ?? status;
  return `(${reason ? about(word, sentence(reason)) : word})`;
}

/** The table of slots, page by page. */
class SlotTable {
  /** @param {ReturnType<typeof makeDialog>} dialog */
  constructor(dialog) {
    this.dialog = dialog;
    this.from = 0;
    this.body = make("tbody");
    this.range = make("p", { className: "hint" });
    this.heading = make("h3", { id: "slots-heading", tabIndex: -1 }, text("slots.slots"));
    this.earlier = make("button", { type: "button" }, text("slots.earlier"));
    this.later = make("button", { type: "button" }, text("slots.later"));
    this.earlier.addEventListener("click", () => this.draw(this.from - PAGE));
    this.later.addEventListener("click", () => this.draw(this.from + PAGE));
    const titles = [text("slots.slot"), text("slots.column_length"), text("slots.line"), text("slots.actions")];
    const columns = titles.map((title) => make("th", { scope: "col" }, title));
    const table = make("table", { className: "slots" }, make("thead", {}, make("tr", {}, ...columns)), this.body);
    const buttons = make("div", { className: "buttons" }, this.earlier, this.later);
    this.element = make("section", { "aria-labelledby": this.heading.id }, this.heading, this.range, table, buttons);
  }

  /** Shows the slots around where people are. */
  drawAroundPlayhead() {
    const { slots } = store.film;
    const index = slots.findIndex((slot) => slot.end > currentSecond());
    this.draw((index < 0 ? slots.length : index) - 3);
  }

  /** @param {number} from Index of the slot that is shown first. */
  draw(from) {
    const { slots } = store.film;
    this.from = Math.max(0, Math.min(from, slots.length - PAGE));
    const shown = slots.slice(this.from, this.from + PAGE);
    const isPaged = slots.length > shown.length;
    const range = { from: this.from + 1, to: this.from + shown.length, total: slots.length };
    this.range.textContent = isPaged ? text("slots.page", range) : text("slots.in_all", range);
    this.earlier.setAttribute("aria-disabled", String(this.from === 0));
    this.later.setAttribute("aria-disabled", String(this.from + PAGE >= slots.length));
    this.earlier.hidden = this.later.hidden = !isPaged;
    const focused = document.activeElement;
    const lines = store.order.map(lineById);
    this.body.replaceChildren(...shown.map((slot) => this.row(slot, lines.filter((line) => line.slot === slot.id))));
    if (focused && !focused.isConnected) this.heading.focus();
  }

  /** A slot with its lines: one, or the parts that it was split into. */
  row(slot, lines) {
    const line = lines.find((each) => each.heard) ?? lines[0];
    const time = shortTime(slot.start);
    const go = make("button", { type: "button", "aria-label": text("slots.go_to", { time }) }, text("slots.go"));
    go.addEventListener("click", () => {
      this.dialog.close();
      setTimeout(() => openLine(line.id));
    });
    const remove = make(
      "button",
      { type: "button", "aria-label": text("slots.remove_at", { time }) },
      text("slots.remove"),
    );
    remove.addEventListener("click", () => disabledWhile(remove, () => this.remove(slot, row)));
    const hint = (words) => (words ? make("span", { className: "hint" }, ` ${words}`) : null);
    const row = make(
      "tr",
      { className: line?.id === store.current ? "here" : "" },
      make(
        "th",
        { scope: "row" },
        rangeText(slot.start, slot.end),
        hint(slot.by_hand ? text("slots.by_hand") : ""),
        hint(VOICES[slot.voice]),
      ),
      make("td", {}, text("slots.size", { length: secondsText(slot.end - slot.start), count: slot.words })),
      make("td", {}, slotText(lines)),
      make("td", {}, make("div", { className: "buttons" }, line ? go : null, remove)),
    );
    return row;
  }

  /** Takes a slot away. */
  async remove(slot, row) {
    try {
      const index = [...this.body.children].indexOf(row);
      const message = await removeSlot(slot.id);
      this.dialog.announce(withUndo(message));
      this.draw(this.from);
      const next = this.body.children[Math.min(index, this.body.children.length - 1)];
      (next?.querySelector("button") ?? this.dialog.querySelector("button")).focus();
    } catch (error) {
      this.dialog.announce(error.message, true);
    }
  }
}

/** The list of free time, of which a click proposes a slot. @param {AddForm} form */
function gapList(form) {
  const title = make("summary");
  const list = make("ul", { className: "gaps" });
  const itemOf = (gap) => {
    const [from, to] = gap;
    const words = [rangeText(from, to), secondsText(to - from)].join(", ");
    const button = make("button", { type: "button", className: "plain" }, words);
    button.addEventListener("click", () => {
      form.propose(gap);
      form.start.focus();
    });
    return make("li", {}, button);
  };
  const draw = () => {
    const gaps = freeTime();
    const total = gaps.reduce((sum, [from, to]) => sum + to - from, 0);
    title.textContent = text("slots.free_time", { count: gaps.length, length: secondsText(total) });
    const second = currentSecond();
    const nearestFirst = [...gaps].sort((a, b) => Math.abs(a[0] - second) - Math.abs(b[0] - second));
    const nearGaps = nearestFirst.slice(0, PAGE).sort((a, b) => a[0] - b[0]);
    const items = nearGaps.map(itemOf);
    const farther = gaps.length - nearGaps.length;
    if (farther) items.push(make("li", { className: "hint" }, text("slots.farther", { number: farther })));
    list.replaceChildren(...items);
  };
  return { element: make("details", {}, title, list), draw };
}

/** @returns {(method: "machine"|"self") => void} Opens the dialog. */
function slotsDialog() {
  const body = make("div", { className: "slots-body" });
  const dialog = makeDialog("slots-dialog", text("slots.heading"), body);
  const table = new SlotTable(dialog);
  const form = new AddForm(dialog, () => {
    table.draw(table.from);
    gaps.draw();
  });
  const gaps = gapList(form);
  body.append(form.form, gaps.element, table.element);
  return (method) => {
    form.show(method);
    table.drawAroundPlayhead();
    gaps.draw();
    dialog.showModal();
    dialog.querySelector(".dialog-body").scrollTop = 0;
    form.start.focus();
    form.start.select();
  };
}

/** Removes the slot of the chosen line. */
async function removeChosenSlot() {
  const slotId = chosenLine()?.slot;
  if (!slotId) throw new Error(text("slots.no_slot"));
  say(sentence(await removeSlot(slotId)));
}

/** Registers the commands. */
export function start() {
  const open = slotsDialog();
  register({ name: "slots", title: text("command.slots"), group: "work", keys: ["t"], run: () => open("machine") });
  register({ name: "add-line", title: text("command.add_line"), group: "work", run: () => open("self") });
  register({ name: "remove-slot", title: text("command.remove_slot"), group: "work", run: removeChosenSlot });
}
