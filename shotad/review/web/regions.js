/** F6 goes from region to region of the page; after the last one it is the browser's again. */

import { register } from "./commands.js";
import { select, store } from "./store.js";

const REGIONS = ["film", "lines", "time"];

/** @returns {number} Region with the focus; -1 for none of them. */
const here = () => REGIONS.findIndex((id) => document.getElementById(id)?.contains(document.activeElement));

/** @param {number} to */
function enter(to) {
  const id = REGIONS[to];
  if (id === "lines" && store.current) select(store.current, { focus: true });
  else document.getElementById(id)?.focus();
}

/** What sticks to an edge of the window never lies over what has the focus (WCAG 2.4.11), however high it grows. */
function keepClear() {
  const [film, foot] = [document.getElementById("film"), document.getElementById("foot")];
  const height = (element) => (getComputedStyle(element).position === "sticky" ? `${element.offsetHeight + 8}px` : "");
  const clear = () => {
    document.documentElement.style.scrollPaddingBlockStart = height(film);
    document.documentElement.style.scrollPaddingBlockEnd = height(foot);
  };
  const watching = new ResizeObserver(clear);
  for (const element of [film, foot]) watching.observe(element);
  addEventListener("resize", clear);
}

/** Registers the commands. */
export function start() {
  keepClear();
  const next = { any: ["F6"] };
  const previous = { any: ["Shift+F6"] };
  register({ name: "next-region", title: "Next region: film, script, time line", group: "Move", keys: next, when: () => here() < REGIONS.length - 1, run: () => enter((here() + 1) % REGIONS.length) });
  register({ name: "previous-region", title: "Previous region", group: "Move", keys: previous, when: () => here() !== 0, run: () => enter(here() < 0 ? REGIONS.length - 1 : Math.max(0, here() - 1)) });
}
