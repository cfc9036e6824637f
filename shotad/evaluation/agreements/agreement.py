"""Do the numbers of a metric rise and fall with what people think (Shot-by-Shot, section 5.5)?

Correlations of two rows of numbers, with intervals over films.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.core import EvaluationError, ReportSettings, need
from shotad.evaluation.agreements.scores import HumanScores
from shotad.evaluation.measure.rows import Floats, Json, Result
from shotad.evaluation.report.columns import aligned
from shotad.evaluation.report.inputs import base_name
from shotad.evaluation.report.intervals import FEWEST, Span, Units, basis_words, spread, units_of
from shotad.evaluation.report.paper_rows import AGREEMENT
from shotad.evaluation.report.reading import Report
from shotad.evaluation.report.wording import NONE, count, percent

Coefficient = Callable[[Floats, Floats], float]
_ALL_BUT_1 = 1.0 - 1e-12
"""What 1 counts as on Fisher's scale, on which it has no place."""
_FEWEST = 3
"""Pairs that a correlation is told of; of two it is always 1 or -1."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient and its interval; None where it is not defined."""

    value: float | None
    interval: Span | None

    def record(self) -> dict[str, object]:
        """As JSON."""
        return {"value": self.value, "interval": self.interval.record() if self.interval else None}


@dataclass(frozen=True, slots=True)
class Correlations:
    """All three over ``n`` pairs. ``reason`` says why they are not defined, where they are not."""

    n: int
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    reason: str = ""


def pearson(x: Floats, y: Floats) -> float:
    """The product-moment correlation; nan where one row is constant."""
    a, b = x - x.mean(), y - y.mean()
    norm = float(np.sqrt((a @ a) * (b @ b)))
    constant = np.ptp(x) == 0 or np.ptp(y) == 0
    return float("nan") if constant or norm == 0 else float(np.clip((a @ b) / norm, -1, 1))


def spearman(x: Floats, y: Floats) -> float:
    """Pearson of the ranks; those of equal numbers are averaged."""
    return pearson(_ranks(x), _ranks(y))


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b, which takes ties into account; nan where one row is constant."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    stats = need("scipy.stats", "Kendall's tau", "evaluate")
    return float(stats.kendalltau(x, y, variant="b").statistic)


COEFFICIENTS: dict[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def correlations(x: Floats, y: Floats, films: Sequence[str], settings: ReportSettings) -> Correlations:
    """The correlations of ``x`` and ``y``, ``float64[n]`` each, with intervals over films (``films`` has each
    pair's), or over the pairs of one film."""
    if not len(x) == len(y) == len(films):
        raise ValueError(f"pairs must be equal in number, got {len(x)}, {len(y)} and {len(films)}")
    reason = _undefined(x, y)
    if reason:
        nothing = Estimate(None, None)
        return Correlations(len(x), nothing, nothing, nothing, reason)
    units = units_of({f"{k:09d}": film for k, film in enumerate(films)}, settings.unit)
    owners = np.array([units.of[f"{k:09d}"] for k in range(len(films))], np.intp)
    found = {
        name: _estimate(coefficient, x, y, units, owners, settings.level)
        for name, coefficient in COEFFICIENTS.items()
    }
    return Correlations(len(x), found["pearson"], found["spearman"], found["kendall"])


def _estimate(
    coefficient: Coefficient, x: Floats, y: Floats, units: Units, owners: npt.NDArray[np.intp], level: float
) -> Estimate:
    """The coefficient with its interval, which is found on Fisher's scale: it ends at 1 and -1."""
    value = coefficient(x, y)
    if len(x) < FEWEST:
        return Estimate(round(value, 9), None)
    others = [coefficient(x[owners != k], y[owners != k]) for k in range(units.n)]
    whole, *without = np.arctanh(np.clip([value, *others], -_ALL_BUT_1, _ALL_BUT_1))
    found = spread(float(whole), np.array(without), units.kind)
    return Estimate(round(value, 9), None if found is None else found.span(float(whole), level, np.tanh))


def _undefined(x: Floats, y: Floats) -> str:
    if len(x) < _FEWEST:
        return f"only {len(x)} ADs have both a score by people and one by the metric"
    if np.ptp(x) == 0:
        return "the metric gives all of them the same number"
    return "people give all of them the same score" if np.ptp(y) == 0 else ""


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; equal numbers share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], np.float64)


