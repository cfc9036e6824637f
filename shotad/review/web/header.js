/** The head of the page: the film's name, how far the review is, undo and redo, who reviews. */

import { ApiError, post } from "./api.js";
import { dialog, field, make } from "./build.js";
import { command, hint, keysOf, register } from "./commands.js";
import { stateOf } from "./list.js";
import { alert, say } from "./say.js";
import { set, settings } from "./settings.js";
import { emit, line, number, redo, select, store, subscribe, undo } from "./store.js";
import { clock } from "./times.js";
import { setText } from "./wording.js";

const byId = (id) => document.getElementById(id);

/** @param {any} film */
function name(film) {
  const title = film.film.title || film.film.name;
  byId("title").textContent = title;
  byId("title").title = `${film.film.name} · ${clock(film.film.duration)} · ${film.language}`;
}

/** "4 of 9 written · 2 accepted" */
function progress() {
  const entries = [...store.lines.values()];
  const written = entries.filter((entry) => entry.heard).length;
  const toWrite = entries.filter((entry) => stateOf(entry) === "empty").length;
  const accepted = entries.filter((entry) => entry.heard && entry.state === "accepted").length;
  const text = entries.length ? `${written} of ${written + toWrite} written · ${accepted} accepted` : "No lines yet";
  setText(byId("progress-text"), text);
  document.title = `${text.replace(" · ", ", ")} – ${store.film.film.title || store.film.film.name} – shotad review`;
}

/**
 * Undo and Redo keep their names and their width; their hints say what they would do, and on which line.
 *
 * @param {{undo: string|null, redo: string|null, undo_line?: string|null, redo_line?: string|null}} history
 */
function history(history) {
  for (const [id, word] of [["undo", "Undo"], ["redo", "Redo"]]) {
    const step = history[id]?.replace(/\.$/u, "");
    const place = number(history[`${id}_line`] ?? "");
    const button = byId(id);
    hint(button);
    const what = place ? `line ${place}, ${step?.[0].toLowerCase()}${step?.slice(1)}` : step;
    button.title = step ? `${word}: ${what} (${keysOf(command(id)).join(", ")})` : `Nothing to ${id}`;
    // Not `disabled`: the focus would be lost when the last step is undone.
    button.setAttribute("aria-disabled", String(!step));
  }
}

/**
 * Tells the server who reviews.
 *
 * @param {string} who
 * @returns {Promise<boolean>}
 */
export async function rename(who) {
  try {
    await post("/api/reviewer", { name: who });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    alert(error.message);
    return false;
  }
  store.film.reviewer = who;
  set({ name: who, asked: true });
  emit("reviewer", who);
  return true;
}

/** The form that asks for the name; `done` hears of the end. */
export function nameForm(id, done) {
  const input = make("input", { type: "text", id, autocomplete: "name", maxLength: 80 });
  const form = make("form", { className: "name-form" }, field("Your name", input), make("button", { className: "primary" }, "Save the name"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const who = input.value.trim();
    if (!(await rename(who))) return;
    done();
    say(who ? `Lines that you accept are marked as accepted by ${who}.` : "Lines that you accept carry no name.");
  });
  return { form, input };
}

function nameDialog() {
  const { form, input } = nameForm("reviewer-name", () => made.close());
  const hint = make("p", { className: "hint" }, "It stands in the exports, as who reviewed the lines. It stays on this computer.");
  const made = dialog("reviewer-dialog", "Who reviews?", hint, form);
  return () => {
    input.value = store.film?.reviewer ?? "";
    made.showModal();
    input.select();
  };
}

/** Undoes or does again; then the line it was about is chosen. */
async function step(way) {
  const changed = await way();
  const about = changed?.focus ?? changed?.lines?.[0]?.id;
  if (about && line(about)) select(about);
}

/** Starts the head of the page. */
export function start() {
  const ways = { any: ["Ctrl+Shift+Z", "Ctrl+Y"] };
  register({ name: "undo", title: "Undo", group: "Choose and edit", keys: { any: ["Ctrl+Z"] }, repeats: true, run: () => step(undo) });
  register({ name: "redo", title: "Redo what was undone", group: "Choose and edit", keys: ways, repeats: true, run: () => step(redo) });
  register({ name: "reviewer", title: "Who reviews", group: "Page", run: nameDialog() });
  subscribe("film", (film) => {
    name(film);
    progress();
    history(film.history);
    if (!film.reviewer && settings.name) rename(settings.name); // said once to this browser
  });
  subscribe("progress", progress);
  subscribe("history", history);
}
