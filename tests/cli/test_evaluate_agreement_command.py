"""``shotad evaluate agreement`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.evaluation import write_report
from tests.cli.program import Shotad
from tests.evaluation.report.fakes import made_run

pytest.importorskip("scipy.stats")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    run = made_run()
    write_report(tmp_path / "r", run, plots=False)
    scores = tmp_path / "scores.csv"
    lines = [
        f"{row.id},{(row.value or 0) / 30:.2f},{(row.value or 0) / 31:.2f}"
        for row in run.results[1].rows[:40]
    ]
    scores.write_text("\n".join(["id,ann,ben", *lines]) + "\n", encoding="utf-8")
    return tmp_path / "r", scores


def test_the_table_and_the_papers(shotad: Shotad, files: tuple[Path, Path]) -> None:
    report, scores = files
    said = shotad("evaluate", "agreement", report, "--scores", scores)
    assert said.code == 0, said.err
    assert "Test system against human scores of 40 ADs." in said.out
    assert "Scores stand in the columns ann, ben, and are averaged." in said.out
    (line,) = [line for line in said.out.splitlines() if line.startswith("ACTION")]
    assert line.split()[1] == "40"
    assert line.split()[2] == "1.000"
    assert "ann (a person)" in said.out
    assert "From the paper, Table 3" in said.out


def test_one_metric_as_json(shotad: Shotad, files: tuple[Path, Path], tmp_path: Path) -> None:
    report, scores = files
    words = ("--metric", "cider", "--json", "--out", tmp_path / "o")
    said = shotad("evaluate", "agreement", report, "--scores", scores, *words)
    assert said.code == 0, said.err
    record = json.loads(said.out)
    assert [metric["name"] for metric in record["metrics"]] == ["cider"]
    assert -1 <= record["metrics"][0]["kendall_tau_b"]["value"] <= 1
    assert json.loads((tmp_path / "o" / "agreement.json").read_text(encoding="utf-8")) == record


def test_an_unknown_metric(shotad: Shotad, files: tuple[Path, Path]) -> None:
    report, scores = files
    said = shotad("evaluate", "agreement", report, "--scores", scores, "--metric", "ciderr")
    assert said.code == 1
    assert "has no metric 'ciderr'. It has: cider, action, repetition." in said.err
