"""Reads files of predictions: our own, the published ones, and anybody's with an id and a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from shotad.core import EvaluationError
from shotad.evaluation.datasets.ads import Finding
from shotad.evaluation.datasets.cells import plain_id, texts
from shotad.evaluation.datasets.findings import MALFORMED, NOTE
from shotad.evaluation.datasets.records import RecordRow, Records, read_records
from shotad.evaluation.predictions.records import Prediction, PredictionRow, Predictions

NAMES = {
    "id": ("id", "anno_idx", "ad_id"),
    "text": ("text_gen", "prediction", "predicted", "summarized_AD", "text"),
    "candidates": ("candidates",),
    "description": ("description", "stage1"),
    "failure": ("failure", "error"),
    "scale": ("scale", "effective_scale"),
    "threaded": ("threaded",),
    "film": ("film", "imdbid_pe", "imdbid", "imdb"),
    "clip": ("clip", "cmd_filename", "tvad_name", "vid"),
    "start": ("start",),
    "end": ("end",),
    "reference": ("text_gt", "reference"),
}
"""What each thing may be called: here, in Shot-by-Shot's and AutoAD-Zero's outputs, in AutoAD's."""

_NUMBERED = re.compile(r"(text_gen|summarized_AD|candidate)_?(\d+)")
NO_TEXT = "the file has no text for it"


def read_predictions(
    *paths: Path, text_column: str | None = None, id_column: str | None = None
) -> Predictions:
    """The predictions of a CSV or JSON Lines file, or of several (shards) together.

    A text that is null or absent, or in CSV an empty cell, has failed; in JSON the empty text is a text.
    Names of columns are found unless they are given: ``text_column``, such as a Stage I file's
    ``text_gen``. Raises DatasetError for a file that cannot be read, EvaluationError where it has no texts.
    """
    if not paths:
        raise ValueError("read_predictions needs a file")
    given = {"text": text_column, "id": id_column}
    read = [_read(path, {key: name for key, name in given.items() if name}) for path in paths]
    columns = {key: name for one in read for key, name in one.columns.items()}
    rows = tuple(row for one in read for row in one.rows)
    return Predictions(tuple(paths), rows, columns, tuple(f for one in read for f in one.findings))


def _read(path: Path, given: dict[str, str]) -> Predictions:
    records = read_records(path)
    columns = _columns(records, given)
    numbered = _numbered(records)
    if "text" not in columns and "candidates" not in columns and not numbered:
        raise EvaluationError(
            f"{path} has no column of predictions: none of {', '.join(NAMES['text'])}.",
            f"It has: {', '.join(records.names)}. Name the right one by --text-column.",
        )
    rows = tuple(_row(records, row, columns, numbered) for row in records.rows)
    findings = [*records.findings, *_findings(records, rows, columns)]
    return Predictions((path,), rows, columns, tuple(findings))


def _columns(records: Records, given: dict[str, str]) -> dict[str, str]:
    for key, name in given.items():
        if name not in records.names:
            raise EvaluationError(
                f"{records.path} has no column {name!r} for the {key}.",
                f"It has: {', '.join(records.names)}.",
            )
    found = {key: records.name(names) for key, names in NAMES.items()}
    return {key: name for key, name in found.items() if name} | given


def _numbered(records: Records) -> list[str]:
    """Columns of candidates, in order: ``text_gen_1 … text_gen_5``."""
    found = [(int(match[2]), name) for name in records.names if (match := _NUMBERED.fullmatch(name))]
    return [name for _, name in sorted(found)]


def _row(records: Records, row: RecordRow, columns: dict[str, str], numbered: Sequence[str]) -> PredictionRow:
    def text(key: str) -> str:
        return (records.text(row, columns.get(key)) or "").strip()

    said, candidates = _said(records, row, columns, numbered)
    description = records.text(row, columns.get("description"))
    prediction = Prediction(
        plain_id(text("id")),
        said,
        (text("failure") or NO_TEXT) if said is None else "",
        candidates,
        description,
        records.number(row, columns.get("scale")),
        records.truth(row, columns.get("threaded")),
    )
    return PredictionRow(
        f"{records.path.name}, line {row.line}",
        prediction,
        text("film"),
        text("clip"),
        records.number(row, columns.get("start")),
        records.number(row, columns.get("end")),
        text("reference"),
    )


def _said(
    records: Records, row: RecordRow, columns: dict[str, str], numbered: Sequence[str]
) -> tuple[str | None, tuple[str, ...]]:
    """The text and the candidates: a cell may hold the list of them (published assistant mode)."""
    candidates = records.list(row, columns.get("candidates")) or ()
    if not candidates:
        said = (records.text(row, name) for name in numbered)
        candidates = tuple(one.strip() for one in said if one and one.strip())
    name = columns.get("text")
    value = row.values.get(name) if name else None
    held = records.list(row, name) if isinstance(value, list) else _held(value)
    if held is not None:
        return (held[0] if held else None), candidates or held
    if name is None:
        return (candidates[0] if candidates else None), candidates
    said_text = records.text(row, name)
    return (None if said_text is None else said_text.strip()), candidates


def _held(value: object) -> tuple[str, ...] | None:
    """The texts of a list that is written into a cell: ``"['He runs.', 'He is off.']"``."""
    if not isinstance(value, str) or not re.match(r"\s*\[\s*(['\"]|\])", value):
        return None
    try:
        return texts(value)
    except ValueError:
        return None


def _findings(records: Records, rows: Sequence[PredictionRow], columns: dict[str, str]) -> list[Finding]:
    found = []
    lists = sum(
        isinstance(value, list) or _held(value) is not None
        for row in records.rows
        for value in (row.values.get(columns.get("text", "")),)
    )
    if lists or ("text" not in columns and rows):
        what = f"rows of candidates, the first of which is the prediction: {lists or len(rows):,}."
        found.append(Finding(NOTE, records.path.name, what))
    without = [row for row in rows if not row.prediction.id]
    if without and len(without) < len(rows):
        what = f"rows without an id: {len(without)}."
        found.append(Finding(MALFORMED, without[0].where, what))
    return found
