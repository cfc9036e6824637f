"""espeak-ng, run as a program where it is installed (it is under the GPL and never part of this one).

A hundred languages, robotic, quick. What it offers is asked from the program itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shotad.core import VoiceError, VoiceSettings
from shotad.sound.kinds import Take
from shotad.sound.voice_engines.base import Reading, VoiceInfo, nearness, speaks_one, unknown
from shotad.sound.voice_engines.program import found, run
from shotad.sound.voice_engines.takes import cleaned, decoded, need_words

PROGRAM = "espeak-ng"
_LICENCE = "GPL-3.0, a program of its own"
_GET = "Install espeak-ng (apt install espeak-ng, brew install espeak-ng)."
_PACE = 149
"""Its own setting at which it speaks 166 words of AD a minute, with pauses (60 lines of human AD,
benchmarks/voices.py); left to itself, at 175, it speaks 195."""
_PACES = (80, 450)
"""Settings that it knows."""
_ROW = re.compile(r"\s*\d+\s+(?P<language>\S+)\s+\S+\s+(?P<name>\S+)\s+(?P<file>\S+)\s*(?P<others>.*)")
_OTHER = re.compile(r"\(([\w-]+) \d+\)")
_VARIANT = re.compile(r"[\w.-]*")


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of ``espeak-ng --voices``. ``language`` is also what it is asked for by."""

    language: str
    name: str
    others: tuple[str, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        """All that it speaks."""
        return (self.language, *self.others)


class Espeak:
    """``espeak-ng:de``, ``espeak-ng:en-gb``; variants as the program names them: ``espeak-ng:en-gb+f3``."""

    def __init__(self, program: Path, entry: Entry, variant: str = "") -> None:
        self._program, self._entry = program, entry
        self._which = entry.language + (f"+{variant}" if variant else "")
        self.name = f"{PROGRAM}:{self._which}"
        self.identity = f"{self.name} {version(program)} {_PACE}"
        self.reads: frozenset[Reading] = frozenset()
        self.at_once = 2
        self.sends_to = ""

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """All that the program lists; where it is missing, one entry that says how to get it."""
        program = found(PROGRAM)
        rows = entries(program) if program else ()
        unlike = {row.language: row for row in reversed(rows)}
        if not rows:
            return (VoiceInfo(PROGRAM, PROGRAM, _USUAL, _LICENCE, False, _GET),)
        return tuple(
            VoiceInfo(f"{PROGRAM}:{row.language}", PROGRAM, row.languages, _LICENCE, True, _spaced(row.name))
            for row in reversed(unlike.values())
        )

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> Espeak:
        """By language or by the program's own name of a voice, else the nearest to ``language``."""
        program = found(PROGRAM)
        if program is None:
            raise VoiceError(f"The voice {PROGRAM} is not installed.", _GET)
        rows = entries(program)
        base, _, variant = which.partition("+")
        if not _VARIANT.fullmatch(variant):
            raise VoiceError(f"{variant!r} is no variant of a voice.", "Write, for example, espeak-ng:en+f3.")
        if base:
            return cls(program, _by_name(base, rows), variant)
        best = max(rows, key=lambda row: _nearness(row, language), default=None)
        if best is None or not speaks_one(best.languages, language):
            raise VoiceError(f"{PROGRAM} does not speak {language!r}.", "It lists: espeak-ng --voices.")
        return cls(program, best)

    def speaks(self, language: str) -> bool:
        """Whether the voice is for this language."""
        return speaks_one(self._entry.languages, language)

    def speak(self, text: str, speed: float = 1.0) -> Take:
        """The text at ``speed``, at 22050 samples a second as a rule. Raises VoiceError."""
        need_words(text, self.name)
        pace = min(max(round(_PACE * speed), _PACES[0]), _PACES[1])
        command = [
            str(self._program),
            "-v",
            self._which,
            "-s",
            str(pace),
            "-b",
            "1",
            "-z",
            "--stdin",
            "--stdout",
        ]
        samples, rate = decoded(run(command, text, voice=self.name), self.name)
        return Take(cleaned(samples, rate, self.name), rate, self.name, text, pace / _PACE)


@cache
def entries(program: Path) -> tuple[Entry, ...]:
    """What the program lists; nothing where it fails. MBROLA's are left out: they need another program."""
    try:
        lines = run([str(program), "--voices"], voice=PROGRAM, timeout=20).decode("utf-8", "replace")
    except VoiceError:
        return ()
    rows = (match for line in lines.splitlines() if (match := _ROW.fullmatch(line)))
    return tuple(
        Entry(row["language"], row["name"], tuple(_OTHER.findall(row["others"])))
        for row in rows
        if not row["file"].startswith("mb/")
    )


@cache
def version(program: Path) -> str:
    """The program's version; empty where it does not say."""
    try:
        said = run([str(program), "--version"], voice=PROGRAM, timeout=20).decode("utf-8", "replace")
    except VoiceError:
        return ""
    match = re.search(r"(?<![\d.])\d+(?:\.\d+)+", said)
    return match.group() if match else ""


def _nearness(row: Entry, language: str) -> int:
    return max(nearness(known, language) for known in row.languages)


def _by_name(base: str, rows: tuple[Entry, ...]) -> Entry:
    wanted = base.replace("_", "-").casefold()
    for row in rows:
        if wanted in (row.language.casefold(), row.name.replace("_", "-").casefold()):
            return row
    near = max(rows, key=lambda row: nearness(row.language, base), default=None)
    if near is not None and nearness(near.language, base) > 0:
        return near
    names = [name for row in rows for name in (row.language, row.name)]
    raise unknown("espeak-ng voice", base, names, "espeak-ng --voices lists them.")


def _spaced(name: str) -> str:
    return name.replace("_", " ").strip() + "."


_USUAL = (
    "af", "ar", "bg", "bn", "ca", "cs", "cy", "da", "de", "el", "en", "eo", "es", "et", "eu", "fa", "fi",
    "fr", "ga", "gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kn", "ko", "lt", "lv",
    "mk", "ml", "mr", "ms", "nb", "ne", "nl", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sq", "sr", "sv",
    "sw", "ta", "te", "th", "tr", "uk", "ur", "vi", "zh",
)  # fmt: skip
"""Languages that it is known to speak, for who has yet to install it."""
