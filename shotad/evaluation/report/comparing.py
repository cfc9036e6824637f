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
from shotad.evaluation.metric import METRICS, Floats, Item, Json, Result, only
from shotad.evaluation.report.intervals import FEWEST, LEVEL, Span, Unit, basis_words, spoken_of, units_of
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
from shotad.evaluation.report.writing import page
from shotad.evaluation.running import Report, base_name


def paired(a: Result, b: Result, films: Mapping[str, str], *, unit: Unit) -> Json:
    """Two results of one metric on the ``n`` ADs that both have rows of, as in ``compare.json``; ``films`` by
    their ids. ``difference`` is B's number less A's. ``p_two_sided``: how often chance alone sets two equal
    systems so far apart; None where there are too few ADs or films."""
    theirs = {row.id for row in b.rows}
    common = [row.id for row in a.rows if row.id in theirs]
    a, b = only(a, common), only(b, common)
    gained = None if a.value is None or b.value is None else b.value - a.value
    units = units_of(spoken_of([a, b], films), unit)
    error = units.error(gained, units.without(b) - units.without(a))
    interval = p = None
    if gained is not None and error is not None and min(a.scored, b.scored) >= FEWEST:
        interval, p = asdict(units.span(gained, error)), units.chance(gained, error)
    told = {"n": len(common), "a": a.value, "b": b.value, "difference": gained}
    return {**told, "interval": interval, "p_two_sided": p}


LISTED = 20
"""Lines that gained and lost most, that are shown."""

LISTED_IDS = 10
"""Ids that are named one by one."""


_BY_ACTIONS = (
    "action", "action-description", "llm-action", "events", "event-verbs", "event-participants"
)  # fmt: skip
_BY_CASTS = ("critic", "names-kept")


Content = dict[str, Any]
"""What is said of a comparison, by name, as its page, its text and the terminal take it."""


def compare(a: Report, b: Report, settings: ReportSettings) -> tuple[Json, Content]:
    """B held against A on the ADs that both scored, joined by id; the others are named, and in no number.

    Returns ``compare.json``: what is known of each metric of both, of which ADs, and of the metrics that were
    not compared; ``better`` is the better system of a metric, ``open`` where the films do not settle it. And
    what its pages say.

    Raises EvaluationError where the same id means another human AD, or no AD is in both.
    """
    items_a, items_b = ({item.id: item for item in run.scored} for run in (a, b))
    pairs = [(item, items_b[name]) for name, item in items_a.items() if name in items_b]
    _same_texts(a.name, b.name, pairs)
    metrics: list[Json] = []
    refused: list[Json] = []
    for result in a.results:
        other = b.result(result.name)
        reason = "only A has it" if other is None else _difference(result, other, a, b, pairs)
        if other is None or reason:
            refused.append({"title": result.title, "reason": reason})
        else:
            metrics.append(_compared(result, other, items_a, items_b, settings))
    known = {result.name for result in a.results}
    strange = (result.title for result in b.results if result.name not in known)
    refused += [{"title": title, "reason": "only B has it"} for title in strange]
    one, two = a.system, b.system
    only_a = [name for name in items_a if name not in items_b]
    only_b = [name for name in items_b if name not in items_a]
    record = {
        "schema": 2,
        "a": one if one != two else f"{one} ({a.name})",
        "b": two if one != two else f"{two} ({b.name})",
        "dataset": a.title or a.corpus.dataset,
        "n": {"common": len(pairs), "only_a": len(only_a), "only_b": len(only_b)},
        "only_a": only_a,
        "only_b": only_b,
        "intervals": {"unit": settings.unit, "level": LEVEL},
        "metrics": metrics,
        "not_compared": refused,
    }
    return record, _content_of(record, items_a, {**b.titles, **a.titles})


def check_same_dataset(earlier: Report, items: Sequence[Item], name: str) -> None:
    """Raise EvaluationError where a report of ``items``, called ``name``, could not be held against it."""
    known = {item.id: item for item in earlier.scored}
    _same_texts(earlier.name, name, [(known[item.id], item) for item in items if item.id in known])


def _same_texts(a: str, b: str, pairs: Sequence[tuple[Item, Item]]) -> None:
    if not pairs:
        raise EvaluationError(f"{a} and {b} have no AD in common.", "Compare runs on one dataset.")
    other = next((one.id for one, two in pairs if one.references != two.references), None)
    if other is not None:
        what = f"AD {quoted(other)} has another human text in {a} than in {b}."
        raise EvaluationError(what, "Score both with the same annotation.")


