"""Reads files of predictions and joins their rows to the human ADs of a dataset.

It reads our own files, the published ones, and any with an id and a text. A row is joined by id or, in a
file without ids, by film, clip, times or text of the AD; never by its place in the file.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shotad.core.errors import EvaluationError, quoted
from shotad.description.answer_text import without_entities
from shotad.engines import after_thoughts
from shotad.evaluation.datasets.dataset import Ad, Dataset, may_be_same_ad, same_text
from shotad.evaluation.datasets.tables import (
    MALFORMED,
    MISSING,
    NOTE,
    DatasetFinding,
    TableRow,
    first_of,
    plain_id,
    read_records,
    tally,
    texts,
)
from shotad.evaluation.metric import Corpus, Item


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """One row of a file of predictions.

    ``where`` names file and line; ``id`` is empty in a file without ids. ``text`` (the prediction),
    ``failure``, ``candidates``, ``description``, ``scale`` and ``threaded`` are as in `Item`. ``start`` and
    ``end`` are seconds as the file has them; ``reference`` is the human AD that the file repeats; ``differs``
    is what was not as in the paper when the prediction was made.
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
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Predictions:
    """The predictions of one or more files. ``columns`` has the name of the column of each key of `NAMES`."""

    paths: tuple[Path, ...]
    rows: tuple[PredictionRow, ...]
    columns: dict[str, str] = field(default_factory=dict)
    findings: tuple[DatasetFinding, ...] = ()

    @property
    def name(self) -> str:
        """The files' names, for messages."""
        return ", ".join(path.name for path in self.paths)

    @property
    def differs(self) -> tuple[str, ...]:
        """What was not as in the paper when they were made, each once, with the number of rows where it is
        not true of all."""
        counts = Counter(text for row in self.rows for text in row.differs)
        total = len(self.rows)
        return tuple(
            text if count == total else f"{text} ({count:,} of {total:,} rows)"
            for text, count in counts.items()
        )


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
    "differs": ("differs",),
}
"""Names that a column may have: in our files, in Shot-by-Shot's and AutoAD-Zero's outputs, in AutoAD's."""

_CANDIDATE_COLUMN = re.compile(r"(text_gen|summarized_AD|candidate)_?(\d+)")
NO_TEXT = "the file has no text for it"
"""Failure of a prediction whose text is null or absent, where the file gives no other."""


def read_predictions(
    *paths: Path, text_column: str | None = None, id_column: str | None = None
) -> Predictions:
    """The predictions of a CSV or JSON Lines file, or of several (shards) together.

    A text that is null or absent, or in CSV an empty cell, is a failed prediction; in JSON the empty text is
    a text. The columns are found by `NAMES`, unless ``text_column`` (such as a Stage I file's ``text_gen``)
    or ``id_column`` names them. Raises DatasetError for a file that cannot be read, EvaluationError where it
    has no texts.
    """
    if not paths:
        raise ValueError("read_predictions needs a file")
    named_columns = {}
    if text_column:
        named_columns["text"] = text_column
    if id_column:
        named_columns["id"] = id_column
    columns: dict[str, str] = {}
    rows: list[PredictionRow] = []
    findings: list[DatasetFinding] = []
    for path in paths:
        predictions = _read_file(path, named_columns)
        columns |= predictions.columns
        rows += predictions.rows
        findings += predictions.findings
    return Predictions(tuple(paths), tuple(rows), columns, tuple(findings))


