"""Embedding models made of language models, on one of the real class: attention both ways, the end token."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import ComputeSettings, Config, WeightsError
from shotad.evaluation import MetricContext, Store
from shotad.evaluation.store import vectors_of
from shotad.script import make_embedder
from shotad.script.embeddings import check_both_ways, ending

pytest.importorskip("sentence_transformers", reason="the extra language is not installed")

from tests.language.tiny_gte import END, make_gte

CPU = ComputeSettings(device="cpu")
TEXTS = ["He opens the door.", "She runs away.", "He opens the door. She runs away."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_gte(tmp_path_factory.mktemp("models") / "gte-Qwen2-7B-instruct")


def first_change(model: Any) -> float:
    """How much the first word's state changes where the last word is another."""
    import torch

    with torch.no_grad():
        one, other = (
            model(input_ids=torch.tensor([ids])).last_hidden_state for ids in ([5, 6, 7], [5, 6, 8])
        )
    return float((one - other)[0, 0].abs().max())


def inner_of(folder: Path) -> Any:
    return make_embedder(str(folder), CPU)._model[0].auto_model  # type: ignore[attr-defined]


def test_the_librarys_own_class_runs_and_looks_both_ways(folder: Path, tmp_path: Path) -> None:
    model = inner_of(folder)
    assert type(model).__module__ == "transformers.models.qwen2.modeling_qwen2"
    assert first_change(model) > 0.1
    assert first_change(inner_of(make_gte(tmp_path / "causal", both_ways=False))) == 0


def test_vectors_have_unit_length_and_do_not_hang_on_the_batch(folder: Path) -> None:
    embedder = make_embedder(str(folder), CPU)
    vectors = embedder.of(TEXTS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    assert vectors == pytest.approx(np.concatenate([embedder.of([text]) for text in TEXTS]), abs=1e-5)


def test_the_end_token_is_put_where_the_tokenizer_does_not(folder: Path, tmp_path: Path) -> None:
    assert ending(folder) == END
    assert ending(make_gte(tmp_path / "without", wants_end=False)) == ""
    assert ending(tmp_path) == ""


def test_a_tokenizer_that_puts_the_end_token_itself_gets_no_second(folder: Path, tmp_path: Path) -> None:
    from tokenizers import Tokenizer, processors

    own = make_gte(tmp_path / "own")
    inner = Tokenizer.from_file(str(own / "tokenizer.json"))
    inner.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, 0)])
    inner.save(str(own / "tokenizer.json"))
    assert ending(own) == ""


def test_kept_vectors_are_those_of_the_end_token(folder: Path) -> None:
    config = Config.model_validate(
        {"compute": {"device": "cpu"}, "measures": {"embedding": {"model": str(folder)}}}
    )
    service = vectors_of(MetricContext(config, Store()))
    found = service.of(TEXTS, prompt="Query: ")
    embedder = make_embedder(str(folder), CPU)
    bare = embedder._model.encode([f"Query: {text}" for text in TEXTS])  # type: ignore[attr-defined]
    ended = embedder._model.encode([f"Query: {text}{END}" for text in TEXTS])  # type: ignore[attr-defined]
    assert found == pytest.approx(embedder.of(TEXTS, prompt="Query: "), abs=1e-5)
    assert found == pytest.approx(ended / np.linalg.norm(ended, axis=1, keepdims=True), abs=1e-5)
    assert abs(found - bare / np.linalg.norm(bare, axis=1, keepdims=True)).max() > 0.05


def test_a_library_that_only_looks_back_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_both_ways(folder)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "5.1.0")
    with pytest.raises(WeightsError, match=r"transformers 5\.1\.0.*transformers>=5\.2"):
        check_both_ways(folder)
    check_both_ways(make_gte(tmp_path / "causal", both_ways=False))


def test_a_damaged_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(WeightsError, match=r"tokenizer_config\.json cannot be read"):
        ending(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"add_eos_token": True}), encoding="utf-8")
    with pytest.raises(WeightsError, match="tokenizer in .* cannot be loaded"):
        ending(tmp_path)
