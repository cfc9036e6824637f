"""``shotad datasets check``."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from shotad.cli.evaluate import datasets as command
from shotad.core import DatasetError
from tests.evaluation.datasets import datasetfiles as files


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(command, ["check", *map(str, words)], catch_exceptions=False)
    return done.exit_code, done.stdout


def test_ones_own_dataset_is_whole_or_not_by_what_it_names(tmp_path: Path) -> None:
    files.table(tmp_path / "ads.csv", ["text", "film", "start", "end"], [["He runs.", "f", 1, 2]])
    mine = tmp_path / "mine.yaml"
    mine.write_text("title: Mine\nannotation: {files: [ads.csv]}\nvideos: {films: ['{film}']}\n")
    assert run(mine, "--root", tmp_path, "--quiet") == (0, "")
    assert run(mine, "--root", tmp_path, "--videos", "--quiet") == (1, "")


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cmd-ad has no annotation"):
        run("cmd-ad", "--root", tmp_path)
