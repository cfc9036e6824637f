"""When the things that a line tells of are seen, so that it is not spoken before.

The embedded narrator says of each of its statements when it is seen. A language model does not; but its Stage
I may say in which shot something happens, and the people of the cast who are named have faces on the frames.
Where nothing is known, the line keeps the start of its slot.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from shotad.core.cast import EMPTY_PRESENCE, Presence
from shotad.core.config.languages import is_english
from shotad.core.types import Role
from shotad.description.english_words import content_of
from shotad.description.leaks import SHOTS
from shotad.description.stage_answers import Stage1Answer, Statement
from shotad.script.cue import VisibleTime
from shotad.script.names import cast_mentions
from shotad.script.pace import spoken_words

Part = tuple[int, float, float | None]
"""A part of a line: the words of the line before it, and the seconds from and until which it is seen."""

_PART = re.compile(r"(?<=[.!?…])\s+|[,;]\s+|\s(?=(?:and|as|while|then|before|until)\s)")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")
_ALIKE = 2
"""Words that a part of a line must share with a sentence of Stage I to be taken from it."""


def sight_of(
    text: str,
    statements: Sequence[Statement],
    stage1: Stage1Answer,
    seconds_per_word: float,
    language: str = "en",
    presence: Presence = EMPTY_PRESENCE,
) -> VisibleTime | None:
    """When ``text`` may start so that everything is seen when it is said; None where that is not known.

    ``statements`` are the narrator's of this line, empty for a line of a language model.
    """
    parts: list[Part] = []
    if statements:
        for statement in statements:
            if statement.since is not None:
                parts.append((statement.words_before, statement.since, statement.until))
    else:
        parts += _by_shots(text, stage1, language)
        parts += _by_faces(text, stage1, language, presence)
    words = spoken_words(text, language)
    return VisibleTime.of((part for part in parts if part[0] < words), seconds_per_word)


def _by_faces(text: str, stage1: Stage1Answer, language: str, presence: Presence) -> Iterator[Part]:
    """When the faces of those who are named are first seen in the slot's own shots."""
    if not presence.sightings:
        return
    own_shots = [shot.interval for shot in stage1.shots if shot.role is Role.CURRENT]
    for mention in cast_mentions(text, presence.cast):
        seconds_in_slot = []
        for sighting in presence.sightings:
            is_in_slot = any(shot.start <= sighting.seconds < shot.end for shot in own_shots)
            if sighting.name == mention.id and is_in_slot:
                seconds_in_slot.append(sighting.seconds)
        if seconds_in_slot:
            yield spoken_words(text[: mention.start], language), min(seconds_in_slot), None


def _by_shots(text: str, stage1: Stage1Answer, language: str) -> Iterator[Part]:
    """When the shots begin of which Stage I says what parts of the line say again."""
    starts = {shot.number: shot.interval.start for shot in stage1.shots}
    # With a single shot all is seen from the beginning, as far as anybody can tell.
    if len(starts) < 2 or not is_english(language):
        return
    # The words of each sentence of Stage I, and when the first shot begins that it, or one before, names
    sentences: list[tuple[Counter[str], float | None]] = []
    for paragraph in stage1.description.raw.splitlines():
        begins: float | None = None
        for sentence in _SENTENCE.split(paragraph):
            named = " ".join(match[0] for match in SHOTS.finditer(sentence))
            seconds = [starts[n] for n in map(int, re.findall(r"\d+", named)) if n in starts]
            begins = min(seconds) if seconds else begins
            sentences.append((content_of(SHOTS.sub(" ", sentence)), begins))
    if all(begins is None for _, begins in sentences):
        return
    words_before = 0
    for part in _PART.split(text):
        content = content_of(part)
        shared = [(sum((content & words).values()), begins) for words, begins in sentences]
        most_shared = max((number for number, _ in shared), default=0)
        best_starts = [begins for number, begins in shared if number == most_shared]
        known_starts = [begins for begins in best_starts if begins is not None]
        # Every sentence that shares most must say when; else the part may come from one that does not.
        all_known = len(known_starts) == len(best_starts)
        if most_shared >= _ALIKE and 2 * most_shared >= sum(content.values()) and all_known:
            yield words_before, min(known_starts), None
        words_before += spoken_words(part, language)
