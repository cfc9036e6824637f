"""Do the numbers of a metric rise and fall with what people think (Shot-by-Shot, section 5.5)?

What people think comes from a file, CSV or JSON Lines. A line is an AD, or one action of it. Columns: the
AD's ``id`` (or ``anno_idx``); ``action`` where an AD has several lines; and ``score``, or a column for each
annotator. The annotators of a line are averaged, then the lines of an AD (Shot-by-Shot, appendix D). The
answer is correlations, with intervals over films.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import EvaluationError, ReportSettings, aligned, need, plural
from shotad.evaluation.datasets.tables import Table, TableRow, read_records
from shotad.evaluation.metric import METRICS, Floats, Json, Result
from shotad.evaluation.report.inputs import base_name
from shotad.evaluation.report.intervals import FEWEST, LEVEL, Span, Units, basis_words, spread, units_of
from shotad.evaluation.report.reading import Report
from shotad.evaluation.report.table import AGREEMENT
from shotad.evaluation.report.wording import NONE, percent


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """All metrics that were asked for, and each annotator against the others: name, title, and what was found
    of each. ``unknown`` ids are scored by people and are not in the report."""

    system: str
    scores: HumanScores
    metrics: tuple[tuple[str, str, Correlations], ...]
    people: tuple[tuple[str, str, Correlations], ...]
    unknown: tuple[str, ...]
    settings: ReportSettings

    @property
    def text(self) -> str:
        """All of it for people."""
        level, all_of_them = percent(LEVEL), (*self.metrics, *self.people)
        heads = ("Metric", "ADs", f"Pearson ({level})", f"Spearman ({level})", f"Kendall tau-b ({level})")
        rows = [
            (title, f"{found.n:,}", *map(_cell, (found.pearson, found.spearman, found.kendall)))
            for _, title, found in all_of_them
        ]
        lines = [*self._opening(), "", *aligned(heads, rows, range(1, 5))]
        lines += [f"{title}: not defined, {one.reason}." for _, title, one in self.metrics if one.reason]
        basis = basis_words([found.pearson.interval for *_, found in all_of_them], self.settings.unit)
        return "\n".join([*lines, *([basis] if basis else []), "", *paper_lines()])

    def _opening(self) -> list[str]:
        scores = self.scores
        lines = [
            f"{self.system} against human scores of {plural(len(scores.scores), 'AD')}.",
            f"Scores stand in {'the column' if len(scores.columns) == 1 else 'the columns'} "
            f"{', '.join(scores.columns)}{', and are averaged' if len(scores.columns) > 1 else ''}.",
        ]
        if self.unknown:
            shown = ", ".join(self.unknown[:10]) + (", …" if len(self.unknown) > 10 else "")
            lines.append(f"{plural(len(self.unknown), 'scored AD')} not in the report: {shown}.")
        if scores.empty:
            lines.append(f"{plural(scores.empty, 'line')} without a score.")
        if scores.ignored:
            lines.append(f"Columns that hold no scores: {', '.join(scores.ignored)}.")
        return lines

    def record(self) -> Json:
        """``agreement.json``."""
        return {
            "schema": 2,
            "system": self.system,
            "n": {
                "scored_by_people": len(self.scores.scores),
                "not_in_the_report": len(self.unknown),
                "empty": self.scores.empty,
            },
            "columns": list(self.scores.columns),
            "not_in_the_report": list(self.unknown),
            "intervals": {"unit": self.settings.unit, "level": LEVEL},
            "metrics": [_record(*metric) for metric in self.metrics],
            "people": [_record(*person) for person in self.people],
            "paper": [row.record() for row in AGREEMENT],
        }


def _record(name: str, title: str, found: Correlations) -> Json:
    return {
        "name": name,
        "title": title,
        "n": found.n,
        "pearson": asdict(found.pearson),
        "spearman": asdict(found.spearman),
        "kendall_tau_b": asdict(found.kendall),
        **({"reason": found.reason} if found.reason else {}),
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
    metrics = (
        (result.name, result.title, {row.id: row.value for row in result.rows if row.value is not None})
        for result in results
    )
    return AgreementReport(
        report.system,
        scores,
        tuple((name, title, _joined(own, scores.scores, films, settings)) for name, title, own in metrics),
        _people(scores, films, settings),
        unknown,
        settings,
    )


_ALL_BUT_1 = 1.0 - 1e-12
"""What 1 counts as on Fisher's scale, on which it has no place."""
_FEWEST = 3
"""Pairs that a correlation is told of; of two it is always 1 or -1."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient and its interval; None where it is not defined."""

    value: float | None
    interval: Span | None


