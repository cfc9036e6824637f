/** Elements, made without a line of markup in a string. */

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
 * Makes a field with its label around it.
 *
 * @param {string} label
 * @param {HTMLElement} input
 * @returns {HTMLLabelElement}
 */
export const labelled = (label, input) => make("label", { className: "field" }, make("span", {}, label), input);

/**
 * Sets text only where it differs: what is written again is spoken again, and drawn again.
 *
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
