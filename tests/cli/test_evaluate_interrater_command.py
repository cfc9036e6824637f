"""``shotad evaluate inter-rater`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import Said, Shotad
from tests.conftest import needed

needed("scipy")

A = "WEBVTT\n\n00:01.000 --> 00:04.000\nAnn opens the door.\n\n00:10.000 --> 00:12.000\nShe runs.\n"
B = "WEBVTT\n\n00:01.000 --> 00:03.900\nAnn opens\nthe door.\n\n00:30.000 --> 00:32.000\nRain.\n"


@pytest.fixture
def rated(shotad: Shotad, tmp_path: Path) -> Shotad:
    (tmp_path / "a.vtt").write_text(A, encoding="utf-8")
    (tmp_path / "b.vtt").write_text(B, encoding="utf-8")

    def call(*words: object) -> Said:
        files = (
            words
            if words and Path(str(words[0])).suffix == ".csv"
            else (tmp_path / "a.vtt", tmp_path / "b.vtt", *words)
        )
        return shotad(
            "evaluate", "inter-rater", *files, "--cache", tmp_path / "kept.sqlite", "--metrics",
            "rouge-l,bleu-1",
        )  # fmt: skip

    return call


def test_as_json_with_the_pairs(rated: Shotad, tmp_path: Path) -> None:
    said = rated("--tiou", "0.8", "--json", "--out", tmp_path / "o")
    assert said.code == 0, said.err
    record = json.loads(said.out)
    (pair,) = record["pairs"]
    assert pair["b"]["text"] == "Ann opens the door."
    assert pair["tiou"] == pytest.approx(2.9 / 3, abs=1e-6)
    assert json.loads((tmp_path / "o" / "inter-rater.json").read_text(encoding="utf-8")) == record


def test_a_table_and_a_file_that_is_not_there_which_is_told_once(rated, shotad, tmp_path):
    table = tmp_path / "both.csv"
    table.write_text("film,rater,start,end,text\nUp,x,0,4,A dog.\nUp,y,0,4,A cat.\n", encoding="utf-8")
    said = rated(table, "--tiou", "0.5")
    assert said.code == 0, said.err
    assert "x: 1 line. y: 1 line." in said.out
    said = shotad("evaluate", "inter-rater", tmp_path / "a.vtt", tmp_path / "none.vtt")
    assert (said.code, said.err.count("none.vtt")) == (1, 1)
