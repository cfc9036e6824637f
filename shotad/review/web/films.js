/**
 * The first screen: the films of a folder. Describe, stop and open them, bring films in and fetch what was made.
 *
 * @typedef {import("./sentences.js").Fault} Fault
 * @typedef {import("./sentences.js").Sentence} Sentence
 * @typedef {object} Job
 * @property {string} id
 * @property {number} version  Of two views of a job the one with the higher version is the newer.
 * @property {Sentence} title  "Describe film.mp4"
 * @property {"waiting"|"running"|"done"|"failed"|"stopped"} state
 * @property {boolean} stopping
 * @property {string} step
 * @property {number|null} done  From 0 to 1; null where it is not known.
 * @property {Sentence[]} notes  Which engine it is, what is sent where, and what the run says on its way.
 * @property {{said: Sentence, warnings?: Sentence[]}|null} result
 * @property {Fault|null} error
 *
 * @typedef {object} Film
 * @property {string} id
 * @property {string} name
 * @property {number} size  In bytes.
 * @property {string[]} uses  Names of files beside the film that apply to it.
 * @property {"new"|"has_description"|"begun"|"described"|"edited"|"failed"} state
 * @property {boolean} [can_complete]  Whether the lines of the description that it has can be read.
 * @property {string[]} [descriptions]  Files beside the film that describe it; none of a description inside it.
 * @property {{lines: number, to_write: number, edited: number, accepted: number}|null} counts  Of the lines of one that
 *   is described.
 * @property {Fault|null} error  Why it failed the last time.
 * @property {Job|null} job
 * @property {string|null} page  Address of its review page.
 * @property {{name: string, url: string}[]} files
 * @property {string|null} archive  Address of its work folder as a ZIP archive.
 */

import { get, listen, post } from "./api.js";
import { make, setText } from "./build.js";
import { alert, say } from "./say.js";
import { faultText, problemText, sentence } from "./sentences.js";
import { language, languageName, percent, text } from "./texts.js";
import { startUploads } from "./uploads.js";
import { about, sizeText, stepName } from "./wording.js";

const byId = (id) => document.getElementById(id);

/** Milliseconds between two messages on how far a film is: who listens wants to hear other things meanwhile. */
const PROGRESS_PAUSE = 60_000;

const DESCRIBE_LABELS = {
  new: text("films.describe"),
  has_description: text("films.describe_anyway"),
  begun: text("films.continue"),
  failed: text("films.try_again"),
  described: text("films.describe_again"),
  edited: text("films.describe_again"),
};

/** @type {Map<string, Film>} By id, in the order of the list. */
let films = new Map();
/** @type {Map<string, Job>} The newest view of each job, by the job's id. */
const jobs = new Map();
/** @type {Map<string, HTMLElement>} The card of each film, by the film's id. */
const cards = new Map();
/** @type {Map<string, number>} When the progress of a job was spoken last, by the job's id. */
const spokenAt = new Map();

/** @param {Job|undefined} job */
const isAtWork = (job) => job?.state === "waiting" || job?.state === "running";

/** @param {Film} film */
const jobOf = (film) => (film.job ? jobs.get(film.job.id) : undefined);

/** @param {Job} job  Keeps the newer view: news may come while an older answer is on its way here. */
function keepJob(job) {
  const known = jobs.get(job.id);
  if (!known || known.version <= job.version) jobs.set(job.id, job);
}

/** "Finding shots 42 %" */
function stepText(job) {
  if (job.stopping) return text("films.stopping");
  if (job.state === "waiting") return text("films.waiting");
  const step = job.step ? stepName(job.step) : text("films.starting");
  return job.done ? `${step} ${percent(job.done)}` : step;
}

/** How far a film is: "Described: 14 lines, 2 to write, 5 accepted". */
function stateText({ state, counts, descriptions }) {
  if (state === "new") return text("films.state.new");
  if (state === "has_description") {
    if (!descriptions?.length) return text("films.state.has_description_inside");
    return text("films.state.has_description", { files: descriptions.join(", ") });
  }
  if (state === "begun") return text("films.state.begun");
  if (!counts) return text("films.state.failed");
  const parts = [text("films.lines", { count: counts.lines })];
  if (counts.to_write) parts.push(text("films.to_write", { number: counts.to_write }));
  if (counts.edited) parts.push(text("films.edited", { number: counts.edited }));
  if (counts.accepted) parts.push(text("films.accepted", { number: counts.accepted }));
  const lines = parts.join(", ");
  if (state === "edited") return text("films.state.edited", { lines });
  return text("films.state.described", { lines });
}

