/** What happened, said to everybody: in the status line, which screen readers speak. */

const GATHER = 80; // ms: what is said within this time is one message
/** @type {{text: string, about: string}[]} */
let messages = [];
let timer = 0;

/**
 * @param {"status"|"alert"} id
 * @param {string} text
 */
function show(id, text) {
  const element = document.getElementById(id);
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
  messages = messages.filter((message) => message.about !== about);
  messages.push({ text, about });
  clearTimeout(timer);
  timer = setTimeout(() => {
    show("status", messages.map((message) => message.text).join(" "));
    show("alert", "");
    messages = [];
  }, GATHER);
}

/**
 * Takes back what is not so any more, where it is still shown.
 *
 * @param {string} text
 */
export function unsay(text) {
  messages = messages.filter((message) => message.text !== text);
  const status = document.getElementById("status");
  if (status?.textContent.trim() === text) status.textContent = "";
}

/** Forgets what was said: Chromium has it read again when the dialog closes that lay over it (heard with Orca). */
export function forgetSaid() {
  show("status", "");
}

/**
 * Says at once, over everything else: only for what went wrong.
 *
 * @param {string} text One or two sentences.
 */
export function alert(text) {
  clearTimeout(timer);
  messages = [];
  show("status", "");
  show("alert", text);
}
