"""Where torch models run, and how precisely.

Nothing here imports torch before it is asked for; where it is missing, the error names the extra.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core.config import ComputeSettings
from shotad.core.errors import ConfigError, ShotadError

if TYPE_CHECKING:
    import torch

_CPU_INFO = Path("/proc/cpuinfo")
_BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
"""Names by which Linux says that the processor multiplies bfloat16 (Intel and AMD; Intel; Arm)."""


def need_torch(purpose: str, extra: str = "models") -> Any:
    """The module torch. Raises ShotadError, naming ``purpose`` and the extra, where it is missing."""
    return need("torch", purpose, extra)


def need(module: str, purpose: str, extra: str = "models") -> Any:
    """A module of an extra, imported. Raises ShotadError that says what needs it and how to get it.

    >>> need("json", "an example").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ShotadError(
            f"{purpose} needs {module}, which is not installed ({error}).",
            f'Install it: pip install "shotad[{extra}]".',
        ) from None
    except (ImportError, RuntimeError, OSError) as error:
        raise ShotadError(
            f"{purpose} needs {module}, which is installed but cannot be loaded: {error}.",
            f'Install builds that fit each other: pip install "shotad[{extra}]" in a new environment.',
        ) from None


def device_of(settings: ComputeSettings) -> torch.device:
    """Where models run: the device asked for, or the best there is (CUDA, then MPS, then CPU).

    Raises ConfigError for a name that is none and for a device that this machine does not have.
    """
    torch = need_torch("A model")
    if settings.device == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device(name)
    parts = re.fullmatch(r"(cpu|cuda|mps)(?::([0-9]+))?", settings.device)
    if parts is None:
        near = difflib.get_close_matches(settings.device, ["auto", "cpu", "cuda", "mps"], n=1)
        raise ConfigError(
            f"compute.device = {settings.device!r} is no device.",
            f"{f'Did you mean {near[0]}? ' if near else ''}Known: auto, cpu, cuda, cuda:1, mps.",
        )
    _check_present(torch, settings.device, parts[1], int(parts[2] or 0))
    return torch.device(settings.device)


def dtype_of(settings: ComputeSettings, device: torch.device) -> torch.dtype:
    """The precision of the matrix products: bfloat16 where it is asked for or the machine gains by it.

    It gains on GPUs of CUDA capability 8 and above, and on processors with bfloat16 instructions
    (docs/experiments.md); elsewhere bfloat16 is emulated, and slower than float32.
    """
    torch = need_torch("A model")
    wanted = settings.precision
    if wanted == "auto":
        wanted = "bfloat16" if _gains(torch, device) else "float32"
    return torch.bfloat16 if wanted == "bfloat16" else torch.float32


def _check_present(torch: Any, name: str, kind: str, number: int) -> None:
    found = {
        "cpu": 1,
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
    }[kind]
    if number >= found:
        there = f"this machine shows {found} of that kind" if found else "torch finds none on this machine"
        raise ConfigError(f"compute.device = {name!r} cannot be used: {there}.", "Use auto or cpu.")


def _gains(torch: Any, device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.get_device_capability(device) >= (8, 0))
    return device.type == "cpu" and bool(_cpu_flags() & _BFLOAT16_FLAGS)


@functools.cache
def _cpu_flags() -> frozenset[str]:
    """What the first processor can do, as Linux lists it; empty where it cannot be read."""
    try:
        lines = _CPU_INFO.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return frozenset()
    line = next((row for row in lines if row.startswith(("flags", "Features"))), "")
    return frozenset(line.partition(":")[2].split())
