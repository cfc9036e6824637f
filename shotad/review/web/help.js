/** Help: every command by group, with its keys and a button that does it; and the settings. */

import { make } from "./build.js";
import { allCommands, GROUPS, keyLabel, register, runCommand } from "./commands.js";
import { makeDialog } from "./dialogs.js";
import { changeSettings, settings } from "./settings.js";

const PLACES = { list: "in the list", edit: "in the text field", any: "anywhere" };

/** @param {import("./commands.js").Command} command */
function keysCell(command) {
  const cell = make("td", {});
  for (const [place, placeWords] of Object.entries(PLACES)) {
    const keys = command.keys[place];
    for (const [i, key] of keys.entries()) {
      const separator = i ? " or " : cell.childNodes.length ? "; " : "";
      cell.append(separator, make("kbd", {}, keyLabel(key)));
    }
    if (keys.length && place !== "list") cell.append(` ${placeWords}`);
  }
  if (!cell.childNodes.length) cell.append(make("span", { className: "none" }, "no key"));
  return cell;
}

/** One group of commands, as a table under its heading. */
function section(group, commands, close) {
  const id = `help-${group.toLowerCase().replaceAll(" ", "-")}`;
  const body = make("tbody", {});
  for (const command of commands) {
    const button = make("button", { type: "button", className: "plain" }, command.title);
    button.addEventListener("click", () => {
      close();
      setTimeout(() => runCommand(command.name)); // when the focus is back where it was
    });
    body.append(make("tr", {}, make("th", { scope: "row" }, button), keysCell(command)));
  }
  const columns = ["What", "Keys"].map((title) => make("th", { scope: "col" }, title));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...columns)), body);
  return make("section", { "aria-labelledby": id }, make("h3", { id }, group), table);
}

/** Keys that act in the list unless it says otherwise: said once. */
const RULES = [
  "Keys act while the focus is in the list of lines, unless it says otherwise. They can be switched off in the settings.",
  "Tab goes through the buttons and fields; every command is also a button here.",
  "Every change is saved at once, and can be undone, also after the page was closed.",
];

/** @returns {() => void} Opens the dialog. */
function helpDialog() {
  const body = make("div", {});
  const dialog = makeDialog("help", "Help and keys", body);
  return () => {
    const rules = make("ul", { className: "rules" }, ...RULES.map((rule) => make("li", {}, rule)));
    const groups = make("div", { className: "groups" });
    for (const group of GROUPS) {
      const commands = allCommands().filter((command) => command.group === group);
      groups.append(section(group, commands, () => dialog.close()));
    }
    body.replaceChildren(rules, groups);
    dialog.showModal();
    dialog.querySelector(".dialog-body").scrollTop = 0;
  };
}

/** A box to tick for one setting. */
function settingBox(name, title, hintText) {
  const input = make("input", { type: "checkbox", checked: settings[name], id: `setting-${name}` });
  const hint = make("p", { className: "hint", id: `setting-${name}-hint` }, hintText);
  input.setAttribute("aria-describedby", hint.id);
  input.addEventListener("change", () => changeSettings({ [name]: input.checked }));
  return make("div", { className: "setting" }, make("label", {}, input, ` ${title}`), hint);
}

/** @returns {() => void} Opens the dialog. */
function settingsDialog() {
  const hint =
    "Letters, digits and signs act while the focus is in the list. " +
    "Switch them off if you speak to your computer, or press keys by accident.";
  const dialog = makeDialog("settings", "Settings", settingBox("singleKeys", "Keys of one character", hint));
  return () => dialog.showModal();
}

/** Registers help and settings. */
export function start() {
  const keys = { list: ["?"], any: ["Ctrl+F1"] };
  register({ name: "help", title: "Help and keys", group: "Page", keys, run: helpDialog() });
  register({ name: "settings", title: "Settings", group: "Page", run: settingsDialog() });
}
