"""Tokens as vectors: in order, of the layer that is asked for, without padding, from safetensors alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from shotad.core import ComputeSettings, WeightsError
from shotad.script import TokenEncoder, locate

pytest.importorskip("transformers", reason="the extra language is not installed")

from tests.language.tiny_encoders import make_bert, make_roberta

CPU = ComputeSettings(device="cpu")
TEXTS = ["Ann opens a door.", "Bob sits", "", "She walks slowly up the stairs.", "Bob sits"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_roberta(tmp_path_factory.mktemp("models") / "roberta")


def test_each_token_has_a_unit_vector_and_marks_are_no_words(bert: Path) -> None:
    texts = TokenEncoder(locate(str(bert)), 3, CPU).of(TEXTS)
    assert [len(text.words) for text in texts] == [7, 4, 2, 10, 4]
    assert [int(text.words.sum()) for text in texts] == [5, 2, 0, 8, 2]
    for text in texts:
        assert text.vectors.shape == (len(text.words), 16)
        assert text.vectors.dtype == np.float32
        assert np.linalg.norm(text.vectors, axis=1) == pytest.approx(1, abs=1e-6)
        assert not text.words[0]
        assert not text.words[-1]
    assert (texts[1].vectors == texts[4].vectors).all()
    for batch in (1, 2):
        together = TokenEncoder(locate(str(bert)), 3, CPU, batch=batch).of(TEXTS)
        for one, other in zip(texts, together, strict=True):
            assert one.vectors == pytest.approx(other.vectors, abs=1e-5)


def check_layers(folder: Path) -> None:
    """Each layer gives what the whole model has there."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(str(folder)).eval()
    encoder = model.get_encoder() if model.config.is_encoder_decoder else model
    ids = AutoTokenizer.from_pretrained(str(folder))([TEXTS[0]], return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        states = encoder(ids, output_hidden_states=True).hidden_states
    place = locate(str(folder))
    assert place.layers == 3
    for layer in (0, 2):
        wanted = torch.nn.functional.normalize(states[layer][0], dim=-1).numpy()
        assert TokenEncoder(place, layer, CPU).of(TEXTS[:1])[0].vectors == pytest.approx(wanted, abs=1e-5)


def test_a_layer_is_what_the_whole_model_has_there(bert: Path) -> None:
    check_layers(bert)
    with pytest.raises(WeightsError, match="bert has no layer 4. Name one of 0 to 3"):
        TokenEncoder(locate(str(bert)), 4, CPU)


@pytest.mark.parametrize("kind", ["DistilBert", "Deberta", "T5", "XLNet"])
def test_encoders_of_other_makes_stop_behind_a_layer_too(kind: str, bert: Path, tmp_path: Path) -> None:
    import torch
    import transformers

    sizes = {
        "DistilBert": {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32},
        "T5": {"d_model": 16, "num_layers": 3, "num_heads": 2, "d_ff": 32, "d_kv": 8},
        "XLNet": {"d_model": 16, "n_layer": 3, "n_head": 2, "d_inner": 32},
    }
    usual = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
    config = getattr(transformers, f"{kind}Config")(vocab_size=40, **sizes.get(kind, usual))
    torch.manual_seed(0)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(bert / name, tmp_path / name)
    check_layers(tmp_path)


def test_roberta_reads_a_first_word_as_one_behind_a_space(bert: Path, roberta: Path) -> None:
    encoder = TokenEncoder(locate(str(roberta)), 3, CPU)
    plain, spaced, doubled = encoder.of(["Bob sits", " Bob sits", "and Bob sits"])
    assert (plain.vectors == spaced.vectors).all()
    assert len(doubled.words) == len(plain.words) + 1
    for folder in (bert, roberta):  # Long texts are cut off.
        (text,) = TokenEncoder(locate(str(folder)), 1, CPU).of(["Ann opens a door. " * 40])
        assert len(text.words) == 64


def test_a_damaged_model_is_explained(bert: Path, tmp_path: Path) -> None:
    other = shutil.copytree(bert, tmp_path / "bert")
    (other / "model.safetensors").write_bytes(b"half")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        TokenEncoder(locate(str(other)), 3, CPU)
    (other / "model.safetensors").rename(other / "pytorch_model.bin")
    with pytest.raises(WeightsError, match="holds no config.json with all of its safetensors"):
        locate(str(other))
    (other / "pytorch_model.bin").rename(other / "model.safetensors")
    (other / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(WeightsError, match="cannot be read"):
        locate(str(other))


@pytest.mark.slow
def test_the_real_model_has_six_layers() -> None:
    place = locate("minilm")
    assert place.layers == 6
    same, other = TokenEncoder(place, 6, CPU).of(["He opens the door.", "Two dogs swim."])
    assert same.vectors.shape == (7, 384)
    assert other.words.tolist() == [False, True, True, True, True, False]
