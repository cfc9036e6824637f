/** Export: what is needed first; below it the script in every format, and all that can be spoken. */

import { make } from "./build.js";
import { register, runCommand, showKey } from "./commands.js";
import { checkedValue, disabledWhile, makeDialog } from "./dialogs.js";
import { jobCard, startJob } from "./jobs.js";
import { hasFinding } from "./list.js";
import { sentence } from "./sentences.js";
import { store } from "./store.js";
import { text } from "./texts.js";

/** Formats that are ticked at first in the list of all. */
const TICKED_FORMATS = ["vtt", "srt", "docx"];
/** Kind of file that is ticked at first. */
const TICKED_KIND = "film";

/**
 * What people need, and what is made for it.
 *
 * @type {{name: string, title: string, about: string, formats?: string[], makes?: string[], profile?: string}[]}
 *   `makes`: kinds of files that are spoken, with the file's ending where it is not the person's choice.
 */
const NEEDS = [
  {
    name: "colleague", title: text("export.colleague"), formats: ["docx"],
    about: text("export.colleague.about"),
  },
  {
    name: "film", title: text("export.film"), makes: ["film"],
    about: text("export.film.about"),
  },
  {
    name: "broadcast", title: text("export.broadcast"), formats: ["dapt"], makes: ["ad:wav"], profile: "ebu-r128",
    about: text("export.broadcast.about"),
  },
  {
    name: "server", title: text("export.server"), makes: ["sidecar"],
    about: text("export.server.about"),
  },
  {
    name: "editor", title: text("export.editor"), formats: ["edl", "fcpxml"],
    about: text("export.editor.about"),
  },
  {
    name: "subtitles", title: text("export.subtitles"), formats: ["srt", "vtt"],
    about: text("export.subtitles.about"),
  },
];

const PROFILES = [
  ["", text("export.profile.default")],
  ["source", text("export.profile.source")],
  ["ebu-r128", text("export.profile.ebu")],
  ["atsc-a85", text("export.profile.atsc")],
  ["netflix", text("export.profile.netflix")],
  ["web", text("export.profile.web")],
];

/** What a file holds, by its kind. */
const KINDS = {
  film: text("export.kind.film"),
  "film+text": text("export.kind.both"),
  text: text("export.kind.text"),
  ad: text("export.kind.ad"),
  mix: text("export.kind.mix"),
  sidecar: text("export.kind.sidecar"),
};

/** What a format of the script is for. */
const FORMATS = {
  vtt: text("export.format.vtt"),
  srt: text("export.format.srt"),
  dapt: text("export.format.dapt"),
  csv: text("export.format.csv"),
  json: text("export.format.json"),
  frazier: text("export.format.frazier"),
  reaper: text("export.format.reaper"),
  docx: text("export.format.docx"),
  xlsx: text("export.format.xlsx"),
  edl: text("export.format.edl"),
  fcpxml: text("export.format.fcpxml"),
  hls: text("export.format.hls"),
  dash: text("export.format.dash"),
  txt: text("export.format.txt"),
};

/** What has to be known before anything is given out: lines nobody accepted, and findings. */
function warningParts() {
  const { lines: total, accepted } = store.film.progress;
  const warning = (words) => make("p", { className: "warning" }, words);
  const parts = [];
  const open = total - accepted;
  if (open > 0) {
    const words = text("export.open", { open, count: total });
    parts.push(
      warning(`${words} ${text("export.open_hint")}`),
      leaveButton("next-open", text("export.go_to_open")),
    );
  } else if (total) {
    const words = text("export.accepted", { count: total });
    parts.push(make("p", { className: "good" }, words));
  }
  const withFindings = [...store.lines.values()].filter((line) => line.heard && hasFinding(line));
  if (withFindings.length) {
    const hasError = (line) => line.findings.some((finding) => finding.level === "error");
    const errors = withFindings.filter(hasError).length;
    const count = withFindings.length;
    const words = errors
      ? text("export.errors", { count, errors })
      : text("export.findings", { count });
    parts.push(
      make("p", { className: errors ? "warning" : "" }, words),
      leaveButton("next-finding", text("export.go_to_finding")),
    );
  }
  if (!total) parts.push(warning(text("export.no_line")));
  if (!store.film.reviewer) {
    const words = text("export.no_reviewer");
    parts.push(make("p", {}, words), leaveButton("reviewer", text("export.say_reviewer")));
  }
  return parts;
}

