"""What holds of every metric, of those with models by real ones: the small embedder, spaCy's small parser, and
METEOR's own program where Java and pycocoevalcap are."""

from __future__ import annotations

import importlib.util
import random
from dataclasses import replace

import pytest

from shotad.core import Config
from shotad.evaluation import Corpus, MetricContext, Result, Store
from shotad.evaluation.metric import make_metric, score
from tests.evaluation.caption.cocotools import need_coco, need_java
from tests.evaluation.every.allmetrics import ALONG, VARIED, human, in_turn, joined_actions, predicted

pytestmark = pytest.mark.slow

STORE = Store()
"""One for all: what was encoded and taken apart stays."""


@pytest.fixture(params=["action", "action-description", "recall", "repetition-meaning", "meteor"])
def name(request: pytest.FixtureRequest) -> str:
    if request.param == "meteor":
        need_coco(), need_java()
    for needed in ("spacy", "sentence_transformers", "transformers"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    found: str = request.param
    return found


def result(name: str, corpus: Corpus, store: Store | None = None) -> Result:
    bench = MetricContext(Config(), store or STORE)
    return score(make_metric(name, bench), corpus, bench)


def test_the_human_ads_are_highest_and_others_lines_lowest(name: str) -> None:
    best = result(name, joined_actions() if name == "action" else human())
    varied, others = result(name, predicted(VARIED)), result(name, in_turn())
    assert best.value is not None
    assert varied.value is not None
    assert others.value is not None
    if name not in ALONG:
        assert best.value >= varied.value > others.value
        bound = 150 if name.startswith("action") else 100
        assert max(row.value or 0 for row in best.rows) == pytest.approx(bound, abs=1e-4)


def test_order_shards_and_a_second_run_change_nothing(name: str) -> None:
    corpus = predicted([None if k == 4 else text for k, text in enumerate(VARIED)])
    whole = result(name, corpus)
    assert result(name, corpus).rows == whole.rows
    assert result(name, corpus).fresh == 0
    assert whole.rows[4].failure
    items = list(corpus.items)
    random.Random(5).shuffle(items)
    fresh = {row.id: row for row in result(name, replace(corpus, items=tuple(items)), Store()).rows}
    for row in whole.rows:
        assert fresh[row.id].sums == pytest.approx(row.sums, abs=1e-5)
    films = [
        [i for i, item in enumerate(corpus.items) if item.film == film] for film in ("beta", "alpha", "gamma")
    ]
    bench = MetricContext(Config(), STORE)
    parts = [score(make_metric(name, bench), corpus, bench, places) for places in films]
    assert (parts[0] + parts[1] + parts[2]).value == pytest.approx(whole.value)
