"""What the product counts in batches and keeps, against the same counted plainly from the definitions."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from shotad.evaluation import Corpus
from shotad.evaluation.metrics.action import told_of
from shotad.evaluation.metrics.ptb import tokens
from tests.evaluation.action.parsed import parse_of
from tests.evaluation.allmetrics import FILMS, VARIED, MakeBench, changed, predicted, scored
from tests.evaluation.standins import overlap

Similarity = Callable[[str, str], float]


def grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _len(words: Sequence[str]) -> int:
    """The tool counts bigrams for the length."""
    return max(len(words) - 1, 0)


def _weighted(words: Sequence[str], n: int, corpus: Sequence[Any]) -> dict[tuple[str, ...], float]:
    def items_with(gram: tuple[str, ...]) -> int:
        return sum(any(gram in grams(reference, n) for reference in item) for item in corpus)

    return {g: c * math.log(len(corpus) / max(items_with(g), 1)) for g, c in grams(words, n).items()}


def recall(
    human: Sequence[str], said: Sequence[str], alike: Similarity, k: int, n: int, rule: str
) -> list[Any]:
    """For each AD of a film (found, asked): windows of n by steps of n // 2, in the published code's rule only
    full ones; else one more at the end, and a film shorter than n is one."""
    starts = [start for start in range(0, len(human), max(n // 2, 1)) if start + n <= len(human)]
    windows = [list(range(start, start + n)) for start in starts]
    if rule == "all":
        if len(human) < n:
            windows = [list(range(len(human)))]
        elif windows[-1][-1] != len(human) - 1:
            windows.append(list(range(len(human) - n, len(human))))
    found = []
    for i, text in enumerate(said):
        hits = []
        for window in windows:
            if i in window and len(window) > k:
                better = [j for j in window if alike(text, human[j]) > alike(text, human[i])]
                hits.append(len(better) < k and bool(re.search(r"\w", text)))
        found.append((sum(hits), len(hits)))
    return found


def recall_of(corpus: Corpus, alike: Similarity, k: int, n: int, rule: str) -> list[Any]:
    found = []
    for film in FILMS:
        items = [item for item in corpus.items if item.film == film]
        lines = [item.reference for item in items]
        found += recall(lines, [item.prediction or "" for item in items], alike, k, n, rule)
    return found


@pytest.mark.parametrize("name", ["cider", "cider-plain"])
def test_cider_by_its_formula(name: str, make_bench: MakeBench) -> None:
    corpus = predicted(VARIED)
    second = "The dog sleeps in the garden, by a fence."
    corpus = changed(corpus, 4, references=(*corpus.items[4].references, second))
    references = [[tokens(text) for text in item.references] for item in corpus.items]
    result = scored(name, corpus, make_bench())
    for row, item, wanted in zip(result.rows, corpus.items, references, strict=True):
        said = tokens(item.prediction or "")
        # CIDEr-D of one item by its formula (Vedantam et al. 2015, equations 1, 5 and 6); ``corpus`` holds
        # the references of each item. ``plain``: equations 1 to 4.
        plain = name == "cider-plain"
        total = 0.0
        for n in range(1, 5):
            ours = _weighted(said, n, references)
            for reference in wanted:
                theirs = _weighted(reference, n, references)
                dot = sum(
                    (min(v, theirs.get(g, 0)) if not plain else v) * theirs.get(g, 0) for g, v in ours.items()
                )
                below = math.sqrt(sum(v * v for v in ours.values()) * sum(v * v for v in theirs.values()))
                short = 1.0 if plain else math.exp(-((_len(said) - _len(reference)) ** 2) / (2 * 36))
                total += short * dot / below if below else 0.0
        expected = 100 * (10 * total / 4 / len(wanted))
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


def test_what_is_done_next_is_another_action() -> None:
    """Which spaCy's models call a conjunction only as often as anything else."""
    words = "He/PRON/nsubj/1 hesitates/VERB/ROOT/1/hesitate ,/PUNCT/punct/1 then/ADV/advmod/4 turns/VERB/dep/1/turn"
    told = told_of([parse_of(*words.split(), "./PUNCT/punct/1")])
    phrases = [(phrase.text, phrase.lemma) for phrase in told.phrases]
    assert phrases == [("He hesitates.", "hesitate"), ("then turns.", "turn")]
    assert told.texts == ("He hesitates, then turns.",)
