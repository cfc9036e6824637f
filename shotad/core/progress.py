"""What is shown while long work goes on: a room announces a task and counts it up, a front end shows it.

And how text is made fit to be shown: without control characters, addresses without passwords and keys.
"""

from __future__ import annotations

import logging
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Literal, Protocol

from tqdm import tqdm

from shotad.core.errors import FilmError
from shotad.core.redaction import redact_sent_secrets

ProgressMode = Literal["bars", "plain", "quiet", "json"]
"""How progress is shown; with the last two it is not."""


class Task(Protocol):
    """One piece of long work that is under way."""

    def advance(self, amount: float = 1) -> None:
        """Count ``amount`` more units as done."""

    def done(self) -> None:
        """The work has ended, whether finished or not."""


class Progress(Protocol):
    """A front end for progress."""

    def task(self, name: str, total: float | None, unit: str) -> Task:
        """Announce work of ``total`` units (None: unknown), such as ``("Finding shots", 70.5, "s")``."""

    def note(self, text: str) -> None:
        """Say one plain line, at once."""


class NoProgress:
    """Says nothing, as front end and as task; the default for library use."""

    def task(self, name: str, total: float | None, unit: str) -> Task:
        return self

    def note(self, text: str) -> None: ...

    def advance(self, amount: float = 1) -> None: ...

    def done(self) -> None: ...


LOG = logging.getLogger("shotad")
"""Where a program that has nothing shown finds notes (INFO), warnings (WARNING), names of steps (DEBUG)."""


class LoggedProgress(NoProgress):
    """Writes notes and the names of tasks to the logger ``shotad``, without keys of servers."""

    def task(self, name: str, total: float | None, unit: str) -> Task:
        LOG.debug("%s", terminal_text(name))
        return super().task(name, total, unit)

    def note(self, text: str) -> None:
        LOG.info("%s", terminal_text(text))


@contextmanager
def progress_task(progress: Progress, name: str, total: float, unit: str) -> Iterator[Task]:
    """A task for the time of a block; none is announced where there is nothing to do."""
    task = progress.task(name, total, unit) if total else NoProgress()
    try:
        yield task
    finally:
        task.done()


def display_mode() -> ProgressMode:
    """``bars`` where standard error is a terminal, else ``plain`` lines, which a screen reader can follow."""
    return "bars" if sys.stderr.isatty() else "plain"


@dataclass(frozen=True, slots=True)
class Display:
    """Shows progress on standard error: bars, or plain lines."""

    mode: ProgressMode

    def task(self, name: str, total: float | None, unit: str) -> Task:
        """Announce a task; see `Progress`."""
        if self.mode == "bars":
            return _Bar(name, total, unit)
        if self.mode == "plain":
            return _Lines(name, total, unit)
        return NoProgress().task(name, total, unit)

    def note(self, text: str) -> None:
        """Say one line, unless told to be quiet."""
        if self.mode == "bars":
            tqdm.write(terminal_text(text), file=sys.stderr)
        elif self.mode == "plain":
            _say(text)


_STEP = 0.1
"""A plain task says a line for each tenth of its way."""
_PAUSE = 10.0
"""Seconds between two lines of a plain task of unknown length."""
_BREATH = 3.0
"""Seconds that a plain task is silent at least after each line, so that a screen reader can keep up."""


class _Bar:
    def __init__(self, name: str, total: float | None, unit: str) -> None:
        self._bar = tqdm(
            desc=terminal_text(name),
            total=total,
            unit=unit,
            unit_scale=unit == "B",
            leave=False,
            file=sys.stderr,
            dynamic_ncols=True,
            bar_format=None if total is None or unit == "B" else _BAR,
        )

    def advance(self, amount: float = 1) -> None:
        self._bar.update(amount)

    def done(self) -> None:
        self._bar.close()


_BAR = "{desc}: {percentage:3.0f}% |{bar}| {n:.0f}/{total:.0f} {unit}, {rate_fmt}, {remaining} left"


