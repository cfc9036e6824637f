/** What happened, said to everybody: in the status line, which screen readers speak. */

const GATHER = 80; // ms: what is said within this time is one message
let waiting = [];
let timer = 0;

/**
 * @param {HTMLElement | null} element
 * @param {string} text
 */
function put(element, text) {
  if (!element) return;
  // The same words again are spoken again only where the text differs.
  element.textContent = element.textContent === text ? `${text}\u00a0` : text;
}

/**
 * Says politely: after what the screen reader speaks now.
 *
 * @param {string} text One sentence.
 */
export function say(text) {
  if (!text || waiting.includes(text)) return;
  waiting.push(text);
  clearTimeout(timer);
  timer = setTimeout(() => {
    put(document.getElementById("status"), waiting.join(" "));
    put(document.getElementById("alert"), "");
    waiting = [];
  }, GATHER);
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
