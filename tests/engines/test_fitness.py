"""A model that this machine cannot run is refused before it is fetched, with all that is missing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from shotad.core import EngineError, NoProgress, load_config
from shotad.description import Engines
from shotad.engines import local_model as fitness, make_engine

GB = 10**9
VISION, TEXT = "Qwen/Qwen2-VL-7B-Instruct", "meta-llama/Meta-Llama-3-8B-Instruct"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A machine with all that the paper's models want; no model is here, and none can be fetched."""
    has = {"gpu": 24 * GB, "memory": 64 * GB, "disk": 100 * GB}
    monkeypatch.setattr(fitness, "gpu_memory", lambda: has["gpu"])
    monkeypatch.setattr(fitness, "memory_total", lambda: has["memory"])
    monkeypatch.setattr(
        shutil,
        "disk_usage",
        lambda place: shutil._ntuple_diskusage(10**12, 0, has["disk"]),  # type: ignore[attr-defined]
    )
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setattr("shotad.core.cached", lambda *_: None)
    monkeypatch.setattr("shotad.engines.local_model.cached", lambda *_: None)
    return has


def refused(*assignments: str) -> str:
    config = load_config(["paper"], list(assignments))
    with pytest.raises(EngineError) as caught:
        Engines.of(config).check_machine(config)
    return str(caught.value)


FIT: list[tuple[dict[str, int | None], tuple[str, ...]]] = [
    ({}, ()),
    ({"gpu": 8 * GB}, ("local.quantise=4bit",)),
    ({"gpu": 0}, ("stage1.model=qwen2-vl-2b", "stage2.model=llama3.2-3b")),
    ({"gpu": 0}, ("compute.device=cpu",)),
    ({"gpu": None}, ()),  # one that does not tell its memory is tried
]


@pytest.mark.parametrize(("has", "assignments"), FIT)
def test_what_holds_the_larger_is_fit(
    machine: dict[str, Any], has: dict[str, Any], assignments: tuple[str, ...]
) -> None:
    machine.update(has)
    config = load_config(["paper"], list(assignments))
    Engines.of(config).check_machine(config)


def test_an_engine_by_itself_is_refused_before_it_fetches(machine: dict[str, Any]) -> None:
    machine["gpu"] = 0
    engine: Any = make_engine("llama3", load_config(["paper"]), "stage2")
    with pytest.raises(EngineError, match=f"cannot run {re.escape(TEXT)}.*would have been 16.1 GB"):
        engine.get_ready(NoProgress())
