"""The pictures of a slot as one image for documents, each with its time and shot below."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from shotad.script.track_texts import texts_in
from shotad.script.worksheet import SheetEntry, short_time

MOST_PICTURES = 8
"""Pictures of one slot in a document at most; of more, this many are chosen evenly."""
_CELL_WIDTH = 260
"""Pixels of a picture: two of them in 4.5 cm are 290 dots an inch."""
_CAPTION_HEIGHT, _FONT_SIZE = 34, 26
_GAP = 8
"""Pixels between pictures."""
_JPEG_QUALITY = 78
_WHITE, _BLACK = (255, 255, 255), (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Strip:
    """An image with its size in pixels."""

    jpeg: bytes
    width: int
    height: int


def shown_pictures(entry: SheetEntry) -> list[tuple[int, float]]:
    """Shot (from 0) and second of each picture of a slot that a document shows."""
    pictures = [(shot.shot, second) for shot in entry.shots for second in shot.pictures]
    if len(pictures) <= MOST_PICTURES:
        return pictures
    step = len(pictures) / MOST_PICTURES
    return [pictures[int(position * step)] for position in range(MOST_PICTURES)]


def strip_words(entry: SheetEntry, language: str) -> str:
    """The image in words, for screen readers: ``Pictures: shot 5 at 1:12.6, shot 6 at 1:14.0``."""
    texts = texts_in(language)
    shown = [
        texts("sheet.picture_in_list", number=shot + 1, time=short_time(second))
        for shot, second in shown_pictures(entry)
    ]
    return texts("sheet.pictures_of", pictures=", ".join(shown))


def strip_of(entry: SheetEntry, pictures: Mapping[float, bytes], language: str) -> Strip | None:
    """The image of a slot; None where it has no picture. The same pictures give the same bytes.

    ``pictures`` are JPEGs by their second; below each stands its shot in ``language``.
    """
    texts = texts_in(language)
    captioned: list[tuple[str, Image.Image]] = []
    for shot, second in shown_pictures(entry):
        if second in pictures:
            caption = texts("sheet.caption", number=shot + 1, time=short_time(second))
            captioned.append((caption, Image.open(io.BytesIO(pictures[second])).convert("RGB")))
    if not captioned:
        return None
    width = _CELL_WIDTH * 2 + _GAP
    # One or two pictures have the whole width.
    columns, cell_width = (1, width) if len(captioned) <= 2 else (2, _CELL_WIDTH)
    scaled: list[tuple[str, Image.Image]] = []
    for caption, image in captioned:
        height = max(1, round(image.height * cell_width / image.width))
        scaled.append((caption, image.resize((cell_width, height))))
    cell_height = max(image.height for _, image in scaled) + _CAPTION_HEIGHT
    rows = -(-len(scaled) // columns)
    strip = Image.new("RGB", (width, rows * (cell_height + _GAP) - _GAP), _WHITE)
    draw, font = ImageDraw.Draw(strip), ImageFont.load_default(_FONT_SIZE)
    for position, (caption, image) in enumerate(scaled):
        left = position % columns * (cell_width + _GAP)
        top = position // columns * (cell_height + _GAP)
        strip.paste(image, (left, top))
        draw.text((left, top + image.height + 2), caption, fill=_BLACK, font=font)
    jpeg = io.BytesIO()
    strip.save(jpeg, "JPEG", quality=_JPEG_QUALITY)
    return Strip(jpeg.getvalue(), strip.width, strip.height)
