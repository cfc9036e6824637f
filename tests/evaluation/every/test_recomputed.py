"""What the product counts in batches and keeps, against the same counted plainly from the definitions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from shotad.evaluation.action.paper import told_of
from shotad.evaluation.caption.ptb import tokens
from shotad.evaluation.measure.rows import Result
from shotad.evaluation.report.bootstrap import figures, units_of
from shotad.evaluation.report.paired import paired
from tests.evaluation import naive
from tests.evaluation.action.parsed import parse_of
from tests.evaluation.every.allmetrics import (
    FILMS,
    MIXED,
    VARIED,
    MakeBench,
    changed,
    human,
    predicted,
    recall_of,
    scored,
)
from tests.evaluation.every.standins import overlap


@pytest.mark.parametrize("name", ["cider", "cider-plain"])
def test_cider_by_its_formula(name: str, make_bench: MakeBench) -> None:
    corpus = predicted(VARIED)
    corpus = changed(
        corpus, 4, references=(*corpus.items[4].references, "The dog sleeps in the garden, by a fence.")
    )
    references = [[tokens(text) for text in item.references] for item in corpus.items]
    result = scored(name, corpus, make_bench())
    for row, item, wanted in zip(result.rows, corpus.items, references, strict=True):
        said = tokens(item.prediction or "")
        expected = 100 * naive.cider_d(said, wanted, references, plain=name == "cider-plain")
        assert row.value == pytest.approx(expected, abs=1e-9)
    assert result.value == pytest.approx(np.mean([row.value for row in result.rows]))


@pytest.mark.parametrize("rule", ["all", "full"])
@pytest.mark.parametrize(("k", "n"), [(1, 5), (1, 4), (2, 3), (5, 16), (1, 2)])
def test_recall_by_its_windows(rule: str, k: int, n: int, make_bench: MakeBench) -> None:
    texts = [text for _, lines in FILMS.values() for text, _ in lines]
    said = list(texts)
    random.Random(n).shuffle(said)
    said[::3] = texts[::3]
    said[1], said[5] = "", "…"
    corpus = predicted(said)
    result = scored("recall", corpus, make_bench(recall={"k": k, "neighbours": n, "windows": rule}))
    assert [row.sums for row in result.rows] == recall_of(corpus, overlap, k, n, rule)


@pytest.mark.parametrize("unit", ["ad", "film"])
def test_the_bootstrap_by_drawing_one_by_one(unit: str, make_bench: MakeBench) -> None:
    result = scored("rouge-l", predicted(VARIED), make_bench())
    films = {
        item.id: item.film if unit == "film" else f"film {k % 6}" for k, item in enumerate(human().items)
    }
    films = {name: f"film {k % 6}" for k, name in enumerate(films)}
    units = units_of(films, unit)
    names = sorted(films.values()) if unit == "film" else sorted(films)
    names = list(dict.fromkeys(names))
    rows = [np.zeros(2) for _ in names]
    for row in result.rows:
        rows[names.index(films[row.id] if unit == "film" else row.id)] += row.sums
    expected = naive.shares(rows, naive.draws(len(names), 200, 7))  # type: ignore[arg-type]
    (found,) = figures([result], units, 200, 7)
    assert found == pytest.approx([100 * share for share in expected])


def test_a_comparison_by_drawing_one_by_one(make_bench: MakeBench) -> None:
    a, b = (scored("rouge-l", predicted(told), make_bench()) for told in (MIXED, VARIED))
    films = {item.id: item.film for item in human().items}
    told = paired(a, b, films, draws=200, unit="ad", level=0.9, seed=3)
    drawn = naive.draws(len(films), 200, 3)
    order = sorted(films)
    gains = [
        100 * (theirs - ours)
        for ours, theirs in zip(*(naive.shares(in_order(r, order), drawn) for r in (a, b)), strict=True)
    ]
    assert told.not_better == pytest.approx(sum(gain <= 0 for gain in gains) / 200)
    assert told.interval is not None
    assert (told.interval.low, told.interval.high) == pytest.approx(tuple(np.quantile(gains, [0.05, 0.95])))


def in_order(result: Result, order: list[str]) -> list[tuple[float, ...]]:
    rows = {row.id: row.sums for row in result.rows}
    return [rows[name] for name in order]


def test_what_is_done_next_is_another_action() -> None:
    """Which spaCy's models call a conjunction only as often as anything else."""
    words = "He/PRON/nsubj/1 hesitates/VERB/ROOT/1/hesitate ,/PUNCT/punct/1 then/ADV/advmod/4 turns/VERB/dep/1/turn"
    told = told_of([parse_of(*words.split(), "./PUNCT/punct/1")])
    phrases = [(phrase.text, phrase.lemma) for phrase in told.phrases]
    assert phrases == [("He hesitates.", "hesitate"), ("then turns.", "turn")]
    assert told.texts == ("He hesitates, then turns.",)
