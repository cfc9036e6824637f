/** Asking the film: a question about the moment where it stands, answered from nothing of later. */

import { make } from "./build.js";
import { register } from "./commands.js";
import { disabledWhile, makeDialog } from "./dialogs.js";
import { jobCard, startJob, whenEnded } from "./jobs.js";
import { followNow, now, stop } from "./player.js";
import { goToTime } from "./search.js";
import { sentence, sentences } from "./sentences.js";
import { store } from "./store.js";
import { text } from "./texts.js";
import { clock, shortTime } from "./times.js";

/**
 * @typedef {{kind: keyof typeof KINDS, start: number, end: number, text: string}} Moment  What is known of a time of the
 *   film, in film seconds.
 * @typedef {{answer: string, at: number, engine: string, saw_frames: boolean, moments: Moment[]}} Answer  at: the film
 *   second where it stood. engine: empty where no model read the question.
 */

/** How a moment is known. */
const KINDS = {
  line: text("ask.kind.line"),
  dialogue: text("ask.kind.dialogue"),
  text: text("ask.kind.text"),
  people: text("ask.kind.people"),
  description: text("ask.kind.description"),
};

/** @param {Moment} moment */
const momentText = ({ kind, start, text: words }) => text("ask.moment", { time: clock(start), kind: KINDS[kind], words });

/** A button that closes the dialog and goes to a second of the film. */
function timeButton(label, seconds) {
  const button = make("button", { type: "button", className: "plain" }, label);
  button.addEventListener("click", () => {
    button.closest("dialog").close();
    setTimeout(() => goToTime(seconds)); // when the dialog has given the focus back
  });
  return button;
}

/** What the dialog shows of an answer. */
function answerParts(question, { answer, at, engine, saw_frames: sawFrames, moments }, notes) {
  const time = shortTime(at);
  const parts = [make("h3", {}, question)];
  if (engine) {
    const words = sawFrames ? text("ask.by_model_frames", { engine, time }) : text("ask.by_model", { engine, time });
    parts.push(make("p", { className: "answer", lang: store.film.language }, answer), make("p", { className: "hint" }, words));
  } else parts.push(make("p", {}, moments.length ? text("ask.recorded") : text("ask.nothing", { time })));
  if (notes.length) parts.push(make("p", { className: "hint" }, sentences(notes)));
  if (moments.length) {
    const items = moments.map((moment) => make("li", {}, timeButton(momentText(moment), moment.start)));
    if (engine) parts.push(make("h4", {}, text("ask.rests_on")));
    parts.push(make("ul", { className: "moments", role: "list", "aria-label": text("ask.rests_on") }, ...items));
  }
  return parts;
}

/** The same for the ear, without the moments of a model, which are read one by one where they stand. */
function answerSpoken({ answer, at, engine, moments }) {
  if (engine) return moments.length ? `${answer} ${text("ask.moments", { count: moments.length })}` : answer;
  if (!moments.length) return text("ask.nothing", { time: shortTime(at) });
  return [text("ask.recorded"), ...moments.map(momentText)].join(" ");
}

/** @returns {() => void} Stops the film and opens the dialog. */
function askDialog() {
  const moment = make("p", { id: "ask-moment" });
  const hint = make("p", { className: "hint", id: "ask-hint" });
  const field = make("input", {
    type: "text", id: "ask-question", maxLength: 500, autocomplete: "off", "aria-describedby": `${moment.id} ${hint.id}`,
  });
  const label = make("label", { htmlFor: field.id, className: "above" }, text("ask.question"));
  const submit = make("button", { type: "submit", className: "primary" }, text("ask.submit"));
  const form = make("form", {}, moment, label, make("div", { className: "fields" }, field, submit), hint);
  const result = make("div", { className: "result" });
  const back = make("p", { hidden: true });
  const dialog = makeDialog("ask-dialog", text("ask.heading"), form, result, back);
  let at = 0;
  /** Where the film stood for the answer that is shown; null where none is. */
  let answeredAt = null;

  const open = () => {
    stop();
    followNow();
    at = now();
    moment.textContent = at > 0 ? text("ask.at", { time: shortTime(at) }) : text("ask.at_start");
    const { engines } = store.film;
    if (!engines.answers) hint.textContent = text("ask.no_model");
    else hint.textContent = engines.local ? "" : sentence(engines.notice) || text("redo.sent");
    // A moment of the answer was gone to: from there one wants to come back.
    back.hidden = answeredAt === null || answeredAt === at;
    if (!back.hidden) back.replaceChildren(timeButton(text("ask.back", { time: shortTime(answeredAt) }), answeredAt));
    dialog.showModal();
    field.focus();
    field.select();
  };

  const showResult = (parts, second) => {
    const hadFocus = result.contains(document.activeElement);
    result.replaceChildren(...parts);
    if (hadFocus) field.focus();
    answeredAt = second;
    back.hidden = true;
  };

  const ask = async () => {
    const question = field.value.trim();
    if (!question || !(at > 0)) {
      field.focus();
      dialog.announce(question ? text("ask.at_start") : text("ask.no_question"), true);
      return;
    }
    try {
      const { id } = await startJob({ kind: "ask", question, at });
      showResult([jobCard(id)], null);
      dialog.announce(text("job.begun"), false, false);
      const job = await whenEnded(id);
      if (job.state !== "done") return; // its card says why
      const { answer } = job.result;
      showResult(answerParts(question, answer, job.notes), answer.at);
      if (dialog.open) dialog.announce(answerSpoken(answer), false, false);
    } catch (error) {
      dialog.announce(error.message, true);
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    disabledWhile(submit, ask);
  });
  return open;
}

/** Registers the command. */
export function start() {
  register({ name: "ask", title: text("command.ask"), group: "find", keys: { any: ["Alt+Q"] }, run: askDialog() });
}