def _difference(a: Result, b: Result, one: Report, two: Report, pairs: Sequence[tuple[Item, Item]]) -> str:
    """Why the numbers of both do not mean the same, or which other truth than the human text they were scored
    by; empty where they do, and it was the same."""
    odd = sorted(key for key in {*a.identity, *b.identity} if a.identity.get(key) != b.identity.get(key))
    if odd:
        told = "; ".join(f"{key}: {a.identity.get(key)!r} in A, {b.identity.get(key)!r} in B" for key in odd)
        return f"they were counted differently ({told})"
    if a.columns != b.columns or a.figure != b.figure:
        return "they were counted by different versions of shotad"
    if a.basis != b.basis:
        return "they rest on different texts of the whole dataset (frequencies of words)"
    name = base_name(a.name)
    if name in _BY_ACTIONS and any(item.actions != other.actions for item, other in pairs):
        return "the human ADs' actions are others"
    films = {item.film for item, _ in pairs}
    if name in _BY_CASTS and any(one.corpus.casts.get(film) != two.corpus.casts.get(film) for film in films):
        return "the characters' names are others"
    return ""


def _compared(
    a: Result, b: Result, items_a: Mapping[str, Item], items_b: Mapping[str, Item], settings: ReportSettings
) -> Json:
    """One metric of both, and the lines on which B gained and lost most."""
    found = paired(a, b, {name: item.film for name, item in items_a.items()}, unit=settings.unit)
    values = {row.id: row.value for row in b.rows}
    lines: list[Json] = []
    for row in a.rows:
        value = values.get(row.id)
        if row.value is not None and value is not None:
            item = items_a[row.id]
            line = {name: getattr(item, name) for name in ("id", "film")}
            line |= {"start": item.interval.start, "reference": item.reference}
            line["a"] = {"prediction": item.prediction or "", "value": row.value}
            lines.append(line | {"b": {"prediction": items_b[row.id].prediction or "", "value": value}})
    sign = 1 if a.higher_is_better else -1
    better = sorted((c for c in lines if sign * _gain(c) > 0), key=lambda c: (-sign * _gain(c), c["id"]))
    worse = sorted((c for c in lines if sign * _gain(c) < 0), key=lambda c: (sign * _gain(c), c["id"]))
    verdict, difference, p = "open", found["difference"], found["p_two_sided"]
    if difference and p is not None and p <= 1 - LEVEL:
        verdict = "B" if (difference > 0) == a.higher_is_better else "A"
    return {
        "name": a.name,
        "title": a.title,
        "higher_is_better": a.higher_is_better,
        **found,
        "better": verdict,
        "lines": {
            "better_in_b": len(better),
            "worse_in_b": len(worse),
            "gained_most": better[:LISTED],
            "lost_most": worse[:LISTED],
        },
    }


def _gain(line: Json) -> float:
    """B's number less A's."""
    gain: float = line["b"]["value"] - line["a"]["value"]
    return gain


LINE_HEADS = ("AD", "A", "B", "B − A", "Human AD", "Line of A", "Line of B", "Film", "When, how long")


def _content_of(record: Json, items: Mapping[str, Item], titles: Mapping[str, str]) -> Content:
    """Who is who, a row of cells for each metric, how to read them, and the lines that gained and lost most
    by each metric: each list with its heading, a row of cells for each line. ``items`` are A's ADs by id,
    ``titles`` those of films, where they are known."""
    lists, rows = [], []
    spans = [Span(**one["interval"]) if one["interval"] else None for one in record["metrics"]]
    for one, span in zip(record["metrics"], spans, strict=True):
        name, title, lines = one["name"], one["title"], one["lines"]
        rows.append(
            (
                title if one["higher_is_better"] else f"{title} (lower is better)",
                number(name, one["a"]),
                number(name, one["b"]),
                signed(name, one["difference"]),
                span_words(name, span),
                chance_words(one["p_two_sided"]),
                f"{one['n']:,}",
                one["better"],
            )
        )
        for what, which in (("gained", "better"), ("lost", "worse")):
            n, found = lines[f"{which}_in_b"], [_cells(items, titles, name, c) for c in lines[f"{what}_most"]]
            if found:
                lists.append((f"{title}: {what} most ({plural(n, 'line')} {which} in B)", found))
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


def _cells(items: Mapping[str, Item], titles: Mapping[str, str], metric: str, line: Json) -> tuple[str, ...]:
    """A line in a list, a cell for each of `LINE_HEADS`."""
    item, numbers = items[line["id"]], [number(metric, line[side]["value"]) for side in "ab"]
    said = [line[side]["prediction"] or "nothing" for side in "ab"]
    film = titles.get(item.film) or item.film
    gain = signed(metric, _gain(line))
    return item.id, *numbers, gain, item.reference, *said, film, clock(item.interval)


def comparison_text(told: Content) -> str:
    """All but the lines, for a terminal."""
    table = table_lines(told["heads"], told["rows"], range(1, 7))
    return "\n".join([*told["opening"], "", *table, "", *told["explanation"]])


