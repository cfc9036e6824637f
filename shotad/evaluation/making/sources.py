"""The human ADs of which actions are to be made: of a dataset, or of a plain file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shotad.core import DatasetError
from shotad.evaluation.datasets.findings import counted
from shotad.evaluation.datasets.loading import load_dataset
from shotad.evaluation.datasets.records import Records, read_records

ID = ("anno_idx", "id")
FILM = ("imdbid", "film", "imdbid_pe", "movie")
TEXT = ("text_gt", "text", "sentence")
"""Names that a column may have."""

_DESCRIPTIONS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class AdText:
    """A human AD by its id, which is unique; ``film`` may be empty."""

    id: str
    film: str
    text: str


def ads_of(source: str, root: Path | None = None, annotation: Path | None = None) -> tuple[AdText, ...]:
    """The ADs of a dataset (``cmd-ad``, or a file that describes one) below ``root``, or of a plain file.

    A plain CSV or JSONL file has a column ``text`` (or ``text_gt``) and ``id`` (or ``anno_idx``); where there
    is no id, it is the row's number from 0, as in the published files. Raises DatasetError.
    """
    path = Path(source)
    if path.is_file() and path.suffix.lower() not in _DESCRIPTIONS:
        return _of_records(read_records(path))
    if root is None:
        raise DatasetError(
            f"{source} is no file; of a dataset it must be said where it is.",
            "Name its folder by --root, or a CSV or JSONL file with a text for each AD.",
        )
    dataset = load_dataset(source, root, annotation=annotation)
    return tuple(AdText(ad.id, ad.film, ad.text) for ad in dataset.ads)


def _of_records(records: Records) -> tuple[AdText, ...]:
    text = records.name(TEXT)
    if text is None:
        raise DatasetError(
            f"{records.path} has no {' or '.join(TEXT)}.", f"It has: {', '.join(records.names)}."
        )
    names, film = records.name(ID), records.name(FILM)
    found = []
    for place, row in enumerate(records.rows):
        name = records.text(row, names) if names else str(place)
        if not name:
            raise records.error(row, f"{names} is empty", "Give each AD an id.")
        found.append(AdText(name, records.text(row, film) or "", records.text(row, text) or ""))
    ids = [ad.id for ad in found]
    double = sorted({name for name in ids if ids.count(name) > 1}) if len(set(ids)) < len(ids) else []
    if double:
        raise DatasetError(
            f"{records.path} has ids that stand several times: {counted(double)}.", "Give each AD its own."
        )
    return tuple(found)