/** Makes the card of a film, empty. */
function makeCard(film) {
  const name = make("h3", { tabIndex: -1 }, film.name);
  const bar = make("progress", { max: 1, "aria-label": text("films.progress_of", { film: film.name }) });
  const progress = make("div", { className: "film-progress" }, bar, make("span", { className: "film-step" }));
  const open = make(
    "a",
    { className: "button film-open", "aria-label": text("films.open_film", { film: film.name }) },
    text("films.open"),
  );
  const describe = make("button", { type: "button", className: "film-describe" });
  const complete = make(
    "button",
    {
      type: "button",
      className: "film-complete",
      "aria-label": text("films.describe_gaps_of", { film: film.name }),
      title: text("films.describe_gaps_hint"),
    },
    text("films.describe_gaps"),
  );
  complete.classList.add("primary");
  complete.addEventListener("click", () => describeFilm(film.id, "complete"));
  const stop = make(
    "button",
    { type: "button", className: "film-stop", "aria-label": text("films.stop_film", { film: film.name }) },
    text("films.stop"),
  );
  describe.addEventListener("click", () => {
    const hasDescription = films.get(film.id)?.state === "has_description";
    describeFilm(film.id, hasDescription ? "ignore" : "");
  });
  stop.addEventListener("click", () => stopFilm(film.id));
  const downloads = make("ul", { className: "film-files", role: "list" });
  const summary = make("summary", {}, text("films.download"), make("span", { className: "hidden" }, `: ${film.name}`));
  const messagesSummary = make(
    "summary",
    {},
    text("films.messages"),
    make("span", { className: "hidden" }, `: ${film.name}`),
  );
  const card = make(
    "li",
    { className: "film" },
    name,
    make("p", { className: "film-state" }),
    make("p", { className: "film-facts hint" }),
    make("p", { className: "film-error fault" }),
    progress,
    make("div", { className: "tools" }, open, complete, describe, stop),
    make("details", { className: "film-downloads" }, summary, downloads),
    make("details", { className: "film-messages" }, messagesSummary, make("ul", { className: "film-notes", role: "list" })),
  );
  card.dataset.film = film.id;
  return card;
}

/** Brings the card of a film up to date; the focus stays where it is, or goes to what took its place. */
function showFilm(film) {
  const card = cards.get(film.id);
  const part = (name) => card.querySelector(`.film-${name}`);
  const job = jobOf(film);
  const isWorking = isAtWork(job);
  const focused = card.contains(document.activeElement) ? document.activeElement : null;
  const workText = job?.state === "waiting" ? text("films.waits") : text("films.being_described");
  card.dataset.state = isWorking ? "working" : film.state;
  setText(part("state"), isWorking ? workText : stateText(film));
  const facts = { size: sizeText(film.size), files: film.uses.join(", ") };
  setText(part("facts"), film.uses.length ? text("films.size_with", facts) : facts.size);
  const problem = film.error && !isWorking ? faultText(film.error) : "";
  setText(part("error"), problem && film.page ? text("films.last_failed", { problem }) : problem);
  part("error").hidden = !part("error").textContent;

  part("progress").hidden = !isWorking;
  if (isWorking) {
    const bar = card.querySelector("progress");
    if (typeof job.done === "number") bar.value = job.done;
    else bar.removeAttribute("value");
    setText(part("step"), stepText(job));
  }

  part("open").hidden = !film.page;
  if (film.page) part("open").href = film.page;
  const label = DESCRIBE_LABELS[film.state];
  setText(part("describe"), label);
  part("describe").setAttribute("aria-label", `${label}: ${film.name}`);
  const canComplete = film.state === "has_description" && Boolean(film.can_complete);
  part("complete").hidden = isWorking || !canComplete;
  part("describe").classList.toggle("primary", !film.page && film.state !== "has_description");
  part("describe").hidden = isWorking;
  part("stop").hidden = !isWorking;
  part("stop").setAttribute("aria-disabled", String(Boolean(job?.stopping)));
  part("downloads").hidden = !film.archive;
  showDownloads(part("files"), film);
  const notes = [...(job?.notes ?? []), ...(job?.result?.warnings ?? [])].map(sentence);
  part("messages").hidden = !notes.length;
  const list = part("notes");
  for (const [i, note] of notes.entries()) {
    if (!list.children[i]) list.append(make("li"));
    setText(list.children[i], note);
  }
  while (list.children.length > notes.length) list.lastChild.remove();

  if (focused?.hidden) (isWorking ? part("stop") : film.page ? part("open") : part("describe")).focus();
}

