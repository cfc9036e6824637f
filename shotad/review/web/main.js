/** Starts the page: the parts first, then the film, then the news. */

import { get, listen, tab } from "./api.js";
import * as ask from "./ask.js";
import * as banner from "./banner.js";
import * as cast from "./cast.js";
import * as commands from "./commands.js";
import * as conflict from "./conflict.js";
import * as detail from "./detail.js";
import * as everywhere from "./everywhere.js";
import * as exporting from "./export.js";
import * as header from "./header.js";
import * as help from "./help.js";
import * as importing from "./import.js";
import * as jobs from "./jobs.js";
import * as keys from "./keys.js";
import * as lineacts from "./lineacts.js";
import * as list from "./list.js";
import * as menu from "./menu.js";
import { waitingCount } from "./outbox.js";
import * as player from "./player.js";
import * as redo from "./redo.js";
import * as regions from "./regions.js";
import { alert, say } from "./say.js";
import * as sayas from "./sayas.js";
import * as search from "./search.js";
import { sentence } from "./sentences.js";
import * as slots from "./slots.js";
import * as store from "./store.js";
import { text } from "./texts.js";
import * as timeline from "./timeline.js";
import * as transcribe from "./transcribe.js";

/** In this order, since a button finds the hint of its command where that is registered before. */
const PARTS = {
  commands, keys, lineacts, list, search, header, help, regions, conflict, menu,
  player, timeline, jobs, redo, slots, cast, exporting, everywhere, sayas, importing, transcribe, ask, detail,
};

/** Starts the parts. One that fails does not take the others along. */
function startParts() {
  for (const [name, part] of Object.entries(PARTS))
    try {
      part.start();
    } catch (error) {
      console.error(name, error);
    }
}

/** Takes in what changed: by another tab, a job, a person who wrote into the file. */
function onChange(changed) {
  const isOurs = changed.origin === tab;
  // The answer to an act brings its change, and leads to its line, at once: news that come before would show one
  // without the other.
  if (isOurs && waitingCount()) return;
  store.applyChange(changed);
  // What a job of this page writes, the job itself says, once, at its end.
  const isOfJob = changed.origin === "job" || jobs.isWritingLines();
  if (!isOurs && changed.said && !isOfJob) say(text("page.changed_elsewhere", { change: sentence(changed.said) }));
}

/** Whether the page may be out of date: the server, or the way to it, was gone. */
let mayBeOutdated = false;

/** A connection begins: what was missed is fetched. */
function onHello({ revision, findings }) {
  const isOutdated = mayBeOutdated || revision !== store.store.revision || !store.holdsFindings(findings);
  if (isOutdated) fetchAgain();
  mayBeOutdated = false;
}

/** @returns {() => void} Tries to connect at once. */
function listenToServer() {
  const { retry } = listen({
    hello: onHello,
    change: onChange,
    findings: store.applyFindings,
    job: store.applyJob,
    playable: (playable) => store.emit("playable", (store.store.film.playable = playable)),
    heard: (levels) => store.emit("heard", levels),
    lengths: store.applyLengths,
    waveform: () => store.emit("waveform"),
    subtitles: ({ on }) => store.emit("subtitles", (store.store.film.voice.subtitles = on)),
    trouble: (trouble) => store.emit("trouble", trouble),
    film: fetchAgain,
    reviewer: ({ reviewer }) => store.emit("reviewer", (store.store.film.reviewer = reviewer)),
    open: () => store.setConnected(true),
    rested: () => (mayBeOutdated = true),
    lost() {
      mayBeOutdated = true;
      store.setConnected(false);
    },
    bye: () => say(text("server.stopped")),
  });
  return retry;
}

/** Fetches the film again. */
async function fetchAgain() {
  try {
    await store.flush(); // first what was done here, so that the film has it
    await store.reload();
  } catch (error) {
    alert(error.message);
  }
}

async function start() {
  startParts();
  let retry = () => {};
  banner.start(() => retry());
  try {
    const before = waitingCount();
    await store.flush(); // what this tab had not sent when it was loaded again
    store.load(await get("/api/film"));
    const count = before - waitingCount();
    if (count) say(text("page.saved_now", { count }));
  } catch (error) {
    alert(error.message);
    return;
  }
  retry = listenToServer();
  // The list of films has links to what can be made of one.
  if (location.hash === "#export") commands.runCommand("export");
}

start();
