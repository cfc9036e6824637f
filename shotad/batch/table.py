"""What became of the films: lines for people, a table for wide terminals, rows and a report for programs.

The report is a JSON file with a row for each film, whole at any time.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.batch.jobs import FilmResult
from shotad.batch.limits import Need
from shotad.batch.places import is_local, local_path, shown, without_query
from shotad.batch.planner import PlannedFilm
from shotad.core.errors import UsageError, WorkFolderError
from shotad.core.files import read_file, write_text
from shotad.core.progress import (
    duration,
    plural,
    printable,
    single_line,
    size_text,
    table_lines,
)
from shotad.core.records import parse_json

_WORTH_TELLING = 0.5
"""Seconds below which nobody wants to know how long it took."""
NARROWEST = 60
"""Columns of a terminal below which a table is told in lines."""
_LONGEST_NAME = 40


@dataclass(slots=True, eq=False)
class FilmRow:
    """A film on its way and what came of it; ``result`` None: nothing yet. ``begun``: it was at work.

    ``tries``: how often it was begun, ``since``: at which second last, ``need``: what it then took.
    ``notes``: what is known about it before it is begun.
    """

    label: str
    film: PlannedFilm
    result: FilmResult | None = None
    begun: bool = False
    tries: int = 0
    since: float = 0.0
    need: Need | None = None
    notes: tuple[str, ...] = ()

    @property
    def uses(self) -> tuple[str, ...]:
        """Names of what lies beside the film and is used."""
        unused = () if self.result is None else self.result.unused
        return tuple(name for name in self.film.uses if name not in unused)

    @property
    def state(self) -> str:
        """In a word or two."""
        if self.result is None:
            return "stopped" if self.begun else "not begun"
        return _STATES[self.result.state]


_IN_USE = "skipped: being described elsewhere"
_HAS_DESCRIPTION = "has a description already"
_STATES = {
    "done": "done",
    "failed": "failed",
    "skipped": "done before",
    "in_use": _IN_USE,
    "has_description": _HAS_DESCRIPTION,
}


def film_labels(films: Sequence[PlannedFilm]) -> list[str]:
    """A short name for each film: its own, with as much of its folder as tells it from the others. Whatever
    the names are, these can be printed."""
    parts = [_parts(printable(without_query(film.job.film))) for film in films]
    depth = [1] * len(films)
    for _ in range(max((len(part) for part in parts), default=0)):
        names = ["/".join(part[-n:]) for part, n in zip(parts, depth, strict=True)]
        twice = {name for name, count in Counter(names).items() if count > 1}
        if not twice:
            break
        depth = [n + (name in twice) for n, name in zip(depth, names, strict=True)]
    return ["/".join(part[-n:]) for part, n in zip(parts, depth, strict=True)]


def _parts(film: str) -> list[str]:
    """The names that a film's path or address is made of."""
    place = Path(film).as_posix() if is_local(film) else film
    return place.rstrip("/").split("/")


def line_of(row: FilmRow) -> str:
    """``movie.mp4: done, 14 lines in 15 slots, 2 long silences, in 1 min 5 s (0.42 times its length).``"""
    parts, result = [row.state], row.result
    if result is not None and result.error is None:
        parts.append(f"{plural(result.lines, 'line')} in {plural(result.slots, 'slot')}")
        if result.amiss:
            parts.append(_amiss(result))
        if result.silences:
            parts.append(plural(result.silences, "long silence"))
    if result is not None and result.state != "skipped":
        pace = f" ({_times(result.pace)})" if result.pace is not None and result.state == "done" else ""
        tries = f" at try {result.attempts}" if result.attempts > 1 else ""
        took = f"in {duration(result.wall_seconds)}{pace}" if result.wall_seconds >= _WORTH_TELLING else ""
        if took or tries:
            parts.append(f"{took}{tries}".strip())
    text = f"{row.label}: {', '.join(parts)}."
    return f"{text} {_trouble(row.result)}".rstrip()


def as_lines(rows: Sequence[FilmRow], seconds: float) -> str:
    """All rows and their sum, one a line, for screen readers and files."""
    lines = []
    for number, row in enumerate(rows, 1):
        used = f" With {', '.join(map(printable, row.uses))}." if row.uses else ""
        lines += [f"{number}. {line_of(row)}{used}", *(f"  {line}" for line in _notes(row))]
    return "\n".join([*lines, summary(rows, seconds)])


