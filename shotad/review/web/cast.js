/** The cast: who is in the film, in which lines, and what they are called. */

import { get } from "./api.js";
import { make } from "./build.js";
import { register } from "./commands.js";
import { disabledWhile, makeDialog } from "./dialogs.js";
import { jobCard, lineLink, startJob, whenEnded } from "./jobs.js";
import { store } from "./store.js";
import { clock } from "./times.js";
import { pluralize } from "./wording.js";

const PRONOUNS = [["", "not said"], ["she", "she"], ["he", "he"], ["they", "they"], ["it", "it"]];
const SHOWN = 4; // pictures of a person that stand there at once
const LISTED = 30; // lines of a person that are listed

/** What a person is called on the page. */
const called = (person) => person.says || person.name || `No name yet (${person.key})`;

function pictures(person) {
  const who = person.says || person.name || person.key;
  const shown = person.pictures.slice(0, SHOWN);
  const images = shown.map((url, i) => make("img", { src: url, alt: i ? "" : `Face of ${who}`, loading: "lazy", decoding: "async", width: 96, height: 96 }));
  return make("div", { className: "faces" }, ...(images.length ? images : [make("span", { className: "hint" }, "No picture")]));
}

function facts(person) {
  const parts = [];
  if (person.seconds) parts.push(`in view for ${Math.round(person.seconds)} s in ${pluralize(person.shots, "shot")}`);
  if (person.first !== null && person.first !== undefined) parts.push(`first at ${clock(person.first)}`);
  parts.push(person.lines.length ? `in ${pluralize(person.lines.length, "line")}` : "in no line");
  if (person.like) parts.push(`looks like ${person.like}`);
  return parts.join(", ");
}

function lines(person) {
  if (!person.lines.length) return null;
  const items = person.lines.slice(0, LISTED).map((id) => {
    const text = store.lines.get(id)?.text ?? "";
    return make("li", {}, lineLink(id), ` ${text}`);
  });
  if (person.lines.length > LISTED) items.push(make("li", {}, `and ${person.lines.length - LISTED} more`));
  return make("details", {}, make("summary", {}, `Lines (${person.lines.length})`), make("ul", {}, ...items));
}

/** One person: pictures, facts, and the form that says who it is. */
class PersonForm {
  constructor(person, people, act) {
    const id = `person-${person.key}`;
    this.key = person.key;
    this.title = make("h3", { id: `${id}-title`, tabIndex: -1 }, called(person));
    this.name = make("input", { id: `${id}-name`, type: "text", value: person.name, autocomplete: "off", spellcheck: false, maxLength: 200 });
    this.descriptor = make("input", { id: `${id}-descriptor`, type: "text", value: person.descriptor, autocomplete: "off", maxLength: 200 });
    this.pronoun = make("select", { id: `${id}-pronoun` }, ...PRONOUNS.map(([value, label]) => make("option", { value, selected: value === person.pronoun }, label)));
    this.nameless = make("input", { id: `${id}-nameless`, type: "checkbox", checked: person.nameless });
    this.save = make("button", { type: "submit" }, "Save");
    this.save.setAttribute("aria-label", `Save: ${called(person)}`);
    this.result = make("div", { className: "result" });
    const row = (label, field) => make("div", { className: "fields" }, make("label", { htmlFor: field.id }, label), field);
    const more = make("details", {}, make("summary", {}, "More"), row("Without the name", this.descriptor), make("p", { className: "hint" }, "What lines call them so far, or before the film tells the name: “the woman in red”."), row("Pronoun", this.pronoun), make("label", { className: "choice" }, this.nameless, " An extra, whom nobody needs to name"), this.merging(person, people, act));
    this.form = make("form", {}, make("div", { className: "fields" }, make("label", { htmlFor: this.name.id }, "Name"), this.name, this.save), more);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      act(this, this.save, this.body(person));
    });
    const about = make("div", { className: "person-about" }, this.title, make("p", { className: "hint" }, facts(person)), this.form, lines(person), this.result);
    this.element = make("li", { className: "person", "aria-labelledby": this.title.id }, pictures(person), about);
    this.element.dataset.key = person.key;
  }

  /** What is asked of the server: only what was changed. */
  body(person) {
    const body = { kind: "name", person: person.key, name: this.name.value.trim() };
    if (this.descriptor.value.trim() !== person.descriptor) body.descriptor = this.descriptor.value.trim();
    if (this.pronoun.value && this.pronoun.value !== person.pronoun) body.pronoun = this.pronoun.value;
    if (this.nameless.checked !== person.nameless) body.nameless = this.nameless.checked;
    return body;
  }

  merging(person, people, act) {
    const others = people.filter((one) => one.key !== person.key);
    if (!others.length) return null;
    const into = make("select", { id: `person-${person.key}-into` }, make("option", { value: "" }, "choose"), ...others.map((one) => make("option", { value: one.key, selected: one.key === person.like }, called(one))));
    const button = make("button", { type: "button" }, "Make them one");
    button.addEventListener("click", () => {
      if (into.value) act(this, button, { kind: "merge", person: person.key, into: into.value });
      else into.focus();
    });
    return make("div", { className: "fields" }, make("label", { htmlFor: into.id }, "Is the same person as"), into, button);
  }
}

