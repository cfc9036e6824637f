"""Tiny DINOv2 models with random weights, saved as the real ones are published."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import Image

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def tiny(registers: int = 0, swiglu: bool = False, seed: int = 7, **changes: Any) -> Any:
    """A model of transformers with ``registers`` register tokens, for inference.

    Every weight is drawn at random, those too that start as zeros or ones, so that none goes unnoticed.
    """
    import torch
    import transformers

    size = {"hidden_size": 96, "num_hidden_layers": 3, "num_attention_heads": 3, "image_size": 70}
    settings = {**size, "patch_size": 14, "use_swiglu_ffn": swiglu, **changes}
    torch.manual_seed(seed)
    model: Any
    if registers:
        config = transformers.Dinov2WithRegistersConfig(num_register_tokens=registers, **settings)
        model = transformers.Dinov2WithRegistersModel(config)
    else:
        model = transformers.Dinov2Model(transformers.Dinov2Config(**settings))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            drawn = torch.randn_like(weight)
            if "norm" in name or "lambda1" in name:
                weight.copy_(1 + 0.2 * drawn if name.endswith(("weight", "lambda1")) else 0.1 * drawn)
            elif weight.ndim > 1 and "token" not in name and "position" not in name:
                weight.copy_(drawn * weight[0].numel() ** -0.5)
            else:
                weight.copy_(0.3 * drawn)
    return model.eval()


def saved(folder: Path, registers: int = 0, **changes: Any) -> Path:
    """The folder, with such a model in it."""
    tiny(registers, **changes).save_pretrained(folder)
    return folder


def put_in_cache(
    cache: Path, repo: str, model: Path, commit: str = COMMIT, branch: str | None = "main"
) -> Path:
    """A model's files laid down as the hub's library keeps what it has fetched; the snapshot's folder."""
    home = cache / f"models--{repo.replace('/', '--')}"
    snapshot = home / "snapshots" / commit
    shutil.copytree(model, snapshot)
    if branch:
        (home / "refs").mkdir(exist_ok=True)
        (home / "refs" / branch).write_text(commit)
    return snapshot


def pictures(n: int, height: int = 120, width: int = 200, seed: int = 0) -> list[Image]:
    """Frames with soft random patches of colour."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (n, -(-height // 10), -(-width // 10), 3), np.uint8)
    return [np.repeat(np.repeat(c, 10, 0), 10, 1)[:height, :width] for c in coarse]
