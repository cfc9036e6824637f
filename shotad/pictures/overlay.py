"""What is painted on the frames that a model sees, and how large those frames are.

Labels are painted after the resize, at a size that follows the picture, so that they stay readable:
the published code paints before it, and its label on a 720-line film is then 12 pixels high.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import lru_cache

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from shotad.config import FrameSettings, OverlaySettings
from shotad.pictures.marks import paint_people
from shotad.pictures.outlines import Window
from shotad.types import NOBODY, Clip, Image, Presence

PATCH = 28
"""Pixels: Qwen2-VL's frames are whole multiples of this in both directions."""

TEXT_SIZE = 0.075
"""Font size as a part of the picture's geometric mean side: 28 pixels at 504 x 280."""

SMALLEST_TEXT = 14
"""Pixels; below this digits are no longer told apart after JPEG."""

BORDER = 0.018
"""Width of the red border as a part of the geometric mean side: 7 pixels at 504 x 280."""

RED = (255, 0, 0)

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
        label = shot_label(number, *image.shape[1::-1]) if settings.label == "number" else None
        _people(image, presence, second, settings, label)
        if label is not None:
            _paste(image, label)
        elif settings.label == "box" and number in current:
            _frame(image)
    return Clip(images, clip.seconds.copy(), clip.shot_numbers.copy())


def _people(
    image: Image, presence: Presence, second: float, settings: OverlaySettings, label: Image | None
) -> None:
    """Marks of those who are on the frame of this second."""
    here = [s for s in presence.sightings if abs(s.seconds - second) <= SAME_MOMENT]
    if not here or settings.characters == "none":
        return
    taken = [] if label is None else [Window(0, 0, label.shape[1], label.shape[0])]
    image[:] = paint_people(image, here, presence.marks, settings.characters, taken=taken)


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


def _frame(image: Image) -> None:
    edge = max(2, round(BORDER * math.sqrt(image.shape[0] * image.shape[1])))
    for strip in (image[:edge], image[-edge:], image[:, :edge], image[:, -edge:]):
        strip[:] = RED


def _whole_patches(pixels: float, rounding: Callable[[float], int]) -> int:
    return max(PATCH, rounding(pixels / PATCH) * PATCH)
