"""A model that this machine cannot run is refused before it is fetched, with all that is missing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from shotad.core import EngineError, NoProgress, load_config
from shotad.description import Engines
from shotad.engines import make_engine
from shotad.engines.local import fitness

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
    monkeypatch.setattr("shotad.core.model_loading.cached", lambda *_: None)
    monkeypatch.setattr("shotad.engines.local.names.cached", lambda *_: None)
    return has


def refused(*assignments: str) -> str:
    config = load_config(["paper"], list(assignments))
    with pytest.raises(EngineError) as caught:
        Engines.of(config).check_machine(config)
    return str(caught.value)


def test_a_machine_with_a_gpu_that_holds_the_larger_one_is_fit() -> None:
    config = load_config(["paper"])
    Engines.of(config).check_machine(config)


def test_without_a_gpu_both_models_are_refused_with_their_size(machine: dict[str, Any]) -> None:
    machine["gpu"] = 0
    said = refused()
    assert VISION in said
    assert TEXT in said
    assert "a GPU with 19.9 GB of memory (there is none)" in said
    assert "it would have been 32.6 GB" in said
    assert "embedded" in said


def test_a_gpu_that_is_too_small_is_told_with_what_it_has(machine: dict[str, Any]) -> None:
    machine["gpu"] = 8 * GB
    assert "there are 8.0 GB" in refused()
    config = load_config(["paper"], ["local.quantise=4bit"])
    Engines.of(config).check_machine(config)


def test_a_full_disk_and_missing_packages_are_told_too(
    machine: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine["disk"] = 3 * GB
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    said = refused()
    assert "torch and transformers" in said
    assert "32.6 GB of disk" in said
    assert "3.0 GB are free" in said


def test_a_machine_without_a_gpu_takes_small_models_or_what_it_is_told_to(machine: dict[str, Any]) -> None:
    machine["gpu"] = 0
    small = load_config(["paper"], ["stage1.model=qwen2-vl-2b", "stage2.model=llama3.2-3b"])
    Engines.of(small).check_machine(small)
    told = load_config(["paper"], ["compute.device=cpu"])
    Engines.of(told).check_machine(told)
    machine["memory"] = 16 * GB
    assert "19.9 GB of memory (there are 16.0 GB)" in refused("compute.device=cpu")


def test_one_that_does_not_tell_its_memory_is_tried(machine: dict[str, Any]) -> None:
    machine["gpu"] = None
    config = load_config(["paper"])
    Engines.of(config).check_machine(config)


def test_an_engine_by_itself_is_refused_before_it_fetches(machine: dict[str, Any]) -> None:
    machine["gpu"] = 0
    engine: Any = make_engine("llama3", load_config(["paper"]), "stage2")
    with pytest.raises(EngineError, match=f"cannot run {re.escape(TEXT)}.*would have been 16.1 GB"):
        engine.get_ready(NoProgress())


def test_hints_name_settings_and_no_options_for_not_every_command_has_them(machine: dict[str, Any]) -> None:
    machine["gpu"] = 0
    assert "--" not in refused()