def as_table(rows: Sequence[FilmRow], seconds: float, width: int) -> str:
    """The same in columns, as wide as ``width``; errors and notes are told below."""
    if width < NARROWEST:
        return as_lines(rows, seconds)
    head = ("Film", "State", "Lines", "Silences", "Time", "× length", "With")
    # What a table has no room for.
    below: list[str] = []
    for row in rows:
        notes = _notes(row)
        wrong = _trouble(row.result) or (_amiss(row.result) if row.result and row.result.amiss else "")
        below += [f"{row.label}: {wrong}".rstrip()] if wrong or notes else []
        below += [f"  {line}" for line in notes]
    table = [line[:width] for line in table_lines(head, [*map(_cells, rows)], range(2, len(head) - 1))]
    return "\n".join([*table, *([""] if below else []), *below, "", summary(rows, seconds)])


def _notes(row: FilmRow) -> list[str]:
    """What the run says of the track, and where its time went; of a film that is not begun, what is known."""
    warnings = row.notes if row.result is None else row.result.warnings
    spent = () if row.result is None else row.result.spent
    return [*(f"Note: {single_line(text)}" for text in warnings), *spent]


def as_json(rows: Sequence[FilmRow]) -> list[dict[str, Any]]:
    """The same for programs; ``of_json`` of a report reads it."""
    records = []
    for row in rows:
        job, result, film = row.film.job, row.result, shown(row.film.job.film)
        own = {} if result is None else {**result.as_json(), "film": film, "pace": result.pace}
        folder = os.path.abspath(local_path(job.folder)) if is_local(job.folder) else shown(job.folder)
        state = row.state.replace(" ", "_") if result is None else result.state
        more = {"folder": folder, "state": state, "bytes": row.film.size, "with": list(row.uses)}
        records.append({"film": film, **own, **more})
    return records


def summary(rows: Sequence[FilmRow], seconds: float) -> str:
    """``12 films: 10 done, 2 failed. 1 h 5 min for 20 h of film (0.05 times its length).``"""
    counts = Counter(row.state for row in rows)
    states = [_counted(counts[state], state) for state in _ORDER if counts[state]]
    text = f"{plural(len(rows), 'film')}: {', '.join(states) or 'nothing to do'}."
    worked = sum(row.result.film_seconds for row in rows if row.result and row.result.state == "done")
    if worked:
        text += f" {duration(seconds)} for {duration(worked)} of film ({_times(seconds / worked)})."
    return text


def _counted(count: int, state: str) -> str:
    """``2 done``; ``2 have a description already``."""
    return f"{count} {state if count == 1 else state.replace('has a', 'have a')}"


_ORDER = ("done", "done before", _HAS_DESCRIPTION, _IN_USE, "failed", "stopped", "not begun")


def _amiss(result: FilmResult) -> str:
    return f"{plural(result.amiss, 'line')} could not be written"


def _trouble(result: FilmResult | None) -> str:
    return "" if result is None or result.error is None else single_line(" ".join(filter(None, result.error)))


def _cells(row: FilmRow) -> tuple[str, ...]:
    result = row.result
    used = ", ".join(map(printable, row.uses))
    name = row.label if len(row.label) <= _LONGEST_NAME else f"…{row.label[1 - _LONGEST_NAME :]}"
    if result is None or result.error is not None:
        seconds = 0.0 if result is None else result.wall_seconds
        time = "" if seconds < _WORTH_TELLING else duration(seconds)
        return (name, row.state, "", "", time, "", used)
    lines = f"{result.lines} of {result.slots}"
    pace = "" if result.pace is None else f"{result.pace:.2f}"
    time = "" if result.state == "skipped" else duration(result.wall_seconds)
    return (name, row.state, lines, str(result.silences), time, pace, used)


def _times(pace: float | None) -> str:
    return "" if pace is None else f"{pace:.2f} times its length"


def dry_run_lines(rows: Sequence[FilmRow]) -> list[str]:
    """What a run would do with each film; a row without a result is of one that would be described."""
    lines = []
    for number, row in enumerate(rows, 1):
        result = row.result
        used = f", with {', '.join(map(printable, row.uses))}" if row.uses else ""
        plan = "to be described" if result is None else "done before"
        row_text = f"{plan}, into {printable(shown(row.film.job.folder))}{used}."
        if result is not None and result.state == "has_description":
            row_text = f"{_HAS_DESCRIPTION}. {_trouble(result)}"
        elif result is not None and result.error is not None:
            row_text = f"cannot be described. {_trouble(result)}"
        lines += [f"{number}. {row.label}: {row_text}", *(f"  {line}" for line in _notes(row))]
    new = [row.film for row in rows if row.result is None]
    size = size_text(sum(film.size for film in new))
    return [*lines, f"{plural(len(rows), 'film')}: {len(new)} to describe ({size})."]


