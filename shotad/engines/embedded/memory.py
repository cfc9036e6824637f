"""What the last lines said already, and the choice between wordings that follows from it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TypeVar

from shotad.core import Character, Named
from shotad.engines.embedded.naming import face_of, resolved, stands_for, without_cast
from shotad.engines.embedded.phrases import Clause
from shotad.engines.embedded.quotes import clean
from shotad.engines.embedded.words import agree, bare

_SETTINGS = ("in the dark", "in dim light", "out of the dark", "up close", "close by")
_NEAR = ("up close", "close by")
"""How near somebody is: of one person, not of the scene."""
_OTHERS = re.compile(r"\b(?:another person|other people|several others|many others)\b")
_SAME_WORD = 0.8
"""Likeness of letters from which two readings are of one word, if it is long enough for a misread letter."""
_LONG_WORD = 5

T = TypeVar("T")


class Memory:
    """The last lines, newest first, and a fair coin: its throws follow from the seed alone.

    ``known`` are those who may be named, ``cast`` all whose names a line may have. ``spoken`` is True where
    somebody has spoken since the last line, so that it is not in mind any more.
    """

    def __init__(
        self,
        history: Sequence[str],
        seed: int,
        known: Sequence[Named] = (),
        cast: Sequence[Character] = (),
        spoken: bool = False,
    ) -> None:
        told = [resolved(line, before, known, cast) for before, line in pairwise(["", *history])]
        self._lines = [bare(line) for line in reversed(told)]
        self._told = [bare(re.sub(r'"[^"]*"', " ", line)) for line in reversed(told)]
        self._texts = [bare(without_cast(line, cast)) for line in reversed(history)]
        self._last = history[-1] if history and not spoken else ""
        self._cast = cast
        self._known = [bare(name.called) for name in known]
        self._plurals = any(name.pronoun == "they" for name in known)
        self._quotes = [bare(q) for line in history for q in re.findall(r'"([^"]+)"', line)]
        self._seed = seed

    def __len__(self) -> int:
        return len(self._lines)

    def lines_since(self, phrase: str) -> int | None:
        """How many lines ago a phrase was said, 0 for the last line; None where it was not."""
        return _since(phrase, self._lines)

    def since_named(self, names: Sequence[Named]) -> int | None:
        """How many lines ago the one of these was named who was named first; None where one was not.

        A name that was read aloud, as a film's title may be, tells of nobody.
        """
        since = [_since(name.called, self._told) for name in names]
        known = [ago for ago in since if ago is not None]
        return max(known) if known and len(known) == len(since) else None

    def saw_face(self, named: Named) -> bool:
        """True where one of the last lines has told of this person's face, or of them up close."""
        told = _since(face_of(named), self._told) is not None
        return told or any("up close" in line for line in self._about(named))

    def means(self, named: Named) -> bool:
        """True where a pronoun can only be heard as of this person."""
        return stands_for(named, self._last, self._cast)

    def names_somebody(self) -> bool:
        """True where the last line told of somebody known."""
        return any(f" {called} " in f" {line} " for line in self._told[:1] for called in self._known)

    def since_among(self, names: Sequence[Named]) -> int | None:
        """How many lines ago all of these were said to be with people who have no name."""
        called = [f" {bare(name.called)} " for name in names]
        for ago, line in enumerate(self._told):
            if _OTHERS.search(line) and all(name in f" {line} " for name in called):
                return ago
        return None

    def places(self, named: Named | None = None) -> list[str]:
        """Settings that the last lines have given, so that they need not be given again; how near ``named``
        is, only where they were told of."""
        told = [place for place in _SETTINGS if self.lines_since(place) is not None]
        if named is None:
            return told
        about = self._about(named)
        return [place for place in told if place not in _NEAR or any(place in line for line in about)]

    def lines_since_any(self, clauses: Sequence[Clause]) -> int | None:
        """The same for a statement in any of its wordings."""
        patterns = [_with_detail(clause, self._plurals) for clause in clauses]
        for ago, line in enumerate(self._lines):
            if any(pattern.search(line) for pattern in patterns):
                return ago
        return None

    def has_read(self, text: str) -> bool:
        """True where these words, or a reading hardly different, stand in one of the last lines.

        A film may be called like one of its people: that a line names them does not read its title.
        """
        words = bare(clean(text))
        told = any(f" {words} " in f" {line} " for line in self._texts)
        return told or any(same_text(words, quote) for quote in self._quotes)

    def order(self, clauses: Sequence[Clause], tag: str) -> list[Clause]:
        """The wordings, those least lately used first; equals in an order that the seed gives."""
        return sorted(clauses, key=lambda clause: (self._freshness(clause), self._coin(tag + clause.core)))

    def choose(self, options: Sequence[T], tag: str) -> T:
        """One of the options, the same for the same seed and tag."""
        return min(options, key=lambda option: self._coin(f"{tag}:{option}"))

    def _about(self, named: Named) -> list[str]:
        return [line for line in self._told if _since(named.called, [line]) is not None]

    def _freshness(self, clause: Clause) -> int:
        """0 for a verb not heard in the last lines; more the later it was heard."""
        forms = (agree(clause.verb, False), agree(clause.verb, True), clause.core)
        heard = [ago for form in forms if (ago := self.lines_since(form)) is not None]
        return len(self) - min(heard) if heard else 0

    def _coin(self, tag: str) -> bytes:
        return hashlib.blake2b(f"{self._seed}:{tag}".encode(), digest_size=8).digest()


def _since(phrase: str, lines: Sequence[str]) -> int | None:
    words = f" {bare(phrase)} "
    return next((ago for ago, line in enumerate(lines) if words in f" {line} "), None)


def _with_detail(clause: Clause, plurals: bool) -> re.Pattern[str]:
    """The clause as it may stand in a line: with or without what tells the person from others.

    ``plurals``: somebody is they, after which the verb stands in the plural.
    """
    forms = (clause.many, True) if plurals else (clause.many,)
    verbs = "|".join(re.escape(bare(agree(clause.verb, many))) for many in dict.fromkeys(forms))
    return re.compile(rf"\b{re.escape(bare(clause.subject))}( (with|in) [a-z ]{{1,40}}?)? (?:{verbs})\b")


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
