"""From when on what a line tells is to be seen, by the records of both stages.

The embedded narrator says it of each of its statements. A language model does not; but its Stage I may say
in which shot something happens, and whoever of the cast is named has a face on the frames. Of what is left
nothing is known, and the line keeps the start of its slot.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shotad.core import NOBODY, Presence, Role, is_english
from shotad.description.leakwords import SHOTS
from shotad.description.wording import content_of
from shotad.script import Sight, cast_mentions, spoken_words

Part = tuple[int, float, float | None]
"""A part of a line: the words of the line before it, and the seconds from and until which it is seen."""

Rows = Sequence[Mapping[str, Any]]
"""What the narrator notes of the statements of one line (``notes.said`` of Stage II's record)."""

_PART = re.compile(r"(?<=[.!?…])\s+|[,;]\s+|\s(?=(?:and|as|while|then|before|until)\s)")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")
_ALIKE = 2
"""Words that a part of a line must share with a sentence of Stage I to be taken from it."""
_UNTIMED = ("thing", "motion", "flash", "fade-in", "fade-out", "contrast", "level")
"""Statements of whose facts older records have no times."""


def sight_of(
    text: str,
    said: Rows,
    stage1: Mapping[str, Any],
    seconds_per_word: float,
    language: str = "en",
    presence: Presence = NOBODY,
) -> Sight | None:
    """When the line ``text`` may start so that nothing in it is told before it is seen; None where nothing
    tells.

    ``said`` are the narrator's notes on it, empty where a model wrote it; ``presence`` is who of the cast is
    on the frames.
    """
    if said:
        parts = list(_by_facts(said, stage1))
    else:
        parts = [*_by_shots(text, stage1, language), *_by_faces(text, presence, stage1, language)]
    words = spoken_words(text, language)
    return Sight.of((part for part in parts if part[0] < words), seconds_per_word)


def _by_facts(said: Rows, stage1: Mapping[str, Any]) -> Iterator[Part]:
    """What the narrator notes; where it noted no times, the first moment of what the line begins with."""
    for at, row in enumerate(said):
        if "since" in row:
            yield row["after"], row["since"], row["until"]
        elif at == 0 and (first := _first_of(row, stage1["notes"])) is not None:
            yield 0, first, None


def _first_of(row: Mapping[str, Any], facts: Mapping[str, Any]) -> float | None:
    what = str(row["what"])
    if what in _UNTIMED:
        return None
    texts = what in ("title", "sign", "credit", "credits")
    kind = "texts" if texts else "figures" if what.startswith("figure") else "people"
    return min((fact["first"] for fact in facts.get(kind, ()) if fact["shot"] == row["shot"]), default=None)


def _by_shots(text: str, stage1: Mapping[str, Any], language: str) -> Iterator[Part]:
    """When the shots begin of which Stage I says what parts of the line say again."""
    starts = {row["number"]: row["start"] for row in stage1.get("shots", ())}
    if len(starts) < 2 or not is_english(language):
        return
    told = list(_told_of_shots(stage1["raw"], starts))
    if all(second is None for _, second in told):
        return
    at = 0
    for part in _PART.split(text):
        content = content_of(part)
        shared = [(sum((content & words).values()), second) for words, second in told]
        most = max((number for number, _ in shared), default=0)
        seconds = [second for number, second in shared if number == most]
        if most >= _ALIKE and 2 * most >= sum(content.values()) and None not in seconds:
            yield at, min(second for second in seconds if second is not None), None
        at += spoken_words(part, language)


def _told_of_shots(raw: str, starts: Mapping[int, float]) -> Iterator[tuple[Counter[str], float | None]]:
    """The words of each sentence of Stage I's answer, and when the first shot begins that it speaks of.

    A sentence without a shot goes on with that of the one before it, in its own paragraph.
    """
    for paragraph in raw.splitlines():
        second: float | None = None
        for sentence in _SENTENCE.split(paragraph):
            named = " ".join(match[0] for match in SHOTS.finditer(sentence))
            shots = [starts[n] for n in map(int, re.findall(r"\d+", named)) if n in starts]
            second = min(shots) if shots else second
            yield content_of(SHOTS.sub(" ", sentence)), second


def _by_faces(text: str, presence: Presence, stage1: Mapping[str, Any], language: str) -> Iterator[Part]:
    """When the faces of those who are named are first seen in the slot's own shots."""
    current = [
        (row["start"], row["end"]) for row in stage1.get("shots", ()) if row["role"] == Role.CURRENT.value
    ]
    for mention in cast_mentions(text, presence.cast) if presence.sightings else ():
        seen = [s.seconds for s in presence.sightings if s.name == mention.id]
        shown = [second for second in seen if any(start <= second < end for start, end in current)]
        if shown:
            yield spoken_words(text[: mention.start], language), min(shown), None
