"""Recall@k/N: windows and ranks by hand and counted plainly, and BERTScore equal to its authors' program."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Config
from shotad.core.errors import EvaluationError
from shotad.evaluation import Corpus, MetricContext, Store, make_metric, score
from tests.evaluation.allmetrics import FILMS, MakeBench, corpus_of, human, predicted, scored
from tests.evaluation.standins import Overlap, overlap

PREDICTIONS = [
    "Ann opens a door.", "Bob sits", "A man walks up the stairs slowly.", "She waits", "the door", "Bob sits",
    "", "Ann opens a door.",
]  # fmt: skip

REFERENCES = [
    "Ann opens a door.", "Ann opens a door", "The man walks up, Bob waits.", "He sits.",
    "Bob walks slowly up the stairs", "A quick man", "Bob sits.", "  Bob sits. ",
]  # fmt: skip

THEIRS = {
    ("bert", 1): [1.0, 0.843548, 0.964191, 0.882976, 0.867737, 0.935827, 0.0, 0.925864],
    ("bert", 2): [1.0, 0.855527, 0.979574, 0.96104, 0.841318, 0.986588, 0.0, 0.921449],
    ("bert", 3): [1.0, 0.874446, 0.971843, 0.94488, 0.89195, 0.962486, 0.0, 0.862108],
    ("roberta", 1): [1.0, 0.757957, 0.808091, 0.446205, 0.742232, 0.807641, 0.0, 0.77369],
    ("roberta", 2): [1.0, 0.915683, 0.776973, 0.654195, 0.918582, 0.944503, 0.0, 0.951624],
    ("roberta", 3): [1.0, 0.765687, 0.464965, 0.663016, 0.93543, 0.837531, 0.0, 0.832762],
}
"""F of these pairs by bert_score 0.3.13 with transformers 4.46.3 on the same two models, pair by pair."""


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_equal_to_the_authors_program(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the extra language is not installed")
    from tests.language import tiny_encoders

    folder: Path = getattr(tiny_encoders, f"make_{name}")(tmp_path / name)
    # The last human AD has no word, so nothing is like it.
    corpus = corpus_of(zip([*REFERENCES, ""], [*PREDICTIONS, "Bob sits"], strict=True))
    for layers in (3, 2, 1):
        # Of a model that nothing is published about the last layer is taken.
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        tiny_encoders.write(folder / "config.json", {**config, "num_hidden_layers": layers})
        context = bench_of(model=str(folder))
        result = score(make_metric("recall", context), corpus, context)
        assert result.identity["layer"] == layers
        similarities = [row.notes.get("similarity", 0.0) for row in result.rows]
        assert similarities == pytest.approx([*THEIRS[name, layers], 0.0], abs=6e-5), layers


@dataclass
class Given(Overlap):
    """Similarities by prediction and reference, as if a model had them. What is not given is 0."""

    table: dict[tuple[str, str], float] = field(default_factory=dict)

    def of(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
        return {pair: self.table.get(pair, 0.0) for pair in pairs}


def bench_of(given: Given | None = None, rules: str = "paper", **recall: Any) -> MetricContext:
    bench = MetricContext(Config.model_validate({"measures": {"rules": rules, "recall": recall}}), Store())
    if given is not None:
        bench.once("pair scores", lambda: given)
    return bench


def film(matrix: Sequence[Sequence[float]]) -> tuple[Corpus, Given]:
    """One film with a row of similarities to all its ADs for each prediction."""
    table = {(f"p{i}", f"r{j}"): value for i, row in enumerate(matrix) for j, value in enumerate(row)}
    return corpus_of([(f"r{i}", f"p{i}") for i in range(len(matrix))]), Given(table=table)


def test_doubled_words_and_several_references() -> None:
    corpus = corpus_of([("r", "p"), ("s", "p"), ("r", "p")])
    bench = bench_of(Given(table={("p", "r"): 0.9, ("p", "s"): 0.5}))
    result = score(make_metric("recall", bench), corpus, bench)
    assert [row.value for row in result.rows] == [100, 0, 100]
    assert (
        "2 ADs share a window with another of the same words; of equals the own is first." in result.remarks
    )
    # The best of several references counts.
    corpus, similar = film([[0.1, 0.5], [0.1, 0.5]])
    items = (replace(corpus.items[0], references=("r0", "also")), corpus.items[1])
    similar.table["p0", "also"] = 0.8
    bench = bench_of(similar)
    assert score(make_metric("recall", bench), Corpus(items), bench).value == 100
    # A film shorter than n is one window and one AD is no question.
    three, similar = film([[0.5, 0.4, 0.3], [0.5, 0.4, 0.3], [0.5, 0.4, 0.3]])
    lonely = replace(three.items[0], id="lonely", film="other")
    corpus = Corpus((*three.items, lonely))
    bench = bench_of(similar)
    result = score(make_metric("recall", bench), corpus, bench)
    assert [row.sums for row in result.rows] == [(1, 1), (0, 1), (0, 1), (0, 0)]
    assert result.rows[3].value is None
    assert "1 ADs of 1 films stand in no window of more than 1 and are not asked about." in result.remarks
    full = score(make_metric("recall", bench_of(similar, "code")), corpus, bench_of())
    assert full.value is None
    assert "4 ADs of 2 films stand in no full window of 5 and are not asked about." in full.remarks
    # More looked at than neighbours is refused.
    with pytest.raises(EvaluationError, match=r"recall\.k = 5 of recall\.neighbours = 5 finds everything"):
        make_metric("recall", bench_of(k=5, neighbours=5))


@pytest.mark.parametrize(
    ("wanted", "layer", "comparable"),
    [
        ({"model": "roberta-large"}, 17, True),
        ({"model": "FacebookAI/roberta-large", "k": 5, "neighbours": 16}, 17, True),
        ({"model": "roberta-large"}, 24, False),
        ({"model": "roberta-large", "neighbours": 10}, 17, False),
        ({}, 17, False),
    ],
)
def test_only_the_papers_own_stands_beside_it(wanted: Any, layer: int, comparable: bool) -> None:
    metric = make_metric("recall", bench_of(Given(layer=layer), **wanted))
    assert metric.comparable is comparable
    assert bool(metric.remarks) is not comparable


def windows_of(count: int, n: int, rules: str) -> list[list[int]]:
    """Windows of n by steps of n // 2; by the published code only full ones, else one more at the end, and a film
    shorter than n is one."""
    starts = [start for start in range(0, count, max(n // 2, 1)) if start + n <= count]
    if rules == "paper" and count < n:
        return [list(range(count))]
    if rules == "paper" and starts[-1] + n < count:
        starts.append(count - n)
    return [list(range(start, start + n)) for start in starts]


@pytest.mark.parametrize("rules", ["paper", "code"])
@pytest.mark.parametrize(("k", "n"), [(1, 5), (2, 3), (5, 16), (1, 2)])
def test_recall_by_its_windows(rules: str, k: int, n: int, make_bench: MakeBench) -> None:
    texts = [item.reference for item in human().items]
    predictions = list(texts)
    random.Random(n).shuffle(predictions)
    predictions[::3] = texts[::3]
    predictions[1], predictions[5] = "", "…"
    corpus = predicted(predictions)
    expected = []
    for name in FILMS:
        items = [item for item in corpus.items if item.film == name]
        windows = [window for window in windows_of(len(items), n, rules) if len(window) > k]
        for i, item in enumerate(items):
            likeness = [overlap(item.prediction or "", other.reference) for other in items]
            hits = [sum(likeness[j] > likeness[i] for j in window) < k for window in windows if i in window]
            spoken = bool(re.search(r"\w", item.prediction or ""))
            expected.append((spoken * sum(hits), len(hits)))
    result = scored("recall", corpus, make_bench(rules=rules, recall={"k": k, "neighbours": n}))
    assert [row.sums for row in result.rows] == expected
