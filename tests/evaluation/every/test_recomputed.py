"""What the product counts in batches and keeps, against the same counted plainly from the definitions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from shotad.evaluation import Result
from shotad.evaluation.metrics.action import told_of
from shotad.evaluation.metrics.ptb import tokens
from shotad.evaluation.report.comparing import paired
from shotad.evaluation.report.intervals import spans
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
    corpus, rules = predicted(said), {"all": "paper", "full": "code"}[rule]
    result = scored("recall", corpus, make_bench(rules=rules, recall={"k": k, "neighbours": n}))
    assert [row.sums for row in result.rows] == recall_of(corpus, overlap, k, n, rule)


def by_six_films() -> dict[str, str]:
    return {item.id: f"film {k % 6}" for k, item in enumerate(human().items)}


def figure(rows: list[tuple[float, ...]]) -> float:
    return 100 * sum(row[0] for row in rows) / sum(row[1] for row in rows)


def left_out(result: Result, films: dict[str, str]) -> list[float]:
    """The figure without each film, summed line by line."""
    return [
        figure([row.sums for row in result.rows if films[row.id] != film])
        for film in sorted(set(films.values()))
    ]


def test_intervals_by_leaving_out_film_by_film(make_bench: MakeBench) -> None:
    result, films = scored("rouge-l", predicted(VARIED), make_bench()), by_six_films()
    whole = figure([row.sums for row in result.rows])
    error = (5 / 6 * sum((other - whole) ** 2 for other in left_out(result, films))) ** 0.5
    found = spans([result], films, unit="film", level=0.95)["rouge-l"]
    assert found is not None
    assert (found.low, found.high) == pytest.approx(
        (whole - 2.570582 * error, whole + 2.570582 * error), abs=1e-4
    )


def test_a_comparison_by_leaving_out_film_by_film(make_bench: MakeBench) -> None:
    a, b = (scored("rouge-l", predicted(told), make_bench()) for told in (MIXED, VARIED))
    films = by_six_films()
    gain = figure([row.sums for row in b.rows]) - figure([row.sums for row in a.rows])
    gains = [two - one for one, two in zip(left_out(a, films), left_out(b, films), strict=True)]
    error = (5 / 6 * sum((other - gain) ** 2 for other in gains)) ** 0.5
    told = paired(a, b, films, unit="film", level=0.9)
    assert told.interval is not None
    assert (told.interval.low, told.interval.high) == pytest.approx(
        (gain - 2.015048 * error, gain + 2.015048 * error), abs=1e-4
    )


def test_what_is_done_next_is_another_action() -> None:
    """Which spaCy's models call a conjunction only as often as anything else."""
    words = "He/PRON/nsubj/1 hesitates/VERB/ROOT/1/hesitate ,/PUNCT/punct/1 then/ADV/advmod/4 turns/VERB/dep/1/turn"
    told = told_of([parse_of(*words.split(), "./PUNCT/punct/1")])
    phrases = [(phrase.text, phrase.lemma) for phrase in told.phrases]
    assert phrases == [("He hesitates.", "hesitate"), ("then turns.", "turn")]
    assert told.texts == ("He hesitates, then turns.",)
