"""What holds of every metric of the table: bounds, order, shards, what is missing, what is kept, odd texts."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, ReportInput, Result, merge, read_report, write_report
from shotad.evaluation.metric import METRICS
from shotad.evaluation.report.inputs import Predictions
from shotad.evaluation.running import measure
from tests.evaluation.every.allmetrics import (
    ALONG,
    BOUNDS,
    MIXED,
    NAMES,
    MakeBench,
    by_id,
    bytes_of,
    changed,
    human,
    in_turn,
    joined_actions,
    mixed,
    predicted,
    scored,
)

# --- the human ADs as predictions


def test_the_human_ads_reach_the_bound(name: str, make_bench: MakeBench) -> None:
    result = scored(name, human(), make_bench())
    assert result.failed == 0
    assert result.value is not None
    if name in ALONG:
        assert f"The human ADs' own: {result.value:.1f}." in result.remarks
        return
    if name == "action":
        assert result.value <= 150
        result = scored(name, joined_actions(), make_bench())
    bound = BOUNDS.get(name, 150.0)
    assert result.value == pytest.approx(bound, abs=1e-6)
    assert {round(row.value, 6) for row in result.rows if row.value is not None} == {bound}


def test_nothing_else_scores_higher_than_the_human_ads(name: str, make_bench: MakeBench) -> None:
    best = scored(name, joined_actions() if name == "action" else human(), make_bench())
    worse = scored(name, mixed(), make_bench())
    shuffled = scored(name, in_turn(), make_bench())
    assert best.value is not None
    if best.higher_is_better and name not in ALONG:
        assert worse.value is not None
        assert shuffled.value is not None
        assert best.value > worse.value > shuffled.value


# --- order, shards


@pytest.mark.parametrize("seed", [1, 2])
def test_order_of_items_does_not_matter(name: str, seed: int, make_bench: MakeBench) -> None:
    corpus = with_equal_times(mixed())
    items = list(corpus.items)
    random.Random(seed).shuffle(items)
    one = scored(name, corpus, make_bench())
    other = scored(name, replace(corpus, items=tuple(items)), make_bench())
    assert by_id(other) == by_id(one)
    assert [row.id for row in other.rows] == [item.id for item in items]
    assert other.value == pytest.approx(one.value)
    assert (other.basis, other.identity) == (one.basis, one.identity)
    assert set(other.remarks) == set(one.remarks)


def with_equal_times(corpus: Corpus) -> Corpus:
    """Two ADs of a film at the same time, as CMD-AD has them where two clips of a film overlap."""
    return changed(changed(corpus, 2, interval=Interval(10, 13)), 9, interval=Interval(0, 3))


def test_shards_by_film_add_up(name: str, make_bench: MakeBench) -> None:
    corpus = mixed()
    whole = scored(name, corpus, make_bench())
    parts = [
        scored(name, corpus, make_bench(), [i for i, item in enumerate(corpus.items) if item.film == film])
        for film in ("gamma", "alpha", "beta")
    ]
    added = parts[0] + parts[1] + parts[2]
    assert by_id(added) == by_id(whole)
    assert added.value == pytest.approx(whole.value)
    assert (added.scored, added.failed) == (whole.scored, whole.failed)
    assert set(added.remarks) == set(whole.remarks)


def test_shards_add_up_through_their_reports(make_bench: MakeBench, tmp_path: Path) -> None:
    corpus = mixed()
    whole = tuple(scored(name, corpus, make_bench()) for name in NAMES)
    for one in (True, False):
        places = [i for i, item in enumerate(corpus.items) if (item.film == "alpha") == one]
        part = [scored(name, corpus, make_bench(), places) for name in NAMES]
        write(tmp_path / str(one), corpus, part)
    merged = merge([read_report(tmp_path / "False"), read_report(tmp_path / "True")]).results
    write(tmp_path / "merged", corpus, merged)
    again = read_report(tmp_path / "merged").results
    for wanted, found, read in zip(whole, merged, again, strict=True):
        assert bytes_of(read) == bytes_of(found) == bytes_of(wanted)
        assert read.value == found.value == wanted.value
        assert found.identity == json.loads(json.dumps(wanted.identity))


def write(folder: Path, corpus: Corpus, results: Sequence[Result]) -> None:
    config = Config.model_validate({"measures": {}})
    write_report(folder, ReportInput(corpus, tuple(results), config, Predictions("p.jsonl")), plots=False)


def test_metrics_side_by_side_are_as_each_alone(make_bench: MakeBench) -> None:
    bench, corpus = make_bench(), mixed()
    together = measure(corpus, ["all"], bench)
    assert not together.left_out
    assert [result.name.partition("@")[0] for result in together.results] == list(METRICS)
    for result in together.results:
        assert bytes_of(result) == bytes_of(scored(result.name, corpus, make_bench()))


# --- what is missing

SUMMED = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor")
"""Of summed counts: a line worse than the others can weigh more than none, by the tools' own definition."""


@pytest.mark.parametrize("place", [1, 5, 8, 12])
def test_a_missing_prediction_is_told_and_raises_no_figure(
    name: str, place: int, make_bench: MakeBench
) -> None:
    bench = make_bench()
    whole = scored(name, mixed(), bench)
    empty = list(MIXED)
    empty[place] = ""
    gone = [*MIXED[:place], None, *MIXED[place + 1 :]]
    silent = scored(name, predicted(empty, failure="timeout"), bench)
    missing = scored(name, predicted(gone, failure="timeout"), bench)
    row = missing.rows[place]
    assert row.failure == "timeout"
    assert [r.failure for r in missing.rows] == ["timeout" if text is None else "" for text in gone]
    assert missing.failed == sum(text is None for text in gone)
    assert [r.sums for r in missing.rows] == [r.sums for r in silent.rows]
    assert [r.value for r in missing.rows] == [r.value for r in silent.rows]
    assert missing.scored == whole.scored or name in ALONG
    if name not in ALONG:
        assert row.value is None or row.value <= (whole.rows[place].value or 0)
        if name not in SUMMED:
            assert (missing.value or 0) <= (whole.value or 0)


def test_reasons_of_failures_are_each_items_own(name: str, make_bench: MakeBench) -> None:
    """Also where rows are equal otherwise, and where they come from an earlier run."""
    item = human().items[8]
    reasons = ("timeout", "", "refused", "timeout")
    items = [
        replace(item, id=str(k), film=f"film {k}", prediction=None, description=None, failure=reason)
        for k, reason in enumerate(reasons)
    ]
    corpus = Corpus(tuple(items), {one.film: ("Tony Wendice",) for one in items})
    nothing = "no description" if name == "action-description" else "no prediction"
    bench = make_bench()
    for order in (range(4), (1, 2, 3, 0), range(4)):
        found = [row.failure for row in scored(name, corpus, bench, order).rows]
        assert found == [reasons[place] or nothing for place in order]


def test_a_description_counts_also_where_stage_2_failed(make_bench: MakeBench) -> None:
    corpus = changed(human(), 0, prediction=None, failure="refused")
    result = scored("action-description", corpus, make_bench())
    assert result.rows[0].value == pytest.approx(150)
    assert result.failed == 0
