/** Menus: a button that opens a short list of commands, each with its key. */

import { make } from "./build.js";
import { commandNamed, keyLabels, register, runCommand } from "./commands.js";
import { followOpener, placeBeside } from "./popups.js";
import { store } from "./store.js";
import { text } from "./texts.js";

/**
 * Makes the menu of a button. Escape and a click elsewhere close it; arrow keys go through its commands.
 *
 * @param {string} id
 * @param {string} label  How the menu is called.
 * @param {string[][]} groups  Names of commands, in groups that a line parts.
 * @param {(name: string) => boolean} [canDo]  Whether a command can be done now; others are left out.
 * @returns {{toggle: (button: HTMLElement) => void}}
 */
export function makeMenu(id, label, groups, canDo = () => true) {
  const list = make("div", { role: "menu", "aria-label": label });
  const popover = make("div", { id, className: "menu", popover: "auto" }, list);
  document.body.append(popover);
  /** @type {HTMLElement|null} */
  let opener = null;

  const itemOf = (command) => {
    const key = keyLabels(command)[0] ?? "";
    const title = make("span", {}, command.title);
    const keyHint = make("kbd", { "aria-hidden": "true", hidden: !key }, key);
    const item = make("button", { type: "button", role: "menuitem", tabIndex: -1 }, title, keyHint);
    item.addEventListener("click", () => {
      popover.hidePopover();
      runCommand(command.name);
    });
    return item;
  };
  const fill = () => {
    list.replaceChildren();
    for (const names of groups) {
      // Some commands are registered only in browsers that can do them.
      const commands = names.filter(canDo).map(commandNamed).filter(Boolean);
      if (commands.length && list.childElementCount) list.append(make("hr"));
      list.append(...commands.map(itemOf));
    }
  };

  const place = () => placeBeside(popover, opener);
  followOpener(() => popover.matches(":popover-open"), place);
  list.addEventListener("keydown", (event) => {
    if (event.key === "Tab") popover.hidePopover();
    const items = [...list.querySelectorAll("button")];
    const index = items.indexOf(document.activeElement);
    const last = items.length - 1;
    const next = index === last ? 0 : index + 1;
    const previous = index <= 0 ? last : index - 1;
    const target = { ArrowDown: next, ArrowUp: previous, Home: 0, End: last }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    items[target]?.focus();
  });
  popover.addEventListener("toggle", (event) => {
    opener?.setAttribute("aria-expanded", String(event.newState === "open"));
    if (event.newState !== "open") return;
    place();
    list.querySelector("button")?.focus();
  });
  return {
    toggle(button) {
      if (popover.matches(":popover-open")) return popover.hidePopover();
      opener = button;
      fill();
      return popover.showPopover();
    },
  };
}

const PAGE_MENU = [
  ["export", "import", "find-replace", "shift-from-here", "slots", "cast", "transcribe"],
  ["zoom-in", "zoom-out", "zoom-all", "zoom-line", "where-am-i", "dialogue-here", "ask"],
  ["go-to", "reviewer", "settings", "help"],
];

/** Dialogue is transcribed where it lacks words; everything else can always be done. */
const canDo = (name) => name !== "transcribe" || Boolean(store.film?.transcript?.wordless);

/** Registers the page's own menu. */
export function start() {
  const menu = makeMenu("page-menu", text("page.menu"), PAGE_MENU, canDo);
  const toggle = () => menu.toggle(document.getElementById("menu-button"));
  register({ name: "menu", title: text("command.menu"), group: "page", keys: { any: ["F10"] }, run: toggle });
}