class _Lines:
    def __init__(
        self, name: str, total: float | None, unit: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name, self._total, self._unit, self._clock = name, total, unit, clock
        self._done = 0.0
        self._start = self._last = clock()
        self._next = _STEP
        self._said = 0
        self._say(f"{name}.")

    def advance(self, amount: float = 1) -> None:
        self._done += amount
        if self._total is None:
            if self._clock() - self._last >= _PAUSE:
                self._say(f"{self._name}: {self._amount(self._done)}.")
        elif self._total * self._next <= self._done < self._total and self._clock() - self._last >= _BREATH:
            self._next = int(self._done / self._total / _STEP + 1) * _STEP
            left = (self._clock() - self._start) / self._done * (self._total - self._done)
            self._say(
                f"{self._name}: {self._amount(self._done, bare=True)} of {self._amount(self._total)}, "
                f"{self._done / self._total:.0%}, about {duration(left)} left."
            )

    def done(self) -> None:
        seconds = self._clock() - self._start
        # While an exception passes, the work has ended without being done; what it was is told as an error.
        if seconds >= 1 and sys.exception() is None:
            self._say(f"{self._name}: done in {duration(seconds)}.")

    def _amount(self, number: float, *, bare: bool = False) -> str:
        unit = "MB" if self._unit == "B" else self._unit
        text = f"{number / 1e6:.1f}" if self._unit == "B" else f"{number:.0f}"
        return text if bare else f"{text} {unit}"

    def _say(self, text: str) -> None:
        self._last = self._clock()
        _say(text)


def duration(seconds: float) -> str:
    """A length of time in words: ``74 → 1 min 14 s``."""
    whole = max(round(seconds), 0)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def size_text(size: float) -> str:
    """``2500000000 → 2.5 GB``."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size / 1e3:.0f} kB"


def _say(text: str) -> None:
    sys.stderr.write(f"{terminal_text(text)}\n")
    sys.stderr.flush()


_UNSEEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that are written out: controls, halves of a pair, ends of lines."""
_HIDDEN = frozenset(
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # turn the direction of what follows
    "\u00ad\u034f\u180e\u200b\u2060\u2061\u2062\u2063\u2064\ufeff"  # have no width
    "\u206a\u206b\u206c\u206d\u206e\u206f\ufff9\ufffa\ufffb"
) | {chr(code) for code in range(0xE0000, 0xE0080)}
"""Marks that nobody sees, by which a text shows otherwise than it is. Joiners, and marks of direction that do
not turn letters, stay: Persian, Hebrew, Hindi and emoji are written with them."""

_LINE_END = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def printable(text: str) -> str:
    r"""``text`` with what has no place on a line written out: line ends as ``\n``, byte 255 as ``\xff``."""
    return terminal_text(text, "")


def visible_text(text: str) -> str:
    """``text`` without what nobody sees: controls, halves of a pair, hidden marks.

    Ends of lines of every kind become newlines, a tab a space. Text from outside goes through here before it
    stands in a line, a script, a page or a prompt.
    """
    if text.isprintable():
        return text
    lines = _LINE_END.sub("\n", text).replace("\t", " ")
    return "".join(character for character in lines if character == "\n" or not _is_unseen(character))


def terminal_text(text: str, allowed: str = "\n\t") -> str:
    """Text of several lines as it may be printed: newlines and tabs stay, what is not seen is written out.
    Keys of servers are struck out."""
    text = redact_sent_secrets(text)
    if text.isprintable():
        return text
    return "".join(
        _written(character) if character not in allowed and _is_unseen(character) else character
        for character in text
    )


def single_line(text: str) -> str:
    """The same of words that may go over several lines: they are put on one."""
    return printable(" ".join(filter(None, (line.strip() for line in text.split("\n")))))


def is_text(name: str) -> bool:
    """Whether a name is UTF-8; bytes of others come as halves of pairs (PEP 383)."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def film_name_problem(place: str) -> FilmError:
    """What is wrong with a film whose path is no text: its name stands in all that is made of it."""
    return FilmError(
        f"The name of {printable(place)} is not in UTF-8, and nothing could be called after it.",
        "Rename the film or its folder; convmv does it for many.",
    )


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN or character in _HIDDEN


def _written(character: str) -> str:
    # Bytes of a name that are no UTF-8 come as characters of their own (PEP 383).
    code = ord(character)
    byte = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else None
    return character.encode("unicode_escape").decode("ascii") if byte is None else f"\\x{byte:02x}"


_CREDENTIALS = re.compile(r"(?<=://)[^/\s?#]*@")
_SECRET_NAME = re.compile(r"key|token|secret|sig|pass|pwd|code|auth|cred", re.IGNORECASE)
_QUERY = re.compile(r"([?&][^=?&\s]*=)([^&\s'\"]*)")


def address_without_secrets(text: str) -> str:
    """An address without user, password and keys: ``https://me:pw@host/v1?key=x → https://host/v1?key=…``."""
    return _QUERY.sub(
        lambda query: f"{query[1]}…" if _SECRET_NAME.search(query[1]) else query[0],
        _CREDENTIALS.sub("", text),
    )


_BEFORE_A_PATH = re.compile(r"(?:[\w.@-]{2,}+[=:](?!//))*")
"""What may stand before a path: the key of a setting, an engine, a metric (``llm-ad-eval@llama3:/mine``).

Not the one letter of a drive, nor the scheme of an address.
"""


def without_folder(text: str) -> str:
    """The text with the file's name alone where it is an absolute path, or ends in one after ``=`` or ``:``.

    For what is passed on: folders of this machine are nobody's business.

    >>> without_folder("llama3:/home/ann/models/mine")
    'llama3:mine'
    """
    if "\n" in text:
        return text
    before = _BEFORE_A_PATH.match(text)
    for start in (0, before.end() if before else 0):
        for path in (PurePosixPath(text[start:]), PureWindowsPath(text[start:])):
            if path.is_absolute():
                return text[:start] + (path.name or text[start:])
    return text


def plural(number: int, singular: str, plural_form: str = "") -> str:
    """``1 AD``, ``7,316 ADs``."""
    return f"{number:,} {singular if number == 1 else plural_form or singular + 's'}"


def table_lines(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()
) -> list[str]:
    """Lines of a table in columns; those whose places are in ``numbers`` end at the right.

    >>> table_lines(("name", "n"), [("a", "10"), ("bcdef", "9")], [1])
    ['name    n', 'a      10', 'bcdef   9']
    """
    table = [tuple(heads), *map(tuple, rows)]
    widths = [max(len(row[place]) for row in table) for place in range(len(heads))]
    return [
        "  ".join(
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
