"""Files of predictions, read and joined to the human ADs of a dataset.

Read are our own files, the published ones, and anybody's with an id and a text. A row is joined by id or,
in a file without ids, by what it says of the AD; never by its place in the file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shotad.core import EvaluationError
from shotad.evaluation.datasets.annotation import alike, same_text
from shotad.evaluation.datasets.dataset import Ad, Dataset, Finding
from shotad.evaluation.datasets.tables import (
    MALFORMED,
    MISSING,
    NOTE,
    Table,
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

    ``id`` is empty in a file without ids. ``text`` None: it failed, ``failure`` says why. ``description`` is
    Stage I's text, ``candidates`` all lines that were offered, ``scale`` the effective shot scale,
    ``threaded`` whether the clip has a thread. ``start`` and ``end`` are seconds as the file has them;
    ``reference`` is the human AD that the file repeats.
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
    columns = _columns(records, given)
    numbered = _numbered(records)
    if "text" not in columns and "candidates" not in columns and not numbered:
        raise EvaluationError(
            f"{path} has no column of predictions: none of {', '.join(NAMES['text'])}.",
            f"It has: {', '.join(records.columns)}. Name the right one by --text-column.",
        )
    rows = tuple(_row(records, row, columns, numbered) for row in records.rows)
    findings = [*records.findings, *_findings(records, rows, columns)]
    return Predictions((path,), rows, columns, tuple(findings))


def _columns(records: Table, given: dict[str, str]) -> dict[str, str]:
    for key, name in given.items():
        if name not in records.columns:
            raise EvaluationError(
                f"{records.path} has no column {name!r} for the {key}.",
                f"It has: {', '.join(records.columns)}.",
            )
    found = {key: records.column(names) for key, names in NAMES.items()}
    return {key: name for key, name in found.items() if name} | given


def _numbered(records: Table) -> list[str]:
    """Columns of candidates, in order: ``text_gen_1 … text_gen_5``."""
    found = [(int(match[2]), name) for name in records.columns if (match := _NUMBERED.fullmatch(name))]
    return [name for _, name in sorted(found)]


def _row(records: Table, row: TableRow, columns: dict[str, str], numbered: Sequence[str]) -> PredictionRow:
    def text(key: str) -> str:
        return (records.text(row, columns.get(key)) or "").strip()

    said, candidates = _said(records, row, columns, numbered)
    return PredictionRow(
        f"{records.path.name}, line {row.line}",
        plain_id(text("id")),
        said,
        (text("failure") or NO_TEXT) if said is None else "",
        candidates,
        records.text(row, columns.get("description")),
        records.number(row, columns.get("scale")),
        records.truth(row, columns.get("threaded")),
        text("film"),
        text("clip"),
        records.number(row, columns.get("start")),
        records.number(row, columns.get("end")),
        text("reference"),
    )


def _said(
    records: Table, row: TableRow, columns: dict[str, str], numbered: Sequence[str]
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


def _findings(records: Table, rows: Sequence[PredictionRow], columns: dict[str, str]) -> list[Finding]:
    found = []
    lists = sum(
        isinstance(value, list) or _held(value) is not None
        for row in records.rows
        for value in (row.values.get(columns.get("text", "")),)
    )
    if lists or ("text" not in columns and rows):
        what = f"rows of candidates, the first of which is the prediction: {lists or len(rows):,}."
        found.append(Finding(NOTE, records.path.name, what))
    without = [row for row in rows if not row.id]
    if without and len(without) < len(rows):
        what = f"rows without an id: {len(without)}."
        found.append(Finding(MALFORMED, without[0].where, what))
    return found


NO_PREDICTION = "no prediction"
_SHOWN = 10
_STRANGE = 0.2
"""Share of rows whose human AD is another than the dataset's, above which the file is not of this dataset."""


@dataclass(frozen=True, slots=True)
class Joined:
    """All ADs of a dataset with what is predicted for each.

    ``by`` says how they were joined; ``doubled`` ids of ADs have several equal predictions, ``extra`` are ids
    or places in the file that are no AD's. ``findings`` says in words what became of all, with the files'
    own.
    """

    corpus: Corpus
    by: str
    doubled: tuple[str, ...]
    extra: tuple[str, ...]
    findings: tuple[Finding, ...]


