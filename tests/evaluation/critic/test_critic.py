"""CRITIC: rows, rules, and coreference models, by a stand-in for the library and by the library itself."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Config, EvaluationError, Interval
from shotad.evaluation import Corpus, Item, MetricContext, Result, Store, make_metric, score
from shotad.evaluation.metrics.critic import NO_CAST, Critic, layout, make_resolver, meant
from shotad.evaluation.metrics.pronouns import Document, named

CAST = ("Tony Wendice", "Margot Wendice", "Mark Halliday")
HUMAN = ("Tony opens the door.", "He smiles at Margot.", "Rain falls.", "Mark leaves.")


def bench(rules: str = "paper", resolver: str = "plain", store: Store | None = None) -> MetricContext:
    config = Config.model_validate({"measures": {"critic": {"rules": rules, "resolver": resolver}}})
    return MetricContext(config, store or Store())


def corpus(predicted: Sequence[str | None], human: Sequence[str] = HUMAN, film: str = "film") -> Corpus:
    items = tuple(
        Item(f"{film}-{n}", film, Interval(10.0 * n, 10.0 * n + 2), (text,), said)
        for n, (text, said) in enumerate(zip(human, predicted, strict=True))
    )
    return Corpus(items, {film: CAST})


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
    items = (
        Item("a", "film", Interval(0, 1), ("Nan waits.",), None),
        Item("b", "film", Interval(1, 2), ("A.",), ""),
    )
    found = [row.notes["predicted"] for row in scored(Corpus(items, {"film": ("Nan",)}), "code").rows]
    assert found == [[], []], "small letters are no name"


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


def test_a_cluster_with_two_names_is_nobody() -> None:
    piece = layout(TOLD, NAMES)
    cluster = spans(piece.text, ("Tony Wendice", 0), ("Margot Wendice", 0), ("He", 0))
    assert meant(piece, [cluster], NAMES) == [set(), set(), set()]
    assert meant(piece, [cluster], NAMES, named(Document(TOLD, NAMES))) == [
        {"Tony Wendice"}, set(), {"Margot Wendice"},
    ]  # fmt: skip


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


def model_bench(resolver: str, rules: str, model: Path | None) -> MetricContext:
    critic = {"rules": rules, "resolver": resolver, "model": None if model is None else str(model)}
    config = {"compute": {"device": "cpu"}, "measures": {"critic": critic}}
    return MetricContext(Config.model_validate(config), Store())


def test_sentences_mean_whom_the_clusters_say(library: Path) -> None:
    document = Document(TOLD, NAMES)
    exact = make_resolver("fastcoref", model_bench("fastcoref", "code", library))
    assert exact.resolve([document]) == [((), ("Tony Wendice",), ())]
    named_too = make_resolver("fastcoref", model_bench("fastcoref", "paper", library))
    assert named_too.resolve([document]) == [(("Tony Wendice",), ("Tony Wendice",), ("Margot Wendice",))]


def test_what_is_too_long_is_read_in_parts_and_told(library: Path) -> None:
    resolver = make_resolver("lingmess", model_bench("lingmess", "code", library))
    lines = ("He nods once more.",) * 5
    assert resolver.resolve([Document(lines, NAMES)]) == [(("Tony Wendice",),) * 5]
    assert any("read in parts: 1" in remark for remark in resolver.remarks)


def test_the_metric_says_whose_weights_they_are(library: Path) -> None:
    on = model_bench("fastcoref", "code", library)
    metric = make_metric("critic", on)
    items = tuple(Item(str(n), "f", Interval(n, n + 1), (text,), text) for n, text in enumerate(TOLD))
    result = score(metric, Corpus(items, {"f": NAMES}), on)
    assert result.value == 100.0
    assert result.scored == 1
    assert not result.comparable
    assert library.name in result.remarks[0]
    assert result.identity["library"] == "2.1.6"
    assert result.identity["exact"]
    assert result.identity["exact"]
    # The published model's are comparable.
    assert make_resolver("fastcoref", model_bench("fastcoref", "code", None)).comparable
    assert not make_resolver("lingmess", model_bench("lingmess", "code", None)).comparable
    assert not make_metric("critic", model_bench("fastcoref", "all", None)).comparable
    # A folder without a model is an error.
    (library / "model.safetensors").unlink()
    with pytest.raises(EvaluationError, match="holds no coreference model"):
        _ = make_resolver("fastcoref", model_bench("fastcoref", "code", library)).identity


def test_a_model_that_cannot_be_had_is_an_error(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")

    def gone(*args: object, **options: object) -> str:
        raise OSError("the network is down")

    monkeypatch.setattr(hub, "snapshot_download", gone)
    with pytest.raises(EvaluationError, match="biu-nlp/f-coref is not here.*network is down"):
        _ = make_resolver("fastcoref", model_bench("fastcoref", "code", None)).identity


@pytest.mark.skipif(HAVE_LIBRARY, reason="fastcoref is installed")
def test_without_the_library_the_error_names_the_extra() -> None:
    with pytest.raises(EvaluationError, match=r'pip install "shotad\[coref\]"'):
        make_metric("critic", model_bench("fastcoref", "code", None))
