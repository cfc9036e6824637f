/**
 * The cast: who is in the film, in which lines, and what they are called.
 *
 * @typedef {object} Person
 * @property {string} key
 * @property {string} name
 * @property {string} says  What lines call the person.
 * @property {string} descriptor  What they call the person without the name.
 * @property {string} pronoun
 * @property {boolean} nameless  An extra, whom nobody needs to name.
 * @property {string[]} lines  Ids.
 * @property {string[]} pictures  Addresses.
 * @property {number} seconds  In view.
 * @property {number} shots
 * @property {number|null} first  Second at which the person is seen first.
 * @property {string} like  Key of a person who looks alike.
 */

import { addressOf, get } from "./api.js";
import { make } from "./build.js";
import { register } from "./commands.js";
import { disabledWhile, makeDialog } from "./dialogs.js";
import { jobCard, lineLink, startJob, whenEnded } from "./jobs.js";
import { sentence } from "./sentences.js";
import { store } from "./store.js";
import { text } from "./texts.js";
import { clock } from "./times.js";

const PRONOUNS = [
  ["", text("cast.pronoun.none")],
  ["she", text("cast.pronoun.she")],
  ["he", text("cast.pronoun.he")],
  ["they", text("cast.pronoun.they")],
  ["it", text("cast.pronoun.it")],
];
const SHOWN = 4; // pictures of a person that are shown at once
const LISTED = 30; // lines of a person that are listed
const NOBODY = text("cast.nobody");

/** What a person is called on the page. */
const titleOf = (person) => person.says || person.name || text("cast.no_name", { key: person.key });

function pictures(person) {
  const alt = text("cast.face", { person: person.says || person.name || person.key });
  const images = person.pictures.slice(0, SHOWN).map((src, i) =>
    make("img", { src: addressOf(src), alt: i ? "" : alt, loading: "lazy", decoding: "async", width: 96, height: 96 }),
  );
  if (!images.length) images.push(make("span", { className: "hint" }, text("cast.no_picture")));
  return make("div", { className: "faces" }, ...images);
}

function factsText(person) {
  const parts = [];
  if (person.seconds) {
    const values = { seconds: Math.round(person.seconds), count: person.shots };
    parts.push(text("cast.in_view", values));
  }
  if (person.first !== null) parts.push(text("cast.first_at", { time: clock(person.first) }));
  const count = person.lines.length;
  parts.push(count ? text("cast.in_lines", { count }) : text("cast.in_no_line"));
  if (person.like) parts.push(text("cast.looks_like", { person: person.like }));
  return parts.join(", ");
}

function linesOf(person) {
  if (!person.lines.length) return null;
  const items = person.lines.slice(0, LISTED).map((id) => {
    const line = store.lines.get(id);
    return make("li", {}, lineLink(id), " ", make("span", { lang: line?.language ?? "" }, line?.text ?? ""));
  });
  const more = person.lines.length - LISTED;
  if (more > 0) items.push(make("li", {}, text("cast.more_lines", { number: more })));
  return make(
    "details",
    {},
    make("summary", {}, text("cast.lines", { number: person.lines.length })),
    make("ul", {}, ...items),
  );
}

const fieldRow = (label, field, ...others) =>
  make("div", { className: "fields" }, make("label", { htmlFor: field.id }, label), field, ...others);

/** One person: pictures, facts, and the form that says who it is. */
class PersonForm {
  /**
   * @param {Person} person
   * @param {Person[]} people
   * @param {(form: PersonForm, button: HTMLElement, order: object) => void} send  Gives the server an order.
   */
  constructor(person, people, send) {
    const id = `person-${person.key}`;
    const textField = { type: "text", autocomplete: "off", maxLength: 200 };
    this.key = person.key;
    this.title = make("h3", { id: `${id}-title`, tabIndex: -1 }, titleOf(person));
    this.name = make("input", { ...textField, id: `${id}-name`, value: person.name, spellcheck: false });
    this.descriptor = make("input", { ...textField, id: `${id}-descriptor`, value: person.descriptor });
    const pronouns = PRONOUNS.map(([value, label]) => make("option", { value, selected: value === person.pronoun }, label));
    this.pronoun = make("select", { id: `${id}-pronoun` }, ...pronouns);
    this.nameless = make("input", { id: `${id}-nameless`, type: "checkbox", checked: person.nameless });
    const save = make("button", { type: "submit" }, text("cast.save"));
    save.setAttribute("aria-label", text("cast.save_person", { person: titleOf(person) }));
    this.more = make("details", {}, make("summary", {}, text("cast.more")),
      fieldRow(text("cast.descriptor"), this.descriptor),
      make("p", { className: "hint" }, text("cast.descriptor_hint")),
      fieldRow(text("cast.pronoun"), this.pronoun),
      make("label", { className: "choice" }, this.nameless, ` ${text("cast.extra")}`),
      this.mergeRow(person, people, send));
    const form = make("form", {}, fieldRow(text("cast.name"), this.name, save), this.more);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(this, save, this.nameOrder(person));
    });
    this.result = make("div", { className: "result" });
    const facts = make("p", { className: "hint" }, factsText(person));
    const about = make("div", { className: "person-about" }, this.title, facts, form, linesOf(person), this.result);
    this.element = make("li", { className: "person", "aria-labelledby": this.title.id }, pictures(person), about);
  }

  /** What is asked of the server: only what was changed. */
  nameOrder(person) {
    const order = { kind: "name", person: person.key, name: this.name.value.trim() };
    const descriptor = this.descriptor.value.trim();
    if (descriptor !== person.descriptor) order.descriptor = descriptor;
    if (this.pronoun.value && this.pronoun.value !== person.pronoun) order.pronoun = this.pronoun.value;
    if (this.nameless.checked !== person.nameless) order.nameless = this.nameless.checked;
    return order;
  }

  mergeRow(person, people, send) {
    const others = people.filter((other) => other.key !== person.key);
    if (!others.length) return null;
    const options = others.map((other) =>
      make("option", { value: other.key, selected: other.key === person.like }, titleOf(other)),
    );
    const select = make(
      "select",
      { id: `person-${person.key}-into` },
      make("option", { value: "" }, text("cast.choose")),
      ...options,
    );
    const merge = make("button", { type: "button" }, text("cast.merge"));
    merge.addEventListener("click", () => {
      if (select.value) send(this, merge, { kind: "merge", person: person.key, into: select.value });
      else select.focus();
    });
    return fieldRow(text("cast.same_as"), select, merge);
  }
}

