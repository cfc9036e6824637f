"""Scripts in the sense of ABSEval: a goal, a condition, and the steps that lead there.

A how-to script is read from CSV or JSON: ``goal`` and ``steps``, where there are any ``constraint``, ``id``
and ``system``. Audio description is read from tracks, scripts with times and predictions. A film's action is
a list of steps too: the goal is that a listener can follow a passage, the condition what AD must keep to, the
steps are the lines. Scripts of one task, made by several systems, have the same id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from shotad.core import EvaluationError, ScriptError
from shotad.description import render
from shotad.evaluation.datasets.tables import Table, TableRow, read_records
from shotad.evaluation.metrics.judged import STORY_LINES, in_groups, says_something
from shotad.evaluation.predictions import NAMES, PredictionRow, read_predictions
from shotad.script import TRACK, read_cues

PASSAGE = 120.0
"""Seconds of a film whose lines are one script, so that tracks of one film can be laid side by side."""
HUMAN = "human"
"""The system of human ADs that stand in a file of predictions."""

_HINT = (
    "Columns: goal, steps (a list), and where there are any constraint, id, system. Or name a track, a "
    "script with times, or predictions."
)
_NUMBER = re.compile(r"\A\s*(?:step\s+)?\d+\s*[.):]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StepScript:
    """The steps by which ``system`` reaches a goal. ``id`` is the task's: scripts of one task share it.

    ``constraint`` is empty where the task has none; without ``steps`` the system made nothing. ``is_ad``:
    the steps are lines of audio description.
    """

    id: str
    system: str
    goal: str
    constraint: str
    steps: tuple[str, ...]
    is_ad: bool = False


def read_steps(paths: Sequence[Path]) -> tuple[StepScript, ...]:
    """The scripts of all files, in order. A file's system is its name, where it does not say another; of a
    work folder the track is read.

    Raises ShotadError for a file that cannot be read or holds no steps, where one system has two different
    scripts of a task, and where a task has two goals.
    """
    stems = [path.stem for path in paths]
    found: dict[tuple[str, str], StepScript] = {}
    tasks: dict[str, tuple[str, str]] = {}
    for path, stem in zip(paths, stems, strict=True):
        file = path / TRACK if path.is_dir() else path
        for script in _of_file(file, stem if stems.count(stem) == 1 else path.name):
            task = (script.goal, script.constraint)
            if found.setdefault((script.id, script.system), script) != script:
                raise EvaluationError(
                    f"{path.name}: {script.system} has two scripts of the task {script.id!r}.",
                    "Give each task an id of its own, or each script its system.",
                )
            if tasks.setdefault(script.id, task) != task:
                raise EvaluationError(
                    f"{path.name}: the task {script.id!r} is {task} here and {tasks[script.id]} before.",
                    "Scripts of one id need the same goal and the same constraint.",
                )
    return tuple(found.values())


def _of_file(path: Path, system: str) -> list[StepScript]:
    table = _records(path)
    if table is None:
        scripts = list(_of_cues(path, system))
    elif table.column(("goal", "steps")):
        table.needed(("goal",), "the goal")
        table.needed(("steps",), "the steps")
        scripts = [_of_row(table, row, system) for row in table.rows]
    else:
        scripts = list(_of_predictions(path, system))
    if not any(script.steps for script in scripts):
        raise EvaluationError(f"{path} holds no steps.", _HINT)
    return scripts


def _records(path: Path) -> Table | None:
    """The rows of a file of scripts or predictions; None of a track or a script with times."""
    kind = path.suffix.lower()
    is_track = (
        kind == ".json" and path.is_file() and path.read_bytes().lstrip(b"\xef\xbb\xbf \r\n")[:1] == b"{"
    )
    if kind not in (".csv", ".tsv", ".jsonl", ".json") or is_track:
        return None
    table = read_records(path)
    timed = {"start", "end", "text"} <= set(table.columns)
    return None if timed and not table.column((*NAMES["film"], *NAMES["reference"])) else table


def _of_row(table: Table, row: TableRow, system: str) -> StepScript:
    """Steps are a list, or a text with one in each line; numbers before them are taken off."""
    goal, name, constraint, by = (
        (table.text(row, key) or "").strip() for key in ("goal", "id", "constraint", "system")
    )
    if not says_something(goal):
        raise table.error(row, "the goal is empty", "Each script says what it is for.")
    value = row.values.get("steps")
    in_lines = isinstance(value, str) and not value.lstrip().startswith(("[", "("))
    steps = str(value).splitlines() if in_lines else table.list(row, "steps") or ()
    return StepScript(
        name or goal, by or system, goal, constraint, _said(_NUMBER.sub("", step) for step in steps)
    )


def _said(lines: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(" ".join(line.split()) for line in lines if line is not None and says_something(line))


def _of_cues(path: Path, system: str) -> Iterator[StepScript]:
    """A script for each two minutes of a film; a passage without a line is no script."""
    try:
        cues = sorted(read_cues(path), key=lambda cue: cue.interval.start)
    except ScriptError as error:
        raise EvaluationError(f"{path.name}: {error.what}", error.hint or _HINT) from None
    for number, those in groupby(cues, lambda cue: int(cue.interval.start // PASSAGE)):
        steps = _said(cue.text for cue in those)
        if steps:
            yield _ad(f"minute {number * PASSAGE / 60:g}", system, steps)


def _of_predictions(path: Path, system: str) -> Iterator[StepScript]:
    """A script for each twelve rows of a film, and one of the human ADs beside them. What failed says
    nothing."""
    try:
        found = read_predictions(path).rows
    except EvaluationError as error:
        raise EvaluationError(error.what, _HINT) from None
    films: dict[str, list[PredictionRow]] = {}
    for row in found:
        films.setdefault(row.film, []).append(row)
    for film, rows in films.items():
        if all(row.start is not None for row in rows):
            rows.sort(key=lambda row: row.start or 0.0)
        for group in in_groups(rows, STORY_LINES):
            ends = f"{group[0].id or group[0].where} to {group[-1].id or group[-1].where}"
            name = f"{film}, {ends}" if film else ends
            yield _ad(name, system, _said(row.text for row in group))
            human = _said(row.reference for row in group)
            if human:
                yield _ad(name, HUMAN, human)


def _ad(name: str, system: str, steps: tuple[str, ...]) -> StepScript:
    return StepScript(name, system, render("steps/ad-goal"), render("steps/ad-constraint"), steps, True)
