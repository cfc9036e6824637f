"""Two reports held against each other, shards made one, and intervals over films: against the textbook, by hand, and
by how often they hold."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import Config
from shotad.core.config.measures import ReportSettings
from shotad.core.errors import EvaluationError
from shotad.evaluation import (
    Corpus,
    Report,
    Result,
    Row,
    compare,
    comparison_text,
    merge,
    read_report,
    terminal_text,
    write_report,
)
from shotad.evaluation.metric import MetricFormula
from tests.evaluation.report.fakes import made_corpus, made_file, made_item, made_result, made_run, shard

SETTINGS = ReportSettings()
B = made_file("b.jsonl", "1" * 64, "System B")


def kept(place: Path, run: Report) -> Report:
    write_report(place, run, plots=False)
    return read_report(place)


@pytest.fixture
def first(tmp_path: Path) -> Report:
    corpus = made_corpus(60)
    results = (made_result(corpus), made_result(corpus, "repetition", seed=1))
    return kept(tmp_path / "one", made_run(corpus, results))


def compared(tmp_path: Path, first: Report, **more: object) -> tuple[Any, Any]:
    corpus = made_corpus(60)
    repeats = made_result(corpus, "repetition", seed=1, shift=3.0)
    results = made_result(corpus, shift=3.0, **more), repeats  # type: ignore[arg-type]
    return compare(first, kept(tmp_path / "two", made_run(corpus, results, predictions=B)), SETTINGS)


def test_lines_that_gained_and_lost_most(tmp_path: Path, first: Report) -> None:
    corpus = made_corpus(60)
    other = made_result(corpus, seed=9)
    record, _ = compare(first, kept(tmp_path / "two", made_run(corpus, (other,), predictions=B)), SETTINGS)
    (cider,) = record["metrics"]
    lines = cider["lines"]
    before = {row.id: row.value or 0 for row in first.results[0].rows}
    gains = {row.id: (row.value or 0) - before[row.id] for row in other.rows}
    ordered = sorted(gains, key=lambda name: gains[name])
    assert [line["id"] for line in lines["lost_most"]] == ordered[:20]
    assert [line["id"] for line in lines["gained_most"]] == ordered[::-1][:20]
    assert lines["better_in_b"] + lines["worse_in_b"] == 60
    assert record["not_compared"] == [{"title": "REPETITION", "reason": "only A has it"}]


def test_ads_or_settings_that_only_one_has_are_not_compared(tmp_path: Path, first: Report) -> None:
    run = made_run(made_corpus(60), predictions=B)
    part = kept(tmp_path / "part", shard(run, 5, 60))
    record, content = compare(first, part, SETTINGS)
    assert record["n"]["common"] == 55
    assert record["only_a"] == ["0", "1", "2", "3", "4"]
    assert record["only_b"] == []
    assert record["metrics"][0]["n"] == 55
    assert "Only A has 5 ADs: 0, 1, 2, 3, 4." in comparison_text(content)
    # Other settings are not compared.
    record, content = compared(tmp_path, first, identity={"version": 1, "model": "large"})
    assert [metric["name"] for metric in record["metrics"]] == ["repetition"]
    assert "they were counted differently (model: None in A, 'large' in B)" in comparison_text(content)
    other, _ = compared(tmp_path, first, basis="other words")
    assert "frequencies of words" in other["not_compared"][0]["reason"]
    # Nothing in common is refused.
    run = made_run()
    a, b = (kept(tmp_path / f"{k}", shard(run, *ends)) for k, ends in enumerate([(0, 30), (30, 60)]))
    with pytest.raises(EvaluationError, match="have no AD in common"):
        compare(a, b, SETTINGS)


FILES = ("report.json", "report.html", "report.md", "items.csv", "items.jsonl")


def test_shards_make_the_report_of_the_whole_to_the_byte(tmp_path: Path) -> None:
    items = tuple(replace(i, prediction=None) if i.id in ("7", "50") else i for i in made_corpus(60).items)
    run = made_run(Corpus(items, dataset="cmd-ad"), extra=3, doubled=1)
    kept(tmp_path / "whole", run)
    ends = ((0, 10), (10, 11), (11, 60))
    parts = [kept(tmp_path / f"{k}", shard(run, *each)) for k, each in enumerate(ends)]
    kept(tmp_path / "merged", merge([parts[k] for k in (2, 0, 1)]))
    for name in FILES:
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_shards_of_several_files_of_predictions(tmp_path: Path) -> None:
    """Each machine has its own file, in which the other's ADs are missing."""
    whole = made_run(extra=1)
    parts = []
    for k, ends in enumerate([(0, 20), (20, 60)]):
        part = shard(whole, *ends)
        scored = {item.id for item in part.scored}
        items = tuple(i if i.id in scored else replace(i, prediction=None) for i in whole.corpus.items)
        own = made_file(f"p{k}.jsonl", str(k) * 64)
        part = replace(part, corpus=Corpus(items, dataset="cmd-ad"), predictions=own)
        parts.append(kept(tmp_path / f"{k}", part))
    merged = merge(parts)
    assert merged.corpus.items == whole.corpus.items
    assert merged.predictions == made_file("p0.jsonl + p1.jsonl", f"{'0' * 64} + {'1' * 64}")
    assert (merged.extra, merged.doubled) == (2, 0)
    assert not merged.unpredicted


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    run = made_run()
    first = kept(tmp_path / "first", shard(run, 0, 30))
    changed = replace(run.results[0], identity={"version": 2})
    others = {
        "10 items stand in both results of CIDER, such as": shard(run, 20, 60),
        "Only one of first and other-1 has action, repetition": replace(
            shard(run, 30, 60), results=run.results[:1]
        ),
        "are not of the same texts of the dataset": made_run(made_corpus(60, seed=3)),
        "differ in identity": shard(replace(run, results=(changed, *run.results[1:])), 30, 60),
    }
    for k, (message, other) in enumerate(others.items()):
        with pytest.raises(EvaluationError, match=message):
            merge([first, kept(tmp_path / f"other-{k}", other)])
    with pytest.raises(EvaluationError, match="There is no report to merge"):
        merge([])


