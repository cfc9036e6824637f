/** Export: what is needed first; below it the script in every format, and all that can be spoken. */

import { make } from "./build.js";
import { register, runCommand } from "./commands.js";
import { checkedValue, disabledWhile, makeDialog } from "./dialogs.js";
import { jobCard, startJob } from "./jobs.js";
import { store } from "./store.js";

/** Formats that are ticked at first in the list of all. */
const USUAL = new Set(["vtt", "srt", "docx"]);

/**
 * What people need, and what is made for it.
 *
 * @type {{name: string, title: string, about: string, formats?: string[], makes?: string[], profile?: string}[]}
 *   `makes`: kinds of files that are spoken, with the file's ending where it is not the person's choice.
 */
const NEEDS = [
  { name: "colleague", title: "A script for a colleague", about: "Word, with pictures, the dialogue, and empty slots to write in", formats: ["docx"] },
  { name: "film", title: "The film with description", about: "The lines are spoken and mixed, as an additional sound track", makes: ["film"] },
  { name: "broadcast", title: "For broadcast", about: "The script as DAPT, the description as WAV, at the loudness of EBU R 128", formats: ["dapt"], makes: ["ad:wav"], profile: "ebu-r128" },
  { name: "server", title: "For a media server", about: "A sound file beside the film, named as Jellyfin finds it", makes: ["sidecar"] },
  { name: "editor", title: "For an editor", about: "Markers as EDL and FCPXML, for DaVinci Resolve, Avid and Final Cut Pro", formats: ["edl", "fcpxml"] },
  { name: "subtitles", title: "A subtitle file", about: "SRT and WebVTT", formats: ["srt", "vtt"] },
];

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
    setTimeout(() => runCommand(command));
  });
  return button;
}

