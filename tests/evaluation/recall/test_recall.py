"""Recall@k/N: counted by hand with given similarities, and with real vectors on texts of our own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Config, EvaluationError, Identity, WeightsError
from shotad.evaluation import Corpus, MetricContext, Result, Store
from shotad.evaluation.metric import make_metric, score
from shotad.evaluation.metrics.recall import PairScores, Recall, source_of
from shotad.script import EncoderPlace
from tests.evaluation.measuring import corpus_of


@dataclass
class Given:
    """Similarities by prediction and reference, as if a model had them. What is not given is 0."""

    table: dict[tuple[str, str], float] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    layer: int = 17
    place: EncoderPlace = EncoderPlace(Path(), Identity("given", "given"), 24)  # noqa: RUF009
    identity: dict[str, Any] = field(default_factory=dict)

    def of(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
        wanted = list(dict.fromkeys(pairs))
        self.asked += wanted
        return {pair: self.table.get(pair, 0.0) for pair in wanted}


def bench_of(given: Given | None = None, store: Store | None = None, **recall: Any) -> MetricContext:
    rules = "code" if recall.pop("windows", "all") == "full" else "paper"
    settings = {"measures": {"rules": rules, "recall": recall}}
    bench = MetricContext(Config.model_validate(settings), store or Store())
    if given is not None:
        bench.once("pair scores", lambda: given)
    return bench


def film(matrix: Sequence[Sequence[float]], name: str = "film") -> tuple[Corpus, Given]:
    """One film with a row of similarities to all its ADs for each prediction."""
    table = {(f"p{i}", f"r{j}"): value for i, row in enumerate(matrix) for j, value in enumerate(row)}
    return corpus_of([(f"r{i}", f"p{i}") for i in range(len(matrix))], film=name), Given(table)


def sums(result: Result) -> list[tuple[float, ...]]:
    return [row.sums for row in result.rows]


SEVEN = [
    [0.9, 0.1, 0.2, 0.1, 0.0, 0.0, 0.0],  # first of 0-3
    [0.8, 0.5, 0.1, 0.1, 0.0, 0.0, 0.0],  # second of 0-3
    [0.1, 0.2, 0.6, 0.7, 0.3, 0.2, 0.0],  # second of 0-3, second of 2-5
    [0.9, 0.1, 0.2, 0.5, 0.1, 0.4, 0.0],  # second of 0-3, first of 2-5, first of 3-6
    [0.9, 0.9, 0.4, 0.2, 0.3, 0.1, 0.2],  # second of 2-5, first of 3-6
    [0.0, 0.0, 0.7, 0.1, 0.2, 0.5, 0.6],  # second of 2-5, second of 3-6
    [0.9, 0.9, 0.9, 0.1, 0.2, 0.3, 0.4],  # first of 3-6
]


def test_neighbours_of_other_windows_are_not_compared() -> None:
    corpus, similar = film(SEVEN)
    bench = bench_of(similar, neighbours=4)
    score(Recall.of("recall", bench), corpus, bench)
    assert {reference for prediction, reference in similar.asked if prediction == "p0"} == {
        "r0",
        "r1",
        "r2",
        "r3",
    }
    assert ("p6", "r2") not in similar.asked


def test_a_film_shorter_than_n_is_one_window_and_one_ad_is_no_question() -> None:
    three, similar = film([[0.5, 0.4, 0.3], [0.5, 0.4, 0.3], [0.5, 0.4, 0.3]])
    lonely = replace(three.items[0], id="lonely", film="other")
    corpus = Corpus((*three.items, lonely))
    bench = bench_of(similar)
    result = score(Recall.of("recall", bench), corpus, bench)
    assert sums(result) == [(1, 1), (0, 1), (0, 1), (0, 0)]
    assert result.rows[3].value is None
    assert "1 ADs of 1 films stand in no window of more than 1 and are not asked about." in result.remarks
    full = score(Recall.of("recall", bench_of(similar, windows="full")), corpus, bench_of())
    assert full.value is None
    assert "4 ADs of 2 films stand in no full window of 5 and are not asked about." in full.remarks


def test_what_is_missing_or_wordless_is_never_found() -> None:
    corpus, similar = film([[0.0] * 5] * 5)
    predictions = [None, "", " … ", "p3", None]
    items = [replace(item, prediction=p) for item, p in zip(corpus.items, predictions, strict=True)]
    items[4] = replace(items[4], failure="no answer")
    bench = bench_of(similar)
    result = score(Recall.of("recall", bench), Corpus(tuple(items)), bench)
    assert [row.value for row in result.rows] == [0, 0, 0, 100, 0]  # all are equally unlike p3
    assert [row.failure for row in result.rows] == ["no prediction", "", "", "", "no answer"]
    assert result.value == pytest.approx(20)
    assert not any(prediction in ("", " … ") for prediction, _ in similar.asked)


def test_the_same_words_twice_in_a_window_are_both_found() -> None:
    corpus = corpus_of([("r", "p"), ("s", "p"), ("r", "p")])
    bench = bench_of(Given({("p", "r"): 0.9, ("p", "s"): 0.5}))
    result = score(Recall.of("recall", bench), corpus, bench)
    assert [row.value for row in result.rows] == [100, 0, 100]
    assert (
        "2 ADs share a window with another of the same words; of equals the own is first." in result.remarks
    )


def test_the_best_of_several_references_counts() -> None:
    corpus, similar = film([[0.1, 0.5], [0.1, 0.5]])
    items = (replace(corpus.items[0], references=("r0", "also")), corpus.items[1])
    similar.table["p0", "also"] = 0.8
    bench = bench_of(similar)
    assert score(Recall.of("recall", bench), Corpus(items), bench).value == 100


def test_more_looked_at_than_neighbours_is_refused() -> None:
    with pytest.raises(EvaluationError, match=r"recall\.k = 5 of recall\.neighbours = 5 finds everything"):
        make_metric("recall", bench_of(k=5, neighbours=5))


def test_an_unknown_model_is_refused_at_once() -> None:
    with pytest.raises(WeightsError, match="no encoder 'roberta-larg'"):
        make_metric("recall", bench_of(model="roberta-larg"))


def test_a_model_that_cannot_be_had_is_said_before_anything_is_scored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fetch(repo: str, *_: Any, **__: Any) -> Path:
        raise WeightsError(f"The model {repo} could not be fetched.")

    monkeypatch.setattr("shotad.script.embeddings.model_folder", fetch)
    with pytest.raises(WeightsError, match=r"FacebookAI/roberta-large could not be fetched"):
        make_metric("recall", bench_of(model="roberta-large"))


def test_the_papers_model_is_looked_for_in_its_repository(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert source_of("roberta-large") == "FacebookAI/roberta-large"
    (tmp_path / "roberta-large").mkdir()
    assert source_of("roberta-large") == "roberta-large"
    assert source_of("minilm") == "minilm"


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
    metric = Recall("recall", bench_of(Given(layer=layer), **wanted))
    assert metric.comparable is comparable
    assert bool(metric.remarks) is not comparable


TEXTS = [
    ("Ann opens a door.", "Ann opens the door"),
    ("Bob sits.", "Bob sits"),
    ("A man walks up the stairs slowly.", "The man slowly walks up stairs."),
    ("She waits.", "She waits"),
    ("He walks up the door.", "Bob waits."),
]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    pytest.importorskip("transformers", reason="the extra language is not installed")
    from tests.language.tiny_encoders import make_bert

    return make_bert(tmp_path / "bert")


def test_pairs_are_kept_and_only_new_texts_are_encoded(tiny: Path) -> None:
    store = Store()
    pairs = [(a, b) for a, _ in TEXTS for _, b in TEXTS]
    found = PairScores(bench_of(store=store, model=str(tiny))).of(pairs)
    again = PairScores(bench_of(store=store, model=str(tiny)))
    assert again.of(reversed(pairs)) == found
    assert again._encoder is None
    alone = PairScores(bench_of(model=str(tiny)))
    for pair in pairs[:3]:
        assert alone.of([pair])[pair] == pytest.approx(found[pair], abs=1e-6)


def test_memory_is_bounded(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shotad.evaluation.metrics.recall._ROOM", 2000)
    scores = PairScores(bench_of(model=str(tiny)))
    free = PairScores(bench_of(model=str(tiny)))
    pairs = [(a, b) for a, _ in TEXTS for _, b in TEXTS]
    for pair in pairs:
        assert scores.of([pair])[pair] == pytest.approx(free.of([pair])[pair], abs=1e-6)
        assert sum(text.vectors.nbytes for text in scores._vectors.values()) <= 2000
