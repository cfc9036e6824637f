"""Two reports held against each other, shards made one, and intervals over films."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import EvaluationError, ReportSettings
from shotad.evaluation import (
    Corpus,
    Report,
    ReportInput,
    compare,
    comparison_text,
    merge,
    read_report,
    write_report,
)
from shotad.evaluation.report.comparing import Comparison
from shotad.evaluation.running import Predictions
from tests.evaluation.report.fakes import made_corpus, made_result, made_run, shard

SETTINGS = ReportSettings()
B = Predictions("b.jsonl", "1" * 64, "System B")


def kept(place: Path, run: ReportInput) -> Report:
    write_report(place, run, plots=False)
    return read_report(place)


@pytest.fixture
def one(tmp_path: Path) -> Report:
    corpus = made_corpus(60)
    results = (made_result(corpus), made_result(corpus, "repetition", seed=1))
    return kept(tmp_path / "one", made_run(corpus, results))


def held(tmp_path: Path, one: Report, **more: object) -> Comparison:
    corpus = made_corpus(60)
    repeats = made_result(corpus, "repetition", seed=1, shift=3.0)
    results = made_result(corpus, shift=3.0, **more), repeats  # type: ignore[arg-type]
    return compare(one, kept(tmp_path / "two", made_run(corpus, results, predictions=B)), SETTINGS)


def test_lines_that_gained_and_lost_most(tmp_path: Path, one: Report) -> None:
    corpus = made_corpus(60)
    other = made_result(corpus, seed=9)
    found = compare(one, kept(tmp_path / "two", made_run(corpus, (other,), predictions=B)), SETTINGS)
    (cider,) = found.record["metrics"]
    lines = cider["lines"]
    before = {row.id: row.value or 0 for row in one.results[0].rows}
    gains = {row.id: (row.value or 0) - before[row.id] for row in other.rows}
    ordered = sorted(gains, key=lambda name: gains[name])
    assert [line["id"] for line in lines["lost_most"]] == ordered[:20]
    assert [line["id"] for line in lines["gained_most"]] == ordered[::-1][:20]
    assert lines["better_in_b"] + lines["worse_in_b"] == 60
    assert found.record["not_compared"] == [{"title": "REPETITION", "reason": "only A has it"}]


def test_ads_or_settings_that_only_one_has_are_not_compared(tmp_path: Path, one: Report) -> None:
    run = made_run(made_corpus(60), predictions=B)
    part = kept(tmp_path / "part", shard(run, 5, 60))
    found = compare(one, part, SETTINGS)
    assert found.record["n"]["common"] == 55
    assert found.record["only_a"] == ["0", "1", "2", "3", "4"]
    assert found.record["only_b"] == []
    assert found.record["metrics"][0]["n"] == 55
    assert "Only A has 5 ADs: 0, 1, 2, 3, 4." in comparison_text(found)
    # Other settings are not compared and told.
    found = held(tmp_path, one, identity={"version": 1, "model": "large"})
    assert [metric["name"] for metric in found.record["metrics"]] == ["repetition"]
    assert "they were counted differently (model: None in A, 'large' in B)" in comparison_text(found)
    other = held(tmp_path, one, basis="other words")
    assert "frequencies of words" in other.record["not_compared"][0]["reason"]
    # Nothing in common is refused.
    run = made_run()
    a, b = (kept(tmp_path / f"{k}", shard(run, *ends)) for k, ends in enumerate([(0, 30), (30, 60)]))
    with pytest.raises(EvaluationError, match="have no AD in common"):
        compare(a, b, SETTINGS)


FILES = ("report.json", "report.html", "report.md", "items.csv", "items.jsonl")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_shards_make_the_report_of_the_whole_to_the_byte(tmp_path: Path, order: tuple[int, ...]) -> None:
    items = tuple(replace(i, prediction=None) if i.id in ("7", "50") else i for i in made_corpus(60).items)
    run = made_run(Corpus(items, dataset="cmd-ad"), extra=3, doubled=1)
    kept(tmp_path / "whole", run)
    ends = ((0, 10), (10, 11), (11, 60))
    parts = [kept(tmp_path / f"{k}", shard(run, *each)) for k, each in enumerate(ends)]
    kept(tmp_path / "merged", merge([parts[k] for k in order]))
    for name in FILES:
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_shards_of_several_files_of_predictions(tmp_path: Path) -> None:
    """Each machine has its own file, in which the other's ADs are missing."""
    whole = made_run(extra=1)
    parts = []
    for k, ends in enumerate([(0, 20), (20, 60)]):
        part = shard(whole, *ends)
        scored = {item.id for item in part.items}
        items = tuple(i if i.id in scored else replace(i, prediction=None) for i in whole.corpus.items)
        file = Predictions(f"p{k}.jsonl", str(k) * 64, "Test system")
        part = replace(part, corpus=Corpus(items, dataset="cmd-ad"), predictions=file)
        parts.append(kept(tmp_path / f"{k}", part))
    merged = merge(parts)
    assert merged.corpus.items == whole.corpus.items
    assert merged.predictions == Predictions("p0.jsonl + p1.jsonl", f"{'0' * 64} + {'1' * 64}", "Test system")
    assert (merged.extra, merged.doubled) == (2, 0)
    assert not merged.missing


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    run = made_run()
    first = kept(tmp_path / "first", shard(run, 0, 30))
    again = kept(tmp_path / "again", shard(run, 20, 60))
    fewer = kept(tmp_path / "fewer", replace(shard(run, 30, 60), results=run.results[:1]))
    other = kept(tmp_path / "other", made_run(made_corpus(60, seed=3)))
    changed = replace(run.results[0], identity={"version": 2})
    newer = kept(tmp_path / "newer", shard(replace(run, results=(changed, *run.results[1:])), 30, 60))
    for parts, said in (
        ([first, again], "10 items stand in both results of CIDER, such as"),
        ([first, fewer], "Only one of first and fewer has action, repetition"),
        ([first, other], "are not of the same texts of the dataset"),
        ([first, newer], "differ in identity"),
        ([], "There is no report to merge"),
    ):
        with pytest.raises(EvaluationError, match=said):
            merge(parts)


@pytest.mark.parametrize(
    ("metric", "change", "reason"),
    [
        ("action", {"actions": ("He walks.",)}, "the human ADs' actions are others"),
        ("llm-action@fake", {"actions": ("He walks.",)}, "the human ADs' actions are others"),
        ("critic", {"casts": {"tt0000": ("Zoe",)}}, "the characters' names are others"),
        ("names-kept", {"casts": {}}, "the characters' names are others"),
    ],
)
def test_numbers_by_another_truth_are_not_compared(
    tmp_path: Path, metric: str, change: dict[str, Any], reason: str
) -> None:
    items = tuple(replace(item, actions=("He runs.",)) for item in made_corpus(12).items)
    corpus = Corpus(items, {"tt0000": ("Ann",)}, "cmd-ad")
    if "casts" in change:
        other = Corpus(items, change["casts"], "cmd-ad")
    else:
        other = replace(corpus, items=(*items[:-1], replace(items[-1], **change)))
    reports = [
        kept(tmp_path / name, made_run(each, (made_result(each, metric), made_result(each))))
        for name, each in (("a", corpus), ("b", other))
    ]
    found = compare(*reports, ReportSettings())
    assert [one["reason"] for one in found.record["not_compared"]] == [reason]
    assert [one["name"] for one in found.record["metrics"]] == ["cider"]
