"""From a vision transformer's tokens to features: batches, precision, which tokens stay, unit length.

What the two backends of DINOv2 share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shotad.core import ComputeSettings, Image, WeightsError, device_of, dtype_of, need_torch, processors
from shotad.grammar.base import Features
from shotad.grammar.pixels import THREAD_SIZE, all_upright, fitted, normalised

PURPOSE = "Threads by DINOv2"

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch(PURPOSE)

THRESHOLD = 0.3
"""Matching score above which two shots share a camera set-up (Shot-by-Shot's published code)."""

Tokens = Callable[[Any], Any]
"""``[n, 3, H, W]`` → ``[n, prefix + rows * columns, D]``: CLS, registers, then the patches by row."""

_READERS = 4
"""Threads that make frames small while the model works; Pillow lets go of the interpreter meanwhile."""


@dataclass(frozen=True, slots=True)
class Runner:
    """How a model is run: where, how precisely, and how many frames at once.

    bfloat16 is for matrix products alone: what flows between the layers, their norms and the position
    embedding stay float32. That costs 3 % of the time of bfloat16 throughout and leaves about a third of
    its largest error (ViT-S and B, random weights, docs/experiments.md).
    """

    device: torch.device
    dtype: torch.dtype
    batch: int

    @classmethod
    def of(cls, compute: ComputeSettings) -> Runner:
        """As the settings say. Raises ConfigError for a device that is not there."""
        device = device_of(compute)
        return cls(device, dtype_of(compute, device), compute.batch)

    @property
    def precision(self) -> str:
        """``float32`` or ``bfloat16``."""
        return str(self.dtype).removeprefix("torch.")

    def place(self, model: Any) -> Any:
        """The module on its device, its matrices in their precision; the module itself is changed."""
        for module in model.modules():
            if isinstance(module, (torch.nn.Linear, torch.nn.Conv2d)):
                module.to(self.dtype)
        return model.to(self.device).eval()

    def features(
        self, images: Sequence[Image], tokens: Tokens, prefix: int, grid: tuple[int, int]
    ) -> Features:
        """Features of ``images`` by ``tokens``, whose first ``prefix`` tokens are no patches.

        ``grid`` is that of broad film, rows and columns; upright film has it turned. The tensors are
        float32, on the device. Raises ValueError for no images, and for upright and broad ones together.
        """
        rows, columns = grid[::-1] if all_upright(images) else grid
        parts = []
        for pixels in _batches(images, self.batch):
            with self._context():
                found = tokens(torch.from_numpy(pixels).to(self.device))
                parts.append(torch.nn.functional.normalize(found.float(), dim=-1))
        patches, whole = _joined(parts, len(images), prefix)
        return Features(patches, whole, (rows, columns))

    @contextmanager
    def _context(self) -> Iterator[None]:
        """No gradients, mixed precision; CUDA's convolutions as precise as asked for (no TF32)."""
        lower = self.dtype != torch.float32
        exact = {"enabled": True, "benchmark": False, "deterministic": True, "allow_tf32": False}
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode())
            stack.enter_context(torch.autocast(self.device.type, torch.bfloat16, enabled=lower))
            if self.device.type == "cuda":
                stack.enter_context(torch.backends.cudnn.flags(**exact))
            yield


def patch_grid(patch: int, model: str) -> tuple[int, int]:
    """Rows and columns of a broad frame for patches of ``patch`` pixels: 14 → 12 and 16.

    Raises WeightsError where the frame does not divide into such patches.
    """
    long_side, short_side = THREAD_SIZE
    if patch < 1 or long_side % patch or short_side % patch:
        raise WeightsError(
            f"The model {model} has patches of {patch} pixels, which do not divide a frame of "
            f"{long_side} x {short_side}.",
            "Use a DINOv2 model with patches of 14 pixels.",
        )
    return short_side // patch, long_side // patch


def _batches(images: Sequence[Image], batch: int) -> Iterator[npt.NDArray[np.float32]]:
    with ThreadPoolExecutor(min(_READERS, processors())) as pool:
        small = pool.map(partial(fitted, long_side=THREAD_SIZE[0], short_side=THREAD_SIZE[1]), images)
        for start in range(0, len(images), batch):
            yield normalised([next(small) for _ in images[start : start + batch]])


def _joined(parts: list[Any], n: int, prefix: int) -> tuple[Any, Any]:
    """Patches and CLS tokens of all batches, in tensors that autograd may use; empties ``parts``."""
    tokens, width = parts[0].shape[1:]
    patches = torch.empty(n, tokens - prefix, width, device=parts[0].device)
    whole = torch.empty(n, width, device=parts[0].device)
    start = 0
    while parts:
        found = parts.pop(0)
        patches[start : start + len(found)] = found[:, prefix:]
        whole[start : start + len(found)] = found[:, 0]
        start += len(found)
    return patches, whole