PEOPLE = "people among themselves"


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """One metric held against people, or one person against the others."""

    name: str
    title: str
    found: Correlations

    def record(self) -> Json:
        """As JSON."""
        found = self.found
        return {
            "name": self.name,
            "title": self.title,
            "n": found.n,
            "pearson": found.pearson.record(),
            "spearman": found.spearman.record(),
            "kendall_tau_b": found.kendall.record(),
            **({"reason": found.reason} if found.reason else {}),
        }


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """All metrics that were asked for. ``unknown`` ids are scored by people and are not in the report."""

    system: str
    metrics: tuple[MetricAgreement, ...]
    people: tuple[MetricAgreement, ...]
    scored: int
    columns: tuple[str, ...]
    unknown: tuple[str, ...]
    empty: int
    ignored: tuple[str, ...]
    settings: ReportSettings

    @property
    def text(self) -> str:
        """All of it for people."""
        rows = [_row(metric) for metric in (*self.metrics, *self.people)]
        level = percent(self.settings.level)
        heads = ("Metric", "ADs", f"Pearson ({level})", f"Spearman ({level})", f"Kendall tau-b ({level})")
        reasons = [f"{m.title}: not defined, {m.found.reason}." for m in self.metrics if m.found.reason]
        return "\n".join(
            [
                *self._opening(),
                "",
                *aligned(heads, rows, range(1, 5)),
                *reasons,
                *self._basis(),
                "",
                *paper_lines(),
            ]
        )

    def _basis(self) -> list[str]:
        found = [one.found.pearson.interval for one in (*self.metrics, *self.people)]
        basis = basis_words(found, self.settings.unit)
        return [basis] if basis else []

    def _opening(self) -> list[str]:
        lines = [
            f"{self.system} against human scores of {count(self.scored, 'AD')}.",
            f"Scores stand in {'the column' if len(self.columns) == 1 else 'the columns'} "
            f"{', '.join(self.columns)}{', and are averaged' if len(self.columns) > 1 else ''}.",
        ]
        if self.unknown:
            shown = ", ".join(self.unknown[:10]) + (", …" if len(self.unknown) > 10 else "")
            lines.append(f"{count(len(self.unknown), 'scored AD')} not in the report: {shown}.")
        if self.empty:
            lines.append(f"{count(self.empty, 'line')} without a score.")
        if self.ignored:
            lines.append(f"Columns that hold no scores: {', '.join(self.ignored)}.")
        return lines

    def record(self) -> Json:
        """``agreement.json``."""
        return {
            "schema": 2,
            "system": self.system,
            "n": {
                "scored_by_people": self.scored,
                "not_in_the_report": len(self.unknown),
                "empty": self.empty,
            },
            "columns": list(self.columns),
            "not_in_the_report": list(self.unknown),
            "intervals": {"unit": self.settings.unit, "level": self.settings.level},
            "metrics": [metric.record() for metric in self.metrics],
            "people": [person.record() for person in self.people],
            "paper": [row.record() for row in AGREEMENT],
        }


def agreement(
    report: Report,
    scores: HumanScores,
    settings: ReportSettings,
    *,
    names: Sequence[str] = (),
) -> AgreementReport:
    """The metrics of these names (none: all of the report) against people, AD by AD, joined by id.

    Raises EvaluationError for a metric that the report has not, and where no AD is in both.
    """
    results = _wanted(report, names)
    films = report.films
    known = {row.id for result in report.results for row in result.rows}
    unknown = tuple(sorted(name for name in scores.scores if name not in known))
    if len(unknown) == len(scores.scores):
        raise EvaluationError(
            f"None of the {len(unknown)} ADs with human scores is in {report.name}.",
            "Give the ids of the dataset's ADs.",
        )
    metrics = [
        MetricAgreement(result.name, result.title, _with_people(result, scores.scores, films, settings))
        for result in results
    ]
    return AgreementReport(
        report.system,
        tuple(metrics),
        _people(scores, films, settings),
        len(scores.scores),
        scores.columns,
        unknown,
        scores.empty,
        scores.ignored,
        settings,
    )


def _wanted(report: Report, names: Sequence[str]) -> list[Result]:
    if not names:
        return list(report.results)
    found = [r for name in names for r in report.results if name in (r.name, base_name(r.name))]
    odd = [name for name in names if not any(name in (r.name, base_name(r.name)) for r in report.results)]
    if odd:
        known = ", ".join(result.name for result in report.results)
        raise EvaluationError(f"{report.name} has no metric {odd[0]!r}.", f"It has: {known}.")
    return list({result.name: result for result in found}.values())


def _with_people(
    result: Result, scores: Mapping[str, float], films: Mapping[str, str], settings: ReportSettings
) -> Correlations:
    values = {row.id: row.value for row in result.rows if row.value is not None}
    return _joined(values, scores, films, settings)


def _joined(
    values: Mapping[str, float],
    scores: Mapping[str, float],
    films: Mapping[str, str],
    settings: ReportSettings,
) -> Correlations:
    """Both on the ADs that both have, in the order of their ids."""
    common = sorted(name for name in values if name in scores)
    x = np.array([values[name] for name in common], np.float64)
    y = np.array([scores[name] for name in common], np.float64)
    return correlations(x, y, [films.get(name, name) for name in common], settings)


def _people(
    scores: HumanScores, films: Mapping[str, str], settings: ReportSettings
) -> tuple[MetricAgreement, ...]:
    """Each annotator against the mean of the others: what a metric can hope for."""
    found = []
    for name, own in scores.by_annotator.items():
        others = [given for other, given in scores.by_annotator.items() if other != name]
        means = {
            key: float(np.mean(told))
            for key in own
            if (told := [given[key] for given in others if key in given])
        }
        found.append(MetricAgreement(name, f"{name} (a person)", _joined(own, means, films, settings)))
    return tuple(found)


def _row(metric: MetricAgreement) -> tuple[str, ...]:
    found = metric.found
    return (metric.title, f"{found.n:,}", *map(_cell, (found.pearson, found.spearman, found.kendall)))


def _cell(estimate: Estimate) -> str:
    if estimate.value is None:
        return NONE
    interval = estimate.interval
    told = f" ({interval.low:.3f} to {interval.high:.3f})" if interval else ""
    return f"{estimate.value:.3f}{told}".replace("-", "−")


def paper_lines() -> list[str]:
    """Table 3 of the paper."""
    heads = ("From the paper, Table 3", "Paragraphs: Pearson", "Spearman", "Sentences: Pearson", "Spearman")
    rows = [
        (
            row.called,
            *(
                f"{value:.3f}"
                for value in (
                    row.paragraph_pearson,
                    row.paragraph_spearman,
                    row.sentence_pearson,
                    row.sentence_spearman,
                )
            ),
        )
        for row in AGREEMENT
    ]
    return [
        *aligned(heads, rows, range(1, 5)),
        "The paper's scores are of actions, 0 to 3, by five annotators: 300 ADs with paragraphs, 500 with "
        "sentences.",
    ]
