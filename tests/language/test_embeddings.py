"""Sentence embeddings: unit vectors, in order, from safetensors alone, without code that models bring."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from shotad.core import ComputeSettings, ShotadError, WeightsError
from shotad.script import Embedder, embeddings, make_embedder

pytest.importorskip("sentence_transformers", reason="the extra language is not installed")

CPU = ComputeSettings(device="cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with random weights, as sentence-transformers keeps it."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    place = tmp_path_factory.mktemp("models") / "tiny"
    place.mkdir()
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "ann",
        "opens",
        "a",
        "door",
        "bob",
        "sits",
        "query",
        ":",
    ]
    (place / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    BertModel(config).save_pretrained(place)
    tokenizer = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 64}
    (place / "tokenizer_config.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    own = "sentence_transformers.models"
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{own}.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{own}.Pooling"},
    ]
    (place / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (place / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    (place / "1_Pooling" / "config.json").write_text(json.dumps(pooling), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def tiny(folder: Path) -> Embedder:
    return make_embedder(str(folder), CPU)


TEXTS = ["Ann opens a door", "Bob sits", "a door", "Ann opens a door Bob sits a door"]


def test_each_text_gets_a_unit_vector_in_order(tiny: Embedder) -> None:
    vectors = tiny.of(TEXTS)
    assert vectors.shape == (4, 16)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    alone = np.concatenate([tiny.of([text]) for text in TEXTS])
    assert vectors == pytest.approx(alone, abs=1e-5)
    assert abs(vectors[0] - vectors[1]).max() > 1e-3


def test_the_same_texts_give_the_same_bytes(folder: Path, tiny: Embedder) -> None:
    again = make_embedder(str(folder), CPU)
    assert again.of(TEXTS).tobytes() == tiny.of(TEXTS).tobytes()
    assert again.identity == tiny.identity


def test_no_text_gives_no_vector(tiny: Embedder) -> None:
    assert tiny.of([]).shape == (0, 16)


def test_a_prompt_stands_before_each_text(tiny: Embedder) -> None:
    assert tiny.of(["Bob sits"], prompt="query : ") == pytest.approx(tiny.of(["query : Bob sits"]), abs=1e-5)


def test_the_identity_follows_the_files(folder: Path, tiny: Embedder, tmp_path: Path) -> None:
    other = tmp_path / "tiny"
    for path in folder.rglob("*"):
        if path.is_file():
            target = other / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    assert make_embedder(str(other), CPU).identity == tiny.identity
    (other / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 16, "pooling_mode_cls_token": True}), encoding="utf-8"
    )
    changed = make_embedder(str(other), CPU)
    assert changed.identity != tiny.identity
    assert abs(changed.of(TEXTS) - tiny.of(TEXTS)).max() > 1e-3


def copy_with(folder: Path, place: Path, modules: object) -> Path:
    place.mkdir()
    for name in ("config.json", "model.safetensors"):
        (place / name).write_bytes((folder / name).read_bytes())
    (place / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    return place


def test_code_that_a_model_brings_is_not_run(folder: Path, tmp_path: Path) -> None:
    place = copy_with(folder, tmp_path / "own", [{"path": "", "type": "modeling.Own"}])
    (place / "modeling.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    with pytest.raises(WeightsError, match=r"brings code of its own \(modeling\.Own\)"):
        make_embedder(str(place), CPU)


def test_pickles_are_not_read(folder: Path, tmp_path: Path) -> None:
    own = "sentence_transformers.models"
    modules = [{"path": "", "type": f"{own}.Transformer"}, {"path": "2_Dense", "type": f"{own}.Dense"}]
    place = copy_with(folder, tmp_path / "dense", modules)
    (place / "2_Dense").mkdir()
    (place / "2_Dense" / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(WeightsError, match="2_Dense has no safetensors"):
        make_embedder(str(place), CPU)
    (place / "model.safetensors").rename(place / "pytorch_model.bin")
    with pytest.raises(WeightsError, match="has no safetensors"):
        make_embedder(str(place), CPU)


def test_a_folder_that_does_not_say_how_words_are_joined_is_refused(folder: Path, tmp_path: Path) -> None:
    place = copy_with(folder, tmp_path / "bare", [])
    (place / "modules.json").unlink()
    with pytest.raises(WeightsError, match=r"modules\.json cannot be read"):
        make_embedder(str(place), CPU)


def test_a_damaged_model_is_explained(folder: Path, tmp_path: Path) -> None:
    place = copy_with(
        folder, tmp_path / "half", [{"path": "", "type": "sentence_transformers.models.Transformer"}]
    )
    (place / "model.safetensors").write_bytes(b"half")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        make_embedder(str(place), CPU)


def test_an_unknown_name_says_what_is_known() -> None:
    with pytest.raises(WeightsError, match="'minilmm'.*Known: minilm"):
        make_embedder("minilmm", CPU)


def test_without_the_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ShotadError, match=r"shotad\[language\]"):
        make_embedder(embeddings.DEFAULT, CPU)


@pytest.mark.slow
def test_the_real_model_knows_what_is_alike() -> None:
    model = make_embedder(compute=CPU)
    one, same, other = model.of(["A man opens the door.", "The door is opened by a man.", "Two dogs swim."])
    assert one @ same > 0.8
    assert one @ other < 0.3
    assert model.identity.model == "minilm"
