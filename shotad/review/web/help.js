/** Help: every command by group, with its keys and a button that does it; and the settings. */

import { make } from "./build.js";
import { allCommands, GROUPS, keyLabel, register, runCommand } from "./commands.js";
import { makeDialog } from "./dialogs.js";
import { changeSettings, settings } from "./settings.js";
import { alternatives, chooseLanguage, LANGUAGES, languageName, text } from "./texts.js";

/** Where keys act, in the order in which the help lists them; of those of the list the rules say so. */
const PLACES = {
  list: "",
  edit: text("help.in_text"),
  any: text("help.anywhere"),
};

/** @param {import("./commands.js").Command} command */
function keysCell(command) {
  const cell = make("td", {});
  for (const [place, placeWords] of Object.entries(PLACES)) {
    const keys = command.keys[place];
    if (keys.length && cell.childNodes.length) cell.append("; ");
    for (const { type, value } of alternatives(keys.map(keyLabel)))
      cell.append(type === "element" ? make("kbd", {}, value) : value);
    if (keys.length && placeWords) cell.append(` ${placeWords}`);
  }
  if (!cell.childNodes.length) cell.append(make("span", { className: "none" }, text("help.no_key")));
  return cell;
}

/** One group of commands, as a table under its heading. */
function section(group, commands, close) {
  const id = `help-${group}`;
  const body = make("tbody", {});
  for (const command of commands) {
    const button = make("button", { type: "button", className: "plain" }, command.title);
    button.addEventListener("click", () => {
      close();
      setTimeout(() => runCommand(command.name)); // when the focus is back where it was
    });
    body.append(make("tr", {}, make("th", { scope: "row" }, button), keysCell(command)));
  }
  const columns = [text("help.what"), text("help.keys")].map((title) => make("th", { scope: "col" }, title));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...columns)), body);
  return make("section", { "aria-labelledby": id }, make("h3", { id }, GROUPS[group]), table);
}

/** Keys that act in the list unless it says otherwise: said once. */
const RULES = [
  text("help.rule_list"),
  text("help.rule_tab"),
  text("help.rule_saved"),
  text("help.rule_language"),
];

/** @returns {() => void} Opens the dialog. */
function helpDialog() {
  const body = make("div", {});
  const dialog = makeDialog("help", text("help.heading"), body);
  return () => {
    const rules = make("ul", { className: "rules" }, ...RULES.map((rule) => make("li", {}, rule)));
    const groups = make("div", { className: "groups" });
    for (const group of Object.keys(GROUPS)) {
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

/** The choice of the language of the page, each called by its own name. */
function languageChoice() {
  const options = LANGUAGES.map((tag) => make("option", { value: tag, lang: tag }, languageName(tag, tag)));
  const automatic = make("option", { value: "" }, text("settings.language_auto"));
  const select = make(
    "select",
    { id: "setting-language", "aria-describedby": "setting-language-hint" },
    automatic,
    ...options,
  );
  select.value = settings.language;
  select.addEventListener("change", () => chooseLanguage(select.value));
  const label = make("label", { htmlFor: select.id }, text("settings.language"), " ", select);
  const hint = make("p", { className: "hint", id: "setting-language-hint" }, text("settings.language_hint"));
  return make("div", { className: "setting" }, label, hint);
}

/** @returns {() => void} Opens the dialog. */
function settingsDialog() {
  const hint = text("settings.keys_hint");
  const keysBox = settingBox("singleKeys", text("settings.keys"), hint);
  const dialog = makeDialog("settings", text("settings.heading"), languageChoice(), keysBox);
  return () => dialog.showModal();
}

/** Registers help and settings. */
export function start() {
  const keys = { list: ["?"], any: ["Ctrl+F1"] };
  register({ name: "help", title: text("command.help"), group: "page", keys, run: helpDialog() });
  register({ name: "settings", title: text("command.settings"), group: "page", run: settingsDialog() });
}
