"""How well a second human AD of the same film scores as a prediction of the first: a ceiling for systems.

Lines of the two are paired by tIoU, the time that both share over the time that either takes (AutoAD-III;
Shot-by-Shot, table A5). Of all pairs with at least the wanted tIoU, those are taken that share the most in
total, each line at most once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from shotad.core import Interval, ShotadError
from shotad.core.errors import EvaluationError
from shotad.core.model_loading import require_module
from shotad.core.progress import plural, table_lines
from shotad.evaluation.datasets.tables import read_records
from shotad.evaluation.evaluation_run import NotMeasured, in_order_of_models, make_ready
from shotad.evaluation.metric import Corpus, Item, Json, Metric, score
from shotad.evaluation.metrics.by_rule import actions_by_rule
from shotad.evaluation.report.intervals import Span, basis_words, span_of
from shotad.evaluation.report.records import metric_record
from shotad.evaluation.report.table import CEILINGS, NONE, number, span_words
from shotad.evaluation.store import MetricContext
from shotad.script import read_cues
from shotad.script.cue import parse_time

Pair = tuple[Item, Item, float]
"""Two lines of the same moment, one of each version, and their tIoU."""


def tiou(a: Interval, b: Interval) -> float:
    """Shared time over the time that either takes, 0 to 1.

    >>> tiou(Interval(0, 4), Interval(2, 6)) == 2 / 6
    True
    """
    shared = a.clip(b)
    if shared is None:
        return 0.0
    return shared.duration / (a.duration + b.duration - shared.duration)


def pairs(a: Corpus, b: Corpus, threshold: float) -> tuple[Pair, ...]:
    """The pairs of at least this tIoU, film by film, in the order of A. Raises ShotadError without scipy."""
    candidates_by_film, matched = _lines_by_film(b), []
    for film, lines in _lines_by_film(a).items():
        candidates = candidates_by_film.get(film, [])
        if not candidates:
            continue
        optimize = require_module("scipy.optimize", "Matching two human ADs", "evaluate")
        overlaps = np.zeros((len(lines), len(candidates)))
        for i, line in enumerate(lines):
            for j, candidate in enumerate(candidates):
                overlaps[i, j] = tiou(line.interval, candidate.interval)
        eligible = np.where((overlaps >= threshold) & (overlaps > 0), overlaps, 0.0)
        for i, j in zip(*optimize.linear_sum_assignment(eligible, maximize=True), strict=True):
            if eligible[i, j] > 0:
                matched.append((lines[i], candidates[j], float(overlaps[i, j])))
    position = {item.id: k for k, item in enumerate(a.items)}
    return tuple(sorted(matched, key=lambda pair: position[pair[0].id]))


METRICS = ("cider", "bleu-1", "rouge-l", "meteor", "action", "events", "recall")
"""Those that two texts are enough for."""
_ON_ACTIONS = ("action", "events", "event-verbs", "event-participants")

BY_RULE = "the actions of the reference were made by rule, not by a language model"


_METRIC_KEYS = (
    "name", "title", "value", "interval", "n", "scored", "comparable", "remarks", "sums", "identity",
)  # fmt: skip
"""What ``inter-rater.json`` says of a metric, as ``report.json`` does."""


def _lines_by_film(version: Corpus) -> dict[str, list[Item]]:
    """The lines of each film, in the file's order."""
    lines_by_film: dict[str, list[Item]] = {}
    for line in version.items:
        lines_by_film.setdefault(line.film, []).append(line)
    return lines_by_film


