"""``shotad evaluate compare`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.evaluation import write_report
from shotad.evaluation.report.inputs import Predictions
from tests.cli.program import Shotad
from tests.evaluation.report.fakes import made_corpus, made_result, made_run


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    corpus = made_corpus(40)
    better = Predictions("b.jsonl", "", "System B")
    write_report(tmp_path / "a", made_run(corpus, (made_result(corpus),)), plots=False)
    run = made_run(corpus, (made_result(corpus, shift=2.0),), predictions=better)
    write_report(tmp_path / "b", run, plots=False)
    return tmp_path / "a", tmp_path / "b"


def test_two_reports(shotad: Shotad, folders: tuple[Path, Path]) -> None:
    said = shotad("evaluate", "compare", *folders)
    assert said.code == 0, said.err
    assert "A: Test system." in said.out
    (line,) = [line for line in said.out.splitlines() if line.startswith("CIDER")]
    assert "+2.0" in line
    assert line.endswith("B")
    assert "each left out once" in said.out


def test_json_and_files(shotad: Shotad, folders: tuple[Path, Path], tmp_path: Path) -> None:
    words = ("--unit", "film", "--out", tmp_path / "c", "--json")
    said = shotad("evaluate", "compare", folders[0] / "report.json", folders[1], *words)
    assert said.code == 0, said.err
    record = json.loads(said.out)
    assert record["intervals"]["unit"] == "film"
    assert record["metrics"][0]["difference"] == pytest.approx(2)
    assert json.loads((tmp_path / "c" / "compare.json").read_text(encoding="utf-8")) == record
    assert (tmp_path / "c" / "compare.html").is_file()


def test_a_folder_without_a_report(shotad: Shotad, folders: tuple[Path, Path], tmp_path: Path) -> None:
    said = shotad("evaluate", "compare", folders[0], tmp_path)
    assert said.code == 1
    assert "holds no report.json" in said.err
    assert "shotad evaluate ad has written" in said.err
