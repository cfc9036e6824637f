"""The lines that are listed, and the parts of the ADs that scores are told of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shotad.core import Interval
from shotad.evaluation import Corpus
from shotad.evaluation.metric import Item, Row
from shotad.evaluation.report.content import listings, notes_words
from shotad.evaluation.report.intervals import (
    DURATIONS,
    SCALES,
    duration_label,
    grouped,
    main_results,
    scale_label,
    thread_label,
)
from tests.evaluation.report.fakes import made_corpus, made_result, made_run


def item(number: int, seconds: float = 2.0, **more: object) -> Item:
    return Item(str(number), "film", Interval(10.0, 10 + seconds), ("He runs.",), "He runs.", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "label"),
    [
        (0.2, DURATIONS[0]),
        (1.0, DURATIONS[1]),
        (1.99, DURATIONS[1]),
        (3.0, DURATIONS[3]),
        (5.0, DURATIONS[4]),
        (30, DURATIONS[4]),
    ],
)
def test_lengths_are_half_open_classes(seconds: float, label: str) -> None:
    assert duration_label(item(1, seconds)) == label


@pytest.mark.parametrize(
    ("scale", "label"),
    [
        (0.0, "extreme close-up"),
        (0.5, "close-up"),
        (1.4, "close-up"),
        (2.0, "medium"),
        (3.4, "full"),
        (3.5, "long"),
        (4.0, "long"),
    ],
)
def test_scales_go_to_the_nearest_class(scale: float, label: str) -> None:
    assert scale_label(item(1, scale=scale)) == label
    assert label in SCALES


def test_what_was_not_given_belongs_to_no_part() -> None:
    assert scale_label(item(1)) is None
    assert thread_label(item(1)) is None
    assert thread_label(item(1, threaded=False)) == "no thread"


def test_parts_make_up_the_whole() -> None:
    """Sums of parts are the sum of all: weighted by their ADs, their numbers give the number over all."""
    run = made_run(made_corpus(200))
    cider = run.results[0]
    groups = grouped(run, [cider], duration_label, DURATIONS)["cider"]
    assert sum(group.n for group in groups) == 200
    assert sum(group.n * (group.value or 0) for group in groups) / 200 == pytest.approx(cider.value)
    for group in groups:
        assert group.interval is not None
        assert group.value is not None
        assert group.interval.low <= group.value <= group.interval.high


def test_a_part_says_how_many_the_metric_speaks_of() -> None:
    corpus = made_corpus(40)
    result = made_result(corpus, "critic")
    rows = tuple(replace(r, value=None, sums=(0.0, 0.0)) if int(r.id) % 2 else r for r in result.rows)
    run = made_run(corpus, (replace(result, rows=rows),))
    groups = grouped(run, run.results, thread_label)["critic"]
    assert sum(group.n for group in groups) == 20


def test_a_part_without_any_number_has_none() -> None:
    corpus = made_corpus(6, 2)
    result = made_result(corpus, "critic")
    rows = tuple(replace(r, value=None, sums=(0.0, 0.0)) if int(r.id) % 2 else r for r in result.rows)
    run = made_run(corpus, (replace(result, rows=rows),))
    even, odd = grouped(run, run.results, lambda item: item.film)["critic"]
    assert even.n == 3
    assert (odd.n, odd.value, odd.interval) == (0, None, None)


def test_main_metrics_come_first_and_judges_count_as_theirs() -> None:
    corpus = made_corpus(4)
    names = ("bleu-2", "action", "llm-ad-eval@fake", "cider", "repetition")
    run = made_run(corpus, tuple(made_result(corpus, name) for name in names))
    assert [r.name for r in main_results(run)] == ["cider", "action", "llm-ad-eval@fake"]
    alone = made_run(corpus, (made_result(corpus, "repetition"),))
    assert [r.name for r in main_results(alone)] == ["repetition"]


def test_worst_and_best_lines_are_that() -> None:
    run = made_run(made_corpus(50))
    (cider, action) = listings(run)
    assert (cider.metric, action.metric) == ("cider", "action")
    values = {row.id: row.value or 0.0 for row in run.results[0].rows}
    ordered = sorted(values, key=lambda name: values[name])
    assert [line[0] for line in cider.worst] == ordered[:20]
    assert [line[0] for line in cider.best] == ordered[::-1][:20]
    line, there = cider.best[0], run.corpus.items[int(ordered[-1])]
    assert line[1:4] == (f"{values[there.id]:.1f}", there.reference, there.prediction)


def test_where_lower_is_better_the_best_is_low() -> None:
    corpus = made_corpus(20)
    run = made_run(corpus, (made_result(corpus, "repetition"),))
    (listing,) = listings(run)
    assert float(listing.best[0][1]) < float(listing.worst[0][1])


def test_what_was_never_said_is_counted_and_not_listed() -> None:
    corpus = made_corpus(20)
    items = tuple(
        replace(i, prediction=None) if i.id == "3" else replace(i, prediction="") if i.id == "4" else i
        for i in corpus.items
    )
    corpus = Corpus(items, dataset="cmd-ad")
    (listing,) = listings(made_run(corpus, (made_result(corpus),)))
    assert listing.silent == 2
    assert not {"3", "4"} & {line[0] for line in (*listing.worst, *listing.best)}


def test_of_equal_lines_those_come_first_that_the_other_metrics_agree_on() -> None:
    corpus = made_corpus(10)
    flat = replace(made_result(corpus), rows=tuple(Row(i.id, (0.0, 1.0), 0.0) for i in corpus.items))
    other = replace(
        made_result(corpus, "action"),
        rows=tuple(Row(i.id, (int(i.id) / 100, 1.0), float(i.id)) for i in corpus.items),
    )
    (cider, _) = listings(made_run(corpus, (flat, other)))
    assert [line[0] for line in cider.worst] == ["0", "1", "2", "3", "4"]
    assert [line[0] for line in cider.best] == ["9", "8", "7", "6", "5"]


def test_no_line_is_both() -> None:
    corpus = made_corpus(5)
    (listing,) = listings(made_run(corpus, (made_result(corpus),)))
    assert len(listing.worst) == len(listing.best) == 2
    assert not {line[0] for line in listing.worst} & {line[0] for line in listing.best}


def test_notes_in_one_line() -> None:
    row = Row(
        "1",
        (1.0,),
        1.0,
        "judge was silent",
        {"wanted": ["Ann", "Ben"], "sure": 0.123456, "none": [], "deep": {"a": 1}},
    )
    assert notes_words(row) == "judge was silent; wanted: Ann, Ben; sure: 0.1235; deep: (a 1)"
    assert len(notes_words(Row("1", (1.0,), 1.0, "", {"reason": "x" * 999}))) == 300