def _read_file(path: Path, named_columns: dict[str, str]) -> Predictions:
    """The predictions of one file; ``named_columns`` are those that the user named. Raises DatasetError for a
    file that cannot be read, EvaluationError where such a column is missing or none has predictions."""
    records = read_records(path)
    columns_of_file = f"It has: {', '.join(records.columns) or 'no columns at all'}."
    for key, name in named_columns.items():
        if name not in records.columns:
            raise EvaluationError(f"{path} has no column {quoted(name)} for the {key}.", columns_of_file)
    columns = {}
    for key, names in NAMES.items():
        column = records.column(names)
        if column:
            columns[key] = column
    columns |= named_columns
    numbered_columns = []
    for name in records.columns:
        match = _CANDIDATE_COLUMN.fullmatch(name)
        if match:
            numbered_columns.append((int(match[2]), name))
    # By their numbers: text_gen_1 … text_gen_10.
    candidate_columns = [name for _, name in sorted(numbered_columns)]
    if "text" not in columns and "candidates" not in columns and not candidate_columns:
        raise EvaluationError(
            f"{path} has no column of predictions: none of {', '.join(NAMES['text'])}.",
            f"{columns_of_file} Name the right one by --text-column.",
        )
    rows = tuple(_prediction_row(row, columns, candidate_columns) for row in records.rows)
    findings = list(records.findings)
    values = [row.values.get(columns.get("text", "")) for row in records.rows]
    lists = sum(isinstance(value, list) or _list_in_cell(value) is not None for value in values)
    if lists or ("text" not in columns and rows):
        message = f"rows of candidates, the first of which is the prediction: {lists or len(rows):,}."
        findings.append(DatasetFinding(NOTE, path.name, message))
    unspeakable = [row for row in rows if row.text and _is_no_plain_line(row.text)]
    if unspeakable:
        message = (
            f"texts with a model's thoughts or HTML's entities in them: {len(unspeakable):,}. "
            "They are measured as they are."
        )
        findings.append(DatasetFinding(NOTE, unspeakable[0].where, message))
    without_id = [row for row in rows if not row.id]
    # Where no row has an id, `join` joins by what the rows say of their ADs.
    if without_id and len(without_id) < len(rows):
        findings.append(
            DatasetFinding(MALFORMED, without_id[0].where, f"rows without an id: {len(without_id)}.")
        )
    return Predictions((path,), rows, columns, tuple(findings))


def _prediction_row(
    row: TableRow, columns: dict[str, str], candidate_columns: Sequence[str]
) -> PredictionRow:
    """The prediction in ``row``; ``candidate_columns`` hold one candidate each. Raises DatasetError."""

    def text(key: str) -> str:
        return (row.text(columns.get(key)) or "").strip()

    candidates = row.list(columns.get("candidates")) or ()
    if not candidates:
        cells = [(row.text(name) or "").strip() for name in candidate_columns]
        candidates = tuple(cell for cell in cells if cell)
    text_column = columns.get("text")
    value = row.values.get(text_column) if text_column else None
    # The text's cell may hold the list of candidates (Shot-by-Shot's assistant mode writes them so).
    listed = row.list(text_column) if isinstance(value, list) else _list_in_cell(value)
    if listed is not None:
        candidates = candidates or listed
        prediction = listed[0] if listed else None
    elif text_column is None:
        prediction = candidates[0] if candidates else None
    else:
        prediction = None if value is None else text("text")
    return PredictionRow(
        where=row.where,
        id=plain_id(text("id")),
        text=prediction,
        failure=(text("failure") or NO_TEXT) if prediction is None else "",
        candidates=candidates,
        description=row.text(columns.get("description")),
        scale=row.number(columns.get("scale")),
        threaded=row.truth(columns.get("threaded")),
        film=text("film"),
        clip=text("clip"),
        start=row.number(columns.get("start")),
        end=row.number(columns.get("end")),
        reference=text("reference"),
        differs=row.list(columns.get("differs")) or (),
    )


def _is_no_plain_line(text: str) -> bool:
    """Whether a prediction still holds what is taken out of engines' answers before it may be a line."""
    return after_thoughts(text) != text or without_entities(text) != text


def _list_in_cell(value: object) -> tuple[str, ...] | None:
    """The texts of a list written into a cell (``"['He runs.', 'He is off.']"``); None for other values."""
    if not isinstance(value, str) or not re.match(r"\s*\[\s*(['\"]|\])", value):
        return None
    try:
        return texts(value)
    except ValueError:
        return None


_SHOWN = 10
"""ADs with predictions that differ that an error lists."""
_FOREIGN_SHARE = 0.2
"""Share of rows whose human AD is another than the dataset's, above which the file is not of this dataset."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A dataset's ADs with their predictions.

    ``doubled`` are the ids of ADs with several equal predictions; ``extra`` are ids, or places in the file,
    of rows that belong to no AD. ``findings`` are those of the files and of joining them.
    """

    corpus: Corpus
    doubled: tuple[str, ...]
    extra: tuple[str, ...]
    findings: tuple[DatasetFinding, ...]


