/**
 * Import: a script that was edited elsewhere comes back, after a person has seen what it changes, line by line.
 *
 * @typedef {{start: number, end: number, text: string, note: string}} Version
 * @typedef {keyof typeof KINDS} Kind
 * @typedef {{id: string, kind: Kind, wanted: boolean, start: number, old: Version|null, new: Version|null}} PlannedLine
 * @typedef {{token: string, name: string, unchanged: number, counts: Record<string, number>,
 *   lines: PlannedLine[]}} Plan  What the file would change. token: by which the server knows it.
 */

import { post, tab, upload } from "./api.js";
import { make } from "./build.js";
import { register } from "./commands.js";
import { disabledWhile, makeDialog } from "./dialogs.js";
import { say } from "./say.js";
import { withUndo } from "./sentences.js";
import { applyChange, openLine, settled, store } from "./store.js";
import { text } from "./texts.js";
import { clock } from "./times.js";

/** Files that can be read, as the browser's dialog filters them. */
const FILE_TYPES = ".srt,.vtt,.xml,.ttml,.dfxp,.csv,.tsv,.json,.docx,.xlsx,.edl,.fcpxml";
/** Rows that are shown: more makes the dialog slow. The rest is taken or left as its kind is by default. */
const SHOWN = 1000;
const HINT = text("import.hint");

/** Kinds of changes in the order in which they are listed: what stands in the row, what in the summary. */
const KINDS = {
  conflict: [
    text("import.conflict"),
    (count) => text("import.conflicts", { count }),
  ],
  changed: [text("import.changed"), (count) => text("import.changes", { count })],
  added: [text("import.added"), (count) => text("import.additions", { count })],
  removed: [
    text("import.removed"),
    (count) => text("import.removals", { count }),
  ],
  missing: [
    text("import.missing"),
    (count) => text("import.misses", { count }),
  ],
  noted: [text("import.noted"), (count) => text("import.notes", { count })],
};

/**
 * One side of a row: the words, and whatever of times and note is another than on the other side.
 *
 * @param {Version|null} version
 * @param {Version|null} other
 */
function versionCell(version, other) {
  const none = text("import.no_line");
  if (!version) return make("td", { className: "hint" }, none);
  const hint = (words) => make("p", { className: "hint" }, words);
  const parts = [make("p", version.text ? { lang: store.film.language } : {}, version.text || none)];
  if (!other || other.start !== version.start || other.end !== version.end)
    parts.push(hint(text("times.range", { start: clock(version.start, 2), end: clock(version.end, 2) })));
  if (version.note && version.note !== other?.note) parts.push(hint(text("import.note", { note: version.note })));
  return make("td", {}, ...parts);
}

/**
 * A line of the plan, with the box that takes it.
 *
 * @param {PlannedLine} line
 */
function lineRow({ id, kind, wanted, start, old: before, new: after }) {
  const [kindText] = KINDS[kind];
  const time = clock(start, 1);
  const box = make("input", { type: "checkbox", name: "import-line", value: id, checked: wanted });
  box.setAttribute("aria-label", text("import.take_line", { time, kind: kindText }));
  const cells = [
    make("td", {}, make("label", { className: "import-box" }, box)),
    make("th", { scope: "row" }, time),
    make("td", {}, kindText),
    versionCell(before, after),
    versionCell(after, before),
  ];
  const row = make("tr", {}, ...cells);
  row.dataset.kind = kind;
  return row;
}

/** @param {Plan} plan */
function planTable(plan) {
  const columns = [
    text("import.take"), text("import.time"), text("import.what"), text("import.here"),
    text("import.after"),
  ];
  const head = make("tr", {}, ...columns.map((title) => make("th", { scope: "col" }, title)));
  const rows = plan.lines.slice(0, SHOWN).map(lineRow);
  const caption = make("caption", {}, text("import.caption"));
  return make("table", {}, caption, make("thead", {}, head), make("tbody", {}, ...rows));
}

/**
 * What the file would do, in words.
 *
 * @param {Plan} plan
 */
