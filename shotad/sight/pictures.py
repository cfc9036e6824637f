"""Cutting parts out of pictures."""

from __future__ import annotations

from shotad.core import Box, Image


def crop(image: Image, box: Box) -> Image:
    """The part of ``image`` (``[H, W, 3]``) inside ``box``, at least one pixel; a view, no copy."""
    height, width = image.shape[:2]
    x, y = int(box.left * width), int(box.top * height)
    right, bottom = max(x + 1, round(box.right * width)), max(y + 1, round(box.bottom * height))
    return image[y:bottom, x:right]
