"""``shotad evaluate actions``, as a command of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shotad.cli.evaluate import actions_command
from shotad.core import EngineError, ShotadError
from tests.evaluation.making.makers import MAKER, Rote


def run(*words: object) -> Result:
    result = CliRunner().invoke(actions_command, [str(word) for word in words])
    if isinstance(result.exception, ShotadError):
        raise result.exception
    return result


@pytest.fixture
def ads(tmp_path: Path) -> Path:
    path = tmp_path / "ads.csv"
    path.write_text("id,text\n1,Ada opens the door and sees Bo.\n2,The guard sits.\n", encoding="utf-8")
    return path


def test_a_second_run_asks_nothing_unless_it_is_told_to(ads: Path, tmp_path: Path) -> None:
    words = (ads, "--engine", MAKER, "--out", tmp_path / "acts.csv", "--quiet")
    run(*words)
    first = (tmp_path / "acts.csv").read_bytes()
    Rote.asked.clear()
    assert run(*words).exit_code == 0
    assert not Rote.asked
    assert (tmp_path / "acts.csv").read_bytes() == first
    run(*words, "--force")
    assert len(Rote.asked) == 4


def test_failures_are_listed_and_told_by_the_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "ads.jsonl"
    path.write_text('{"id": 1, "text": "Rain falls."}\n{"id": 2, "text": "…"}\n', encoding="utf-8")
    result = run(path, "--engine", MAKER, "--out", tmp_path / "acts.csv", "--json")
    assert result.exit_code == 1
    record = json.loads(result.stdout)
    assert record["n"] == {"ads": 2, "failed": 1, "actions": 1}
    assert record["failed"] == [{"id": "2", "reason": "people could not be taken out: it has no words"}]


def test_a_run_that_stopped_goes_on(ads: Path, tmp_path: Path) -> None:
    words = (ads, "--out", tmp_path / "acts.csv", "--quiet", "--engine")
    Rote.asked.clear()
    with pytest.raises(EngineError):
        run(*words, "opanai:m")
    assert not (tmp_path / "acts.csv").exists()
    assert run(*words, MAKER).exit_code == 0
