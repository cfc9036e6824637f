"""What is painted on the frames that a model sees, and how large those frames are.

Labels are painted after the resize, at a size that follows the picture, so that they stay readable:
the published code paints before it, and its label on a 720-line film is then 12 pixels high.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from PIL import Image as Pillow, ImageDraw, ImageFont

from shotad.core import NOBODY, Box, Clip, FrameSettings, Image, Mark, OverlaySettings, Presence, Sighting
from shotad.film.overlay.marks import Shape, paint_people
from shotad.film.overlay.outlines import Window

PATCH = 28
"""Pixels: Qwen2-VL's frames are whole multiples of this in both directions."""

TEXT_SIZE = 0.075
"""Font size as a part of the picture's geometric mean side: 28 pixels at 504 x 280."""

SMALLEST_TEXT = 14
"""Pixels; below this digits are no longer told apart after JPEG."""

BORDER = 0.018
"""Width of the red border as a part of the geometric mean side: 7 pixels at 504 x 280."""

RED = (255, 0, 0)

_NO_LABEL = np.zeros((0, 0, 3), dtype=np.uint8)

SAME_MOMENT = 1e-3
"""Seconds between a sighting and its frame, at most."""


def vlm_size(width: int, height: int, settings: FrameSettings) -> tuple[int, int]:
    """Width and height in pixels at which a model sees a film of ``width`` x ``height``.

    Multiples of 28 nearest to the film's shape, between ``min_pixels`` and ``max_pixels`` (the rule
    of Qwen2-VL's processor); the shape is not kept exactly. With ``short_side`` the shorter side
    gets that length instead, and the shape is kept.

    >>> vlm_size(1920, 1080, FrameSettings()), vlm_size(1920, 800, FrameSettings())
    ((504, 280), (588, 224))
    """
    if width < 1 or height < 1:
        raise ValueError(f"a picture has at least one pixel, got {width} x {height}")
    if settings.short_side is not None:
        scale = settings.short_side / min(width, height)
        return max(1, round(width * scale)), max(1, round(height * scale))
    wide, high = (max(PATCH, round(side / PATCH) * PATCH) for side in (width, height))
    if wide * high > settings.max_pixels:
        scale = math.sqrt(settings.max_pixels / (width * height))
        return _whole_patches(width * scale, math.floor), _whole_patches(height * scale, math.floor)
    if wide * high < settings.min_pixels:
        scale = math.sqrt(settings.min_pixels / (width * height))
        return _whole_patches(width * scale, math.ceil), _whole_patches(height * scale, math.ceil)
    return wide, high


def fit(images: Image, size: tuple[int, int]) -> Image:
    """``uint8[n, H, W, 3]`` resized to ``(width, height)``: bicubic, antialiased, always a new array."""
    width, height = size
    if images.shape[1:3] == (height, width):
        return images.copy()
    resized = [Pillow.fromarray(i).resize((width, height), Pillow.Resampling.BICUBIC) for i in images]
    return np.stack([np.asarray(image, dtype=np.uint8) for image in resized])


def paint(
    clip: Clip,
    settings: OverlaySettings,
    *,
    current: Collection[int] = (),
    presence: Presence = NOBODY,
) -> Clip:
    """The clip with its marks, in new arrays: people's outlines, then ``Shot k`` top left on every
    frame, or a red border.

    ``current`` are the numbers of the current shots, whose frames get the border. A sighting of
    ``presence`` belongs to the frames whose second it bears. Paint frames of the size that the model sees
    (`vlm_size`, `fit`).
    """
    images = clip.images.copy()
    for image, second, number in zip(images, clip.seconds.tolist(), clip.shot_numbers.tolist(), strict=True):
        bordered = settings.label == "box" and number in current
        edge = border_width(image) if bordered else 0
        label = shot_label(number, *image.shape[1::-1]) if settings.label == "number" else _NO_LABEL
        if settings.characters != "none":
            here = [s for s in presence.sightings if abs(s.seconds - second) <= SAME_MOMENT]
            _people(image, here, presence.marks, settings.characters, label=label, edge=edge)
        _paste(image, label)
        if bordered:
            _frame(image, edge)
    return Clip(images, clip.seconds.copy(), clip.shot_numbers.copy())


def _people(
    image: Image,
    here: Sequence[Sighting],
    marks: Mapping[str, Mark],
    shape: Shape,
    *,
    label: Image,
    edge: int,
) -> None:
    """Marks the people on a frame, inside its border, so that no red mark runs into it."""
    height, width = image.shape[:2]
    inner = image[edge : height - edge, edge : width - edge]
    if not here or inner.size == 0:
        return
    moved = [replace(s, box=box) for s in here if (box := _inside(s.box, edge / width, edge / height))]
    taken = Window(0, 0, label.shape[1], label.shape[0])
    inner[:] = paint_people(inner, moved, marks, shape, taken=[taken])


def _inside(box: Box, across: float, down: float) -> Box | None:
    """The box as fractions of the picture without such an edge, or None: it lies in the edge."""
    left, right = ((x - across) / (1 - 2 * across) for x in (box.left, box.right))
    top, bottom = ((y - down) / (1 - 2 * down) for y in (box.top, box.bottom))
    left, top, right, bottom = max(left, 0.0), max(top, 0.0), min(right, 1.0), min(bottom, 1.0)
    return Box(left, top, right, bottom) if left < right and top < bottom else None


@lru_cache(maxsize=256)
def shot_label(number: int, width: int, height: int) -> Image:
    """The label for a frame of ``width`` x ``height`` pixels: black on white, ``uint8[h, w, 3]``, read-only.

    Never larger than the frame.
    """
    text, mean_side = f"Shot {number}", math.sqrt(width * height)
    size = max(SMALLEST_TEXT, round(TEXT_SIZE * mean_side))
    font = ImageFont.load_default(size)
    padding = max(2, round(size / 5))
    left, top, right, bottom = (round(side) for side in font.getbbox(text))
    box = (right - left + 2 * padding, bottom - top + 2 * padding)
    label = Pillow.new("RGB", box, "white")
    draw = ImageDraw.Draw(label)
    draw.text((padding - left, padding - top), text, fill="black", font=font)
    draw.line([(0, box[1] - 1), (box[0] - 1, box[1] - 1), (box[0] - 1, 0)], fill="black")
    pixels = np.asarray(label, dtype=np.uint8)[:height, :width].copy()
    pixels.flags.writeable = False
    return pixels


def _paste(image: Image, label: Image) -> None:
    height, width = label.shape[:2]
    image[:height, :width] = label


def _frame(image: Image, edge: int) -> None:
    for strip in (image[:edge], image[-edge:], image[:, :edge], image[:, -edge:]):
        strip[:] = RED


def border_width(image: Image) -> int:
    """Pixels of the red border around a frame: ``504 x 280 → 7``."""
    return max(2, round(BORDER * math.sqrt(image.shape[0] * image.shape[1])))


def _whole_patches(pixels: float, rounding: Callable[[float], int]) -> int:
    return max(PATCH, rounding(pixels / PATCH) * PATCH)
