"""CRITIC: rows, rules, and coreference models, by a stand-in for the library and by the library itself."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Config
from shotad.core.errors import EvaluationError
from shotad.evaluation import Corpus, MetricContext, Result, Store, make_metric, score
from shotad.evaluation.metrics.critic import NO_CAST, Critic, layout, make_resolver, meant
from shotad.evaluation.metrics.pronouns import Document, named
from tests.evaluation.allmetrics import corpus_of

CAST = ("Tony Wendice", "Margot Wendice", "Mark Halliday")
HUMAN = ("Tony opens the door.", "He smiles at Margot.", "Rain falls.", "Mark leaves.")


def bench(rules: str = "paper", resolver: str = "plain", model: Path | None = None) -> MetricContext:
    critic = {"rules": rules, "resolver": resolver, "model": model and str(model)}
    config = {"compute": {"device": "cpu"}, "measures": {"critic": critic}}
    return MetricContext(Config.model_validate(config), Store())


def corpus(predicted: Sequence[str | None], human: Sequence[str] = HUMAN, film: str = "film") -> Corpus:
    return corpus_of(zip(human, predicted, strict=True), film=film, casts={film: CAST})


def scored(where: Corpus, rules: str = "paper") -> Result:
    on = bench(rules)
    return score(make_metric("critic", on), where, on)


def test_names_and_groups_of_the_human_ad() -> None:
    where = corpus(["Tony opens the door.", "He smiles at Margot.", "Tony waits.", "Mark leaves."])
    assert scored(where).value == 100.0
    assert scored(where, "code").value == 100.0
    assert scored(where, "all").value == 75.0
    assert scored(where, "all").rows[2].sums == (0.0, 1.0)
    human = ("Tony and Mark enter.", "They sit down.")
    assert scored(corpus(human, human)).scored == 2
    assert scored(corpus(human, human), "code").scored == 1
    small = corpus_of([("Nan waits.", None), ("A.", "")], casts={"film": ("Nan",)})
    assert [row.notes["predicted"] for row in scored(small, "code").rows] == [[], []], (
        "small letters are no name"
    )


def test_films_without_a_cast_are_told_of() -> None:
    cast, castless = corpus(HUMAN), corpus(HUMAN, film="b")
    result = scored(Corpus((*cast.items, *castless.items), cast.casts))
    assert result.scored == 3
    assert result.rows[4].value is None
    assert result.rows[4].notes == {"why": NO_CAST}
    assert any("4 ADs of 1 films have no cast list" in remark for remark in result.remarks)


@pytest.mark.parametrize("name", ["plian", "no_such_module:Class", f"{__name__}:NoSuchClass"])
def test_an_unknown_resolver_is_an_error(name: str) -> None:
    with pytest.raises(EvaluationError, match=name.partition(":")[2] or name):
        Critic("critic", bench(resolver=name))


WORDS = st.sampled_from(
    ["Tony", "Margot", "Mark", "Tony Wendice", "he", "she", "they", "him", "her", "the man", "and", "looks at",
     "waits", "Wiping his brow,", "who", "his", ".", "'", "’s", "Street", "Will", "Dr.", "-", "é", "1"]
)  # fmt: skip
LINES = st.lists(st.lists(WORDS, max_size=8).map(" ".join), min_size=1, max_size=6)


@given(LINES, st.sampled_from(["paper", "code", "all"]))
@settings(max_examples=80, deadline=None)
def test_any_text_is_as_good_as_itself(lines: list[str], rules: str) -> None:
    result = scored(corpus(lines, lines), rules)
    assert result.value in (None, 100.0)
    assert all(row.sums in ((0.0, 0.0), (1.0, 1.0)) for row in result.rows)


NAMES = ("Tony Wendice", "Margot Wendice", "Doc")
TOLD = ("Tony waits.", "He nods.", "Margo smiles at the doc.")


def spans(text: str, word: str, limit: int | None = None) -> list[tuple[int, int]]:
    """Where a word stands, the first ``limit`` times."""
    return [found.span() for found in re.finditer(word, text)][:limit]


def test_a_cluster_with_two_names_is_nobody() -> None:
    piece = layout(TOLD, NAMES)
    cluster = [
        place for name in ("Tony Wendice", "Margot Wendice", "He") for place in spans(piece[0], name, 1)
    ]
    assert meant(piece, [cluster], NAMES) == [set(), set(), set()]
    assert meant(piece, [cluster], NAMES, named(Document(TOLD, NAMES))) == [
        {"Tony Wendice"}, set(), {"Margot Wendice"},
    ]  # fmt: skip


class StandIn:
    """A model with the library's interface: ``he`` is always Tony. Texts over ``max_doc_len`` words are left
    out without a word, as there."""

    max_doc_len: int | None = None

    def __init__(self, model_name_or_path: str, device: str, nlp: Any, enable_progress_bar: bool) -> None:
        assert Path(model_name_or_path, "config.json").is_file()
        assert not enable_progress_bar
        self.nlp = nlp
        self.tokenizer = Words()

    def predict(self, texts: Sequence[str]) -> list[Any]:
        limit = self.max_doc_len
        return [said_of(text) for text in texts if limit is None or len(text.split()) <= limit]


def said_of(text: str) -> Any:
    """What the library gives back for a text."""

    def get_clusters(as_strings: bool = True) -> list[list[tuple[int, int] | None]]:
        assert not as_strings
        return [[*spans(text, "Tony Wendice", 1), None, *spans(text, "He")]]

    return SimpleNamespace(text=text, get_clusters=get_clusters)


class Short(StandIn):
    max_doc_len = 14


class Words:
    """A tokenizer that leaves words whole."""

    backend_tokenizer = SimpleNamespace(pre_tokenizer=SimpleNamespace(add_prefix_space=False))

    def __call__(self, words: list[str], is_split_into_words: bool) -> dict[str, list[int]]:
        assert is_split_into_words
        return {"input_ids": list(range(len(words)))}


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
            "is_progress_bar_enabled": lambda: True, "disable_progress_bars": lambda: None,
            "enable_progress_bars": lambda: None,
        },
    }  # fmt: skip
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


def test_sentences_mean_whom_the_clusters_say_also_in_parts(library: Path) -> None:
    document = Document(TOLD, NAMES)
    exact = make_resolver("fastcoref", bench("code", "fastcoref", library))
    assert exact.resolve([document]) == [((), ("Tony Wendice",), ())]
    named_too = make_resolver("fastcoref", bench("paper", "fastcoref", library))
    assert named_too.resolve([document]) == [(("Tony Wendice",), ("Tony Wendice",), ("Margot Wendice",))]
    # What is too long is read in parts, and told.
    resolver = make_resolver("lingmess", bench("code", "lingmess", library))
    lines = ("He nods once more.",) * 5
    assert resolver.resolve([Document(lines, NAMES)]) == [(("Tony Wendice",),) * 5]
    assert any("read in parts: 1" in remark for remark in resolver.remarks)


def test_the_metric_says_whose_weights_they_are(library: Path) -> None:
    on = bench("code", "fastcoref", library)
    metric = make_metric("critic", on)
    result = score(metric, corpus_of(zip(TOLD, TOLD, strict=True), casts={"film": NAMES}), on)
    assert result.value == 100.0
    assert result.scored == 1
    assert not result.comparable
    assert library.name in result.remarks[0]
    assert result.identity["library"] == "2.1.6"
    assert result.identity["exact"]
    # The published model's are comparable.
    assert make_resolver("fastcoref", bench("code", "fastcoref")).comparable
    assert not make_resolver("lingmess", bench("code", "lingmess")).comparable
    assert not make_metric("critic", bench("all", "fastcoref")).comparable
    # A folder without a model is an error.
    (library / "model.safetensors").unlink()
    with pytest.raises(EvaluationError, match="holds no coreference model"):
        _ = make_resolver("fastcoref", bench("code", "fastcoref", library)).identity


def test_a_model_that_cannot_be_had_is_an_error(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")

    def gone(*args: object, **options: object) -> str:
        raise OSError("the network is down")

    monkeypatch.setattr(hub, "snapshot_download", gone)
    with pytest.raises(EvaluationError, match="biu-nlp/f-coref is not here.*network is down"):
        _ = make_resolver("fastcoref", bench("code", "fastcoref")).identity


@pytest.mark.skipif(importlib.util.find_spec("fastcoref") is not None, reason="fastcoref is installed")
def test_without_the_library_the_error_names_the_extra() -> None:
    with pytest.raises(EvaluationError, match=r'pip install "shotad\[coref\]"'):
        make_metric("critic", bench("code", "fastcoref"))
