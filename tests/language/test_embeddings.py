"""Sentence embeddings: unit vectors, in order, from safetensors alone, without code that models bring."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import ComputeSettings, ShotadError, WeightsError
from shotad.script import Embedder, make_embedder
from shotad.script.embeddings import ending
from tests.conftest import needed

pytest.importorskip("transformers", reason="the extra language is not installed")

from tests.language.tiny_encoders import END, make_bert, make_gte

needed("sentence_transformers")

CPU = ComputeSettings(device="cpu")
OWN = "sentence_transformers.models"
TEXTS = ["Ann opens a door", "Bob sits", "a door", "Ann opens a door Bob sits a door"]


def write(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def pooling(place: Path, mode: str) -> None:
    write(place / "1_Pooling" / "config.json", {"word_embedding_dimension": 16, f"pooling_mode_{mode}": True})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT, as sentence-transformers keeps it."""
    place = make_bert(tmp_path_factory.mktemp("models") / "tiny")
    kinds = [("", f"{OWN}.Transformer"), ("1_Pooling", f"{OWN}.Pooling")]
    rows = [{"idx": k, "name": str(k), "path": path, "type": kind} for k, (path, kind) in enumerate(kinds)]
    write(place / "modules.json", rows)
    pooling(place, "mean_tokens")
    return place


@pytest.fixture(scope="module")
def tiny(folder: Path) -> Embedder:
    return make_embedder(str(folder), CPU)


@pytest.fixture(scope="module")
def gte(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_gte(tmp_path_factory.mktemp("models") / "gte-Qwen2-7B-instruct")


def test_each_text_gets_a_unit_vector_in_order_behind_its_prompt(folder: Path, tiny: Embedder) -> None:
    vectors = tiny.of(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((4, 16), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    assert vectors == pytest.approx(np.concatenate([tiny.of([text]) for text in TEXTS]), abs=1e-5)
    assert abs(vectors[0] - vectors[1]).max() > 1e-3
    assert tiny.of([]).shape == (0, 16)
    assert tiny.of(["sits"], prompt="Bob ") == pytest.approx(tiny.of(["Bob sits"]), abs=1e-5)
    again = make_embedder(str(folder), CPU)
    assert again.of(TEXTS).tobytes() == vectors.tobytes()
    assert again.identity == tiny.identity


def test_the_identity_follows_the_files(folder: Path, tiny: Embedder, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "tiny")
    assert make_embedder(str(other), CPU).identity == tiny.identity
    pooling(other, "cls_token")
    assert make_embedder(str(other), CPU).identity != tiny.identity


def bring_code(place: Path) -> None:
    write(place / "modules.json", [{"path": "", "type": "modeling.Own"}])
    (place / "modeling.py").write_text("raise SystemExit('ran')", encoding="utf-8")


def bring_a_pickle(place: Path) -> None:
    kinds = [{"path": "", "type": f"{OWN}.Transformer"}, {"path": "2", "type": f"{OWN}.Dense"}]
    write(place / "modules.json", kinds)
    write(place / "2" / "pytorch_model.bin", "pickle")


REFUSED: list[tuple[Callable[[Path], object], str]] = [
    (bring_code, r"brings code of its own \(modeling\.Own\)"),
    (bring_a_pickle, "2 has no safetensors"),
    (lambda place: (place / "model.safetensors").rename(place / "pytorch_model.bin"), "has no safetensors"),
    (lambda place: (place / "modules.json").unlink(), r"modules\.json cannot be read"),
    (lambda place: (place / "model.safetensors").write_bytes(b"half"), "cannot be loaded"),
]


@pytest.mark.parametrize(("harm", "message"), REFUSED)
def test_what_is_not_loaded(harm, message, folder, tmp_path):
    place = shutil.copytree(folder, tmp_path / "other")
    harm(place)
    with pytest.raises(WeightsError, match=message):
        make_embedder(str(place), CPU)


def test_an_unknown_name_and_a_missing_library_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WeightsError, match="'minilmm'.*Known: minilm"):
        make_embedder("minilmm", CPU)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ShotadError, match=r"shotad\[language\]"):
        make_embedder("minilm", CPU)


@pytest.mark.slow
def test_the_real_model_knows_what_is_alike() -> None:
    model = make_embedder(compute=CPU)
    one, same, other = model.of(["A man opens the door.", "The door is opened by a man.", "Two dogs swim."])
    assert one @ same > 0.8
    assert one @ other < 0.3
    assert model.identity.model == "minilm"


def first_change(folder: Path) -> float:
    """How much the first word's state changes where the last word is another."""
    import torch

    model: Any = make_embedder(str(folder), CPU)._model[0].auto_model  # type: ignore[attr-defined]
    assert type(model).__module__ == "transformers.models.qwen2.modeling_qwen2"
    with torch.no_grad():
        one, other = (
            model(input_ids=torch.tensor([ids])).last_hidden_state for ids in ([5, 6, 7], [5, 6, 8])
        )
    return float((one - other)[0, 0].abs().max())


def test_a_language_model_runs_by_the_librarys_own_class_and_looks_both_ways(gte, tmp_path):
    causal = make_gte(tmp_path / "causal", both_ways=False)
    assert first_change(gte) > 0.1
    assert first_change(causal) == 0


def test_the_vector_is_that_of_the_end_token_where_the_tokenizer_leaves_it_out(gte, tmp_path):
    from tokenizers import Tokenizer, processors

    embedder = make_embedder(str(gte), CPU)
    bare, ended = (
        embedder._model.encode([f"Query: {text}{end}" for text in TEXTS], normalize_embeddings=True)  # type: ignore[attr-defined]
        for end in ("", END)
    )
    found = embedder.of(TEXTS, prompt="Query: ")
    assert found == pytest.approx(ended, abs=1e-5)
    assert abs(found - bare).max() > 0.05
    assert ending(make_gte(tmp_path / "without", wants_end=False)) == ending(tmp_path) == ""
    own = shutil.copytree(gte, tmp_path / "own")
    inner = Tokenizer.from_file(str(own / "tokenizer.json"))
    inner.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, 0)])
    inner.save(str(own / "tokenizer.json"))
    assert ending(own) == ""
    for text, message in (("{", "cannot be read"), ('{"add_eos_token": true}', "cannot be loaded")):
        (tmp_path / "tokenizer_config.json").write_text(text, encoding="utf-8")
        with pytest.raises(WeightsError, match=message):
            ending(tmp_path)