/** @returns {() => Promise<void>} Opens the dialog. */
function castDialog() {
  const lead = make("p");
  const discover = make("button", { type: "button" }, text("cast.discover"));
  const discovery = make("div", { className: "result" });
  const list = make("ul", { className: "people" });
  const buttons = make("div", { className: "buttons" }, discover);
  const dialog = makeDialog("cast-dialog", text("cast.heading"), lead, buttons, discovery, list);
  /** @type {PersonForm[]} */
  let forms = [];

  const showLead = (people) => {
    const names = people.filter((person) => person.name).length;
    const total = text("cast.total", { count: people.length, names });
    const explanation = text("cast.explanation");
    lead.textContent = people.length ? `${total} ${explanation}` : NOBODY;
    discover.textContent = people.length ? text("cast.discover_again") : text("cast.discover");
  };
  /** Fetches the cast and shows it; what was open stays open. */
  const refresh = async () => {
    const { people, can_discover: canDiscover, why: problem } = await get("/api/cast");
    showLead(people);
    discover.hidden = !canDiscover;
    if (problem) dialog.announce(sentence(problem), true);
    const openKeys = new Set(forms.filter((form) => form.more.open).map((form) => form.key));
    forms = people.map((person) => new PersonForm(person, people, send));
    for (const form of forms) form.more.open = openKeys.has(form.key);
    list.replaceChildren(...forms.map((form) => form.element));
  };
  /** Puts the focus on a person again, when the list was made again. */
  const returnTo = (key) => {
    const form = forms.find((each) => each.key === key) ?? forms[0];
    if (dialog.open) (form?.title ?? discover).focus();
    return form;
  };

  /** Runs a job of the cast, whose card stands in `place`. @returns {Promise<any>} Its result; null where it failed. */
  const runJob = async (order, place) => {
    try {
      const job = await startJob(order);
      place.replaceChildren(jobCard(job.id));
      const { state, result } = await whenEnded(job.id);
      if (state !== "done") return null;
      await refresh();
      return result;
    } catch (error) {
      dialog.announce(error.message, true);
      return null;
    }
  };
  const send = (form, button, order) =>
    disabledWhile(button, async () => {
      const result = await runJob(order, form.result);
      if (!result) return;
      const place = returnTo(result.person ?? form.key)?.result;
      place?.replaceChildren(...outcome(result, place));
    });
  discover.addEventListener("click", () => disabledWhile(discover, () => runJob({ kind: "discover" }, discovery)));

  // The answer first, the dialog then: so the focus need not jump when the people come in.
  return async () => {
    discovery.replaceChildren();
    let problem = "";
    try {
      await refresh();
    } catch (error) {
      problem = error.message;
    }
    if (document.querySelector("dialog[open]")) return;
    dialog.showModal();
    if (problem) dialog.announce(problem, true);
    const first = forms.find((form) => !form.name.value) ?? forms[0];
    (first?.name ?? (discover.hidden ? dialog.querySelector("button") : discover)).focus();
  };
}

/** Describes lines again, in which the name could not be put with certainty. */
async function describeAgain(ids, button, place) {
  try {
    const job = await startJob({ kind: "redo", lines: ids, note: "" });
    place.append(jobCard(job.id));
    place.querySelector(".job-title")?.focus();
    button.remove();
  } catch (error) {
    button.after(make("p", { className: "fault", role: "alert" }, error.message));
  }
}

/** What a name came to, and the offer to describe the other lines again. */
function outcome({ said, again: uncertainIds = [], kept: keptIds = [] }, place) {
  const parts = [make("p", { className: "job-said" }, sentence(said))];
  if (uncertainIds.length) {
    const count = uncertainIds.length;
    const words = text("cast.describe_again", { count });
    const button = make("button", { type: "button" }, words);
    button.addEventListener("click", () => disabledWhile(button, () => describeAgain(uncertainIds, button, place)));
    parts.push(button);
  }
  if (keptIds.length) {
    const title = make("summary", {}, text("cast.kept", { number: keptIds.length }));
    const items = keptIds.map((id) => make("li", {}, lineLink(id)));
    parts.push(make("details", {}, title, make("ul", {}, ...items)));
  }
  return parts;
}

/** Registers the command. */
export function start() {
  register({ name: "cast", title: text("command.cast"), group: "work", keys: ["c"], run: castDialog() });
}
