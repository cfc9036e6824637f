/** Describing lines again: by the machine, with a note of what it should know. */

import { make } from "./build.js";
import { register } from "./commands.js";
import { checkedValue, disabledWhile, makeDialog, radios } from "./dialogs.js";
import { jobCard, startJob, whenEnded } from "./jobs.js";
import { sentence } from "./sentences.js";
import { chosenLine, lineById, lineNumber, store } from "./store.js";
import { text } from "./texts.js";
import { clock } from "./times.js";

/** Why the machine asks before it writes over a line. */
const WARNINGS = {
  edited: text("redo.edited"),
  accepted: text("redo.accepted"),
};
const NOTE_HINT = text("redo.hint");
const NO_NOTE_HINT = text("redo.no_notes");

/** Lines that may be described again together without anybody's work being given up. */
const untouchedLines = () => store.shown.map(lineById).filter((line) => line?.slot && line.state === "machine");

/** @returns {() => void} Opens the dialog. */
function redoDialog() {
  const about = make("div");
  const scope = make("div");
  const note = make("textarea", { id: "redo-note", rows: 3, maxLength: 2000, "aria-describedby": "redo-hint" });
  const noteLabel = make("label", { htmlFor: note.id, className: "above" }, text("redo.note"));
  const hint = make("p", { className: "hint", id: "redo-hint" }, NOTE_HINT);
  const permission = make("div");
  const engineNotice = make("p", { className: "hint" });
  const submit = make("button", { type: "submit", className: "primary" }, text("redo.submit"));
  const buttons = make("div", { className: "buttons" }, submit);
  const form = make("form", {}, about, scope, noteLabel, note, hint, permission, engineNotice, buttons);
  const result = make("div", { className: "result" });
  const dialog = makeDialog("redo-dialog", text("redo.heading"), form, result);
  let id = null;

  const isForSeveral = () => checkedValue(form, "redo-scope") === "shown";

  /** Asks whether a person's line may be replaced. */
  const showPermission = () => {
    const warning = WARNINGS[lineById(id)?.state];
    permission.replaceChildren();
    if (isForSeveral() || !warning) return;
    const box = make("input", { type: "checkbox", id: "redo-over", "aria-describedby": "redo-over-hint" });
    const boxHint = text("redo.over_hint");
    permission.replaceChildren(
      make("p", { className: "warning" }, warning),
      make("label", { className: "choice" }, box, ` ${text("redo.over")}`),
      make("p", { className: "hint", id: "redo-over-hint" }, boxHint),
    );
  };

  const showAbout = (line) => {
    const words = line
      ? text("job.line", { number: lineNumber(id), time: clock(line.start) })
      : text("list.none_chosen");
    const quote = make(
      "blockquote",
      line?.text ? { lang: line.language } : {},
      line?.text || sentence(line?.reason ?? ""),
    );
    about.replaceChildren(make("p", {}, make("strong", {}, words)), quote);
  };
  const showScope = () => {
    const others = untouchedLines().length;
    scope.replaceChildren();
    if (others < 2) return;
    const several = text("redo.several", { count: others });
    const choices = [["this", text("redo.this")], ["shown", several]];
    scope.append(radios(text("redo.which"), "redo-scope", choices, "this"));
  };
  scope.addEventListener("change", showPermission);

  const open = () => {
    id = store.current;
    showAbout(chosenLine());
    showScope();
    const { engines } = store.film;
    engineNotice.textContent = engines.local ? "" : sentence(engines.notice) || text("redo.sent");
    hint.textContent = engines.notes ? NOTE_HINT : NO_NOTE_HINT;
    showPermission();
    result.replaceChildren();
    dialog.showModal();
    note.focus();
    note.select();
  };

  const describe = async () => {
    const isSeveral = isForSeveral();
    const box = isSeveral ? null : form.querySelector("#redo-over");
    if (box && !box.checked) {
      box.focus();
      dialog.announce(`${text("redo.tick_first")} ${permission.querySelector(".warning").textContent}`, true);
      return;
    }
    const lines = isSeveral ? untouchedLines().map((line) => line.id) : [id];
    try {
      const job = await startJob({ kind: "redo", lines, note: note.value.trim(), over_edits: Boolean(box) });
      result.replaceChildren(jobCard(job.id));
      result.firstChild.scrollIntoView({ block: "nearest" });
      dialog.announce(text("job.begun"));
      await whenEnded(job.id);
      showPermission();
      if (dialog.open) result.firstChild?.scrollIntoView({ block: "nearest" });
    } catch (error) {
      dialog.announce(error.message, true);
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    disabledWhile(submit, describe);
  });
  return open;
}

/** Registers the command. */
export function start() {
  register({
    name: "describe-again",
    title: text("command.describe_again"),
    group: "work",
    keys: ["r"],
    run: redoDialog(),
  });
}