def join(dataset: Dataset, predictions: Predictions) -> Joined:
    """Every AD of the dataset, in its order, with its prediction.

    Joined by id or, where the file has none, by film and times, or by clip and human text; never by row.
    Raises EvaluationError where rows of one AD differ, where nothing fits, and where the file's human ADs are
    mostly others than the dataset's under the same ids.
    """
    matched = match(dataset, predictions)
    _refuse_strangers(dataset, matched, predictions)
    chosen, doubled = _one_for_each(matched)
    items = tuple(_item(ad, chosen.get(ad.id)) for ad in dataset.ads)
    extra = tuple(row.id or row.where for row in matched.extra)
    failed = [item for item in items if item.prediction is None and item.id in chosen]
    why = list(dict.fromkeys(item.failure for item in failed))
    counts = (
        (MISSING, [item.id for item in items if item.id not in chosen], "ADs without a prediction"),
        (MISSING, [item.id for item in failed], f"predictions that failed ({counted(why, 3)})"),
        (NOTE, [item.id for item in items if item.prediction == ""], "predictions that are empty texts"),
        (NOTE, doubled, "ADs with several equal predictions, or a failed one beside another"),
        (MALFORMED, extra, "rows that belong to no AD of the dataset, and are left out"),
    )
    findings = (
        *predictions.findings,
        *_notes(predictions, matched, dataset),
        *(Finding(level, predictions.name, tally(what, ids)) for level, ids, what in counts if ids),
    )
    return Joined(Corpus(items, dict(dataset.casts), dataset.name), matched.by, doubled, extra, findings)


def with_descriptions(joined: Joined, dataset: Dataset, stage1: Predictions) -> Joined:
    """The same with the texts of another file, such as the published Stage I's, as the descriptions.

    Raises EvaluationError as `join` does. An AD that the file leaves out keeps the description it had.
    """
    matched = match(dataset, stage1)
    _refuse_strangers(dataset, matched, stage1)
    chosen, _ = _one_for_each(matched)
    items = tuple(
        replace(item, description=chosen[item.id].text) if item.id in chosen else item
        for item in joined.corpus.items
    )
    without = [item.id for item in items if item.description is None]
    findings = [*joined.findings, *stage1.findings]
    if without:
        findings.append(Finding(MISSING, stage1.name, tally("ADs without a description", without)))
    return replace(joined, corpus=replace(joined.corpus, items=items), findings=tuple(findings))


def _item(ad: Ad, said: PredictionRow | None) -> Item:
    return Item(
        id=ad.id,
        film=ad.film,
        interval=ad.interval,
        references=(ad.text, *ad.others),
        prediction=said.text if said else None,
        failure=said.failure if said else NO_PREDICTION,
        candidates=said.candidates if said else (),
        description=said.description if said else None,
        actions=ad.actions,
        clip=ad.clip,
        scale=said.scale if said else None,
        threaded=said.threaded if said else None,
    )


def _one_for_each(matched: Matched) -> tuple[dict[str, PredictionRow], tuple[str, ...]]:
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
        pairs = [
            (name, list(dict.fromkeys((row.text, row.where) for row in rows))[:3])
            for name, rows in torn[:_SHOWN]
        ]
        shown = "; ".join(
            f"{name}: {' and '.join(f'{text!r} ({where})' for text, where in both)}" for name, both in pairs
        )
        more = f"; and {len(torn) - _SHOWN:,} more" if len(torn) > _SHOWN else ""
        raise EvaluationError(
            f"{len(torn)} of the ADs in the file have several predictions that differ: {shown}{more}.",
            "Keep one of each.",
        )
    return chosen, tuple(doubled)


def _refuse_strangers(dataset: Dataset, matched: Matched, predictions: Predictions) -> None:
    """Ids of two datasets are the same numbers; what the file repeats of its own tells them apart."""
    strange, told = _strangers(dataset, matched)
    if told and len(strange) > _STRANGE * told:
        ad, row = strange[0]
        raise EvaluationError(
            f"{predictions.name} is not of {dataset.title}: {len(strange):,} of {told:,} rows repeat another "
            f"human AD than its id's. {row.where} has {row.reference!r} under {row.id}, the "
            f"dataset {ad.text!r}.",
            "Evaluate it on the dataset, and the edition, that it was made for.",
        )


def _strangers(dataset: Dataset, matched: Matched) -> tuple[list[tuple[Ad, PredictionRow]], int]:
    """Rows that repeat quite another human AD, and how many repeat one."""
    ads = {ad.id: ad for ad in dataset.ads}
    pairs = [(ads[name], row) for name, rows in matched.rows.items() for row in rows if row.reference]
    return [(ad, row) for ad, row in pairs if not alike(ad.text, row.reference)], len(pairs)


def _notes(predictions: Predictions, matched: Matched, dataset: Dataset) -> list[Finding]:
    found = []
    if not any(row.id for row in predictions.rows):
        found.append(Finding(NOTE, predictions.name, f"there are no ids; joined by {matched.by}."))
    if matched.alike:
        what = f"ADs that are alike in {matched.by}, and get theirs in order: {matched.alike}."
        found.append(Finding(NOTE, predictions.name, what))
    strange, _ = _strangers(dataset, matched)
    if strange:
        names = counted([row.id or row.where for _, row in strange])
        what = f"rows that repeat another human AD than the dataset's: {len(strange)} ({names})."
        found.append(Finding(MALFORMED, predictions.name, what))
    return found


AdKey = Callable[[Ad], Hashable]
RowKey = Callable[[PredictionRow], Hashable | None]


