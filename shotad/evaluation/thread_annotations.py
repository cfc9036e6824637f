"""Annotations of threads, turned into the labels that `read_thread_labels` reads.

Meant for Thread-Safe (M. Hoai, A. Zisserman: Thread-safe: Towards recognizing human actions across shot
boundaries, ACCV 2014; http://www3.cs.stonybrook.edu/~minhhoai/projects/threadsafe/), whose films and
annotation come from its authors. **How its annotation files are laid out could not be looked up** when this
was written: the public page shows none. So two forms are taken that such an annotation is easily brought
into, and nothing is guessed: what is not in one of them is refused with a message.

1. A table (CSV, TSV, semicolons or blanks) whose first line names the columns ``clip``, ``start``, ``end``
   and ``thread``, in any order, other columns are left alone. One line is one shot. ``thread`` is any name
   or number that the shots of one camera set-up of one clip share; empty or -1: a shot that is alone.

2. A MATLAB file (v5 to v7, needs scipy) with a struct array of one element for each clip and the fields
   ``clip`` (text), ``shots`` (n x 2) and ``threads`` (n numbers, as above), or fields of other names. Files
   of v7.3 are HDF5: save them again with ``-v7``.
"""

from __future__ import annotations

import csv
import importlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core.errors import DatasetError
from shotad.core.installation import install_command

COLUMNS = ("clip", "start", "end", "thread")
FIELDS = ("clip", "shots", "threads")
SUFFIXES = (".mp4", ".avi", ".mkv", ".webm", ".mov", ".m4v", ".mpg", ".wmv")
ALONE = ("", "-1")


@dataclass(frozen=True)
class Row:
    """One shot as it is annotated: ``thread`` is empty where it is alone; ``where`` names it to people."""

    clip: str
    start: float
    end: float
    thread: str
    where: str


@dataclass(frozen=True)
class Clock:
    """What the annotation's times mean. ``fps`` None: the film's own rate."""

    frames: bool = False
    fps: Fraction | None = None
    first: int = 0
    last_included: bool = False

    def seconds(self, row: Row, rate: Callable[[], Fraction]) -> tuple[float, float]:
        """Half-open seconds of a shot."""
        if not self.frames:
            return row.start, row.end
        fps = self.fps or rate()
        start, end = row.start - self.first, row.end - self.first + self.last_included
        return round(float(Fraction(start) / fps), 6), round(float(Fraction(end) / fps), 6)


# Reading


def read_annotation(
    path: Path, variable: str | None = None, fields: Mapping[str, str] | None = None
) -> list[Row]:
    """The shots of an annotation, at least one.

    ``variable`` and ``fields`` are for MATLAB files: the variable, where there are several, and the names of
    fields that are not called as `FIELDS`. Raises DatasetError.
    """
    try:
        if path.suffix.lower() == ".mat":
            rows = mat_rows(path, variable, {**dict(zip(FIELDS, FIELDS, strict=True)), **(fields or {})})
        else:
            rows = table_rows(path)
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} cannot be read: {error}.") from None
    if not rows:
        raise DatasetError(f"{path.name} holds no shot.")
    return rows


