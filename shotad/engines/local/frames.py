"""Frames as Qwen's vision towers read them, in numpy: no torchvision, no torch.

The arithmetic is that of transformers' ``Qwen2VLVideoProcessor``, ``Qwen3VLVideoProcessor`` and
``Qwen2VLImageProcessor`` (Apache-2.0, The Qwen team and The HuggingFace Inc. team): sides rounded to whole
merged patches, values normalised, each patch of two frames one row, the rows of a merged square together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import FrameSettings
from shotad.film import fit

Grid = tuple[int, int, int]
"""Patches in time, from top to bottom, from left to right."""

_CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
_CLIP_STD = (0.26862954, 0.26130258, 0.27577711)


@dataclass(frozen=True, slots=True)
class PatchRules:
    """How a model's frames are cut. The defaults are Qwen2-VL's.

    ``patch`` is a patch's side in pixels, ``merge`` x ``merge`` patches become one token, ``depth`` frames
    stand in one patch; ``mean`` and ``std`` are those of red, green and blue after ``rescale``.
    """

    patch: int = 14
    merge: int = 2
    depth: int = 2
    mean: tuple[float, float, float] = _CLIP_MEAN
    std: tuple[float, float, float] = _CLIP_STD
    rescale: float = 1 / 255

    def __post_init__(self) -> None:
        if min(self.patch, self.merge, self.depth) < 1:
            raise ValueError(f"patches have a side, a merge and a depth of 1 at least, got {self}")
        if len(self.mean) != 3 or len(self.std) != 3 or min(self.std) <= 0:
            raise ValueError(f"frames have three channels, got mean {self.mean} and std {self.std}")

    @property
    def factor(self) -> int:
        """Pixels: the sides of a frame are whole multiples of it."""
        return self.patch * self.merge

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> PatchRules:
        """The rules in a processor's settings, as they stand in its JSON file.

        >>> PatchRules.of({"patch_size": 16, "merge_size": 2, "image_mean": [0.5, 0.5, 0.5]}).factor
        32
        """
        norm = settings.get("do_normalize", True)
        return cls(
            patch=int(settings.get("patch_size", 14)),
            merge=int(settings.get("merge_size", 2)),
            depth=int(settings.get("temporal_patch_size", 2)),
            mean=_three(settings.get("image_mean", _CLIP_MEAN) if norm else 0.0),
            std=_three(settings.get("image_std", _CLIP_STD) if norm else 1.0),
            rescale=float(settings.get("rescale_factor", 1 / 255))
            if settings.get("do_rescale", True)
            else 1.0,
        )


@dataclass(frozen=True, slots=True)
class Patches:
    """``values`` is ``float32[t * h * w, 3 * depth * patch * patch]``, ``grid`` its (t, h, w)."""

    values: npt.NDArray[np.float32]
    grid: Grid

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or len(self.values) != math.prod(self.grid):
            raise ValueError(
                f"a grid of {self.grid} has {math.prod(self.grid)} patches, got {self.values.shape}"
            )


def smart_size(
    width: int, height: int, factor: int, min_pixels: int = 0, max_pixels: float = math.inf
) -> tuple[int, int]:
    """Width and height, multiples of ``factor``, within the bounds on pixels, nearest to the given shape.

    A frame that has them already keeps its size.

    >>> smart_size(504, 280, 28, 100352, 151200), smart_size(504, 280, 32, 100352, 151200)
    ((504, 280), (512, 288))

    Raises ValueError for a frame more than 200 times as long as broad, as the published processors do.
    """
    if min(width, height) < 1 or max(width, height) > 200 * min(width, height):
        raise ValueError(f"a frame of {width} x {height} is more than 200 times as long as broad")
    wide, high = (round(side / factor) * factor for side in (width, height))
    if wide * high > max_pixels:
        scale = math.sqrt(width * height / max_pixels)
        wide, high = (max(factor, math.floor(side / scale / factor) * factor) for side in (width, height))
    elif wide * high < max(min_pixels, 1):
        scale = math.sqrt(max(min_pixels, 1) / (width * height))
        wide, high = (math.ceil(side * scale / factor) * factor for side in (width, height))
    return wide, high


@dataclass(frozen=True, slots=True)
class Bounds:
    """Pixels that a frame may have. None: no bound."""

    min_pixels: int | None = None
    max_pixels: int | None = None

    def size(self, width: int, height: int, rules: PatchRules) -> tuple[int, int]:
        """Width and height at which a model with these rules sees a frame, see `smart_size`."""
        return smart_size(width, height, rules.factor, self.min_pixels or 0, self.max_pixels or math.inf)


def bounds_of(settings: FrameSettings) -> Bounds:
    """The settings' bounds; none where these give the short side's length."""
    if settings.short_side is not None:
        return Bounds()
    return Bounds(settings.min_pixels, settings.max_pixels)


def grid_of(width: int, height: int, frames: int, rules: PatchRules) -> Grid:
    """The grid of ``frames`` frames whose sides are whole multiples of the factor.

    >>> grid_of(504, 280, 32, PatchRules())
    (16, 20, 36)
    """
    return math.ceil(frames / rules.depth), height // rules.patch, width // rules.patch


def tokens_in(grid: Grid, rules: PatchRules) -> int:
    """How many tokens the language model gets for a grid.

    >>> tokens_in((16, 20, 36), PatchRules())
    2880
    """
    return math.prod(grid) // rules.merge**2


def video_patches(images: npt.NDArray[np.uint8], size: tuple[int, int], rules: PatchRules) -> Patches:
    """``uint8[n, H, W, 3]`` as one video of frames of ``size`` (width, height).

    The last frame is repeated until the number is a multiple of the rules' depth.
    """
    fitted = _fitted(images, size)
    short = -len(fitted) % rules.depth
    if short:
        fitted = np.concatenate([fitted, np.repeat(fitted[-1:], short, axis=0)])
    return _cut(fitted, rules)


def image_patches(image: npt.NDArray[np.uint8], size: tuple[int, int], rules: PatchRules) -> Patches:
    """``uint8[H, W, 3]`` as a still: the same picture fills the depth of its patches."""
    return _cut(np.repeat(_fitted(image[None], size), rules.depth, axis=0), rules)


def _fitted(images: npt.NDArray[np.uint8], size: tuple[int, int]) -> npt.NDArray[np.uint8]:
    return images if images.shape[2:0:-1] == size else fit(images, size)


def _cut(images: npt.NDArray[np.uint8], rules: PatchRules) -> Patches:
    n, height, width, _ = images.shape
    t, h, w = grid = grid_of(width, height, n, rules)
    m, p = rules.merge, rules.patch
    split = images.reshape(t, rules.depth, h // m, m, p, w // m, m, p, 3)
    # Moved as bytes, and normalised after: a quarter of the traffic, and the same values.
    rows = split.transpose(0, 2, 5, 3, 6, 8, 1, 4, 7).reshape(t * h * w, 3, rules.depth * p * p)
    mean, std = (
        (np.array(values, np.float32) / np.float32(rules.rescale)).reshape(1, 3, 1)
        for values in (rules.mean, rules.std)
    )
    values = rows.astype(np.float32)
    values -= mean
    values /= std
    return Patches(values.reshape(t * h * w, -1), grid)


def _three(value: Any) -> tuple[float, float, float]:
    red, green, blue = value if isinstance(value, list | tuple) else (value,) * 3
    return float(red), float(green), float(blue)
