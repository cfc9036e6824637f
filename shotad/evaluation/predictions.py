"""Files of predictions, read and joined to the human ADs of a dataset.

Read are our own files, the published ones, and anybody's with an id and a text. A row is joined by id or,
in a file without ids, by what it says of the AD; never by its place in the file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shotad.core import EvaluationError, quoted
from shotad.evaluation.datasets.dataset import Ad, Dataset, alike, same_text
from shotad.evaluation.datasets.tables import (
    MALFORMED,
    MISSING,
    NOTE,
    Finding,
    TableRow,
    counted,
    plain_id,
    read_records,
    tally,
    texts,
)
from shotad.evaluation.metric import Corpus, Item


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """What a system says for one AD, where it stands, and what else the file tells of its AD.

    ``id`` is empty in a file without ids. ``text``, ``failure`` and what follows are as in `Item`. ``start``
    and ``end`` are seconds as the file has them; ``reference`` is the human AD that the file repeats.
    """

    where: str
    id: str
    text: str | None
    failure: str = ""
    candidates: tuple[str, ...] = ()
    description: str | None = None
    scale: float | None = None
    threaded: bool | None = None
    film: str = ""
    clip: str = ""
    start: float | None = None
    end: float | None = None
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Predictions:
    """A file's predictions. ``columns`` says under which name each kind of thing stood."""

    paths: tuple[Path, ...]
    rows: tuple[PredictionRow, ...]
    columns: dict[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def name(self) -> str:
        """The files' names, for messages."""
        return ", ".join(path.name for path in self.paths)


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
    has = f"It has: {', '.join(records.columns) or 'no columns at all'}."
    for key, name in given.items():
        if name not in records.columns:
            raise EvaluationError(f"{path} has no column {quoted(name)} for the {key}.", has)
    known = {key: records.column(names) for key, names in NAMES.items()}
    columns = {key: name for key, name in known.items() if name} | given
    # Columns of candidates, in order: text_gen_1 … text_gen_5.
    found = [(int(match[2]), name) for name in records.columns if (match := _NUMBERED.fullmatch(name))]
    numbered = [name for _, name in sorted(found)]
    if "text" not in columns and "candidates" not in columns and not numbered:
        raise EvaluationError(
            f"{path} has no column of predictions: none of {', '.join(NAMES['text'])}.",
            f"{has} Name the right one by --text-column.",
        )
    rows = tuple(_row(row, columns, numbered) for row in records.rows)
    findings = list(records.findings)
    values = [row.values.get(columns.get("text", "")) for row in records.rows]
    lists = sum(isinstance(value, list) or _held(value) is not None for value in values)
    if lists or ("text" not in columns and rows):
        what = f"rows of candidates, the first of which is the prediction: {lists or len(rows):,}."
        findings.append(Finding(NOTE, path.name, what))
    without = [row for row in rows if not row.id]
    if without and len(without) < len(rows):
        findings.append(Finding(MALFORMED, without[0].where, f"rows without an id: {len(without)}."))
    return Predictions((path,), rows, columns, tuple(findings))


def _row(row: TableRow, columns: dict[str, str], numbered: Sequence[str]) -> PredictionRow:
    def text(key: str) -> str:
        return (row.text(columns.get(key)) or "").strip()

    candidates = row.list(columns.get("candidates")) or ()
    if not candidates:
        told = (row.text(name) for name in numbered)
        candidates = tuple(one.strip() for one in told if one and one.strip())
    name = columns.get("text")
    value = row.values.get(name) if name else None
    # A cell may hold the list of candidates (published assistant mode).
    held = row.list(name) if isinstance(value, list) else _held(value)
    if held is not None:
        candidates = candidates or held
        said = held[0] if held else None
    elif name is None:
        said = candidates[0] if candidates else None
    else:
        said = None if value is None else text("text")
    return PredictionRow(
        row.where,
        plain_id(text("id")),
        said,
        (text("failure") or NO_TEXT) if said is None else "",
        candidates,
        row.text(columns.get("description")),
        row.number(columns.get("scale")),
        row.truth(columns.get("threaded")),
        text("film"),
        text("clip"),
        row.number(columns.get("start")),
        row.number(columns.get("end")),
        text("reference"),
    )


def _held(value: object) -> tuple[str, ...] | None:
    """The texts of a list that is written into a cell: ``"['He runs.', 'He is off.']"``."""
    if not isinstance(value, str) or not re.match(r"\s*\[\s*(['\"]|\])", value):
        return None
    try:
        return texts(value)
    except ValueError:
        return None


_SHOWN = 10
_STRANGE = 0.2
"""Share of rows whose human AD is another than the dataset's, above which the file is not of this dataset."""


@dataclass(frozen=True, slots=True)
class Joined:
    """All ADs of a dataset with what is predicted for each.

    ``doubled`` ids of ADs have several equal predictions, ``extra`` are ids or places in the file that are no
    AD's. ``findings`` says in words what became of all, with the files' own.
    """

    corpus: Corpus
    doubled: tuple[str, ...]
    extra: tuple[str, ...]
    findings: tuple[Finding, ...]


def join(dataset: Dataset, predictions: Predictions, stage1: Predictions | None = None) -> Joined:
    """Every AD of the dataset, in its order, with its prediction; with the texts of ``stage1`` as the
    descriptions, where that is given and has them. Raises EvaluationError where rows of one AD differ, where
    nothing fits, and where the file's human ADs are mostly others than the dataset's under the same ids."""
    matched = _match(dataset, predictions)
    chosen, doubled = _one_for_each(matched)
    described, _ = _one_for_each(_match(dataset, stage1)) if stage1 else ({}, ())
    items = tuple(_item(ad, chosen.get(ad.id), described.get(ad.id)) for ad in dataset.ads)
    extra = tuple(row.id or row.where for row in matched.extra)
    failed = [item for item in items if item.prediction is None and item.id in chosen]
    why = list(dict.fromkeys(item.failure for item in failed))
    strange = [row.id or row.where for _, row in matched.strange]
    several = "rows that repeat another human AD than the dataset's"
    by = f"ADs that are alike in {matched.by}, and get theirs in order: {matched.alike}."
    notes = (
        (NOTE, f"there are no ids; joined by {matched.by}.", not any(row.id for row in predictions.rows)),
        (NOTE, by, matched.alike),
        (MALFORMED, f"{several}: {len(strange)} ({counted(strange)}).", strange),
    )
    counts = (
        (MISSING, [item.id for item in items if item.id not in chosen], "ADs without a prediction"),
        (MISSING, [item.id for item in failed], f"predictions that failed ({counted(why, 3)})"),
        (NOTE, [item.id for item in items if item.prediction == ""], "predictions that are empty texts"),
        (NOTE, doubled, "ADs with several equal predictions, or a failed one beside another"),
        (MALFORMED, extra, "rows that belong to no AD of the dataset, and are left out"),
    )
    findings = [
        *predictions.findings,
        *(Finding(level, predictions.name, what) for level, what, given in notes if given),
        *(Finding(level, predictions.name, tally(what, ids)) for level, ids, what in counts if ids),
    ]
    if stage1:
        findings += stage1.findings
        if without := [item.id for item in items if item.description is None]:
            findings.append(Finding(MISSING, stage1.name, tally("ADs without a description", without)))
    return Joined(Corpus(items, dict(dataset.casts), dataset.name), doubled, extra, tuple(findings))


def _item(ad: Ad, said: PredictionRow | None, described: PredictionRow | None) -> Item:
    item = Item(ad.id, ad.film, ad.interval, (ad.text, *ad.others), actions=ad.actions, clip=ad.clip)
    if said is None:
        item = replace(item, failure="no prediction")
    else:
        names = ("failure", "candidates", "description", "scale", "threaded")
        item = replace(item, prediction=said.text, **{name: getattr(said, name) for name in names})
    return replace(item, description=described.text) if described else item


def _one_for_each(matched: _Matched) -> tuple[dict[str, PredictionRow], tuple[str, ...]]:
    """The row of each AD, and the ids that had several: one with a text goes before one that failed."""
    chosen: dict[str, PredictionRow] = {}
    doubled, torn = [], []
    for name, rows in matched.rows.items():
        with_text = [row for row in rows if row.text is not None] or rows
        chosen[name] = with_text[0]
        if len(rows) > 1:
            doubled.append(name)
        if any(row.text != with_text[0].text for row in with_text):
            torn.append((name, with_text))
    if torn:
        shown = []
        for name, rows in torn[:_SHOWN]:
            both = list(dict.fromkeys((row.text, row.where) for row in rows))[:3]
            shown.append(f"{name}: {' and '.join(f'{quoted(text)} ({where})' for text, where in both)}")
        more = [f"and {len(torn) - _SHOWN:,} more"] if len(torn) > _SHOWN else []
        raise EvaluationError(
            f"{len(torn)} of the ADs in the file have several predictions that differ: "
            f"{'; '.join([*shown, *more])}.",
            "Keep one of each.",
        )
    return chosen, tuple(doubled)


@dataclass(slots=True)
class _Matched:
    """Rows by the AD's id. ``by`` says what was compared; ``extra`` belong to no AD; ``alike`` counts the
    ADs that are equal in all that the file says, also in their text, and so were taken in order of time.
    ``strange`` are rows that repeat quite another human AD than theirs."""

    by: str
    rows: defaultdict[str, list[PredictionRow]] = field(default_factory=lambda: defaultdict(list))
    extra: list[PredictionRow] = field(default_factory=list)
    alike: int = 0
    strange: list[tuple[Ad, PredictionRow]] = field(default_factory=list)


def _match(dataset: Dataset, predictions: Predictions) -> _Matched:
    """The rows of each AD by id or, where there is none, by that of `_PLACES` by which most rows find an AD.

    Raises EvaluationError where the file does not say whose they are, nothing of it belongs to the dataset,
    or most human ADs that it repeats are others.
    """
    ads = {ad.id: ad for ad in dataset.ads}
    told = [
        _place(ad.id, ad.film, ad.clip, ad.interval.start, ad.interval.end, ad.text) for ad in dataset.ads
    ]
    said = [_place(row.id, row.film, row.clip, row.start, row.end, row.reference) for row in predictions.rows]
    ways = _PLACES
    if any(row.id for row in predictions.rows):
        ways = {f"id (column {predictions.columns.get('id', 'id')})": ("id",)}
    tried: dict[str, tuple[list[PlaceKey], dict[PlaceKey, list[Ad]]]] = {}
    for by, names in ways.items():
        keys = [tuple(row[name] for name in names) for row in said]
        if any(None not in key for key in keys):
            places: dict[PlaceKey, list[Ad]] = defaultdict(list)
            for ad, one in zip(dataset.ads, told, strict=True):
                if None not in (key := tuple(one[name] for name in names)):
                    places[key].append(ad)
            tried[by] = keys, places
    if not tried:
        raise EvaluationError(
            f"{predictions.name} does not say which AD each of its {len(predictions.rows):,} rows is for.",
            "Give it a column id (or anno_idx), or imdbid, start and end. Their order does not say it.",
        )
    by = max(tried, key=lambda name: sum(key in tried[name][1] for key in tried[name][0]))
    keys, places = tried[by]
    found = _Matched(by)
    groups: dict[PlaceKey, list[PredictionRow]] = defaultdict(list)
    for row, key in zip(predictions.rows, keys, strict=True):
        (groups[key] if key in places else found.extra).append(row)
    for (first, *others), those in ((places[key], groups[key]) for key in places if key in groups):
        # Fine where their texts are one: their scores add up to the same whichever gets which prediction.
        other = next((ad for ad in others if not same_text(ad.text, first.text)), None)
        if other is not None:
            raise EvaluationError(
                f"{those[0].where} may be for AD {first.id} ({quoted(first.text)}) or {other.id} "
                f"({quoted(other.text)}): {by} are the same.",
                "Give the file a column id.",
            )
        found.alike += len(others) + 1 if others else 0
        for place, row in enumerate(those):
            found.rows[[first, *others][min(place, len(others))].id].append(row)
    if not found.rows:
        row = found.extra[0]
        what = row.id or f"{row.film or row.clip} {row.start}–{row.end}"
        raise EvaluationError(
            f"Nothing in {predictions.name} belongs to {dataset.title}: by {by}, none of its "
            f"{len(found.extra):,} rows is that of an AD (first {what} in {row.where}).",
            "Is it of another dataset or edition?",
        )
    # Ids of two datasets are the same numbers; what the file repeats of its own tells them apart.
    pairs = [(ads[name], row) for name, rows in found.rows.items() for row in rows if row.reference]
    found.strange = [(ad, row) for ad, row in pairs if not alike(ad.text, row.reference)]
    if len(found.strange) > _STRANGE * len(pairs):
        ad, row = found.strange[0]
        raise EvaluationError(
            f"{predictions.name} is not of {dataset.title}: {len(found.strange):,} of {len(pairs):,} rows "
            f"repeat another human AD than its id's. {row.where} has {quoted(row.reference)} under {row.id}, "
            f"the dataset {quoted(ad.text)}.",
            "Evaluate it on the dataset, and the edition, that it was made for.",
        )
    return found


PlaceKey = tuple[Hashable, ...]


def _place(
    name: str, film: str, clip: str, start: float | None, end: float | None, text: str
) -> dict[str, Hashable]:
    """What may tell an AD, as it is compared; other programs leave the year out of a clip's name
    (``2014/ewEreSjPyC4``)."""
    times = {"start": start, "end": end}
    return {
        "id": name or None,
        "film": film or None,
        "clip": clip.replace("\\", "/").rsplit("/", 1)[-1] or None,
        "text": " ".join(text.split()) or None,
        **{side: None if time is None else round(time * 1000) for side, time in times.items()},
    }


_PLACES = {
    "film, start and end": ("film", "start", "end"),
    "clip and the human AD's text": ("clip", "text"),
    "film and the human AD's text": ("film", "text"),
}
"""What may tell an AD where there is no id, best first."""