function build() {
  const lead = make("p", {});
  const look = make("button", { type: "button" }, "Look for people");
  const found = make("div", { className: "result" });
  const list = make("ul", { className: "people" });
  const made = makeDialog("cast-dialog", "Cast", lead, make("div", { className: "buttons" }, look), found, list);

  const refresh = async () => {
    const view = await get("/api/cast");
    if (store.film) store.film.cast = view.people;
    const named = view.people.filter((one) => one.name).length;
    lead.textContent = view.people.length
      ? `${view.people.length === 1 ? "1 person" : `${view.people.length} people`}, ${named} with a name. A name goes into the lines at once where that is certain; other lines can be described again with it.`
      : "Nobody is known yet. The machine can look through the film for faces; you then say who they are. Nothing leaves this computer.";
    look.textContent = view.people.length ? "Look for people again" : "Look for people";
    look.hidden = !view.can_discover;
    if (view.why) made.tell(view.why, true);
    const open = new Set([...list.querySelectorAll("li.person")].filter((one) => one.querySelector("form details")?.open).map((one) => one.dataset.key));
    const forms = view.people.map((person) => new PersonForm(person, view.people, act));
    for (const form of forms) if (open.has(form.key)) form.form.querySelector("details").open = true;
    list.replaceChildren(...forms.map((form) => form.element));
    return forms;
  };

  /** Puts the focus on a person again, when the list was made again. */
  const returnTo = (forms, key) => {
    const form = forms.find((one) => one.key === key) ?? forms[0];
    if (made.open) (form?.title ?? look).focus();
    return form;
  };

  const act = (form, button, body) =>
    disabledWhile(button, async () => {
      try {
        const job = await startJob(body);
        form.result.replaceChildren(jobCard(job.id));
        const done = await whenEnded(job.id);
        if (done.state !== "done") return;
        const next = returnTo(await refresh(), done.result.person ?? form.key);
        next?.result.replaceChildren(...outcome(done.result, next.result));
      } catch (error) {
        made.tell(error.message, true);
      }
    });

  look.addEventListener("click", () =>
    disabledWhile(look, async () => {
      try {
        const job = await startJob({ kind: "discover" });
        found.replaceChildren(jobCard(job.id));
        const done = await whenEnded(job.id);
        if (done.state === "done") await refresh();
      } catch (error) {
        made.tell(error.message, true);
      }
    }),
  );

  // The answer first, the dialog then: so the focus need not jump when the people come in.
  return async () => {
    found.replaceChildren();
    let forms = [];
    let fault = "";
    try {
      forms = await refresh();
    } catch (error) {
      fault = error.message;
    }
    if (document.querySelector("dialog[open]")) return;
    made.showModal();
    if (fault) made.tell(fault, true);
    const first = forms.find((one) => !one.name.value) ?? forms[0];
    (first?.name ?? (look.hidden ? made.querySelector("button") : look)).focus();
  };
}

/** What a name came to, and the offer to describe the other lines again. */
function outcome(result, place) {
  const parts = [make("p", { className: "job-said" }, result.said)];
  if (result.again?.length) {
    const words = result.again.length === 1 ? "Describe that line again, with the name" : `Describe those ${result.again.length} lines again, with the name`;
    const button = make("button", { type: "button" }, words);
    button.addEventListener("click", () =>
      disabledWhile(button, async () => {
        try {
          const job = await startJob({ kind: "redo", lines: result.again, note: "" });
          place.append(jobCard(job.id));
          place.querySelector(".job-title")?.focus();
          button.remove();
        } catch (error) {
          button.after(make("p", { className: "fault", role: "alert" }, error.message));
        }
      }),
    );
    parts.push(button);
  }
  if (result.kept?.length) {
    const items = result.kept.map((id) => make("li", {}, lineLink(id)));
    parts.push(make("details", {}, make("summary", {}, `Lines that stay as a person left them (${items.length})`), make("ul", {}, ...items)));
  }
  return parts;
}

export function start() {
  register({ name: "cast", title: "Cast: name people", group: "Work", keys: ["c"], run: build() });
}
