"""Reports of made results, for tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shotad.core import Config, Interval
from shotad.evaluation import (
    Corpus,
    Item,
    Report,
    Result,
    Row,
)
from shotad.evaluation.metric import MetricFormula

WORDS = ["Ann", "opens", "the door", "slowly", "and", "looks", "at Ben", "who", "runs", "to the car"]


def made_file(name: str, sha256: str, system: str = "Test system") -> dict[str, str]:
    """A file of predictions."""
    return {"name": name, "sha256": sha256, "system": system}


def made_item(number: int, film: str, seed: int = 0, **more: Any) -> Item:
    chance = random.Random(1000 * seed + number)
    time = Interval(7.0 * number, 7.0 * number + chance.choice([0.8, 1.5, 2.5, 4.0, 7.0, 11.0]))
    reference = " ".join(chance.choices(WORDS, k=6)) + "."
    more = {"prediction": " ".join(chance.choices(WORDS, k=5)) + ".", **more}
    return Item(str(number), film, time, (reference,), clip=f"{film}/1", **more)


def made_corpus(n: int = 60, films: int = 4, *, dataset: str = "cmd-ad", seed: int = 0) -> Corpus:
    chance = random.Random(seed)
    items = []
    for k in range(n):
        told = {"scale": chance.choice([0.0, 1.0, 2.0, 2.5, 4.0]), "threaded": chance.random() < 0.4}
        items.append(made_item(k, f"tt{k % films:04d}", seed, **told))
    return Corpus(tuple(items), dataset=dataset)


def made_result(
    corpus: Corpus,
    name: str = "cider",
    *,
    seed: int = 0,
    scale: float = 40.0,
    shift: float = 0.0,
    **more: Any,
) -> Result:
    """A metric that is a mean, of ``repetition`` one whose small numbers are good; item k's number is drawn anew for each seed, and the same for each shift."""
    more.setdefault("higher_is_better", name != "repetition")
    rows = []
    for item in corpus.items:
        drawn = scale * random.Random(f"{seed} {item.id}").random() ** 2 + shift
        value = 0.0 if item.prediction is None else drawn
        failure = "" if item.prediction is not None else item.failure or "no prediction"
        rows.append(Row(item.id, (value / 100, 1.0), value, failure))
    told = {"title": name.upper(), "identity": {"version": 1}, **more}
    return Result(
        name=name, columns=("score", "ads"), figure=MetricFormula("share", 100.0), rows=tuple(rows), **told
    )


def made_run(corpus: Corpus | None = None, results: Sequence[Result] | None = None, **more: Any) -> Report:
    corpus = corpus or made_corpus()
    config = Config()
    told = {"config": config, "predictions": made_file("preds.jsonl", "0" * 64), **more}
    if results is None:
        results = (
            made_result(corpus),
            made_result(corpus, "action", seed=1, scale=90, remarks=("A smaller model.",), comparable=False),
            made_result(corpus, "repetition", seed=2, scale=10),
        )
    return Report(corpus=corpus, results=tuple(results), **told)


def shard(run: Report, first: int, last: int) -> Report:
    """The run with the rows of items ``first`` to ``last`` alone."""
    kept = {item.id for item in run.corpus.items[first:last]}
    results = tuple(replace(r, rows=tuple(row for row in r.rows if row.id in kept)) for r in run.results)
    return replace(run, results=results)
