/** How a word of the text is spoken: "Siobhan" as "shiv-awn", heard at once and kept for the film. */

import { get, post } from "./api.js";
import { labelled, make } from "./build.js";
import { register, runCommand } from "./commands.js";
import { disabledWhile, makeDialog } from "./dialogs.js";
import { say } from "./say.js";
import { sentence } from "./sentences.js";
import { chosenLine, settled } from "./store.js";
import { text } from "./texts.js";

/** The word that is selected in the text, or in which the cursor stands; else nothing. */
function selectedWord() {
  const field = document.getElementById("line-text");
  if (!field) return "";
  const { value: written, selectionStart: from, selectionEnd: to } = field;
  if (from !== to) return written.slice(from, to).trim();
  const before = /[\p{L}\p{N}'’-]*$/u.exec(written.slice(0, from))[0];
  const after = /^[\p{L}\p{N}'’-]*/u.exec(written.slice(from))[0];
  return before + after;
}

/** @returns {() => Promise<void>} Opens the dialog. */
function sayAsDialog() {
  const input = { type: "text", maxLength: 200, autocomplete: "off", spellcheck: false };
  const word = make("input", { ...input, id: "say-word", required: true });
  const saying = make("input", { ...input, id: "say-saying" });
  const keep = make("button", { type: "submit", className: "primary" }, text("say_as.keep"));
  const hint = text("say_as.hint");
  const form = make("form", {}, labelled(text("say_as.word"), word), labelled(text("say_as.saying"), saying),
    make("p", { className: "hint" }, hint), make("div", { className: "buttons" }, keep));
  const list = make("ul", { className: "sayings" });
  const keptTitle = text("say_as.kept");
  const kept = make("section", { "aria-label": keptTitle }, make("h3", {}, keptTitle), list);
  const dialog = makeDialog("say-as-dialog", text("say_as.heading"), form, kept);

  /** @param {{word: string, saying: string, own: boolean}} entry own: kept for this film, not by the cast. */
  const itemOf = (entry) => {
    const remove = make(
      "button",
      { type: "button", hidden: !entry.own, "aria-label": text("say_as.remove_word", { word: entry.word }) },
      text("say_as.remove"),
    );
    remove.addEventListener("click", () => send(remove, entry.word, ""));
    const words = entry.own ? text("say_as.entry", entry) : text("say_as.entry_cast", entry);
    return make("li", {}, `${words} `, remove);
  };
  const refresh = async () => {
    const { sayings } = await get("/api/sayings");
    const same = sayings.find((entry) => entry.word === word.value);
    if (same && !saying.value) saying.value = same.saying;
    const items = sayings.map(itemOf);
    list.replaceChildren(...(items.length ? items : [make("li", {}, text("say_as.nothing"))]));
  };
  /** Sends a saying; whether it was kept. */
  const send = async (button, wordText, sayingText) => {
    let isKept = false;
    await disabledWhile(button, async () => {
      try {
        const answer = await post("/api/sayings", { word: wordText, saying: sayingText });
        isKept = true;
        await refresh();
        dialog.announce(sentence(answer.said));
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
    say(text("say_as.said", { word: word.value, saying: saying.value || word.value }));
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
  const title = text("command.say_as");
  register({ name: "say-as", title, group: "edit", keys: { any: ["Alt+Y"] }, run: sayAsDialog() });
}
