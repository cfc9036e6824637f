"""Which metrics run, on which items, and what is left out and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from shotad.core import Config, EvaluationError, ShotadError, load_config
from shotad.evaluation import Corpus, MetricContext, Result, Shard, Store, metric as table
from shotad.evaluation.metric import Json, Row
from shotad.evaluation.report.inputs import LeftOut
from shotad.evaluation.running import measure, shard_places
from tests.evaluation.measuring import Lengths, corpus_of

PAIRS = [
    ("Ann opens the door.", "Ann opens a door."),
    ("Ben runs to the car.", None),
    ("She looks at him.", "He looks."),
    ("They drive off.", ""),
]


class _Here(Lengths):
    """A metric that is made as the table's are."""

    @classmethod
    def of(cls, name: str, bench: MetricContext) -> _Here:
        return cls(name=name, title=name.upper())


class _NoModel(_Here):
    """One whose model cannot be had, which shows where it is looked for."""

    @property
    def identity(self) -> Json:
        raise ShotadError("The model great is not here.", "Fetch it.")


class _Breaks(_Here):
    """One that fails at work."""

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        yield from super().rows(corpus, places[:1])
        raise ShotadError("The model is too large.")


class _Noted(_Here):
    """Keeps which places it was asked to count."""

    asked: ClassVar[list[list[str]]] = []

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        self.asked.append([corpus.items[place].id for place in places])
        return super().rows(corpus, places)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A table of metrics of two; tests put in more."""
    few = dict.fromkeys(("one", "two"), f"{__name__}:_Here")
    monkeypatch.setattr(table, "METRICS", few)
    monkeypatch.setattr("shotad.evaluation.running.METRICS", few)
    _Noted.asked.clear()
    return few


def bench_with(**more: Any) -> MetricContext:
    return MetricContext(load_config((), (), **more) if more else Config(), Store())


def values(results: Sequence[Result]) -> dict[str, float | None]:
    return {result.name: result.value for result in results}


def test_all_takes_each_metric_once_and_tells_each_as_it_comes(few: dict[str, str]) -> None:
    told: list[str] = []
    found = measure(corpus_of(PAIRS), ["all", "two"], bench_with(), done=lambda r: told.append(r.name))
    assert [result.name for result in found.results] == told == ["one", "two"]
    assert found.places == (0, 1, 2, 3)
    assert found.left_out == ()


def test_capitals_in_a_metrics_name_do_not_matter(few: dict[str, str]) -> None:
    found = measure(corpus_of(PAIRS), ["One"], bench_with())
    assert [result.name for result in found.results] == ["one"]


def test_a_model_that_is_not_here_is_known_before_any_is_counted(few: dict[str, str]) -> None:
    few.update(one=f"{__name__}:_Noted", late=f"{__name__}:_NoModel")
    with pytest.raises(ShotadError, match="great is not here"):
        measure(corpus_of(PAIRS), ["one", "late"], bench_with())
    assert _Noted.asked == []


def test_of_all_what_has_no_model_is_left_out_with_the_reason(few: dict[str, str]) -> None:
    few["late"] = f"{__name__}:_NoModel"
    found = measure(corpus_of(PAIRS), ["all"], bench_with())
    assert [result.name for result in found.results] == ["one", "two"]
    assert found.left_out == (LeftOut("late", "The model great is not here. Fetch it."),)


def test_of_all_what_fails_at_work_is_left_out_and_the_others_are_counted(few: dict[str, str]) -> None:
    few["one"] = f"{__name__}:_Breaks"
    found = measure(corpus_of(PAIRS), ["all"], bench_with())
    assert [result.name for result in found.results] == ["two"]
    assert found.left_out == (LeftOut("one", "The model is too large."),)


def test_a_metric_that_was_named_and_fails_at_work_is_an_error(few: dict[str, str]) -> None:
    few["one"] = f"{__name__}:_Breaks"
    with pytest.raises(ShotadError, match="too large"):
        measure(corpus_of(PAIRS), ["one", "two"], bench_with())


def test_nothing_that_can_be_measured_is_an_error_with_all_reasons(few: dict[str, str]) -> None:
    few.clear()
    few.update(late=f"{__name__}:_NoModel", later=f"{__name__}:_Breaks")
    with pytest.raises(EvaluationError, match=r"Nothing could be measured\. late: .*later: The model is too"):
        measure(corpus_of(PAIRS), ["all"], bench_with())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("llm-ad-eval", "No judge is named"),
        ("action-description", "no descriptions"),
        ("action", "No actions"),
        ("critic", "No cast lists"),
        ("names-kept", "No cast lists"),
    ],
)
def test_what_says_nothing_of_this_corpus(few: dict[str, str], name: str, reason: str) -> None:
    few[name] = f"{__name__}:_NoModel"
    corpus = corpus_of(PAIRS, casts={"another film": ("Ann",)})
    found = measure(corpus, ["all"], bench_with())
    assert [left.metric for left in found.left_out] == [name]
    assert reason in found.left_out[0].reason
    with pytest.raises(EvaluationError, match=f"{name} cannot be measured: .*{reason}"):
        measure(corpus, ["one", name], bench_with())


def test_each_judge_is_asked_and_stands_by_its_name(few: dict[str, str]) -> None:
    few["llm-ad-eval"] = f"{__name__}:_Here"
    bench = bench_with(measures__judge__engines=("fake", "openai:gpt-4o"))
    names = ["llm-ad-eval@fake", "llm-ad-eval@openai:gpt-4o"]
    for asked in (["llm-ad-eval"], ["llm-ad-eval", "all"], ["all"]):
        found = [result.name for result in measure(corpus_of(PAIRS), asked, bench).results]
        assert [name for name in found if "@" in name] == names, asked


def test_a_judge_that_cannot_work_is_an_error_also_of_all(few: dict[str, str]) -> None:
    few.update({"one": f"{__name__}:_Noted", "llm-ad-eval": f"{__name__}:_NoModel"})
    with pytest.raises(ShotadError, match="great is not here"):
        measure(corpus_of(PAIRS), ["all"], bench_with(measures__judge__engines=("openai:gpt-5o",)))
    assert _Noted.asked == []


def test_a_judge_of_actions_is_left_out_of_all_where_there_are_none(few: dict[str, str]) -> None:
    few["llm-action"] = f"{__name__}:_Here"
    found = measure(corpus_of(PAIRS), ["all"], bench_with(measures__judge__engines=("fake",)))
    assert [left.metric for left in found.left_out] == ["llm-action@fake"]


def several_films(sizes: Sequence[int]) -> Corpus:
    parts = [corpus_of(PAIRS[:1] * size, film=f"film{k}") for k, size in enumerate(sizes)]
    return Corpus(tuple(item for part in parts for item in part.items))


def test_shards_are_whole_films_of_like_size_and_together_everything() -> None:
    corpus = several_films([5, 1, 3, 4, 2, 3])
    places = [shard_places(corpus, Shard(k, 3)) for k in (1, 2, 3)]
    assert sorted(place for some in places for place in some) == list(range(18))
    films = [{corpus.items[place].film for place in some} for some in places]
    assert sum(len(some) for some in films) == 6
    assert [len(some) for some in places] == [6, 6, 6]
    shuffled = replace(corpus, items=corpus.items[::-1])
    assert [{shuffled.items[p].id for p in shard_places(shuffled, Shard(k, 3))} for k in (1, 2, 3)] == [
        {corpus.items[p].id for p in some} for some in places
    ]


def test_a_shard_without_a_film_is_a_result_of_nothing(few: dict[str, str]) -> None:
    found = measure(several_films([2]), ["one"], bench_with(), shard=Shard(2, 2))
    assert found.places == ()
    assert values(found.results) == {"one": None}