def inter_rater(
    a: Corpus, b: Corpus, thresholds: Sequence[float], context: MetricContext, names: Sequence[str] = ()
) -> Json:
    """``inter-rater.json``: the lines paired at each threshold, and each version scored against the other by
    the metrics of these names (none: all that two texts are enough for).

    The other lines of the reference stay in the corpus, as neighbours for recall and for counts of words.
    Raises EvaluationError for a threshold that is none, where no line is paired, and for a metric that was
    named and cannot run.
    """
    bad_threshold = next((t for t in thresholds if not 0 < t <= 1), None)
    if bad_threshold is not None or not thresholds:
        raise EvaluationError(
            f"{bad_threshold} is no tIoU.", "Name numbers above 0 and up to 1, such as 0.8."
        )
    metrics, left_out = _make_metrics(names, context)
    ordered = sorted(set(thresholds))
    paired = {threshold: pairs(a, b, threshold) for threshold in ordered}
    if not paired[ordered[0]]:
        raise EvaluationError(
            f"No line of {a.dataset} has a tIoU of {ordered[0]:g} with one of {b.dataset}.",
            "Name a lower --tiou, and see that both are of the same film and begin at the same time.",
        )
    actions: dict[str, tuple[str, ...]] | None = None
    if any(metric.name in _ON_ACTIONS for metric in metrics):
        texts = list(dict.fromkeys(line.reference for version in (a, b) for line in version.items))
        try:
            actions = dict(zip(texts, actions_by_rule(texts, context), strict=True))
        except ShotadError as error:
            left_out.append(NotMeasured("action", str(error)))
            metrics = [metric for metric in metrics if metric.name not in _ON_ACTIONS]
    directions: list[Json] = []
    predictions_of_directions: list[tuple[Corpus, dict[str, str]]] = []
    for threshold in ordered:
        # Each line of one version is predicted by the text of its partner in the other.
        texts_of_b = {line_a.id: line_b.reference for line_a, line_b, _ in paired[threshold]}
        texts_of_a = {line_b.id: line_a.reference for line_a, line_b, _ in paired[threshold]}
        for reference, prediction, predictions in ((a, b, texts_of_b), (b, a, texts_of_a)):
            direction = {"tiou": threshold, "reference": reference.dataset, "prediction": prediction.dataset}
            directions.append({**direction, "pairs": len(predictions)})
            predictions_of_directions.append((reference, predictions))
    # Metric by metric, so that each model is loaded once.
    records: dict[str, list[Json]] = {}
    for metric in in_order_of_models(metrics):
        records[metric.name] = [
            _score_texts(reference, predictions, metric, context, actions)
            for reference, predictions in predictions_of_directions
        ]
    for place, direction in enumerate(directions):
        direction["metrics"] = [records[metric.name][place] for metric in metrics]
    return {
        "schema": 1,
        "a": {"name": a.dataset, "lines": len(a.items)},
        "b": {"name": b.dataset, "lines": len(b.items)},
        "directions": directions,
        "left_out": [{"metric": name, "reason": reason} for name, reason in left_out],
        "paper": list(CEILINGS),
        "pairs": [
            {
                "tiou": round(overlap, 6),
                "film": line_a.film,
                "a": _line_record(line_a),
                "b": _line_record(line_b),
            }
            for line_a, line_b, overlap in paired[ordered[0]]
        ],
    }


def _line_record(item: Item) -> Json:
    return {"start": item.interval.start, "end": item.interval.end, "text": item.reference}


def _score_texts(
    reference: Corpus,
    texts: dict[str, str],
    metric: Metric,
    context: MetricContext,
    actions: dict[str, tuple[str, ...]] | None,
) -> Json:
    """What a metric says of these texts, by the id of the line that each is a prediction of."""
    items = []
    for line in reference.items:
        own_actions = actions[line.reference] or None if actions else None
        items.append(replace(line, prediction=texts.get(line.id), actions=own_actions))
    places = [place for place, item in enumerate(items) if item.id in texts]
    films, unit = {item.id: item.film for item in items}, context.settings.report.unit
    result = score(metric, Corpus(tuple(items)), context, places)
    remarks = (*result.remarks, *([BY_RULE] if metric.name in _ON_ACTIONS else []))
    result = replace(result, remarks=remarks, comparable=False)
    record = metric_record(result, span_of(result, films, unit=unit))
    return {name: record[name] for name in _METRIC_KEYS}


def _make_metrics(names: Sequence[str], context: MetricContext) -> tuple[list[Metric], list[NotMeasured]]:
    for name in names:
        if name not in METRICS and name in ("critic", "names-kept", "action-description"):
            raise EvaluationError(f"{name} needs more than two texts.", f"Choose of {', '.join(METRICS)}.")
    metrics, reasons = make_ready(dict.fromkeys(names or METRICS, bool(names)), context)
    return metrics, [NotMeasured(name, reason) for name, reason in reasons.items()]


RATER_COLUMNS = ("rater", "version", "annotator", "describer")
FILM_COLUMNS = ("film", "imdbid", "movie")
_HINT = "Columns: film, rater (two of them), start, end, text."


def from_scripts(a: Path, b: Path, film: str = "film") -> tuple[Corpus, Corpus]:
    """Two scripts of one film, in any format that shotad reads: of each human ADs, each with its text as the
    reference, in the file's order; ``dataset`` is the version's name. Raises ScriptError, EvaluationError."""
    versions = []
    for path, mark in ((a, "A"), (b, "B")):
        cues = [(cue.interval, " ".join(cue.text.split())) for cue in read_cues(path)]
        lines = [Item("", film, interval, (text,)) for interval, text in cues if text]
        if not lines:
            raise EvaluationError(f"{path.name} holds no lines.", "Name a script with audio description.")
        name = path.stem if a.stem != b.stem else f"{path.stem} ({mark})"
        versions.append(Corpus(_numbered(lines), dataset=name))
    return versions[0], versions[1]


