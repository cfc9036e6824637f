/** Import: a script that was edited elsewhere comes back, after a person has seen what it changes, line by line. */

import { post, tab, upload } from "./api.js";
import { make } from "./build.js";
import { register } from "./commands.js";
import { disabledWhile, makeDialog } from "./dialogs.js";
import { say } from "./say.js";
import { applyChange, select, settled, store } from "./store.js";
import { clock } from "./times.js";
import { pluralize } from "./wording.js";

/** Files that can be read, as the browser's dialog filters them. */
const KINDS = ".srt,.vtt,.xml,.ttml,.csv,.tsv,.json,.docx,.xlsx,.edl,.fcpxml";
/** Rows that are shown: more makes the dialog slow. The rest is taken or left as its kind is by default. */
const SHOWN = 1000;

/** Kinds of changes in the order in which they are listed: what stands in the row, what in the summary. */
const WORDS = {
  conflict: ["Changed here and in the file", (many) => `${pluralize(many, "line")} changed here and in the file`],
  changed: ["Changed", (many) => `${pluralize(many, "line")} changed`],
  added: ["New line", (many) => `${pluralize(many, "new line")}`],
  removed: ["Without words in the file", (many) => `${pluralize(many, "line")} without words in the file`],
  missing: ["Not in the file", (many) => `${pluralize(many, "line")} not in the file`],
  noted: ["Note", (many) => pluralize(many, "new note")],
};

/** @typedef {{start: number, end: number, text: string, note: string}} Version */

/**
 * One side of a row: the words, and whatever of times and note is another than on the other side.
 *
 * @param {Version|null} version
 * @param {Version|null} other
 * @param {string} none What stands where nothing is spoken.
 */
function cell(version, other, none) {
  if (!version) return make("td", { className: "hint" }, none);
  const parts = [make("p", version.text ? { lang: store.film.language } : {}, version.text || none)];
  if (!other || other.start !== version.start || other.end !== version.end)
    parts.push(make("p", { className: "hint" }, `${clock(version.start, 2)} to ${clock(version.end, 2)}`));
  if (version.note && version.note !== other?.note) parts.push(make("p", { className: "hint" }, `Note: ${version.note}`));
  return make("td", {}, ...parts);
}

/** A line of the plan, with the box that takes it. */
function row(one) {
  const [words] = WORDS[one.kind];
  const box = make("input", { type: "checkbox", name: "import-line", value: one.id, checked: one.wanted });
  box.setAttribute("aria-label", `Take the line at ${clock(one.start, 1)}: ${words}`);
  const taken = make("td", {}, make("label", { className: "import-box" }, box));
  const what = make("td", {}, words);
  const made = make("tr", {}, taken, make("th", { scope: "row" }, clock(one.start, 1)), what, cell(one.old, one.new, "(no line)"), cell(one.new, one.old, "(no line)"));
  made.dataset.kind = one.kind;
  return made;
}

/** What the file would do, in words. */
function summary(plan) {
  const kinds = Object.keys(WORDS).filter((kind) => plan.counts[kind]);
  const listed = kinds.map((kind) => WORDS[kind][1](plan.counts[kind]));
  const parts = [make("p", {}, make("strong", {}, plan.name), `: ${[...listed, `${plan.unchanged} unchanged`].join(", ")}.`)];
  const { conflict, missing, kept } = plan.counts;
  if (conflict) parts.push(make("p", { className: "warning" }, `What was changed on both sides stays as it is here unless you tick it.`));
  if (missing) parts.push(make("p", { className: "warning" }, `Lines that are not in the file stay unless you tick them; a ticked one is removed.`));
  if (kept) parts.push(make("p", {}, `${pluralize(kept, "line")} stay as they are here: they were changed, or added, after the file was written.`));
  if (plan.lines.length > SHOWN) parts.push(make("p", { className: "warning" }, `The first ${SHOWN} are listed. Of the others those are taken that are changed, new or without words.`));
  return parts;
}

function build() {
  const file = make("input", { type: "file", id: "import-file", accept: KINDS });
  file.setAttribute("aria-describedby", "import-hint");
  const hint = make("p", { className: "hint", id: "import-hint" }, "SRT, WebVTT, DAPT, CSV, Word, Excel, EDL, FCPXML. Nothing changes before you have seen what would.");
  const about = make("div", {});
  const place = make("div", { className: "import-lines" });
  const go = make("button", { type: "submit", className: "primary", hidden: true }, "Import");
  const form = make("form", {}, make("label", { htmlFor: file.id, className: "above" }, "Script file"), file, hint, about, place, make("div", { className: "buttons" }, go));
  const made = makeDialog("import-dialog", "Import a script", form);
  /** @type {any} */
  let plan = null;

  const boxes = () => [...place.querySelectorAll("input[name=import-line]")];
  const chosen = () => {
    const shown = new Map(boxes().map((box) => [box.value, box.checked]));
    return plan.lines.filter((one) => shown.get(one.id) ?? one.wanted).map((one) => one.id);
  };
  const number = () => {
    const many = plan ? chosen().length : 0;
    go.textContent = many ? `Import ${pluralize(many, "line")}` : "Import";
    go.hidden = !plan?.lines.length;
  };
  const clear = () => {
    plan = null;
    about.replaceChildren();
    place.replaceChildren();
    made.tell("");
    number();
  };

  const show = (told) => {
    plan = told;
    about.replaceChildren(...summary(plan));
    place.replaceChildren();
    if (plan.lines.length) {
      const heads = ["Take", "Time", "What", "Here now", "After the import"].map((head) => make("th", { scope: "col" }, head));
      const caption = make("caption", {}, "What the file changes");
      place.append(make("table", {}, caption, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...plan.lines.slice(0, SHOWN).map(row))));
      made.tell(`${pluralize(plan.lines.length, "line")} differ. Look at them below.`);
    } else made.tell("Nothing in this file is new.");
    number();
  };

  const give = async (some) => {
    if (!some) return;
    clear();
    made.tell(`Reading ${some.name} …`);
    try {
      await settled(); // what was typed is saved before it is compared
      show(await upload(`/api/import?name=${encodeURIComponent(some.name)}`, some));
    } catch (error) {
      made.tell(error.message, true);
    }
  };

  file.addEventListener("change", () => give(file.files[0]));
  made.addEventListener("dragover", (event) => event.preventDefault());
  made.addEventListener("drop", (event) => {
    event.preventDefault();
    give(event.dataTransfer?.files[0]);
  });
  place.addEventListener("change", number);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!plan) return;
    const lines = chosen();
    if (!lines.length) {
      made.tell("Tick the lines that you want first.", true);
      boxes()[0]?.focus();
      return;
    }
    disabledWhile(go, async () => {
      try {
        const changed = await post("/api/import/apply", { token: plan.token, lines, tab });
        applyChange(changed);
        made.close();
        say(`${changed.said} You can undo it.`);
        if (changed.focus) select(changed.focus, { focus: true });
      } catch (error) {
        made.tell(error.message, true);
      }
    });
  });

  return () => {
    file.value = "";
    clear();
    made.showModal();
    file.focus();
  };
}

export function start() {
  register({ name: "import", title: "Import a script that was edited elsewhere", group: "Work", run: build() });
}
