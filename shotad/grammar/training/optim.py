"""Rates of learning: by layer (as BEiT and MAE fine-tune), by step, and the weights of classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shotad.core import ShotScale, need_torch
from shotad.grammar.scale_net import ScaleNet
from shotad.grammar.training.settings import OptimSettings

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch("Training", "train")


def rate_factor(step: int, total: int, warmup: float, floor: float) -> float:
    """The part of its highest rate with which step ``step`` of ``total`` (from 0) is taken.

    It rises evenly to 1 at the last of ``ceil(warmup * total)`` steps, then falls by a cosine to ``floor``
    at the last step of all.
    """
    rising = math.ceil(warmup * total)
    if step < rising:
        return (step + 1) / rising
    way = (step - rising + 1) / max(total - rising, 1)
    return floor + (1 - floor) * (1 + math.cos(math.pi * way)) / 2


def parameter_groups(net: ScaleNet, settings: OptimSettings) -> list[dict[str, Any]]:
    """What is tuned, from the head back to the first tuned block, matrices apart from the rest.

    Each group has ``params``, ``name``, ``weight_decay``, and ``top``: its highest rate.
    """
    layers: list[tuple[str, torch.nn.Module, float]] = [
        ("head", net.head, settings.lr * settings.head_factor)
    ]
    first = net.design.backbone.blocks - net.design.tuned_blocks
    for back, block in enumerate(reversed(net.tuned)):
        number = first + net.design.tuned_blocks - 1 - back
        layers.append((f"block {number}", block, settings.lr * settings.layer_decay**back))
    groups = []
    for name, layer, top in layers:
        matrices = [p for p in layer.parameters() if p.ndim > 1]
        others = [p for p in layer.parameters() if p.ndim <= 1]
        groups += [
            {"params": matrices, "name": name, "weight_decay": settings.weight_decay, "top": top},
            {"params": others, "name": f"{name}, no decay", "weight_decay": 0.0, "top": top},
        ]
    return groups


def make_optimizer(net: ScaleNet, settings: OptimSettings) -> torch.optim.AdamW:
    """AdamW over `parameter_groups`; `set_rates` sets the rates of each step."""
    on_gpu = net.head.weight.device.type == "cuda"
    return torch.optim.AdamW(parameter_groups(net, settings), lr=0.0, fused=on_gpu or None)


def set_rates(optimizer: torch.optim.AdamW, factor: float) -> None:
    """Give each group ``factor`` of its highest rate."""
    for group in optimizer.param_groups:
        group["lr"] = group["top"] * factor


def class_weights(counts: Mapping[ShotScale, int], kind: str) -> tuple[float, ...]:
    """Weight of a picture of each class: 1, or for ``inverse`` total / (classes * items of the class).

    The mean over all pictures is 1. Raises ValueError for ``inverse`` and a class without items.
    """
    if kind == "none":
        return (1.0,) * len(ShotScale)
    if not all(counts[scale] for scale in ShotScale):
        raise ValueError(f"inverse frequencies need items of every class, got {dict(counts)}")
    total = sum(counts.values())
    return tuple(total / (len(ShotScale) * counts[scale]) for scale in ShotScale)
