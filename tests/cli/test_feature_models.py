"""``shotad models`` and ``shotad doctor`` know the models that threads are found by."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import huggingface_hub
import pytest
from click.testing import CliRunner, Result

from shotad.cli.doctor import command as doctor, models
from tests.grammar.dino_models import put_in_cache, saved

pytest.importorskip("transformers")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, and no network."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def run(command: object, *words: str) -> Result:
    return CliRunner().invoke(command, list(words))  # type: ignore[arg-type]


def listed() -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in json.loads(run(models, "list", "--json").stdout)}


def threads_line() -> str:
    checks = json.loads(run(doctor, "--json").stdout)
    return next(check["finding"] for check in checks if check["topic"] == "Threads")


def test_pull_offline_says_why_and_what_to_do(cache: Path) -> None:
    done = run(models, "pull", "dinov2-base", "--plain")
    assert done.exit_code == 1
    assert "facebook/dinov2-base could not be fetched from the hub" in done.stderr
    assert "threads.features=grid" in done.stderr
    assert "0 of 1 here." in done.stdout


def test_pull_of_what_is_here_asks_nobody(cache: Path, tmp_path: Path) -> None:
    folder = put_in_cache(cache, "facebook/dinov2-small", saved(tmp_path / "model"))
    done = run(models, "pull", "dinov2-small", "--plain")
    assert done.exit_code == 0
    assert f"dinov2-small: {folder}" in done.stderr
    assert "1 of 1 here." in done.stdout


def test_doctor_says_what_auto_takes_and_why(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert threads_line() == "grid (no DINOv2 weights are at hand: shotad models pull dinov2-base)"
    put_in_cache(cache, "facebook/dinov2-base", saved(tmp_path / "model"))
    assert threads_line().startswith("dinov2-base (at hand, on ")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert threads_line().startswith("grid (torch is not installed")