@dataclass(frozen=True, slots=True)
class Correlations:
    """All three over ``n`` pairs. ``reason`` says why they are not defined, where they are not."""

    n: int
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    reason: str = ""


COEFFICIENTS = {"pearson": "pearsonr", "spearman": "spearmanr", "kendall": "kendalltau"}
"""Pearson's product-moment correlation, Spearman's of the ranks, Kendall's tau-b, by their names in scipy."""


def coefficient(name: str, x: Floats, y: Floats) -> float:
    """That of `COEFFICIENTS` over ``float64[n]`` each; nan where one row is constant."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    found = getattr(need("scipy.stats", "Correlations", "evaluate"), COEFFICIENTS[name])(x, y)
    return float(found.statistic)


def correlations(x: Floats, y: Floats, films: Sequence[str], settings: ReportSettings) -> Correlations:
    """The correlations of ``x`` and ``y``, ``float64[n]`` each, with intervals over films (``films`` has each
    pair's), or over the pairs of one film."""
    reason = _undefined(x, y)
    if reason:
        nothing = Estimate(None, None)
        return Correlations(len(x), nothing, nothing, nothing, reason)
    units = units_of({f"{k:09d}": film for k, film in enumerate(films)}, settings.unit)
    owners = np.array([units.of[f"{k:09d}"] for k in range(len(films))], np.intp)
    found = [_estimate(name, x, y, units, owners) for name in COEFFICIENTS]
    return Correlations(len(x), found[0], found[1], found[2])


def _estimate(name: str, x: Floats, y: Floats, units: Units, owners: npt.NDArray[np.intp]) -> Estimate:
    """The coefficient with its interval, which is found on Fisher's scale: it ends at 1 and -1."""
    value = coefficient(name, x, y)
    if len(x) < FEWEST:
        return Estimate(round(value, 9), None)
    others = [coefficient(name, x[owners != k], y[owners != k]) for k in range(units.n)]
    whole, *without = np.arctanh(np.clip([value, *others], -_ALL_BUT_1, _ALL_BUT_1))
    found = spread(float(whole), np.array(without), units.kind)
    return Estimate(round(value, 9), None if found is None else found.span(float(whole), LEVEL, np.tanh))


def _undefined(x: Floats, y: Floats) -> str:
    if len(x) < _FEWEST:
        return f"only {len(x)} ADs have both a score by people and one by the metric"
    if np.ptp(x) == 0:
        return "the metric gives all of them the same number"
    return "people give all of them the same score" if np.ptp(y) == 0 else ""


def _wanted(report: Report, names: Sequence[str]) -> list[Result]:
    if not names:
        return list(report.results)
    found = [r for name in names for r in report.results if name in (r.name, base_name(r.name))]
    odd = [name for name in names if not any(name in (r.name, base_name(r.name)) for r in report.results)]
    if odd:
        known = ", ".join(result.name for result in report.results)
        raise EvaluationError(f"{report.name} has no metric {odd[0]!r}.", f"It has: {known}.")
    return list({result.name: result for result in found}.values())


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
) -> tuple[tuple[str, str, Correlations], ...]:
    """Each annotator against the mean of the others: what a metric can hope for."""
    found = []
    for name, own in scores.by_annotator.items():
        others = [given for other, given in scores.by_annotator.items() if other != name]
        means = {
            key: float(np.mean(told))
            for key in own
            if (told := [given[key] for given in others if key in given])
        }
        found.append((name, f"{name} (a person)", _joined(own, means, films, settings)))
    return tuple(found)


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
            *(f"{value:.3f}" for value in (*row.paragraphs, *row.sentences)),
        )
        for row in AGREEMENT
    ]
    return [
        *aligned(heads, rows, range(1, 5)),
        "The paper's scores are of actions, 0 to 3, by five annotators: 300 ADs with paragraphs, 500 with "
        "sentences.",
    ]


ID_COLUMNS = ("id", "anno_idx", "tvad_index")
ACTION = "action"
SCORE = "score"

