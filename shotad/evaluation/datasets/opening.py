"""Whatever a person names as human ADs: a known dataset, the description of one's own, or a plain file.

Human ADs of one's own, from a plain file: anybody can measure on own data, without a description.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from shotad.core import DatasetError, Interval, UsageError
from shotad.evaluation.datasets.ads import Ad, Dataset, Finding
from shotad.evaluation.datasets.casts import read_casts
from shotad.evaluation.datasets.cells import plain_id
from shotad.evaluation.datasets.findings import MISSING, NOTE
from shotad.evaluation.datasets.loading import load_dataset
from shotad.evaluation.datasets.records import RecordRow, Records, read_records

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "anno_idx"),
    "text": ("text", "text_gt", "reference"),
    "references": ("references",),
    "film": ("film", "imdbid"),
    "clip": ("clip",),
    "title": ("title", "movie_title"),
    "start": ("start",),
    "end": ("end",),
    "actions": ("actions", "gt_action"),
    "without_names": ("text_without_names", "text_gt_wo_char"),
}
"""What each thing may be called."""


def load_references(path: Path, *, casts: Path | None = None) -> Dataset:
    """Human ADs from CSV or JSON Lines: id, text (or references, a list), film, start, end, perhaps actions.

    Without ``film`` all are one film's, and without times the order of the file is that of the film: both
    are findings. Raises DatasetError for what cannot be read, and for ids that are missing or stand twice.
    """
    records = read_records(path)
    columns = {key: name for key, names in NAMES.items() if (name := records.name(names))}
    if "id" not in columns or not {"text", "references"} & set(columns):
        raise DatasetError(
            f"{path} needs a column id, and text or references; it has: {', '.join(records.names)}.",
            "Predictions are joined by id.",
        )
    ads: dict[str, Ad] = {}
    for place, row in enumerate(records.rows):
        ad = _ad(records, row, columns, place)
        if ad.id in ads:
            raise records.error(row, f"the id {ad.id!r} stands twice", "Give each AD its own.")
        ads[ad.id] = ad
    if not ads:
        raise DatasetError(f"{path} has no ADs.", "It has a header only.")
    films = {
        ad.film: title
        for ad, row in zip(ads.values(), records.rows, strict=True)
        if (title := records.text(row, columns.get("title")))
    }
    found = read_casts(casts) if casts else {}
    return Dataset(
        path.stem,
        path.stem,
        path.parent,
        tuple(ads.values()),
        {ad.film: found[ad.film] for ad in ads.values() if ad.film in found},
        findings=(*records.findings, *_findings(path, columns, found, ads)),
        films=films,
        files={"annotation": path} | ({"casts": casts} if casts else {}),
    )


def _ad(records: Records, row: RecordRow, columns: Mapping[str, str], place: int) -> Ad:
    def text(key: str) -> str:
        return (records.text(row, columns.get(key)) or "").strip()

    said = [text("text"), *(records.list(row, columns.get("references")) or ())]
    texts = tuple(dict.fromkeys(one for one in said if one))
    name = plain_id(text("id"))
    if not name or not texts:
        raise records.error(row, f"there is no {'text' if name else 'id'}", "Each AD needs both.")
    film = text("film") or records.path.stem
    interval = _interval(records, row, columns, place)
    actions = records.list(row, columns.get("actions")) or None
    return Ad(
        name,
        film,
        text("clip") or film,
        interval,
        interval,
        texts[0],
        text("without_names"),
        actions,
        texts[1:],
    )


def _interval(records: Records, row: RecordRow, columns: Mapping[str, str], place: int) -> Interval:
    start, end = (records.number(row, columns.get(side)) for side in ("start", "end"))
    if start is None and end is None:
        return Interval(float(place), place + 1.0)
    if start is None or end is None or start >= end:
        raise records.error(
            row, f"start {start} and end {end} are no stretch of time", "Give both, in seconds."
        )
    return Interval(start, end)


def _findings(
    path: Path, columns: Mapping[str, str], casts: Mapping[str, object], ads: Mapping[str, Ad]
) -> list[Finding]:
    found = []
    if "film" not in columns:
        found.append(Finding(NOTE, path.name, "there is no column film: all ADs are taken for one film's."))
    if "start" not in columns or "end" not in columns:
        found.append(
            Finding(NOTE, path.name, "there are no times: the order of the rows is taken for theirs.")
        )
    if all(ad.actions is None for ad in ads.values()):
        what = "there are no actions: the action score cannot be counted; shotad evaluate actions makes them."
        found.append(Finding(MISSING, path.name, what))
    if without := [film for film in dict.fromkeys(ad.film for ad in ads.values()) if film not in casts]:
        what = (
            f"{len(without)} films have no names ({without[0]}), CRITIC needs them: name a file by --casts."
        )
        found.append(Finding(MISSING, path.name, what))
    return found


ROOTS = "SHOTAD_DATASETS"
"""The environment variable that names the folder in which each dataset has a folder of its own."""

_PLAIN = (".csv", ".jsonl", ".json", ".ndjson")


def open_dataset(
    name: str,
    root: Path | None = None,
    *,
    annotation: Path | None = None,
    actions: Path | None = None,
    shots: Path | None = None,
    casts: Path | None = None,
    strict: bool = True,
) -> Dataset:
    """The dataset ``name`` in the folder ``root``, or the human ADs of the CSV or JSONL file ``name``.

    ``root`` None: the folder of that name below ``$SHOTAD_DATASETS``, or this one where that is not set.

    Raises DatasetError, and UsageError for files that a plain file has no use for.
    """
    if Path(name).suffix.lower() not in _PLAIN:
        roots = os.environ.get(ROOTS)
        here = root or (Path(roots) / Path(name).stem if roots else Path())
        return load_dataset(
            name, here, annotation=annotation, actions=actions, shots=shots, casts=casts, strict=strict
        )
    for option, value in (("--annotation", annotation), ("--actions", actions), ("--shots", shots)):
        if value is not None:
            raise UsageError(
                f"{option} {value} belongs to a dataset, and {name} is a plain file of human ADs.",
                "Leave it out; a plain file holds its actions itself.",
            )
    return load_references(Path(name), casts=casts)
