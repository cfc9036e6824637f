/** Dialogs, and what their forms have in common. */

import { make } from "./build.js";
import { keepFocus } from "./commands.js";
import { forgetSaid } from "./say.js";
import { text } from "./texts.js";

/**
 * Whether a screen reader does not read the title of a dialog that opens. Firefox takes all that lies behind it out of
 * the accessibility tree, the element that had the focus too, and Orca 43 then reads nothing around the new focus
 * (orca/speech_generator.py, `_generateAncestors`). A group of the same name, entered from the button Close, is read.
 */
const IS_TITLE_UNREAD = CSS.supports("-moz-appearance", "none");

/**
 * Makes a dialog with a heading and a button that closes it. Escape closes it, the focus goes back to where it was.
 *
 * The page behind a modal dialog is silent, so a dialog has a place of its own that speaks: `announce`. What it shows
 * elsewhere is announced without being shown again.
 *
 * @param {string} id
 * @param {string} heading
 * @param {...Node} children
 * @returns {HTMLDialogElement & {announce: (text: string, isError?: boolean, isShown?: boolean) => void}}
 */
export function makeDialog(id, heading, ...children) {
  // Where it gets the focus first, Orca reads in Firefox nothing of the dialog but its name.
  const close = make(
    "button",
    { type: "button", "aria-label": text("dialog.close_named", { dialog: heading }) },
    text("dialog.close"),
  );
  const title = make("h2", { id: `${id}-heading` }, heading);
  const status = make("p", { className: "dialog-status", role: "status" });
  const header = make("header", { role: "presentation" }, title, close);
  const group = IS_TITLE_UNREAD ? { role: "group", "aria-labelledby": title.id } : {};
  const body = make("div", { className: "dialog-body", ...group }, ...children, status);
  const dialog = make("dialog", { id, "aria-labelledby": title.id }, header, body);
  dialog.announce = (words, isError = false, isShown = true) => {
    status.classList.toggle("fault", isError);
    status.classList.toggle("hidden", !isShown);
    status.textContent = words;
  };
  dialog.showModal = () => {
    forgetSaid();
    HTMLDialogElement.prototype.showModal.call(dialog);
  };
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.announce("");
    setTimeout(keepFocus);
  });
  document.body.append(dialog);
  return dialog;
}

/**
 * Fields of which one is chosen.
 *
 * @param {string} legend
 * @param {string} name
 * @param {[string, string][]} choices Values and labels.
 * @param {string} chosen Value of the one that is chosen at first.
 * @returns {HTMLFieldSetElement}
 */
export function radios(legend, name, choices, chosen) {
  const labels = choices.map(([value, label]) => {
    const input = make("input", { type: "radio", name, value, checked: value === chosen });
    return make("label", { className: "choice" }, input, ` ${label}`);
  });
  return make("fieldset", {}, make("legend", {}, legend), ...labels);
}

/**
 * @param {HTMLElement} form
 * @param {string} name Name of radio buttons.
 * @returns {string} Value of the chosen one; empty where there is none.
 */
export const checkedValue = (form, name) => form.querySelector(`input[name="${name}"]:checked`)?.value ?? "";

/**
 * Does some work; meanwhile its button cannot be pressed again, and keeps its focus.
 *
 * @param {HTMLElement} button
 * @param {() => Promise<any>} work
 */
export async function disabledWhile(button, work) {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  try {
    await work();
  } finally {
    button.removeAttribute("aria-disabled");
  }
}
