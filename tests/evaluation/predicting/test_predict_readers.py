"""Models that read film grammar: loaded once for all clips of a run, and what they read is the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from shotad.core import ConfigError
from shotad.evaluation import Wanted
from shotad.grammar import vit_features as dinov2
from tests.evaluation.predicting.minidataset import Runs, make_cmd
from tests.tiny import make_backbone

CLIPS = (frozenset("0123"), frozenset("78"), frozenset(("9", "10")))
"""Ids of the ADs of three clips that have videos."""


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    root = make_cmd(tmp_path / "root")
    shutil.copy(root / "2002/two.mp4", root / "2001/gone.mp4")
    return Runs(root, tmp_path / "preds.jsonl")


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that models were loaded from, one by one."""
    seen: list[str] = []
    real = dinov2.load_model

    def load(folder: Path) -> object:
        seen.append(folder.name)
        return real(folder)

    monkeypatch.setattr(dinov2, "load_model", load)
    return seen


def test_a_model_is_loaded_once_for_all_clips(runs: Runs, tmp_path: Path, loads: list[str]) -> None:
    model = make_backbone(tmp_path / "tiny", hidden=48, blocks=1, heads=3)
    settings = (f"threads.features={model}", "compute.device=cpu")
    together, apart = tmp_path / "together", tmp_path / "apart"
    runs.run(*settings, wanted=Wanted(frozenset().union(*CLIPS)), published=False, work=together)
    lines = runs.out.read_text().splitlines()
    assert loads == ["tiny"]
    singly: list[str] = []
    for number, ids in enumerate(CLIPS):
        runs.out = tmp_path / f"{number}.jsonl"
        runs.run(*settings, wanted=Wanted(ids), published=False, work=apart)
        singly += runs.out.read_text().splitlines()
    assert loads == ["tiny"] * 4
    assert lines == singly
    assert len(grammars(together)) == len(CLIPS)
    assert all("dinov2:tiny@" in json.loads(grammar)["features"] for grammar in grammars(together).values())
    assert grammars(together) == grammars(apart)


def grammars(work: Path) -> dict[str, bytes]:
    """What was read of each clip."""
    return {path.parent.name: path.read_bytes() for path in work.glob("*/grammar.json")}


def test_a_second_run_loads_nothing(runs: Runs, tmp_path: Path, loads: list[str]) -> None:
    model = make_backbone(tmp_path / "tiny", hidden=48, blocks=1, heads=3)
    settings = (f"threads.features={model}", "compute.device=cpu")
    runs.run(*settings)
    first = runs.out.read_bytes()
    loads.clear()
    runs.run(*settings)
    assert loads == []
    assert runs.out.read_bytes() == first


def test_settings_of_the_grammar_are_refused_before_any_clip(runs: Runs) -> None:
    for path in runs.root.rglob("*.mp4"):
        path.unlink()
    with pytest.raises(ConfigError, match="neither a known name nor a folder"):
        runs.run("threads.features=dinov3-huge")
    assert not runs.out.exists()
