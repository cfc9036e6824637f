"""Metrics against people: their scores from files, correlations, and what is told; and two human ADs of one film:
which lines are of the same moment, and how they score."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Interval
from shotad.core.config.measures import ReportSettings
from shotad.core.errors import DatasetError, EvaluationError
from shotad.evaluation import (
    Corpus,
    Item,
    Report,
    Row,
    agreement,
    agreement_text,
    inter_rater,
    read_report,
    read_scores,
    write_report,
)
from shotad.evaluation.interrater import from_table, pairs
from tests.conftest import needed
from tests.evaluation.judges.judging import bench_of
from tests.evaluation.report.fakes import made_corpus, made_result, made_run

needed("scipy")


def read(tmp_path: Path, text: str, name: str = "scores.csv") -> Any:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8-sig")
    return read_scores(path)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_annotators_are_averaged_and_their_own_scores_are_kept(tmp_path: Path, mark: str) -> None:
    scores = read(tmp_path, "anno_idx,ann,ben,cleo\n1,3,2,1\n2,0,,1\n".replace(",", mark))
    assert scores.scores == {"1": 2.0, "2": 0.5}
    assert scores.by_annotator == {
        "ann": {"1": 3.0, "2": 0.0}, "ben": {"1": 2.0}, "cleo": {"1": 1.0, "2": 1.0},
    }  # fmt: skip
    # Actions of an AD are averaged after the annotators: 2 and 1 make 1.5, not (3 + 1 + 1) / 3.
    scores = read(tmp_path, "id,action,a,b\n1,He runs.,3,1\n1,He falls.,1,\n")
    assert scores.scores == {"1": 1.5}
    # A line without a score is counted.
    scores = read(tmp_path, "id,a,b\n1,1,1\n2,,\n")
    assert scores.scores == {"1": 1.0}
    assert scores.empty == 1


def test_scores_of_json_lines_and_of_people_alone(tmp_path: Path) -> None:
    text = '{"id": 1, "score": 2}\n\n{"id": "b", "score": 0}\n'
    assert read(tmp_path, text, "s.jsonl").scores == {"1": 2.0, "b": 0.0}
    named = read(tmp_path, '{"id": "1", "ann": 1, "ben": 2}\n', "s.jsonl")
    assert named.scores == {"1": 1.5}
    # Numbers that no annotator gave are not averaged.
    # Such as those of ``items.csv``, to which people add columns of their own.
    columns = "id,start,end,cider,llm-ad-eval@openai:gpt-4o,ann,ben"
    scores = read(tmp_path, f"{columns}\n1,4.5,6,26.3,2,3,5\n2,8,9.5,0,1,1,1\n")
    assert scores.scores == {"1": 4.0, "2": 1.0}
    assert scores.columns == ("ann", "ben")
    assert scores.ignored == ("start", "end", "cider", "llm-ad-eval@openai:gpt-4o")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,score\n", "holds no scores"),
        ("id,score\n1,2\n1,3\n", "line 3: AD '1' was scored before, in scores.csv, line 2"),
        ("id,score\n1,good\n", "line 2: score 'good' is no score"),
        ("id,text\n1,good\n", "no column of scores"),
        ("score\n2\n", "names no AD"),
        ("id,score\n1,2,3\n", "3 cells for 2 columns"),
        ('{"id": 1, "score": true}\n', "no score"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises((DatasetError, EvaluationError), match=said):
        read(tmp_path, text)


SETTINGS = ReportSettings()


def correlated(tmp_path: Path, metric: Sequence[float], people: Sequence[float]) -> dict[str, Any]:
    """What is said of a metric with these values of ADs, to which people gave these scores."""
    corpus = made_corpus(len(metric), 1)
    rows = tuple(Row(item.id, (value, 1.0), value) for item, value in zip(corpus.items, metric, strict=True))
    result = replace(made_result(corpus, "action"), rows=rows)
    lines = [f"{item.id},{score}" for item, score in zip(corpus.items, people, strict=True)]
    scores = read(tmp_path, "\n".join(["id,score", *lines, ""]))
    (record,) = agreement(made_run(corpus, (result,)), scores, SETTINGS)["metrics"]
    return dict(record)


def test_ties_by_hand(tmp_path: Path) -> None:
    """Four pairs, the first two equal in x: 5 pairs in the same order, none against; tau-b = 5 / sqrt(5 · 6)."""
    coefficients = correlated(tmp_path, [1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0])
    assert coefficients["kendall_tau_b"]["value"] == pytest.approx(5 / np.sqrt(30))
    assert coefficients["spearman"]["value"] == pytest.approx(
        np.corrcoef([1.5, 1.5, 3, 4], [1, 2, 3, 4])[0, 1]
    )


@pytest.mark.parametrize(
    ("metric", "people", "reason"),
    [
        ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], "the metric gives all of them the same"),
        ([1.0, 2.0, 3.0], [2.0, 2.0, 2.0], "people give all of them the same"),
        ([1.0, 2.0], [1.0, 2.0], "only 2 ADs"),
    ],
)
def test_where_it_is_not_defined_the_reason_is_told(
    tmp_path: Path, metric: list[float], people: list[float], reason: str
) -> None:
    coefficients = correlated(tmp_path, metric, people)
    assert reason in coefficients["reason"]
    assert all(coefficients[name]["value"] is None for name in ("pearson", "spearman", "kendall_tau_b"))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("report")
    corpus = made_corpus(80)
    results = (made_result(corpus, "action"), made_result(corpus, "cider", seed=3))
    write_report(folder, made_run(corpus, results), plots=False)
    return read_report(folder)


def people(tmp_path: Path, report: Report, *more: str) -> Any:
    """Two people who think as the first metric does of its first 50 ADs, each a little differently; and more lines."""
    result = report.result("action")
    assert result is not None
    chance = random.Random(1)
    lines = ["id,ann,ben", *more]
    for row in result.rows[:50]:
        scores = [(row.value or 0.0) + chance.gauss(0, 5.0) for _ in range(2)]
        lines.append(f"{row.id},{scores[0]},{scores[1]}")
    return read(tmp_path, "\n".join([*lines, ""]))


def test_people_and_metric_agree_and_each_person_with_the_other(report: Report, tmp_path: Path) -> None:
    agreed = agreement(report, people(tmp_path, report), SETTINGS)
    action, cider = agreed["metrics"]
    assert action["pearson"]["value"] > 0.9 > cider["pearson"]["value"]
    assert action["pearson"]["interval"]["low"] < action["pearson"]["value"]
    assert [person["name"] for person in agreed["people"]] == ["ann", "ben"]
    assert agreed["people"][0]["pearson"]["value"] == pytest.approx(agreed["people"][1]["pearson"]["value"])


def test_scores_of_other_ads_are_told_and_of_only_others_refused(report: Report, tmp_path: Path) -> None:
    more = people(tmp_path, report, "strange,1.0,1.0")
    agreed = agreement(report, more, SETTINGS)
    assert agreed["not_in_the_report"] == ["strange"]
    assert agreed["metrics"][0]["n"] == 50
    assert "1 scored AD not in the report: strange." in agreement_text(agreed, more)
    with pytest.raises(EvaluationError, match="None of the 1 ADs"):
        agreement(report, read(tmp_path, "id,score\nstrange,1.0\n"), SETTINGS)


def test_a_constant_metric_is_told_and_breaks_nothing(tmp_path: Path) -> None:
    corpus = made_corpus(10)
    write_report(tmp_path, made_run(corpus, (made_result(corpus, "cider", scale=0.0),)), plots=False)
    scores = read(tmp_path, "".join(["id,score\n", *(f"{k},{k}\n" for k in range(10))]))
    agreed = agreement(read_report(tmp_path), scores, SETTINGS)
    text = agreement_text(agreed, scores)
    assert "CIDER: not defined, the metric gives all of them the same number." in text
    record = json.loads(json.dumps(agreed))
    assert record["metrics"][0]["pearson"] == {"value": None, "interval": None}


# --- two human ADs
def version(name: str, *lines: tuple[float, float, str], film: str = "film") -> Corpus:
    spoken = (Item(f"{film}:{k}", film, Interval(a, b), (text,)) for k, (a, b, text) in enumerate(lines, 1))
    return Corpus(tuple(spoken), dataset=name)


def test_lines_have_one_partner_of_their_film() -> None:
    """The first of A fits both of B; taking its best fit would leave its neighbour alone."""
    a = version("a", (0, 10, "one"), (4, 12, "two"))
    b = version("b", (2, 12, "x"), (0, 6, "y"))
    partners = {(line_of_a.reference, line_of_b.reference) for line_of_a, line_of_b, _ in pairs(a, b, 0.1)}
    assert partners == {("one", "y"), ("two", "x")}
    # Lines of other films are never paired.
    a = Corpus(version("a", (0, 4, "one"), film="x").items + version("a", (0, 4, "two"), film="y").items)
    ((line_of_a, _, _),) = pairs(a, version("b", (0, 4, "other"), film="y"), 0.5)
    assert line_of_a.reference == "two"


SAID = (
    "Ann opens the door slowly.", "She runs to the car.", "Ben waits at the window.", "They drive away fast.",
)  # fmt: skip


def versions() -> tuple[Corpus, Corpus]:
    a = version("first", *((10.0 * k, 10 * k + 4, text) for k, text in enumerate(SAID)))
    other = ("Ann slowly opens the door.", "She runs to the car.", "Rain falls.", "The car is gone.")
    lines = ((10.0 * k + 0.2, 10 * k + 4 + 2 * (k == 3), text) for k, text in enumerate(other))
    return a, version("second", *lines)


def test_both_directions_at_each_threshold() -> None:
    record = inter_rater(*versions(), [0.8, 0.5], bench_of(), ["cider", "rouge-l"])
    assert [(direction["tiou"], direction["reference"], direction["pairs"]) for direction in record["directions"]] == [
        (0.5, "first", 4), (0.5, "second", 4), (0.8, "first", 3), (0.8, "second", 3),
    ]  # fmt: skip
    rouge = [direction["metrics"][1] for direction in record["directions"]]
    assert rouge[2]["value"] > rouge[0]["value"], "the pair that fits worst in time says something else"
    assert not any(
        metric["comparable"] for direction in record["directions"] for metric in direction["metrics"]
    )
    for line, value in ((1, 100.0), (2, 0.0)):  # the same words, and others
        a, b = (
            Corpus(direction.items[line : line + 1], dataset=direction.dataset) for direction in versions()
        )
        (alone, _) = inter_rater(a, b, [0.5], bench_of(), ["rouge-l"])["directions"]
        assert alone["metrics"][0]["value"] == pytest.approx(value)


def test_nothing_in_common_and_metrics_of_casts_are_refused() -> None:
    a = version("a", (0, 4, "one"))
    with pytest.raises(EvaluationError, match=r"No line of a has a tIoU of 0.5 with one of b. Name a lower"):
        inter_rater(a, version("b", (50, 54, "x")), [0.5], bench_of(), ["cider"])
    with pytest.raises(EvaluationError, match="critic needs more than two texts"):
        inter_rater(*versions(), [0.5], bench_of(), ["critic"])


TABLE = (
    "film,rater,start,end,text\nUp,a,0,4,One.\nUp,b,0:00:01,0:00:04,Two.\nCoco,b,7,9,Three.\nCoco,a,7,9, \n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("film,start,end,text\nUp,0,4,One.\n", "has the columns film, start"),
        ("film,rater,start,end,text\nUp,a,0,4,One.\n", "has 1 raters: a"),
        (TABLE + "Up,c,1,2,Four.\n", "has 3 raters"),
        (TABLE + "Up,a,4,2,Four.\n", "line 6: interval must start before it ends"),
        (TABLE + "Up,a,x,2,Four.\n", "line 6: 'x' is no time"),
    ],
)
def test_tables_that_cannot_be_meant(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "two.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EvaluationError, match=said):
        from_table(path)
