"""Labels of threads: which shots of a clip share a camera set-up, as people say.

One JSON file for each clip, anywhere below a folder, or files that hold a list of such records::

    {"clip": "films/kiss-017.mp4",
     "shots": [[0.0, 2.4], [2.4, 5.28], [5.28, 7.0], [7.0, 9.9]],
     "clusters": [[0, 2], [1, 3]]}

``clip`` is the film's path relative to the JSON file; ``shots`` are half-open seconds from the film's
start, in order; ``clusters`` are groups of shot numbers, counted from 0, that share a camera set-up; a shot
in no cluster is alone. ``frame_rate`` ("24000/1001", 25) is for clips that are numbered pictures. Other
keys are left alone. ``tools/thread_safe.py`` writes this layout.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from shotad.core import DatasetError, Interval

OVERLAP = 0.002
"""Seconds by which shots may overlap: times that were rounded to milliseconds."""

TOLD = 10
"""Mistakes that are told at once."""


@dataclass(frozen=True, slots=True)
class LabelledClip:
    """One clip and the truth about its threads.

    ``name`` is that of the label file relative to the folder, with the place in the list where the file
    holds one (``b.json[3]``); ``clip`` is the film's path as the file has it.
    """

    name: str
    clip: str
    path: Path
    shots: tuple[Interval, ...]
    clusters: tuple[tuple[int, ...], ...]
    frame_rate: Fraction | None = None


@dataclass(frozen=True, slots=True)
class ThreadLabels:
    """All clips below a folder, in order of their names, and JSON files there that are no labels."""

    clips: tuple[LabelledClip, ...]
    ignored: tuple[str, ...] = ()


def read_thread_labels(folder: Path, outside: Path | None = None, films: Path | None = None) -> ThreadLabels:
    """The labels below ``folder``; nothing below ``outside``, in work folders or hidden folders is read.

    With ``films``, clips are relative to that folder, not to the label file.

    A JSON file without ``clip`` and without ``clusters`` is no label file and is listed as ignored.
    Raises DatasetError that names file, value and remedy: for all mistakes that are found, since nobody
    wants to learn of them one by one.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} is not a folder.", "Name the folder with the labels of threads.")
    clips: list[LabelledClip] = []
    ignored: list[str] = []
    mistakes: list[str] = []
    for path in _json_files(folder, outside):
        name = path.relative_to(folder).as_posix()
        try:
            records = _records(path, name)
        except _Mistake as mistake:
            mistakes.append(str(mistake))
            continue
        if not records:
            ignored.append(name)
        for label, record in records:
            try:
                clips.append(_clip(label, record, films or path.parent))
            except _Mistake as mistake:
                mistakes.append(str(mistake))
    if mistakes:
        raise _refusal(mistakes)
    if not clips:
        what = f"{folder} holds no labels of threads."
        raise DatasetError(what, 'Labels are JSON files with "clip", "shots" and "clusters".')
    return ThreadLabels(tuple(clips), tuple(ignored))


class _Mistake(Exception):  # noqa: N818  not yet an error: it is collected
    """One thing that is wrong with one record."""


def _refusal(mistakes: list[str]) -> DatasetError:
    more = [f"… and {len(mistakes) - TOLD} more."] if len(mistakes) > TOLD else []
    if len(mistakes) == 1:
        return DatasetError(mistakes[0])
    head = f"{len(mistakes)} labels of threads cannot be used:"
    return DatasetError("\n".join([head, *mistakes[:TOLD], *more]))


def _json_files(folder: Path, outside: Path | None) -> Iterator[Path]:
    """JSON files below ``folder``, sorted by their paths' parts."""
    shut = outside.resolve() if outside else None
    found: list[Path] = []
    for here, folders, names in os.walk(folder):
        folders[:] = [
            f
            for f in folders
            if not f.startswith(".") and not f.endswith(".shotad") and (Path(here) / f).resolve() != shut
        ]
        if Path(here).resolve() != shut:
            found += [Path(here) / n for n in names if n.lower().endswith(".json") and not n.startswith(".")]
    yield from sorted(found, key=lambda p: p.relative_to(folder).parts)


def _records(path: Path, name: str) -> list[tuple[str, Any]]:
    """Name and content of each label in a file; none where the file holds no labels."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise _Mistake(f"{name} cannot be read: {error}.") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise _Mistake(f"{name} is not JSON: {error}. Correct it, or move it away.") from None
    if _is_label(value):
        return [(name, value)]
    if isinstance(value, list) and any(_is_label(item) for item in value):
        return [(f"{name}[{k}]", item) for k, item in enumerate(value)]
    return []


def _is_label(value: Any) -> bool:
    return isinstance(value, dict) and ("clip" in value or "clusters" in value)


class _Label(BaseModel):
    """One record as it stands in the file."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    clip: Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")]
    shots: Annotated[list[Annotated[list[float], Field(min_length=2, max_length=2)]], Field(min_length=1)]
    clusters: list[list[int]]
    frame_rate: Fraction | None = None

    @field_validator("frame_rate", mode="before")
    @classmethod
    def _rate(cls, value: Any) -> Fraction | None:
        if value is None:
            return None
        try:
            rate = Fraction(value).limit_denominator(1001 * 1001)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            rate = Fraction(0)
        if rate <= 0 or isinstance(value, bool):
            raise ValueError('it is no rate: write 25 or "24000/1001"')
        return rate

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for k, (start, end) in enumerate(self.shots):
            if not 0 <= start < end:
                raise ValueError(
                    f"shot {k} is [{start}, {end}): seconds start at 0 or later and before it ends"
                )
            if k and start < self.shots[k - 1][1] - OVERLAP:
                raise ValueError(f"shot {k} begins before shot {k - 1} ends: sort them, or cut them")
        counts = Counter(shot for cluster in self.clusters for shot in cluster)
        for shot, times in counts.items():
            if not 0 <= shot < len(self.shots):
                raise ValueError(
                    f"a cluster names shot {shot}, but there are shots 0 to {len(self.shots) - 1}, "
                    "counted from 0"
                )
            if times > 1:
                raise ValueError(f"shot {shot} stands in clusters {times} times: it has one camera set-up")
        return self


def _clip(name: str, record: Any, base: Path) -> LabelledClip:
    try:
        label = _Label.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"{part}: " for part in first["loc"])
        got = (
            ""
            if first["type"] in ("missing", "value_error") and not where
            else f", got {_shown(first['input'])}"
        )
        raise _Mistake(f"{name}: {where}{first['msg'].removeprefix('Value error, ')}{got}.") from None
    shots = tuple(Interval(start, end) for start, end in label.shots)
    clusters = tuple(tuple(sorted(cluster)) for cluster in label.clusters if cluster)
    return LabelledClip(name, label.clip, base / label.clip, shots, clusters, label.frame_rate)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "…"
