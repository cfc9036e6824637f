"""How much it matters that a line is heard, in points that can be explained."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from shotad.core import Shot
from shotad.script import count_words

READ_OUT = 3.0
"""Points of a line that reads out text: whoever cannot see has no other way to it."""

NEWCOMER = 2.0
"""Points of a line that names a person or place for the first time: later lines build on the name."""

SILENCE, LONG_SILENCE = 30.0, 2.0
"""Seconds without a line that are worth one point, and the most points for it."""

CUTS, MANY_CUTS = 5.0, 1.0
"""Cuts since the last line that are worth one point, and the most points for them."""

WORDS, MANY_WORDS = 20.0, 1.0
"""Words that are worth one point, and the most points for them."""

_READS_OUT = re.compile(
    r"[\"“”„«»「『]\s*\w|(?<!\w)['‘‚]\w[^'’]*['’](?!\w)|\b[Rr]eads?\b|\b[Tt]itles?\b|\b[A-Z]{2,}(?:\s+[A-Z]{2,})+\b"
)
"""What tells a line that reads out text: something quoted (AD quotes no speech), a word for it, capitals."""

_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_OPENS = re.compile(r"(?:^|[.!?…:;]|[\"“”„«»])\s*$")
_NOUNS_HAVE_CAPITALS = ("de", "lb", "gsw")


@dataclass(frozen=True, slots=True)
class Worth:
    """Points, more for what matters more, and the words for them."""

    points: float
    reasons: tuple[str, ...]

    def of_lost(self, heard: int, words: int) -> Worth:
        """What is lost where ``heard`` of ``words`` words are heard: half the words, half the points."""
        share = 1 - heard / max(1, words)
        return Worth(self.points * share, (*self.reasons, f"{share:.0%} of it not heard"))

    def __str__(self) -> str:
        return f"{self.points:.1f} points" + (f": {', '.join(self.reasons)}" if self.reasons else "")


def worth(
    text: str, start: float, last: float, names: Iterable[str], told: Iterable[str], shots: Sequence[Shot]
) -> Worth:
    """How much the line ``text`` at second ``start`` matters.

    ``last`` is the end of the last line heard before (0: none), ``names`` are those of the track
    (`names_of`), ``told`` the texts of the lines before.
    """
    cuts = sum(last < after.interval.start <= start for _, after in pairwise(shots))
    silence = max(0.0, start - last)
    new = _newcomers(text, names, told)
    found = [
        (READ_OUT if _READS_OUT.search(text) else 0.0, "reads out text"),
        (NEWCOMER if new else 0.0, f"introduces {', '.join(new)}"),
        (min(LONG_SILENCE, silence / SILENCE), f"{silence:.0f} s since the last line"),
        (min(MANY_CUTS, cuts / CUTS), f"{cuts} cuts since the last line"),
        (min(MANY_WORDS, count_words(text) / WORDS), f"{count_words(text)} words"),
    ]
    return Worth(sum(points for points, _ in found), tuple(said for points, said in found if points > 0))


def names_of(texts: Sequence[str], language: str) -> frozenset[str]:
    """Words that a track writes with a capital within a sentence, and never without: ``{"Emo", "Proog"}``.

    None where the language writes all nouns so; where it has no capitals there are none.
    """
    if language.lower().split("-")[0] in _NOUNS_HAVE_CAPITALS:
        return frozenset()
    small, names = set(), set()
    for text in texts:
        for match in _WORD.finditer(text):
            word = _bare(match.group())
            if word.islower():
                small.add(word)
            elif word.istitle() and not _OPENS.search(text[: match.start()]):
                names.add(word)
    return frozenset(name for name in names if len(name) > 1 and name.lower() not in small)


def _newcomers(text: str, names: Iterable[str], told: Iterable[str]) -> list[str]:
    known = set(names) - {word for line in told for word in _words(line)}
    return [word for word in dict.fromkeys(_words(text)) if word in known]


def _words(text: str) -> list[str]:
    return [_bare(word) for word in _WORD.findall(text)]


def _bare(word: str) -> str:
    return re.sub(r"[’']s$", "", word)
