"""What the last lines said already, and the choice between wordings that follows from it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TypeVar

from shotad.engines.narration.phrases import Clause
from shotad.engines.narration.quotes import clean
from shotad.engines.narration.words import agree, bare

_SETTINGS = ("in the dark", "in dim light", "out of the dark", "up close", "close by")
_SAME_WORD = 0.8
"""Likeness of letters from which two readings are of one word, if it is long enough for a misread letter."""
_LONG_WORD = 5

T = TypeVar("T")


class Memory:
    """The last lines, newest first, and a fair coin: its throws follow from the seed alone."""

    def __init__(self, history: Sequence[str], seed: int) -> None:
        self._lines = [bare(line) for line in reversed(history)]
        self._quotes = [bare(q) for line in history for q in re.findall(r'"([^"]+)"', line)]
        self._seed = seed

    def __len__(self) -> int:
        return len(self._lines)

    def lines_since(self, phrase: str) -> int | None:
        """How many lines ago a phrase was said, 0 for the last line; None where it was not."""
        words = f" {bare(phrase)} "
        return next((ago for ago, line in enumerate(self._lines) if words in f" {line} "), None)

    def places(self) -> list[str]:
        """Settings that the last lines have given, so that they need not be given again."""
        return [place for place in _SETTINGS if self.lines_since(place) is not None]

    def lines_since_any(self, clauses: Sequence[Clause]) -> int | None:
        """The same for a statement in any of its wordings."""
        patterns = [_with_detail(clause) for clause in clauses]
        for ago, line in enumerate(self._lines):
            if any(pattern.search(line) for pattern in patterns):
                return ago
        return None

    def has_read(self, text: str) -> bool:
        """True where these words, or a reading hardly different, stand in one of the last lines."""
        words = bare(clean(text))
        return self.lines_since(words) is not None or any(same_text(words, q) for q in self._quotes)

    def order(self, clauses: Sequence[Clause], tag: str) -> list[Clause]:
        """The wordings, those least lately used first; equals in an order that the seed gives."""
        return sorted(clauses, key=lambda clause: (self._freshness(clause), self._coin(tag + clause.core)))

    def choose(self, options: Sequence[T], tag: str) -> T:
        """One of the options, the same for the same seed and tag."""
        return min(options, key=lambda option: self._coin(f"{tag}:{option}"))

    def _freshness(self, clause: Clause) -> int:
        """0 for a verb not heard in the last lines; more the later it was heard."""
        forms = (agree(clause.verb, False), agree(clause.verb, True), clause.core)
        heard = [ago for form in forms if (ago := self.lines_since(form)) is not None]
        return len(self) - min(heard) if heard else 0

    def _coin(self, tag: str) -> bytes:
        return hashlib.blake2b(f"{self._seed}:{tag}".encode(), digest_size=8).digest()


def _with_detail(clause: Clause) -> re.Pattern[str]:
    """The clause as it may stand in a line: with or without what tells the person from others."""
    subject, verb = bare(clause.subject), bare(agree(clause.verb, clause.many))
    return re.compile(rf"\b{re.escape(subject)}( (with|in) [a-z ]{{1,40}}?)? {re.escape(verb)}\b")


def same_text(first: str, second: str) -> bool:
    """True for two readings of one text, give or take misread letters or spaces.

    SINTEL and SINTEI are one; CHAPTER ONE and CHAPTER TWO, or PART 1 and PART 2, are not.
    """
    a, b = bare(first).split(), bare(second).split()
    if not a or not b:
        return False
    if "".join(a) == "".join(b):
        return True
    return len(a) == len(b) and all(_same_word(x, y) for x, y in zip(a, b, strict=True))


def _same_word(x: str, y: str) -> bool:
    if x == y:
        return True
    plain = x.isalpha() and y.isalpha() and min(len(x), len(y)) >= _LONG_WORD
    return plain and SequenceMatcher(None, x, y, autojunk=False).ratio() >= _SAME_WORD
