"""What an image costs in tokens: as OpenAI publishes it in its guide to images and vision, and as the
preprocessing of Qwen's models cuts it.
"""

from __future__ import annotations

import math
import re

_COSTS = (
    ("gpt-4o-mini", 2833, 5667),
    ("gpt-5", 70, 140),
    ("o1", 75, 150),
    ("o3", 75, 150),
)
"""Models that differ, by the beginning of their names: an image at low detail, each tile at high."""
_USUAL = (85, 170)
"""gpt-4o, gpt-4.1 and whatever else."""
_TILE = 512
_LONG_SIDE = 2048
_SHORT_SIDE = 768

_QWEN = re.compile(r"qwen-?(\d)[\d.]*-?vl", re.IGNORECASE)
_QWEN_FRAME = 2
"""Marks before and after an image."""


def tokens_per_image(model: str, detail: str, width: int, height: int) -> int:
    """Tokens of one image; ``auto`` counts as high, for the server chooses.

    At low detail any image costs the same. At high detail it is made to fit a square of 2048 pixels, then a
    short side of 768, and each tile of 512 that covers it is added. Qwen's models count squares of 28
    pixels, from Qwen3 on of 32, whatever the detail.

    >>> tokens_per_image("gpt-4o", "low", 4096, 8192), tokens_per_image("openai/gpt-4o-mini", "low", 8, 8)
    (85, 2833)
    >>> tokens_per_image("gpt-4o", "high", 1024, 1024), tokens_per_image("gpt-4o", "high", 2048, 4096)
    (765, 1105)
    >>> tokens_per_image("Qwen/Qwen2-VL-7B-Instruct", "low", 597, 336)
    254
    """
    if (qwen := _QWEN.search(model)) is not None:
        square = 28 if int(qwen[1]) < 3 else 32
        return max(1, round(width / square)) * max(1, round(height / square)) + _QWEN_FRAME
    own = model.rpartition("/")[2]  # gateways put the maker before it
    base, each = next(((low, tile) for name, low, tile in _COSTS if own.startswith(name)), _USUAL)
    if detail == "low":
        return base
    scale = min(1.0, _LONG_SIDE / max(width, height), _SHORT_SIDE / min(width, height))
    across, down = (math.ceil(round(side * scale, 6) / _TILE) for side in (width, height))
    return base + each * across * down
