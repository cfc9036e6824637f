"""What came of `evaluate_story`, for people and programs; and what the description lacks.

A question is lost where most tries are right with the human AD (or the full script) and not with this AD. For
each there is the moment of the film that answers it, and whether a line could have stood there.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from shotad import __version__
from shotad.core import Interval, aligned, plural, readable_json, write_text
from shotad.evaluation.metric import Json
from shotad.evaluation.report.intervals import FEWEST
from shotad.evaluation.report.wording import percent, signed, span_words
from shotad.evaluation.screenplay import Element
from shotad.evaluation.story import Answered, Story
from shotad.evaluation.story_questions import CONDITIONS, StoryFilm, StoryQuestion
from shotad.script import timecode

_SHOWN = 10
"""Lost questions that the terminal shows; the files have all."""


def write_story(folder: Path, story: Story) -> tuple[Path, ...]:
    """Write ``story.json``, and ``missing.csv`` where this AD was held against another. Their paths."""
    files = {"story.json": readable_json(story_record(story))}
    if {"human", "script"} & set(story.answers) and "ad" in story.answers:
        files["missing.csv"] = lost_csv(lost_questions(story))
    for name, text in files.items():
        write_text(folder / name, text)
    return tuple(folder / name for name in files)


def story_record(story: Story) -> Json:
    """``story.json``: figures, the examination of the questions, every answer, and what was lost."""
    told, why = story.verdict
    return {
        "schema": 1,
        "shotad": __version__,
        "identity": story.identity,
        "examination": {**asdict(story.examination), "faults": story.examination.faults},
        "conditions": {name: _condition(story, name) for name in story.answers},
        "left_out": dict(story.left_out),
        "tells_good_from_bad": {"answer": told, "why": why},
        "missing": [one.record() for one in lost_questions(story)],
        "questions": [_question(story, place) for place in range(story.examination.questions)],
    }


def _condition(story: Story, name: str) -> Json:
    figures = {
        "accuracy": story.accuracy(name),
        f"pass@{story.tries}": story.passed(name),
        "gain": story.gain(name),
    }
    found: Json = {"given": CONDITIONS[name]}
    for key, result in figures.items():
        span = story.span(result)
        found[key] = result.value
        found[f"{key}_interval"] = None if span is None else asdict(span)
    failed = [one for each in story.answers[name] for one in each.tries if one.failure]
    return {**found, "failed": len(failed)}


def _question(story: Story, place: int) -> Json:
    asked = story.answers["nothing"][place].question
    tries = {name: [asdict(one) for one in those[place].tries] for name, those in story.answers.items()}
    return {
        "film": asked.film,
        "id": asked.id,
        "question": asked.text,
        "answer": asked.answer,
        "answers": tries,
    }


def story_text(story: Story) -> str:
    """The figures for people, with what was found of the questions above them."""
    rows = []
    for name in story.answers:
        accuracy, gain = story.accuracy(name), story.gain(name)
        worth = f"{signed('', gain.value)} ({span_words('', story.span(gain))})"
        average = f"{accuracy.value or 0:.1f} ({span_words('', story.span(accuracy))})"
        passed = f"{story.passed(name).value or 0:.1f}"
        rows.append((CONDITIONS[name], average, passed, "" if name in ("nothing", "dialogue") else worth))
    heads = ("Given", "Average accuracy", f"Pass@{story.tries}", "Gain over dialogue")
    lines = [*_opening(story), "", *aligned(heads, rows, [2]), "", *_verdict(story)]
    lines += [f"Not asked: {CONDITIONS[name]}, {why}." for name, why in story.left_out.items()]
    tries = (one for each in story.answers.values() for answered in each for one in answered.tries)
    if failures := [one.failure for one in tries if one.failure]:
        lines.append(f"{plural(len(failures), 'answer')} could not be had, and count as wrong: {failures[0]}")
    return "\n".join([*lines, *_missing(story)])


def _opening(story: Story) -> list[str]:
    found, reader = story.examination, story.identity["reader"]
    lines = [
        f"{plural(found.questions, 'question')} on {plural(len(story.films), 'film')}, answered by "
        f"{reader['model'] or reader['engine']}, {plural(story.tries, 'try', 'tries')} each.",
        "The questions:",
        f"- answered from nothing: {percent(found.blind or 0)} (by chance {percent(found.chance)})",
    ]
    if found.with_options:
        chance, places = percent(found.longest_chance), found.positions
        which = ", ".join(f"{place} in {times}" for place, times in places)
        lines += [
            f"- the longest option is right: {percent(found.longest)} (by chance {chance})",
            f"- the right option is number {which} questions; they are shuffled before each try",
        ]
    return [*lines, *(f"- FAULT: {fault}" for fault in found.faults)]


def _verdict(story: Story) -> list[str]:
    told, why = story.verdict
    answer = {True: "Yes.", False: "No, it cannot.", None: "Not known."}[told]
    span = story.span(story.accuracy("nothing"))
    if span is None:
        basis = "There are too few questions or films for intervals."
    elif span.unit == "film":
        few = " Of so few films they are wide, and rough." if span.units < FEWEST else ""
        basis = f"Intervals (95 %) are over {span.units} films, each left out once with its questions.{few}"
    else:
        basis = "Intervals (95 %) are over the questions of one film, and say nothing of other films."
    return [f"Does this set tell a good description from a bad one? {answer} {why}", basis]


def _missing(story: Story) -> list[str]:
    lost = lost_questions(story)
    lines = ["", f"Missing in this AD: {plural(len(lost), 'question')} lost."] if lost else []
    for one in lost[:_SHOWN]:
        at = f"{one.question.film} {one.time[:8] or 'at an unknown time'}"
        lines.append(f"- {at}, {one.room}: {one.question.text} {one.question.answer}")
    return [*lines, *([f"- and {len(lost) - _SHOWN} more"] if len(lost) > _SHOWN else [])]


MOST = 0.5
"""Share of the tries that must be right for a question to count as answered."""
NEAR = 5.0
"""Seconds around a moment in which a line may still tell of it: describers speak before or after what they
cannot say over the dialogue."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A question that this AD does not answer, and another description does.

    ``moment`` is when the film answers it: as the question says, else from the lines that a right answer
    rests on; None where neither is known. ``slots`` are the slots near it, each with this AD's line there
    (empty: none); None where the film's slots are not known. ``said`` is a wrong answer with this AD.
    """

    question: StoryQuestion
    known_by: str
    said: str
    moment: Interval | None
    slots: tuple[tuple[str, str], ...] | None

    @property
    def time(self) -> str:
        """When the moment begins, empty where it is not known."""
        return timecode(max(self.moment.start, 0.0)) if self.moment else ""

    @property
    def room(self) -> str:
        """Whether a line could have told it."""
        if self.slots is None or self.moment is None:
            return "unknown"
        if not self.slots:
            return "no slot"
        return "slot with a line" if all(line for _, line in self.slots) else "free slot"

    def record(self) -> Json:
        """As JSON, and as a row of `lost_csv`."""
        return {
            "film": self.question.film,
            "time": self.time,
            "start": self.moment.start if self.moment else None,
            "end": self.moment.end if self.moment else None,
            "question": self.question.text,
            "answer": self.question.answer,
            "said": self.said,
            "known_by": self.known_by,
            "room": self.room,
            "slots": " ".join(name for name, _ in self.slots or ()),
            "lines": " / ".join(line for _, line in self.slots or () if line),
        }


def lost_questions(story: Story) -> tuple[Lost, ...]:
    """The questions lost, by film and moment; none where neither a human AD nor a script was asked."""
    known_by = next((name for name in ("human", "script") if name in story.answers), "")
    if not known_by or "ad" not in story.answers:
        return ()
    films = {film.name: film for film in story.films}
    order = {name: place for place, name in enumerate(films)}
    found = [
        _lost(known, own, known_by, films[known.question.film])
        for known, own in zip(story.answers[known_by], story.answers["ad"], strict=True)
        if known.share >= MOST > own.share
    ]
    return tuple(sorted(found, key=lambda one: (order[one.question.film], one.time or "~")))


def _lost(known: Answered, own: Answered, known_by: str, film: StoryFilm) -> Lost:
    moment = known.question.evidence or _moment(known, film.human if known_by == "human" else film.script)
    said = next(one.said or one.failure for one in own.tries if not one.right)
    if film.slots is None or moment is None:
        return Lost(known.question, known_by, said, moment, None)
    near = Interval(moment.start - NEAR, moment.end + NEAR)
    ad = [(one.interval, one.text) for one in film.ad if one.interval]
    slots = (
        (slot.id, " ".join(text for time, text in ad if time.overlaps(slot.interval)))
        for slot in film.slots
        if slot.interval.overlaps(near)
    )
    return Lost(known.question, known_by, said, moment, tuple(slots))


def _moment(known: Answered, elements: Sequence[Element]) -> Interval | None:
    """From the first to the last line that a right answer names, where it names any."""
    for one in known.tries:
        times = [each.interval for each in elements if each.cue in one.rests_on and each.interval]
        if one.right and times:
            return Interval(min(time.start for time in times), max(time.end for time in times))
    return None


def lost_csv(lost: Sequence[Lost]) -> str:
    """The questions lost as a table that a describer works through."""
    out = io.StringIO()
    columns = Lost(StoryQuestion("", "", "", ""), "", "", None, None).record()
    writer = csv.DictWriter(out, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(one.record() for one in lost)
    return out.getvalue()
