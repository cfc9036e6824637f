"""The report's files: what stands in them, that they are read back whole, and that equal runs are equal."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Config, EvaluationError, MeasureSettings, ShotadError
from shotad.core.config.measures import EmbeddingSettings
from shotad.evaluation import ReportInput, compare, read_report, terminal_text, write_report
from shotad.evaluation.report import writing
from shotad.evaluation.report.writing import intervals_of
from tests.evaluation.report.conftest import with_trouble
from tests.evaluation.report.fakes import made_corpus, made_result, made_run

FILES = ("report.json", "report.html", "report.md", "items.csv", "speed.json", "items.jsonl")


def test_a_report_written_from_what_was_read_is_the_same_to_the_byte(folder: Path, tmp_path: Path) -> None:
    write_report(tmp_path, read_report(folder).as_input(), plots=False)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_the_record_and_table_say_what_they_were_made_of(folder: Path) -> None:
    head = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert head["n"] == {
        "ads": 30, "in_this_report": 30, "missing": 1, "failed": 1, "skipped": 0, "extra": 2, "doubled": 1,
    }  # fmt: skip
    assert head["dataset"]["name"] == "cmd-ad"
    assert re.fullmatch(r"[0-9a-f]{64}", head["dataset"]["texts"])
    assert head["config"]["named"] == ["paper"]
    assert head["config"]["seed"] == 42
    assert head["config"]["measures"]["recall"]["neighbours"] == 5
    assert "numpy" in head["made_with"]["libraries"]
    assert head["left_out"] == [{"metric": "spice", "reason": "Java is missing."}]
    cider, critic = head["metrics"]
    assert cider["n"] == 30
    assert cider["failed"] == 2
    assert (critic["scored"], critic["not_scored"]) == (28, 2)
    assert cider["value"] == pytest.approx(100 * cider["sums"][0] / cider["sums"][1])
    assert cider["interval"]["low"] < cider["value"] < cider["interval"]["high"]
    assert all(row["from_the_paper"] for row in head["paper"])
    # The table opens in a spreadsheet.
    text = (folder / "items.csv").read_bytes().decode("utf-8")
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert len(rows) == 30
    by_id = {row["id"]: row for row in rows}
    assert by_id["5"]["prediction"] == "'=1+1"
    assert by_id["7"]["prediction"] == "東京へ行く\nneu"
    assert by_id["3"]["notes"] == "no prediction"
    assert by_id["4"]["notes"] == "the video is damaged"
    assert by_id["1"]["critic"] == ""
    assert float(by_id["3"]["cider"]) == 0
    assert by_id["0"]["title"] == "Die Brücke & Co"


def test_a_report_of_the_version_that_drew_ads_is_read(folder: Path, tmp_path: Path) -> None:
    """Its settings had a number of draws, and single ADs as the unit unless asked otherwise."""
    head = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    head["config"]["measures"]["report"] |= {"draws": 1000, "unit": "ad"}
    for metric in head["metrics"]:
        metric["interval"] = {"low": 1.0, "high": 2.0, "level": 0.95}
    old = tmp_path / "old"
    shutil.copytree(folder, old)
    (old / "report.json").write_text(json.dumps(head), encoding="utf-8")
    run = read_report(old).as_input()
    assert run.config.measures.report.unit == "film"
    assert intervals_of(run) == intervals_of(read_report(folder).as_input())
    assert compare(read_report(old), read_report(folder), run.config.measures.report).record["metrics"]


def test_no_folder_of_this_machine_stands_in_it_and_times_alone_differ(tmp_path: Path) -> None:
    model = tmp_path / "models" / "mine"
    measures = MeasureSettings(embedding=EmbeddingSettings(model=str(model)))
    corpus = made_corpus(5)
    result = made_result(corpus, identity={"model": str(model), "deep": [{"at": str(tmp_path / "x")}]})
    write_report(tmp_path / "r", made_run(corpus, (result,), config=Config(measures=measures)), plots=False)
    for name in FILES:
        assert str(tmp_path) not in (tmp_path / "r" / name).read_text(encoding="utf-8"), name
    head = read_report(tmp_path / "r").head
    assert head["metrics"][0]["identity"] == {"model": "mine", "deep": [{"at": "x"}]}
    # Two runs that took different times write the same but for the times.
    run = made_run()
    slow = replace(run, results=tuple(replace(r, seconds=99.5, fresh=len(r.rows)) for r in run.results))
    write_report(tmp_path / "a", run, plots=False)
    write_report(tmp_path / "b", slow, plots=False)
    differing = [n for n in FILES if (tmp_path / "a" / n).read_bytes() != (tmp_path / "b" / n).read_bytes()]
    assert differing == ["speed.json"]
    speed = json.loads((tmp_path / "b" / "speed.json").read_text())["metrics"][0]
    assert speed == {"name": "cider", "seconds": 99.5, "rows": 60, "fresh": 60}


def test_an_unfinished_report_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed while it replaces an older one leaves none, not a mixture."""
    write_report(tmp_path, made_run(), plots=False)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("shotad.evaluation.report.writing.write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        write_report(tmp_path, with_trouble(), plots=False)
    with pytest.raises(EvaluationError, match=r"holds no report\.json"):
        read_report(tmp_path)


def test_damaged_and_newer_reports_are_refused(folder: Path, tmp_path: Path) -> None:
    head = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    lines = (folder / "items.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)

    def place(name: str, record: object, kept: list[str]) -> Path:
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(json.dumps(record), encoding="utf-8")
        (tmp_path / name / "items.jsonl").write_text("".join(kept), encoding="utf-8")
        return tmp_path / name

    for name, record, kept, why in (
        ("newer", {**head, "schema": 99}, lines, "schema 99"),
        ("short", head, lines[:-1], "30 rows of cider were written, 29 are there"),
        ("torn", head, [*lines[:-1], lines[-1][:40]], "is damaged"),
        ("list", [1], lines, "is no report"),
    ):
        with pytest.raises(EvaluationError, match=why):
            read_report(place(name, record, kept))
    with pytest.raises(EvaluationError, match=r"holds no report\.json"):
        read_report(tmp_path)


def test_without_matplotlib_a_report_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: ReportInput) -> None:
        raise ShotadError("Plotting needs matplotlib.figure.", 'Install it: pip install "shotad[evaluate]".')

    monkeypatch.setattr(writing, "plots_of", missing)
    write_report(tmp_path, made_run())
    for name in ("report.md", "report.html"):
        assert "There are no plots." in (tmp_path / name).read_text(encoding="utf-8")
    assert not (tmp_path / "plots").exists()


def test_an_empty_run_breaks_nothing(tmp_path: Path) -> None:
    run = made_run(made_corpus(3), ())
    write_report(tmp_path, run)
    assert read_report(tmp_path).results == ()
    assert "speaks of 0 of them" in terminal_text(run)
