/** F6 goes from region to region of the page; after the last one it is the browser's again. */

import { register } from "./commands.js";
import { select, store } from "./store.js";

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
  const [film, foot] = [document.getElementById("film"), document.getElementById("foot")];
  const stickyHeight = (element) =>
    getComputedStyle(element).position === "sticky" ? `${element.offsetHeight + 8}px` : "";
  const clear = () => {
    document.documentElement.style.scrollPaddingBlockStart = stickyHeight(film);
    document.documentElement.style.scrollPaddingBlockEnd = stickyHeight(foot);
    uncoverTools(foot);
  };
  const observer = new ResizeObserver(clear);
  for (const element of [film, foot]) observer.observe(element);
  addEventListener("resize", clear);
}

/** Registers the commands. */
export function start() {
  keepClear();
  register({
    name: "next-region", title: "Next region: film, script, time line", group: "Move", keys: { any: ["F6"] },
    when: () => focusedRegion() < LAST, run: enterNext,
  });
  register({
    name: "previous-region", title: "Previous region", group: "Move", keys: { any: ["Shift+F6"] },
    when: () => focusedRegion() !== 0, run: enterPrevious,
  });
}