def from_table(path: Path) -> tuple[Corpus, Corpus]:
    """A table (CSV) of both versions of any number of films. Raises DatasetError, EvaluationError
    with file and line."""
    table = read_records(path)
    rater, film = table.column(RATER_COLUMNS), table.column(FILM_COLUMNS)
    if rater is None or not {"start", "end", "text"} <= set(table.columns):
        raise EvaluationError(f"{path.name} has the columns {', '.join(table.columns) or 'none'}.", _HINT)
    lines_by_rater: dict[str, list[Item]] = {}
    for row in table.rows:
        cells = {name: (row.text(name) or "").strip() for name in table.columns}
        text = " ".join(cells["text"].split())
        if not text:
            continue
        try:
            interval = Interval(parse_time(cells["start"]), parse_time(cells["end"]))
        except ValueError as error:
            raise EvaluationError(f"{row.where}: {error}.", _HINT) from None
        line = Item("", cells[film] if film else "film", interval, (text,))
        lines_by_rater.setdefault(cells[rater], []).append(line)
    if len(lines_by_rater) != 2:
        raise EvaluationError(
            f"{path.name} has {len(lines_by_rater)} raters: {', '.join(lines_by_rater) or 'none'}.", _HINT
        )
    versions = [Corpus(_numbered(lines), dataset=name) for name, lines in lines_by_rater.items()]
    return versions[0], versions[1]


def _numbered(lines: Sequence[Item]) -> tuple[Item, ...]:
    """Lines with ids of their own: the film, and their place in it."""
    counts: Counter[str] = Counter()
    named = []
    for line in lines:
        counts[line.film] += 1
        named.append(replace(line, id=f"{line.film}:{counts[line.film]}"))
    return tuple(named)


_PAPER_METRICS = ("cider", "recall", "action", "llm-ad-eval")
_PAPER_HEADS = ("CIDEr", "R@1/5", "Action", "LLM-AD-Eval")


def interrater_text(record: Json, a: Corpus, b: Corpus) -> str:
    """How many lines were paired, the numbers of both directions, and the paper's table A5."""
    rows, spans = [], []
    for direction in record["directions"]:
        cells = []
        for metric in direction["metrics"]:
            span = Span(**metric["interval"]) if metric["interval"] else None
            spans.append(span)
            value = number(metric["name"], metric["value"])
            cells.append(f"{value} ({span_words(metric['name'], span)})" if span else value)
        rows.append((f"{direction['tiou']:g}", f"{direction['pairs']:,}", direction["reference"], *cells))
    metrics = record["directions"][0]["metrics"]
    heads = ("tIoU", "Pairs", "Reference", *(metric["title"] for metric in metrics))
    films = {item.film for item in a.items} & {item.film for item in b.items}
    lines = [
        f"{a.dataset}: {plural(len(a.items), 'line')}. {b.dataset}: {plural(len(b.items), 'line')}. "
        f"{plural(len(films), 'film')} in both.",
        "Each row: one version against the other, which is the reference; intervals in brackets.",
        "",
        *table_lines(heads, rows, [0, 1]),
        "",
    ]
    remarks = ((metric["title"], remark) for metric in metrics for remark in metric["remarks"])
    basis = basis_words(spans, "film")
    lines += dict.fromkeys(f"{title}: {remark.rstrip('.')}." for title, remark in remarks)
    lines += [basis] if basis else []
    for missing in record["left_out"]:
        lines.append(f"Not counted: {missing['metric']}. {missing['reason']}")
    rows = []
    for row in CEILINGS:
        paper_cells = []
        for name in _PAPER_METRICS:
            # LLM-AD-Eval has two numbers in the paper.
            values = [number(name, value) for value in row["values"].get(name, ())]
            paper_cells.append(" | ".join(values) or NONE)
        rows.append((f"{row['tiou']:g}", f"{row['pairs']:,}", f"{row['films']}", *paper_cells))
    heads = ("From the paper, Table A5 (CMD-AD): tIoU", "Pairs", "Films", *_PAPER_HEADS)
    return "\n".join([*lines, "", *table_lines(heads, rows, range(7))])
