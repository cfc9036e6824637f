/** How a word of the text is spoken: "Siobhan" as "shiv-awn", heard at once and kept for the film. */

import { get, post } from "./api.js";
import { labelled, make } from "./build.js";
import { register, runCommand } from "./commands.js";
import { disabledWhile, makeDialog } from "./dialogs.js";
import { say } from "./say.js";
import { chosenLine, settled } from "./store.js";

/** The word that is selected in the text, or in which the cursor stands; else nothing. */
function selectedWord() {
  const field = document.getElementById("line-text");
  if (!field) return "";
  const { value: text, selectionStart: from, selectionEnd: to } = field;
  if (from !== to) return text.slice(from, to).trim();
  const before = /[\p{L}\p{N}'’-]*$/u.exec(text.slice(0, from))[0];
  const after = /^[\p{L}\p{N}'’-]*/u.exec(text.slice(from))[0];
  return before + after;
}

/** @returns {() => Promise<void>} Opens the dialog. */
function sayAsDialog() {
  const input = { type: "text", maxLength: 200, autocomplete: "off", spellcheck: false };
  const word = make("input", { ...input, id: "say-word", required: true });
  const saying = make("input", { ...input, id: "say-saying" });
  const keep = make("button", { type: "submit", className: "primary" }, "Keep and hear the line");
  const hint = "Write it as one would read it: shiv-awn, sin-TELL. Empty: as the voice says it.";
  const form = make("form", {}, labelled("Word", word), labelled("Said as", saying),
    make("p", { className: "hint" }, hint), make("div", { className: "buttons" }, keep));
  const list = make("ul", { className: "sayings" });
  const kept = make("section", { "aria-label": "Kept for this film" }, make("h3", {}, "Kept for this film"), list);
  const dialog = makeDialog("say-as-dialog", "Say as", form, kept);

  /** @param {{word: string, saying: string, own: boolean}} entry own: kept for this film, not by the cast. */
  const itemOf = (entry) => {
    const remove = make("button", { type: "button", hidden: !entry.own, "aria-label": `Remove ${entry.word}` }, "Remove");
    remove.addEventListener("click", () => send(remove, entry.word, ""));
    return make("li", {}, `${entry.word}: ${entry.saying}${entry.own ? "" : " (from the cast)"} `, remove);
  };
  const refresh = async () => {
    const { sayings } = await get("/api/sayings");
    const same = sayings.find((entry) => entry.word === word.value);
    if (same && !saying.value) saying.value = same.saying;
    const items = sayings.map(itemOf);
    list.replaceChildren(...(items.length ? items : [make("li", {}, "Nothing yet.")]));
  };
  /** Sends a saying; whether it was kept. */
  const send = async (button, wordText, sayingText) => {
    let isKept = false;
    await disabledWhile(button, async () => {
      try {
        const answer = await post("/api/sayings", { word: wordText, saying: sayingText });
        isKept = true;
        await refresh();
        dialog.announce(answer.said);
      } catch (error) {
        dialog.announce(error.message, true);
      }
    });
    return isKept;
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!(await send(keep, word.value, saying.value))) return;
    dialog.close();
    say(`“${word.value}” is said as “${saying.value || word.value}” in this film.`);
    await settled();
    if (chosenLine()?.heard) await runCommand("hear");
  });

  return async () => {
    [word.value, saying.value] = [selectedWord(), ""];
    await refresh();
    dialog.showModal();
    (word.value ? saying : word).focus();
  };
}

/** Registers the command. */
export function start() {
  const title = "Say a word of the text in another way";
  register({ name: "say-as", title, group: "Choose and edit", keys: { any: ["Alt+Y"] }, run: sayAsDialog() });
}