def write_comparison(folder: Path, record: Json, told: Content) -> list[Path]:
    """Write ``compare.json``, ``compare.md`` and ``compare.html``. Raises WorkFolderError."""
    texts = {
        "compare.json": readable_json(record),
        **{name: page(name, **told) for name in ("compare.md", "compare.html")},
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _opening(record: Json) -> list[str]:
    lines = [f"A: {record['a']}.", f"B: {record['b']}."]
    common = f"Compared on {plural(record['n']['common'], 'AD')} of {record['dataset']} that both scored"
    if not record["only_a"] and not record["only_b"]:
        return [*lines, f"{common}: the same in both."]
    lines.append(f"{common}. The others are in no number below.")
    for side, names in (("A", record["only_a"]), ("B", record["only_b"])):
        if names:
            shown = ", ".join(names[:LISTED_IDS]) + (", …" if len(names) > LISTED_IDS else "")
            lines.append(f"Only {side} has {plural(len(names), 'AD')}: {shown}.")
    return lines


def _explanation(record: Json, spans: Sequence[Span | None]) -> list[str]:
    basis = basis_words(spans, record["intervals"]["unit"])
    lines = [f"Not compared: {one['title']}, because {one['reason']}." for one in record["not_compared"]]
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
    lines += ["", *table_lines(heads, rows, range(1, 5))]
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
    lines += table_lines(("From the paper, Table 3", *kinds), cells, range(1, 5))
    told = "The paper's scores are of actions, 0 to 3, by five annotators: 300 ADs with paragraphs, 500"
    return "\n".join([*lines, f"{told} with sentences."])


def agreement(
    report: Report, scores: HumanScores, settings: ReportSettings, *, names: Sequence[str] = ()
) -> Json:
    """The metrics of these names (none: all of the report) against people, AD by AD, joined by id, and each
    annotator against the others: ``agreement.json``. Raises EvaluationError for a metric that the report has
    not, and where no AD is in both."""
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
    found = getattr(require_module("scipy.stats", "Correlations", "evaluate"), COEFFICIENTS[name])(x, y)
    return float(found.statistic)


def correlations(x: Floats, y: Floats, films: Sequence[str], settings: ReportSettings) -> Json:
    """The correlations of ``x`` and ``y``, ``float64[n]`` each, as JSON: value and interval of each; None
    where they are not defined, and the ``reason``. Intervals are over films (``films`` has each pair's), on
    Fisher's scale: they end at 1 and -1."""
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
        raise EvaluationError(f"{report.name} has no metric {quoted(odd[0])}.", f"It has: {known}.")
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
    """Scores of ADs by id, averaged over ``columns``. ``by_annotator`` has each annotator's own, where there
    is more than one. ``empty`` lines hold no score; ``ignored`` columns are not of people's numbers."""

    scores: Mapping[str, float]
    by_annotator: Mapping[str, Mapping[str, float]]
    empty: int = 0
    ignored: tuple[str, ...] = ()
    columns: tuple[str, ...] = (SCORE,)


def read_scores(path: Path) -> HumanScores:
    """The scores in a file. Raises DatasetError for one that cannot be read, EvaluationError with file and
    line for what cannot be meant."""
    table = read_records(path)
    lines: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
    for row in table.rows:
        told = {name: cell for name, cell in row.values.items() if cell not in (None, "")}
        if not told:
            continue
        name = next((told[key] for key in ID_COLUMNS if key in told), None)
        if name is None:
            raise EvaluationError(f"{row.where} names no AD.", _HINT)
        key = str(name).strip(), str(told.get(ACTION, "")).strip()
        if key in lines:
            raise EvaluationError(
                f"{row.where}: AD {quoted(key[0])} was scored before, in {lines[key][0]}.",
                "Give each annotator a column, and each action its line with an action.",
            )
        lines[key] = row.where, told
    if not lines:
        raise EvaluationError(f"{path.name} holds no scores.", _HINT)
    columns, ignored = _annotators(table, [told for _, told in lines.values()])
    by_ad: defaultdict[str, list[float]] = defaultdict(list)
    own: dict[str, defaultdict[str, list[float]]] = {column: defaultdict(list) for column in columns}
    empty = 0
    for (ad, _), (where, told) in lines.items():
        found = []
        for column in (column for column in columns if column in told):
            value = _number(told[column])
            if value is None:
                raise EvaluationError(f"{where}: {column} {quoted(told[column])} is no score.", _HINT)
            found.append(value)
            own[column][ad].append(value)
        if found:
            by_ad[ad].append(fmean(found))
        empty += not found
    people = {column: _means(values) for column, values in own.items()} if len(columns) > 1 else {}
    return HumanScores(_means(by_ad), people, empty, ignored, tuple(columns))


def _means(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {key: fmean(those) for key, those in values.items()}


def _annotators(table: Table, rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], tuple[str, ...]]:
    """The columns that hold scores, and those that hold something else."""
    columns = [name for name in table.columns if name not in (*ID_COLUMNS, ACTION)]
    if SCORE in columns:
        return [SCORE], ()
    told = {name: [row[name] for row in rows if name in row] for name in columns}
    wrong = {name for name, cells in told.items() if any(_number(cell) is None for cell in cells)}
    wrong |= {name for name in columns if name.strip().lower().partition("@")[0] in _NOBODYS}
    names = [name for name in columns if name not in wrong and told[name]]
    if not names:
        raise EvaluationError(f"{table.path.name} has no column of scores.", _HINT)
    return names, tuple(name for name in columns if name in wrong)


def _number(cell: Any) -> float | None:
    try:
        value = math.nan if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None
