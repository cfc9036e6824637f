/** Slots and free time: where description can be spoken, and where a person wants some more, or none. */

import { ApiError, GONE } from "./api.js";
import { make } from "./build.js";
import { register } from "./commands.js";
import { checkedValue, disabledWhile, makeDialog, radios } from "./dialogs.js";
import { jobCard, startJob } from "./jobs.js";
import { say } from "./say.js";
import { chosenLine, emit, lineById, perform, select, store } from "./store.js";
import { clock, parseTime } from "./times.js";

const LEAST = 1; // seconds of free time that are worth a slot
const PAGE = 25; // slots shown at once

const overlaps = (start, end, one) => one.start < end - 1e-6 && start < one.end - 1e-6;
const seconds = (value) => `${value.toFixed(1)} s`;

/**
 * Parts of the film without speech, slots and lines of a person's own.
 *
 * @returns {[number, number][]}
 */
function freeTime() {
  const own = [...store.lines.values()].filter((one) => one.heard && !one.slot);
  const taken = [...store.film.slots, ...own].map(({ start, end }) => ({ start, end })).sort((a, b) => a.start - b.start);
  const free = [];
  for (const [from, to] of store.film.free) {
    let at = from;
    for (const one of taken) {
      if (one.end <= at || one.start >= to) continue;
      if (one.start - at >= LEAST) free.push([at, one.start]);
      at = Math.max(at, one.end);
    }
    if (to - at >= LEAST) free.push([at, to]);
  }
  return free;
}

/** The free time that a moment lies in, else the next one near it. */
function freeAt(second, free = freeTime()) {
  const distance = ([start, end]) => (second < start ? start - second : second > end ? second - end : 0);
  return free.reduce((best, one) => (best === null || distance(one) < distance(best) ? one : best), null);
}

/** Where people are in the film: the player if it has been moved, else the chosen line. */
function here() {
  return store.player?.seconds || chosenLine()?.start || 0;
}

class Adding {
  constructor(made, after) {
    this.made = made;
    this.start = make("input", { id: "slot-start", type: "text", inputMode: "decimal", autocomplete: "off", size: 9 });
    this.end = make("input", { id: "slot-end", type: "text", inputMode: "decimal", autocomplete: "off", size: 9 });
    this.room = make("p", { id: "slot-room", className: "hint", role: "status" });
    for (const field of [this.start, this.end]) {
      field.setAttribute("aria-describedby", "slot-room");
      field.addEventListener("input", () => this.tellRoom());
    }
    this.how = make("div", {});
    this.text = make("textarea", { id: "slot-text", rows: 2 });
    this.note = make("input", { id: "slot-note", type: "text", maxLength: 2000 });
    this.written = make("div", { className: "fields" }, make("label", { htmlFor: "slot-text" }, "Your line"), this.text);
    this.noted = make("div", { className: "fields" }, make("label", { htmlFor: "slot-note" }, "Note for the machine"), this.note);
    this.go = make("button", { type: "submit", className: "primary" }, "Add");
    this.result = make("div", { className: "result" });
    const times = make("div", { className: "fields" }, make("label", { htmlFor: "slot-start" }, "Start"), this.start, make("label", { htmlFor: "slot-end" }, "End"), this.end);
    this.form = make("form", {}, make("h3", {}, "Add"), times, this.room, this.how, this.written, this.noted, make("div", { className: "buttons" }, this.go), this.result);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      disabledWhile(this.go, () => this.add(after));
    });
  }

  show(way) {
    this.how.replaceChildren(
      radios("Who describes it", "slot-how", [["machine", "The machine"], ["self", "I write the line"], ["later", "Nobody yet: add the slot only"]], way),
    );
    this.how.onchange = () => this.fit();
    this.result.replaceChildren();
    this.fit();
    const gap = freeAt(here());
    if (gap) this.use(gap);
    else {
      this.start.value = this.end.value = "";
      this.room.textContent = "No time is free: everywhere people speak, or slots are.";
    }
  }

  fit() {
    const way = checkedValue(this.form, "slot-how");
    this.written.hidden = way !== "self";
    this.noted.hidden = way !== "machine";
  }

  /** Proposes a slot in a gap: from the playhead where it lies in it, of a length that lines have. */
  use([start, end]) {
    const at = here() > start && end - here() >= 2 ? here() : start;
    this.start.value = clock(at, 3);
    this.end.value = clock(Math.min(end, at + 8), 3);
    this.tellRoom();
  }

  times() {
    return [parseTime(this.start.value), parseTime(this.end.value)];
  }

  tellRoom() {
    const [start, end] = this.times();
    let text = "Write times as 1:20.5 or as seconds.";
    if (start !== null) {
      const gap = freeTime().find(([from, to]) => start >= from - 0.001 && start < to);
      if (gap) text = `Free here: from ${clock(gap[0], 1)} to ${clock(gap[1], 1)}, ${seconds(gap[1] - gap[0])}.`;
      else {
        const speech = store.film.speech.find((one) => overlaps(start, start + 0.001, one));
        const next = freeTime().find(([from]) => from >= start);
        text = `${speech ? "Somebody speaks then." : "A slot or a line is there."}${next ? ` Free next: from ${clock(next[0], 1)} to ${clock(next[1], 1)}.` : ""}`;
      }
      if (end !== null && end > start) text += ` This is ${seconds(end - start)}.`;
      else if (end !== null) text += " The end must be after the start.";
    }
    if (this.room.textContent !== text) this.room.textContent = text;
    this.start.setAttribute("aria-invalid", String(start === null));
    this.end.setAttribute("aria-invalid", String(end === null || (start !== null && end <= start)));
  }

  /** The line is chosen now, and again when the dialog closes: that gives the focus back to the line before. */
  toChoose(id) {
    select(id);
    this.made.addEventListener("close", () => setTimeout(() => select(id, { focus: true })), { once: true });
  }

  async add(after) {
    const [start, end] = this.times();
    const way = checkedValue(this.form, "slot-how");
    if (start === null || end === null || end <= start) {
      this.made.tell("Give a start, and an end after it.", true);
      (start === null ? this.start : this.end).focus();
      return;
    }
    if (way === "self" && !this.text.value.trim()) {
      this.made.tell("Write the line first.", true);
      this.text.focus();
      return;
    }
    try {
      const act = way === "self" ? ["add", { start, end, text: this.text.value.trim() }] : ["add_slot", { start, end }];
      const changed = await doNow(act[0], "", act[1]);
      takeSlots(changed);
      this.made.tell(changed.said);
      if (changed.focus) this.toChoose(changed.focus);
      this.text.value = "";
      if (way === "machine") {
        const job = await startJob({ kind: "redo", lines: [changed.focus], note: this.note.value.trim() });
        this.result.replaceChildren(jobCard(job.id));
      }
      after();
    } catch (error) {
      this.made.tell(error.message, true);
    }
  }
}

