"""Do the numbers of a metric rise and fall with what people think (Shot-by-Shot, section 5.5)?

What people think comes from a file, CSV or JSON Lines. A line is an AD, or one action of it. Columns: the
AD's ``id`` (or ``anno_idx``); ``action`` where an AD has several lines; and ``score``, or a column for each
annotator. The annotators of a line are averaged, then the lines of an AD (Shot-by-Shot, appendix D). The
answer is correlations, with intervals over films.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from shotad.core import EvaluationError, ReportSettings, aligned, need, plural
from shotad.evaluation.datasets.tables import Table, TableRow, read_records
from shotad.evaluation.metric import METRICS, Floats, Json, Result
from shotad.evaluation.report.inputs import base_name
from shotad.evaluation.report.intervals import FEWEST, LEVEL, Span, basis_words, units_of
from shotad.evaluation.report.records import Report
from shotad.evaluation.report.table import AGREEMENT, NONE, percent


def agreement_text(record: Json, scores: HumanScores) -> str:
    """What `agreement` found of these scores, for people."""
    level, all_of_them = percent(LEVEL), (*record["metrics"], *record["people"])
    heads = ("Metric", "ADs", f"Pearson ({level})", f"Spearman ({level})", f"Kendall tau-b ({level})")
    rows = [
        (one["title"], f"{one['n']:,}", *(_cell(one[name]) for name in COEFFICIENTS)) for one in all_of_them
    ]
    several, unknown = len(scores.columns) > 1, record["not_in_the_report"]
    lines = [
        f"{record['system']} against human scores of {plural(len(scores.scores), 'AD')}.",
        f"Scores stand in the column{'s' * several} {', '.join(scores.columns)}"
        f"{', and are averaged' * several}.",
    ]
    if unknown:
        shown = ", ".join(unknown[:10]) + (", …" if len(unknown) > 10 else "")
        lines.append(f"{plural(len(unknown), 'scored AD')} not in the report: {shown}.")
    if scores.empty:
        lines.append(f"{plural(scores.empty, 'line')} without a score.")
    if scores.ignored:
        lines.append(f"Columns that hold no scores: {', '.join(scores.ignored)}.")
    lines += ["", *aligned(heads, rows, range(1, 5))]
    lines += [
        f"{one['title']}: not defined, {one['reason']}." for one in record["metrics"] if "reason" in one
    ]
    ends = (one["pearson"]["interval"] for one in all_of_them)
    basis = basis_words([Span(**one) if one else None for one in ends], record["intervals"]["unit"])
    lines += [basis, ""] if basis else [""]
    kinds = ("Paragraphs: Pearson", "Spearman", "Sentences: Pearson", "Spearman")
    cells = []
    for row in AGREEMENT:
        numbers = (*row["paragraphs"].values(), *row["sentences"].values())
        cells.append((row["called"], *(f"{number:.3f}" for number in numbers)))
    lines += aligned(("From the paper, Table 3", *kinds), cells, range(1, 5))
    told = "The paper's scores are of actions, 0 to 3, by five annotators: 300 ADs with paragraphs, 500"
    return "\n".join([*lines, f"{told} with sentences."])


def agreement(
    report: Report, scores: HumanScores, settings: ReportSettings, *, names: Sequence[str] = ()
) -> Json:
    """The metrics of these names (none: all of the report) against people, AD by AD, joined by id, and each
    annotator against the others: ``agreement.json``.

    Raises EvaluationError for a metric that the report has not, and where no AD is in both.
    """
    results = _wanted(report, names)
    known = {row.id for result in report.results for row in result.rows}
    unknown = sorted(name for name in scores.scores if name not in known)
    if len(unknown) == len(scores.scores):
        raise EvaluationError(
            f"None of the {len(unknown)} ADs with human scores is in {report.name}.",
            "Give the ids of the dataset's ADs.",
        )
    films = report.films

    def joined(name: str, title: str, values: Mapping[str, float], others: Mapping[str, float]) -> Json:
        """Both on the ADs that both have, in the order of their ids."""
        common = sorted(values.keys() & others.keys())
        x, y = (np.array([some[key] for key in common], np.float64) for some in (values, others))
        found = correlations(x, y, [films.get(key, key) for key in common], settings)
        return {"name": name, "title": title, **found}

    metrics = []
    for result in results:
        values = {row.id: row.value for row in result.rows if row.value is not None}
        metrics.append(joined(result.name, result.title, values, scores.scores))
    people = []
    for name, own in scores.by_annotator.items():
        # Each against the mean of the others: what a metric can hope for.
        others = [given for other, given in scores.by_annotator.items() if other != name]
        told = {key: [given[key] for given in others if key in given] for key in own}
        means = {key: float(np.mean(values)) for key, values in told.items() if values}
        people.append(joined(name, f"{name} (a person)", own, means))
    counts = {"scored_by_people": len(scores.scores), "not_in_the_report": len(unknown)}
    return {
        "schema": 2,
        "system": report.system,
        "n": {**counts, "empty": scores.empty},
        "columns": list(scores.columns),
        "not_in_the_report": unknown,
        "intervals": {"unit": settings.unit, "level": LEVEL},
        "metrics": metrics,
        "people": people,
        "paper": list(AGREEMENT),
    }


_ALL_BUT_1 = 1.0 - 1e-12
"""What 1 counts as on Fisher's scale, on which it has no place."""
_FEWEST = 3
"""Pairs that a correlation is told of; of two it is always 1 or -1."""


