"""CRITIC through a coreference model: the layout by hand, the adapter with a stand-in for the library, and the
library itself with tiny random models where it is installed."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import importlib.util
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from shotad.core import Config, EvaluationError, Interval
from shotad.evaluation import Corpus, MetricContext, Store
from shotad.evaluation.metric import Item, make_metric, score
from shotad.evaluation.metrics.coref import layout, meant, parts
from shotad.evaluation.metrics.critic import Document, make_resolver
from shotad.evaluation.metrics.pronouns import named

CAST = ("Tony Wendice", "Margot Wendice", "Doc")
LINES = ("Tony waits.", "He nods.", "Margo smiles at the doc.")
HAVE_LIBRARY = importlib.util.find_spec("fastcoref") is not None


def spans(text: str, *words: tuple[str, int]) -> list[tuple[int, int]]:
    """Where words stand: each with the number of its occurrence, from 0."""
    found = []
    for word, number in words:
        at = -1
        for _ in range(number + 1):
            at = text.index(word, at + 1)
        found.append((at, at + len(word)))
    return found


def test_the_cast_comes_first() -> None:
    piece = layout(LINES, CAST)
    assert piece.text == "Tony Wendice, Margot Wendice and Doc. Tony waits. He nods. Margo smiles at the doc."
    assert [piece.text[start:end] for start, end in piece.spans] == list(LINES)
    assert layout(["A."], ["Ann"]).text == "Ann. A."


def test_a_cluster_with_a_name_of_the_cast_is_that_one() -> None:
    piece = layout(LINES, CAST)
    cluster = spans(piece.text, ("Tony Wendice", 0), ("Tony", 1), ("He", 0))
    assert meant(piece, [cluster], CAST) == [{"Tony Wendice"}, {"Tony Wendice"}, set()]


def test_a_cluster_without_the_very_name_is_nobody_in_the_published_code() -> None:
    piece = layout(LINES, CAST)
    cluster = spans(piece.text, ("Tony", 1), ("He", 0))
    assert meant(piece, [cluster], CAST) == [set(), set(), set()]
    names = named(Document(LINES, CAST))
    assert meant(piece, [cluster], CAST, names)[:2] == [{"Tony Wendice"}, {"Tony Wendice"}]


def test_a_cluster_with_two_names_is_nobody() -> None:
    piece = layout(LINES, CAST)
    cluster = spans(piece.text, ("Tony Wendice", 0), ("Margot Wendice", 0), ("He", 0))
    assert meant(piece, [cluster], CAST) == [set(), set(), set()]
    assert meant(piece, [cluster], CAST, named(Document(LINES, CAST))) == [
        {"Tony Wendice"}, set(), {"Margot Wendice"},
    ]  # fmt: skip


def test_a_mention_over_two_sentences_counts_for_neither() -> None:
    piece = layout(LINES, CAST)
    cluster = [*spans(piece.text, ("Tony Wendice", 0)), spans(piece.text, ("waits. He", 0))[0]]
    assert meant(piece, [cluster], CAST) == [set(), set(), set()]


def test_a_possessive_mention_is_its_owner() -> None:
    piece = layout(("Tony's hand shakes.", "It is his."), CAST)
    cluster = spans(piece.text, ("Tony's", 0), ("his", 0))
    found = meant(piece, [cluster], CAST, named(Document(("Tony's hand shakes.", "It is his."), CAST)))
    assert found == [{"Tony Wendice"}, {"Tony Wendice"}]


def test_a_long_film_is_read_in_parts_each_with_the_cast() -> None:
    document = Document(tuple(f"Tony waits {n}." for n in range(10)), CAST)
    pieces = parts(document, lambda text: len(text) <= 100)
    assert all(len(piece.text) <= 100 for piece in pieces)
    assert [piece.first for piece in pieces] == [0, 3, 7, 10][: len(pieces)] or len(pieces) > 3
    read = [piece.text[start:end] for piece in pieces for start, end in piece.spans]
    assert read == list(document.sentences)
    assert all(piece.text.startswith("Tony Wendice, Margot") for piece in pieces)
    assert len(parts(document, lambda text: True)) == 1
    assert len(parts(document, lambda text: False)) == 10, "a sentence is never cut"
    assert len(parts(Document((), CAST), lambda text: False)) == 1


class Said:
    """What the library gives back for a text."""

    def __init__(self, text: str, clusters: list[list[tuple[int, int] | None]]) -> None:
        self.text, self._clusters = text, clusters

    def get_clusters(self, as_strings: bool = True) -> list[list[tuple[int, int] | None]]:
        assert not as_strings
        return self._clusters


class StandIn:
    """A model with the library's interface: ``he`` is always Tony. Texts over ``max_doc_len`` words are left
    out without a word, as there."""

    max_doc_len: int | None = None

    def __init__(self, model_name_or_path: str, device: str, nlp: Any, enable_progress_bar: bool) -> None:
        assert Path(model_name_or_path, "config.json").is_file()
        assert not enable_progress_bar
        self.nlp = nlp
        self.tokenizer = Words()
        self.read: list[str] = []

    def predict(self, texts: Sequence[str]) -> list[Said]:
        self.read += texts
        limit = self.max_doc_len
        return [
            Said(text, [[*spans(text, ("Tony Wendice", 0)), None, *spans(text, *_all(text, "He"))]])
            for text in texts
            if limit is None or len(text.split()) <= limit
        ]


class Short(StandIn):
    max_doc_len = 14


class Words:
    """A tokenizer that leaves words whole."""

    backend_tokenizer = SimpleNamespace(pre_tokenizer=SimpleNamespace(add_prefix_space=False))

    def __call__(self, words: list[str], is_split_into_words: bool) -> dict[str, list[int]]:
        assert is_split_into_words
        return {"input_ids": list(range(len(words)))}


def _all(text: str, word: str) -> list[tuple[str, int]]:
    return [(word, number) for number in range(text.count(word))]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A stand-in for fastcoref and what it brings along, and a folder that looks like a model."""
    modules = {
        "fastcoref": {"FCoref": StandIn, "LingMessCoref": Short},
        "fastcoref.coref_models": {},
        "fastcoref.coref_models.modeling_fcoref": {"FCorefModel": type("FCorefModel", (), {})},
        "fastcoref.coref_models.modeling_lingmess": {"LingMessModel": type("LingMessModel", (), {})},
        "spacy": {"blank": lambda language: lambda text: [SimpleNamespace(text=w) for w in text.split()]},
        "datasets": {
            "is_progress_bar_enabled": lambda: True,
            "disable_progress_bars": lambda: None,
            "enable_progress_bars": lambda: None,
        },
    }
    for name, content in modules.items():
        module = ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda n: "2.1.6" if n == "fastcoref" else version(n))
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    return tmp_path