/** A button that closes the dialog and runs a command. */
function leaveButton(command, label) {
  const button = make("button", { type: "button", className: "plain" }, label);
  button.addEventListener("click", () => {
    button.closest("dialog").close();
    setTimeout(() => runCommand(command));
  });
  return button;
}

/** The choices of what is needed, one of them chosen. */
function needBoxes(chosenName) {
  return NEEDS.map(({ name, title, about }) => {
    const aboutId = `need-${name}-about`;
    const radio = make("input", {
      type: "radio", name: "need", value: name, id: `need-${name}`, checked: name === chosenName,
      "aria-describedby": aboutId,
    });
    const label = make("label", { className: "choice", htmlFor: radio.id }, radio, ` ${title}`);
    return make("div", { className: "need" }, label, make("span", { className: "hint", id: aboutId }, about));
  });
}

/** Boxes for all formats of the script. */
function formatBoxes(tickedNames) {
  return store.film.formats.map((name) => {
    const box = make("input", { type: "checkbox", name: "format", value: name, checked: tickedNames.includes(name) });
    return make("label", { className: "choice" }, box, ` ${FORMATS[name] ?? name}`);
  });
}

/** The ending of a kind of file: that of the film where it can be, else the first. */
function endingOf({ endings }) {
  const filmEnding = store.film.film.name.split(".").at(-1).toLowerCase();
  return endings.includes(filmEnding) ? filmEnding : endings[0];
}

/** A kind of file that can be made, with its endings. */
function kindRow(kind) {
  const title = KINDS[kind.kind] ?? kind.kind;
  const box = make("input", { type: "checkbox", name: "make", value: kind.kind, checked: kind.kind === TICKED_KIND });
  const options = kind.endings.map((ending) =>
    make("option", { value: ending, selected: ending === endingOf(kind) }, ending.toUpperCase()),
  );
  const select = make("select", { "aria-label": text("export.ending_of", { kind: title }) }, ...options);
  select.addEventListener("change", () => (box.checked = true));
  return make("div", { className: "make" }, make("label", { className: "choice" }, box, ` ${title}`), select);
}

function voiceOptions() {
  const { name: filmVoice, choices } = store.film.voice;
  return choices.map(({ name, title, speaks, why: reason }) => {
    const isMissing = speaks === false;
    const why = sentence(reason) || text("export.voice_missing");
    const label = isMissing ? text("export.voice_not", { voice: title, reason: why }) : title;
    return make("option", { value: name, selected: name === filmVoice, disabled: isMissing }, label);
  });
}

/** The voice and the loudness of what is spoken. */
function soundFields() {
  const voice = make("select", { id: "export-voice" });
  const profileOptions = PROFILES.map(([value, title]) => make("option", { value }, title));
  const profile = make("select", { id: "export-profile" }, ...profileOptions);
  const extended = make("input", { type: "checkbox", id: "export-extended" });
  const subtitles = make("input", { type: "checkbox", id: "export-subtitles" });
  const row = (label, field) => make("div", { className: "fields" }, make("label", { htmlFor: field.id }, label), field);
  const choice = (box, label) => make("label", { className: "choice" }, box, ` ${label}`);
  const element = make("fieldset", {},
    make("legend", {}, text("export.sound")),
    choice(subtitles, text("export.subtitles_too")),
    choice(extended, text("export.extended")),
    row(text("export.voice"), voice),
    row(text("export.loudness"), profile));
  return {
    element,
    /** Fills in the voices. What is heard on the page is made, unless the person chooses otherwise. */
    fill() {
      voice.replaceChildren(...voiceOptions());
      subtitles.checked ||= store.film.voice.subtitles;
    },
    /** The job that renders files; `usualProfile`: loudness where the person chose none. */
    renderOrder(makes, usualProfile = "") {
      const order = { kind: "render", makes, extended: extended.checked, subtitles: subtitles.checked };
      if (voice.value) order.voice = voice.value;
      const loudness = profile.value || usualProfile;
      if (loudness) order.profile = loudness;
      return order;
    },
  };
}

