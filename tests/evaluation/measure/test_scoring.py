"""Scoring: rows are kept, equal ones counted once, failures tried again."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import Config
from shotad.evaluation import MetricContext, Store
from shotad.evaluation.metric import score
from tests.evaluation.measuring import Lengths, corpus_of

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


def test_a_second_run_counts_nothing_and_says_the_same(bench: MetricContext) -> None:
    first = score(Lengths(), corpus_of(PAIRS), bench)
    again = Lengths()
    second = score(again, corpus_of(PAIRS), bench)
    assert again.counted == []
    assert second.fresh == 0
    assert second.rows == first.rows


def test_a_changed_prediction_redoes_one(bench: MetricContext) -> None:
    score(Lengths(), corpus_of(PAIRS), bench)
    changed = Lengths()
    result = score(changed, corpus_of([*PAIRS[:2], ("a b c", "a b"), PAIRS[3]]), bench)
    assert changed.counted == ["film-2"]
    assert result.fresh == 1


def test_what_remarks_cost_is_in_the_metrics_seconds(
    bench: MetricContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]

    class Slow(Lengths):
        def __getattribute__(self, name: str) -> object:
            if name == "remarks":
                clock[0] += 40.0
            return super().__getattribute__(name)

    slow = Slow()
    clock[0] = 0.0
    monkeypatch.setattr("shotad.evaluation.metric.time.perf_counter", lambda: clock[0])
    assert score(slow, corpus_of(PAIRS), bench).seconds == 40.0


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


def test_what_is_done_before_a_run_breaks_is_kept(bench: MetricContext) -> None:
    with pytest.raises(RuntimeError):
        score(Lengths(breaks_at="film-3"), corpus_of(PAIRS), bench)
    again = Lengths()
    score(again, corpus_of(PAIRS), bench)
    assert again.counted == ["film-3"]


def test_some_places_in_any_order(bench: MetricContext) -> None:
    result = score(Lengths(), corpus_of(PAIRS), bench, [2, 0])
    assert [row.id for row in result.rows] == ["film-2", "film-0"]
    assert result.value == pytest.approx(75)


def test_nothing_to_score_is_no_figure(bench: MetricContext) -> None:
    result = score(Lengths(), corpus_of(PAIRS), bench, [])
    assert result.value is None
    assert result.sums.tolist() == [0, 0]


def test_a_judges_failure_is_tried_again_also_where_nothing_was_predicted(bench: MetricContext) -> None:
    score(Lengths(fails_at="film-3"), corpus_of(PAIRS), bench)
    again = Lengths()
    result = score(again, corpus_of(PAIRS), bench)
    assert again.counted == ["film-3"]
    assert result.rows[3].failure == "no prediction"
