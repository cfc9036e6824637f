/** Starts the page: the parts first, then the film, then the news. */

import { events, get, tab } from "./api.js";
import * as banner from "./banner.js";
import * as commands from "./commands.js";
import * as conflict from "./conflict.js";
import * as header from "./header.js";
import * as help from "./help.js";
import { writing } from "./jobs.js";
import * as keys from "./keys.js";
import * as lineacts from "./lineacts.js";
import * as list from "./list.js";
import * as menu from "./menu.js";
import { waiting } from "./outbox.js";
import * as regions from "./regions.js";
import { alert, say } from "./say.js";
import * as search from "./search.js";
import * as store from "./store.js";
import { count } from "./wording.js";

/** Parts that other modules give; each exports `start()`. One that fails does not take the others along. */
const PARTS = ["detail", "player", "timeline", "jobs", "redo", "slots", "cast", "export", "everywhere", "sayas", "import", "transcribe"];

/** @param {string} name */
async function part(name) {
  try {
    (await import(`./${name}.js`)).start();
  } catch (error) {
    console.error(name, error);
  }
}

/** News of what others did: another tab, a job, a person who wrote into the file. */
function change(changed) {
  const ours = changed.origin === tab;
  // The answer to it brings it, and leads to its line, at once: news that come before would show one without the other.
  if (ours && waiting()) return;
  store.apply(changed);
  // What a job of this page writes the job itself tells, once, at its end.
  if (!ours && changed.said && changed.origin !== "job" && !writing()) say(`Changed elsewhere: ${changed.said}`);
}

/** Whether what we hold may be old: the server, or the way to it, was gone. */
let doubt = false;

/** A connection begins: what was missed is fetched. */
function hello({ revision, findings }) {
  if (doubt || revision !== store.store.revision || !store.findingsAreOf(findings)) fresh();
  doubt = false;
}

function listen() {
  const { retry } = events({
    hello,
    change,
    findings: store.findings,
    job: store.job,
    playable: (news) => store.emit("playable", (store.store.film.playable = news)),
    heard: (news) => store.emit("heard", news),
    lengths: store.lengths,
    waveform: (news) => store.emit("waveform", news),
    trouble: (news) => store.emit("trouble", news),
    film: () => fresh(),
    reviewer: ({ reviewer }) => store.emit("reviewer", (store.store.film.reviewer = reviewer)),
    open: () => store.connection(true),
    rested: () => (doubt = true),
    lost() {
      doubt = true;
      store.connection(false);
    },
    bye: () => say("The server was stopped."),
  });
  return retry;
}

/** Fetches all again. */
async function fresh() {
  try {
    await store.flush(); // first what was done here, so that the film has it
    await store.reload();
  } catch (error) {
    alert(error.message);
  }
}

async function start() {
  for (const module of [commands, keys, lineacts, list, search, header, help, regions, conflict, menu]) module.start();
  await Promise.all(PARTS.map(part));
  let retry = () => {};
  banner.start(() => retry());
  try {
    const before = waiting();
    await store.flush(); // what this tab had not sent when it was loaded anew
    store.load(await get("/api/film"));
    const saved = before - waiting();
    if (saved) say(`${count(saved, "change")} that ${saved === 1 ? "was" : "were"} not saved before ${saved === 1 ? "is" : "are"} saved now.`);
  } catch (error) {
    alert(error.message);
    return;
  }
  retry = listen();
}

start();
