"""Which reader of scale the settings ask for, and what is said where they cannot be followed."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from shotad.core import ComputeSettings, ConfigError, ScaleSettings, WeightsError
from shotad.grammar import make_scale_reader, scale_weights
from shotad.grammar.choices import ROLE

WEIGHTS = b"a trained net"
NAME = "scale-movieshots"


class Classifier:
    """Stands in for the classifier: it keeps the file it was loaded from."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def load(cls, path: Path, compute: ComputeSettings) -> Classifier:
        return cls(path)


def make(**scale: Any) -> Any:
    return make_scale_reader(ScaleSettings(**scale), ComputeSettings())


@pytest.fixture
def classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("shotad.grammar.scale_net")
    module.ScaleClassifier = Classifier  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A manifest with one entry for shot scale and one for something else; gives the cached file."""
    digest = hashlib.sha256(WEIGHTS).hexdigest()
    rows = [
        f"""
  {name}:
    role: {role}
    file: {name}.safetensors
    sha256: {digest}
    bytes: {len(WEIGHTS)}
    memory_mb: 1
    licence: MIT
    credit: nobody
    sources: []
"""
        for name, role in ((NAME, ROLE), ("faces", "face detection"))
    ]
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "manifest.yaml").write_text(
        "schema: 1\nweights:" + "".join(rows), encoding="utf-8"
    )
    monkeypatch.setenv("SHOTAD_DATA", str(tmp_path))
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path / "cache"))
    cached = tmp_path / "cache" / "weights" / digest[:16] / f"{NAME}.safetensors"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(WEIGHTS)
    return cached


@pytest.mark.usefixtures("classifier")
def test_a_checkpoint_is_a_name_in_the_manifest(manifest: Path) -> None:
    assert make(checkpoint=NAME).path == manifest
    assert scale_weights(ScaleSettings(checkpoint=NAME)) == (NAME,)


def test_a_classifier_without_a_checkpoint_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"scale\.checkpoint is not set") as caught:
        make(method="classifier")
    assert "shotad train scale" in caught.value.hint
    assert "by-face" in caught.value.hint


@pytest.mark.usefixtures("manifest")
def test_a_misspelt_checkpoint_brings_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match="scale-movieshot'") as caught:
        make(checkpoint="scale-movieshot")
    assert caught.value.hint == f"Name a file made by `shotad train scale` or {NAME}."
    with pytest.raises(ConfigError):
        scale_weights(ScaleSettings(checkpoint="scale-movieshot"))


@pytest.mark.usefixtures("manifest")
def test_weights_for_something_else_are_refused() -> None:
    with pytest.raises(ConfigError, match="names weights for face detection, not for shot scale"):
        make(checkpoint="faces")


@pytest.mark.usefixtures("classifier")
def test_a_checkpoint_that_differs_from_its_hash_is_not_loaded(manifest: Path) -> None:
    manifest.write_bytes(b"another net")
    with pytest.raises(WeightsError, match=NAME):
        make(checkpoint=NAME)
