/** Starts the page: the parts first, then the film, then the news. */

import { events, get } from "./api.js";
import * as commands from "./commands.js";
import * as store from "./store.js";
import { alert, say } from "./say.js";

/** Parts that other modules give; each exports `start()`. */
const PARTS = ["detail", "player", "timeline", "dialogs"];

/** @param {string} name */
async function part(name) {
  try {
    (await import(`./${name}.js`)).start();
  } catch (error) {
    console.error(name, error);
  }
}

async function start() {
  commands.start();
  const film = get("/api/film");
  await Promise.all(PARTS.map(part));
  try {
    store.load(await film);
  } catch (error) {
    alert(error.message);
    return;
  }
  events({
    change: (changed) => store.apply(changed),
    findings: store.findings,
    job: (job) => {
      store.store.jobs.set(job.id, job);
      store.emit("job", job);
    },
    playable: (news) => store.emit("playable", (store.store.film.playable = news)),
    voice: (news) => store.emit("voice", (store.store.film.voice = news)),
    film: () => store.reload(),
    open: () => store.connection(true),
    lost: () => store.connection(false),
    bye: () => say("The server was stopped."),
  });
}

start();
