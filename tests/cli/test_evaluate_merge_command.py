"""``shotad evaluate merge`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

from shotad.evaluation import write_report
from tests.cli.program import Shotad
from tests.evaluation.report.fakes import made_run, shard


def test_shards_become_one_report(shotad: Shotad, tmp_path: Path) -> None:
    run = made_run()
    write_report(tmp_path / "1", shard(run, 0, 25), plots=False)
    write_report(tmp_path / "2", shard(run, 25, 60), plots=False)
    said = shotad("evaluate", "merge", tmp_path / "1", tmp_path / "2", "--out", tmp_path / "all")
    assert said.code == 0, said.err
    assert "this report speaks of 60 of them" in said.out
    assert "Written:" in said.err
    head = json.loads((tmp_path / "all" / "report.json").read_text(encoding="utf-8"))
    assert [metric["value"] for metric in head["metrics"]] == [result.value for result in run.results]


def test_a_shard_twice_is_refused(shotad: Shotad, tmp_path: Path) -> None:
    write_report(tmp_path / "1", shard(made_run(), 0, 25), plots=False)
    said = shotad("evaluate", "merge", tmp_path / "1", tmp_path / "1", "--out", tmp_path / "all")
    assert said.code == 1
    assert "25 items stand in both results of CIDER" in said.err
    assert not (tmp_path / "all").exists()