def dry_run_json(rows: Sequence[FilmRow]) -> dict[str, Any]:
    """The same for programs."""
    records = []
    for row, record in zip(rows, as_json(rows), strict=True):
        state = "to_do" if record["state"] == "not_begun" else record["state"]
        warnings = list(row.notes) if row.result is None else record["warnings"]
        records.append({**record, "state": state, "warnings": warnings})
    return {"films": records}


REPORT_FILE = "shotad-batch.json"
SCHEMA = 1

_PAUSES = 50
"""How many times as long as it takes to write a report it is not written again, up to so many seconds."""
_LONGEST_PAUSE = 5.0


class BatchReport:
    """A batch's report, written while the batch goes on. It adds to what stands in the file.

    The rows of films that are not in this batch stay. A film leaves a report when somebody takes its row out,
    or the file away.
    """

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float] = time.monotonic,
        on_note: Callable[[str], None] = lambda text: None,
    ) -> None:
        """``on_note`` gets a note, once, where the report cannot be written."""
        self.path, self._clock, self._on_note = path, clock, on_note
        self._next_write = 0.0
        self.trouble: str | None = None
        """Why it cannot be written, if so; the films go on."""

    def write(self, rows: Callable[[], Sequence[FilmRow]], seconds: float, *, ended: bool = False) -> None:
        """Write the rows, unless that was done a moment ago; at the end always."""
        began = self._clock()
        if not ended and began < self._next_write:
            return
        content = self.content(rows(), seconds, ended=ended)
        try:
            # Read each time: another batch may write to the same file.
            content["films"] = merged_films(_films_in(self.path), content["films"])
            text = json.dumps(content, ensure_ascii=False, indent=1)
            # Names that are no UTF-8 have halves of pairs in them, which JSON can write out.
            write_text(self.path, text.encode("utf-8", "backslashreplace").decode("utf-8"))
        except (WorkFolderError, OSError) as error:
            trouble = f"{getattr(error, 'what', str(error))} Name another file with --report."
            if self.trouble is None:
                self._on_note(f"No report: {trouble}")
            self.trouble = trouble
        else:
            self.trouble = None
        # A small report is written with each film; one of very many films takes a small part of the time.
        lasted = self._clock() - began
        self._next_write = began + min(lasted * _PAUSES, _LONGEST_PAUSE)

    def content(self, rows: Sequence[FilmRow], seconds: float, *, ended: bool) -> dict[str, Any]:
        """What is said of this batch alone."""
        return {
            "schema_version": SCHEMA,
            "shotad": __version__,
            "ended": ended,
            "seconds": round(seconds, 3),
            "films": as_json(rows),
        }


def merged_films(
    earlier_films: Sequence[Mapping[str, Any]], films: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The rows of an earlier report, in their order, each in its last state, then those of new films.

    A film that was not begun has the state that it had before; one that failed before and was stopped has
    failed.
    """
    merged = {film["film"]: dict(film) for film in earlier_films}
    for film in films:
        earlier_state = merged.get(film["film"], {}).get("state")
        if earlier_state is not None and film["state"] == "not_begun":
            continue
        if earlier_state == "failed" and film["state"] == "stopped":
            continue
        merged[film["film"]] = dict(film)
    return list(merged.values())


def _films_in(path: Path) -> list[dict[str, Any]]:
    """The rows of a report, none where there is no file. Raises WorkFolderError, OSError."""
    try:
        return read_report(path)
    except UsageError as error:
        if not path.exists():
            return []
        raise WorkFolderError(error.what) from None


def check_report(path: Path) -> None:
    """Raises UsageError where a file stands in a report's place that is none, which would be written over."""
    if path.is_dir():
        raise UsageError(f"--report {path} is a folder.", "Name a file.")
    if path.exists():
        read_report(path, "Name another file with --report, or move this one away.")


def read_report(
    path: Path, remedy: str = "Run the batch without --only-failed first, or name its report with --report."
) -> list[dict[str, Any]]:
    """The rows of a report. Raises UsageError, with ``remedy``, where there is none that can be read."""
    try:
        report = parse_json(read_file(path, follow=True))
        films = [dict(film) for film in report["films"]]
        if not all(isinstance(film["film"], str) and isinstance(film["state"], str) for film in films):
            raise TypeError("a film without name or state")
    except FileNotFoundError:
        raise UsageError(f"There is no report {path}.", remedy) from None
    except WorkFolderError as trouble:
        raise UsageError(trouble.what, remedy) from None
    except (OSError, ValueError, KeyError, TypeError) as trouble:
        raise UsageError(f"{path} is no report of shotad batch: {trouble!r}.", remedy) from None
    return films


def failed_in(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The films that failed, in order."""
    return [row["film"] for row in rows if row["state"] == "failed"]
