"""Voices by name, ``KIND`` or ``KIND:WHICH``, and what every kind has in common: their sound is cleaned.

A module is imported only when its kind is asked for.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from shotad.core.cancellation import raise_if_cancelled
from shotad.core.config.sound import VoiceSettings
from shotad.core.engine import server_description
from shotad.core.errors import VoiceError
from shotad.sound.kinds import Take
from shotad.sound.voice_sound import cleaned


@dataclass(frozen=True, slots=True)
class VoiceKind:
    """A kind of voices: where its class is, and when it is offered.

    ``path`` is the class as ``module:Class``, see `Speaker`. ``in_auto``: ``auto`` may take it; never one
    that sends lines away. ``effort`` orders kinds by what it takes to get them, the least first; None: no
    error or page offers it, for it is for tests.
    """

    path: str
    in_auto: bool = False
    effort: int | None = None

    @property
    def is_offered(self) -> bool:
        """Whether people are offered the kind."""
        return self.effort is not None


VOICE_KINDS = {
    "hibari": VoiceKind("shotad.sound.own_voices:HibariVoice", in_auto=True, effort=0),
    "piper": VoiceKind("shotad.sound.voice_programs:Piper", in_auto=True, effort=3),
    "kokoro": VoiceKind("shotad.sound.kokoro_voice:KokoroVoice", in_auto=True, effort=2),
    "say": VoiceKind("shotad.sound.system_voices:SayVoice", in_auto=True, effort=1),
    "sapi": VoiceKind("shotad.sound.system_voices:SapiVoice", in_auto=True, effort=1),
    "espeak-ng": VoiceKind("shotad.sound.voice_programs:Espeak", in_auto=True, effort=1),
    "openai": VoiceKind("shotad.sound.voice_server:EndpointVoice", effort=4),
    "fake": VoiceKind("shotad.sound.own_voices:FakeVoice"),
}
"""The kinds by name. `voices` lists them in this order, and ``auto`` takes the first that speaks.

