"""What came of `evaluate_story`, for people and programs; and what the description lacks.

A question is lost where most tries are right with the human AD (or the full script) and not with this AD. For
each there is the moment of the film that answers it, and whether a line could have stood there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from shotad import __version__
from shotad.core import Interval, aligned, plural, readable_json, write_text
from shotad.description import MISSING
from shotad.evaluation.datasets.tables import csv_text
from shotad.evaluation.metric import Json
from shotad.evaluation.report.intervals import FEWEST
from shotad.evaluation.report.table import percent, signed, span_words
from shotad.evaluation.story import Story
from shotad.evaluation.story_questions import CONDITIONS, StoryFilm, StoryQuestion
from shotad.script import timecode

_SHOWN = 10
"""Lost questions that the terminal shows; the files have all."""


def write_story(folder: Path, story: Story) -> tuple[Path, ...]:
    """Write ``story.json``, and where this AD was held against another, ``missing.csv`` and the list of each
    film in its work folder (``missing.json``). Their paths."""
    files = {folder / "story.json": readable_json(story_record(story))}
    if _known_by(story):
        lost = lost_questions(story)
        files[folder / "missing.csv"] = csv_text(COLUMNS, (tuple(one.record().values()) for one in lost))
        for film in story.films:
            if film.folder is not None:
                found = [one.finding() for one in lost if one.film is film]
                files[film.folder / MISSING] = readable_json({"missing": found})
    for path, text in files.items():
        write_text(path, text)
    return tuple(files)


def story_record(story: Story) -> Json:
    """``story.json``: figures, the examination of the questions, every answer, and what was lost."""
    (told, why), answers = story.verdict, story.answers.items()
    conditions: Json = {}
    for name, each in answers:
        found: Json = {"given": CONDITIONS[name]}
        results = (story.accuracy(name), story.passed(name), story.gain(name))
        for key, result in zip(("accuracy", f"pass@{story.tries}", "gain"), results, strict=True):
            span = story.span(result)
            found |= {key: result.value, f"{key}_interval": None if span is None else asdict(span)}
        failed = sum(bool(one.failure) for answered in each for one in answered.tries)
        conditions[name] = {**found, "failed": failed}
    return {
        "schema": 1,
        "shotad": __version__,
        "identity": story.identity,
        "examination": {**asdict(story.examination), "faults": story.examination.faults},
        "conditions": conditions,
        "left_out": dict(story.left_out),
        "tells_good_from_bad": {"answer": told, "why": why},
        "missing": [one.record() for one in lost_questions(story)],
        "questions": [
            {
                "film": one.question.film,
                "id": one.question.id,
                "question": one.question.text,
                "answer": one.question.answer,
                "answers": {name: list(map(asdict, all_of[place].tries)) for name, all_of in answers},
            }
            for place, one in enumerate(story.answers["nothing"])
        ],
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
    lines = [*_opening(story), "", *aligned(heads, rows, [2]), ""]
    lines += [f"Does this set tell a good description from a bad one? {answer} {why}", basis]
    lines += [f"Not asked: {CONDITIONS[name]}, {why}." for name, why in story.left_out.items()]
    tries = (one for each in story.answers.values() for answered in each for one in answered.tries)
    if failures := [one.failure for one in tries if one.failure]:
        lines.append(f"{plural(len(failures), 'answer')} could not be had, and count as wrong: {failures[0]}")
    lost = lost_questions(story)
    lines += ["", f"Missing in this AD: {plural(len(lost), 'question')} lost."] if lost else []
    for one in lost[:_SHOWN]:
        at = f"{one.question.film} {one.time[:8] or 'at an unknown time'}"
        lines.append(f"- {at}, {one.room}: {one.question.text} {one.question.answer}")
    return "\n".join([*lines, *([f"- and {len(lost) - _SHOWN} more"] if len(lost) > _SHOWN else [])])


def _opening(story: Story) -> list[str]:
    found, reader = story.examination, story.identity["engine"]
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


COLUMNS = (
    "film", "time", "start", "end", "question", "answer", "said", "known_by", "room", "slots", "lines",
)  # fmt: skip
"""Of ``missing.csv``."""
MOST = 0.5
"""Share of the tries that must be right for a question to count as answered."""
NEAR = 5.0
"""Seconds around a moment in which a line may still tell of it: describers speak before or after what they
cannot say over the dialogue."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A question that this AD does not answer, and another description does.

    ``moment`` is when the film answers it: as the question says, else from the lines that a right answer
    rests on; None where neither is known. ``said`` is a wrong answer with this AD.
    """

    question: StoryQuestion
    known_by: str
    said: str
    moment: Interval | None
    film: StoryFilm

    @property
    def time(self) -> str:
        """When the moment begins, empty where it is not known."""
        return timecode(max(self.moment.start, 0.0)) if self.moment else ""

    @property
    def around(self) -> Interval:
        """The moment and `NEAR` on both sides, with all of each slot that begins or ends there; the whole
        film where the moment is not known."""
        ends = [one.interval.end for one in self.film.ad if one.interval]
        moment = self.moment or Interval(0.0, max(ends, default=1.0))
        near = Interval(moment.start - NEAR, moment.end + NEAR)
        spans = [near, *(one.interval for one in self.film.slots or () if one.interval.overlaps(near))]
        return Interval(min(span.start for span in spans), max(span.end for span in spans))

    @property
    def slots(self) -> dict[str, str] | None:
        """The slots near the moment, each with this AD's line there (empty: none); None: not known."""
        if self.film.slots is None or self.moment is None:
            return None
        near = (slot for slot in self.film.slots if slot.interval.overlaps(self.around))
        return {slot.id: " ".join(self.lines(slot.interval)) for slot in near}

    def lines(self, time: Interval) -> list[str]:
        """This AD's lines in a part of the film."""
        return [one.text for one in self.film.ad if one.interval and one.interval.overlaps(time)]

    @property
    def room(self) -> str:
        """Whether a line could have told it."""
        if self.slots is None:
            return "unknown"
        if not self.slots:
            return "no slot"
        return "slot with a line" if all(self.slots.values()) else "free slot"

    def record(self) -> Json:
        """As JSON, and as a row of ``missing.csv``."""
        slots, asked = self.slots or {}, self.question
        times = (self.moment.start, self.moment.end) if self.moment else (None, None)
        lines = " / ".join(filter(None, slots.values()))
        told = (asked.text, asked.answer, self.said, self.known_by, self.room, " ".join(slots), lines)
        return dict(zip(COLUMNS, (asked.film, self.time, *times, *told), strict=True))

    def finding(self) -> Json:
        """As the work folder keeps it, for lint and the review page (`shotad.description.kept_findings`)."""
        said = (one.interval for one in self.film.dialogue if one.interval)
        talk = ": dialogue runs here" if any(time.overlaps(self.around) for time in said) else ""
        room = self.room + (talk if self.room == "no slot" else "")
        at = f"at {self.time[:8]} ({room})" if self.moment else "at an unknown time"
        return {
            "message": f"{at}: {self.question.text} Answer: {self.question.answer}",
            "start": self.moment.start if self.moment else 0.0,
            "around": [self.around.start, self.around.end],
            "free": [name for name, line in (self.slots or {}).items() if not line],
            "lines": self.lines(self.around),
        }


def _known_by(story: Story) -> str:
    """The condition that this AD is held against; empty where neither human AD nor script was asked."""
    return next((name for name in ("human", "script") if {name, "ad"} <= set(story.answers)), "")


def lost_questions(story: Story) -> tuple[Lost, ...]:
    """The questions lost, by film and moment; none where neither a human AD nor a script was asked."""
    known_by, found = _known_by(story), []
    for film in story.films if known_by else ():
        elements = film.human if known_by == "human" else film.script
        those = []
        for known, own in zip(story.answers[known_by], story.answers["ad"], strict=True):
            if known.question.film != film.name or not known.share >= MOST > own.share:
                continue
            moment = known.question.evidence
            for one in known.tries:  # from the first to the last line that a right answer names
                times = [each.interval for each in elements if each.cue in one.rests_on and each.interval]
                if moment is None and one.right and times:
                    moment = Interval(min(time.start for time in times), max(time.end for time in times))
            said = next(one.said or one.failure for one in own.tries if not one.right)
            those.append(Lost(known.question, known_by, said, moment, film))
        found += sorted(those, key=lambda one: one.time or "~")
    return tuple(found)
