"""How much memory is free for models, and how it is known that there was too little."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Protocol

from shotad.core import memory_free, memory_total, need_torch

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


class Meter(Protocol):
    """Tells how much memory there is."""

    def free(self, device: torch.device) -> int | None:
        """Bytes that can still be taken; None where that is not known."""
        ...

    def total(self, device: torch.device) -> int | None:
        """Bytes there are, taken or not; None where that is not known."""
        ...


class MachineMeter:
    """The memory of this machine: that of the GPU, or what there is for this process."""

    def free(self, device: torch.device) -> int | None:
        if device.type == "cuda":
            unused: int = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
            return int(torch.cuda.mem_get_info(device)[0]) + unused
        if device.type == "mps":
            return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
        return memory_free()

    def total(self, device: torch.device) -> int | None:
        if device.type == "cuda":
            return int(torch.cuda.mem_get_info(device)[1])
        if device.type == "mps":
            return int(torch.mps.recommended_max_memory())
        return memory_total()


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