A kind that sends nothing away stands in `shotad.core.config.sound.LOCAL_VOICES` too.
"""

AUTO = "auto"
_MAX_WAYS = 2
"""Ways to get a voice that an error names at most."""

_MAX_NEAR = 3
"""Voices with a name like a wrong one that an error names at most."""

_MAX_LISTED = 8
"""Voices that an error names at most."""


def make_voice(settings: VoiceSettings, language: str) -> Speaker:
    """The voice that the settings ask for, ready to speak ``language``.

    ``auto`` is the embedded voice if it speaks the language, else a program that is installed. Raises
    VoiceError for a name that is unknown, a voice that is not installed, and one that does not speak the
    language; the error says which do.
    """
    name = settings.name.strip()
    kind, _, which = name.partition(":")
    if name in ("", AUTO):
        candidates = (info for kind in auto_kinds() for info in kind_class(kind).known())
        kind = next((info.kind for info in candidates if info.installed and info.speaks(language)), "")
        which = ""
        if not kind:
            message = f"No voice that speaks {plain_language(language)!r} is installed."
            raise VoiceError(message, language_hint(language))
    voice = kind_class(kind).named(which, language, settings)
    if not voice.speaks(language):
        raise VoiceError(f"The voice {voice.name} does not speak {language!r}.", language_hint(language))
    return voice


def voices(language: str | None = None) -> list[VoiceInfo]:
    """All voices that are known, in the order of ``auto``; with a ``language`` those that speak it.

    Loads no model and contacts no other machine.
    """
    infos = sorted((info for kind in VOICE_KINDS for info in kind_class(kind).known()), key=_rank)
    if language is None:
        return infos
    speaking = [info for info in infos if info.speaks(language)]
    return sorted(
        speaking,
        key=lambda info: (
            _rank(info),
            -max(language_nearness(spoken_language, language) for spoken_language in info.languages),
        ),
    )


def auto_kinds() -> tuple[str, ...]:
    """The kinds that ``auto`` takes from, the best first."""
    return tuple(name for name, kind in VOICE_KINDS.items() if kind.in_auto)


def kind_class(kind: str) -> type[Speaker]:
    """The class of a kind. Raises VoiceError for a kind that is not known."""
    if kind not in VOICE_KINDS:
        raise unknown_voice("voice or kind of voices", kind, sorted([AUTO, *VOICE_KINDS]))
    module, _, attribute = VOICE_KINDS[kind].path.partition(":")
    return cast(type[Speaker], getattr(importlib.import_module(module), attribute))


def language_hint(language: str) -> str:
    """A hint: which voices that are installed speak a language; else what to install, the easiest first."""
    speaking = voices(language)
    installed = [info.name for info in speaking if info.installed and VOICE_KINDS[info.kind].in_auto]
    if installed:
        more = (
            f", and {len(installed) - _MAX_LISTED} more (shotad voices)"
            if len(installed) > _MAX_LISTED
            else ""
        )
        return f"Installed voices for it: {', '.join(installed[:_MAX_LISTED])}{more}."
    missing: list[tuple[int, str]] = []
    for info in speaking:
        effort = VOICE_KINDS[info.kind].effort
        if effort is not None and not info.installed:
            missing.append((effort, info.note))
    ways = dict.fromkeys(note for _, note in sorted(missing, key=lambda way: way[0]))
    return " ".join([" Or: ".join(list(ways)[:_MAX_WAYS]), "shotad voices lists all."]).strip()


def privacy_notes(voice: Speaker) -> list[str]:
    """Plain lines for before the first word is spoken: what leaves this machine; none where all stays."""
    if not voice.sends_to:
        return []
    where = server_description(f"{voice.sends_to} to be spoken", voice.key_name)
    lines = [f"The lines of the track leave this machine: they are sent to {where}."]
    if voice.is_open:
        lines.append(f"The connection to {voice.sends_to} is not encrypted (http).")
    return lines


def _rank(info: VoiceInfo) -> int:
    return list(VOICE_KINDS).index(info.kind)


ANY_LANGUAGE = "all"
"""In `VoiceInfo.languages`: whatever it is asked for."""

_LANGUAGE_ALIASES = {
    "cmn": "zh", "nb": "no", "nn": "no", "iw": "he", "in": "id", "ji": "yi", "tl": "fil", "mo": "ro",
    "jp": "ja",
}  # fmt: skip
"""Languages that have two names; each is compared under the second."""

_DEFAULT_REGIONS = {"en": "en-us", "fr": "fr-fr"}
"""Which region is taken for a language that is named without one, where a kind has only voices of regions."""


class Reading(StrEnum):
    """What a voice turns into words by itself; the rest is written out for it (`sound.pronunciation`)."""

    WORDS = "words"
    """Nothing but words."""
    NUMBERS = "numbers"
    """Numbers of all kinds, times and money too; short words in capitals, letter by letter."""
    UNITS = "units"
    """The same, and units."""


@dataclass(frozen=True, slots=True)
class VoiceInfo:
    """A voice as `shotad voices` lists it.

    ``name`` is what it is asked for by; ``languages`` are BCP 47, or ``all``. ``note`` says how to get it
    where it is not ``installed``, else what should be known of it. ``sounds_like`` is another voice that
    sounds the same; empty: none.
    """

    name: str
    kind: str
    languages: tuple[str, ...]
    licence: str
    installed: bool
    note: str = ""
    sounds_like: str = ""

    def speaks(self, language: str) -> bool:
        return includes_language(self.languages, language)


RawSound = tuple[npt.NDArray[np.floating[Any]], int, float]
"""``float[n]``, its rate, and the speed that was reached."""


class Speaker(Protocol):
    """Somebody who speaks, with what other packages want to know. Classes of speakers derive from it; the
    table of kinds holds them."""

    name: str
    identity: str
    """All that changes how it says a text: name, version, model; kept takes are found by it."""
    languages: tuple[str, ...] = (ANY_LANGUAGE,)
    reads: Reading = Reading.WORDS
    at_once: int = 1
    """How many lines may be spoken at the same time."""
    together: int = 1
    """How many lines it is best given in one go."""
    sends_to: str = ""
    """The host that lines are sent to; empty where they stay on this machine."""
    key_name: str = ""
    """The environment variable that holds the key which goes there too; empty where none does."""
    longest: int = 500
    """Characters that it is given at once; a longer text is spoken in pieces. What a voice needs grows with
    the longest sentence, or faster: the embedded one takes 0.3 MB for each character of it."""
    speaks_words: bool = True
    """Whether its sound lasts as long as speech in every language; the fake voice's does not."""
    is_open: bool = False
    """Whether they go there without encryption."""

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """The voices of this kind, found without loading a model or using the network; none where this system
        can never have them."""

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> Speaker:
        """The voice ``which`` of this kind; empty: its best for the language. Raises VoiceError."""

    def speaks(self, language: str) -> bool:
        """Whether it can speak a language (BCP 47: ``en``, ``en-GB``, ``de``)."""
        return includes_language(self.languages, language)

    def speak(self, text: str, speed: float = 1.0) -> Take:
        """The text, spoken by its own means. Raises VoiceError, for a text without a word too.

        ``speed`` 1 is the pace at which AD is spoken, about `PACE` words a minute in English, whatever the
        voice would do by itself; only a voice whose pace is not known (behind a server, of Windows) takes
        its own for 1.
        """
        require_words(text, self.name)
        takes: list[Take] = []
        for piece in split_into_pieces(text, self.longest):
            raise_if_cancelled()
            takes.append(self._take(*self._sound(piece, speed)))
        return joined_takes(takes, self.name)

    def speak_all(self, texts: Sequence[str], speed: float = 1.0) -> list[Take]:
        """One take for each text. Raises VoiceError."""
        return [self.speak(text, speed) for text in texts]

    def left_out(self, text: str) -> tuple[str, ...]:
        """The words of ``text``, as it is sent to the voice, that the voice has no sound for and leaves out.

        Empty for a voice of which that is not known.
        """
        return ()

    def _sound(self, text: str, speed: float) -> RawSound:
        """The text as the voice gives it. Raises VoiceError."""

    def _take(self, samples: npt.NDArray[np.floating[Any]], rate: int, speed: float) -> Take:
        return Take(cleaned(samples, rate, self.name), rate, speed)