def bench(resolver: str, rules: str, model: Path | None) -> MetricContext:
    settings = {"rules": rules, "resolver": resolver, "model": None if model is None else str(model)}
    return MetricContext(
        Config.model_validate({"compute": {"device": "cpu"}, "measures": {"critic": settings}}), Store()
    )


def test_sentences_mean_whom_the_clusters_say(library: Path) -> None:
    document = Document(LINES, CAST)
    exact = make_resolver("fastcoref", bench("fastcoref", "code", library))
    assert exact.resolve([document]) == [((), ("Tony Wendice",), ())]
    named_too = make_resolver("fastcoref", bench("fastcoref", "paper", library))
    assert named_too.resolve([document]) == [(("Tony Wendice",), ("Tony Wendice",), ("Margot Wendice",))]


def test_what_is_too_long_is_read_in_parts_and_told(library: Path) -> None:
    resolver = make_resolver("lingmess", bench("lingmess", "code", library))
    lines = ("He nods once more.",) * 5
    assert resolver.resolve([Document(lines, CAST)]) == [(("Tony Wendice",),) * 5]
    assert any("read in parts: 1" in remark for remark in resolver.remarks)


def test_no_answer_is_an_error(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StandIn, "predict", lambda self, texts: [])
    resolver = make_resolver("fastcoref", bench("fastcoref", "code", library))
    with pytest.raises(EvaluationError, match="gave no answer"):
        resolver.resolve([Document(LINES, CAST)])


def test_the_metric_says_whose_weights_they_are(library: Path) -> None:
    on = bench("fastcoref", "code", library)
    metric = make_metric("critic", on)
    items = tuple(Item(str(n), "f", Interval(n, n + 1), (text,), text) for n, text in enumerate(LINES))
    result = score(metric, Corpus(items, {"f": CAST}), on)
    assert result.value == 100.0
    assert result.scored == 1
    assert not result.comparable
    assert library.name in result.remarks[0]
    assert result.identity["library"] == "2.1.6"
    assert result.identity["exact"]


def test_another_model_is_another_identity(library: Path) -> None:
    before = make_resolver("fastcoref", bench("fastcoref", "code", library)).identity
    (library / "model.safetensors").write_bytes(b"others")
    assert make_resolver("fastcoref", bench("fastcoref", "code", library)).identity != before


