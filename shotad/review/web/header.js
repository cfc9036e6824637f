/** The head of the page: the film's name, how far the review is, undo and redo, who reviews. */

import { ApiError, base, post } from "./api.js";
import { labelled, make, setText } from "./build.js";
import { commandNamed, describeButton, keyLabels, register, showKey } from "./commands.js";
import { makeDialog } from "./dialogs.js";
import { stateOf } from "./list.js";
import { alert, say } from "./say.js";
import { sentence } from "./sentences.js";
import { changeSettings, settings } from "./settings.js";
import { emit, lineById, lineNumber, redo, select, store, subscribe, undo } from "./store.js";
import { languageName, text } from "./texts.js";
import { clock } from "./times.js";

const byId = (id) => document.getElementById(id);
const filmTitle = () => store.film.film.title || store.film.film.name;

/** Writes the film's title. */
function showTitle() {
  const { film, language: filmLanguage } = store.film;
  byId("title").textContent = filmTitle();
  const facts = { film: film.name, length: clock(film.duration), language: languageName(filmLanguage) };
  byId("title").title = text("header.film", facts);
}

/** Writes "4 of 9 written, 2 accepted". No middle dot: screen readers name it. */
function showProgress() {
  const lines = [...store.lines.values()];
  const written = lines.filter((line) => line.heard).length;
  const toWrite = lines.filter((line) => stateOf(line) === "empty").length;
  const accepted = lines.filter((line) => line.heard && line.state === "accepted").length;
  const progress = lines.length
    ? text("header.progress", { written, total: written + toWrite, accepted })
    : text("header.no_lines");
  setText(byId("progress-text"), progress);
  document.title = `${progress} – ${filmTitle()} – shotad review`;
}

const NO_HISTORY = { undo: text("header.no_undo"), redo: text("header.no_redo") };
/** What a step would take back, or do again: of a line, or of several. */
const HISTORY = {
  undo: (values) =>
    values.number
      ? text("header.undo_line", values)
      : text("header.undo", values),
  redo: (values) =>
    values.number
      ? text("header.redo_line", values)
      : text("header.redo", values),
};

/**
 * Undo and Redo keep their names and their width; their hints say what they would do, and on which line.
 *
 * @param {import("./store.js").History} history
 */
function showHistory(history) {
  for (const id of ["undo", "redo"]) {
    const step = sentence(history[id] ?? "").replace(/\.$/u, "");
    const number = lineNumber(history[`${id}_line`] ?? "");
    const values = { number, step, keys: keyLabels(commandNamed(id)).join(", ") };
    const button = byId(id);
    describeButton(button);
    button.title = step ? HISTORY[id](values) : NO_HISTORY[id];
    // Not `disabled`: the focus would be lost when the last step is undone.
    button.setAttribute("aria-disabled", String(!step));
  }
}

/**
 * Tells the server who reviews.
 *
 * @param {string} name
 * @returns {Promise<boolean>} Whether the server took it; if not, the page has said why.
 */
async function renameReviewer(name) {
  try {
    await post("/api/reviewer", { name });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    alert(error.message);
    return false;
  }
  store.film.reviewer = name;
  changeSettings({ name });
  emit("reviewer", name);
  return true;
}

/**
 * Makes a form that asks for the name.
 *
 * @param {HTMLInputElement} input
 * @param {() => void} onSaved
 * @param {...Node} children  Of the form.
 * @returns {HTMLFormElement}
 */
function nameForm(input, onSaved, ...children) {
  const form = make("form", { className: "name-form" }, ...children);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = input.value.trim();
    if (!(await renameReviewer(name))) return;
    onSaved();
    say(name ? text("header.named", { name }) : text("header.unnamed"));
  });
  return form;
}

const NAME_FIELD = { type: "text", autocomplete: "name", maxLength: 80 };

/**
 * The field in the head that asks for the name while there is none: Enter saves it. On a telephone it is in the menu.
 *
 * @returns {() => void} Shows it, or takes it away.
 */
function nameQuestion() {
  const label = text("header.name_label");
  const input = make("input", {
    ...NAME_FIELD,
    id: "first-name",
    placeholder: text("header.your_name"),
    "aria-label": label,
  });
  const toLine = () => select(store.current, { focus: true });
  const form = nameForm(input, toLine, input);
  byId("progress-text").after(form);
  const isKnown = () => Boolean(store.film?.reviewer || settings.name);
  const show = () => (form.hidden = isKnown());
  // Who leaves the field has said their name.
  input.addEventListener("blur", () => !form.hidden && input.value.trim() && renameReviewer(input.value.trim()));
  return show;
}

/** @returns {() => void} Opens the dialog. */
function nameDialog() {
  const input = make("input", { ...NAME_FIELD, id: "reviewer-name" });
  const save = make("button", { className: "primary" }, text("header.save_name"));
  const form = nameForm(input, () => dialog.close(), labelled(text("header.your_name"), input), save);
  const hint = make("p", { className: "hint" }, text("header.name_hint"));
  const dialog = makeDialog("reviewer-dialog", text("header.who"), hint, form);
  return () => {
    input.value = store.film?.reviewer ?? "";
    dialog.showModal();
    input.select();
  };
}

/**
 * Undoes or does again; then the line it was about is chosen.
 *
 * @param {typeof undo} way
 */
async function step(way) {
  const changed = await way();
  const id = changed?.focus ?? changed?.lines?.[0]?.id;
  if (id && lineById(id)) select(id);
}

/** Starts the head of the page. */
export function start() {
  byId("all-films").hidden = base === "/"; // the server has this film alone
  register({
    name: "undo", title: text("command.undo"), group: "edit", keys: { any: ["Ctrl+Z"] }, repeats: true,
    run: () => step(undo),
  });
  register({
    name: "redo", title: text("command.redo"), group: "edit", keys: { any: ["Ctrl+Shift+Z", "Ctrl+Y"] },
    repeats: true, run: () => step(redo),
  });
  showKey(document.querySelector("#top [data-command=next-empty]"));
  register({ name: "reviewer", title: text("command.reviewer"), group: "page", run: nameDialog() });
  subscribe("film", (film) => {
    showTitle();
    showProgress();
    showHistory(film.history);
    if (!film.reviewer && settings.name) renameReviewer(settings.name); // said once to this browser
  });
  const showQuestion = nameQuestion();
  for (const topic of ["film", "reviewer"]) subscribe(topic, showQuestion);
  subscribe("progress", showProgress);
  subscribe("history", showHistory);
}
