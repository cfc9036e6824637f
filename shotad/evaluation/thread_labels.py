"""Labels of threads: which shots of a clip share a camera set-up, as people say.

One JSON file for each clip, anywhere below a folder, or files that hold a list of such records::

    {"clip": "films/kiss-017.mp4",
     "shots": [[0.0, 2.4], [2.4, 5.28], [5.28, 7.0], [7.0, 9.9]],
     "clusters": [[0, 2], [1, 3]]}

``clip`` is the film's path relative to the JSON file; ``shots`` are half-open seconds from the film's start,
in order; ``clusters`` are groups of shot numbers, counted from 0, that share a camera set-up; a shot in no
cluster is alone. ``frame_rate`` ("24000/1001", 25) is for clips that are numbered pictures. Other keys are
left alone. ``tools/thread_safe.py`` writes this layout.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core import Interval
from shotad.core.errors import DatasetError
from shotad.core.records import parse_json
from shotad.core.text_files import read_text_file

OVERLAP = 0.002
"""Seconds by which shots may overlap: times that were rounded to milliseconds."""

TOLD = 10
"""Mistakes that are told at once."""


@dataclass(frozen=True, slots=True)
class LabelledClip:
    """One clip and the truth about its threads. ``name`` is that of the label file relative to the folder,
    with the place in a list (``b.json[3]``); ``clip`` is the film's path as the file has it."""

    name: str
    clip: str
    path: Path
    shots: tuple[Interval, ...]
    clusters: tuple[tuple[int, ...], ...]
    frame_rate: Fraction | None = None


def read_thread_labels(
    folder: Path, outside: Path | None = None, films: Path | None = None
) -> tuple[list[LabelledClip], list[str]]:
    """All clips below ``folder``, at least one, in order of their names; and JSON files there that are no
    labels, without ``clip`` and without ``clusters``. Nothing below ``outside``, in work folders or hidden
    folders is read. With ``films``, clips are relative to that folder, not to the label file.

    Raises DatasetError that names file, value and remedy, for all mistakes that are found.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} is not a folder.", "Name the folder with the labels of threads.")
    clips: list[LabelledClip] = []
    ignored: list[str] = []
    mistakes: list[str] = []
    shut = outside.resolve() if outside else None
    files: list[Path] = []
    for here, folders, names in os.walk(folder):
        at = Path(here)
        folders[:] = [
            f
            for f in folders
            if not f.startswith(".") and not f.endswith(".shotad") and (at / f).resolve() != shut
        ]
        if at.resolve() != shut:
            files += [at / n for n in names if n.lower().endswith(".json") and not n.startswith(".")]
    for path in sorted(files, key=lambda p: p.relative_to(folder).parts):
        name = path.relative_to(folder).as_posix()
        try:
            value = parse_json(read_text_file(path, "table", DatasetError, encoding="utf-8").text)
        except DatasetError as error:
            mistakes.append(error.what)
            continue
        except ValueError as error:
            mistakes.append(f"{name} is not JSON: {error}. Correct it, or move it away.")
            continue
        several = {f"{name}[{k}]": one for k, one in enumerate(value)} if isinstance(value, list) else {}
        records = several or {name: value}
        labels = (one for one in records.values() if isinstance(one, dict))
        if not any("clip" in one or "clusters" in one for one in labels):
            ignored.append(name)
            continue
        for label, record in records.items():
            try:
                clips.append(_clip(label, record, films or path.parent))
            except ValueError as mistake:
                mistakes.append(str(mistake))
    if len(mistakes) == 1:
        raise DatasetError(mistakes[0])
    if mistakes:
        more = [f"… and {len(mistakes) - TOLD} more."] if len(mistakes) > TOLD else []
        head = f"{len(mistakes)} labels of threads cannot be used:"
        raise DatasetError("\n".join([head, *mistakes[:TOLD], *more]))
    if not clips:
        what = f"{folder} holds no labels of threads."
        raise DatasetError(what, 'Labels are JSON files with "clip", "shots" and "clusters".')
    return clips, ignored


def _clip(name: str, record: Any, base: Path) -> LabelledClip:
    """Raises ValueError, saying what is wrong with the record."""

    def check(right: bool, what: str) -> None:
        if not right:
            raise ValueError(f"{name}: {what}")

    if not isinstance(record, dict):
        raise ValueError(f"{name} must be a record like the others, got {_shown(record)}.")
    if missing := [key for key in ("clip", "shots", "clusters") if key not in record]:
        what = f"{name} has no {' and no '.join(map(repr, missing))}."
        raise ValueError(f"{what} Add it, or move the file away.")
    clip, pairs, clusters = (record[key] for key in ("clip", "shots", "clusters"))
    is_path = isinstance(clip, str) and clip != "" and "\0" not in clip
    check(is_path, f'"clip" must be the path of a film, relative to this file, got {_shown(clip)}.')
    given = isinstance(pairs, list) and bool(pairs)
    check(given, f'"shots" must be a list of [start, end] in seconds, got {_shown(pairs)}.')
    shots: list[Interval] = []
    for k, pair in enumerate(pairs):
        is_pair = isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair))
        check(is_pair, f"shot {k} must be [start, end] in seconds, got {_shown(pair)}.")
        start, end = map(float, pair)
        check(
            math.isfinite(start) and math.isfinite(end) and 0 <= start < end,
            f"shot {k} is [{start}, {end}): it must start at 0 or later and before it ends. "
            "Give seconds, half-open; frame numbers are divided by the frame rate.",
        )
        shots.append(Interval(start, end))
        check(
            not k or start >= shots[-2].end - OVERLAP,
            f"shot {k} {shots[-1]} begins before shot {k - 1} {shots[max(k - 1, 0)]} ends. "
            "Shots stand in order and share no time: sort them, or cut them.",
        )
    lists = isinstance(clusters, list) and all(isinstance(cluster, list) for cluster in clusters)
    check(lists, f'"clusters" must be lists of shot numbers, got {_shown(clusters)}.')
    place: dict[int, int] = {}
    for c, shot in ((c, shot) for c, cluster in enumerate(clusters) for shot in cluster):
        check(
            type(shot) is int and 0 <= shot < len(shots),
            f"cluster {c} names shot {_shown(shot)}, but there are shots 0 to {len(shots) - 1}. "
            "Shots are counted from 0.",
        )
        first = place.get(shot, c)
        where = f"clusters {first} and {c}" if first != c else f"cluster {c} twice"
        check(shot not in place, f"shot {shot} stands in {where}. A shot has one camera set-up: keep one.")
        place[shot] = c
    rate, value = None, record.get("frame_rate")
    if value is not None:
        try:
            rate = Fraction(value if isinstance(value, str) or _is_number(value) else "")
            rate = rate.limit_denominator(1001 * 1001)
        except (ValueError, ZeroDivisionError, OverflowError):
            rate = Fraction(0)
        check(rate > 0, f'"frame_rate" {_shown(value)} is no rate. Write 25 or "24000/1001".')
    groups = tuple(tuple(sorted(cluster)) for cluster in clusters if cluster)
    return LabelledClip(name, clip, base / clip, tuple(shots), groups, rate)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "…"
