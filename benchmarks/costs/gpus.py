"""Seconds of a graphics processor for a slot, by the roofline: arithmetic for what is read, memory for what
is written. Nothing here was measured by this project: peaks are the makers' figures, shares are inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from costs.formula import Asked


@dataclass(frozen=True)
class Gpu:
    """Peak arithmetic in bfloat16 without sparsity (operations a second) and memory (bytes a second)."""

    name: str
    flops: float
    bandwidth: float


GPUS: Mapping[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu("H100 SXM", 989e12, 3350e9),
        Gpu("A100 80 GB SXM", 312e12, 2039e9),
        Gpu("L40S", 362e12, 864e9),
        Gpu("RTX 4090", 165e12, 1008e9),
    )
}
"""NVIDIA's data sheets."""


@dataclass(frozen=True)
class Model:
    """Parameters of the language part and of what sees, bytes of the weights, bytes of cache a token."""

    name: str
    parameters: float
    seeing: float
    weights: float
    cache: float
    patches: float = 4.0
    """Patches that the seeing part goes over for each token of a frame."""


QWEN = Model("Qwen2-VL-7B", 7.6e9, 0.675e9, 16.6e9, 2 * 28 * 4 * 128 * 2)
"""28 layers, 4 key heads of 128, bfloat16; 675 million parameters see (the model's report and config)."""
LLAMA = Model("LLaMA3-8B", 8.0e9, 0.0, 16.1e9, 2 * 32 * 8 * 128 * 2)
"""32 layers, 8 key heads of 128, bfloat16 (the model's config)."""


@dataclass(frozen=True)
class Shares:
    """How much of the peaks is reached, and how many requests are answered at once."""

    arithmetic: float = 0.4
    memory: float = 0.63
    """Qwen2.5-7B by vLLM on an A100 80 GB, one request at a time: 84.28 tokens a second (Qwen's own speed
    benchmark, docs/source/benchmark/speed_benchmark.rst of QwenLM/Qwen2.5) x 15.2 GB = 0.63 of the peak."""
    at_once: int = 16


def seconds(
    gpu: Gpu,
    model: Model,
    tokens_in: float,
    tokens_out: float,
    seen: float,
    share: Shares,
    calls: float = 1.0,
) -> float:
    """GPU seconds for ``calls`` calls with these tokens altogether; ``seen`` of those read are of frames."""
    reading = 2 * model.parameters * tokens_in + 2 * model.seeing * seen * model.patches
    held = (tokens_in + tokens_out / 2) / calls * model.cache
    writing = tokens_out * (model.weights / share.at_once + held)
    return reading / (gpu.flops * share.arithmetic) + writing / (gpu.bandwidth * share.memory)


def of_both(gpu: Gpu, found: Asked, frame_tokens: float, share: Shares) -> tuple[float, float]:
    """GPU seconds of Stage I by Qwen2-VL-7B and of Stage II by LLaMA3-8B."""
    seen = found.frames * frame_tokens
    return (
        seconds(gpu, QWEN, found.tokens_in1, found.tokens_out1, seen, share, found.calls1),
        seconds(gpu, LLAMA, found.tokens_in2, found.tokens_out2, 0.0, share, found.calls2),
    )