@pytest.mark.parametrize(
    ("metric", "change", "reason"),
    [
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
    record, _ = compare(*reports, ReportSettings())
    assert [entry["reason"] for entry in record["not_compared"]] == [reason]
    assert [entry["name"] for entry in record["metrics"]] == ["cider"]


# --- intervals
SHARE = MetricFormula("share", 100.0)
Floats = npt.NDArray[np.float64]


@cache
def corpus_of_films(films: int, each: int) -> Corpus:
    """``each`` ADs of each of so many films."""
    return Corpus(
        tuple(made_item(place, f"film {place // each:03d}") for place in range(films * each)), dataset="made"
    )


def report_of(values: Floats, name: str = "a") -> Report:
    """A report in memory: ``values`` has a row for each film, with a number for each of its ADs."""
    corpus = corpus_of_films(*values.shape)
    numbers = zip(corpus.items, values.ravel().tolist(), strict=True)
    rows = tuple(Row(item.id, (number, 1.0), 100 * number) for item, number in numbers)
    result = replace(empty_result(), rows=rows, figure=SHARE)
    return made_run(corpus, (result,), predictions=made_file(name, name * 64, name))


@cache
def empty_result() -> Result:
    """A mean without rows."""
    return made_result(Corpus(()))


def of_films(n: int, each: int, seed: int) -> Floats:
    """``each`` ADs of ``n`` films; a tenth of what differs lies between films."""
    chance = np.random.default_rng(seed)
    return np.asarray(0.5 + chance.normal(0, 0.1, (n, 1)) + chance.normal(0, 0.3, (n, each)))


def difference(before: Floats, after: Floats) -> dict[str, Any]:
    """What `compare` says of the only metric of two reports."""
    record, _ = compare(report_of(before), report_of(after, "b"), SETTINGS)
    (metric,) = record["metrics"]
    return dict(metric)


def interval(values: Floats) -> dict[str, Any]:
    """The interval around the mean: that of the difference from a system that has 0 everywhere."""
    ends: dict[str, Any] = difference(np.zeros_like(values), values)["interval"]
    return ends


@pytest.mark.parametrize("films", [2, 3, 4, 5, 10, 98])
def test_intervals_of_equal_films_are_the_textbooks(films: int) -> None:
    """The mean of the films' means, by Student's t."""
    stats = pytest.importorskip("scipy.stats")
    values = of_films(films, 20, films)
    found_interval = interval(values)
    means = 100 * values.mean(axis=1)
    reach = stats.t.ppf(0.975, films - 1) * means.std(ddof=1) / np.sqrt(films)
    ends = means.mean() - reach, means.mean() + reach
    assert (found_interval["low"], found_interval["high"]) == pytest.approx(ends, abs=1e-6)
    assert (found_interval["unit"], found_interval["units"], found_interval["level"]) == ("film", films, 0.95)


def test_the_chance_is_that_of_students_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    before, after = of_films(7, 12, 3), of_films(7, 12, 4)
    expected = stats.ttest_rel(before.mean(axis=1), after.mean(axis=1))
    assert difference(before, after)["p_two_sided"] == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(("n", "each"), [(3, 40), (10, 60)])
def test_intervals_hold_the_true_figure_as_often_as_they_say(n: int, each: int) -> None:
    """By single ADs 10 films of 60 hold it in about half of all cases, and 3 by bootstrap in seven of ten."""
    holding = 0
    for trial in range(300):
        ends = interval(of_films(n, each, 1000 * n + trial))
        holding += ends["low"] <= 50.0 <= ends["high"]
    assert 0.91 <= holding / 300 <= 0.99


def test_the_basis_of_intervals_is_told() -> None:
    def basis(*reports: Report, unit: str = "film") -> str:
        """The text of a report with the results of these, on the films of the last."""
        results = tuple(
            replace(report.results[0], name=f"metric {place}") for place, report in enumerate(reports)
        )
        config = Config.model_validate({"measures": {"report": {"unit": unit}}})
        return terminal_text(replace(reports[-1], results=results, config=config))

    assert "lines of this film only" in basis(report_of(of_films(1, 63, 1)))
    assert "over 8 films" in basis(report_of(of_films(8, 3, 1)))
    assert "over 6 to 8 films" in basis(report_of(of_films(6, 3, 1)), report_of(of_films(8, 3, 1)))
    assert "rough" in basis(report_of(of_films(3, 8, 1)))
    assert "as asked" in basis(report_of(of_films(3, 21, 1)), unit="ad")
    # Of fewer than five ADs there is none.
    assert "Intervals" not in basis(report_of(of_films(1, 4, 1)))
    assert "Intervals" not in basis(report_of(np.zeros((0, 0))))
