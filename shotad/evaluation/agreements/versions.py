"""Two human ADs of the same films, from scripts or from a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shotad.core import EvaluationError, Interval, ScriptError
from shotad.script import parse_time, read_cues

RATER_COLUMNS = ("rater", "version", "annotator", "describer")
FILM_COLUMNS = ("film", "imdbid", "movie")
_HINT = "Columns: film, rater (two of them), start, end, text."


@dataclass(frozen=True, slots=True)
class Spoken:
    """One line of human AD, in seconds of its film."""

    id: str
    film: str
    interval: Interval
    text: str


@dataclass(frozen=True, slots=True)
class Version:
    """All that one describer wrote, in the file's order."""

    name: str
    lines: tuple[Spoken, ...]

    def films(self) -> dict[str, list[Spoken]]:
        """The lines of each film."""
        found: dict[str, list[Spoken]] = {}
        for line in self.lines:
            found.setdefault(line.film, []).append(line)
        return found


def from_scripts(a: Path, b: Path, film: str = "film") -> tuple[Version, Version]:
    """Two scripts of one film, in any format that shotad reads. Raises ScriptError, EvaluationError."""
    names = (a.stem, b.stem) if a.stem != b.stem else (f"{a.stem} (A)", f"{b.stem} (B)")
    return _script(a, names[0], film), _script(b, names[1], film)


def from_table(path: Path) -> tuple[Version, Version]:
    """A table (CSV) of both versions of any number of films. Raises EvaluationError with file and line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path} cannot be read: {error}.") from None
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    heads = [head.strip() for head in rows.fieldnames or ()]
    rater = next((name for name in RATER_COLUMNS if name in heads), None)
    film = next((name for name in FILM_COLUMNS if name in heads), None)
    if rater is None or not {"start", "end", "text"} <= set(heads):
        raise EvaluationError(f"{path.name} has the columns {', '.join(heads) or 'none'}.", _HINT)
    found: dict[str, list[Spoken]] = {}
    for row in rows:
        cells = {key.strip(): (cell or "").strip() for key, cell in row.items() if isinstance(key, str)}
        line = _line(cells, film, f"{path.name}, line {rows.line_num}")
        if line is not None:
            found.setdefault(cells[rater], []).append(line)
    if len(found) != 2:
        raise EvaluationError(f"{path.name} has {len(found)} raters: {', '.join(found) or 'none'}.", _HINT)
    one, two = (Version(name, _numbered(lines)) for name, lines in found.items())
    return one, two


def at_rate(version: Version, words_per_minute: float) -> Version:
    """The same lines, each as long as its words take at this rate: cues of scripts often stay on screen until
    the next one, or end before the words do."""
    second = words_per_minute / 60
    lines = (
        replace(
            line,
            interval=Interval(
                line.interval.start, line.interval.start + max(1, len(line.text.split())) / second
            ),
        )
        for line in version.lines
    )
    return replace(version, lines=tuple(lines))


def _script(path: Path, name: str, film: str) -> Version:
    try:
        cues = read_cues(path)
    except ScriptError as error:
        raise EvaluationError(f"{path.name}: {error.what}", error.hint) from None
    lines = [Spoken("", film, cue.interval, _flat(cue.text)) for cue in cues if _flat(cue.text)]
    if not lines:
        raise EvaluationError(f"{path.name} holds no lines.", "Name a script with audio description.")
    return Version(name, _numbered(lines))


def _line(cells: Mapping[str, str], film: str | None, where: str) -> Spoken | None:
    """The line of a row; None of a row without a text."""
    if not _flat(cells["text"]):
        return None
    try:
        interval = Interval(parse_time(cells["start"]), parse_time(cells["end"]))
    except ValueError as error:
        raise EvaluationError(f"{where}: {error}.", _HINT) from None
    return Spoken("", cells[film] if film else "film", interval, _flat(cells["text"]))


def _numbered(lines: Sequence[Spoken]) -> tuple[Spoken, ...]:
    """Lines with ids of their own: the film, and their place in it."""
    counts: dict[str, int] = {}
    named = []
    for line in lines:
        counts[line.film] = counts.get(line.film, 0) + 1
        named.append(replace(line, id=f"{line.film}:{counts[line.film]}"))
    return tuple(named)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _delimiter(text: str) -> str:
    return max(",;\t", key=text.partition("\n")[0].count)
