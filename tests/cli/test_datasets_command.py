"""``shotad datasets check``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from shotad.cli.datasets import command
from shotad.core import DatasetError
from tests.evaluation.datasets import datasetfiles as files

CMDAD = Path(__file__).resolve().parents[3] / "shared" / "data" / "cmd-ad"


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(command, ["check", *map(str, words)], catch_exceptions=False)
    return done.exit_code, done.stdout


def test_a_part_of_a_dataset_ends_with_1_and_says_what_is_missing(tmp_path: Path) -> None:
    code, out = run("cmd-ad", "--root", files.cmd_ad(tmp_path), "--plain")
    assert code == 1
    assert "4 ADs of 13 words in 2 clips of 2 films" in out
    assert "- in all: 4 ADs; CMD-AD as published has 7,316." in out


def test_json(tmp_path: Path) -> None:
    code, out = run("mad-eval", "--root", files.mad_eval(tmp_path), "--json")
    record = json.loads(out)
    assert code == 1
    assert (record["dataset"], record["counts"]["ads"], record["whole"]) == ("mad-eval", 3, False)
    assert {one["level"] for one in record["findings"]} == {"missing", "note"}


def test_a_plain_file_of_human_ads(tmp_path: Path) -> None:
    mine = files.table(tmp_path / "mine.csv", ["id", "text"], [["1", "He runs."]])
    code, out = run(mine, "--plain")
    assert code == 1
    assert "1 ADs of 2 words" in out
    assert "there are no actions" in out


def test_ones_own_dataset_is_whole_or_not_by_what_it_names(tmp_path: Path) -> None:
    files.table(tmp_path / "ads.csv", ["text", "film", "start", "end"], [["He runs.", "f", 1, 2]])
    mine = tmp_path / "mine.yaml"
    mine.write_text("title: Mine\nannotation: {files: [ads.csv]}\nvideos: {films: ['{film}']}\n")
    assert run(mine, "--root", tmp_path, "--quiet") == (0, "")
    assert run(mine, "--root", tmp_path, "--videos", "--quiet") == (1, "")


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cmd-ad has no annotation"):
        run("cmd-ad", "--root", tmp_path)


def test_cmd_ad_itself() -> None:
    if not CMDAD.is_dir():
        pytest.skip(f"needs the CMD-AD annotation in {CMDAD}")
    code, out = run("cmd-ad", "--root", CMDAD, "--plain")
    assert code == 0
    for words in (
        "7,316 ADs",
        "591 clips of 98 films",
        "11,571 actions; 2 ADs without",
        "3 without a cut (29 ADs)",
    ):
        assert words in out