def table_rows(path: Path) -> list[Row]:
    """The shots of a table with a head line."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    lines_left = [(k, line) for k, line in enumerate(lines, 1) if line.strip()]
    if not lines_left:
        raise DatasetError(f"{path.name} is empty.")
    head = lines_left[0][1]
    delimiter = next((d for d in "\t;," if d in head), None)
    names = [name.strip().lower() for name in _split(head, delimiter)]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise DatasetError(
            f"{path.name} has no column {' and no column '.join(missing)}: its first line is {head!r}.",
            f"The first line names the columns {', '.join(COLUMNS)}.",
        )
    return [_table_row(names, _split(line, delimiter), f"{path.name} line {k}") for k, line in lines_left[1:]]


def _split(line: str, delimiter: str | None) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter)) if delimiter else line.split()


def _table_row(names: Sequence[str], cells: Sequence[str], where: str) -> Row:
    if len(cells) != len(names):
        raise DatasetError(f"{where} has {len(cells)} values for {len(names)} columns: {list(cells)}.")
    value = {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
    if not value["clip"]:
        raise DatasetError(f"{where} names no clip.")
    return Row(
        value["clip"], _number(value["start"], where), _number(value["end"], where), value["thread"], where
    )


def _number(text: Any, where: str) -> float:
    try:
        number = float(text)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise DatasetError(f"{where}: {text!r} is no time.", "Give seconds, or frames with --units frames.")
    return number


def mat_rows(path: Path, variable: str | None, fields: dict[str, str]) -> list[Row]:
    """The shots of a MATLAB struct array, one element for each clip."""
    try:
        loadmat = importlib.import_module("scipy.io").loadmat
    except ImportError:
        raise DatasetError(
            f"{path.name} is a MATLAB file.", f"{install_command('scipy')} reads it."
        ) from None
    try:
        content = loadmat(path, simplify_cells=True)
    except NotImplementedError:
        hint = "Save it again in MATLAB: save(name, '-v7')."
        raise DatasetError(f"{path.name} is of version 7.3 (HDF5).", hint) from None
    except ValueError as error:
        raise DatasetError(f"{path.name} is no MATLAB file: {error}.") from None
    return struct_rows(content, variable, fields, path.name)


def struct_rows(
    content: dict[str, Any], variable: str | None, fields: dict[str, str], name: str
) -> list[Row]:
    """The shots in the variables of a MATLAB file, as ``loadmat(…, simplify_cells=True)`` gives them."""
    names = [key for key in content if not key.startswith("__")]
    if variable is None and len(names) != 1:
        raise DatasetError(
            f"{name} holds {len(names)} variables: {', '.join(names)}.", "Choose one with --variable."
        )
    struct_name = variable or names[0]
    if struct_name not in content:
        raise DatasetError(f"{name} holds no variable {struct_name!r}, but {', '.join(names)}.")
    elements = content[struct_name]
    elements = [elements] if isinstance(elements, dict) else list(elements)
    rows: list[Row] = []
    for k, element in enumerate(elements, 1):
        rows += _struct_rows(element, fields, f"{name} {struct_name}({k})")
    return rows


def _struct_rows(element: Any, fields: dict[str, str], where: str) -> list[Row]:
    has = sorted(element) if isinstance(element, dict) else []
    for field in FIELDS:
        if fields[field] not in has:
            raise DatasetError(
                f"{where} has no field {fields[field]!r}, but {', '.join(has) or 'none at all'}.",
                f"Say which it is: --field {field}=NAME.",
            )
    clip = str(element[fields["clip"]])
    shots, threads = _rows_of(element[fields["shots"]]), _list_of(element[fields["threads"]])
    if any(len(shot) != 2 for shot in shots) or len(shots) != len(threads):
        raise DatasetError(f"{where} must have n x 2 shots and n threads, got {shots} and {threads}.")
    return [
        Row(clip, _number(a, where), _number(b, where), _thread(t), f"{where} shot {k}")
        for k, ((a, b), t) in enumerate(zip(shots, threads, strict=True), 1)
    ]


def _list_of(value: Any) -> list[Any]:
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, list | tuple) else [value]


def _rows_of(value: Any) -> list[list[Any]]:
    rows = _list_of(value)
    if rows and not isinstance(rows[0], list | tuple):
        # One shot alone comes as two numbers.
        rows = [rows]
    return [list(row) if isinstance(row, list | tuple) else [row] for row in rows]


def _thread(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:g}"
    return str(value)


# Writing


def find_film(films: Path, clip: str) -> Path:
    """The film meant by a clip's name, with or without its suffix; the name itself where none is there."""
    exact = films / clip
    names = [exact, *(films / (clip + suffix) for suffix in SUFFIXES)]
    return next((path for path in names if path.exists()), exact)


def film_rate(path: Path) -> Fraction:
    """The film's own frame rate."""
    from shotad.film import open_film

    with open_film(path) as film:
        if film.info.frame_rate is None:
            raise DatasetError(f"{path} tells no frame rate.", "Give it with --fps.")
        return film.info.frame_rate


def label_of(rows: Sequence[Row], clock: Clock, film: Path, base: Path) -> dict[str, Any]:
    """The record of one clip, its shots in order of time."""
    rate: list[Fraction] = []

    def own_rate() -> Fraction:
        rate.append(rate[0] if rate else film_rate(film))
        return rate[0]

    timed = sorted((clock.seconds(row, own_rate), row.thread.strip()) for row in rows)
    groups: dict[str, list[int]] = {}
    for number, (_, thread) in enumerate(timed):
        if thread not in ALONE:
            groups.setdefault(thread, []).append(number)
    return {
        "clip": Path(os.path.relpath(film, base)).as_posix(),
        "shots": [[start, end] for (start, end), _ in timed],
        "clusters": [shots for shots in groups.values() if len(shots) > 1],
    }


def write_labels(rows: Iterable[Row], clock: Clock, films: Path, out: Path) -> list[str]:
    """Write a file of labels for each clip below ``out``; returns the films that are not in ``films``.

    A label file names its film relative to itself. Raises DatasetError.
    """
    clips: dict[str, list[Row]] = {}
    for row in rows:
        clips.setdefault(row.clip, []).append(row)
    missing = []
    for clip, shots in sorted(clips.items()):
        film = find_film(films, clip)
        if not film.exists():
            missing.append(str(film))
            if clock.frames and clock.fps is None:
                raise DatasetError(f"{film} is not there, so its frame rate is unknown.", "Give --fps.")
        target = _target(out, clip)
        target.parent.mkdir(parents=True, exist_ok=True)
        record = label_of(shots, clock, film, target.parent)
        lines = [
            f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in record.items()
        ]
        target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return missing


def _target(out: Path, clip: str) -> Path:
    """Where a clip's labels go: below ``out``, as the clip below its folder."""
    relative = Path(clip)
    if relative.is_absolute() or ".." in relative.parts:
        raise DatasetError(f"The clip {clip!r} must be named relative to the folder of films.")
    return out / relative.with_name(relative.name + ".json")
