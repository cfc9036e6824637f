"""The pictures of a slot as one image, for documents: with times and shots below each."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from shotad.script.worksheet import SheetEntry, short_time

MOST_PICTURES = 8
"""Pictures of one slot in a document; of more, so many are chosen evenly."""
_CELL_WIDTH = 260
"""Pixels of a picture: two of them in 4.5 cm are 290 dots an inch."""
_CAPTION_HEIGHT, _LETTERS = 34, 26
_GAP = 8
_QUALITY = 78
_PAPER, _INK = (255, 255, 255), (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Strip:
    """An image with its size in pixels."""

    jpeg: bytes
    width: int
    height: int


def shown_pictures(entry: SheetEntry) -> list[tuple[int, float]]:
    """Shot and second of the pictures of a slot that a document shows."""
    pictures = [(shot.shot, second) for shot in entry.shots for second in shot.pictures]
    if len(pictures) <= MOST_PICTURES:
        return pictures
    step = len(pictures) / MOST_PICTURES
    return [pictures[int(number * step)] for number in range(MOST_PICTURES)]


def strip_words(entry: SheetEntry) -> str:
    """The image in words, for who does not see it: ``Pictures: shot 5 at 1:12.6, shot 6 at 1:14.0``."""
    shown = ", ".join(f"shot {shot + 1} at {short_time(second)}" for shot, second in shown_pictures(entry))
    return f"Pictures: {shown}"


def strip_of(entry: SheetEntry, pictures: Mapping[float, bytes]) -> Strip | None:
    """The image of a slot; None where no picture is there. The same pictures give the same bytes."""
    found = [
        (f"{short_time(second)}  shot {shot + 1}", Image.open(io.BytesIO(pictures[second])).convert("RGB"))
        for shot, second in shown_pictures(entry)
        if second in pictures
    ]
    if not found:
        return None
    width = _CELL_WIDTH * 2 + _GAP
    columns, cell_width = (1, width) if len(found) <= 2 else (2, _CELL_WIDTH)
    scaled = [
        (caption, image.resize((cell_width, max(1, round(image.height * cell_width / image.width)))))
        for caption, image in found
    ]
    cell_height = max(image.height for _, image in scaled) + _CAPTION_HEIGHT
    rows = -(-len(scaled) // columns)
    sheet = Image.new("RGB", (width, rows * (cell_height + _GAP) - _GAP), _PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(_LETTERS)
    for number, (caption, image) in enumerate(scaled):
        left = number % columns * (cell_width + _GAP)
        top = number // columns * (cell_height + _GAP)
        sheet.paste(image, (left, top))
        draw.text((left, top + image.height + 2), caption, fill=_INK, font=font)
    out = io.BytesIO()
    sheet.save(out, "JPEG", quality=_QUALITY)
    return Strip(out.getvalue(), sheet.width, sheet.height)
