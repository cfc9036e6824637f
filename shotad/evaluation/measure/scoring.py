"""Scoring: each row that is known from an earlier run is taken, the others are counted and kept."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace

from shotad.core import key_of, reported
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus
from shotad.evaluation.measure.metric import Metric
from shotad.evaluation.measure.rows import Result, Row

JUDGE_FAILED = "judge:"
"""What the failure of a row begins with where the judge is to blame, not the system."""
_GROUP = 64
"""Rows that are written out together."""


def score(metric: Metric, corpus: Corpus, bench: Bench, places: Sequence[int] | None = None) -> Result:
    """What ``metric`` says of the items at ``places`` (None: of all), in that order.

    Rows that are equal by the metric's identity, basis and keys are counted once, and kept in the store; rows
    of a judge's failure are not kept, so that it is tried again next time.
    """
    wanted = list(range(len(corpus.items))) if places is None else list(places)
    began = time.perf_counter()
    basis = metric.basis(corpus)
    space = f"rows/{metric.name}/{key_of(metric.identity, basis)}"
    keys = row_keys(metric, corpus, wanted)
    kept = {key: _row(value) for key, value in bench.store.get(space, keys).items()}
    known = set(kept)
    first = {key: place for place, key in reversed(list(zip(wanted, keys, strict=True))) if key not in kept}
    order = [place for place, key in zip(wanted, keys, strict=True) if first.get(key) == place]
    _count(metric, corpus, bench, order, dict(zip(wanted, keys, strict=True)), kept, space)
    rows = tuple(
        replace(kept[key], id=corpus.items[place].id) for place, key in zip(wanted, keys, strict=True)
    )
    remarks = metric.remarks  # some are counted too: what they cost belongs to the metric
    return Result(
        metric.name,
        metric.title,
        metric.columns,
        metric.figure,
        metric.identity,
        rows,
        basis,
        fresh=sum(key not in known for key in keys),
        seconds=time.perf_counter() - began,
        remarks=remarks,
        comparable=metric.comparable,
        higher_is_better=getattr(metric, "higher_is_better", True),
    )


def row_keys(metric: Metric, corpus: Corpus, places: Sequence[int]) -> list[str]:
    """For each place the key of its row: that of the metric, and why nothing was predicted, which the row
    says."""
    keys = metric.keys(corpus, places)
    return [key_of(key, corpus.items[place].failure) for key, place in zip(keys, places, strict=True)]


def _count(
    metric: Metric,
    corpus: Corpus,
    bench: Bench,
    order: Sequence[int],
    keys: dict[int, str],
    kept: dict[str, Row],
    space: str,
) -> None:
    """Count the rows of ``order`` into ``kept`` and, in groups, into the store."""
    if not order:
        return
    waiting: list[tuple[str, bytes]] = []
    with reported(bench.progress, f"Scoring {metric.title}", len(order), "ADs") as task:
        try:
            for place, row in zip(order, metric.rows(corpus, order), strict=True):
                kept[keys[place]] = row
                if not row.failure.startswith(JUDGE_FAILED):
                    waiting.append((keys[place], json.dumps(asdict(row)).encode()))
                if len(waiting) >= _GROUP:
                    bench.store.put(space, waiting)
                    waiting = []
                task.advance(1)
        finally:
            bench.store.put(space, waiting)


def _row(value: bytes) -> Row:
    record = json.loads(value)
    return Row(record["id"], tuple(record["sums"]), record["value"], record["failure"], record["notes"])
