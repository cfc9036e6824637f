/** Export: the script in the formats of the field, and the film with its description spoken. */

import { make } from "./build.js";
import { register, run } from "./commands.js";
import { begin, card } from "./jobs.js";
import { once, sheet } from "./sheets.js";
import { store } from "./store.js";

/** Formats that most people want. */
const USUAL = new Set(["vtt", "srt", "docx"]);

const PROFILES = [
  ["", "Default for this film"],
  ["source", "Match the film's loudness"],
  ["ebu-r128", "Broadcast in Europe (EBU R 128)"],
  ["atsc-a85", "Broadcast in America (ATSC A/85)"],
  ["netflix", "Streaming (Netflix)"],
  ["web", "The web"],
];

/** What has to be known before anything is given out: lines nobody accepted, and findings. */
function state() {
  const { progress } = store.film;
  const parts = [];
  const open = progress.lines - progress.accepted;
  if (open > 0) {
    const words = `${open} of ${progress.lines} ${progress.lines === 1 ? "line is" : "lines are"} not accepted yet. You may export all the same: the script says what was reviewed.`;
    parts.push(make("p", { className: "warning" }, words), leave("next-open", "Go to the next line that is not accepted"));
  } else if (progress.lines) parts.push(make("p", { className: "good" }, `All ${progress.lines} lines are accepted.`));
  const found = [...store.lines.values()].filter((one) => one.heard && one.findings?.length);
  const errors = found.filter((one) => one.findings.some((finding) => finding.level === "error"));
  if (found.length) {
    const rules = errors.length ? `, ${errors.length} of them must be put right` : "";
    parts.push(make("p", { className: errors.length ? "warning" : "" }, `The guidelines have something to say about ${found.length} ${found.length === 1 ? "line" : "lines"}${rules}.`), leave("next-finding", "Go to the next of them"));
  }
  if (!progress.lines) parts.push(make("p", { className: "warning" }, "There is no line that is heard."));
  return parts;
}

/** A button that closes the dialog and runs a command. */
function leave(command, label) {
  const button = make("button", { type: "button", className: "plain" }, label);
  button.addEventListener("click", () => {
    button.closest("dialog").close();
    setTimeout(() => run(command));
  });
  return button;
}

function formatBoxes(chosen) {
  return store.film.formats.map((form) => {
    const box = make("input", { type: "checkbox", name: "format", value: form.name, checked: chosen.has(form.name) && form.ready !== false, disabled: form.ready === false });
    return make("label", { className: "choice" }, box, ` ${form.title}`, form.ready === false ? make("span", { className: "hint" }, ` ${form.why || "not installed"}`) : null);
  });
}

const FIRST = { film: "film" };

/** One kind of result with its kinds of file. */
function makeRow(kind, own) {
  const endings = kind.endings;
  const first = endings.includes(own) ? own : endings[0];
  const box = make("input", { type: "checkbox", name: "make", value: kind.kind, checked: kind.kind === FIRST.film });
  const choice = make("select", { "aria-label": `File of: ${kind.title}` }, ...endings.map((ending) => make("option", { value: ending, selected: ending === first }, ending.toUpperCase())));
  choice.addEventListener("change", () => (box.checked = true));
  return make("div", { className: "make" }, make("label", { className: "choice" }, box, ` ${kind.title[0].toUpperCase()}${kind.title.slice(1)}`), choice);
}

function voiceOptions() {
  const { voice } = store.film;
  return voice.choices.map((one) =>
    make("option", { value: one.name, selected: one.name === voice.name, disabled: one.speaks === false }, one.speaks === false ? `${one.title} (${one.why || "not installed"})` : one.title),
  );
}

function build() {
  const about = make("div", { className: "about-export" });
  const formats = make("fieldset", { className: "choices" });
  const makes = make("fieldset", {});
  const voice = make("select", { id: "export-voice" });
  const profile = make("select", { id: "export-profile" }, ...PROFILES.map(([value, title]) => make("option", { value }, title)));
  const extended = make("input", { type: "checkbox", id: "export-extended" });
  const subtitles = make("input", { type: "checkbox", id: "export-subtitles" });
  const write = make("button", { type: "submit", className: "primary" }, "Write the scripts");
  const render = make("button", { type: "submit", className: "primary" }, "Speak and make the files");
  const scripts = make("form", {}, make("h3", {}, "Script"), formats, make("div", { className: "buttons" }, write));
  const sound = make(
    "form",
    {},
    make("h3", {}, "Film and sound"),
    makes,
    make("div", { className: "fields" }, make("label", { htmlFor: voice.id }, "Voice"), voice),
    make("div", { className: "fields" }, make("label", { htmlFor: profile.id }, "Loudness"), profile),
    make("label", { className: "choice" }, extended, " Let the film pause for lines that do not fit (extended description)"),
    make("label", { className: "choice" }, subtitles, " Speak the film's forced subtitles too, by a second voice (foreign dialogue)"),
    make("div", { className: "buttons" }, render),
  );
  const result = make("div", { className: "result" });
  const made = sheet("export-dialog", "Export", about, scripts, sound, result);
  let chosen = null;

  const launch = (button, body) =>
    once(button, async () => {
      try {
        const job = await begin(body);
        result.prepend(card(job.id));
        result.firstChild.scrollIntoView({ block: "nearest" });
        made.tell("Begun. You may close this and go on working.");
      } catch (error) {
        made.tell(error.message, true);
      }
    });

  scripts.addEventListener("submit", (event) => {
    event.preventDefault();
    const names = [...formats.querySelectorAll("input:checked")].map((box) => box.value);
    chosen = new Set(names);
    if (!names.length) {
      made.tell("Choose a format first.", true);
      formats.querySelector("input")?.focus();
      return;
    }
    launch(write, { kind: "export", formats: names });
  });

  sound.addEventListener("submit", (event) => {
    event.preventDefault();
    const rows = [...makes.querySelectorAll(".make")].filter((row) => row.querySelector("input").checked);
    if (!rows.length) {
      made.tell("Choose what to make first.", true);
      makes.querySelector("input")?.focus();
      return;
    }
    const names = rows.map((row) => `${row.querySelector("input").value}:${row.querySelector("select").value}`);
    const body = { kind: "render", makes: names, extended: extended.checked, subtitles: subtitles.checked };
    if (voice.value) body.voice = voice.value;
    if (profile.value) body.profile = profile.value;
    launch(render, body);
  });

  return () => {
    const { film } = store;
    chosen ??= new Set(film.formats.filter((form) => USUAL.has(form.name)).map((form) => form.name));
    about.replaceChildren(...state());
    formats.replaceChildren(make("legend", {}, "Formats"), ...formatBoxes(chosen));
    if (!makes.children.length) {
      const own = film.film.name.split(".").at(-1).toLowerCase();
      makes.replaceChildren(make("legend", {}, "What to make"), ...film.makes.map((kind) => makeRow(kind, own)));
    }
    voice.replaceChildren(...voiceOptions());
    for (const card of [...result.children]) if (["done", "failed", "stopped"].includes(card.dataset.state)) card.remove();
    made.showModal();
    (formats.querySelector("input:not(:disabled)") ?? made.querySelector("button")).focus();
    made.querySelector(".dialog-body").scrollTop = 0;
  };
}

export function start() {
  register({ name: "export", title: "Export: scripts, film and sound", group: "Work", keys: ["x"], run: build() });
}