function formatBoxes(chosen) {
  return store.film.formats.map((form) => {
    const box = make("input", { type: "checkbox", name: "format", value: form.name, checked: chosen.has(form.name) });
    return make("label", { className: "choice" }, box, ` ${form.title}`);
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

/** The choices of what is needed, one of them chosen. */
function needBoxes(chosen) {
  return NEEDS.map((need) => {
    const radio = make("input", { type: "radio", name: "need", value: need.name, id: `need-${need.name}`, checked: need.name === chosen });
    radio.setAttribute("aria-describedby", `need-${need.name}-about`);
    const about = make("span", { className: "hint", id: `need-${need.name}-about` }, need.about);
    return make("div", { className: "need" }, make("label", { className: "choice", htmlFor: radio.id }, radio, ` ${need.title}`), about);
  });
}

/** The voice and the loudness of what is spoken. */
function soundFields() {
  const voice = make("select", { id: "export-voice" });
  const profile = make("select", { id: "export-profile" }, ...PROFILES.map(([value, title]) => make("option", { value }, title)));
  const extended = make("input", { type: "checkbox", id: "export-extended" });
  const subtitles = make("input", { type: "checkbox", id: "export-subtitles" });
  const element = make(
    "fieldset",
    {},
    make("legend", {}, "Voice and loudness"),
    make("div", { className: "fields" }, make("label", { htmlFor: voice.id }, "Voice"), voice),
    make("div", { className: "fields" }, make("label", { htmlFor: profile.id }, "Loudness"), profile),
    make("label", { className: "choice" }, extended, " Let the film pause for lines that do not fit (extended description)"),
    make("label", { className: "choice" }, subtitles, " Speak the film's forced subtitles too, by a second voice (foreign dialogue)"),
  );
  const body = (makes, usual = "") => {
    const loudness = profile.value || usual;
    return { kind: "render", makes, extended: extended.checked, subtitles: subtitles.checked, ...(voice.value ? { voice: voice.value } : {}), ...(loudness ? { profile: loudness } : {}) };
  };
  return { element, body, fill: () => voice.replaceChildren(...voiceOptions()) };
}

function build() {
  const about = make("div", { className: "about-export" });
  const needs = make("fieldset", { className: "needs" });
  const give = make("button", { type: "submit", className: "primary" }, "Export");
  const sound = soundFields();
  const quick = make("form", {}, needs, make("div", { className: "buttons" }, give));
  const formats = make("fieldset", { className: "choices" });
  const makes = make("fieldset", {});
  const write = make("button", { type: "submit" }, "Write the scripts");
  const render = make("button", { type: "submit" }, "Speak and make the files");
  const scripts = make("form", {}, formats, make("div", { className: "buttons" }, write));
  const films = make("form", {}, makes, make("div", { className: "buttons" }, render));
  const all = make("details", { className: "all-formats" }, make("summary", {}, "All formats"), scripts, films);
  const result = make("div", { className: "result" });
  const made = makeDialog("export-dialog", "Export", about, quick, sound.element, all, result);
  let need = NEEDS[0].name;
  let chosen = null;

  const chosenNeed = () => NEEDS.find((one) => one.name === need);
  // Nobody has to read about voices who wants a file of words.
  const showSound = () => (sound.element.hidden = !chosenNeed().makes && !all.open);

  const launch = (button, ...bodies) =>
    disabledWhile(button, async () => {
      try {
        for (const body of bodies) {
          const job = await startJob(body);
          result.prepend(jobCard(job.id));
        }
        result.firstChild.scrollIntoView({ block: "nearest" });
        made.tell("Begun. You may close this and go on working.");
      } catch (error) {
        made.tell(error.message, true);
      }
    });

  needs.addEventListener("change", () => {
    need = checkedValue(quick, "need");
    showSound();
  });
  all.addEventListener("toggle", showSound);

  quick.addEventListener("submit", (event) => {
    event.preventDefault();
    const { formats: names, makes: kinds, profile } = chosenNeed();
    const bodies = [];
    if (names) bodies.push({ kind: "export", formats: names });
    if (kinds) bodies.push(sound.body(kinds.map((kind) => (kind.includes(":") ? kind : `${kind}:${ending(kind)}`)), profile));
    launch(give, ...bodies);
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

  films.addEventListener("submit", (event) => {
    event.preventDefault();
    const rows = [...makes.querySelectorAll(".make")].filter((row) => row.querySelector("input").checked);
    if (!rows.length) {
      made.tell("Choose what to make first.", true);
      makes.querySelector("input")?.focus();
      return;
    }
    launch(render, sound.body(rows.map((row) => `${row.querySelector("input").value}:${row.querySelector("select").value}`)));
  });

  return () => {
    const { film } = store;
    chosen ??= new Set(film.formats.filter((form) => USUAL.has(form.name)).map((form) => form.name));
    about.replaceChildren(...state());
    needs.replaceChildren(make("legend", {}, "What do you need?"), ...needBoxes(need));
    formats.replaceChildren(make("legend", {}, "Script"), ...formatBoxes(chosen));
    if (!makes.children.length) makes.replaceChildren(make("legend", {}, "Film and sound"), ...film.makes.map((kind) => makeRow(kind, ownEnding())));
    sound.fill();
    showSound();
    for (const card of [...result.children]) if (["done", "failed", "stopped"].includes(card.dataset.state)) card.remove();
    made.showModal();
    needs.querySelector("input:checked").focus();
    made.querySelector(".dialog-body").scrollTop = 0;
  };
}

/** The ending of the film itself, in small letters. */
const ownEnding = () => store.film.film.name.split(".").at(-1).toLowerCase();

/** The ending of a kind of file: that of the film where it can be, else the first. */
function ending(kind) {
  const { endings } = store.film.makes.find((one) => one.kind === kind);
  return endings.includes(ownEnding()) ? ownEnding() : endings[0];
}

export function start() {
  register({ name: "export", title: "Export: scripts, film and sound", group: "Work", keys: ["x"], run: build() });
}
