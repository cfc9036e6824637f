"""Tokens as vectors: in order, of the layer that is asked for, without padding, from safetensors alone."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from shotad.core import ComputeSettings, ShotadError, WeightsError
from shotad.script import TokenEncoder, check_name, locate

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


@pytest.mark.parametrize("batch", [1, 2, 64])
def test_what_is_encoded_together_changes_only_the_last_bits(bert: Path, batch: int) -> None:
    place = locate(str(bert))
    alone = [TokenEncoder(place, 3, CPU).of([text])[0] for text in TEXTS]
    together = TokenEncoder(place, 3, CPU, batch=batch).of(TEXTS)
    for one, other in zip(alone, together, strict=True):
        assert one.vectors == pytest.approx(other.vectors, abs=1e-5)


def test_a_layer_is_what_the_whole_model_has_there(bert: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(str(bert)).eval()
    ids = AutoTokenizer.from_pretrained(str(bert))([TEXTS[0]], return_tensors="pt")
    with torch.inference_mode():
        states = model(**ids, output_hidden_states=True).hidden_states
    for layer in range(4):
        wanted = torch.nn.functional.normalize(states[layer][0], dim=-1).numpy()
        assert TokenEncoder(locate(str(bert)), layer, CPU).of(TEXTS[:1])[0].vectors == pytest.approx(
            wanted, abs=1e-5
        )


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
    model = transformers.AutoModel.from_config(config).eval()
    model.save_pretrained(tmp_path)
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(bert / name, tmp_path / name)
    place = locate(str(tmp_path))
    assert place.layers == 3
    encoder = model.get_encoder() if config.is_encoder_decoder else model
    ids = transformers.AutoTokenizer.from_pretrained(str(bert))([TEXTS[0]], return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        states = encoder(ids, output_hidden_states=True).hidden_states
    wanted = torch.nn.functional.normalize(states[2][0], dim=-1).numpy()
    assert TokenEncoder(place, 2, CPU).of(TEXTS[:1])[0].vectors == pytest.approx(wanted, abs=1e-5)


def test_a_layer_that_is_not_there_is_refused(bert: Path) -> None:
    with pytest.raises(WeightsError, match="bert has no layer 4. Name one of 0 to 3"):
        TokenEncoder(locate(str(bert)), 4, CPU)


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_long_texts_are_cut_off(name: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(name)
    text = TokenEncoder(locate(str(folder)), 1, CPU).of(["Ann opens a door. " * 40])[0]
    assert len(text.words) == 64


def test_roberta_reads_a_first_word_as_one_behind_a_space(roberta: Path) -> None:
    encoder = TokenEncoder(locate(str(roberta)), 3, CPU)
    plain, spaced, doubled = encoder.of(["Bob sits", " Bob sits", "and Bob sits"])
    assert (plain.vectors == spaced.vectors).all()
    assert len(doubled.words) == len(plain.words) + 1


def test_the_identity_follows_the_files(bert: Path, tmp_path: Path) -> None:
    other = shutil.copytree(bert, tmp_path / "bert")
    assert locate(str(other)).identity == locate(str(bert)).identity
    (other / "vocab.txt").write_text((other / "vocab.txt").read_text() + "\nmore", encoding="utf-8")
    assert locate(str(other)).identity != locate(str(bert)).identity


def test_pickles_are_not_read(bert: Path, tmp_path: Path) -> None:
    other = shutil.copytree(bert, tmp_path / "bert")
    (other / "model.safetensors").rename(other / "pytorch_model.bin")
    with pytest.raises(WeightsError, match="holds no config.json with all of its safetensors"):
        locate(str(other))


def test_a_damaged_model_is_explained(bert: Path, tmp_path: Path) -> None:
    other = shutil.copytree(bert, tmp_path / "bert")
    (other / "model.safetensors").write_bytes(b"half")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        TokenEncoder(locate(str(other)), 3, CPU)
    (other / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(WeightsError, match="cannot be read"):
        locate(str(other))


def test_an_unknown_name_says_what_is_known() -> None:
    with pytest.raises(WeightsError, match="no encoder 'minilmm'. Known: minilm"):
        check_name("minilmm")


def test_without_the_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ShotadError, match=r"shotad\[language\]"):
        check_name("minilm")


@pytest.mark.slow
def test_the_real_model_has_six_layers() -> None:
    place = locate("minilm")
    assert place.layers == 6
    same, other = TokenEncoder(place, 6, CPU).of(["He opens the door.", "Two dogs swim."])
    assert same.vectors.shape == (7, 384)
    assert other.words.tolist() == [False, True, True, True, True, False]
