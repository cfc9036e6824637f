/** Help: every command by group, with its keys and a button that does it; and the settings. */

import { dialog, make } from "./build.js";
import { GROUPS, all, register, run, written } from "./commands.js";
import { set, settings } from "./settings.js";

const PLACES = { list: "in the list", edit: "in the text field", any: "anywhere" };

/** @param {import("./commands.js").Command} command */
function keysOf(command) {
  const cell = make("td", {});
  for (const [place, where] of Object.entries(PLACES)) {
    const keys = command.keys[place];
    keys.forEach((key, i) => cell.append(i ? " or " : cell.childNodes.length ? "; " : "", make("kbd", {}, written(key))));
    if (keys.length && place !== "list") cell.append(` ${where}`);
  }
  if (!cell.childNodes.length) cell.append(make("span", { className: "none" }, "no key"));
  return cell;
}

/** One group of commands, as a table under its heading. */
function section(group, commands, close) {
  const id = `help-${group.toLowerCase().replaceAll(" ", "-")}`;
  const body = make("tbody", {});
  for (const command of commands) {
    const does = make("button", { type: "button", className: "plain" }, command.title);
    does.addEventListener("click", () => {
      close();
      setTimeout(() => run(command.name)); // when the focus is back where it was
    });
    body.append(make("tr", {}, make("th", { scope: "row" }, does), keysOf(command)));
  }
  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "What"), make("th", { scope: "col" }, "Keys")));
  return make("section", { "aria-labelledby": id }, make("h3", { id }, group), make("table", {}, head, body));
}

/** Keys that act in the list unless told otherwise: said once. */
const RULES = [
  "Keys act while the focus is in the list of lines, unless it says otherwise. They can be switched off in the settings.",
  "Tab goes through the buttons and fields; every command is also a button here.",
  "Every change is saved at once, and can be undone, also after the page was closed.",
];

function helpDialog() {
  const body = make("div", {});
  const made = dialog("help", "Help and keys", body);
  return () => {
    const commands = all();
    const others = new Set(commands.map((one) => one.group).filter((group) => !GROUPS.includes(group)));
    const parts = [...GROUPS, ...others].map((group) => [group, commands.filter((one) => one.group === group)]);
    const rules = make("ul", { className: "rules" }, ...RULES.map((rule) => make("li", {}, rule)));
    const sections = parts.filter(([, some]) => some.length).map(([group, some]) => section(group, some, () => made.close()));
    body.replaceChildren(rules, make("div", { className: "groups" }, ...sections));
    made.showModal();
    made.querySelector("h2").focus(); // what is read first is what this is, not the button that closes it
    made.querySelector(".dialog-body").scrollTop = 0;
  };
}

/** A box to tick for one setting. */
function box(name, title, hint) {
  const input = make("input", { type: "checkbox", checked: settings[name], id: `setting-${name}` });
  input.setAttribute("aria-describedby", `setting-${name}-hint`);
  input.addEventListener("change", () => set({ [name]: input.checked }));
  return make("div", { className: "setting" }, make("label", {}, input, ` ${title}`), make("p", { className: "hint", id: `setting-${name}-hint` }, hint));
}

function settingsDialog() {
  const made = dialog(
    "settings",
    "Settings",
    box("singleKeys", "Keys of one character", "Letters, digits and signs act while the focus is in the list. Switch them off if you speak to your computer, or press keys by accident."),
  );
  return () => made.showModal();
}

/** Registers help and settings. */
export function start() {
  register({ name: "help", title: "Help and keys", group: "Page", keys: { list: ["?"], any: ["Ctrl+F1"] }, run: helpDialog() });
  register({ name: "settings", title: "Settings", group: "Page", run: settingsDialog() });
}
