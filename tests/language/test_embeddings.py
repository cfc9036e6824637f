"""Sentences and words as vectors: unit vectors, in order, of the layer that is asked for, from safetensors alone,
without code that models bring."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from shotad.core import ShotadError
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import WeightsError
from shotad.core.model_cache import CACHE
from shotad.script import Embedder, make_embedder
from shotad.script.embeddings import TokenEncoder, find_encoder, missing_end_token
from tests.conftest import needed

pytest.importorskip("transformers", reason="the extra language is not installed")

from tests.language.tiny_encoders import END, make_bert, make_gte, make_roberta, write

needed("sentence_transformers")

CPU = ComputeSettings(device="cpu")
OWN = "sentence_transformers.models"
TEXTS = ["Ann opens a door", "Bob sits", "a door", "Ann opens a door Bob sits a door"]


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


def test_the_identity_follows_the_files(tiny: Embedder, folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "tiny")
    again = make_embedder(str(other), CPU)
    assert again.of(TEXTS).tobytes() == tiny.of(TEXTS).tobytes()
    assert again.identity == tiny.identity
    pooling(other, "cls_token")
    assert make_embedder(str(other), CPU).identity != tiny.identity


def bring_code(place: Path) -> None:
    write(place / "modules.json", [{"path": "", "type": "modeling.Own"}])
    (place / "modeling.py").write_text("raise SystemExit('ran')", encoding="utf-8")


def bring_a_pickle(place: Path) -> None:
    kinds = [{"path": "", "type": f"{OWN}.Transformer"}, {"path": "2", "type": f"{OWN}.Dense"}]
    write(place / "modules.json", kinds)
    (place / "2").mkdir()
    (place / "2" / "pytorch_model.bin").touch()


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

    with CACHE.lent(make_embedder(str(folder), CPU).plan) as loaded, torch.no_grad():
        model = loaded.model[0].auto_model
        assert type(model).__module__ == "transformers.models.qwen2.modeling_qwen2"
        one, other = (
            model(input_ids=torch.tensor([ids])).last_hidden_state for ids in ([5, 6, 7], [5, 6, 8])
        )
        assert model(input_ids=torch.tensor([[5, 6]])).past_key_values is None
    return float((one - other)[0, 0].abs().max())


def test_a_language_model_runs_by_the_librarys_own_class_and_looks_both_ways(gte, tmp_path):
    assert first_change(gte) > 0.1
    assert first_change(make_gte(tmp_path / "causal", both_ways=False)) == 0


def test_the_vector_is_that_of_the_end_token_where_the_tokenizer_leaves_it_out(gte, tmp_path):
    from tokenizers import Tokenizer, processors

    embedder = make_embedder(str(gte), CPU)
    with CACHE.lent(embedder.plan) as loaded:
        bare, ended = (
            loaded.model.encode([f"Query: {text}{end}" for text in TEXTS], normalize_embeddings=True)
            for end in ("", END)
        )
    found = embedder.of(TEXTS, prompt="Query: ")
    assert found == pytest.approx(ended, abs=1e-5)
    assert abs(found - bare).max() > 0.05
    assert (
        missing_end_token(make_gte(tmp_path / "without", wants_end=False))
        == missing_end_token(tmp_path)
        == ""
    )
    own = shutil.copytree(gte, tmp_path / "own")
    inner = Tokenizer.from_file(str(own / "tokenizer.json"))
    inner.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, 0)])
    inner.save(str(own / "tokenizer.json"))
    assert missing_end_token(own) == ""
    for text, message in (("{", "cannot be read"), ('{"add_eos_token": true}', "cannot be loaded")):
        (tmp_path / "tokenizer_config.json").write_text(text, encoding="utf-8")
        with pytest.raises(WeightsError, match=message):
            missing_end_token(tmp_path)


WORDS = ["Ann opens a door.", "Bob sits", "", "She walks slowly up the stairs.", "Bob sits"]


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_roberta(tmp_path_factory.mktemp("models") / "roberta")


def test_each_token_has_a_unit_vector_and_marks_are_no_words(folder: Path) -> None:
    texts = TokenEncoder(find_encoder(str(folder)), 3, CPU).of(WORDS)
    assert [len(text[1]) for text in texts] == [7, 4, 2, 10, 4]
    assert [int(words.sum()) for _, words in texts] == [5, 2, 0, 8, 2]
    for text in texts:
        assert text[0].shape == (len(text[1]), 16)
        assert text[0].dtype == np.float32
        assert np.linalg.norm(text[0], axis=1) == pytest.approx(1, abs=1e-6)
        assert not text[1][0]
        assert not text[1][-1]
    assert (texts[1][0] == texts[4][0]).all()
    for batch in (1, 2):
        together = TokenEncoder(find_encoder(str(folder)), 3, CPU, batch=batch).of(WORDS)
        for one, other in zip(texts, together, strict=True):
            assert one[0] == pytest.approx(other[0], abs=1e-5)


ENCODERS: dict[str, dict[str, int]] = {
    "DistilBert": {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32},
    "T5": {"d_model": 16, "num_layers": 3, "num_heads": 2, "d_ff": 32, "d_kv": 8},
    "XLNet": {"d_model": 16, "n_layer": 3, "n_head": 2, "d_inner": 32},
}


@pytest.mark.parametrize("kind", ["Bert", *ENCODERS])
def test_a_layer_is_what_the_whole_model_has_there(kind: str, folder: Path, tmp_path: Path) -> None:
    import torch
    import transformers

    if kind != "Bert":
        torch.manual_seed(0)
        config = getattr(transformers, f"{kind}Config")(vocab_size=40, **ENCODERS[kind])
        transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
        for name in ("vocab.txt", "tokenizer_config.json"):
            shutil.copy(folder / name, tmp_path / name)
        folder = tmp_path
    model = transformers.AutoModel.from_pretrained(str(folder)).eval()
    encoder = model.get_encoder() if model.config.is_encoder_decoder else model
    ids = transformers.AutoTokenizer.from_pretrained(str(folder))([WORDS[0]], return_tensors="pt")
    with torch.inference_mode():
        states = encoder(ids["input_ids"], output_hidden_states=True).hidden_states
    place = find_encoder(str(folder))
    assert place.layers == 3
    for layer in (0, 2):
        wanted = torch.nn.functional.normalize(states[layer][0], dim=-1).numpy()
        assert TokenEncoder(place, layer, CPU).of(WORDS[:1])[0][0] == pytest.approx(wanted, abs=1e-5)
    with pytest.raises(WeightsError, match="has no layer 4. Name one of 0 to 3"):
        TokenEncoder(place, 4, CPU)


def test_roberta_reads_a_first_word_as_one_behind_a_space(folder: Path, roberta: Path) -> None:
    encoder = TokenEncoder(find_encoder(str(roberta)), 3, CPU)
    plain, spaced, doubled = encoder.of(["Bob sits", " Bob sits", "and Bob sits"])
    assert (plain[0] == spaced[0]).all()
    assert len(doubled[1]) == len(plain[1]) + 1
    for place in (folder, roberta):  # Long texts are cut off.
        (text,) = TokenEncoder(find_encoder(str(place)), 1, CPU).of(["Ann opens a door. " * 40])
        assert len(text[1]) == 64


def test_a_damaged_encoder_is_explained(folder: Path, tmp_path: Path) -> None:
    place = shutil.copytree(folder, tmp_path / "bert")
    (place / "model.safetensors").write_bytes(b"half")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        TokenEncoder(find_encoder(str(place)), 3, CPU)
    (place / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(WeightsError, match="cannot be read"):
        find_encoder(str(place))
    (place / "model.safetensors").unlink()
    with pytest.raises(WeightsError, match="holds no config.json with all of its safetensors"):
        find_encoder(str(place))


@pytest.mark.slow
def test_the_real_model_has_six_layers() -> None:
    place = find_encoder("minilm")
    assert place.layers == 6
    same, other = TokenEncoder(place, 6, CPU).of(["He opens the door.", "Two dogs swim."])
    assert same[0].shape == (7, 384)
    assert other[1].tolist() == [False, True, True, True, True, False]