_NOBODYS = {
    *METRICS,
    *("start", "end", "scaled_start", "scaled_end", "film", "movie", "imdbid", "title", "clip"),
    *("cmd_clip_idx", "scale", "effective_scale", "threaded", "line", "index", "unnamed: 0", ""),
}
"""Columns of numbers that no annotator gave: those of the datasets' tables, and of ``items.csv``."""

_HINT = "Columns: id, score; or id and one for each annotator; with action where an AD has several lines."


@dataclass(frozen=True, slots=True)
class HumanScores:
    """Scores of ADs by id. ``by_annotator`` has each annotator's own, where there is more than one.

    ``columns`` hold the scores, and were averaged. ``empty`` lines hold no score; ``ignored`` columns
    are not of people's numbers.
    """

    scores: Mapping[str, float]
    by_annotator: Mapping[str, Mapping[str, float]]
    empty: int = 0
    ignored: tuple[str, ...] = ()
    columns: tuple[str, ...] = (SCORE,)


@dataclass(frozen=True, slots=True)
class _RatedItem:
    id: str
    action: str | None
    cells: Mapping[str, Any]
    where: str


def read_scores(path: Path) -> HumanScores:
    """The scores in a file. Raises DatasetError for one that cannot be read, EvaluationError with file and
    line for what cannot be meant."""
    table = read_records(path)
    lines = [_line(table, row) for row in table.rows if any(map(_told, row.values.values()))]
    if not lines:
        raise EvaluationError(f"{path.name} holds no scores.", _HINT)
    _no_doubles(lines)
    names, ignored = _annotators(lines, path.name)
    return _averaged(lines, names, ignored)


def _line(table: Table, row: TableRow) -> _RatedItem:
    cells = row.values
    name = next((cells[key] for key in ID_COLUMNS if _told(cells.get(key))), None)
    if name is None:
        raise EvaluationError(f"{table.where(row)} names no AD.", _HINT)
    action = cells.get(ACTION)
    kept = {key: value for key, value in cells.items() if key not in (*ID_COLUMNS, ACTION)}
    return _RatedItem(
        str(name).strip(), str(action).strip() if _told(action) else None, kept, table.where(row)
    )


def _no_doubles(lines: list[_RatedItem]) -> None:
    """One AD has several lines only where each is of an action."""
    seen: dict[tuple[str, str | None], str] = {}
    for line in lines:
        key = (line.id, line.action)
        if key in seen:
            raise EvaluationError(
                f"{line.where}: AD {line.id!r} was scored before, in {seen[key]}.",
                "Give each annotator a column, and each action its line with an action.",
            )
        seen[key] = line.where


def _annotators(lines: list[_RatedItem], name: str) -> tuple[list[str], tuple[str, ...]]:
    """The columns that hold scores, and those that hold something else."""
    columns = list(dict.fromkeys(key for line in lines for key in line.cells))
    if SCORE in columns:
        return [SCORE], ()
    cells = [pair for line in lines for pair in line.cells.items()]
    wrong = {key for key, cell in cells if _told(cell) and _number(cell) is None}
    wrong |= {key for key in columns if key.strip().lower().partition("@")[0] in _NOBODYS}
    names = [key for key in columns if key not in wrong and any(_told(line.cells.get(key)) for line in lines)]
    if not names:
        raise EvaluationError(f"{name} has no column of scores.", _HINT)
    return names, tuple(key for key in columns if key in wrong)


def _told(cell: Any) -> bool:
    return cell is not None and cell != ""


def _number(cell: Any) -> float | None:
    if isinstance(cell, bool):
        return None
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _averaged(lines: list[_RatedItem], names: list[str], ignored: tuple[str, ...]) -> HumanScores:
    by_ad: dict[str, list[float]] = {}
    own: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    empty = 0
    for line in lines:
        found = {name: _score(line, name) for name in names if _told(line.cells.get(name))}
        if not found:
            empty += 1
            continue
        by_ad.setdefault(line.id, []).append(_mean(list(found.values())))
        for name, value in found.items():
            own[name].setdefault(line.id, []).append(value)
    return HumanScores(
        {key: _mean(values) for key, values in by_ad.items()},
        {name: {key: _mean(values) for key, values in found.items()} for name, found in own.items()}
        if len(names) > 1
        else {},
        empty,
        ignored,
        tuple(names),
    )


def _score(line: _RatedItem, column: str) -> float:
    value = _number(line.cells[column])
    if value is None:
        raise EvaluationError(f"{line.where}: {column} {line.cells[column]!r} is no score.", _HINT)
    return value


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
