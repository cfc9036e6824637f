/** Export: what is needed first; below it the script in every format, and all that can be spoken. */

import { make } from "./build.js";
import { register, runCommand, showKey } from "./commands.js";
import { checkedValue, disabledWhile, makeDialog } from "./dialogs.js";
import { jobCard, startJob } from "./jobs.js";
import { hasFinding } from "./list.js";
import { store } from "./store.js";

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
    name: "colleague", title: "A script for a colleague", formats: ["docx"],
    about: "Word, with pictures, the dialogue, and empty slots to write in",
  },
  {
    name: "film", title: "The film with description", makes: ["film"],
    about: "The lines are spoken and mixed, as an additional sound track",
  },
  {
    name: "broadcast", title: "For broadcast", formats: ["dapt"], makes: ["ad:wav"], profile: "ebu-r128",
    about: "The script as DAPT, the description as WAV, at the loudness of EBU R 128",
  },
  {
    name: "server", title: "For a media server", makes: ["sidecar"],
    about: "A sound file beside the film, named as Jellyfin finds it",
  },
  {
    name: "editor", title: "For an editor", formats: ["edl", "fcpxml"],
    about: "Markers as EDL and FCPXML, for DaVinci Resolve, Avid and Final Cut Pro",
  },
  { name: "subtitles", title: "A subtitle file", formats: ["srt", "vtt"], about: "SRT and WebVTT" },
];

const PROFILES = [
  ["", "Default for this film"],
  ["source", "Match the film's loudness"],
  ["ebu-r128", "Broadcast in Europe (EBU R 128)"],
  ["atsc-a85", "Broadcast in America (ATSC A/85)"],
  ["netflix", "Streaming (Netflix)"],
  ["web", "The web"],
];

const isOrAre = (number) => (number === 1 ? "line is" : "lines are");

/** What has to be known before anything is given out: lines nobody accepted, and findings. */
function warningParts() {
  const { lines: total, accepted } = store.film.progress;
  const warning = (text) => make("p", { className: "warning" }, text);
  const parts = [];
  const open = total - accepted;
  if (open > 0) {
    const words = `${open} of ${total} ${isOrAre(total)} not accepted yet.`;
    parts.push(
      warning(`${words} You may export all the same: the script says what was reviewed.`),
      leaveButton("next-open", "Go to the next line that is not accepted"),
    );
  } else if (total) parts.push(make("p", { className: "good" }, total === 1 ? "The only line is accepted." : `All ${total} lines are accepted.`));
  const withFindings = [...store.lines.values()].filter((line) => line.heard && hasFinding(line));
  if (withFindings.length) {
    const hasError = (line) => line.findings.some((finding) => finding.level === "error");
    const errors = withFindings.filter(hasError).length;
    const lines = `${withFindings.length} ${withFindings.length === 1 ? "line" : "lines"}`;
    const errorText = errors ? `, ${errors} of them must be put right` : "";
    const className = errors ? "warning" : "";
    parts.push(
      make("p", { className }, `The guidelines have something to say about ${lines}${errorText}.`),
      leaveButton("next-finding", "Go to the next of them"),
    );
  }
  if (!total) parts.push(warning("There is no line that is heard."));
  if (!store.film.reviewer) {
    const words = "Nobody is named as the reviewer; lines that are accepted from now on can carry your name.";
    parts.push(make("p", {}, words), leaveButton("reviewer", "Say who reviews"));
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
  return store.film.formats.map(({ name, title }) => {
    const box = make("input", { type: "checkbox", name: "format", value: name, checked: tickedNames.includes(name) });
    return make("label", { className: "choice" }, box, ` ${title}`);
  });
}

/** The ending of a kind of file: that of the film where it can be, else the first. */
function endingOf({ endings }) {
  const filmEnding = store.film.film.name.split(".").at(-1).toLowerCase();
  return endings.includes(filmEnding) ? filmEnding : endings[0];
}

/** A kind of file that can be made, with its endings. */
function kindRow(kind) {
  const title = `${kind.title[0].toUpperCase()}${kind.title.slice(1)}`;
  const box = make("input", { type: "checkbox", name: "make", value: kind.kind, checked: kind.kind === TICKED_KIND });
  const options = kind.endings.map((ending) =>
    make("option", { value: ending, selected: ending === endingOf(kind) }, ending.toUpperCase()),
  );
  const select = make("select", { "aria-label": `File of: ${kind.title}` }, ...options);
  select.addEventListener("change", () => (box.checked = true));
  return make("div", { className: "make" }, make("label", { className: "choice" }, box, ` ${title}`), select);
}

function voiceOptions() {
  const { name: filmVoice, choices } = store.film.voice;
  return choices.map(({ name, title, speaks, why: reason }) => {
    const isMissing = speaks === false;
    const text = isMissing ? `${title} (${reason || "not installed"})` : title;
    return make("option", { value: name, selected: name === filmVoice, disabled: isMissing }, text);
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
    make("legend", {}, "Voice and loudness"),
    choice(subtitles, "Speak the film's forced subtitles too, by a second voice (foreign dialogue)"),
    choice(extended, "Let the film pause for lines that do not fit (extended description)"),
    row("Voice", voice),
    row("Loudness", profile));
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
  const exportButton = make("button", { type: "submit", className: "primary" }, "Export");
  const sound = soundFields();
  // The button comes last: Enter presses it from every field before it.
  const needForm = make("form", {}, needs, sound.element, buttonRow(exportButton, "buttons stays"));
  const formats = make("fieldset", { className: "choices" });
  const writeButton = make("button", { type: "submit" }, "Write the scripts");
  const formatForm = make("form", {}, formats, buttonRow(writeButton));
  const kinds = make("fieldset");
  const renderButton = make("button", { type: "submit" }, "Speak and make the files");
  const kindForm = make("form", {}, kinds, buttonRow(renderButton));
  const everything = make("details", { className: "all-formats" }, make("summary", {}, "All formats"), formatForm, kindForm);
  const result = make("div", { className: "result" });
  const dialog = makeDialog("export-dialog", "Export", warnings, needForm, everything, result);
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
        dialog.announce("Begun. You may close this and go on working.");
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
      dialog.announce("Choose a format first.", true);
      formats.querySelector("input")?.focus();
      return;
    }
    startJobs(writeButton, { kind: "export", formats: tickedFormats });
  });

  kindForm.addEventListener("submit", (event) => {
    event.preventDefault();
    const rows = [...kinds.querySelectorAll(".make")].filter((row) => row.querySelector("input").checked);
    if (!rows.length) {
      dialog.announce("Choose what to make first.", true);
      kinds.querySelector("input")?.focus();
      return;
    }
    const makes = rows.map((row) => `${row.querySelector("input").value}:${row.querySelector("select").value}`);
    startJobs(renderButton, sound.renderOrder(makes));
  });

  return () => {
    warnings.replaceChildren(...warningParts());
    needs.replaceChildren(make("legend", {}, "What do you need?"), ...needBoxes(needName));
    formats.replaceChildren(make("legend", {}, "Script"), ...formatBoxes(tickedFormats));
    const isFilled = kinds.children.length > 0; // what was ticked stays
    if (!isFilled) kinds.replaceChildren(make("legend", {}, "Film and sound"), ...store.film.makes.map(kindRow));
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
    name: "export", title: "Export: scripts, film and sound", group: "Work", keys: { list: ["x"], any: ["Alt+X"] },
    run: exportDialog(),
  });
  showKey(document.querySelector("#top [data-command=export]"));
}
