"""``shotad predict``: what it says, what it refuses, and what is left when it is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from shotad.core import load_config
from tests.cli.program import FAKE, Shotad
from tests.evaluation.predicting.minidataset import make_cmd


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cmd(tmp_path_factory.mktemp("cmd"))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


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


def test_shots_that_are_not_there_cannot_be_asked_for(shotad: Shotad, root: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "cmdad_anno.csv").write_bytes((root / "cmdad_anno.csv").read_bytes())
    words = (
        "predict", "cmd-ad", "--root", bare, "--videos", root, "--out", tmp_path / "p.jsonl", "--limit", 1,
    )  # fmt: skip
    refused = shotad(*words, "--shots", "published", *FAKE)
    assert refused.code == 2
    assert "no published shots" in refused.err
    taken = shotad(*words, *FAKE)
    assert taken.code == 0
    assert rows(tmp_path / "p.jsonl")[0]["shots"] == "found"


@pytest.mark.slow
def test_it_is_killed_again_and_again_and_ends_as_if_nothing_had_been(root: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    assert _ended(_started(root, whole)) == 0
    for lines in (1, 8):
        process = _started(root, out)
        deadline = time.monotonic() + 300
        while process.poll() is None and (not out.exists() or out.read_bytes().count(b"\n") < lines):
            assert time.monotonic() < deadline, "nothing happens"
            time.sleep(0.002)
        process.kill()
        _ended(process)
        for line in out.read_text().splitlines(keepends=True):
            assert not line.endswith("\n") or json.loads(line)["id"], "each whole line is one"
    assert _ended(_started(root, out)) == 0
    assert out.read_bytes() == whole.read_bytes()


def _ended(process: subprocess.Popen[str]) -> int:
    """The exit code, when it has ended."""
    process.communicate(timeout=300)
    return process.returncode


def _started(root: Path, out: Path) -> subprocess.Popen[str]:
    words = ["predict", "cmd-ad", "--root", str(root), "--out", str(out), *FAKE]
    return subprocess.Popen(
        [sys.executable, "-c", "from shotad.cli.main import main; main()", *words],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_starts_from_what_every_benchmark_wants_and_is_told_otherwise(shotad, root, tmp_path):
    """The embedded narrator speaks wherever it can, unless --config or --set says that it need not."""
    quiet = tmp_path / "quiet.yaml"
    quiet.write_text("narrator:\n  always: false\n")
    given: dict[str, tuple[str, ...]] = {
        "plain": (), "config": ("--config", str(quiet)), "set": ("--set", "narrator.always=false"),
    }  # fmt: skip
    told = {}
    for name, words in given.items():
        out = tmp_path / f"{name}.jsonl"
        shotad("predict", "cmd-ad", "--root", root, "--out", out, "--films", "tt2", *words, *FAKE)
        settings = json.loads((tmp_path / f"{name}.shotad" / "settings.json").read_text())
        told[name] = settings["config"]["narrator"]["always"]
    assert told == {"plain": True, "config": False, "set": False}
    described = load_config(["cmd-ad"], ())
    assert not described.narrator.always
