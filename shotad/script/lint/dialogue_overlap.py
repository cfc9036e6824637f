"""L10 and L12: a line that says what is heard anyway, or what subtitles in the picture say. Pure logic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shotad.core import Interval, TextFact, Utterance
from shotad.script.english.smallwords import FUNCTION_WORDS
from shotad.script.lint.lines import TrackLine
from shotad.script.rules import Finding, Level

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_RUN = 4
"""Words in a row that a line and what is spoken have in common by chance only where few of them mean much."""
_FEWEST = 3
"""Words of a line that is said as a whole, at least."""
_MEANING = 2
"""How many of them must mean something."""


def check_dialogue(line: TrackLine, speech: Sequence[Utterance], window: float) -> Iterator[Finding]:
    """L10: ``line`` has four words in a row, two of them no small ones, that somebody says within ``window``
    seconds before or after it. Utterances without words say nothing."""
    near = [u for u in speech if u.text and _apart(u.interval, line.heard) <= window]
    shared = max((_shared(line.text, u.text) for u in near), key=_weight, default=None)
    if shared is not None and _weight(shared) != (0, 0):
        words = line.text[slice(*shared)]
        yield Finding("L10", Level.WARNING, f"is said in the dialogue too: {words!r}", span=shared)


def check_subtitles(line: TrackLine, texts: Sequence[TextFact], window: float) -> Iterator[Finding]:
    """L12: as L10, of subtitles that stand in the picture within ``window`` seconds of the line."""
    near = [text for text in texts if text.kind == "subtitle" and _apart(_shown(text), line.heard) <= window]
    shared = max((_shared(line.text, text.text) for text in near), key=_weight, default=None)
    if shared is not None and _weight(shared) != (0, 0):
        words = line.text[slice(*shared)]
        yield Finding("L12", Level.ERROR, f"stands in the subtitles of the picture: {words!r}", span=shared)


def _shown(text: TextFact) -> Interval:
    return Interval(text.first, max(text.last, text.first + 0.001))


def _apart(one: Interval, other: Interval) -> float:
    """Seconds between two times; 0 where they touch or overlap."""
    return max(0.0, one.start - other.end, other.start - one.end)


def _weight(span: tuple[int, int] | None) -> tuple[int, int]:
    return (0, 0) if span is None else (span[1] - span[0], -span[0])


def _shared(text: str, heard: str) -> tuple[int, int] | None:
    """The longest run of words of ``text`` that ``heard`` has too, as characters; None where it is too short.

    A line of three words must be said as a whole; shorter ones are let pass.
    """
    ours, theirs = list(_WORD.finditer(text)), [_key(word) for word in _WORD.findall(heard)]
    keys = [_key(match[0]) for match in ours]
    first, last = _longest_run(keys, theirs)
    meaning = sum(key not in FUNCTION_WORDS for key in keys[first:last])
    whole = last - first == len(keys) >= _FEWEST and meaning > 0
    if whole or (last - first >= _RUN and meaning >= _MEANING):
        return ours[first].start(), ours[last - 1].end()
    return None


def _key(word: str) -> str:
    return word.lower().replace("’", "'")


def _longest_run(ours: Sequence[str], theirs: Sequence[str]) -> tuple[int, int]:
    """Where the longest run of ``ours`` lies that stands in ``theirs`` too: [first, last), the earliest."""
    best = (0, 0)
    before = [0] * (len(theirs) + 1)
    for i, word in enumerate(ours, 1):
        row = [0] * (len(theirs) + 1)
        for j, other in enumerate(theirs, 1):
            if word == other:
                row[j] = before[j - 1] + 1
                if row[j] > best[1] - best[0]:
                    best = (i - row[j], i)
        before = row
    return best