def join(dataset: Dataset, predictions: Predictions, stage1: Predictions | None = None) -> Joined:
    """Every AD of the dataset, in its order, with its prediction.

    The texts of ``stage1`` become the items' descriptions. Raises EvaluationError where the predictions of
    one AD differ, where no row belongs to the dataset, and where most human ADs, or films and times, in the
    file are others than the dataset's under the same ids.
    """
    matched = _match(dataset, predictions)
    row_by_id, doubled = _one_row_per_ad(matched)
    stage1_row_by_id: dict[str, PredictionRow] = {}
    if stage1:
        stage1_row_by_id, _ = _one_row_per_ad(_match(dataset, stage1))
    items = tuple(_item(ad, row_by_id.get(ad.id), stage1_row_by_id.get(ad.id)) for ad in dataset.ads)
    extra = tuple(row.id or row.where for row in matched.extra)
    findings = [*predictions.findings, *_match_findings(predictions, matched)]

    failed = [item for item in items if item.prediction is None and item.id in row_by_id]
    reasons = list(dict.fromkeys(item.failure for item in failed))
    counts = (
        (MISSING, [item.id for item in items if item.id not in row_by_id], "ADs without a prediction"),
        (MISSING, [item.id for item in failed], f"predictions that failed ({first_of(reasons, 3)})"),
        (NOTE, [item.id for item in items if item.prediction == ""], "predictions that are empty texts"),
        (NOTE, doubled, "ADs with several equal predictions, or a failed one beside another"),
        (MALFORMED, extra, "rows that belong to no AD of the dataset, and are left out"),
    )
    for level, ids, message in counts:
        if ids:
            findings.append(DatasetFinding(level, predictions.name, tally(message, ids)))
    if stage1:
        findings += stage1.findings
        undescribed = [item.id for item in items if item.description is None]
        if undescribed:
            findings.append(
                DatasetFinding(MISSING, stage1.name, tally("ADs without a description", undescribed))
            )
    return Joined(Corpus(items, dict(dataset.casts), dataset.name), doubled, extra, tuple(findings))


def _match_findings(predictions: Predictions, matched: _Matched) -> list[DatasetFinding]:
    """How the rows were joined, and which of them are of another human AD, or another film and time."""
    findings = []
    if not any(row.id for row in predictions.rows):
        message = f"there are no ids; joined by {matched.joined_by}."
        findings.append(DatasetFinding(NOTE, predictions.name, message))
    if matched.identical:
        message = f"ADs that are alike in {matched.joined_by}, and get theirs in order: {matched.identical}."
        findings.append(DatasetFinding(NOTE, predictions.name, message))
    if matched.foreign:
        ids = [row.id or row.where for _, row in matched.foreign]
        message = f"rows that repeat another human AD than the dataset's: {len(ids)} ({first_of(ids)})."
        findings.append(DatasetFinding(MALFORMED, predictions.name, message))
    if matched.elsewhere:
        ids = [row.id or row.where for _, row in matched.elsewhere]
        message = f"rows of another film and time than the dataset's AD: {len(ids)} ({first_of(ids)})."
        findings.append(DatasetFinding(MALFORMED, predictions.name, message))
    return findings


def _item(ad: Ad, row: PredictionRow | None, stage1_row: PredictionRow | None) -> Item:
    """``ad`` with the prediction of ``row``, and the text of ``stage1_row`` as its description."""
    item = Item(ad.id, ad.film, ad.interval, (ad.text, *ad.others), actions=ad.actions, clip=ad.clip)
    if row is None:
        item = replace(item, failure="no prediction")
    else:
        item = replace(
            item,
            prediction=row.text,
            failure=row.failure,
            candidates=row.candidates,
            description=row.description,
            scale=row.scale,
            threaded=row.threaded,
        )
    return replace(item, description=stage1_row.text) if stage1_row else item


def _one_row_per_ad(matched: _Matched) -> tuple[dict[str, PredictionRow], tuple[str, ...]]:
    """The row of each AD by its id, and the ids that have several rows.

    A row with a text goes before one that failed. Raises EvaluationError where texts of one AD differ.
    """
    row_by_id: dict[str, PredictionRow] = {}
    doubled, conflicts = [], []
    for ad_id, rows in matched.rows.items():
        rows_with_text = [row for row in rows if row.text is not None] or rows
        first = rows_with_text[0]
        row_by_id[ad_id] = first
        if len(rows) > 1:
            doubled.append(ad_id)
        if any(row.text != first.text for row in rows_with_text):
            conflicts.append((ad_id, rows_with_text))
    if conflicts:
        descriptions = []
        for ad_id, rows in conflicts[:_SHOWN]:
            texts_and_places = list(dict.fromkeys((row.text, row.where) for row in rows))[:3]
            alternatives = " and ".join(f"{quoted(text)} ({where})" for text, where in texts_and_places)
            descriptions.append(f"{ad_id}: {alternatives}")
        if len(conflicts) > _SHOWN:
            descriptions.append(f"and {len(conflicts) - _SHOWN:,} more")
        raise EvaluationError(
            f"{len(conflicts)} of the ADs in the file have several predictions that differ: "
            f"{'; '.join(descriptions)}.",
            "Keep one of each.",
        )
    return row_by_id, tuple(doubled)


