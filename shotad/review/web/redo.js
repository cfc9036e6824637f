/** Describing lines again: by the machine, with a note of what it should know. */

import { make } from "./build.js";
import { register } from "./commands.js";
import { checkedValue, disabledWhile, makeDialog, radios } from "./dialogs.js";
import { jobCard, startJob, whenEnded } from "./jobs.js";
import { lineById, lineNumber, store } from "./store.js";
import { clock } from "./times.js";

/** Lines that may be described again together without anybody's work being given up. */
const free = () => store.shown.map((id) => lineById(id)).filter((one) => one?.slot && one.state === "machine");

const STATES = {
  edited: "Somebody edited this line.",
  accepted: "This line is accepted.",
};

const READ = "What the machine should know or look at, in any words: “The woman is Sintel.” “Say what he holds.” You may leave it empty.";
const UNREAD = "The embedded engine tells what it measures in the picture and reads no notes. Write the line yourself, or describe the film with another engine.";

function build() {
  const about = make("div", { className: "about-line" });
  const which = make("div", {});
  const note = make("textarea", { id: "redo-note", rows: 3, maxLength: 2000 });
  note.setAttribute("aria-describedby", "redo-hint");
  const hint = make("p", { className: "hint", id: "redo-hint" }, READ);
  const over = make("div", {});
  const go = make("button", { type: "submit", className: "primary" }, "Describe again");
  const engines = make("p", { className: "hint" });
  const result = make("div", { className: "result" });
  const form = make("form", {}, about, which, make("label", { htmlFor: note.id, className: "above" }, "Note for the machine"), note, hint, over, engines, make("div", { className: "buttons" }, go));
  const made = makeDialog("redo-dialog", "Describe again", form, result);
  let id = null;

  const hold = () => {
    const one = lineById(id);
    over.replaceChildren();
    if (checkedValue(form, "redo-which") === "shown" || !STATES[one?.state]) return;
    const box = make("input", { type: "checkbox", id: "redo-over" });
    box.setAttribute("aria-describedby", "redo-over-hint");
    const text = "Its text stays among the candidates, and you can undo.";
    over.replaceChildren(
      make("p", { className: "warning" }, STATES[one.state]),
      make("label", { className: "choice" }, box, " Let a new line take its place"),
      make("p", { className: "hint", id: "redo-over-hint" }, text),
    );
  };

  const show = () => {
    id = store.current;
    const one = lineById(id);
    const words = one ? `Line ${lineNumber(id)} at ${clock(one.start)}` : "No line is chosen.";
    about.replaceChildren(make("p", {}, make("strong", {}, words)), make("blockquote", one?.text ? { lang: one.language } : {}, one?.text || one?.reason || ""));
    const others = free();
    const choices = [["this", "This line"]];
    if (others.length > 1) choices.push(["shown", `The ${others.length} lines in the list that nobody edited or accepted`]);
    which.replaceChildren(...(choices.length > 1 ? [radios("Which lines", "redo-which", choices, "this")] : []));
    which.onchange = hold;
    const { engines: who } = store.film ?? {};
    engines.textContent = who?.local === false ? `${who.notice || "Frames and words are sent to a server for this."}` : "";
    hint.textContent = who?.notes === false ? UNREAD : READ;
    hold();
    result.replaceChildren();
    made.showModal();
    note.focus();
    note.select();
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    disabledWhile(go, async () => {
      const several = checkedValue(form, "redo-which") === "shown";
      const lines = several ? free().map((one) => one.id) : [id];
      const box = form.querySelector("#redo-over");
      if (!several && box && !box.checked) {
        box.focus();
        made.tell(`Tick the box first. ${over.querySelector(".warning").textContent}`, true);
        return;
      }
      const text = note.value.trim();
      try {
        const job = await startJob({ kind: "redo", lines, note: text, over_edits: Boolean(!several && box?.checked) });
        result.replaceChildren(jobCard(job.id));
        result.firstChild.scrollIntoView({ block: "nearest" });
        made.tell("Begun. You may close this and go on working.");
        await whenEnded(job.id);
        hold();
        if (made.open) result.firstChild?.scrollIntoView({ block: "nearest" });
      } catch (error) {
        made.tell(error.message, true);
      }
    });
  });
  return show;
}

export function start() {
  const show = build();
  register({ name: "describe-anew", title: "Describe again, with a note", group: "Work", keys: ["r"], run: show });
}