/** Does an act that the dialog tells of. Throws ApiError, also where the act waits for the server. */
async function doNow(name, of, args) {
  const changed = await perform(name, args, { line: of, seen: null, quiet: true });
  if (!changed) throw store.undelivered ?? new ApiError(0, GONE);
  return changed;
}

/** Takes in the slots that an answer brings. */
function takeSlots(changed) {
  if (!changed.slots) return;
  store.film.slots = changed.slots;
  emit("slots", changed.slots);
}

/** Takes a slot and its line away; what is said of it. */
async function removeSlot(id) {
  const changed = await doNow("remove_slot", id, {});
  takeSlots(changed);
  return changed.said;
}

class Table {
  constructor(made) {
    this.made = made;
    this.from = 0;
    this.body = make("tbody", {});
    this.where = make("p", { className: "hint" });
    const columns = ["Slot", "Length", "Line", "Actions"].map((name) => make("th", { scope: "col" }, name));
    this.earlier = make("button", { type: "button" }, "Earlier");
    this.later = make("button", { type: "button" }, "Later");
    this.earlier.addEventListener("click", () => this.draw(this.from - PAGE));
    this.later.addEventListener("click", () => this.draw(this.from + PAGE));
    const table = make("table", { className: "slots" }, make("thead", {}, make("tr", {}, ...columns)), this.body);
    this.element = make("section", { "aria-labelledby": "slots-heading" }, make("h3", { id: "slots-heading" }, "Slots"), this.where, table, make("div", { className: "buttons" }, this.earlier, this.later));
  }

  /** Shows the slots from a number on; none told: those around where people are. */
  draw(from = null) {
    const slots = store.film.slots;
    if (from === null) {
      const near = slots.findIndex((slot) => slot.end > here());
      from = (near < 0 ? slots.length : near) - 3;
    }
    this.from = Math.max(0, Math.min(from, slots.length - PAGE));
    const shown = slots.slice(this.from, this.from + PAGE);
    this.where.textContent = slots.length > shown.length ? `${this.from + 1} to ${this.from + shown.length} of ${slots.length}` : `${slots.length} in all`;
    const held = document.activeElement;
    this.earlier.setAttribute("aria-disabled", String(this.from === 0));
    this.later.setAttribute("aria-disabled", String(this.from + PAGE >= slots.length));
    this.earlier.hidden = this.later.hidden = slots.length <= PAGE;
    const all = store.order.map((id) => lineById(id));
    this.body.replaceChildren(...shown.map((slot) => this.row(slot, all.filter((one) => one.slot === slot.id))));
    if (held && !held.isConnected) this.made.querySelector("#slots-heading").focus();
  }

