"""``shotad evaluate agreement``, ``compare`` and ``merge``, on reports that were written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.evaluation import write_report
from shotad.evaluation.report.inputs import Predictions
from tests.cli.program import Shotad
from tests.evaluation.report.fakes import made_corpus, made_result, made_run, shard


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    pytest.importorskip("scipy.stats")
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


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    corpus = made_corpus(40)
    better = Predictions("b.jsonl", "", "System B")
    write_report(tmp_path / "a", made_run(corpus, (made_result(corpus),)), plots=False)
    run = made_run(corpus, (made_result(corpus, shift=2.0),), predictions=better)
    write_report(tmp_path / "b", run, plots=False)
    return tmp_path / "a", tmp_path / "b"


def test_json_and_files(shotad: Shotad, folders: tuple[Path, Path], tmp_path: Path) -> None:
    words = ("--unit", "film", "--out", tmp_path / "c", "--json")
    said = shotad("evaluate", "compare", folders[0] / "report.json", folders[1], *words)
    assert said.code == 0, said.err
    record = json.loads(said.out)
    assert record["intervals"]["unit"] == "film"
    assert record["metrics"][0]["difference"] == pytest.approx(2)
    assert json.loads((tmp_path / "c" / "compare.json").read_text(encoding="utf-8")) == record
    assert (tmp_path / "c" / "compare.html").is_file()


def test_a_shard_twice_is_refused(shotad: Shotad, tmp_path: Path) -> None:
    write_report(tmp_path / "1", shard(made_run(), 0, 25), plots=False)
    said = shotad("evaluate", "merge", tmp_path / "1", tmp_path / "1", "--out", tmp_path / "all")
    assert said.code == 1
    assert "25 items stand in both results of CIDER" in said.err
    assert not (tmp_path / "all").exists()
