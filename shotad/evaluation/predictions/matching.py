"""Whose prediction each row is: by id or, in a file without ids, by what it tells of the AD; never by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from shotad.core.errors import EvaluationError
from shotad.evaluation.datasets.actions import same_text
from shotad.evaluation.datasets.ads import Ad, Dataset
from shotad.evaluation.predictions.records import PredictionRow, Predictions

AdKey = Callable[[Ad], Hashable]
RowKey = Callable[[PredictionRow], Hashable | None]


@dataclass(frozen=True, slots=True)
class Matched:
    """Rows by the AD's id. ``by`` says what was compared; ``extra`` belong to no AD; ``alike`` counts the
    ADs that are equal in all that the file tells, also in their text, and so were taken in order of time."""

    by: str
    rows: dict[str, list[PredictionRow]]
    extra: tuple[PredictionRow, ...]
    alike: int = 0


def match(dataset: Dataset, predictions: Predictions) -> Matched:
    """The rows of each AD. Raises EvaluationError where the file does not say whose they are, or nothing of
    it belongs to the dataset."""
    if any(row.prediction.id for row in predictions.rows):
        found = _by_id(dataset, predictions)
    else:
        found = _by_place(dataset, predictions)
    if not found.rows and found.extra:
        raise EvaluationError(
            f"Nothing in {predictions.name} belongs to {dataset.title}: by {found.by}, none of its "
            f"{len(found.extra):,} rows is that of an AD ({_shown(found.extra)}).",
            "Is it of another dataset or edition?",
        )
    return found


def _shown(rows: Sequence[PredictionRow]) -> str:
    row = rows[0]
    told = row.prediction.id or f"{row.film or row.clip} {row.start}–{row.end}"
    return f"first {told} in {row.where}"


def _by_id(dataset: Dataset, predictions: Predictions) -> Matched:
    known = {ad.id for ad in dataset.ads}
    rows: dict[str, list[PredictionRow]] = defaultdict(list)
    extra: list[PredictionRow] = []
    for row in predictions.rows:
        name = row.prediction.id
        if name in known:
            rows[name].append(row)
        else:
            extra.append(row)
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
            places = _grouped(dataset.ads, ad_key)
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


def _grouped(ads: Iterable[Ad], key: AdKey) -> dict[Hashable, list[Ad]]:
    found: dict[Hashable, list[Ad]] = defaultdict(list)
    for ad in ads:
        found[key(ad)].append(ad)
    return found


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