  /** A slot with its lines: one, or the parts that it was split into. */
  row(slot, all) {
    const when = `${clock(slot.start, 1)} to ${clock(slot.end, 1)}`;
    const heard = all.filter((one) => one.heard);
    const own = heard[0] ?? all[0];
    const words = own?.heard ? heard.map((one) => one.text).join(" / ") : own ? `(${own.status}${own.reason ? `: ${own.reason}` : ""})` : "(not described)";
    const go = make("button", { type: "button", "aria-label": `Go to the slot at ${clock(slot.start, 1)}` }, "Go");
    go.addEventListener("click", () => {
      this.made.close();
      setTimeout(() => own && select(own.id, { focus: true }));
    });
    const remove = make("button", { type: "button", "aria-label": `Remove the slot at ${clock(slot.start, 1)}` }, "Remove");
    remove.addEventListener("click", () => disabledWhile(remove, () => this.remove(slot, made)));
    const made = make(
      "tr",
      { className: own?.id === store.current ? "here" : "" },
      make("th", { scope: "row" }, when, slot.by_hand ? make("span", { className: "hint" }, " by hand") : null, slot.voice ? make("span", { className: "hint" }, ` ${slot.voice}`) : null),
      make("td", {}, `${seconds(slot.end - slot.start)}, ${slot.words} words`),
      make("td", {}, words),
      make("td", {}, make("div", { className: "buttons" }, own ? go : null, remove)),
    );
    return made;
  }

  /** Takes a slot away. */
  async remove(slot, row) {
    try {
      const place = [...this.body.children].indexOf(row);
      const said = await removeSlot(slot.id);
      this.made.tell(`${said} You can undo it.`);
      this.draw(this.from);
      (this.body.children[Math.min(place, this.body.children.length - 1)]?.querySelector("button") ?? this.made.querySelector("button")).focus();
    } catch (error) {
      this.made.tell(error.message, true);
    }
  }
}

function gaps(adding) {
  const list = make("ul", { className: "gaps" });
  const made = make("details", {}, make("summary", {}, "Free time"), list);
  return {
    element: made,
    draw() {
      const free = freeTime();
      const total = free.reduce((sum, [start, end]) => sum + end - start, 0);
      made.querySelector("summary").textContent = `Free time: ${free.length} ${free.length === 1 ? "gap" : "gaps"}, ${seconds(total)} in all`;
      const near = [...free].sort((a, b) => Math.abs(a[0] - here()) - Math.abs(b[0] - here())).slice(0, PAGE).sort((a, b) => a[0] - b[0]);
      const items = near.map((gap) => {
        const use = make("button", { type: "button", className: "plain" }, `${clock(gap[0], 1)} to ${clock(gap[1], 1)}, ${seconds(gap[1] - gap[0])}`);
        use.addEventListener("click", () => {
          adding.start.value = clock(gap[0], 3);
          adding.end.value = clock(Math.min(gap[1], gap[0] + 8), 3);
          adding.tellRoom();
          adding.start.focus();
        });
        return make("li", {}, use);
      });
      if (near.length < free.length) items.push(make("li", { className: "hint" }, `and ${free.length - near.length} farther away`));
      list.replaceChildren(...items);
    },
  };
}

function build() {
  const body = make("div", { className: "slots-body" });
  const made = makeDialog("slots-dialog", "Slots and free time", body);
  const adding = new Adding(made, () => draw());
  const table = new Table(made);
  table.element.querySelector("h3").tabIndex = -1;
  const free = gaps(adding);
  body.append(adding.form, free.element, table.element);
  const draw = () => {
    table.draw(made.open ? table.from : null);
    free.draw();
  };
  return (way) => {
    adding.show(way);
    draw();
    made.showModal();
    made.querySelector(".dialog-body").scrollTop = 0;
    adding.start.focus();
    adding.start.select();
  };
}

/** Removes the slot of the chosen line. */
async function removing() {
  const slot = chosenLine()?.slot;
  if (!slot) throw new Error("The chosen line has no slot. A line of your own is removed by itself.");
  say(await removeSlot(slot));
}

export function start() {
  const show = build();
  register({ name: "slots", title: "Slots and free time", group: "Work", keys: ["t"], run: () => show("machine") });
  register({ name: "add-slot", title: "Add a slot where nobody speaks", group: "Work", run: () => show("machine") });
  register({ name: "add-line", title: "Add a line of your own", group: "Work", run: () => show("self") });
  register({ name: "remove-slot", title: "Remove the slot of this line", group: "Work", run: removing });
}