function summary({ name, unchanged, counts, lines }) {
  const kinds = Object.keys(KINDS).filter((kind) => counts[kind]);
  const changes = kinds.map((kind) => KINDS[kind][1](counts[kind]));
  const warning = (words) => make("p", { className: "warning" }, words);
  const all = [...changes, text("import.unchanged", { number: unchanged })].join(", ");
  const parts = [make("p", {}, make("strong", {}, name), `: ${all}.`)];
  if (counts.conflict) parts.push(warning(text("import.conflict_hint")));
  if (counts.missing)
    parts.push(warning(text("import.missing_hint")));
  if (counts.kept) {
    const kept = text(
      "import.kept",
      { count: counts.kept },
    );
    parts.push(make("p", {}, kept));
  }
  if (lines.length > SHOWN)
    parts.push(warning(text("import.too_many", { number: SHOWN })));
  return parts;
}

/** @returns {() => void} Opens the dialog. */
function importDialog() {
  const file = make("input", { type: "file", id: "import-file", accept: FILE_TYPES, "aria-describedby": "import-hint" });
  const fileLabel = make("label", { htmlFor: file.id, className: "above" }, text("import.file"));
  const hint = make("p", { className: "hint", id: "import-hint" }, HINT);
  const about = make("div");
  const table = make("div", { className: "import-lines" });
  const submit = make("button", { type: "submit", className: "primary", hidden: true }, text("import.submit"));
  const form = make("form", {}, fileLabel, file, hint, about, table, make("div", { className: "buttons" }, submit));
  const dialog = makeDialog("import-dialog", text("import.heading"), form);
  /** @type {Plan|null} */
  let plan = null;

  const boxes = () => [...table.querySelectorAll("input[name=import-line]")];
  /** Ids of the lines to take. */
  const wantedIds = () => {
    const ticked = new Map(boxes().map((box) => [box.value, box.checked]));
    return plan.lines.filter((line) => ticked.get(line.id) ?? line.wanted).map((line) => line.id);
  };
  const showCount = () => {
    const count = plan ? wantedIds().length : 0;
    submit.textContent = count
      ? text("import.submit_lines", { count })
      : text("import.submit");
    submit.hidden = !plan?.lines.length;
  };
  const clear = () => {
    plan = null;
    about.replaceChildren();
    table.replaceChildren();
    dialog.announce("");
    showCount();
  };
  const showPlan = () => {
    about.replaceChildren(...summary(plan));
    table.replaceChildren();
    if (plan.lines.length) {
      table.append(planTable(plan));
      dialog.announce(text("import.differ", { count: plan.lines.length }));
    } else dialog.announce(text("import.nothing"));
    showCount();
  };
  const read = async (chosenFile) => {
    if (!chosenFile) return;
    clear();
    dialog.announce(text("import.reading", { file: chosenFile.name }));
    try {
      await settled(); // what was typed is saved before it is compared
      plan = await upload(`/api/import?name=${encodeURIComponent(chosenFile.name)}`, chosenFile);
      showPlan();
    } catch (error) {
      dialog.announce(error.message, true);
    }
  };
  const carryOut = async (ids) => {
    try {
      const changed = await post("/api/import/apply", { token: plan.token, lines: ids, tab });
      applyChange(changed);
      dialog.close();
      say(withUndo(changed.said));
      if (changed.focus) openLine(changed.focus);
    } catch (error) {
      dialog.announce(error.message, true);
    }
  };

  file.addEventListener("change", () => read(file.files[0]));
  dialog.addEventListener("dragover", (event) => event.preventDefault());
  dialog.addEventListener("drop", (event) => {
    event.preventDefault();
    read(event.dataTransfer?.files[0]);
  });
  table.addEventListener("change", showCount);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!plan) return;
    const ids = wantedIds();
    if (!ids.length) {
      dialog.announce(text("import.tick_first"), true);
      boxes()[0]?.focus();
      return;
    }
    disabledWhile(submit, () => carryOut(ids));
  });

  return () => {
    file.value = "";
    clear();
    dialog.showModal();
    file.focus();
  };
}

/** Registers the command. */
export function start() {
  register({ name: "import", title: text("command.import"), group: "work", run: importDialog() });
}
