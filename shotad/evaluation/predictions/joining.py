"""Predictions and human ADs, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core.errors import EvaluationError
from shotad.evaluation.datasets.actions import alike
from shotad.evaluation.datasets.ads import Ad, Dataset, Finding
from shotad.evaluation.datasets.findings import MALFORMED, MISSING, NOTE, counted, tally
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.predictions.matching import Matched, match
from shotad.evaluation.predictions.records import PredictionRow, Predictions

NO_PREDICTION = "no prediction"
_SHOWN = 10
_STRANGE = 0.2
"""Share of rows whose human AD is another than the dataset's, above which the file is not of this dataset."""


@dataclass(frozen=True, slots=True)
class Joined:
    """All ADs of a dataset with what is predicted for each.

    ``by`` says how they were joined; the others are ids of ADs: ``missing`` have no prediction, ``failed``
    one without a text, ``empty`` the empty text, ``doubled`` several equal ones. ``extra`` are ids or places
    in the file that are no AD's. ``findings`` says all of it in words, with the files' own.
    """

    corpus: Corpus
    by: str
    missing: tuple[str, ...]
    failed: tuple[str, ...]
    empty: tuple[str, ...]
    doubled: tuple[str, ...]
    extra: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def without(self) -> tuple[str, ...]:
        """Ids of all ADs that nothing is predicted for."""
        return (*self.missing, *self.failed)

    def record(self) -> dict[str, Any]:
        """It as JSON: numbers, and the ids."""
        kinds = ("missing", "failed", "empty", "doubled", "extra")
        lists = {kind: list(getattr(self, kind)) for kind in kinds}
        count = len(self.corpus.items)
        return {"ads": count, "predicted": count - len(self.without), "joined_by": self.by, **lists}


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
    missing = tuple(ad.id for ad in dataset.ads if ad.id not in chosen)
    said = [(ad.id, chosen[ad.id].prediction.text) for ad in dataset.ads if ad.id in chosen]
    failed = tuple(name for name, text in said if text is None)
    empty = tuple(name for name, text in said if text == "")
    extra = tuple(row.prediction.id or row.where for row in matched.extra)
    findings = (
        *predictions.findings,
        *_notes(predictions, matched, dataset, chosen),
        *_counts(predictions.name, missing, failed, empty, doubled, extra, chosen),
    )
    corpus = Corpus(items, dict(dataset.casts), dataset.name)
    return Joined(corpus, matched.by, missing, failed, empty, doubled, extra, findings)


def with_descriptions(joined: Joined, dataset: Dataset, stage1: Predictions) -> Joined:
    """The same with the texts of another file, such as the published Stage I's, as the descriptions.

    Raises EvaluationError as `join` does. An AD that the file leaves out keeps the description it had.
    """
    matched = match(dataset, stage1)
    _refuse_strangers(dataset, matched, stage1)
    chosen, _ = _one_for_each(matched)
    items = tuple(
        replace(item, description=chosen[item.id].prediction.text) if item.id in chosen else item
        for item in joined.corpus.items
    )
    without = [item.id for item in items if item.description is None]
    findings = [*joined.findings, *stage1.findings]
    if without:
        findings.append(Finding(MISSING, stage1.name, tally("ADs without a description", without)))
    return replace(joined, corpus=replace(joined.corpus, items=items), findings=tuple(findings))


def corpus_of(dataset: Dataset) -> Corpus:
    """The ADs with nothing predicted, for what needs the human ADs alone."""
    return Corpus(tuple(_item(ad, None) for ad in dataset.ads), dict(dataset.casts), dataset.name)


def _item(ad: Ad, row: PredictionRow | None) -> Item:
    said = row.prediction if row else None
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
        with_text = [row for row in rows if row.prediction.text is not None] or rows
        chosen[name] = with_text[0]
        if len(rows) > 1:
            doubled.append(name)
        if any(row.prediction.text != with_text[0].prediction.text for row in with_text):
            torn.append((name, with_text))
    if torn:
        shown = "; ".join(f"{name}: {_both(rows)}" for name, rows in torn[:_SHOWN])
        more = f"; and {len(torn) - _SHOWN:,} more" if len(torn) > _SHOWN else ""
        raise EvaluationError(
            f"{len(torn)} of the ADs in the file have several predictions that differ: {shown}{more}.",
            "Keep one of each.",
        )
    return chosen, tuple(doubled)


def _both(rows: Sequence[PredictionRow]) -> str:
    texts = dict.fromkeys((row.prediction.text, row.where) for row in rows)
    return " and ".join(f"{text!r} ({where})" for text, where in list(texts)[:3])


def _refuse_strangers(dataset: Dataset, matched: Matched, predictions: Predictions) -> None:
    """Ids of two datasets are the same numbers; what the file repeats of its own tells them apart."""
    strange, told = _strangers(dataset, matched)
    if told and len(strange) > _STRANGE * told:
        ad, row = strange[0]
        raise EvaluationError(
            f"{predictions.name} is not of {dataset.title}: {len(strange):,} of {told:,} rows repeat another "
            f"human AD than its id's. {row.where} has {row.reference!r} under {row.prediction.id}, the "
            f"dataset {ad.text!r}.",
            "Evaluate it on the dataset, and the edition, that it was made for.",
        )


def _strangers(dataset: Dataset, matched: Matched) -> tuple[list[tuple[Ad, PredictionRow]], int]:
    """Rows that repeat quite another human AD, and how many repeat one."""
    ads = {ad.id: ad for ad in dataset.ads}
    pairs = [(ads[name], row) for name, rows in matched.rows.items() for row in rows if row.reference]
    return [(ad, row) for ad, row in pairs if not alike(ad.text, row.reference)], len(pairs)


def _notes(
    predictions: Predictions, matched: Matched, dataset: Dataset, chosen: Mapping[str, PredictionRow]
) -> list[Finding]:
    found = []
    if not any(row.prediction.id for row in predictions.rows):
        found.append(Finding(NOTE, predictions.name, f"there are no ids; joined by {matched.by}."))
    if matched.alike:
        what = f"ADs that are alike in {matched.by}, and get theirs in order: {matched.alike}."
        found.append(Finding(NOTE, predictions.name, what))
    strange, _ = _strangers(dataset, matched)
    if strange:
        names = counted([row.prediction.id or row.where for _, row in strange])
        what = f"rows that repeat another human AD than the dataset's: {len(strange)} ({names})."
        found.append(Finding(MALFORMED, predictions.name, what))
    return found


def _counts(
    name: str,
    missing: Sequence[str],
    failed: Sequence[str],
    empty: Sequence[str],
    doubled: Sequence[str],
    extra: Sequence[str],
    chosen: Mapping[str, PredictionRow],
) -> list[Finding]:
    why = list(dict.fromkeys(chosen[ad].prediction.failure for ad in failed))
    told = (
        (MISSING, missing, "ADs without a prediction"),
        (MISSING, failed, f"predictions that failed ({counted(why, 3)})"),
        (NOTE, empty, "predictions that are empty texts"),
        (NOTE, doubled, "ADs with several equal predictions, or a failed one beside another"),
        (MALFORMED, extra, "rows that belong to no AD of the dataset, and are left out"),
    )
    return [Finding(level, name, tally(what, ids)) for level, ids, what in told if ids]
