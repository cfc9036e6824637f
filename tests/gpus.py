"""GPUs that this machine does not have, as torch tells of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest


def show_gpus(
    monkeypatch: pytest.MonkeyPatch, count: int, *, capability: tuple[int, int] = (8, 0), memory: int = 0
) -> None:
    """Have torch tell of so many CUDA devices, each with so many bytes of ``memory``."""
    cuda = pytest.importorskip("torch").cuda
    told = {
        "is_available": lambda: count > 0,
        "device_count": lambda: count,
        "get_device_capability": lambda device: capability,
        "get_device_properties": lambda device: SimpleNamespace(total_memory=memory),
    }
    for name, answer in told.items():
        monkeypatch.setattr(cuda, name, answer)
