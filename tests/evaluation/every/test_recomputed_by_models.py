"""Action score and recall with real small models, against the same counted pair by pair by their libraries.

Apart from what has stand-ins, which would stand here too.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

import numpy as np
import pytest

from shotad.core import Config
from shotad.evaluation import MetricContext, Store
from shotad.evaluation.metric import make_metric, score
from tests.evaluation import naive
from tests.evaluation.every.allmetrics import VARIED, predicted, recall_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench() -> MetricContext:
    for needed in ("spacy", "sentence_transformers", "transformers"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    return MetricContext(Config(), Store())


@pytest.mark.parametrize("rules", ["paper", "code"])
def test_the_action_score_pair_by_pair(rules: str, bench: MetricContext) -> None:
    import spacy
    from sentence_transformers import SentenceTransformer

    from shotad.core import weights_folder
    from shotad.script import find_parser

    place = find_parser("en_core_web_sm").place
    nlp = cache(spacy.load(place, exclude=["senter", "ner"]))
    model = SentenceTransformer(str(weights_folder("minilm")), device="cpu")
    encode = cache(lambda text: model.encode([text])[0])
    corpus = predicted(VARIED)
    made = MetricContext(Config.model_validate({"measures": {"rules": rules}}), bench.store)
    result = score(make_metric("action", made), corpus, made)
    expected = [
        100 * 2 * (naive.action_score(item.actions or (), item.prediction or "", rules, nlp, encode) - 0.25)
        for item in corpus.items
    ]
    found = [row.value for row in result.rows]
    for item, ours, theirs, row in zip(corpus.items, found, expected, result.rows, strict=True):
        assert ours == pytest.approx(theirs, abs=0.01), (item.prediction, row.notes)


@pytest.mark.parametrize("rule", ["all", "full"])
def test_recall_pair_by_pair(rule: str, bench: MetricContext) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    from shotad.core import weights_folder

    folder = str(weights_folder("minilm"))
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)

    @cache
    def vectors(text: str) -> Any:
        with torch.no_grad():
            found = model(**tokenizer(text, return_tensors="pt"))[0][0].numpy()
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    corpus = predicted(VARIED)
    settings = {"measures": {"rules": "code" if rule == "full" else "paper", "recall": {"neighbours": 4}}}
    made = MetricContext(Config.model_validate(settings), bench.store)
    result = score(make_metric("recall", made), corpus, made)
    expected = recall_of(corpus, lambda a, b: naive.bert_score(vectors(a), vectors(b)), 1, 4, rule)
    assert [row.sums for row in result.rows] == expected
