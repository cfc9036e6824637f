"""``shotad datasets check``."""

from __future__ import annotations

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


def test_ones_own_dataset_is_whole_or_not_by_what_it_names(tmp_path: Path) -> None:
    files.table(tmp_path / "ads.csv", ["text", "film", "start", "end"], [["He runs.", "f", 1, 2]])
    mine = tmp_path / "mine.yaml"
    mine.write_text("title: Mine\nannotation: {files: [ads.csv]}\nvideos: {films: ['{film}']}\n")
    assert run(mine, "--root", tmp_path, "--quiet") == (0, "")
    assert run(mine, "--root", tmp_path, "--videos", "--quiet") == (1, "")


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


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cmd-ad has no annotation"):
        run("cmd-ad", "--root", tmp_path)
