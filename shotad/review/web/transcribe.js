/** Transcribing the dialogue of a film without subtitles: its words then stand between the lines. */

import { commandButton, register } from "./commands.js";
import { isAtWork, startJob } from "./jobs.js";
import { transcriptOffer } from "./list.js";
import { say } from "./say.js";
import { store, subscribe } from "./store.js";
import { pluralize } from "./wording.js";

/** Starts to transcribe, or says why that cannot be done. */
async function transcribe() {
  const { wordless, missing } = store.film?.transcript ?? { wordless: 0, missing: "" };
  if (isAtWork("transcribe")) say("The dialogue is being transcribed already.");
  else if (!wordless) say("Nothing to transcribe: all dialogue has words already, or nobody speaks.");
  else if (missing) say(`${missing}. Then start shotad review again.`);
  else {
    await startJob({ kind: "transcribe" });
    say(`Transcribing begun, ${pluralize(wordless, "place")}. You can go on working; the words will stand between the lines.`);
  }
}

/** Registers the command, and offers it in the script where it can be done. */
export function start() {
  register({ name: "transcribe", title: "Transcribe the dialogue", group: "Work", run: transcribe });
  const button = commandButton("transcribe", "Transcribe the dialogue");
  transcriptOffer.append(button);
  const showOffer = () => {
    const { wordless = 0, missing = "" } = store.film?.transcript ?? {};
    button.hidden = !wordless || Boolean(missing);
    button.setAttribute("aria-disabled", String(isAtWork("transcribe"))); // not hidden: it may have the focus
  };
  for (const topic of ["film", "job"]) subscribe(topic, showOffer);
}
