"""Which candidate an expert takes, and what other ways of taking one come to. Pure.

The expert is a rule: the candidate with the highest mean of CIDEr and action score, both as they are
reported. It knows the human AD, so its choice says how good the best of the offer is, not how well a machine
chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from shotad.evaluation.measure.rows import Json, Result, Row

EXPERT = ("cider", "action")
"""The metrics whose mean the expert goes by (Shot-by-Shot, section 5.8)."""

Rows = Sequence[Row]
"""The rows of one item's candidates by one metric, in the order of the candidates: at least one."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the expert took for an item: ``number`` counts its candidates from 0, None where it has none.

    ``scores`` are the candidates' means of the expert's metrics.
    """

    id: str
    number: int | None
    scores: tuple[float, ...]
    text: str | None

    def record(self) -> Json:
        """As JSON."""
        return {"id": self.id, "chosen": self.number, "text": self.text, "scores": list(self.scores)}


def expert_scores(values: Sequence[Rows]) -> tuple[float, ...]:
    """The mean of the metrics for each candidate; ``values`` has each metric's rows of the same candidates.

    A metric that says nothing of the item (the action score, where no human actions are known) is left
    out; without any, all candidates are equal.
    """
    told = [[row.value for row in rows] for rows in values]
    known = [column for column in told if all(value is not None for value in column)]
    candidates = len(told[0]) if told else 0
    if not known:
        return (0.0,) * candidates
    return tuple(sum(column[k] or 0.0 for column in known) / len(known) for k in range(candidates))


def best_of(scores: Sequence[float]) -> int | None:
    """The first of the highest; None of none."""
    return max(range(len(scores)), key=lambda k: (scores[k], -k)) if scores else None


def best_result(ranks: Sequence[Result], higher: bool | None = None) -> Result:
    """Of each item the candidate that is best by this very metric: what no choice can surpass, where the
    metric is a mean over items. BLEU and METEOR are figures of the whole corpus, in which lines that are each
    the best may be beaten together.

    ``ranks`` are the results of the first, second … candidates; the first has a row of every item.
    """
    upwards = ranks[0].higher_is_better if higher is None else higher

    def best(rows: Rows) -> Row:
        known = [row for row in rows if row.value is not None]
        sign = 1.0 if upwards else -1.0
        return max(known, key=lambda row: sign * (row.value or 0.0)) if known else rows[0]

    return _by_item(ranks, best, "best")


def random_result(ranks: Sequence[Result]) -> Result:
    """What a random choice comes to on average, exactly: of each item the mean of its candidates' sums.

    For metrics of a whole corpus (BLEU) it is the figure of the mean sums.
    """
    return _by_item(ranks, _mean_row, "random")


def _mean_row(rows: Rows) -> Row:
    sums = tuple(sum(column) / len(rows) for column in zip(*(row.sums for row in rows), strict=True))
    known = [row.value for row in rows if row.value is not None]
    failure = next((row.failure for row in rows if row.failure), "")
    return Row(rows[0].id, sums, sum(known) / len(known) if known else None, failure)


def _by_item(ranks: Sequence[Result], take: Callable[[Rows], Row], role: str) -> Result:
    first = ranks[0]
    others: list[Mapping[str, Row]] = [{row.id: row for row in result.rows} for result in ranks[1:]]
    rows = tuple(take([row, *(rank[row.id] for rank in others if row.id in rank)]) for row in first.rows)
    return replace(
        first,
        rows=rows,
        identity={**first.identity, "choice": role},
        fresh=sum(result.fresh for result in ranks),
        seconds=sum(result.seconds for result in ranks),
    )