@dataclass(frozen=True, slots=True)
class Matched:
    """Rows by the AD's id. ``by`` says what was compared; ``extra`` belong to no AD; ``alike`` counts the
    ADs that are equal in all that the file says, also in their text, and so were taken in order of time."""

    by: str
    rows: dict[str, list[PredictionRow]]
    extra: tuple[PredictionRow, ...]
    alike: int = 0


def match(dataset: Dataset, predictions: Predictions) -> Matched:
    """The rows of each AD. Raises EvaluationError where the file does not say whose they are, or nothing of
    it belongs to the dataset."""
    if any(row.id for row in predictions.rows):
        found = _by_id(dataset, predictions)
    else:
        found = _by_place(dataset, predictions)
    if not found.rows and found.extra:
        row = found.extra[0]
        told = row.id or f"{row.film or row.clip} {row.start}–{row.end}"
        raise EvaluationError(
            f"Nothing in {predictions.name} belongs to {dataset.title}: by {found.by}, none of its "
            f"{len(found.extra):,} rows is that of an AD (first {told} in {row.where}).",
            "Is it of another dataset or edition?",
        )
    return found


def _by_id(dataset: Dataset, predictions: Predictions) -> Matched:
    known = {ad.id for ad in dataset.ads}
    rows: dict[str, list[PredictionRow]] = defaultdict(list)
    for row in predictions.rows:
        if row.id in known:
            rows[row.id].append(row)
    extra = [row for row in predictions.rows if row.id not in known]
    by = f"id (column {predictions.columns.get('id', 'id')})"
    return Matched(by, dict(rows), tuple(extra))


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _film_times(row: PredictionRow) -> Hashable | None:
    if not row.film or row.start is None or row.end is None:
        return None
    return row.film, _milliseconds(row.start), _milliseconds(row.end)


def _last(clip: str) -> str:
    """``2014/ewEreSjPyC4 → ewEreSjPyC4``: other programs leave the year out."""
    return clip.replace("\\", "/").rsplit("/", 1)[-1]


def _words(text: str) -> str:
    return " ".join(text.split())


_PLACES: tuple[tuple[str, AdKey, RowKey], ...] = (
    (
        "film, start and end",
        lambda ad: (ad.film, _milliseconds(ad.interval.start), _milliseconds(ad.interval.end)),
        _film_times,
    ),
    (
        "clip and the human AD's text",
        lambda ad: (_last(ad.clip), _words(ad.text)),
        lambda row: (_last(row.clip), _words(row.reference)) if row.clip and row.reference else None,
    ),
    (
        "film and the human AD's text",
        lambda ad: (ad.film, _words(ad.text)),
        lambda row: (row.film, _words(row.reference)) if row.film and row.reference else None,
    ),
)
"""What may tell an AD where there is no id, best first."""


def _by_place(dataset: Dataset, predictions: Predictions) -> Matched:
    """By that of `_PLACES` by which most rows find an AD."""
    tried: list[tuple[int, int, str, list[Hashable | None], dict[Hashable, list[Ad]]]] = []
    for by, ad_key, row_key in _PLACES:
        keys = [row_key(row) for row in predictions.rows]
        if any(key is not None for key in keys):
            places: dict[Hashable, list[Ad]] = defaultdict(list)
            for ad in dataset.ads:
                places[ad_key(ad)].append(ad)
            tried.append((sum(key in places for key in keys), -len(tried), by, keys, places))
    if not tried:
        raise EvaluationError(
            f"{predictions.name} does not say which AD each of its {len(predictions.rows):,} rows is for.",
            "Give it a column id (or anno_idx), or imdbid, start and end. Their order does not say it.",
        )
    _, _, by, keys, places = max(tried, key=lambda one: one[:2])
    rows: dict[str, list[PredictionRow]] = defaultdict(list)
    extra, groups = [], defaultdict(list)
    for row, key in zip(predictions.rows, keys, strict=True):
        if key in places:
            groups[key].append(row)
        else:
            extra.append(row)
    alike = 0
    for key, those in groups.items():
        ads = _exchangeable(by, places[key], those[0])
        alike += len(ads) if len(ads) > 1 else 0
        for place, row in enumerate(those):
            rows[ads[min(place, len(ads) - 1)].id].append(row)
    return Matched(by, dict(rows), tuple(extra), alike)


def _exchangeable(by: str, ads: Sequence[Ad], row: PredictionRow) -> Sequence[Ad]:
    """ADs of one place: fine where their texts are one, since their scores add up to the same whichever gets
    which prediction. Raises EvaluationError where they differ."""
    other = next((ad for ad in ads[1:] if not same_text(ad.text, ads[0].text)), None)
    if other is not None:
        raise EvaluationError(
            f"{row.where} may be for AD {ads[0].id} ({ads[0].text!r}) or {other.id} ({other.text!r}): {by} "
            "are the same.",
            "Give the file a column id.",
        )
    return ads
