"""What people think of predictions, from a file: CSV or JSON Lines.

A line is an AD, or one action of it. Columns: the AD's ``id`` (or ``anno_idx``); ``action`` where an AD has
several lines; and ``score``, or a column for each annotator. The annotators of a line are averaged, then the
lines of an AD (Shot-by-Shot, appendix D).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.core import EvaluationError
from shotad.evaluation.measure.metric import METRICS

ID_COLUMNS = ("id", "anno_idx", "tvad_index")
ACTION = "action"
SCORE = "score"
SCORES = "scores"

_NOBODYS = {
    *METRICS,
    *("start", "end", "scaled_start", "scaled_end", "film", "movie", "imdbid", "title", "clip"),
    *("cmd_clip_idx", "scale", "effective_scale", "threaded", "line", "index", "unnamed: 0", ""),
}
"""Columns of numbers that no annotator gave: those of the datasets' tables, and of ``items.csv``."""

_HINT = "Columns: id, score; or id and one for each annotator; with action where an AD has several lines."


@dataclass(frozen=True, slots=True)
class HumanScores:
    """Scores of ADs by id. ``by_annotator`` has each annotator's own, where there is more than one.

    ``columns`` hold the scores, and were averaged. ``lines`` were read, ``empty`` of them hold no score;
    ``ignored`` columns are not of people's numbers.
    """

    scores: Mapping[str, float]
    by_annotator: Mapping[str, Mapping[str, float]]
    lines: int
    empty: int = 0
    ignored: tuple[str, ...] = ()
    columns: tuple[str, ...] = (SCORE,)


@dataclass(frozen=True, slots=True)
class _Line:
    id: str
    action: str | None
    cells: Mapping[str, Any]
    where: str


def read_scores(path: Path) -> HumanScores:
    """The scores in a file. Raises EvaluationError with file and line for what cannot be meant."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"The scores {path} cannot be read: {error}.") from None
    head = text.lstrip()[:1]
    lines = list(_json_lines(text, path.name) if head == "{" else _table_lines(text, path.name))
    if not lines:
        raise EvaluationError(f"{path.name} holds no scores.", _HINT)
    _no_doubles(lines)
    names, ignored = _annotators(lines, path.name)
    return _averaged(lines, names, ignored)


def _table_lines(text: str, name: str) -> Iterator[_Line]:
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    for row in rows:
        where = f"{name}, line {rows.line_num}"
        if None in row:
            raise EvaluationError(f"{where} has more cells than heads.", _HINT)
        cells = {key.strip(): (value or "").strip() for key, value in row.items()}
        if any(cells.values()):
            yield _line(cells, where)


def _json_lines(text: str, name: str) -> Iterator[_Line]:
    for number, raw in enumerate(text.splitlines(), 1):
        if not raw.strip():
            continue
        where = f"{name}, line {number}"
        try:
            record = json.loads(raw)
        except ValueError as error:
            raise EvaluationError(f"{where} is no JSON: {error}.") from None
        if not isinstance(record, dict):
            raise EvaluationError(f"{where} is no JSON object.", _HINT)
        yield _line(_unfolded(record), where)


def _unfolded(record: Mapping[str, Any]) -> dict[str, Any]:
    """``{"scores": [2, 3]}`` as columns of its own; by name where the annotators have names."""
    cells = {key: value for key, value in record.items() if key != SCORES}
    scores = record.get(SCORES, {})
    if isinstance(scores, list):
        scores = {f"{place}": value for place, value in enumerate(scores, 1)}
    return {**cells, **{f"annotator {key}": value for key, value in dict(scores).items()}}


def _line(cells: Mapping[str, Any], where: str) -> _Line:
    name = next((key for key in ID_COLUMNS if cells.get(key) not in (None, "")), None)
    if name is None:
        raise EvaluationError(f"{where} names no AD.", _HINT)
    action = cells.get(ACTION)
    kept = {key: value for key, value in cells.items() if key not in (*ID_COLUMNS, ACTION)}
    return _Line(str(cells[name]), None if action in (None, "") else str(action), kept, where)


def _no_doubles(lines: list[_Line]) -> None:
    """One AD has several lines only where each is of an action."""
    seen: dict[tuple[str, str | None], str] = {}
    for line in lines:
        key = (line.id, line.action)
        if key in seen:
            raise EvaluationError(
                f"{line.where}: AD {line.id!r} was scored before, in {seen[key]}.",
                "Give each annotator a column, and each action its line with an action.",
            )
        seen[key] = line.where


def _annotators(lines: list[_Line], name: str) -> tuple[list[str], tuple[str, ...]]:
    """The columns that hold scores, and those that hold something else."""
    columns = list(dict.fromkeys(key for line in lines for key in line.cells))
    if SCORE in columns:
        return [SCORE], ()
    wrong = {key for line in lines for key, cell in line.cells.items() if not _is_score(cell)}
    wrong |= {key for key in columns if key.strip().lower().partition("@")[0] in _NOBODYS}
    names = [key for key in columns if key not in wrong and any(_told(line.cells.get(key)) for line in lines)]
    if not names:
        raise EvaluationError(f"{name} has no column of scores.", _HINT)
    return names, tuple(key for key in columns if key in wrong)


def _is_score(cell: Any) -> bool:
    return not _told(cell) or _number(cell) is not None


def _told(cell: Any) -> bool:
    return cell is not None and cell != ""


def _number(cell: Any) -> float | None:
    if isinstance(cell, bool):
        return None
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _averaged(lines: list[_Line], names: list[str], ignored: tuple[str, ...]) -> HumanScores:
    by_ad: dict[str, list[float]] = {}
    own: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    empty = 0
    for line in lines:
        found = {name: _score(line, name) for name in names if _told(line.cells.get(name))}
        if not found:
            empty += 1
            continue
        by_ad.setdefault(line.id, []).append(_mean(list(found.values())))
        for name, value in found.items():
            own[name].setdefault(line.id, []).append(value)
    return HumanScores(
        {key: _mean(values) for key, values in by_ad.items()},
        {name: {key: _mean(values) for key, values in found.items()} for name, found in own.items()}
        if len(names) > 1
        else {},
        len(lines),
        empty,
        ignored,
        tuple(names),
    )


def _score(line: _Line, column: str) -> float:
    value = _number(line.cells[column])
    if value is None:
        raise EvaluationError(f"{line.where}: {column} {line.cells[column]!r} is no score.", _HINT)
    return value


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
