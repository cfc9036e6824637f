"""Measuring: rows, texts, scores and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Config, EvaluationError, WeightsError
from shotad.evaluation import MetricContext, Result, Store, store as room
from shotad.evaluation.metric import Figure, Row, score
from shotad.evaluation.store import INSTRUCTIONS, parser_of, vectors_of
from shotad.script import Parse, ParserModel, Token
from tests.evaluation.action.parsed import WordVectors
from tests.evaluation.measuring import Lengths, corpus_of


def result(sums: list[tuple[float, ...]], first: int = 0, **changes: object) -> Result:
    rows = tuple(Row(f"i{first + k}", s, s[0]) for k, s in enumerate(sums))
    made = Result("m", "M", ("a", "b"), Figure("share", 100.0), {"version": 1}, rows)
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"identity": {"version": 2}}, "identity"),
        ({"basis": "other"}, "basis"),
        ({"figure": Figure("share", 1.0)}, "figure"),
        ({"name": "n"}, "name"),
    ],
)
def test_results_that_do_not_belong_together_are_refused(change: dict[str, object], word: str) -> None:
    with pytest.raises(EvaluationError, match=f"differ in {word}"):
        result([(1, 1)]) + result([(1, 1)], 1, **change)


def test_an_item_in_both_is_refused() -> None:
    with pytest.raises(EvaluationError, match="1 items stand in both results of M, such as i0"):
        result([(1, 1)]) + result([(1, 1)])


def test_a_figure_of_many_sums_at_once() -> None:
    sums = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]])
    found = Figure("share", 200.0, -0.25).of(sums)
    assert found[[0, 2]].tolist() == [50.0, 100.0]
    assert np.isnan(found[1])


def test_bleu_of_hand_counted_sums() -> None:
    """Three of four words, one of three pairs, as long as the reference: sqrt(3/4 * 1/3) = 0.5."""
    found = Figure("bleu", 100.0).of(np.array([3.0, 1.0, 4.0, 3.0, 4.0, 4.0]))
    assert float(found) == pytest.approx(50, abs=1e-6)
    short = Figure("bleu", 100.0).of(np.array([2.0, 1.0, 2.0, 1.0, 2.0, 4.0]))
    assert float(short) == pytest.approx(100 * np.exp(-1), abs=1e-5)


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


PAIRS = [("a b", "a"), ("a b", "a"), ("a b c", "a b c"), ("a", None)]


@pytest.fixture
def bench(tmp_path: Path) -> MetricContext:
    return MetricContext(Config(), Store(tmp_path / "kept.sqlite"))


def test_equal_rows_are_counted_once_and_every_item_has_its_own(bench: MetricContext) -> None:
    metric = Lengths()
    result = score(metric, corpus_of(PAIRS), bench)
    assert metric.counted == ["film-0", "film-2", "film-3"]
    assert [row.id for row in result.rows] == ["film-0", "film-1", "film-2", "film-3"]
    assert [row.value for row in result.rows] == [50, 50, 100, 0]
    assert result.value == pytest.approx(50)
    assert (result.scored, result.failed, result.fresh) == (4, 1, 4)


def test_what_a_definition_of_another_version_said_is_not_taken(bench: MetricContext) -> None:
    score(Lengths(), corpus_of(PAIRS), bench)
    other = Lengths(version=2)
    score(other, corpus_of(PAIRS), bench)
    assert len(other.counted) == 3


def test_a_failure_is_tried_again_but_a_missing_prediction_stays_one(bench: MetricContext) -> None:
    score(Lengths(fails_at="film-2"), corpus_of(PAIRS), bench)
    again = Lengths()
    result = score(again, corpus_of(PAIRS), bench)
    assert again.counted == ["film-2"]
    assert result.failed == 1


def test_nothing_to_score_is_no_figure(bench: MetricContext) -> None:
    result = score(Lengths(), corpus_of(PAIRS), bench, [])
    assert result.value is None
    assert result.sums.tolist() == [0, 0]


def test_what_was_put_is_found_by_space_and_key(tmp_path: Path) -> None:
    with Store(tmp_path / "new" / "kept.sqlite") as store:
        store.put("a", {"x": b"1", "y": b"2"})
        store.put("b", [("x", b"3")])
        assert store.get("a", ["x", "y", "z"]) == {"x": b"1", "y": b"2"}
        assert store.get("b", ["x"]) == {"x": b"3"}
    with Store(tmp_path / "new" / "kept.sqlite") as store:
        assert store.get("a", ["y", "y"]) == {"y": b"2"}


def test_more_keys_than_one_question_takes() -> None:
    with Store() as store:
        store.put("a", {str(k): str(k).encode() for k in range(3000)})
        found = store.get("a", [str(k) for k in range(4000)])
        assert len(found) == 3000
        assert found["2999"] == b"2999"


def test_a_store_told_to_forget_finds_only_its_own(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as store:
        store.put("a", {"x": b"old"})
    with Store(path, forget=True) as store:
        assert store.get("a", ["x"]) == {}
        store.put("a", {"x": b"new"})
        assert store.get("a", ["x"]) == {"x": b"new"}


def test_two_use_one_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as one, Store(path) as two:
        one.put("a", {"x": b"1"})
        two.put("a", {"y": b"2"})
        assert one.get("a", ["x", "y"]) == two.get("a", ["x", "y"]) == {"x": b"1", "y": b"2"}


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    path.write_bytes(b"this is no database, but long enough to be taken for one" * 40)
    with Store(path) as store:
        store.put("a", {"x": b"1"})
        assert store.get("a", ["x"]) == {"x": b"1"}
    assert (tmp_path / "kept.sqlite.damaged").exists()


def test_a_file_whose_damage_shows_only_at_work_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as store:
        store.put("a", {f"{k:05d}": b"x" * 500 for k in range(2000)})
    whole = path.read_bytes()
    broken = bytearray(whole)
    for page in range(2 * 4096, len(whole), 4096):
        broken[page : page + 100] = b"\xa5" * 100
    for act in ("get", "put"):
        path.write_bytes(broken)
        with Store(path) as store:
            if act == "get":
                assert store.get("a", [f"{k:05d}" for k in range(2000)]) == {}
            store.put("a", {"00007": b"new"})
            assert store.get("a", ["00007"]) == {"00007": b"new"}
        with Store(path) as store:
            assert store.get("a", ["00007", "00008"]) == {"00007": b"new"}
        assert (tmp_path / "kept.sqlite.damaged").read_bytes()[: len(whole)] == bytes(broken)


def test_a_place_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EvaluationError, match="cannot keep what is computed.*--cache"):
        Store(tmp_path / "file" / "kept.sqlite")
