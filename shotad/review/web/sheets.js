/** What the dialogs of the work have in common: a live region of their own, faults, radios. */

import { dialog, make } from "./build.js";

/**
 * Makes a dialog with a place that speaks: the page behind a modal dialog is silent.
 *
 * @param {string} id
 * @param {string} heading
 * @param {...Node} children
 * @returns {HTMLDialogElement & {tell: (text: string, bad?: boolean) => void}}
 */
export function sheet(id, heading, ...children) {
  const told = make("p", { className: "told", role: "status" });
  told.dataset.told = "";
  const made = dialog(id, heading, ...children, told);
  made.tell = (text, bad = false) => {
    told.classList.toggle("fault", bad);
    told.textContent = text;
  };
  made.addEventListener("close", () => made.tell(""));
  return made;
}

/**
 * Fields of which one is chosen.
 *
 * @param {string} legend
 * @param {string} name
 * @param {[string, string][]} choices Values and labels.
 * @param {string} value
 */
export function radios(legend, name, choices, value) {
  const rows = choices.map(([key, label]) =>
    make("label", { className: "choice" }, make("input", { type: "radio", name, value: key, checked: key === value }), ` ${label}`),
  );
  return make("fieldset", {}, make("legend", {}, legend), ...rows);
}

/** @param {HTMLElement} form @param {string} name */
export const picked = (form, name) => form.querySelector(`input[name="${name}"]:checked`)?.value ?? "";

/**
 * While `work` runs, the button cannot be pressed again; its focus stays.
 *
 * @param {HTMLElement} button
 * @param {() => Promise<any>} work
 */
export async function once(button, work) {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  try {
    await work();
  } finally {
    button.removeAttribute("aria-disabled");
  }
}
