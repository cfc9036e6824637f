"""Small tags beside faces, for when colours and styles are used up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from shotad.core.types import Box, Image
from shotad.film.overlay.outlines import Window
from shotad.film.overlay.palette import Colour, ink_on

TAG_TEXT = 0.05
"""Font size as a part of the picture's geometric mean side: 19 pixels at 504 x 280."""

SMALLEST_TAG = 14
"""Pixels."""


def paint_tags(
    image: Image, tags: Sequence[tuple[Box, str, Colour]], *, taken: Sequence[Window] = ()
) -> Image:
    """A new picture with each tag that has text beside its face, where it hides the least.

    A tag never leaves the picture; it keeps out of faces with their marks, of other tags and of ``taken``
    where it can.
    """
    painted = image.copy()
    height, width = image.shape[:2]
    faces = [_window(box, width, height) for box, _, _ in tags]
    marked = [_grown(face, width, height) for face in faces]
    there: list[Window] = list(taken)
    for face, (_, text, colour) in zip(faces, tags, strict=True):
        if not text:
            continue
        tag = _tag(text, colour, width, height)
        at = min(
            _places(face, tag.shape[1], tag.shape[0], width, height),
            key=lambda place: sum(place.shared(other) for other in (*there, *marked)),
        )
        at.of(painted)[:] = tag
        there.append(at)
    return painted


@lru_cache(maxsize=256)
def _tag(text: str, colour: Colour, width: int, height: int) -> Image:
    """The tag for a picture of ``width`` x ``height``: ``uint8[h, w, 3]``, read-only, never larger."""
    font = ImageFont.load_default(max(SMALLEST_TAG, round(TAG_TEXT * math.sqrt(width * height))))
    left, top, right, bottom = (round(side) for side in font.getbbox(text))
    size = (right - left + 6, bottom - top + 6)
    tag = Pillow.new("RGB", size, colour)
    draw = ImageDraw.Draw(tag)
    draw.rectangle((0, 0, size[0] - 1, size[1] - 1), outline=ink_on(colour))
    draw.text((3 - left, 3 - top), text, fill=ink_on(colour), font=font)
    pixels = np.asarray(tag, dtype=np.uint8)[:height, :width].copy()
    pixels.flags.writeable = False
    return pixels


_ROOM = 1.35
"""Halves of the face's box from its centre to the near edge of a tag."""


def _places(face: Window, wide: int, high: int, width: int, height: int) -> Iterator[Window]:
    """Beside a face, moved into the picture: right, left, below, above, then the corners."""
    x, y = (face.left + face.right) / 2, (face.top + face.bottom) / 2
    out_x = (face.right - face.left) / 2 * _ROOM + wide / 2 + 4
    out_y = (face.bottom - face.top) / 2 * _ROOM + high / 2 + 4
    near = 0.75
    for right, down in (
        (1, 0),
        (-1, 0),
        (0, 1),
        (0, -1),
        (near, near),
        (-near, near),
        (near, -near),
        (-near, -near),
    ):
        left = min(max(round(x + right * out_x - wide / 2), 0), width - wide)
        top = min(max(round(y + down * out_y - high / 2), 0), height - high)
        yield Window(left, top, left + wide, top + high)


def _window(box: Box, width: int, height: int) -> Window:
    return Window(
        math.floor(box.left * width),
        math.floor(box.top * height),
        math.ceil(box.right * width),
        math.ceil(box.bottom * height),
    )


def _grown(face: Window, width: int, height: int) -> Window:
    """A face with what is drawn around it."""
    more_x, more_y = (
        round((_ROOM - 1) / 2 * side) for side in (face.right - face.left, face.bottom - face.top)
    )
    return Window(
        max(face.left - more_x, 0),
        max(face.top - more_y, 0),
        min(face.right + more_x, width),
        min(face.bottom + more_y, height),
    )
