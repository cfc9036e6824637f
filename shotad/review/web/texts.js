/**
 * The texts of the page in the language of who reads it: `texts/LANGUAGE.json` holds all of them, by key.
 *
 * A text is a string with named places, "Line {number} of {total}"; or its plural forms by the categories of
 * `Intl.PluralRules`, chosen by the value `count`: {"one": "{count} line", "other": "{count} lines"}. Elements of the
 * HTML name theirs: `data-text` for the content, `data-label` for `aria-label`.
 *
 * A module that imports this one begins when the texts are there, so it may take texts into its constants.
 */

import { changeSettings, settings } from "./settings.js";

/** Languages that have a file of texts. */
export const LANGUAGES = ["de", "en", "es", "fr", "it", "pt"];
const DEFAULT_LANGUAGE = "en";

/** @typedef {string|Record<string, string>} Text  Plural forms by category where it is no string. */

/** The language of a tag that has texts: "de" for "de-AT"; undefined where none has. */
function languageOf(tag) {
  const [language] = tag.toLowerCase().split("-");
  return LANGUAGES.includes(language) ? language : undefined;
}

/**
 * The language of this visit: that of the address (`?lang=de`, also of a file that is not offered yet), else the chosen
 * one, else the first of the browser's that has texts.
 */
function wantedLanguage() {
  const inAddress = new URLSearchParams(location.search).get("lang") ?? "";
  if (/^[a-z]{2,3}$/u.test(inAddress)) return inAddress;
  const wanted = [settings.language, ...navigator.languages];
  return wanted.map(languageOf).find(Boolean) ?? DEFAULT_LANGUAGE;
}

/** @returns {Promise<Record<string, Text>>} Throws an Error that says which file, and why. */
async function fetchTexts(language) {
  const name = `texts/${language}.json`;
  const response = await fetch(new URL(name, import.meta.url), { credentials: "same-origin" });
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.json();
}

/** @type {Record<string, Text>} */
let texts = {};
/** Why texts are missing; it can only be said in English. */
let problem = "";
/** Tag of the language in which the page is shown. */
export let language = wantedLanguage();

try {
  texts = await fetchTexts(language);
} catch (error) {
  problem = `The texts of this page cannot be loaded (${error.message}). Load the page again.`;
  language = DEFAULT_LANGUAGE;
  texts = await fetchTexts(language).catch(() => ({}));
}

const plurals = new Intl.PluralRules(language);
/** Numbers as they are written in sentences: 1234, but 12,345. */
const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 3, useGrouping: "min2" });
/** What parts the digits of a number from its fraction: "." or ",". */
const DECIMAL_MARK = numbers.formatToParts(0.5).find(({ type }) => type === "decimal").value;

/**
 * @param {string} key
 * @returns {boolean} Whether the page has this text.
 */
export const hasText = (key) => Object.hasOwn(texts, key);

/**
 * @param {string} key
 * @param {Record<string, string|number>} [values]  By the names of its places. Numbers are written as the language
 *   does; `count` chooses the plural form.
 * @returns {string} The text in the language of the page; the key where there is none.
 */
export function text(key, values = {}) {
  const entry = texts[key] ?? key;
  const pattern = typeof entry === "string" ? entry : (entry[plurals.select(values.count)] ?? entry.other);
  return pattern.replace(/\{(\w+)\}/gu, (place, name) => {
    const value = values[name] ?? place;
    return typeof value === "number" ? numbers.format(value) : value;
  });
}

/**
 * @param {number} number
 * @param {number} digits  Exactly so many after the decimal mark.
 * @returns {string} "4.2", "4,2"
 */
export const decimal = (number, digits) =>
  number.toLocaleString(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: "min2",
  });

/**
 * @param {number} share  From 0 to 1.
 * @returns {string} "42%"
 */
export const percent = (share) => (Math.floor(share * 100) / 100).toLocaleString(language, { style: "percent" });

/**
 * @param {number} number
 * @param {string} unit  As `Intl.NumberFormat` calls it: "minute".
 * @param {Intl.NumberFormatOptions} [options]
 * @returns {string} "20.4 seconds"; with other `unitDisplay` "1.2 MB".
 */
export const withUnit = (number, unit, options = {}) =>
  number.toLocaleString(language, { style: "unit", unit, unitDisplay: "long", ...options });

/**
 * @param {string} written  A number or time with a point.
 * @returns {string} The same with the decimal mark of the language.
 */
export const withDecimalMark = (written) => written.replace(".", DECIMAL_MARK);

/**
 * @param {string[]} items
 * @returns {string} "a, b and c"
 */
export const listed = (items) => new Intl.ListFormat(language, { type: "conjunction" }).format(items);

/**
 * @param {string[]} items
 * @returns {{type: "element"|"literal", value: string}[]} The parts of "a or b"; the items are elements.
 */
export const alternatives = (items) => new Intl.ListFormat(language, { type: "disjunction" }).formatToParts(items);

/**
 * @param {string} tag
 * @param {string} [reader]  Tag of the language in which it is named.
 * @returns {string} "German", "Deutsch"
 */
export const languageName = (tag, reader = language) => new Intl.DisplayNames([reader], { type: "language" }).of(tag);

/** Shows the page in another language from now on: it is loaded again. */
export function chooseLanguage(tag) {
  changeSettings({ language: tag });
  const address = new URL(location.href);
  address.searchParams.delete("lang");
  if (address.href === location.href) location.reload();
  else location.assign(address);
}

/** Fills in the texts of the HTML, which is hidden until then. */
function fillPage() {
  const root = document.documentElement;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]"))
    element.setAttribute("aria-label", text(element.dataset.label));
  root.lang = language;
  root.classList.remove("untranslated");
  if (problem) document.getElementById("alert").textContent = problem;
}

fillPage();
