"""What the product counts in batches and keeps, against the same counted plainly from the definitions."""

from __future__ import annotations

import importlib.util
import random
from functools import cache
from typing import Any

import numpy as np
import pytest

from shotad.config import Config
from shotad.evaluation.caption.ptb import tokens
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus
from shotad.evaluation.measure.metric import make_metric
from shotad.evaluation.measure.rows import Result
from shotad.evaluation.measure.scoring import score
from shotad.evaluation.measure.store import Store
from shotad.evaluation.report.bootstrap import figures, units_of
from shotad.evaluation.report.paired import paired
from tests.evaluation import naive
from tests.evaluation.every.allmetrics import (
    FILMS,
    MIXED,
    MakeBench,
    changed,
    human,
    overlap,
    predicted,
    scored,
)

VARIED: tuple[str | None, ...] = (
    "Ann Miller opens the heavy door, then smiles at Bob.",
    "Bob Hart strolls to the window and looks out.",
    "He grabs a gun and drops it.",
    "Ann is running up the stairs in the dark; she falls.",
    "A dog sleeps by the garden fence.",
    "They stare at each other. Bob nods.",
    "Dr. Cole puts on his glasses.",
    "Sitting on a bed, she waits.",
    "Two glasses of red wine are poured by Tony.",
    "Margot tears up a letter and throws it into the fire.",
    "Wendice locks a drawer.",
    "She doesn't hide the letter behind a clock.",
    "Rain.",
    "A train that crosses the old bridge whistles twice.",
    "Smoke rises, 3.5 m high, from the chimney tops!",
)
"""Synonyms, passives, abbreviations, two verbs, none: what the ways to read a text differ in."""


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


def recall_of(corpus: Corpus, alike: naive.Similarity, k: int, n: int, rule: str) -> list[Any]:
    found = []
    for film in FILMS:
        items = [item for item in corpus.items if item.film == film]
        lines = [item.reference for item in items]
        found += naive.recall(lines, [item.prediction or "" for item in items], alike, k, n, rule)
    return found


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


# --- with real models


@pytest.fixture(scope="module")
def bench() -> Bench:
    for needed in ("spacy", "sentence_transformers", "transformers"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    return Bench(Config(), Store())


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["paper", "code"])
def test_the_action_score_pair_by_pair(rules: str, bench: Bench) -> None:
    import spacy
    from sentence_transformers import SentenceTransformer

    from shotad.language.parsing import find_parser
    from shotad.weights import weights_folder

    place = find_parser("en_core_web_sm").place
    nlp = cache(spacy.load(place, exclude=["senter", "ner"]))
    model = SentenceTransformer(str(weights_folder("minilm")), device="cpu")
    encode = cache(lambda text: model.encode([text])[0])
    corpus = predicted(VARIED)
    made = Bench(Config.model_validate({"measures": {"action": {"rules": rules}}}), bench.store)
    result = score(make_metric("action", made), corpus, made)
    expected = [
        100 * 2 * (naive.action_score(item.actions or (), item.prediction or "", rules, nlp, encode) - 0.25)
        for item in corpus.items
    ]
    found = [row.value for row in result.rows]
    for item, ours, theirs, row in zip(corpus.items, found, expected, result.rows, strict=True):
        assert ours == pytest.approx(theirs, abs=0.01), (item.prediction, row.notes)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["all", "full"])
def test_recall_pair_by_pair(rule: str, bench: Bench) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    from shotad.weights import weights_folder

    folder = str(weights_folder("minilm"))
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)

    @cache
    def vectors(text: str) -> Any:
        with torch.no_grad():
            found = model(**tokenizer(text, return_tensors="pt"))[0][0].numpy()
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    corpus = predicted(VARIED)
    settings = {"measures": {"recall": {"windows": rule, "neighbours": 4}}}
    made = Bench(Config.model_validate(settings), bench.store)
    result = score(make_metric("recall", made), corpus, made)
    expected = recall_of(corpus, lambda a, b: naive.bert_score(vectors(a), vectors(b)), 1, 4, rule)
    assert [row.sums for row in result.rows] == expected
