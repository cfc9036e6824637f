"""Parts of patterns that several rules share."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shotad.sound.pronunciation.lexicon import MARKS

NAME = rf"[A-ZÀ-ÖØ-ÞŒŠŽА-ЯΑ-Ω{MARKS}]"
"""The first letter of a name, or the mark of one whose saying is settled."""

_CLOSING = r"[\"”’'»)\]]*"
ENDS_SENTENCE = rf"(?={_CLOSING}(?:\s*$|\s+[\"“‘'«(]?{NAME}))"
"""Where a full stop also ends the sentence, as far as can be seen."""


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first; spaces may be of any length."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s*") for word in ordered) + ")"


def key_of(found: str, table: Iterable[str]) -> str:
    """The word of a table that `any_of` found, whatever the spaces in it."""
    plain = "".join(found.split())
    return next(word for word in table if "".join(word.split()) == plain)
