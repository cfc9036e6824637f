/** How a word of the text is spoken: "Siobhan" as "shiv-awn", heard at once and kept for the film. */

import { get, post } from "./api.js";
import { labelled, make } from "./build.js";
import { register, runCommand } from "./commands.js";
import { disabledWhile, makeDialog } from "./dialogs.js";
import { say } from "./say.js";
import { chosenLine, settled } from "./store.js";

/** The word that is selected in the text, or in which the cursor stands; else nothing. */
export function wordAt(text, from, to) {
  if (from !== to) return text.slice(from, to).trim();
  const before = /[\p{L}\p{N}'’-]*$/u.exec(text.slice(0, from))[0];
  const after = /^[\p{L}\p{N}'’-]*/u.exec(text.slice(from))[0];
  return before + after;
}

function selectedWord() {
  const text = document.getElementById("line-text");
  return text ? wordAt(text.value, text.selectionStart, text.selectionEnd) : "";
}

function build() {
  const word = make("input", { type: "text", id: "say-word", required: true, maxLength: 200, autocomplete: "off", spellcheck: false });
  const saying = make("input", { type: "text", id: "say-saying", maxLength: 200, autocomplete: "off", spellcheck: false });
  const keep = make("button", { type: "submit", className: "primary" }, "Keep and hear the line");
  const list = make("ul", { className: "sayings" });
  const form = make("form", {}, field("Word", word), field("Said as", saying),
    make("p", { className: "hint" }, "Write it as one would read it: shiv-awn, sin-TELL. Empty: as the voice says it."),
    make("div", { className: "buttons" }, keep));
  const own = make("section", { "aria-label": "Kept for this film" }, make("h3", {}, "Kept for this film"), list);
  const made = makeDialog("say-as-dialog", "Say as", form, own);

  const show = async () => {
    const { sayings } = await get("/api/sayings");
    const kept = sayings.find((one) => one.word === word.value);
    if (kept && !saying.value) saying.value = kept.saying;
    const rows = sayings.map((one) => {
      const remove = make("button", { type: "button", hidden: !one.own, "aria-label": `Remove ${one.word}` }, "Remove");
      remove.addEventListener("click", () => send(remove, one.word, ""));
      return make("li", {}, `${one.word}: ${one.saying}${one.own ? "" : " (from the cast)"} `, remove);
    });
    list.replaceChildren(...(rows.length ? rows : [make("li", {}, "Nothing yet.")]));
  };
  /** Sends a saying; whether it was kept. */
  const send = async (pressed, one, as) => {
    let isKept = false;
    await disabledWhile(pressed, async () => {
      try {
        const answer = await post("/api/sayings", { word: one, saying: as });
        isKept = true;
        await show();
        made.tell(answer.said);
      } catch (error) {
        made.tell(error.message, true);
      }
    });
    return isKept;
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!(await send(keep, word.value, saying.value))) return;
    made.close();
    say(`“${word.value}” is said as “${saying.value || word.value}” in this film.`);
    await settled();
    if (chosenLine()?.heard) await runCommand("hear");
  });

  return async () => {
    [word.value, saying.value] = [selectedWord(), ""];
    await show();
    made.showModal();
    (word.value ? saying : word).focus();
  };
}

export function start() {
  register({ name: "say-as", title: "Say a word of the text in another way", group: "Choose and edit", keys: { any: ["Alt+Y"] }, run: build() });
}
