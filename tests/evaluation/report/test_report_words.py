"""What a report says, in words, tables and on its page."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, read_report, terminal_text, write_report
from shotad.evaluation.metric import Figure, Item, Row
from shotad.evaluation.report.content import identity_words, listings, notes_words
from shotad.evaluation.report.intervals import (
    DURATIONS,
    SCALES,
    duration_label,
    grouped,
    main_results,
    scale_label,
)
from shotad.evaluation.report.table import footnotes
from shotad.evaluation.report.wording import COLUMNS
from tests.evaluation.report.conftest import with_trouble
from tests.evaluation.report.fakes import made_corpus, made_item, made_result, made_run, shard
from tests.evaluation.report.outline import outline


def test_a_failure_that_no_number_counts_is_not_told_as_0(tmp_path: Path) -> None:
    """Repetition says nothing of silence: the AD that failed is not among those that it speaks of."""
    corpus = Corpus(tuple(made_item(k, "tt0", prediction="x" if k else None) for k in range(10)))
    result = made_result(corpus, "repetition")
    silent = replace(result.rows[0], value=None, sums=(0.0, 0.0))
    result = replace(result, rows=(silent, *result.rows[1:]))
    write_report(tmp_path / "r", made_run(corpus, (result, made_result(corpus))), plots=False)
    metrics = read_report(tmp_path / "r").head["metrics"]
    assert [(m["failed"], m["counted_as_0"], m["scored"]) for m in metrics] == [(1, 0, 9), (1, 1, 10)]
    text = (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith("| REPETITION | ")][:1]
    assert row.endswith("| 10 | 9 | 0 | lower |")
    assert COLUMNS in text


def test_numbers_that_are_not_comparable_are_named_under_the_papers() -> None:
    run = made_run()
    text = terminal_text(run)
    assert "Not comparable with the numbers below it, for the reasons in the notes: ACTION." in text
    assert "ADs, the paper's rows are of all" not in text
    part = terminal_text(shard(run, 0, 20))
    assert "The first row is of 20 of 60 ADs, the paper's rows are of all." in part


def test_not_comparable_is_said_once_to_a_metric() -> None:
    corpus = made_corpus()
    told = {"comparable": False, "title": "Action score"}
    plain = made_result(corpus, "action", remarks=("A smaller model.",), **told)
    saying = made_result(corpus, "action", remarks=("A small one: not comparable with the paper's.",), **told)
    ((_, one),), ((_, two),) = (footnotes([result]).values() for result in (plain, saying))
    assert one == "Action score: not comparable with the paper's number; A smaller model."
    assert two == "Action score: A small one: not comparable with the paper's."


def test_where_0_stands_on_a_shifted_scale_is_said() -> None:
    corpus = made_corpus(6)
    result = replace(
        made_result(corpus, "action", title="Action score"), figure=Figure("share", 200.0, -0.25)
    )
    ((_, note),) = footnotes([result, made_result(corpus)]).values()
    assert note == "Action score: the score 0, as of what is missing, stands at −50.0 on this scale."


def test_what_a_metric_is_reads_as_words() -> None:
    identity = {"rules": "paper", "instruction": "", "embedding": {"model": "minilm", "revision": None}}
    said = identity_words(identity)
    assert said == "rules: paper, instruction: none, embedding: (model: minilm, revision: none)"


def test_counts_stand_in_plain_words(folder: Path) -> None:
    for text in (terminal_text(with_trouble()), (folder / "report.md").read_text(encoding="utf-8")):
        assert "CMD-AD has 30 ADs; this report speaks of 30 of them." in text
        assert "1 AD had no prediction and counts as 0." in text
        assert "1 prediction had failed and counts as 0." in text
        assert "2 predictions were of no AD of it." in text
        assert "1 id came more than once in the predictions." in text
        assert "CRITIC: 1 prediction could not be scored and counts as 0." in text
        assert "CIDEr: " not in text.partition("Metric")[0]
        assert "Java is missing." in text


def test_what_was_skipped_is_told_with_what_it_does() -> None:
    run = with_trouble()
    gone = {item.id for item in run.corpus.items if item.prediction is None}
    results = tuple(replace(r, rows=tuple(row for row in r.rows if row.id not in gone)) for r in run.results)
    measures = run.config.measures.model_copy(update={"missing": "skip"})
    text = terminal_text(replace(run, results=results, config=Config(measures=measures)))
    assert "this report speaks of 28 of them" in text
    assert "2 ADs without a prediction were left out, as --missing skip asks: the numbers are higher" in text


def test_the_papers_rows_are_below_ones_own_and_marked() -> None:
    lines = terminal_text(with_trouble()).splitlines()
    own = next(k for k, line in enumerate(lines) if "measured here" in line)
    assert lines[own].startswith("Test system ")
    assert "Shot-by-Shot, Qwen2-VL-7B + LLaMA3-8B" in lines[own + 1]
    assert "from the paper, Table 7" in lines[own + 1]
    assert lines[own + 1].split()[-2:] == ["26.3", "47.8"]
    assert any(
        line.startswith("Another human AD") and "Table A5" in line and "61.5" in line for line in lines
    )


def test_a_dataset_that_the_paper_has_not_has_no_such_table() -> None:
    corpus = made_corpus(12, dataset="mine")
    assert "from the paper" not in terminal_text(made_run(corpus, (made_result(corpus),)))


def test_the_page_can_be_read_by_ear(folder: Path) -> None:
    found = outline((folder / "report.html").read_text(encoding="utf-8"))
    assert found.language == "en"
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(found.headings))
    assert len(found.tables) >= 6
    for table in found.tables:
        assert table["caption"] == 1
        assert table["th"] == table["scoped"] > 0
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))
    assert "main" in found.tags
    assert "nav" in found.tags
    assert "script" not in found.tags


def test_the_page_needs_no_other_file_and_runs_nothing(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "Die Brücke &amp; Co" in page
    assert not re.search(r"(src|href)=\"(?!data:image/png;base64,|#)", page)
    assert "@import" not in page


def test_text_of_lines_cannot_break_the_markdown(folder: Path) -> None:
    lines = (folder / "report.md").read_text(encoding="utf-8").splitlines()
    widths = [len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0 for line in lines]
    assert all(a == b for a, b in itertools.pairwise(widths) if a and b)
    assert any("\\<script\\>alert(1)\\</script\\> \\| \\*bold\\*" in line for line in lines)
    assert any("東京へ行く neu" in line for line in lines)


def item(number: int, seconds: float = 2.0, **more: object) -> Item:
    return Item(str(number), "film", Interval(10.0, 10 + seconds), ("He runs.",), "He runs.", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "label"),
    [
        (0.2, DURATIONS[0]),
        (1.0, DURATIONS[1]),
        (1.99, DURATIONS[1]),
        (5.0, DURATIONS[4]),
    ],
)
def test_lengths_are_half_open_classes(seconds: float, label: str) -> None:
    assert duration_label(item(1, seconds)) == label


@pytest.mark.parametrize(
    ("scale", "label"),
    [
        (0.0, "extreme close-up"),
        (0.5, "close-up"),
        (3.4, "full"),
        (3.5, "long"),
    ],
)
def test_scales_go_to_the_nearest_class(scale: float, label: str) -> None:
    assert scale_label(item(1, scale=scale)) == label
    assert label in SCALES


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
