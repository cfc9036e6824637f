/** The dialogs of the work: describing anew, slots, cast, export; and the region that shows what runs. */

import * as cast from "./cast.js";
import * as exporting from "./export.js";
import * as jobs from "./jobs.js";
import * as redo from "./redo.js";
import * as slots from "./slots.js";

export function start() {
  jobs.start();
  for (const part of [redo, slots, cast, exporting])
    try {
      part.start();
    } catch (error) {
      console.error("dialogs", error); // one that fails does not take the others along
    }
}
