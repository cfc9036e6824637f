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
from shotad.grammar.choices import ROLE, method_of
from shotad.grammar.features import ScaleGuess, merged

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


def test_auto_takes_the_classifier_where_a_checkpoint_is_set() -> None:
    assert method_of(ScaleSettings()) == "by-face"
    assert method_of(ScaleSettings(checkpoint="x")) == "classifier"
    assert method_of(ScaleSettings(method="by-face", checkpoint="x")) == "by-face"


def test_none_reads_nothing_and_needs_nothing() -> None:
    assert make(method="none") is None
    assert scale_weights(ScaleSettings(method="none")) == ()


def test_by_face_needs_its_detectors() -> None:
    assert "yunet" in scale_weights(ScaleSettings())


@pytest.mark.usefixtures("classifier")
def test_a_checkpoint_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "best.safetensors"
    file.write_bytes(WEIGHTS)
    assert make(checkpoint=str(file)).path == file
    assert scale_weights(ScaleSettings(checkpoint=str(file))) == ()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert make(checkpoint="~/best.safetensors").path == file


@pytest.mark.usefixtures("classifier")
def test_a_checkpoint_is_a_name_in_the_manifest(manifest: Path) -> None:
    assert make(checkpoint=NAME).path == manifest
    assert scale_weights(ScaleSettings(checkpoint=NAME)) == (NAME,)


@pytest.mark.usefixtures("classifier")
def test_a_checkpoint_that_differs_from_its_hash_is_not_loaded(manifest: Path) -> None:
    manifest.write_bytes(b"another net")
    with pytest.raises(WeightsError, match=NAME):
        make(checkpoint=NAME)


def test_a_classifier_without_a_checkpoint_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"scale\.checkpoint is not set") as caught:
        make(method="classifier")
    assert "shotad train scale" in caught.value.hint
    assert "by-face" in caught.value.hint


@pytest.mark.usefixtures("manifest")
def test_a_misspelt_checkpoint_brings_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="scale-movieshot'") as caught:
        make(checkpoint="scale-movieshot")
    assert caught.value.hint == f"Did you mean {NAME}?"
    with pytest.raises(ConfigError):
        scale_weights(ScaleSettings(checkpoint="scale-movieshot"))


@pytest.mark.usefixtures("manifest")
def test_a_misspelt_file_brings_the_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "best.safetensors").write_bytes(WEIGHTS)
    with pytest.raises(ConfigError) as caught:
        make(checkpoint=str(tmp_path / "bets.safetensors"))
    assert caught.value.hint.startswith(f"Did you mean {tmp_path / 'best.safetensors'}")


@pytest.mark.usefixtures("manifest")
def test_nothing_near_brings_what_there_is() -> None:
    with pytest.raises(ConfigError) as caught:
        make(checkpoint="qqqqqq")
    assert NAME in caught.value.hint
    assert "faces" not in caught.value.hint


@pytest.mark.usefixtures("manifest")
def test_weights_for_something_else_are_refused() -> None:
    with pytest.raises(ConfigError, match="names weights for face detection, not for shot scale"):
        make(checkpoint="faces")


def test_merged_is_the_mean_of_what_is_known() -> None:
    close, far = ScaleGuess((0.0, 1.0, 0.0, 0.0, 0.0)), ScaleGuess((0.0, 0.0, 0.0, 0.5, 0.5))
    assert merged([close, None, far]) == ScaleGuess((0.0, 0.5, 0.0, 0.25, 0.25))
    assert merged([None, close]) == close
    assert merged([None, None]) is None
    assert merged([]) is None
