/** Transcribing the dialogue of a film without subtitles: its words then stand between the lines. */

import { register } from "./commands.js";
import { isAtWork, startJob } from "./jobs.js";
import { say } from "./say.js";
import { store } from "./store.js";
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

/** Registers the command. */
export function start() {
  register({ name: "transcribe", title: "Transcribe the dialogue", group: "Work", run: transcribe });
}
