"""How much memory is free for models, and how it is known that there was too little."""

from __future__ import annotations

import gc
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from shotad.compute import need_torch

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch("A local model")

_OUT_OF_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "Invalid buffer size",
)
"""What CUDA, ROCm and MPS, the CPU's allocator, cuBLAS, and MPS for one tensor too large say (accelerate and
PyTorch's issue tracker list them)."""

_MEMORY = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


class Meter(Protocol):
    """Tells how much memory there is."""

    def free(self, device: torch.device) -> int | None:
        """Bytes that can still be taken; None where that is not known."""
        ...

    def total(self, device: torch.device) -> int | None:
        """Bytes there are, taken or not; None where that is not known."""
        ...


class MachineMeter:
    """The memory of this machine: that of the GPU, or what Linux calls available within the group's limit."""

    def free(self, device: torch.device) -> int | None:
        if device.type == "cuda":
            unused: int = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
            return int(torch.cuda.mem_get_info(device)[0]) + unused
        if device.type == "mps":
            return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
        known = [size for size in (_available(), _left_in_group()) if size is not None]
        return min(known, default=None)

    def total(self, device: torch.device) -> int | None:
        if device.type == "cuda":
            return int(torch.cuda.mem_get_info(device)[1])
        if device.type == "mps":
            return int(torch.mps.recommended_max_memory())
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (ValueError, OSError, AttributeError):
            return None


def is_out_of_memory(error: BaseException) -> bool:
    """True for what torch raises, on any device, where memory runs out."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in _OUT_OF_MEMORY)


def empty_cache() -> None:
    """Give back what torch keeps of freed tensors."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def _available() -> int | None:
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", _MEMORY.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def _left_in_group() -> int | None:
    """What a container may still take: cgroup v2's limit less what is used, but for the file cache."""
    try:
        limit = int((_GROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
        cache = re.search(
            r"^inactive_file (\d+)", (_GROUP / "memory.stat").read_text(encoding="ascii"), re.MULTILINE
        )
    except (OSError, ValueError):  # another system, or the limit is the word max
        return None
    return limit - used + (int(cache[1]) if cache else 0)
