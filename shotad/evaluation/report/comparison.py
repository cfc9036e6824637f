"""A report held against another, and against what people think.

Is B better than A? Both on the ADs that they have in common, without each film in turn.

Do the numbers of a metric rise and fall with people's (Shot-by-Shot, section 5.5)? What people think comes
from a file of which a line is an AD, or one action of it. The annotators of a line are averaged, then the
lines of an AD (appendix D). The answer is correlations, with intervals over films.
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

from shotad.core.config.measures import ReportSettings
from shotad.core.errors import EvaluationError, quoted
from shotad.core.files import write_text
from shotad.core.model_loading import require_module
from shotad.core.progress import plural, table_lines
from shotad.core.workfolder import readable_json
from shotad.evaluation.datasets.tables import Table, read_records
from shotad.evaluation.evaluation_run import Report, base_name
from shotad.evaluation.metric import METRICS, Floats, Item, Json, Result, only
from shotad.evaluation.report.intervals import (
    LEVEL,
    MIN_ITEMS,
    Span,
    Unit,
    basis_words,
    films_of_scored,
    units_of,
)
from shotad.evaluation.report.report_files import page
from shotad.evaluation.report.table import (
    AGREEMENT,
    NONE,
    chance_words,
    clock,
    number,
    percent,
    signed,
    span_words,
)


def paired(a: Result, b: Result, films: Mapping[str, str], *, unit: Unit) -> Json:
    """Two results of one metric on the ``n`` ADs that both have rows of, as in ``compare.json``.

    ``films`` has the film of each AD, by the AD's id. ``difference`` is B's number less A's. ``p_two_sided``
    is how often chance alone sets two equal systems so far apart. The last two are None where there are too
    few ADs or films.
    """
    ids_in_b = {row.id for row in b.rows}
    common_ids = [row.id for row in a.rows if row.id in ids_in_b]
    a, b = only(a, common_ids), only(b, common_ids)
    difference = None if a.value is None or b.value is None else b.value - a.value
    units = units_of(films_of_scored(films, [a, b]), unit)
    # Both are left out together: what makes a film hard for A and B alike does not widen the interval.
    error = units.error(difference, units.without(b) - units.without(a))
    interval = p = None
    if difference is not None and error is not None and min(a.scored, b.scored) >= MIN_ITEMS:
        interval, p = asdict(units.span(difference, error)), units.chance(difference, error)
    return {
        "n": len(common_ids),
        "a": a.value,
        "b": b.value,
        "difference": difference,
        "interval": interval,
        "p_two_sided": p,
    }


LISTED = 20
"""Most lines in the list of those that gained, and of those that lost."""

LISTED_IDS = 10
"""Most ids in a message; of more there is a number."""


_USE_ACTIONS = (
    "action", "action-description", "llm-action", "events", "event-verbs", "event-participants"
)  # fmt: skip
"""Metrics whose rows depend on the actions of the human ADs."""
_USE_CASTS = ("critic", "names-kept")
"""Metrics whose rows depend on the names of the characters."""


Content = dict[str, Any]
"""The values of the templates ``compare.html.j2`` and ``compare.md.j2``, by name; the terminal uses some."""


def compare(a: Report, b: Report, settings: ReportSettings) -> tuple[Json, Content]:
    """B held against A on the ADs that both scored, joined by id; the others are named, and in no number.

    Returns ``compare.json``, and the content of its pages. The record has each metric of both with its
    numbers and lines, the ids that only one has, and the metrics that were not compared. ``better`` is the
    better system by a metric, ``open`` where the difference may be chance.

    Raises EvaluationError where the same id means another human AD, or no AD is in both.
    """
    items_a = {item.id: item for item in a.scored}
    items_b = {item.id: item for item in b.scored}
    pairs = [(item, items_b[item_id]) for item_id, item in items_a.items() if item_id in items_b]
    _check_same_texts(a.name, b.name, pairs)
    metrics: list[Json] = []
    not_compared: list[Json] = []
    for result in a.results:
        result_b = b.result(result.name)
        if result_b is None:
            not_compared.append({"title": result.title, "reason": "only A has it"})
        elif reason := _why_not_comparable(result, result_b, a, b, pairs):
            not_compared.append({"title": result.title, "reason": reason})
        else:
            metrics.append(_compared(result, result_b, items_a, items_b, settings))
    metrics_of_a = {result.name for result in a.results}
    for result in b.results:
        if result.name not in metrics_of_a:
            not_compared.append({"title": result.title, "reason": "only B has it"})
    same_system = a.system == b.system
    only_a = [item_id for item_id in items_a if item_id not in items_b]
    only_b = [item_id for item_id in items_b if item_id not in items_a]
    record = {
        "schema": 2,
        "a": f"{a.system} ({a.name})" if same_system else a.system,
        "b": f"{b.system} ({b.name})" if same_system else b.system,
        "dataset": a.title or a.corpus.dataset,
        "n": {"common": len(pairs), "only_a": len(only_a), "only_b": len(only_b)},
        "only_a": only_a,
        "only_b": only_b,
        "intervals": {"unit": settings.unit, "level": LEVEL},
        "metrics": metrics,
        "not_compared": not_compared,
    }
    return record, _content_of(record, items_a, {**b.titles, **a.titles})


def check_same_dataset(earlier: Report, items: Sequence[Item], name: str) -> None:
    """Raise EvaluationError where a report of ``items``, called ``name``, could not be held against it."""
    earlier_items = {item.id: item for item in earlier.scored}
    pairs = [(earlier_items[item.id], item) for item in items if item.id in earlier_items]
    _check_same_texts(earlier.name, name, pairs)


def _check_same_texts(a: str, b: str, pairs: Sequence[tuple[Item, Item]]) -> None:
    """Raise EvaluationError where the reports called ``a`` and ``b`` have no AD in common, or one of the ADs
    has another human text in B."""
    if not pairs:
        raise EvaluationError(f"{a} and {b} have no AD in common.", "Compare runs on one dataset.")
    for item_a, item_b in pairs:
        if item_a.references != item_b.references:
            raise EvaluationError(
                f"AD {quoted(item_a.id)} has another human text in {a} than in {b}.",
                "Score both with the same annotation.",
            )


def _why_not_comparable(
    a: Result, b: Result, report_a: Report, report_b: Report, pairs: Sequence[tuple[Item, Item]]
) -> str:
    """Why the numbers of a metric in two reports do not mean the same; empty where they do."""
    differing = []
    for key in sorted({*a.identity, *b.identity}):
        if a.identity.get(key) != b.identity.get(key):
            differing.append(f"{key}: {a.identity.get(key)!r} in A, {b.identity.get(key)!r} in B")
    if differing:
        return f"they were counted differently ({'; '.join(differing)})"
    if a.columns != b.columns or a.figure != b.figure:
        return "they were counted by different versions of shotad"
    if a.basis != b.basis:
        return "they rest on different texts of the whole dataset (frequencies of words)"
    name = base_name(a.name)
    if name in _USE_ACTIONS and any(item_a.actions != item_b.actions for item_a, item_b in pairs):
        return "the human ADs' actions are others"
    if name in _USE_CASTS:
        casts_a, casts_b = report_a.corpus.casts, report_b.corpus.casts
        films = {item.film for item, _ in pairs}
        if any(casts_a.get(film) != casts_b.get(film) for film in films):
            return "the characters' names are others"
    return ""


def _compared(
    a: Result, b: Result, items_a: Mapping[str, Item], items_b: Mapping[str, Item], settings: ReportSettings
) -> Json:
    """One metric of ``compare.json``: its numbers, and the lines on which B gained and lost most."""
    films = {item_id: item.film for item_id, item in items_a.items()}
    numbers = paired(a, b, films, unit=settings.unit)
    values_b = {row.id: row.value for row in b.rows}
    lines: list[Json] = []
    for row in a.rows:
        value_b = values_b.get(row.id)
        if row.value is None or value_b is None:
            continue
        item = items_a[row.id]
        lines.append(
            {
                "id": item.id,
                "film": item.film,
                "start": item.interval.start,
                "reference": item.reference,
                "a": {"prediction": item.prediction or "", "value": row.value},
                "b": {"prediction": items_b[row.id].prediction or "", "value": value_b},
            }
        )
    sign = 1 if a.higher_is_better else -1
    better = [line for line in lines if sign * _gain(line) > 0]
    better.sort(key=lambda line: (-sign * _gain(line), line["id"]))
    worse = [line for line in lines if sign * _gain(line) < 0]
    worse.sort(key=lambda line: (sign * _gain(line), line["id"]))
    verdict, difference, p = "open", numbers["difference"], numbers["p_two_sided"]
    if difference and p is not None and p <= 1 - LEVEL:
        verdict = "B" if (difference > 0) == a.higher_is_better else "A"
    return {
        "name": a.name,
        "title": a.title,
        "higher_is_better": a.higher_is_better,
        **numbers,
        "better": verdict,
        "lines": {
            "better_in_b": len(better),
            "worse_in_b": len(worse),
            "gained_most": better[:LISTED],
            "lost_most": worse[:LISTED],
        },
    }


def _gain(line: Json) -> float:
    """B's value of a line less A's."""
    gain: float = line["b"]["value"] - line["a"]["value"]
    return gain


LINE_HEADS = ("AD", "A", "B", "B − A", "Human AD", "Line of A", "Line of B", "Film", "When, how long")


def _content_of(record: Json, items: Mapping[str, Item], titles: Mapping[str, str]) -> Content:
    """The content of ``record``'s pages: a row of cells for each metric, how to read them, and the lines that
    gained and lost most by each metric, each list with its heading and a row of cells for each line.

    ``items`` are A's ADs by id, ``titles`` are those of films by the film's id, where they are known.
    """
    lists, rows = [], []
    spans = [_span(metric["interval"]) for metric in record["metrics"]]
    for metric, span in zip(record["metrics"], spans, strict=True):
        name, title, lines = metric["name"], metric["title"], metric["lines"]
        rows.append(
            (
                title if metric["higher_is_better"] else f"{title} (lower is better)",
                number(name, metric["a"]),
                number(name, metric["b"]),
                signed(name, metric["difference"]),
                span_words(name, span),
                chance_words(metric["p_two_sided"]),
                f"{metric['n']:,}",
                metric["better"],
            )
        )
        for change, verdict in (("gained", "better"), ("lost", "worse")):
            line_rows = [_line_cells(items, titles, name, line) for line in lines[f"{change}_most"]]
            if line_rows:
                count = plural(lines[f"{verdict}_in_b"], "line")
                lists.append((f"{title}: {change} most ({count} {verdict} in B)", line_rows))
    interval = f"{percent(LEVEL)} interval"
    return {
        "title": f"{record['b']} (B) against {record['a']} (A)",
        "opening": _opening(record),
        "heads": ("Metric", "A", "B", "B − A", interval, "p, two-sided", "ADs", "Better"),
        "rows": rows,
        "explanation": _explanation(record, spans),
        "line_heads": LINE_HEADS,
        "lists": lists,
    }


def _span(interval: Json | None) -> Span | None:
    """The interval of a record, which holds it as JSON."""
    return Span(**interval) if interval else None


def _line_cells(
    items: Mapping[str, Item], titles: Mapping[str, str], metric: str, line: Json
) -> tuple[str, ...]:
    """A line in a list, a cell for each of `LINE_HEADS`."""
    item = items[line["id"]]
    return (
        item.id,
        number(metric, line["a"]["value"]),
        number(metric, line["b"]["value"]),
        signed(metric, _gain(line)),
        item.reference,
        line["a"]["prediction"] or "nothing",
        line["b"]["prediction"] or "nothing",
        titles.get(item.film) or item.film,
        clock(item.interval),
    )


def comparison_text(content: Content) -> str:
    """The comparison for a terminal: without the lists of lines."""
    table = table_lines(content["heads"], content["rows"], range(1, 7))
    return "\n".join([*content["opening"], "", *table, "", *content["explanation"]])


def write_comparison(folder: Path, record: Json, content: Content) -> list[Path]:
    """Write ``compare.json``, ``compare.md`` and ``compare.html``, and return their paths.

    Raises WorkFolderError.
    """
    texts = {
        "compare.json": readable_json(record),
        **{name: page(name, **content) for name in ("compare.md", "compare.html")},
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _opening(record: Json) -> list[str]:
    """Sentences that say which systems are compared, and on which ADs."""
    lines = [f"A: {record['a']}.", f"B: {record['b']}."]
    common = f"Compared on {plural(record['n']['common'], 'AD')} of {record['dataset']} that both scored"
    if not record["only_a"] and not record["only_b"]:
        return [*lines, f"{common}: the same in both."]
    lines.append(f"{common}. The others are in no number below.")
    for side, ids in (("A", record["only_a"]), ("B", record["only_b"])):
        if ids:
            lines.append(f"Only {side} has {plural(len(ids), 'AD')}: {_first_ids(ids)}.")
    return lines


def _first_ids(ids: Sequence[str]) -> str:
    """At most `LISTED_IDS` ids, with an ellipsis where there are more."""
    return ", ".join(ids[:LISTED_IDS]) + (", …" if len(ids) > LISTED_IDS else "")


def _explanation(record: Json, spans: Sequence[Span | None]) -> list[str]:
    """Sentences that say how the table of metrics is read, and what was not compared."""
    basis = basis_words(spans, record["intervals"]["unit"])
    lines = []
    for metric in record["not_compared"]:
        lines.append(f"Not compared: {metric['title']}, because {metric['reason']}.")
    if not basis:
        return lines
    return [
        f"{basis} They are of B − A: A and B are left out together.",
        "p, two-sided: how often two equal systems come out so far apart by chance.",
        f"Better: the system that is ahead with p, two-sided, at most {1 - LEVEL:.2g}; open "
        "where none is. Of many metrics one may come out so by chance.",
        *lines,
    ]


def agreement_text(record: Json, scores: HumanScores) -> str:
    """A record of `agreement` with these scores, for people."""
    level = percent(LEVEL)
    metrics_and_people = [*record["metrics"], *record["people"]]
    heads = ("Metric", "ADs", f"Pearson ({level})", f"Spearman ({level})", f"Kendall tau-b ({level})")
    rows = []
    for row in metrics_and_people:
        estimates = [_estimate_words(row[name]) for name in COEFFICIENTS]
        rows.append((row["title"], f"{row['n']:,}", *estimates))
    several = len(scores.columns) > 1
    lines = [
        f"{record['system']} against human scores of {plural(len(scores.scores), 'AD')}.",
        f"Scores stand in the column{'s' * several} {', '.join(scores.columns)}"
        f"{', and are averaged' * several}.",
    ]
    unknown_ids = record["not_in_the_report"]
    if unknown_ids:
        lines.append(f"{plural(len(unknown_ids), 'scored AD')} not in the report: {_first_ids(unknown_ids)}.")
    if scores.empty:
        lines.append(f"{plural(scores.empty, 'line')} without a score.")
    if scores.ignored:
        lines.append(f"Columns that hold no scores: {', '.join(scores.ignored)}.")
    lines += ["", *table_lines(heads, rows, range(1, 5))]
    for metric in record["metrics"]:
        if "reason" in metric:
            lines.append(f"{metric['title']}: not defined, {metric['reason']}.")
    spans = [_span(row["pearson"]["interval"]) for row in metrics_and_people]
    basis = basis_words(spans, record["intervals"]["unit"])
    lines += [basis, ""] if basis else [""]
    paper_heads = (
        "From the paper, Table 3", "Paragraphs: Pearson", "Spearman", "Sentences: Pearson", "Spearman"
    )  # fmt: skip
    paper_lines = []
    for row in AGREEMENT:
        values = (*row["paragraphs"].values(), *row["sentences"].values())
        paper_lines.append((row["called"], *(f"{value:.3f}" for value in values)))
    lines += table_lines(paper_heads, paper_lines, range(1, 5))
    lines.append(
        "The paper's scores are of actions, 0 to 3, by five annotators: 300 ADs with paragraphs, 500 with "
        "sentences."
    )
    return "\n".join(lines)


def agreement(
    report: Report, scores: HumanScores, settings: ReportSettings, *, names: Sequence[str] = ()
) -> Json:
    """``agreement.json``: how metrics correlate with people's scores, AD by AD, joined by id, and each
    annotator with the mean of the other annotators.

    ``names`` are the metrics' (none: all of the report). Raises EvaluationError for a metric that the report
    has not, and where no AD is in both.
    """
    results = _results_named(report, names)
    report_ids = {row.id for result in report.results for row in result.rows}
    unknown_ids = sorted(item_id for item_id in scores.scores if item_id not in report_ids)
    if len(unknown_ids) == len(scores.scores):
        raise EvaluationError(
            f"None of the {len(unknown_ids)} ADs with human scores is in {report.name}.",
            "Give the ids of the dataset's ADs.",
        )
    films = report.films

    def correlated(name: str, title: str, x: Mapping[str, float], y: Mapping[str, float]) -> Json:
        """The correlations of ``x`` and ``y`` (by id) on the ADs that both have."""
        # In the order of their ids: sums are then the same to the last bit, whatever the file's order.
        common_ids = sorted(x.keys() & y.keys())
        x_values = np.array([x[item_id] for item_id in common_ids], np.float64)
        y_values = np.array([y[item_id] for item_id in common_ids], np.float64)
        films_of_pairs = [films.get(item_id, item_id) for item_id in common_ids]
        coefficients = correlations(x_values, y_values, films_of_pairs, settings)
        return {"name": name, "title": title, **coefficients}

    metrics = []
    for result in results:
        values = {row.id: row.value for row in result.rows if row.value is not None}
        metrics.append(correlated(result.name, result.title, values, scores.scores))
    people = []
    for annotator, annotator_scores in scores.by_annotator.items():
        # Each against the mean of the others: what a metric can hope for.
        colleagues = [by_id for name, by_id in scores.by_annotator.items() if name != annotator]
        means = {}
        for item_id in annotator_scores:
            colleague_scores = [by_id[item_id] for by_id in colleagues if item_id in by_id]
            if colleague_scores:
                means[item_id] = float(np.mean(colleague_scores))
        people.append(correlated(annotator, f"{annotator} (a person)", annotator_scores, means))
    return {
        "schema": 2,
        "system": report.system,
        "n": {
            "scored_by_people": len(scores.scores),
            "not_in_the_report": len(unknown_ids),
            "empty": scores.empty,
        },
        "columns": list(scores.columns),
        "not_in_the_report": unknown_ids,
        "intervals": {"unit": settings.unit, "level": LEVEL},
        "metrics": metrics,
        "people": people,
        "paper": list(AGREEMENT),
    }


_ALMOST_1 = 1.0 - 1e-12
"""A correlation of 1 counts as this on Fisher's scale, where 1 itself is infinite."""
_MIN_PAIRS = 3
"""A correlation of fewer pairs is not reported: of two it is always 1 or -1."""


