"""CRITIC: rows, rules, and coreference models, by a stand-in for the library and by the library itself."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Config
from shotad.core.errors import EvaluationError
from shotad.core.model_cache import CACHE
from shotad.evaluation import Corpus, MetricContext, Result, Store, make_metric, score
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
    assert result.rows[4].notes == {"why": "no cast list for this film"}
    assert any("4 ADs of 1 films have no cast list" in remark for remark in result.remarks)


@pytest.mark.parametrize("name", ["plian", "no_such_module:Class", f"{__name__}:NoSuchClass"])
def test_an_unknown_resolver_is_an_error(name: str) -> None:
    with pytest.raises(EvaluationError, match=name.partition(":")[2] or name):
        make_metric("critic", bench(resolver=name))


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
    return [match.span() for match in re.finditer(word, text)][:limit]


class StandIn:
    """A model with the library's interface, which takes mentions of these words for one person: each of them where it
    stands first, and ``He`` everywhere. Texts over ``max_doc_len`` words are left out without a word, as there."""

    max_doc_len: int | None = None
    mentions: ClassVar[tuple[str, ...]] = ("Tony Wendice",)

    def __init__(self, model_name_or_path: str, device: str, nlp: Any, enable_progress_bar: bool) -> None:
        assert Path(model_name_or_path, "config.json").is_file()
        assert not enable_progress_bar
        self.nlp = nlp
        self.tokenizer = Words()

    def predict(self, texts: Sequence[str]) -> list[Any]:
        limit = self.max_doc_len
        return [self._prediction(text) for text in texts if limit is None or len(text.split()) <= limit]

    def _prediction(self, text: str) -> Any:
        """What the library gives back for a text."""

        def get_clusters(as_strings: bool = True) -> list[list[tuple[int, int] | None]]:
            assert not as_strings
            names = [span for word in self.mentions for span in spans(text, word, 1)]
            return [[*names, None, *spans(text, "He")]]

        return SimpleNamespace(text=text, get_clusters=get_clusters)


class Short(StandIn):
    max_doc_len = 14


class TwoNames(StandIn):
    mentions = ("Tony Wendice", "Margot Wendice")


class OtherSpelling(StandIn):
    mentions = ("Tony's",)


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
    about = tmp_path / "site" / "fastcoref-2.1.6.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fastcoref\nVersion: 2.1.6\n")
    monkeypatch.syspath_prepend(str(about.parent))
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    return tmp_path


def people(
    lines: Sequence[str], rules: str, library: Path, resolver: str = "fastcoref"
) -> tuple[list[list[str]], Result]:
    """The characters that each line means, and the result in which they stand."""
    CACHE.clear()  # the library may be another stand-in now
    context = bench(rules, resolver, library)
    corpus = corpus_of(zip(lines, lines, strict=True), casts={"film": NAMES})
    result = score(make_metric("critic", context), corpus, context)
    return [row.notes["predicted"] for row in result.rows], result


def test_sentences_mean_the_people_of_the_clusters_also_in_parts(library: Path) -> None:
    assert people(TOLD, "code", library)[0] == [[], ["Tony Wendice"], []]
    assert people(TOLD, "paper", library)[0] == [["Tony Wendice"], ["Tony Wendice"], ["Margot Wendice"]]
    # What is too long is read in parts, and a remark says so.
    lines = ("He nods once more.",) * 5
    people_by_line, result = people(lines, "code", library, "lingmess")
    assert people_by_line == [["Tony Wendice"]] * 5
    assert any("read in parts: 1" in remark for remark in result.remarks)


def test_a_cluster_with_two_names_is_nobody_and_a_name_may_be_spelt_otherwise(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(sys.modules["fastcoref"]), "FCoref", TwoNames)
    assert people(TOLD, "code", library)[0] == [[], [], []]
    assert people(TOLD, "paper", library)[0] == [["Tony Wendice"], [], ["Margot Wendice"]]
    monkeypatch.setitem(vars(sys.modules["fastcoref"]), "FCoref", OtherSpelling)
    lines = ("Tony's hand shakes.", "He nods.")
    assert people(lines, "code", library)[0] == [[], []]
    assert people(lines, "paper", library)[0] == [["Tony Wendice"], ["Tony Wendice"]]


def test_the_metric_says_whose_weights_they_are(library: Path) -> None:
    _, result = people(TOLD, "code", library)
    assert result.value == 100.0
    assert result.scored == 1
    assert not result.comparable
    assert library.name in result.remarks[0]
    assert result.identity["library"] == "2.1.6"
    assert result.identity["exact"]
    # The published model's are comparable.
    assert make_metric("critic", bench("code", "fastcoref")).comparable
    assert not make_metric("critic", bench("code", "lingmess")).comparable
    assert not make_metric("critic", bench("all", "fastcoref")).comparable
    # A folder without a model is an error.
    (library / "model.safetensors").unlink()
    with pytest.raises(EvaluationError, match="holds no coreference model"):
        _ = make_metric("critic", bench("code", "fastcoref", library)).identity


def test_a_model_that_cannot_be_had_is_an_error(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*args: object, **options: object) -> str:
        raise OSError("the network is down")

    hub = ModuleType("huggingface_hub")
    vars(hub).update(snapshot_download=gone, errors=SimpleNamespace(HfHubHTTPError=RuntimeError))
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    with pytest.raises(EvaluationError, match="biu-nlp/f-coref is not here.*network is down"):
        _ = make_metric("critic", bench("code", "fastcoref")).identity


@pytest.mark.skipif(importlib.util.find_spec("fastcoref") is not None, reason="fastcoref is installed")
def test_without_the_library_the_error_names_the_extra() -> None:
    with pytest.raises(EvaluationError, match=r'pip install "shotad\[coref\]"'):
        make_metric("critic", bench("code", "fastcoref"))