@dataclass(slots=True)
class _Matched:
    """Rows of predictions by the AD's id.

    ``joined_by`` names what was compared. ``extra`` are rows that belong to no AD. ``identical`` is the
    number of ADs that cannot be told apart, also by their text, whose rows were assigned in order of time.
    ``foreign`` are rows that repeat another human AD than the dataset's, with the dataset's; ``elsewhere``
    those of another film and time.
    """

    joined_by: str
    rows: defaultdict[str, list[PredictionRow]] = field(default_factory=lambda: defaultdict(list))
    extra: list[PredictionRow] = field(default_factory=list)
    identical: int = 0
    foreign: list[tuple[Ad, PredictionRow]] = field(default_factory=list)
    elsewhere: list[tuple[Ad, PredictionRow]] = field(default_factory=list)


def _match(dataset: Dataset, predictions: Predictions) -> _Matched:
    """The rows of each AD, by id or, in a file without ids, by that of `_WAYS_TO_JOIN` which fits most rows.

    Raises EvaluationError where the file does not say which AD a row is for, where no row belongs to the
    dataset, or where most human ADs that the file repeats, or films and times, are others.
    """
    joined_by, row_keys, ads_by_key = _best_join(dataset, predictions)
    matched = _Matched(joined_by)
    rows_by_key: dict[JoinKey, list[PredictionRow]] = defaultdict(list)
    for row, key in zip(predictions.rows, row_keys, strict=True):
        if key in ads_by_key:
            rows_by_key[key].append(row)
        else:
            matched.extra.append(row)
    for key, ads in ads_by_key.items():
        rows = rows_by_key.get(key)
        if rows is None:
            continue
        first = ads[0]
        # ADs with the same text are no problem: their scores have the same total, whichever prediction is
        # assigned to which.
        other = next((ad for ad in ads[1:] if not same_text(ad.text, first.text)), None)
        if other is not None:
            raise EvaluationError(
                f"{rows[0].where} may be for AD {first.id} ({quoted(first.text)}) or {other.id} "
                f"({quoted(other.text)}): {joined_by} are the same.",
                "Give the file a column id.",
            )
        if len(ads) > 1:
            matched.identical += len(ads)
        for number, row in enumerate(rows):
            # Rows beyond the number of ADs are the last one's, where `_one_row_per_ad` sees them.
            ad = ads[min(number, len(ads) - 1)]
            matched.rows[ad.id].append(row)
    if not matched.rows:
        row = matched.extra[0]
        row_name = row.id or f"{row.film or row.clip} {row.start}–{row.end}"
        raise EvaluationError(
            f"Nothing in {predictions.name} belongs to {dataset.title}: by {joined_by}, none of its "
            f"{len(matched.extra):,} rows is that of an AD (first {row_name} in {row.where}).",
            "Is it of another dataset or edition?",
        )
    _check_references(dataset, predictions, matched)
    _check_places(dataset, predictions, matched)
    return matched


def _check_references(dataset: Dataset, predictions: Predictions, matched: _Matched) -> None:
    """Compare the human ADs that the file repeats with the dataset's, and set ``matched.foreign``.

    Two datasets may have the same numbers as ids: the texts tell them apart. Raises EvaluationError where
    too many differ.
    """
    ads = {ad.id: ad for ad in dataset.ads}
    compared = 0
    for ad_id, rows in matched.rows.items():
        for row in rows:
            if not row.reference:
                continue
            compared += 1
            if not may_be_same_ad(ads[ad_id].text, row.reference):
                matched.foreign.append((ads[ad_id], row))
    if len(matched.foreign) > _FOREIGN_SHARE * compared:
        ad, row = matched.foreign[0]
        raise EvaluationError(
            f"{predictions.name} is not of {dataset.title}: {len(matched.foreign):,} of {compared:,} rows "
            f"repeat another human AD than its id's. {row.where} has {quoted(row.reference)} under {row.id}, "
            f"the dataset {quoted(ad.text)}.",
            "Evaluate it on the dataset, and the edition, that it was made for.",
        )