COEFFICIENTS = {"pearson": "pearsonr", "spearman": "spearmanr", "kendall_tau_b": "kendalltau"}
"""Pearson's product-moment correlation, Spearman's of the ranks, Kendall's tau-b, by their names in scipy."""


def coefficient(name: str, x: Floats, y: Floats) -> float:
    """That of `COEFFICIENTS` over ``float64[n]`` each; nan where one row is constant."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    found = getattr(need("scipy.stats", "Correlations", "evaluate"), COEFFICIENTS[name])(x, y)
    return float(found.statistic)


def correlations(x: Floats, y: Floats, films: Sequence[str], settings: ReportSettings) -> Json:
    """The correlations of ``x`` and ``y``, ``float64[n]`` each, as JSON: value and interval of each; None
    where they are not defined, and the ``reason``. Intervals are over films (``films`` has each pair's), or
    over the pairs of one film; they are found on Fisher's scale: they end at 1 and -1."""
    n, reason = len(x), ""
    if n < _FEWEST:
        reason = f"only {n} ADs have both a score by people and one by the metric"
    elif np.ptp(x) == 0:
        reason = "the metric gives all of them the same number"
    elif np.ptp(y) == 0:
        reason = "people give all of them the same score"
    if reason:
        nothing = {"value": None, "interval": None}
        return {"n": n, **dict.fromkeys(COEFFICIENTS, nothing), "reason": reason}
    units = units_of({f"{k:09d}": film for k, film in enumerate(films)}, settings.unit)
    owners = np.array([units.of[f"{k:09d}"] for k in range(n)], np.intp)
    found: Json = {"n": n}
    for name in COEFFICIENTS:
        value, span = coefficient(name, x, y), None
        if n >= FEWEST:
            others = [coefficient(name, x[owners != k], y[owners != k]) for k in range(units.n)]
            whole, *without = np.arctanh(np.clip([value, *others], -_ALL_BUT_1, _ALL_BUT_1))
            error = units.error(float(whole), np.array(without))
            span = None if error is None else asdict(units.span(float(whole), error, np.tanh))
        found[name] = {"value": round(value, 9), "interval": span}
    return found


def _wanted(report: Report, names: Sequence[str]) -> list[Result]:
    if not names:
        return list(report.results)
    found = [r for name in names for r in report.results if name in (r.name, base_name(r.name))]
    odd = [name for name in names if not any(name in (r.name, base_name(r.name)) for r in report.results)]
    if odd:
        known = ", ".join(result.name for result in report.results)
        raise EvaluationError(f"{report.name} has no metric {odd[0]!r}.", f"It has: {known}.")
    return list({result.name: result for result in found}.values())


def _cell(estimate: Json) -> str:
    if estimate["value"] is None:
        return NONE
    span = estimate["interval"]
    told = f" ({span['low']:.3f} to {span['high']:.3f})" if span else ""
    return f"{estimate['value']:.3f}{told}".replace("-", "−")


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


def read_scores(path: Path) -> HumanScores:
    """The scores in a file. Raises DatasetError for one that cannot be read, EvaluationError with file and
    line for what cannot be meant."""
    table = read_records(path)
    lines: dict[tuple[str, str], TableRow] = {}
    for row in table.rows:
        cells = row.values
        if not any(map(_told, cells.values())):
            continue
        name = next((cells[key] for key in ID_COLUMNS if _told(cells.get(key))), None)
        if name is None:
            raise EvaluationError(f"{table.where(row)} names no AD.", _HINT)
        key = str(name).strip(), str(cells[ACTION]).strip() if _told(cells.get(ACTION)) else ""
        if key in lines:
            raise EvaluationError(
                f"{table.where(row)}: AD {key[0]!r} was scored before, in {table.where(lines[key])}.",
                "Give each annotator a column, and each action its line with an action.",
            )
        lines[key] = row
    if not lines:
        raise EvaluationError(f"{path.name} holds no scores.", _HINT)
    columns, ignored = _annotators(table, list(lines.values()))
    by_ad: defaultdict[str, list[float]] = defaultdict(list)
    own: dict[str, defaultdict[str, list[float]]] = {column: defaultdict(list) for column in columns}
    empty = 0
    for (ad, _), row in lines.items():
        found = []
        for column in columns:
            if _told(row.values.get(column)):
                value = _number(row.values[column])
                if value is None:
                    what = f"{table.where(row)}: {column} {row.values[column]!r} is no score."
                    raise EvaluationError(what, _HINT)
                found.append(value)
                own[column][ad].append(value)
        if found:
            by_ad[ad].append(fmean(found))
        empty += not found
    people = {column: _means(values) for column, values in own.items()} if len(columns) > 1 else {}
    return HumanScores(_means(by_ad), people, empty, ignored, tuple(columns))


def _means(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {key: fmean(those) for key, those in values.items()}


def _annotators(table: Table, rows: Sequence[TableRow]) -> tuple[list[str], tuple[str, ...]]:
    """The columns that hold scores, and those that hold something else."""
    columns = [name for name in table.columns if name not in (*ID_COLUMNS, ACTION)]
    if SCORE in columns:
        return [SCORE], ()
    told = {name: [cell for row in rows if _told(cell := row.values.get(name))] for name in columns}
    wrong = {name for name, cells in told.items() if any(_number(cell) is None for cell in cells)}
    wrong |= {name for name in columns if name.strip().lower().partition("@")[0] in _NOBODYS}
    names = [name for name in columns if name not in wrong and told[name]]
    if not names:
        raise EvaluationError(f"{table.path.name} has no column of scores.", _HINT)
    return names, tuple(name for name in columns if name in wrong)


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
