/** Menus: a button that opens a short list of commands, each with its key. */

import { make } from "./build.js";
import { all, keysOf, register, run } from "./commands.js";
import { store } from "./store.js";

/** Pixels between a menu and the edge of the window. */
const EDGE = 8;

/**
 * Makes the menu of a button. Escape and a click elsewhere close it; arrow keys go through its commands.
 *
 * @param {string} id
 * @param {string} label  How the menu is called.
 * @param {(string[])[]} groups  Names of commands, in groups that a line parts.
 * @param {(name: string) => boolean} [offers]  Whether a command can be done now; others are left out.
 * @returns {{toggle: (button: HTMLElement) => void}}
 */
export function menu(id, label, groups, offers = () => true) {
  const list = make("div", { role: "menu", "aria-label": label });
  const popover = make("div", { id, className: "menu", popover: "auto" }, list);
  document.body.append(popover);
  /** @type {HTMLElement|null} */
  let opener = null;

  const item = (command) => {
    const key = keysOf(command)[0] ?? "";
    const entry = make("button", { type: "button", role: "menuitem", tabIndex: -1 },
      make("span", {}, command.title), make("kbd", { "aria-hidden": "true", hidden: !key }, key));
    entry.addEventListener("click", () => {
      popover.hidePopover();
      run(command.name);
    });
    return entry;
  };

  const fill = () => {
    const commands = new Map(all().map((command) => [command.name, command]));
    list.replaceChildren();
    for (const names of groups) {
      const entries = names.filter((name) => commands.has(name) && offers(name)).map((name) => item(commands.get(name)));
      if (entries.length && list.childElementCount) list.append(make("hr"));
      list.append(...entries);
    }
  };

  /** Below the button, or above it where there is more space; never outside of the window. */
  const place = () => {
    const button = opener.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = popover;
    const left = Math.min(Math.max(EDGE, button.right - width), innerWidth - width - EDGE);
    const isLow = button.bottom + height + EDGE > innerHeight;
    const top = isLow ? Math.max(EDGE, button.top - height - 4) : button.bottom + 4;
    popover.style.left = `${Math.max(EDGE, left)}px`;
    popover.style.top = `${top}px`;
  };

  const entries = () => [...list.querySelectorAll("button")];
  list.addEventListener("keydown", (event) => {
    const at = entries().indexOf(document.activeElement);
    const last = entries().length - 1;
    const to = { ArrowDown: at + 1 > last ? 0 : at + 1, ArrowUp: at - 1 < 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (event.key === "Tab") popover.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    entries()[to]?.focus();
  });
  popover.addEventListener("toggle", (event) => {
    opener?.setAttribute("aria-expanded", String(event.newState === "open"));
    if (event.newState !== "open") return;
    place();
    entries()[0]?.focus();
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

const PAGE = [
  ["import", "find-replace", "shift-from-here", "slots", "cast", "transcribe"],
  ["zoom-in", "zoom-out", "zoom-all", "zoom-line", "where-am-i", "dialogue-here"],
  ["go-to", "reviewer", "settings", "help"],
];

/** Dialogue is transcribed where it lacks words; everything else can always be done. */
const canDo = (name) => name !== "transcribe" || Boolean(store.film?.transcript?.wordless);

/** Registers the page's own menu. */
export function start() {
  const pageMenu = menu("page-menu", "Menu", PAGE, canDo);
  register({ name: "menu", title: "Menu", group: "Page", keys: { any: ["F10"] }, run: () => pageMenu.toggle(document.getElementById("menu-button")) });
}
