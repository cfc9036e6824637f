"""Metrics of a report against people."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from shotad.core import EvaluationError, ReportSettings
from shotad.evaluation import Report, agreement, read_report, write_report
from shotad.evaluation.human_agreement import HumanScores
from tests.evaluation.report.fakes import made_corpus, made_result, made_run

pytest.importorskip("scipy.stats")
SETTINGS = ReportSettings()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("report")
    corpus = made_corpus(80)
    results = (made_result(corpus, "action"), made_result(corpus, "cider", seed=3))
    write_report(folder, made_run(corpus, results), plots=False)
    return read_report(folder)


def people(report: Report, noise: float = 5.0, ids: range = range(50)) -> HumanScores:
    """Two people who think as the first metric does, each a little differently."""
    result = report.result("action")
    assert result is not None
    values = {row.id: row.value or 0.0 for row in result.rows}
    chance = random.Random(1)
    own = {name: {str(k): values[str(k)] + chance.gauss(0, noise) for k in ids} for name in ("ann", "ben")}
    scores = {str(k): (own["ann"][str(k)] + own["ben"][str(k)]) / 2 for k in ids}
    return HumanScores(scores, own)


def test_the_metric_that_thinks_like_people_agrees_with_them(report: Report) -> None:
    found = agreement(report, people(report), SETTINGS)
    (_, _, action), (_, _, cider) = found.metrics
    assert action.n == cider.n == 50
    assert action.pearson.value is not None
    assert action.pearson.value > 0.9
    assert action.kendall.value is not None
    assert action.kendall.value > 0.7
    assert cider.pearson.interval is not None
    assert cider.pearson.interval.low < 0 < cider.pearson.interval.high


def test_people_among_themselves(report: Report) -> None:
    found = agreement(report, people(report), SETTINGS)
    assert [name for name, _, _ in found.people] == ["ann", "ben"]
    assert found.people[0][2].pearson.value == pytest.approx(found.people[1][2].pearson.value)
    alone = HumanScores(people(report).scores, {})
    assert agreement(report, alone, SETTINGS).people == ()


def test_scores_of_other_ads_are_told_and_of_only_others_refused(report: Report) -> None:
    scores = people(report)
    more = HumanScores({**scores.scores, "strange": 1.0}, {})
    found = agreement(report, more, SETTINGS)
    assert found.unknown == ("strange",)
    assert found.metrics[0][2].n == 50
    assert "1 scored AD not in the report: strange." in found.text
    with pytest.raises(EvaluationError, match="None of the 1 ADs"):
        agreement(report, HumanScores({"strange": 1.0}, {}), SETTINGS)


def test_a_constant_metric_is_told_and_breaks_nothing(tmp_path: Path) -> None:
    corpus = made_corpus(10)
    write_report(tmp_path, made_run(corpus, (made_result(corpus, "cider", scale=0.0),)), plots=False)
    scores = HumanScores({str(k): float(k) for k in range(10)}, {})
    found = agreement(read_report(tmp_path), scores, SETTINGS)
    assert "CIDER: not defined, the metric gives all of them the same number." in found.text
    record = json.loads(json.dumps(found.record()))
    assert record["metrics"][0]["pearson"] == {"value": None, "interval": None}
