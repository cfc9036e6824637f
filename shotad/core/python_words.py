"""Options of commands in messages, as a Python caller writes them.

Messages name options, since most people use commands. A public function of ``import shotad`` passes on the
same errors, warnings and notes (`python_messages`), in which ``--existing ignore`` is ``existing="ignore"``
and ``--set scale.method=none`` is ``settings={"scale.method": "none"}``. A whole command in a sentence,
``shotad lint FILE --film FILM``, stays: it is for a terminal.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from shotad.core.errors import ShotadError
from shotad.core.progress import Progress, Task

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_SAME_NAMES = (
    "actions", "annotation", "cache", "cast", "casts", "config", "descriptions", "engine", "existing", "film",
    "make", "metrics", "missing", "note", "out", "root", "shard", "shots", "slots", "subtitles", "system",
    "taste", "track", "voice",
)  # fmt: skip
_ARGUMENTS = {
    **{name: name for name in _SAME_NAMES},
    "frame-rate": "frame_rate",
    "from": "start",
    "judge": "judges",
    "to": "end",
}
"""The argument of a function that stands for an option with a value."""
_FLAGS = {"discard-edits": "discard_edits=True", "force": "force=True", "no-sheet": "worksheet=False"}
_SETTINGS = {
    "ask": "fit.ask", "audio-track": "film.audio_track", "candidates": "stage2.candidates",
    "context": "story.on", "detail": "slots.detail", "encoding": "speech.encoding",
    "extended": "extended.on", "language": "language", "speak-subtitles": "voice.subtitles",
    "subtitle-voice": "voice.subtitle_voice", "verify": "verify.on",
}  # fmt: skip
"""The setting that stands for an option."""
_GIVEN_CAST = {"cast-key": "key", "cast-photos": "photos"}
"""Options that are arguments of `GivenCast`."""

_VALUE_WORDS = (
    "auto|brief|cider|complete|embedded|ignore|mix|none|normal|off|openai|paper|rich|small|sound|stop|whole"
)
_OPTION = re.compile(
    # A word alone may go on with the sentence: "--subtitles names a file".
    r"(?<![\w-])--(?P<name>[a-z][a-z-]*[a-z])"
    r"(?:[ =](?P<value>'[^']*'|\"[^\"]*\"|[A-Z][A-Z_]+\b(?:=[A-Z]+)?|[^\s(),;]*[./:=\d][^\s(),;]*?"
    rf"|(?:{_VALUE_WORDS})\b|(?<=language )[a-z]{{2,3}}|(?<=make )[a-z]{{2,5}}|\S+(?= is\b))"
    r"(?=[\s(),;.:]|$))?"
)
_COMMAND = re.compile(r"\bshotad [a-z]+ ")
_SENTENCE_END = re.compile(r"[.:;] |[.)]$|$")


def in_python(text: str) -> str:
    """A message of a command in the words of Python.

    >>> in_python("To describe the film all the same: --existing ignore.")
    'To describe the film all the same: existing="ignore".'
    >>> in_python("Use features without weights: --set threads.features=grid.")
    'Use features without weights: settings={"threads.features": "grid"}.'
    """
    pieces: list[str] = []
    place = 0
    while (command := _COMMAND.search(text, place)) is not None:
        pieces.append(_OPTION.sub(_argument, text[place : command.start()]))
        end = _SENTENCE_END.search(text, command.end())
        place = len(text) if end is None else end.end()
        pieces.append(text[command.start() : place])
    pieces.append(_OPTION.sub(_argument, text[place:]))
    return "".join(pieces)


def _argument(option: re.Match[str]) -> str:
    name, value = option["name"], (option["value"] or "").strip("'\"")
    # The last point ends the sentence.
    point = "." if value.endswith(".") else ""
    value = value.removesuffix(".")
    if name == "set":
        key, has_value, setting = value.partition("=")
        shown = f'settings={{"{key}": {_literal(setting)}}}' if has_value else "settings="
    elif name in _FLAGS:
        shown = _FLAGS[name] + (f" {value}" if value else "")
    elif name in _ARGUMENTS:
        shown = f"{_ARGUMENTS[name]}={_literal(value) if value else ''}"
    elif name in _SETTINGS:
        literal = _literal(value) if value else "…" if name in _NEEDS_VALUE else "True"
        shown = f'settings={{"{_SETTINGS[name]}": {literal}}}'
    elif name in _GIVEN_CAST:
        shown = f"shotad.GivenCast(…, {_GIVEN_CAST[name]}={_literal(value) if value else '…'})"
    else:
        return option[0]
    return shown + point


_NEEDS_VALUE = frozenset(
    {
        *("audio-track", "candidates", "detail", "encoding", "language", "speak-subtitles"),
        "subtitle-voice",
    }
)
"""Options of settings that are no flags."""


def _literal(value: str) -> str:
    """A value of the command line as Python writes it."""
    if re.fullmatch(r"-?\d+(?:\.\d+)?", value):
        return value
    if value in ("true", "false"):
        return value.title()
    return f'"{value}"'


def python_messages(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """``function`` with its errors in the words of Python (`in_python`); for the public functions."""

    @functools.wraps(function)
    def with_python_words(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except ShotadError as error:
            error.what, error.hint = in_python(error.what), in_python(error.hint)
            error.args = (f"{error.what} {error.hint}".strip(), *error.args[1:])
            raise

    return with_python_words


@dataclass(frozen=True, slots=True)
class PythonNotes:
    """A front end for progress that hands all calls on to ``progress``, notes in the words of Python."""

    progress: Progress

    def task(self, name: str, total: float | None, unit: str) -> Task:
        """Announce a task; see `Progress`."""
        return self.progress.task(name, total, unit)

    def note(self, text: str) -> None:
        """Say one line; see `Progress`."""
        self.progress.note(in_python(text))
