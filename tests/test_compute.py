"""Where models run and how precisely, on machines of every kind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shotad.core import ShotadError
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import ConfigError
from shotad.core.model_loading import (
    device_of,
    dtype_of,
    language_model_dtype,
    require_module,
    require_torch,
)
from tests.gpus import show_gpus

torch = pytest.importorskip("torch")


def test_auto_takes_the_best_there_is_and_a_name_must_be_of_one_that_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    show_gpus(monkeypatch, 0)
    for has_mps, device in ((False, "cpu"), (True, "mps")):
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda answer=has_mps: answer)
        assert device_of(ComputeSettings()) == torch.device(device)
    show_gpus(monkeypatch, 1)
    assert device_of(ComputeSettings()) == torch.device("cuda")
    assert device_of(ComputeSettings(device="cpu")) == torch.device("cpu")
    # A GPU by number.
    show_gpus(monkeypatch, 2)
    assert device_of(ComputeSettings(device="cuda:1")) == torch.device("cuda:1")
    with pytest.raises(ConfigError, match=r"'cuda:2' cannot be used: this machine shows 2 of that kind"):
        device_of(ComputeSettings(device="cuda:2"))
    show_gpus(monkeypatch, 0)
    with pytest.raises(ConfigError, match="torch finds none on this machine. Use auto or cpu"):
        device_of(ComputeSettings(device="cuda"))
    for name in ("cdua", "cuda:-1", "", "tpu:0"):
        with pytest.raises(ConfigError, match="is no device") as caught:
            device_of(ComputeSettings(device=name))
        assert ("Did you mean cuda?" in caught.value.hint) == name.startswith("c")


@pytest.mark.parametrize(
    ("text", "gains"),
    [
        ("processor : 0\nflags\t\t: fpu avx2 avx512f avx512_bf16\n", True),
        ("Features\t: fp asimd bf16 i8mm\n", True),
        ("model name : amx_bf16\nflags\t\t: fpu avx512_vnni\n", False),
        (None, False),
    ],
)
def test_what_gains_by_bfloat16(tmp_path: Path, text: str | None, gains: bool) -> None:
    (tmp_path / "proc").mkdir()
    if text is not None:
        (tmp_path / "proc" / "cpuinfo").write_text(text)
    cpu = torch.device("cpu")
    assert dtype_of(ComputeSettings(), cpu, tmp_path) == (torch.bfloat16 if gains else torch.float32)
    assert dtype_of(ComputeSettings(precision="float32"), cpu, tmp_path) == torch.float32
    assert dtype_of(ComputeSettings(precision="bfloat16"), cpu, tmp_path) == torch.bfloat16


def test_gpus_that_gain_by_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    for capability, wanted in (((7, 5), torch.float32), ((8, 0), torch.bfloat16), ((12, 0), torch.bfloat16)):
        show_gpus(monkeypatch, 1, capability=capability)
        assert dtype_of(ComputeSettings(), torch.device("cuda")) == wanted
    assert dtype_of(ComputeSettings(), torch.device("mps")) == torch.float32


def test_float16_is_for_language_models_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cpu, half = torch.device("cpu"), ComputeSettings(precision="float16")
    assert dtype_of(half, cpu) == torch.float32
    assert language_model_dtype(half, cpu) == torch.float16
    # A GPU of NVIDIA without bfloat16, by its number too
    show_gpus(monkeypatch, 2, capability=(7, 5))
    for device in (torch.device("cuda"), torch.device("cuda:1")):
        assert language_model_dtype(ComputeSettings(), device) == torch.float16
        assert language_model_dtype(ComputeSettings(precision="bfloat16"), device) == torch.bfloat16
    # A Mac, whose system brings bfloat16 from version 14 on
    for version, wanted in ((13, torch.float16), (14, torch.bfloat16)):
        monkeypatch.setattr(
            torch.backends.mps, "is_macos_or_newer", lambda major, minor, here=version: here >= major
        )
        assert language_model_dtype(ComputeSettings(), torch.device("mps")) == wanted
    # A processor, as for other networks
    assert language_model_dtype(ComputeSettings(), cpu, tmp_path) == torch.float32


def test_libraries_missing_or_broken_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ShotadError, match=r'Scales needs torch.*pip install "shotad\[models\]"'):
        require_torch("Scales")
    with pytest.raises(ShotadError, match=r"no_such_thing.*shotad\[timm\]"):
        require_module("no_such_thing", "A test", "timm")
    (tmp_path / "broken_vision.py").write_text("raise RuntimeError('operator does not exist')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ShotadError, match="installed but cannot be loaded: operator does not exist"):
        require_module("broken_vision", "A test")
    # What hides behind another error, as transformers has it
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    (tmp_path / "hides_it.py").write_text(
        "try:\n    import torchvision\n"
        "except RuntimeError as error:\n    raise ModuleNotFoundError('Could not import module X') from error\n"
    )
    with pytest.raises(ShotadError, match="torchvision that is installed does not fit torch") as caught:
        require_module("hides_it", "A test")
    assert "pip uninstall torchvision" in caught.value.hint
