"""How words are said: a list of ``word = as it is said``, from a file or from the cast. Pure logic."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from shotad.core import VoiceError

_FIRST_MARK = 0xE000
_LAST_MARK = 0xF8FF
"""Characters of private use: each stands for a word whose saying is settled while all else is written out."""
MARKS = f"{chr(_FIRST_MARK)}-{chr(_LAST_MARK)}"
"""All of them, for within the brackets of a pattern."""
_ANY_MARK = re.compile(f"[{MARKS}]")

_LONGEST = 200
"""Characters of a word or its saying."""


class Named(Protocol):
    """Of `shotad.core.cast.Member`, what a lexicon needs."""

    @property
    def says(self) -> str: ...
    @property
    def say_as(self) -> str: ...


@dataclass(frozen=True)
class Lexicon:
    """Sayings by word; a word may be several.

    Whole words are found, the longest first, also with a possessive ``'s`` behind. A word that is written
    small is found in any case; one with capitals as it is written or all in capitals.
    """

    sayings: Mapping[str, str]

    def joined(self, other: Lexicon) -> Lexicon:
        """Both; where both have a word, the saying of ``other`` counts."""
        return Lexicon({**self.sayings, **other.sayings})

    def marked(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The text with a mark in place of each known word, and the sayings of the marks in their order."""
        plain = _ANY_MARK.sub("", text)
        if self._pattern is None:
            return plain, ()
        said: list[str] = []

        def mark(match: re.Match[str]) -> str:
            saying = self._saying(match.group())
            if saying is None or len(said) > _LAST_MARK - _FIRST_MARK:
                return match.group()
            said.append(saying)
            return chr(_FIRST_MARK + len(said) - 1)

        return self._pattern.sub(mark, plain), tuple(said)

    def _saying(self, found: str) -> str | None:
        word = _straight(found)
        for written in (word, word.lower(), self._shouted.get(word, "")):
            if written in self._straight:
                return self._straight[written]
        return None

    @cached_property
    def _straight(self) -> dict[str, str]:
        return {_straight(word): saying for word, saying in self.sayings.items()}

    @cached_property
    def _shouted(self) -> dict[str, str]:
        return {word.upper(): word for word in self._straight}

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        words = sorted(self._straight, key=lambda word: (-len(word), word))
        if not words:
            return None
        any_of = "|".join(re.escape(word).replace("'", "['’]").replace(r"\ ", r"\s+") for word in words)
        return re.compile(rf"(?<![\w'’])(?:{any_of})(?!\w)", re.IGNORECASE)


NOTHING = Lexicon({})


def spoken_marks(text: str, sayings: tuple[str, ...]) -> str:
    """The text with each mark's saying in its place."""
    smaller = re.sub(f"(?<=[{MARKS}])(['’])S\\b", r"\1s", text)
    return _ANY_MARK.sub(lambda match: sayings[ord(match.group()) - _FIRST_MARK], smaller)


def parse_lexicon(text: str, source: str = "lexicon") -> Lexicon:
    """A lexicon from lines ``word = as it is said``; ``#`` begins a comment, at the start or after a space.

    Raises VoiceError, with ``source`` and the line, for one that cannot be meant.
    """
    sayings: dict[str, str] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        content = re.sub(r"(?:^|\s)#.*$", "", line).strip()
        if not content:
            continue
        word, equals, saying = (_tidy(part) for part in content.partition("="))
        trouble = _trouble(word, equals, saying)
        if not trouble and word in sayings:
            trouble = f"{word!r} stands twice"
        if trouble:
            raise VoiceError(f"{source}, line {number}: {trouble}.", "Write: Sintel = Sin-TELL")
        sayings[word] = saying
    return Lexicon(sayings)


def lexicon_of(people: Iterable[Named]) -> Lexicon:
    """How the names of a cast are said, where their entries tell (``say_as``)."""
    return Lexicon({person.says: person.say_as for person in people if person.says and person.say_as})


def saying_trouble(saying: str) -> str:
    """Why a saying cannot be said; empty for one that can."""
    if not any(c.isalpha() for c in saying):
        return f"{saying!r} has no letter to say"
    if len(saying) > _LONGEST:
        return f"a saying has {_LONGEST} characters at most, got {len(saying)}"
    odd = next((c for c in saying if c in "[]{}<>|\\/=_*" or unicodedata.category(c)[0] == "C"), None)
    return f"{odd!r} cannot be said" if odd is not None else ""


def _trouble(word: str, equals: str, saying: str) -> str:
    if not equals:
        return f"there is no '=' in {word!r}"
    if not any(c.isalnum() for c in word) or len(word) > _LONGEST:
        return f"{word!r} is no word"
    return saying_trouble(saying)


def _tidy(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _straight(text: str) -> str:
    return " ".join(text.replace("’", "'").split())
