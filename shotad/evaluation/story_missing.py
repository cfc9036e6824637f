"""What a description lacks: questions that it leaves open and another description answers.

A question is lost where most tries are right with the human AD (or the full script) and not with this AD. For
each there is the moment of the film that answers it, and whether a line could have stood there.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from shotad.core import Interval
from shotad.evaluation.metric import Json
from shotad.evaluation.screenplay import Element
from shotad.evaluation.story import Answered, Story
from shotad.evaluation.story_films import StoryFilm
from shotad.evaluation.story_questions import StoryQuestion
from shotad.script import timecode

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
