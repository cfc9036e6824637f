"""What every kind of voice has in common: how it is listed, asked for, and matched with a language."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from shotad.core import VoiceError, VoiceSettings
from shotad.sound.kinds import Take, Voice

ALL = "all"
"""In `VoiceInfo.languages`: whatever it is asked for."""

_SAME = {
    "cmn": "zh", "nb": "no", "nn": "no", "iw": "he", "in": "id", "ji": "yi", "tl": "fil", "mo": "ro",
    "jp": "ja",
}  # fmt: skip
"""Languages that have two names; each is compared under the second."""


_USUALLY = {"en": "en-us", "fr": "fr-fr"}
"""Which region is taken for a language that is named without one, where a kind has only voices of regions."""


class Reading(StrEnum):
    """What a voice turns into words by itself; the rest is written out for it (`sound.pronunciation`)."""

    NUMBERS = "numbers"
    """Cardinals, ordinals, decimals and years."""
    TIMES = "times"
    MONEY = "money"
    UNITS = "units"
    LETTERS = "letters"
    """Short words in capitals, letter by letter."""


EVERYTHING = frozenset(Reading)


@dataclass(frozen=True, slots=True)
class VoiceInfo:
    """A voice as `shotad voices` lists it.

    ``name`` is what it is asked for by; ``languages`` are BCP 47, or ``all``. ``note`` says how to get it
    where it is not ``installed``, else what should be known of it.
    """

    name: str
    kind: str
    languages: tuple[str, ...]
    licence: str
    installed: bool
    note: str = ""

    def speaks(self, language: str) -> bool:
        """Whether it can speak a language."""
        return speaks_one(self.languages, language)


class Speaker(Voice, Protocol):
    """A voice with what the rooms around it want to know."""

    @property
    def reads(self) -> frozenset[Reading]:
        """What it turns into words by itself."""
        ...

    @property
    def at_once(self) -> int:
        """How many lines may be spoken at the same time."""
        ...

    @property
    def sends_to(self) -> str:
        """The host that lines are sent to; empty where they stay on this machine."""
        ...


class Choir(Speaker, Protocol):
    """A voice that speaks several lines in one go much faster than one by one."""

    @property
    def together(self) -> int:
        """How many lines it is best given in one go."""
        ...

    def speak_all(self, texts: Sequence[str], speed: float = 1.0) -> list[Take]:
        """One take for each text. Raises VoiceError."""
        ...


class Kind(Protocol):
    """A class of voices, as the table of kinds holds it."""

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """The voices of this kind, found without loading a model or using the network."""
        ...

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> Speaker:
        """The voice ``which`` of this kind; empty: its best for the language. Raises VoiceError."""
        ...


def plain_language(language: str) -> str:
    """The language without region or script, under its usual name: ``en-GB → en``, ``cmn-Latn → zh``."""
    first = language.replace("_", "-").partition("-")[0].lower()
    return _SAME.get(first, first)


def speaks_one(languages: Iterable[str], language: str) -> bool:
    """Whether one of ``languages`` is ``language``, be it of another region."""
    wanted = plain_language(language)
    return any(known == ALL or plain_language(known) == wanted for known in languages)


def nearness(known: str, language: str) -> int:
    """How near two languages are: 0 for others, more the more of region and script they share."""
    if known == ALL:
        return 1
    if plain_language(known) != plain_language(language):
        return 0
    asked = _USUALLY.get(language.lower(), language)
    parts, wanted = (set(text.replace("_", "-").lower().split("-")[1:]) for text in (known, asked))
    return 10 + 4 * len(parts & wanted) - len(parts - wanted)


def unknown(what: str, name: str, known: Sequence[str], otherwise: str = "") -> VoiceError:
    """The error for a name that is not known: the nearest, and all where they are few."""
    near = difflib.get_close_matches(name.casefold(), [text.casefold() for text in known], n=1, cutoff=0.65)
    meant = next((text for text in known if near and text.casefold() == near[0]), "")
    hint = f"Did you mean {meant}? " if meant else ""
    listed = f"Known: {', '.join(known)}." if 0 < len(known) <= 20 else otherwise
    return VoiceError(
        f"There is no {what} called {name!r}.", (hint + listed).strip(), again=False, usage=True
    )