def test_the_published_model_is_comparable(library: Path) -> None:
    assert make_resolver("fastcoref", bench("fastcoref", "code", None)).comparable
    assert not make_resolver("lingmess", bench("lingmess", "code", None)).comparable
    assert not make_metric("critic", bench("fastcoref", "all", None)).comparable


def test_a_folder_without_a_model_is_an_error(library: Path) -> None:
    (library / "model.safetensors").unlink()
    with pytest.raises(EvaluationError, match="holds no coreference model"):
        _ = make_resolver("fastcoref", bench("fastcoref", "code", library)).identity


def test_a_model_that_cannot_be_had_is_an_error(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")

    def gone(*args: object, **options: object) -> str:
        raise OSError("the network is down")

    monkeypatch.setattr(hub, "snapshot_download", gone)
    with pytest.raises(EvaluationError, match="biu-nlp/f-coref is not here.*network is down"):
        _ = make_resolver("fastcoref", bench("fastcoref", "code", None)).identity


def test_a_model_of_the_hub_is_fetched_where_the_cache_has_not_all_of_it(
    library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    part, whole = tmp_path / "snapshots" / "a1", tmp_path / "snapshots" / "b2"
    for folder in (part, whole):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    (whole / "pytorch_model.bin").write_bytes(b"weights")
    asked = []

    def snapshot(repo: str, *, allow_patterns: list[str], local_files_only: bool) -> str:
        asked.append((repo, local_files_only))
        return str(part if local_files_only else whole)

    monkeypatch.setattr(hub, "snapshot_download", snapshot)
    resolver = make_resolver("lingmess", bench("lingmess", "code", None))
    assert resolver.identity["revision"] == "b2"
    assert asked == [("biu-nlp/lingmess-coref", True), ("biu-nlp/lingmess-coref", False)]


@pytest.mark.skipif(HAVE_LIBRARY, reason="fastcoref is installed")
def test_without_the_library_the_error_names_the_extra() -> None:
    with pytest.raises(EvaluationError, match=r'pip install "shotad\[coref\]"'):
        make_metric("critic", bench("fastcoref", "code", None))


@pytest.mark.skipif(not HAVE_LIBRARY, reason="fastcoref is not installed (extra coref)")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["fastcoref", "lingmess"])
def test_the_library_itself_with_a_tiny_random_model(name: str, tmp_path: Path) -> None:
    _tiny(name, tmp_path)
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    document = Document(LINES * 40, CAST)
    for rules in ("code", "paper"):
        resolver = make_resolver(name, bench(name, rules, tmp_path))
        (found,) = resolver.resolve([document])
        assert len(found) == len(document.sentences)
        assert {person for people in found for person in people} <= set(CAST)
        assert resolver.resolve([document]) == [found]
        if rules == "paper":
            assert "Tony Wendice" in found[0]
        assert bool([remark for remark in resolver.remarks if "in parts" in remark]) == (name == "lingmess")
    assert (root.level, list(root.handlers)) == before


def _tiny(name: str, folder: Path) -> None:
    """A random model of the library's class, with the tokenizer files of the published ones."""
    torch = pytest.importorskip("torch")
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    from shotad.evaluation.metrics.coref import _fit_transformers, _quiet

    trained = tokenizers.ByteLevelBPETokenizer(add_prefix_space=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator([" ".join((*CAST, *LINES))] * 20, vocab_size=350, special_tokens=special)
    trained.save_model(str(folder))
    with _quiet():
        _fit_transformers()
        transformers.RobertaTokenizerFast.from_pretrained(str(folder), add_prefix_space=True).save_pretrained(
            str(folder)
        )
        shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
        head = {"max_span_length": 10, "top_lambda": 0.2, "ffnn_size": 16, "dropout_prob": 0.0}
        torch.manual_seed(0)
        if name == "fastcoref":
            from fastcoref.coref_models.modeling_fcoref import FCorefModel as Model

            config = transformers.RobertaConfig(vocab_size=400, max_position_embeddings=300, **shape)
            config.coref_head = {**head, "max_segment_len": 256}
        else:
            from fastcoref.coref_models.modeling_lingmess import LingMessModel as Model

            config = transformers.LongformerConfig(
                vocab_size=400, max_position_embeddings=400, attention_window=32, pad_token_id=1, **shape
            )
            config.coref_head = {**head, "max_segment_len": 300, "max_doc_len": 300}
        Model(config).save_pretrained(str(folder))
