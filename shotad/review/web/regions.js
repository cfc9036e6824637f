/** F6 goes from region to region of the page; after the last one it is the browser's again. */

import { register } from "./commands.js";
import { select, store } from "./store.js";
import { text } from "./texts.js";

const REGIONS = ["film", "lines", "time"];
const LAST = REGIONS.length - 1;

/** @returns {number} Index of the region with the focus; -1 for none of them. */
const focusedRegion = () => REGIONS.findIndex((id) => document.getElementById(id)?.contains(document.activeElement));

/** @param {number} index */
function enter(index) {
  const id = REGIONS[index];
  if (id === "lines" && store.current) select(store.current, { focus: true });
  else document.getElementById(id)?.focus();
}

/** From the last one, as by the button of the help page, to the first. */
const enterNext = () => enter((focusedRegion() + 1) % REGIONS.length);

function enterPrevious() {
  const index = focusedRegion();
  enter(index < 0 ? LAST : Math.max(0, index - 1));
}

/** Pixels between the buttons of the chosen line and what sticks below them. */
const TOOLS_GAP = 8;

/** Pixels between what has the focus and what sticks to an edge of the window. */
const STICKY_GAP = 8;

/** A message that sticks to the end of the window must not lie over the buttons of the chosen line. */
function uncoverTools(foot) {
  const tools = document.querySelector("#detail .d-tools");
  if (!tools || getComputedStyle(foot).position !== "sticky") return;
  const footTop = foot.getBoundingClientRect().top;
  const { top, bottom } = tools.getBoundingClientRect();
  if (top < innerHeight && bottom > footTop) scrollBy(0, bottom + TOOLS_GAP - footTop);
}

/** What sticks to an edge of the window never lies over what has the focus (WCAG 2.4.11), however high it grows. */
function keepClear() {
  const [film, find, foot] = ["film", "find", "foot"].map((id) => document.getElementById(id));
  const tools = document.querySelector("#top > .tools");
  const stickyHeight = (element) =>
    getComputedStyle(element).position === "sticky" ? `${element.offsetHeight + STICKY_GAP}px` : "";
  const clear = () => {
    const root = document.documentElement.style;
    root.scrollPaddingBlockStart = stickyHeight(film);
    const barHeight = getComputedStyle(tools).position === "fixed" ? tools.offsetHeight : 0;
    root.scrollPaddingBlockEnd = barHeight ? `${foot.offsetHeight + barHeight + STICKY_GAP}px` : stickyHeight(foot);
    root.setProperty("--film-height", `${film.offsetHeight}px`);
    root.setProperty("--find-height", `${find.offsetHeight}px`);
    uncoverTools(foot);
  };
  const observer = new ResizeObserver(clear);
  for (const element of [film, find, foot]) observer.observe(element);
  addEventListener("resize", clear);
}

/** Registers the commands. */
export function start() {
  keepClear();
  register({
    name: "next-region", title: text("command.next_region"), group: "move", keys: { any: ["F6"] },
    when: () => focusedRegion() < LAST, run: enterNext,
  });
  register({
    name: "previous-region", title: text("command.previous_region"), group: "move", keys: { any: ["Shift+F6"] },
    when: () => focusedRegion() !== 0, run: enterPrevious,
  });
}
