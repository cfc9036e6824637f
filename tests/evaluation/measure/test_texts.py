"""Vectors and parses of texts: counted once, kept, and loaded only when something new comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Config, WeightsError
from shotad.evaluation import MetricContext, Store, store as room
from shotad.evaluation.store import INSTRUCTIONS, parser_of, vectors_of
from shotad.script import Parse, ParserModel, Token
from tests.evaluation.action.parsed import WordVectors


class Words:
    """Parses a text into its words, a verb each. Counts its work."""

    counted: list[str]
    loaded = 0

    def __init__(self, model: ParserModel, batch: int) -> None:
        type(self).loaded += 1

    def of(self, texts: Sequence[str]) -> Iterator[Parse]:
        for text in texts:
            self.counted.append(text)
            yield Parse(
                tuple(Token(w, w, "VERB", "VBZ", "ROOT", k, k == 0, True) for k, w in enumerate(text.split()))
            )


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> WordVectors:
    """The vectors' model and the parser are fakes that count."""
    embedder = WordVectors()
    Words.counted, Words.loaded = [], 0
    monkeypatch.setattr(room, "check_installed", lambda: None)
    monkeypatch.setattr(room, "make_embedder", lambda *_, **__: embedder)
    monkeypatch.setattr(room, "Parser", Words)
    monkeypatch.setattr(room, "find_parser", lambda *_: ParserModel("words", "1", "words"))
    monkeypatch.setattr(ParserModel, "identity", property(lambda self: {"model": self.name}))
    return embedder


def bench_of(store: Store, **embedding: Any) -> MetricContext:
    return MetricContext(Config.model_validate({"measures": {"embedding": embedding}}), store)


def test_each_text_is_encoded_once_whatever_the_order(words: WordVectors) -> None:
    service = vectors_of(bench_of(Store()))
    found = service.of(["a dog", "a cat", "a dog"])
    assert found.shape == (3, 64)
    assert found[0].tobytes() == found[2].tobytes()
    assert sorted(words.counted) == ["a cat", "a dog"]
    again = service.of(["a cat", "new", "a dog"])
    assert again[[2, 0]].tobytes() == found[:2].tobytes()
    assert sorted(words.counted) == ["a cat", "a dog", "new"]
    assert service.of([]).shape == (0, 0)


def test_another_run_finds_them_and_loads_no_model(
    words: WordVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path / "kept") as store:
        first = vectors_of(bench_of(store)).of(["a dog", "a cat"])
        parses = parser_of(bench_of(store)).of(["a dog"])
    monkeypatch.setattr(room, "make_embedder", None)
    monkeypatch.setattr(room, "Parser", None)
    with Store(tmp_path / "kept") as store:
        assert vectors_of(bench_of(store)).of(["a cat", "a dog"])[::-1].tobytes() == first.tobytes()
        assert parser_of(bench_of(store)).of(["a dog"]) == parses


def test_prompts_and_models_do_not_mix(
    words: WordVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store()
    service = vectors_of(bench_of(store))
    assert abs(service.of(["a dog"]) - service.of(["a dog"], prompt="Find: ")).max() > 0.01
    assert words.counted == ["a dog", "Find: a dog"]
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    vectors_of(bench_of(store, model=str(tmp_path))).of(["a dog"])
    assert words.counted[2:] == ["a dog"]


def test_long_texts_are_cut_and_the_cut_is_the_key(
    words: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LONGEST", 5)
    service = vectors_of(bench_of(Store()))
    found = service.of(["a dog barks", "a dog", "a dogged"])
    assert words.counted == ["a dog"]
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


def test_the_instruction_is_the_papers_or_the_codes(words: WordVectors) -> None:
    assert vectors_of(bench_of(Store())).instruction == ""
    for name, ends in (
        ("paper", "focus on the verbs.\nQuery: "),
        ("code", "particularly on the verbs\nQuery: "),
    ):
        told = vectors_of(bench_of(Store(), instruction=name)).instruction
        assert told == INSTRUCTIONS[name]
        assert told.startswith("Instruct: ")
        assert told.endswith(ends)


def test_an_unknown_model_is_refused() -> None:
    pytest.importorskip("sentence_transformers", reason="the extra language is not installed")
    with pytest.raises(WeightsError, match="no embedding model 'minilmm'"):
        _ = vectors_of(bench_of(Store(), model="minilmm")).identity


def test_each_text_is_taken_apart_once(words: WordVectors) -> None:
    bench = bench_of(Store())
    found = parser_of(bench).of(["b c", "a", "b c"])
    assert list(found) == ["a", "b c"] or set(found) == {"a", "b c"}
    assert len(found["b c"].tokens) == 2
    assert parser_of(bench).of(iter(["a", "d"]))["d"].tokens[0].text == "d"
    assert Words.counted == ["a", "b c", "d"]
    assert Words.loaded == 1


def test_a_service_is_made_once(words: WordVectors) -> None:
    bench = bench_of(Store())
    assert vectors_of(bench) is vectors_of(bench)
    assert parser_of(bench) is parser_of(bench)


def test_vectors_are_unit_vectors_in_single_precision(words: WordVectors) -> None:
    found = vectors_of(bench_of(Store())).of(["a dog", "a cat sleeps"])
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-6)
