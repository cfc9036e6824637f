/** What happened, said to everybody: in the status line, which screen readers speak. */

const GATHER = 80; // ms: what is said within this time is one message
/** @type {{text: string, about: string}[]} */
let waiting = [];
let timer = 0;

/**
 * @param {HTMLElement | null} element
 * @param {string} text
 */
function put(element, text) {
  if (!element) return;
  // The same words again are spoken again only where the text differs.
  element.textContent = text && element.textContent === text ? `${text}\u00a0` : text;
}

/**
 * Says politely: after what the screen reader speaks now.
 *
 * @param {string} text One sentence.
 * @param {string} [about] Of two sentences about the same matter only the later one is said.
 */
export function say(text, about = text) {
  if (!text) return;
  waiting = waiting.filter((one) => one.about !== about);
  waiting.push({ text, about });
  clearTimeout(timer);
  timer = setTimeout(() => {
    put(document.getElementById("status"), waiting.map((one) => one.text).join(" "));
    put(document.getElementById("alert"), "");
    waiting = [];
  }, GATHER);
}

/**
 * Takes back what is not so any more, where it is still shown.
 *
 * @param {string} text
 */
export function unsay(text) {
  waiting = waiting.filter((one) => one.text !== text);
  const status = document.getElementById("status");
  if (status?.textContent.trim() === text) status.textContent = "";
}

/**
 * Says at once, over everything else: only for what went wrong.
 *
 * @param {string} text One or two sentences.
 */
export function alert(text) {
  clearTimeout(timer);
  waiting = [];
  put(document.getElementById("status"), "");
  put(document.getElementById("alert"), text);
}
