"""The lines that a metric thinks best and worst of: what a person should read first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shotad.evaluation.measure.items import Item
from shotad.evaluation.measure.rows import Result, Row
from shotad.evaluation.report.groups import main_results
from shotad.evaluation.report.inputs import ReportInput, base_name
from shotad.evaluation.report.wording import clock, number

_LISTED = ("cider", "critic", "action", "llm-ad-eval", "llm-action", "action-description")
"""Metrics whose single lines are worth reading; recall's are right or wrong."""

_LONGEST = 300
"""Characters of what a metric notes on a line."""


@dataclass(frozen=True, slots=True)
class Line:
    """One AD as it is listed."""

    id: str
    film: str
    when: str
    reference: str
    prediction: str
    value: str
    notes: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The lines of one metric, the worst first and the best first. ``silent`` have no word predicted
    for them and are not listed."""

    metric: str
    title: str
    worst: tuple[Line, ...]
    best: tuple[Line, ...]
    silent: int


def listings(run: ReportInput) -> tuple[Listing, ...]:
    """The best and worst lines by each main metric.

    No line stands in both lists of a metric. Of lines with the same number, those come first that the other
    main metrics agree on.
    """
    results = main_results(run)
    listed = [r for r in results if base_name(r.name) in _LISTED] or list(results[:1])
    items = {item.id: item for item in run.items}
    ranks = {result.name: _ranks(result) for result in results}
    return tuple(
        _listing(run, result, items, ranks) for result in listed if run.config.measures.report.listed
    )


def _listing(
    run: ReportInput, result: Result, items: Mapping[str, Item], ranks: Mapping[str, Mapping[str, float]]
) -> Listing:
    spoken = [row for row in result.rows if row.value is not None and items[row.id].prediction]
    others = [found for name, found in ranks.items() if name != result.name]
    sign = 1.0 if result.higher_is_better else -1.0

    def rank(row: Row) -> tuple[float, float, str]:
        found = [other[row.id] for other in others if row.id in other]
        return sign * (row.value or 0.0), float(np.mean(found)) if found else 0.5, row.id

    ordered = sorted(spoken, key=rank)
    n = min(run.config.measures.report.listed, len(ordered) // 2)
    worst, best = ordered[:n], ordered[::-1][:n]
    silent = sum(not items[row.id].prediction for row in result.rows)
    low, high = (_lines(run, result, rows, items) for rows in (worst, best))
    return Listing(result.name, result.title, low, high, silent)


def _lines(
    run: ReportInput, result: Result, rows: Sequence[Row], items: Mapping[str, Item]
) -> tuple[Line, ...]:
    return tuple(
        Line(
            row.id,
            run.film_called(items[row.id].film),
            clock(items[row.id].interval),
            items[row.id].reference,
            items[row.id].prediction or "",
            number(result.name, row.value),
            notes_words(row),
        )
        for row in rows
    )


def notes_words(row: Row) -> str:
    """What the metric notes on a line, in one line: ``wanted: Ann, Ben; found: Ann``."""
    parts = [row.failure] if row.failure else []
    parts += [
        f"{name}: {_plain(value)}" for name, value in row.notes.items() if value not in (None, "", [], {})
    ]
    text = "; ".join(parts)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _plain(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(part) for part in value)
    if isinstance(value, Mapping):
        told = (f"{name} {_plain(part)}" for name, part in value.items() if part not in (None, "", [], {}))
        return f"({', '.join(told)})"
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _ranks(result: Result) -> dict[str, float]:
    """How good each line is among all by this metric, 0 to 1; lines of the same number share theirs."""
    rows = [row for row in result.rows if row.value is not None]
    values = np.array([row.value for row in rows], np.float64)
    known, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    shares = (middle / max(len(rows) - 1, 1))[place] if len(known) else np.zeros(0)
    if not result.higher_is_better:
        shares = 1 - shares
    return {row.id: float(share) for row, share in zip(rows, shares, strict=True)}