/** @returns {() => void} Opens the dialog. */
function exportDialog() {
  const buttonRow = (button, className = "buttons") => make("div", { className }, button);
  const warnings = make("div");
  const needs = make("fieldset", { className: "needs" });
  const exportButton = make("button", { type: "submit", className: "primary" }, text("export.submit"));
  const sound = soundFields();
  // The button comes last: Enter presses it from every field before it.
  const needForm = make("form", {}, needs, sound.element, buttonRow(exportButton, "buttons stays"));
  const formats = make("fieldset", { className: "choices" });
  const writeButton = make("button", { type: "submit" }, text("export.write"));
  const formatForm = make("form", {}, formats, buttonRow(writeButton));
  const kinds = make("fieldset");
  const renderButton = make("button", { type: "submit" }, text("export.make"));
  const kindForm = make("form", {}, kinds, buttonRow(renderButton));
  const everything = make(
    "details",
    { className: "all-formats" },
    make("summary", {}, text("export.all_formats")),
    formatForm,
    kindForm,
  );
  const result = make("div", { className: "result" });
  const dialog = makeDialog("export-dialog", text("export.heading"), warnings, needForm, everything, result);
  let needName = NEEDS[0].name;
  let tickedFormats = TICKED_FORMATS;

  const chosenNeed = () => NEEDS.find((need) => need.name === needName);
  // Nobody has to read about voices who wants a file of words.
  const showSound = () => (sound.element.hidden = !chosenNeed().makes && !everything.open);

  const startJobs = (button, ...orders) =>
    disabledWhile(button, async () => {
      try {
        for (const order of orders) {
          const job = await startJob(order);
          result.prepend(jobCard(job.id));
        }
        result.firstChild.scrollIntoView({ block: "nearest" });
        dialog.announce(text("job.begun"));
      } catch (error) {
        dialog.announce(error.message, true);
      }
    });

  needs.addEventListener("change", () => {
    needName = checkedValue(needForm, "need");
    showSound();
  });
  everything.addEventListener("toggle", showSound);

  /** "film" as "film:mkv"; an ending that is given stays. */
  const withEnding = (name) => {
    if (name.includes(":")) return name;
    return `${name}:${endingOf(store.film.makes.find((kind) => kind.kind === name))}`;
  };
  // Browsers send a form by Enter from boxes, but not from lists.
  needForm.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("select")) return;
    event.preventDefault();
    needForm.requestSubmit();
  });
  needForm.addEventListener("submit", (event) => {
    event.preventDefault();
    const need = chosenNeed();
    const orders = [];
    if (need.formats) orders.push({ kind: "export", formats: need.formats });
    if (need.makes) orders.push(sound.renderOrder(need.makes.map(withEnding), need.profile));
    startJobs(exportButton, ...orders);
  });

  formatForm.addEventListener("submit", (event) => {
    event.preventDefault();
    tickedFormats = [...formats.querySelectorAll("input:checked")].map((box) => box.value);
    if (!tickedFormats.length) {
      dialog.announce(text("export.choose_format"), true);
      formats.querySelector("input")?.focus();
      return;
    }
    startJobs(writeButton, { kind: "export", formats: tickedFormats });
  });

  kindForm.addEventListener("submit", (event) => {
    event.preventDefault();
    const rows = [...kinds.querySelectorAll(".make")].filter((row) => row.querySelector("input").checked);
    if (!rows.length) {
      dialog.announce(text("export.choose_kind"), true);
      kinds.querySelector("input")?.focus();
      return;
    }
    const makes = rows.map((row) => `${row.querySelector("input").value}:${row.querySelector("select").value}`);
    startJobs(renderButton, sound.renderOrder(makes));
  });

  return () => {
    warnings.replaceChildren(...warningParts());
    needs.replaceChildren(make("legend", {}, text("export.need")), ...needBoxes(needName));
    formats.replaceChildren(make("legend", {}, text("export.script")), ...formatBoxes(tickedFormats));
    const isFilled = kinds.children.length > 0; // what was ticked stays
    if (!isFilled)
      kinds.replaceChildren(make("legend", {}, text("export.film_and_sound")), ...store.film.makes.map(kindRow));
    sound.fill();
    showSound();
    for (const card of [...result.children])
      if (["done", "failed", "stopped"].includes(card.dataset.state)) card.remove();
    dialog.showModal();
    needs.querySelector("input:checked").focus();
    dialog.querySelector(".dialog-body").scrollTop = 0;
  };
}

/** Registers the command. */
export function start() {
  register({
    name: "export", title: text("command.export"), group: "work", keys: { list: ["x"], any: ["Alt+X"] },
    run: exportDialog(),
  });
  showKey(document.querySelector("#top [data-command=export]"));
}
