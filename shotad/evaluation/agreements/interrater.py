"""How well a second human AD of the same film scores as a prediction of the first: a ceiling for systems.

Which line of one human AD is of the same moment as which line of another: by overlap in time.

tIoU is the time that both lines share over the time that either takes (AutoAD-III; Shot-by-Shot, table A5).
Of all pairs with at least the wanted tIoU, those are taken that share the most in total, each line at most
once. Above 0.5 there is no choice, as long as the lines of each version do not overlap among themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shotad.core import EvaluationError, Interval, ShotadError, need
from shotad.evaluation.action.by_rule import actions_by_rule
from shotad.evaluation.agreements.versions import Spoken, Version
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.metric import Metric, make_metric
from shotad.evaluation.measure.rows import Json, Result
from shotad.evaluation.measure.scoring import score
from shotad.evaluation.report.inputs import LeftOut
from shotad.evaluation.report.intervals import Span, spans


@dataclass(frozen=True, slots=True)
class Pair:
    """Two lines of the same moment, one of each version."""

    a: Spoken
    b: Spoken
    tiou: float


def tiou(a: Interval, b: Interval) -> float:
    """Shared time over the time that either takes, 0 to 1.

    >>> tiou(Interval(0, 4), Interval(2, 6)) == 2 / 6
    True
    """
    shared = a.clip(b)
    if shared is None:
        return 0.0
    return shared.duration / (a.duration + b.duration - shared.duration)


def pairs(a: Version, b: Version, threshold: float) -> tuple[Pair, ...]:
    """The pairs of at least this tIoU, film by film, in the order of A. Raises ShotadError without scipy."""
    others = b.films()
    found = [
        pair for film, lines in a.films().items() for pair in _of_film(lines, others.get(film, []), threshold)
    ]
    place = {line.id: k for k, line in enumerate(a.lines)}
    return tuple(sorted(found, key=lambda pair: place[pair.a.id]))


def _of_film(a: Sequence[Spoken], b: Sequence[Spoken], threshold: float) -> list[Pair]:
    if not a or not b:
        return []
    optimize = need("scipy.optimize", "Matching two human ADs", "evaluate")
    overlaps = np.array([[tiou(one.interval, two.interval) for two in b] for one in a], np.float64)
    wanted = np.where((overlaps >= threshold) & (overlaps > 0), overlaps, 0.0)
    rows, columns = optimize.linear_sum_assignment(wanted, maximize=True)
    return [
        Pair(a[i], b[j], float(overlaps[i, j]))
        for i, j in zip(rows, columns, strict=True)
        if wanted[i, j] > 0
    ]


METRICS = ("cider", "bleu-1", "rouge-l", "meteor", "action", "recall")
"""Those that two texts are enough for."""

BY_RULE = "the actions of the reference were made by rule, not by a language model"


@dataclass(frozen=True, slots=True)
class Direction:
    """One version as prediction against the other as reference, on the pairs of one threshold."""

    tiou: float
    reference: str
    prediction: str
    pairs: int
    results: tuple[Result, ...]
    intervals: dict[str, Span | None]

    def record(self) -> Json:
        """As JSON."""
        return {
            "tiou": self.tiou,
            "reference": self.reference,
            "prediction": self.prediction,
            "pairs": self.pairs,
            "metrics": [
                {
                    "name": result.name,
                    "title": result.title,
                    "value": result.value,
                    "interval": found.record() if (found := self.intervals[result.name]) else None,
                    "n": len(result.rows),
                    "scored": result.scored,
                    "comparable": False,
                    "remarks": list(result.remarks),
                    "sums": [float(value) for value in result.sums],
                    "identity": dict(result.identity),
                }
                for result in self.results
            ],
        }


@dataclass(frozen=True, slots=True)
class InterRater:
    """Both versions, both directions at each threshold, and the pairs of the lowest."""

    a: Version
    b: Version
    directions: tuple[Direction, ...]
    pairs: tuple[Pair, ...]
    left_out: tuple[LeftOut, ...]


def inter_rater(
    a: Version, b: Version, thresholds: Sequence[float], bench: Bench, names: Sequence[str] = ()
) -> InterRater:
    """Pair the lines at each threshold, and score each version against the other by the metrics of these
    names (none: all that two texts are enough for).

    The other lines of the reference stay in the corpus: they are neighbours for recall, and words are counted
    over all of them. Raises EvaluationError for a threshold that is none, and where no line is paired; for a
    metric that was named and cannot run.
    """
    wrong = next((t for t in thresholds if not 0 < t <= 1), None)
    if wrong is not None or not thresholds:
        raise EvaluationError(f"{wrong} is no tIoU.", "Name numbers above 0 and up to 1, such as 0.8.")
    metrics, left_out = _metrics(names, bench)
    ordered = sorted(set(thresholds))
    paired = {threshold: pairs(a, b, threshold) for threshold in ordered}
    if not paired[ordered[0]]:
        raise EvaluationError(
            f"No line of {a.name} has a tIoU of {ordered[0]:g} with one of {b.name}.",
            "Name a lower --tiou, and see that both are of the same film and begin at the same time.",
        )
    actions = _actions(a, b, bench, left_out) if any(m.name == "action" for m in metrics) else None
    if actions is None:
        metrics = [metric for metric in metrics if metric.name != "action"]
    directions = []
    for threshold in ordered:
        there = {pair.a.id: pair.b.text for pair in paired[threshold]}
        back = {pair.b.id: pair.a.text for pair in paired[threshold]}
        directions.append(_direction(threshold, a, b.name, there, metrics, bench, actions))
        directions.append(_direction(threshold, b, a.name, back, metrics, bench, actions))
    return InterRater(a, b, tuple(directions), paired[ordered[0]], tuple(left_out))


def _direction(
    threshold: float,
    reference: Version,
    prediction: str,
    texts: dict[str, str],
    metrics: Sequence[Metric],
    bench: Bench,
    actions: dict[str, tuple[str, ...]] | None,
) -> Direction:
    items = tuple(
        Item(
            line.id,
            line.film,
            line.interval,
            (line.text,),
            texts.get(line.id),
            actions=actions[line.text] or None if actions else None,
        )
        for line in reference.lines
    )
    corpus = Corpus(items)
    places = [place for place, item in enumerate(items) if item.id in texts]
    results = tuple(_told(score(metric, corpus, bench, places)) for metric in metrics)
    films = {item.id: item.film for item in items}
    settings = bench.settings.report
    intervals = spans(results, films, unit=settings.unit, level=settings.level)
    return Direction(threshold, reference.name, prediction, len(places), results, intervals)


def _told(result: Result) -> Result:
    """The result with what keeps it from being compared with the paper's."""
    remarks = (*result.remarks, *([BY_RULE] if result.name == "action" else []))
    return replace(result, remarks=remarks, comparable=False)


def _metrics(names: Sequence[str], bench: Bench) -> tuple[list[Metric], list[LeftOut]]:
    made: list[Metric] = []
    left_out: list[LeftOut] = []
    for name in dict.fromkeys(names or METRICS):
        if name not in METRICS and name in ("critic", "names-kept", "action-description"):
            raise EvaluationError(f"{name} needs more than two texts.", f"Choose of {', '.join(METRICS)}.")
        try:
            made.append(make_metric(name, bench))
        except ShotadError as error:
            if names:
                raise
            left_out.append(LeftOut(name, str(error)))
    return made, left_out


def _actions(
    a: Version, b: Version, bench: Bench, left_out: list[LeftOut]
) -> dict[str, tuple[str, ...]] | None:
    """The actions of each text of both, made by rule; None where that cannot be done here."""
    texts = list(dict.fromkeys(line.text for version in (a, b) for line in version.lines))
    try:
        return dict(zip(texts, actions_by_rule(texts, bench), strict=True))
    except ShotadError as error:
        left_out.append(LeftOut("action", str(error)))
        return None