COEFFICIENTS = {"pearson": "pearsonr", "spearman": "spearmanr", "kendall_tau_b": "kendalltau"}
"""Pearson's product-moment correlation, Spearman's of the ranks, Kendall's tau-b, by their names in scipy."""


def coefficient(name: str, x: Floats, y: Floats) -> float:
    """The correlation of `COEFFICIENTS` called ``name`` of ``x`` and ``y``, ``float64[n]`` each; nan where
    one of them is constant. Raises ShotadError where scipy is missing."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    stats = require_module("scipy.stats", "Correlations", "evaluate")
    correlate = getattr(stats, COEFFICIENTS[name])
    return float(correlate(x, y).statistic)


def correlations(x: Floats, y: Floats, films: Sequence[str], settings: ReportSettings) -> Json:
    """The correlations of ``x`` and ``y``, ``float64[n]`` each, as JSON: value and interval of each of
    `COEFFICIENTS`. Where they are not defined both are None, and ``reason`` says why.

    Intervals are over films (``films`` has the film of each pair). They are computed on Fisher's scale, so
    that they end at 1 and -1.
    """
    n, reason = len(x), ""
    if n < _MIN_PAIRS:
        reason = f"only {n} ADs have both a score by people and one by the metric"
    elif np.ptp(x) == 0:
        reason = "the metric gives all of them the same number"
    elif np.ptp(y) == 0:
        reason = "people give all of them the same score"
    if reason:
        undefined = {"value": None, "interval": None}
        return {"n": n, **dict.fromkeys(COEFFICIENTS, undefined), "reason": reason}
    pair_ids = [f"{place:09d}" for place in range(n)]
    units = units_of(dict(zip(pair_ids, films, strict=True)), settings.unit)
    unit_of_pair = np.array([units.by_id[pair_id] for pair_id in pair_ids], np.intp)
    record: Json = {"n": n}
    for name in COEFFICIENTS:
        value, interval = coefficient(name, x, y), None
        if n >= MIN_ITEMS:
            without_each = []
            for unit in range(units.n):
                remaining = unit_of_pair != unit
                without_each.append(coefficient(name, x[remaining], y[remaining]))
            fisher = np.arctanh(np.clip([value, *without_each], -_ALMOST_1, _ALMOST_1))
            fisher_value = float(fisher[0])
            error = units.error(fisher_value, fisher[1:])
            interval = None if error is None else asdict(units.span(fisher_value, error, np.tanh))
        record[name] = {"value": round(value, 9), "interval": interval}
    return record


def _results_named(report: Report, names: Sequence[str]) -> list[Result]:
    """The report's results of these metrics, each once; all where no name is given. A name without an engine
    stands for the metric with each engine. Raises EvaluationError for a metric that the report has not."""
    if not names:
        return list(report.results)
    results: dict[str, Result] = {}
    for name in names:
        matching = [result for result in report.results if name in (result.name, base_name(result.name))]
        if not matching:
            available = ", ".join(result.name for result in report.results)
            raise EvaluationError(f"{report.name} has no metric {quoted(name)}.", f"It has: {available}.")
        results.update((result.name, result) for result in matching)
    return list(results.values())


def _estimate_words(estimate: Json) -> str:
    """A correlation and its interval: ``0.412 (0.301 to 0.508)``, or a dash."""
    if estimate["value"] is None:
        return NONE
    interval = estimate["interval"]
    ends = f" ({interval['low']:.3f} to {interval['high']:.3f})" if interval else ""
    return f"{estimate['value']:.3f}{ends}".replace("-", "−")


ID_COLUMNS = ("id", "anno_idx", "tvad_index")
ACTION = "action"
SCORE = "score"

_NO_ANNOTATORS = {
    *METRICS,
    *("start", "end", "scaled_start", "scaled_end", "film", "movie", "imdbid", "title", "clip"),
    *("cmd_clip_idx", "scale", "effective_scale", "threaded", "line", "index", "unnamed: 0", ""),
}
"""Columns of numbers that no annotator gave: those of the datasets' tables, and of ``items.csv``."""

