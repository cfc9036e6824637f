"""The sounds of a text in the International Phonetic Alphabet, as espeak-ng reads it.

espeak-ng is under the GPL and never part of this program: it runs in a process of its own, text in, sounds
out. It is the program where that is installed, else the library in the wheel ``espeakng-loader``
(``shotad[kokoro]``), which needs no rights of an administrator.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from shotad.sound.voice_programs import ESPEAK, espeak_program, espeak_version, run_program

TIE = "^"
"""Between the letters of one sound: ``t^ʃ``."""

LIBRARY_PACKAGE = "espeakng-loader"
_LIBRARY_MODULE = "espeakng_loader"
_LIBRARIES = ("libespeak-ng.so", "libespeak-ng.dylib", "espeak-ng.dll")
"""The library's file in the wheel: of Linux, macOS, Windows. A wheel has the one of its system."""

_SILENT = str.maketrans(dict.fromkeys('"“”«»()[]{}¡¿', " "))
"""Signs that stand around words and are not heard."""
_SIGNS = re.compile(r"[;:,.!?…—]++")
_INITIAL = re.compile(r"\b[^\W\d_]$")
"""The letter before the full stop of ``J. Lee``, at the end of what stands before it."""
_LANGUAGE_SWITCH = re.compile(r"\([a-z]{2,3}(?:-[a-z\d-]+)?\)")
"""What espeak-ng writes before a word that it reads in another language: ``(en)``."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who turns text into sounds: the command, to which a language is added, and its version."""

    command: tuple[str, ...]
    version: str


def find_reader() -> Reader | None:
    """The reader that is installed; None where there is none. Runs nothing but ``espeak-ng --version``."""
    program = espeak_program()
    if program is not None:
        command = (program, "-q", "--ipa", f"--tie={TIE}", "--stdin", "-v")
        return Reader(command, f"{ESPEAK} {espeak_version(program)}")
    package = importlib.util.find_spec(_LIBRARY_MODULE)
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent
    library = next((folder / name for name in _LIBRARIES if (folder / name).is_file()), None)
    if library is None:
        return None
    script = Path(__file__).with_name("espeak_library.py")
    command = (sys.executable, "-I", "-S", str(script), str(library), str(folder / "espeak-ng-data"))
    return Reader(command, f"{LIBRARY_PACKAGE} {metadata.version(LIBRARY_PACKAGE)}")


def read_sounds(text: str, language: str, reader: Reader, voice: str) -> str:
    """The sounds of ``text`` with its punctuation. Raises VoiceError where the reader fails.

    ``language`` is a name of espeak-ng's, such as ``en-us``. Each clause is read by itself, for espeak-ng
    keeps no punctuation.
    """
    parts: list[str] = []
    for clause, mark in _clauses(text):
        output = run_program([*reader.command, language], clause, voice=voice).decode("utf-8", "replace")
        # Behind a language in brackets the tie is between its letters too.
        sounds = " ".join(_LANGUAGE_SWITCH.sub("", _untied_switches(output)).split())
        parts.append(sounds + mark)
    return " ".join(parts)


def _untied_switches(output: str) -> str:
    return re.sub(r"\([^)]*\)", lambda switch: switch.group().replace(TIE, ""), output)


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """The clauses of a text, each with the sign behind it; those without a letter or digit left out.

    >>> list(_clauses("“Open”, she says. J. Lee runs 3.5 km"))
    [('Open', ','), ('she says', '.'), ('J. Lee runs 3.5 km', '')]
    """
    plain = " ".join(text.translate(_SILENT).split())
    # The quotes of “Open”, leave a space before the comma.
    plain = re.sub(r" ([;:,.!?…])", r"\1", plain)
    start = 0
    for signs in _SIGNS.finditer(plain):
        if not _ends_clause(plain, signs):
            continue
        clause = plain[start : signs.start()].strip()
        start = signs.end()
        if any(character.isalnum() for character in clause):
            yield clause, signs.group()[-1]
    last_clause = plain[start:].strip()
    if any(character.isalnum() for character in last_clause):
        yield last_clause, ""


def _ends_clause(text: str, signs: re.Match[str]) -> bool:
    """Whether a voice pauses at these signs: not in ``3.5`` and ``1:30``, nor after the J of ``J. Lee``."""
    if signs.end() == len(text):
        return True
    is_behind_initial = _INITIAL.search(text, max(0, signs.start() - 2), signs.start()) is not None
    return text[signs.end()].isspace() and not (is_behind_initial and len(signs.group()) == 1)
