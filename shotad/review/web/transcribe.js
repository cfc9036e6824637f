/** Transcribing the dialogue of a film without subtitles: its words then stand between the lines. */

import { commandButton, register } from "./commands.js";
import { isAtWork, startJob } from "./jobs.js";
import { transcriptOffer } from "./list.js";
import { say } from "./say.js";
import { store, subscribe } from "./store.js";
import { text } from "./texts.js";

/** Starts to transcribe, or says why that cannot be done. */
async function transcribe() {
  const { wordless, missing } = store.film?.transcript ?? { wordless: 0, missing: "" };
  if (isAtWork("transcribe")) say(text("transcribe.already"));
  else if (!wordless) say(text("transcribe.nothing"));
  else if (missing) say(text("transcribe.missing", { problem: missing }));
  else {
    await startJob({ kind: "transcribe" });
    say(text("transcribe.begun", { count: wordless }));
  }
}

/** Registers the command, and offers it in the script where it can be done. */
export function start() {
  register({ name: "transcribe", title: text("command.transcribe"), group: "work", run: transcribe });
  const button = commandButton("transcribe", text("command.transcribe"));
  transcriptOffer.append(button);
  const showOffer = () => {
    const { wordless = 0, missing = "" } = store.film?.transcript ?? {};
    button.hidden = !wordless || Boolean(missing);
    button.setAttribute("aria-disabled", String(isAtWork("transcribe"))); // not hidden: it may have the focus
  };
  for (const topic of ["film", "job"]) subscribe(topic, showOffer);
}