_HINT = "Columns: id, score; or id and one for each annotator; with action where an AD has several lines."


@dataclass(frozen=True, slots=True)
class HumanScores:
    """Scores of ADs by id, averaged over ``columns``. ``by_annotator`` has each annotator's scores by id,
    where there is more than one annotator. ``empty`` lines hold no score; ``ignored`` columns hold something
    else than people's scores."""

    scores: Mapping[str, float]
    by_annotator: Mapping[str, Mapping[str, float]]
    empty: int = 0
    ignored: tuple[str, ...] = ()
    columns: tuple[str, ...] = (SCORE,)


def read_scores(path: Path) -> HumanScores:
    """The scores in a file: the annotators of a line are averaged, then the lines of an AD.

    Raises DatasetError for a file that cannot be read, EvaluationError with file and line for content that
    cannot be meant.
    """
    table = read_records(path)
    # By AD and action: where the line stands, and its cells that are not empty.
    lines: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
    for row in table.rows:
        cells = {column: cell for column, cell in row.values.items() if cell not in (None, "")}
        if not cells:
            continue
        item_id = next((cells[column] for column in ID_COLUMNS if column in cells), None)
        if item_id is None:
            raise EvaluationError(f"{row.where} names no AD.", _HINT)
        key = str(item_id).strip(), str(cells.get(ACTION, "")).strip()
        if key in lines:
            raise EvaluationError(
                f"{row.where}: AD {quoted(key[0])} was scored before, in {lines[key][0]}.",
                "Give each annotator a column, and each action its line with an action.",
            )
        lines[key] = row.where, cells
    if not lines:
        raise EvaluationError(f"{path.name} holds no scores.", _HINT)
    columns, ignored = _score_columns(table, [cells for _, cells in lines.values()])
    line_means: defaultdict[str, list[float]] = defaultdict(list)
    by_column: dict[str, defaultdict[str, list[float]]] = {column: defaultdict(list) for column in columns}
    empty = 0
    for (item_id, _), (where, cells) in lines.items():
        line_scores = []
        for column in columns:
            if column not in cells:
                continue
            score = _number(cells[column])
            if score is None:
                raise EvaluationError(f"{where}: {column} {quoted(cells[column])} is no score.", _HINT)
            line_scores.append(score)
            by_column[column][item_id].append(score)
        if line_scores:
            line_means[item_id].append(fmean(line_scores))
        else:
            empty += 1
    by_annotator = {}
    if len(columns) > 1:
        by_annotator = {column: _means(by_id) for column, by_id in by_column.items()}
    return HumanScores(_means(line_means), by_annotator, empty, ignored, tuple(columns))


def _means(scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The mean score of each AD, by id."""
    return {item_id: fmean(values) for item_id, values in scores.items()}


def _score_columns(table: Table, rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], tuple[str, ...]]:
    """The columns that hold scores, and those that hold something else.

    Raises EvaluationError where there is no column of scores.
    """
    columns = [name for name in table.columns if name not in (*ID_COLUMNS, ACTION)]
    if SCORE in columns:
        return [SCORE], ()
    score_columns, ignored = [], []
    for column in columns:
        cells = [row[column] for row in rows if column in row]
        plain_name = column.strip().lower().partition("@")[0]
        if plain_name in _NO_ANNOTATORS or any(_number(cell) is None for cell in cells):
            ignored.append(column)
        elif cells:
            score_columns.append(column)
    if not score_columns:
        raise EvaluationError(f"{table.path.name} has no column of scores.", _HINT)
    return score_columns, tuple(ignored)


def _number(cell: Any) -> float | None:
    """The finite number in a cell; None where there is none."""
    try:
        value = math.nan if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None