/** The files of a film. They are made again only where they changed: a link with the focus keeps it. */
function showDownloads(list, film) {
  const mark = JSON.stringify([film.files, film.archive]);
  if (list.dataset.mark === mark) return;
  list.dataset.mark = mark;
  if (!film.archive) {
    list.replaceChildren();
    return;
  }
  const links = film.files.map(({ name, url }) => make("a", { href: url, download: name }, name));
  links.push(
    make("a", { href: film.archive, download: "" }, text("films.archive")),
    make("a", { href: `${film.page}#export` }, text("films.other_formats")),
  );
  list.replaceChildren(...links.map((link) => make("li", {}, link)));
}

/** @param {{folder: string, free: number, films: Film[]}} view */
function showList(view) {
  for (const film of view.films) if (film.job) keepJob(film.job);
  films = new Map(view.films.map((film) => [film.id, film]));
  const list = byId("film-list");
  for (const [id, card] of cards)
    if (!films.has(id)) {
      if (card.contains(document.activeElement)) byId("films").focus();
      card.remove();
      cards.delete(id);
    }
  let place = list.firstElementChild;
  for (const film of films.values()) {
    if (!cards.has(film.id)) cards.set(film.id, makeCard(film));
    const card = cards.get(film.id);
    // Cards in their place are not moved: what has the focus would lose it.
    if (card === place) place = place.nextElementSibling;
    else list.insertBefore(card, place);
    setText(card.querySelector("h3"), film.name);
    showFilm(film);
  }
  byId("no-films").hidden = films.size > 0;
  setText(byId("progress-text"), text(
    "films.total",
    { count: films.size, folder: view.folder, free: sizeText(view.free) },
  ));
}

/** Whether the last list could not be fetched, and people were told so. */
let isListMissing = false;
let isLoading = false;
let isOutdated = false;

/** Fetches the list. Of several calls that come together the last is answered too. */
async function load() {
  if (isLoading) {
    isOutdated = true;
    return;
  }
  isLoading = true;
  try {
    do {
      isOutdated = false;
      showList(await get("/api/films"));
    } while (isOutdated);
    if (isListMissing) say(text("films.back")); // and the message on what was wrong goes
    isListMissing = false;
  } catch (error) {
    isListMissing = true;
    alert(error.message);
  } finally {
    isLoading = false;
  }
}

/** Takes in how far a job is, and says it seldom. */
function onJob(job) {
  const before = jobs.get(job.id);
  keepJob(job);
  const film = [...films.values()].find((candidate) => candidate.job?.id === job.id);
  if (!film) {
    if (!before) load();
    // The film is gone from the list, and was so while it was described.
    else if (job.state === "failed" && isAtWork(before))
      alert(about(sentence(job.title), problemText(job.error) || text("job.it_failed")));
    return;
  }
  if (isAtWork(job)) {
    showFilm(film);
    sayProgress(film, job);
    return;
  }
  load(); // with the new state of the film
  if (before && !isAtWork(before)) return; // its end was said
  if (job.state === "done")
    say([job.result?.said, ...(job.result?.warnings ?? [])].filter(Boolean).map(sentence).join(" "));
  else if (job.state === "stopped") say(text("films.stopped", { film: film.name }));
  else alert(about(film.name, faultText(job.error) || text("job.it_failed")));
}

/** Says that a film is begun and then, once a minute, how far it is. */
function sayProgress(film, job) {
  if (job.state !== "running" || job.stopping) return;
  const now = Date.now();
  const last = spokenAt.get(job.id);
  if (last !== undefined && now - last < PROGRESS_PAUSE) return;
  spokenAt.set(job.id, now);
  const words =
    last === undefined
      ? text("films.describing", { film: film.name })
      : text("films.is_at", { film: film.name, step: stepText(job) });
  say(words, `progress of ${film.id}`);
}