def _check_places(dataset: Dataset, predictions: Predictions, matched: _Matched) -> None:
    """Compare the films, clips and times of the rows with those of the ADs, and set ``matched.elsewhere``.

    Our own predictions repeat no human AD, and CMD-AD, TV-AD and MAD-Eval all count their ADs from 0. Raises
    EvaluationError where too many rows are from another place. A row has to differ in all that both name,
    and in two values at least: programs write the film in other ways, or times of the clip for the film's.
    """
    ads = {ad.id: ad for ad in dataset.ads}
    compared = 0
    for ad_id, rows in matched.rows.items():
        ad = ads[ad_id]
        for row in rows:
            ad_place = _place(ad.film, ad.clip, ad.interval.start)
            row_place = _place(row.film, row.clip, row.start)
            named_by_both = [name for name in ad_place if name in row_place]
            if len(named_by_both) < 2:
                continue
            compared += 1
            if not any(ad_place[name] == row_place[name] for name in named_by_both):
                matched.elsewhere.append((ad, row))
    if len(matched.elsewhere) > _FOREIGN_SHARE * compared:
        ad, row = matched.elsewhere[0]
        raise EvaluationError(
            f"{predictions.name} is not of {dataset.title}: {len(matched.elsewhere):,} of {compared:,} rows "
            f"are of another film and time than their id's AD. {row.where} has "
            f"{_place_text(row.film, row.clip)} under {row.id or 'no id'}, the dataset "
            f"{_place_text(ad.film, ad.clip)}.",
            "Evaluate it on the dataset, and the edition, that it was made for.",
        )


def _place(film: str, clip: str, start: float | None) -> dict[str, Hashable]:
    """Film, clip and start of an AD or a row, in the form in which they are compared, without the unknown."""
    values = _comparable_values("", film, clip, start, None, "")
    return {name: value for name, value in values.items() if value is not None}


def _place_text(film: str, clip: str) -> str:
    """``'tt0032976', '2011/ojydQ3_FDqI'``."""
    return ", ".join(quoted(name) for name in (film, clip) if name)


JoinKey = tuple[Hashable, ...]
"""Values of an AD or a row that must be equal to join the two."""


def _best_join(
    dataset: Dataset, predictions: Predictions
) -> tuple[str, list[JoinKey], dict[JoinKey, list[Ad]]]:
    """The way to join that fits most rows: its name, the key of each row, and the ADs of each key.

    Raises EvaluationError where no row has all values of any way.
    """
    ad_values = []
    for ad in dataset.ads:
        ad_values.append(
            _comparable_values(ad.id, ad.film, ad.clip, ad.interval.start, ad.interval.end, ad.text)
        )
    row_values = []
    for row in predictions.rows:
        row_values.append(_comparable_values(row.id, row.film, row.clip, row.start, row.end, row.reference))
    ways = _WAYS_TO_JOIN
    if any(row.id for row in predictions.rows):
        ways = {f"id (column {predictions.columns.get('id', 'id')})": ("id",)}
    best: tuple[str, list[JoinKey], dict[JoinKey, list[Ad]]] | None = None
    best_fitting = -1
    for way, names in ways.items():
        row_keys = [tuple(values[name] for name in names) for values in row_values]
        if all(None in key for key in row_keys):
            continue
        ads_by_key: dict[JoinKey, list[Ad]] = defaultdict(list)
        for ad, values in zip(dataset.ads, ad_values, strict=True):
            key = tuple(values[name] for name in names)
            if None not in key:
                ads_by_key[key].append(ad)
        fitting = sum(key in ads_by_key for key in row_keys)
        if fitting > best_fitting:
            best, best_fitting = (way, row_keys, ads_by_key), fitting
    if best is None:
        raise EvaluationError(
            f"{predictions.name} does not say which AD each of its {len(predictions.rows):,} rows is for.",
            "Give it a column id (or anno_idx), or imdbid, start and end. Their order does not say it.",
        )
    return best


def _comparable_values(
    item_id: str, film: str, clip: str, start: float | None, end: float | None, text: str
) -> dict[str, Hashable]:
    """What identifies an AD, in the form in which it is compared; None for what is not known.

    Times are in whole milliseconds. A clip's name goes without the year before it
    (``2014/ewEreSjPyC4``), which other programs leave out.
    """
    return {
        "id": item_id or None,
        "film": film or None,
        "clip": clip.replace("\\", "/").rsplit("/", 1)[-1] or None,
        "text": " ".join(text.split()) or None,
        "start": None if start is None else round(start * 1000),
        "end": None if end is None else round(end * 1000),
    }


_WAYS_TO_JOIN = {
    "film, start and end": ("film", "start", "end"),
    "clip and the human AD's text": ("clip", "text"),
    "film and the human AD's text": ("film", "text"),
}
"""Values that identify an AD in a file without ids, best first."""
