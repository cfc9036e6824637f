"""``shotad evaluate cml`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import Said, Shotad
from tests.evaluation.cml.script_reader import MUTE, PUBLISHED, READER, SCRIPT, use_word_vectors


@pytest.fixture
def cml(shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shotad:
    use_word_vectors(monkeypatch)
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "light.xml").write_text(SCRIPT, encoding="utf-8")

    def call(*words: object) -> Said:
        return shotad("evaluate", "cml", tmp_path / "films", "--cache", tmp_path / "kept.sqlite", *words)

    return call


def test_a_table_and_a_file(cml: Shotad, tmp_path: Path) -> None:
    said = cml("--judge", READER, "--out", tmp_path / "out")
    assert said.code == 0, said.err
    assert "Read: 1 of 1 (100.0%)" in said.out
    assert "By the published code" in said.out
    (source,) = json.loads((tmp_path / "out" / "cml.json").read_text(encoding="utf-8"))["sources"]
    assert source["source"] == "films"
    assert source["means"]["cc2_linguistic_consistency"] == pytest.approx(
        PUBLISHED["cc2_linguistic_consistency"]
    )
    record = json.loads(cml("--judge", READER, "--json").out)
    assert record["sources"] == [source]


def test_a_failure_is_told_by_the_exit_code(cml: Shotad) -> None:
    said = cml("--judge", MUTE)
    assert said.code == 1
    assert "1 screenplay with answers that failed" in said.out


def test_the_instruction(shotad: Shotad, tmp_path: Path) -> None:
    summary = tmp_path / "Light.txt"
    summary.write_text("Two keepers wait.\n", encoding="utf-8")
    said = shotad("evaluate", "cml", "--instruction", summary)
    assert said.code == 0, said.err
    assert "Title: Light\nSummary: Two keepers wait.\n" in said.out
    assert "<stage_direction>" in said.out
    summary.write_text(" ", encoding="utf-8")
    assert "is empty" in shotad("evaluate", "cml", "--instruction", summary).err
