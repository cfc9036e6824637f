"""Frames as the vision transformers of film grammar want them: 4:3, small, ImageNet-normalised.

Centre crop to 4:3 (3:4 for upright film), then Pillow's bicubic filter, which widens with the
reduction and so antialiases. Threads look at 224 x 168 pixels, which DINOv2 cuts into 12 rows of 16
patches; shot scale looks at 448 x 336 (Shot-by-Shot's published code; the paper says "224p").
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow

from shotad.core import Image

PATCH = 14
"""Pixels along the side of a DINOv2 patch."""
THREAD_SIZE = (224, 168)
"""Longer and shorter side, in pixels, of what thread features look at."""
SCALE_SIZE = (448, 336)
"""The same for shot scale."""
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
"""ImageNet's mean and standard deviation of R, G and B as fractions of 255."""


def is_upright(image: Image) -> bool:
    """True where the frame is no wider than high: a square one counts as upright."""
    _check(image)
    return bool(image.shape[1] <= image.shape[0])


def all_upright(images: Sequence[Image]) -> bool:
    """True where all are upright, False where none is.

    Raises ValueError for no images, for upright and broad ones together, and for what is no image.
    """
    if not len(images):
        raise ValueError("at least one image is needed, got none")
    ways = [is_upright(image) for image in images]
    if any(ways) and not all(ways):
        raise ValueError(
            f"images must be all upright or all broad, got {sum(ways)} upright among {len(images)}"
        )
    return ways[0]


def centre_crop(image: Image) -> Image:
    """The largest 4:3 part (3:4 where width <= height) around the middle, as a view.

    >>> centre_crop(np.zeros((720, 1280, 3), np.uint8)).shape
    (720, 960, 3)
    """
    _check(image)
    height, width = image.shape[:2]
    across, down = (3, 4) if is_upright(image) else (4, 3)
    wide = min(width, max(1, round(height * across / down)))
    high = min(height, max(1, round(width * down / across)))
    left, top = (width - wide) // 2, (height - high) // 2
    return image[top : top + high, left : left + wide]


def fitted(image: Image, long_side: int, short_side: int) -> Image:
    """The centre crop at ``long_side`` x ``short_side`` pixels: ``uint8[h, w, 3]``, a copy.

    Broad film becomes ``[short_side, long_side, 3]``, upright film ``[long_side, short_side, 3]``.
    """
    size = (short_side, long_side) if is_upright(image) else (long_side, short_side)
    cropped = Pillow.fromarray(np.ascontiguousarray(centre_crop(image)))
    return np.array(cropped.resize(size, Pillow.Resampling.BICUBIC))


def normalised(images: Sequence[Image]) -> npt.NDArray[np.float32]:
    """``float32[n, 3, H, W]`` from images of one size: 0..1, less ImageNet's mean, over its deviation.

    Raises ValueError for no images, and for images of several shapes (upright and broad together).
    """
    all_upright(images)
    shapes = {image.shape for image in images}
    if len(shapes) > 1:
        raise ValueError(f"images must have one shape, got {sorted(shapes)}")
    stack = np.stack(images).astype(np.float32) / np.float32(255)
    stack -= np.array(MEAN, np.float32)
    stack /= np.array(STD, np.float32)
    return np.ascontiguousarray(stack.transpose(0, 3, 1, 2))


def prepared(images: Sequence[Image], size: tuple[int, int] = THREAD_SIZE) -> npt.NDArray[np.float32]:
    """Fitted to ``size`` (longer, shorter side) and normalised: ``float32[n, 3, H, W]``.

    Raises ValueError for no images, and for upright and broad ones together.
    """
    all_upright(images)
    return normalised([fitted(image, *size) for image in images])


def grid_of(
    image: Image, long_side: int = THREAD_SIZE[0], short_side: int = THREAD_SIZE[1]
) -> tuple[int, int]:
    """Rows and columns of patches for a frame fitted to these sides.

    >>> grid_of(np.zeros((720, 1280, 3), np.uint8)), grid_of(np.zeros((1280, 720, 3), np.uint8))
    ((12, 16), (16, 12))
    """
    few, many = short_side // PATCH, long_side // PATCH
    return (many, few) if is_upright(image) else (few, many)


def _check(image: Image) -> None:
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        raise ValueError(f"an image must be uint8[H, W, 3], got {image.dtype}{list(image.shape)}")
