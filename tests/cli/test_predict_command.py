"""``shotad predict``: what it says, what it refuses, and how it goes on after it was killed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import FAKE, Shotad
from tests.evaluation.predicting.minidataset import make_cmd


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cmd(tmp_path_factory.mktemp("cmd"))


def test_it_tells_programs_the_same(shotad: Shotad, root: Path, tmp_path: Path) -> None:
    words = ("predict", "cmd-ad", "--root", root, "--out", tmp_path / "p.jsonl", "--films", "tt2", "--json")
    said = shotad(*words, *FAKE)
    told = json.loads(said.out)
    assert (told["ads"], told["clips"], told["made"], told["kept"], told["failed"]) == (3, 2, 2, 0, 1)
    assert told["statuses"] == {"failed": 1, "placed": 2}
    assert told["failures"][0]["clip"] == "2002/broken"
    assert told["used"]["calls"] == 4
    again = json.loads(shotad(*words, *FAKE).out)
    assert (again["made"], again["kept"], again["used"]) == (0, 2, None)


def test_a_killed_run_ends_as_if_nothing_had_been(shotad: Shotad, root: Path, tmp_path: Path) -> None:
    """A kill leaves lines up to some place, the last of them torn."""
    out = tmp_path / "p.jsonl"
    words = ("predict", "cmd-ad", "--root", root, "--out", out, *FAKE)
    code = shotad(*words).code
    whole = out.read_bytes()
    for share in (0.2, 0.7):
        out.write_bytes(whole[: int(len(whole) * share)])
        assert shotad(*words).code == code
        assert out.read_bytes() == whole


def test_shots_that_are_not_there_cannot_be_asked_for(shotad: Shotad, root: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "cmdad_anno.csv").write_bytes((root / "cmdad_anno.csv").read_bytes())
    words = ("predict", "cmd-ad", "--root", bare, "--videos", root, "--out", tmp_path / "p.jsonl")
    refused = shotad(*words, "--limit", 1, "--shots", "published", *FAKE)
    assert refused.code == 2
    assert "no published shots" in refused.err
    taken = shotad(*words, "--limit", 1, *FAKE)
    assert taken.code == 0
    (row,) = map(json.loads, (tmp_path / "p.jsonl").read_text().splitlines())
    assert row["shots"] == "found"


def test_lines_in_another_language_are_written_with_a_warning(
    shotad: Shotad, root: Path, tmp_path: Path
) -> None:
    words = ("predict", "cmd-ad", "--root", root, "--out", tmp_path / "p.jsonl", "--limit", 1, *FAKE)
    assert "The metrics are made for English" in shotad(*words, "--set", "language=de").err
    assert "made for English" not in shotad(*words).err
