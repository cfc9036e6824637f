"""Labels of threads: which shots of a clip share a camera set-up, as people say.

One JSON file for each clip, anywhere below a folder, or files that hold a list of such records::

    {"clip": "films/kiss-017.mp4",
     "shots": [[0.0, 2.4], [2.4, 5.28], [5.28, 7.0], [7.0, 9.9]],
     "clusters": [[0, 2], [1, 3]]}

``clip`` is the film's path relative to the JSON file; ``shots`` are half-open seconds from the film's start,
in order; ``clusters`` are groups of shot numbers, counted from 0, that share a camera set-up; a shot in no
cluster is alone. ``frame_rate`` ("24000/1001", 25) is for clips that are numbered pictures. Other keys are
left alone. `thread_annotations` writes this layout.
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

LISTED_MISTAKES = 10
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
    for path in _label_files(folder, outside.resolve() if outside else None):
        name = path.relative_to(folder).as_posix()
        try:
            value = parse_json(read_text_file(path, "table", DatasetError, encoding="utf-8").text)
        except DatasetError as error:
            mistakes.append(error.what)
            continue
        except ValueError as error:
            mistakes.append(f"{name} is not JSON: {error}. Correct it, or move it away.")
            continue
        records = {name: value}
        if isinstance(value, list) and value:
            records = {f"{name}[{index}]": entry for index, entry in enumerate(value)}
        entries = [entry for entry in records.values() if isinstance(entry, dict)]
        if not any("clip" in entry or "clusters" in entry for entry in entries):
            ignored.append(name)
            continue
        for label, record in records.items():
            try:
                clips.append(_labelled_clip(label, record, films or path.parent))
            except ValueError as mistake:
                mistakes.append(str(mistake))
    if len(mistakes) == 1:
        raise DatasetError(mistakes[0])
    if mistakes:
        and_more = (
            [f"… and {len(mistakes) - LISTED_MISTAKES} more."] if len(mistakes) > LISTED_MISTAKES else []
        )
        head = f"{len(mistakes)} labels of threads cannot be used:"
        raise DatasetError("\n".join([head, *mistakes[:LISTED_MISTAKES], *and_more]))
    if not clips:
        message = f"{folder} holds no labels of threads."
        raise DatasetError(message, 'Labels are JSON files with "clip", "shots" and "clusters".')
    return clips, ignored


def _label_files(folder: Path, outside_path: Path | None) -> list[Path]:
    """The JSON files below ``folder`` in order of their names; none below ``outside_path``, in hidden or in
    work folders."""
    files: list[Path] = []
    for folder_name, folders, names in os.walk(folder):
        folder_path = Path(folder_name)
        # os.walk goes into what is left in ``folders``: no hidden folders, no work folders.
        folders[:] = [
            subfolder
            for subfolder in folders
            if not subfolder.startswith(".")
            and not subfolder.endswith(".shotad")
            and (folder_path / subfolder).resolve() != outside_path
        ]
        if folder_path.resolve() != outside_path:
            files += [folder_path / n for n in names if n.lower().endswith(".json") and not n.startswith(".")]
    return sorted(files, key=lambda path: path.relative_to(folder).parts)


def _labelled_clip(name: str, record: Any, base: Path) -> LabelledClip:
    """Raises ValueError, saying what is wrong with the record."""

    def check(holds: bool, message: str) -> None:
        if not holds:
            raise ValueError(f"{name}: {message}")

    if not isinstance(record, dict):
        raise ValueError(f"{name} must be a record like the others, got {_shortened(record)}.")
    if missing := [key for key in ("clip", "shots", "clusters") if key not in record]:
        message = f"{name} has no {' and no '.join(map(repr, missing))}."
        raise ValueError(f"{message} Add it, or move the file away.")
    clip, pairs, clusters = (record[key] for key in ("clip", "shots", "clusters"))
    is_path = isinstance(clip, str) and clip != "" and "\0" not in clip
    check(is_path, f'"clip" must be the path of a film, relative to this file, got {_shortened(clip)}.')
    is_shot_list = isinstance(pairs, list) and bool(pairs)
    check(is_shot_list, f'"shots" must be a list of [start, end] in seconds, got {_shortened(pairs)}.')
    shots: list[Interval] = []
    for k, pair in enumerate(pairs):
        is_pair = isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair))
        check(is_pair, f"shot {k} must be [start, end] in seconds, got {_shortened(pair)}.")
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
    check(lists, f'"clusters" must be lists of shot numbers, got {_shortened(clusters)}.')
    cluster_of_shot: dict[int, int] = {}
    numbered = [(number, shot) for number, cluster in enumerate(clusters) for shot in cluster]
    for cluster_number, shot in numbered:
        check(
            type(shot) is int and 0 <= shot < len(shots),
            f"cluster {cluster_number} names shot {_shortened(shot)}, "
            f"but there are shots 0 to {len(shots) - 1}. Shots are counted from 0.",
        )
        first_cluster = cluster_of_shot.get(shot, cluster_number)
        where = f"cluster {cluster_number} twice"
        if first_cluster != cluster_number:
            where = f"clusters {first_cluster} and {cluster_number}"
        check(
            shot not in cluster_of_shot,
            f"shot {shot} stands in {where}. A shot has one camera set-up: keep one.",
        )
        cluster_of_shot[shot] = cluster_number
    rate, value = None, record.get("frame_rate")
    if value is not None:
        try:
            rate = Fraction(value if isinstance(value, str) or _is_number(value) else "")
            rate = rate.limit_denominator(1001 * 1001)
        except (ValueError, ZeroDivisionError, OverflowError):
            rate = Fraction(0)
        check(rate > 0, f'"frame_rate" {_shortened(value)} is no rate. Write 25 or "24000/1001".')
    groups = tuple(tuple(sorted(cluster)) for cluster in clusters if cluster)
    return LabelledClip(name, clip, base / clip, tuple(shots), groups, rate)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shortened(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "…"
