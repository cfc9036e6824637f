/** Elements and dialogs, made without a line of markup in a string. */

import { keepFocus } from "./commands.js";

/**
 * Makes an element. Properties that the DOM knows are set as such, all others as attributes; text only as text.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node|string|null)} children
 * @returns {any}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties))
    if (name in element && !name.startsWith("aria") && name !== "list") element[name] = value;
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  element.append(...children.filter((child) => child !== null));
  return element;
}

/**
 * Makes a dialog with a heading and a button that closes it. Escape closes it, the focus goes back to where it was.
 *
 * @param {string} id
 * @param {string} heading
 * @param {...Node} children
 * @returns {HTMLDialogElement & {show: () => void}}
 */
export function dialog(id, heading, ...children) {
  const close = make("button", { type: "button", className: "close" }, "Close");
  const title = make("h2", { id: `${id}-heading`, tabIndex: -1 }, heading);
  const body = make("div", { className: "dialog-body" }, ...children);
  const made = make("dialog", { id, "aria-labelledby": title.id }, make("header", { role: "presentation" }, title, close), body);
  close.addEventListener("click", () => made.close());
  made.addEventListener("close", () => setTimeout(keepFocus));
  document.body.append(made);
  return made;
}

/** A field with its label. */
export function field(label, input) {
  return make("label", { className: "field" }, make("span", {}, label), input);
}