PIECE_PAUSE = 0.25
"""Seconds of silence between two pieces of a long text."""

_PIECE_ENDS = (
    re.compile(r"[.!?…。！？؟][\"”’'»)\]]*\s+|[。！？]"),
    re.compile(r"[,;:，、；：،]\s*|\s[–—-]\s"),
    re.compile(r"\s+"),
)
"""Where a text is parted: behind a sentence, else behind a comma, else between two words."""


_BLANKS_FOR_CONTROLS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ")


def split_into_pieces(text: str, longest: int) -> list[str]:
    """A text in pieces of at most so many characters, each with a word in it.

    What JSON can hold and programs stumble over is replaced: a control character, at which espeak-ng ends,
    by a blank, half of a surrogate pair by a question mark.

    >>> split_into_pieces("He runs. She sleeps, he sits.", 16)
    ['He runs.', 'She sleeps,', 'he sits.']
    """
    pieces: list[str] = []
    remaining = text.encode("utf-8", "replace").decode("utf-8").translate(_BLANKS_FOR_CONTROLS).strip()
    while len(remaining) > longest:
        cut = longest
        for ends in _PIECE_ENDS:
            last = max((match.end() for match in ends.finditer(remaining[:longest])), default=0)
            if last > longest // 3:
                cut = last
                break
        pieces.append(remaining[:cut].strip())
        remaining = remaining[cut:]
    pieces.append(remaining.strip())
    return [piece for piece in pieces if any(c.isalnum() for c in piece)]


def joined_takes(takes: Sequence[Take], voice: str) -> Take:
    """Takes of pieces as one, with a pause between them. Raises VoiceError where their rates differ."""
    if len(takes) == 1:
        return takes[0]
    rate = takes[0].rate
    if any(take.rate != rate for take in takes):
        raise VoiceError(f"The voice {voice} speaks at several sample rates.", "Try another voice.")
    pause = np.zeros(round(PIECE_PAUSE * rate), np.float32)
    parts = [part for take in takes for part in (take.samples, pause)]
    return Take(np.concatenate(parts[:-1]), rate, takes[0].speed)


def require_words(text: str, voice: str) -> None:
    """Raises VoiceError for a text without a letter or a digit: some voices breathe, others fail."""
    if not any(c.isalnum() for c in text):
        raise VoiceError(f"The voice {voice} cannot say {text[:80]!r}: there is no word in it.")


def without_brackets(text: str) -> str:
    """``text`` with blanks for brackets, in which some voices take orders: ``[word](/sounds/)``, ``[[rate
    300]]``."""
    return text.translate({ord("["): " ", ord("]"): " "})


def plain_language(language: str) -> str:
    """The language without region or script, under its usual name: ``en-GB → en``, ``cmn-Latn → zh``."""
    first = language.replace("_", "-").partition("-")[0].lower()
    return _LANGUAGE_ALIASES.get(first, first)


def includes_language(languages: Iterable[str], language: str) -> bool:
    """Whether one of ``languages`` is ``language``, be it of another region."""
    wanted_language = plain_language(language)
    return any(spoken == ANY_LANGUAGE or plain_language(spoken) == wanted_language for spoken in languages)


def language_nearness(spoken: str, language: str) -> int:
    """How near two languages are: 0 for others, more the more of region and script they share."""
    if spoken == ANY_LANGUAGE:
        return 1
    if plain_language(spoken) != plain_language(language):
        return 0
    full = _DEFAULT_REGIONS.get(language.lower(), language)
    parts, wanted_parts = (set(text.replace("_", "-").lower().split("-")[1:]) for text in (spoken, full))
    return 10 + 4 * len(parts & wanted_parts) - len(parts - wanted_parts)


def unknown_voice(noun: str, name: str, names: Sequence[str], otherwise: str = "") -> VoiceError:
    """The error for a name that is not known: the nearest, and all where they are few."""
    by_folded_name = {text.casefold(): text for text in reversed(names)}
    near = difflib.get_close_matches(name.casefold(), by_folded_name, n=_MAX_NEAR, cutoff=0.65)
    hint = f"Did you mean {' or '.join(by_folded_name[folded] for folded in near)}? " if near else ""
    listed = f"Known: {', '.join(names)}." if 0 < len(names) <= 20 else otherwise
    return VoiceError(
        f"There is no {noun} called {name!r}.", (hint + listed).strip(), again=False, usage=True
    )