/**
 * Has the server describe a film as chosen.
 * @param {string} id
 * @param {""|"complete"|"ignore"} existing  What to do about the description that the film has.
 */
async function describeFilm(id, existing) {
  const film = films.get(id);
  try {
    const choices = { engine: byId("engine").value, language: byId("language").value, existing };
    const job = await post(`/api/films/${id}/describe`, choices);
    keepJob(job);
    film.job = job;
    showFilm(film);
    if (jobs.get(job.id).state === "waiting")
      say(text("films.waits_for_turn", { film: film.name }), `progress of ${id}`);
  } catch (error) {
    alert(error.message);
    load();
  }
}

/** Asks the server to stop describing a film. */
async function stopFilm(id) {
  const film = films.get(id);
  const job = film && jobOf(film);
  if (!isAtWork(job) || job.stopping) return;
  try {
    keepJob(await post(`/api/jobs/${encodeURIComponent(job.id)}/stop`));
    showFilm(film);
    if (isAtWork(jobs.get(job.id))) say(text("films.stopping_film", { film: film.name }));
  } catch (error) {
    alert(error.message);
  }
}

const CHOICES_KEY = "shotad-choices";

/** What this browser chose the last time. */
function storedChoices() {
  try {
    return JSON.parse(localStorage.getItem(CHOICES_KEY) ?? "{}") ?? {};
  } catch {
    return {}; // storage that is forbidden, or that somebody else wrote
  }
}

function storeChoices() {
  try {
    const choices = { engine: byId("engine").value, language: byId("language").value };
    localStorage.setItem(CHOICES_KEY, JSON.stringify(choices));
  } catch {
    // They hold for this page then.
  }
}

/** The languages in which a film can be described, by their names; first that which is taken by itself. */
function languageOptions({ languages, default_language: defaultLanguage }) {
  const byName = languages.map((tag) => ({ tag, name: languageName(tag) }));
  byName.sort((a, b) => a.name.localeCompare(b.name, language));
  const first = text("films.default_language", { language: languageName(defaultLanguage) });
  return [make("option", { value: "" }, first), ...byName.map(({ tag, name }) => make("option", { value: tag }, name))];
}

/** Fetches the engines and languages that can be chosen here. */
async function loadChoices() {
  const before = storedChoices();
  let offered;
  try {
    offered = await get("/api/choices");
  } catch (error) {
    alert(error.message);
    return;
  }
  const showAbout = () => {
    const chosen = offered.engines.find(({ value }) => value === byId("engine").value);
    setText(byId("engine-about"), sentence(chosen?.about ?? ""));
  };
  const engineOptions = offered.engines.map(({ value, title }) => make("option", { value }, sentence(title)));
  for (const [id, options] of [["engine", engineOptions], ["language", languageOptions(offered)]]) {
    const select = byId(id);
    select.replaceChildren(...options);
    // What was chosen may not be there any more, such as the model of a server that was ended.
    if (options.some(({ value }) => value === before[id])) select.value = before[id];
    select.addEventListener("change", storeChoices);
  }
  byId("engine").addEventListener("change", showAbout);
  showAbout();
}

/** Shows that the server cannot be reached, or that it can again. */
function showConnection(isConnected, retry) {
  const banner = byId("banner");
  if (isConnected === banner.hidden) return;
  banner.hidden = isConnected;
  if (isConnected) {
    banner.replaceChildren();
    say(text("server.back"));
    return;
  }
  const words = text("films.server_gone");
  const button = make("button", { type: "button" }, text("banner.try_again"));
  button.addEventListener("click", retry);
  banner.replaceChildren(make("div", { className: "strip bad" }, make("p", { role: "alert" }, words), button));
}

function start() {
  for (const id of ["engine", "language"]) byId(id).append(make("option", { value: "" }, text("films.looking")));
  loadChoices();
  startUploads(load);
  const { retry } = listen({
    hello: load,
    films: load,
    job: onJob,
    open: () => showConnection(true),
    lost: () => showConnection(false, () => retry()),
    bye: () => say(text("server.stopped")),
  });
}

start();
