/** Where what opens beside a button stands: menus, and the panel of the player. */

/** Pixels between a popup and the edge of the window, and between it and its button. */
const EDGE = 8;
const BUTTON_GAP = 4;

/**
 * Puts a popup beside its button: on the side that is preferred, on the other one where there is no space, and always
 * within the window. Its style sheet gives it `position: fixed`, and at most the size of the window.
 *
 * @param {HTMLElement} popup  Open: it is measured.
 * @param {HTMLElement} opener
 * @param {"above"|"below"} [preferred]
 */
export function placeBeside(popup, opener, preferred = "below") {
  const button = opener.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = popup;
  const fromTop = { above: button.top - height - BUTTON_GAP, below: button.bottom + BUTTON_GAP };
  const [highest, lowest] = [EDGE, innerHeight - height - EDGE];
  const fits = (side) => fromTop[side] >= highest && fromTop[side] <= lowest;
  const other = preferred === "above" ? "below" : "above";
  const side = !fits(preferred) && fits(other) ? other : preferred;
  const rightmost = innerWidth - width - EDGE;
  const left = Math.max(EDGE, Math.min(button.right - width, rightmost));
  const top = Math.max(highest, Math.min(fromTop[side], lowest));
  popup.style.left = `${left}px`;
  popup.style.top = `${top}px`;
}

/**
 * Keeps a popup beside its button while the page is scrolled or the window changes its size.
 *
 * @param {() => boolean} isOpen
 * @param {() => void} place
 */
export function followOpener(isOpen, place) {
  const placeIfOpen = () => isOpen() && place();
  addEventListener("resize", placeIfOpen);
  // Scrolling does not bubble: the page and each list in it are heard while the event goes down.
  document.addEventListener("scroll", placeIfOpen, { passive: true, capture: true });
}
