"""The signs of the sheet's pictures. Each has a form or a letter of its own besides its colour."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from PIL import Image, ImageDraw

from shotad.core import Role, SpeechKind, Utterance
from shotad.film import (
    BLACK,
    BLUE,
    FAINT,
    INK,
    PAPER,
    SKY_BLUE,
    WASH,
    YELLOW,
    Colour,
    ink_on,
    lettering,
    thread_colour,
    write,
)

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels, all inside."""


class Kind(StrEnum):
    """What a span of time is."""

    SPEECH = "speech"
    LYRICS = "lyrics"
    SLOT = "slot"
    HEARD = "heard"
    UNHEARD = "unheard"
    THREAD = "thread"


Sample = tuple[Kind, str]
"""A sign and the words for it in a legend."""


def spoken(utterance: Utterance) -> Kind:
    """The sign for a stretch of speech."""
    return Kind.LYRICS if utterance.kind is SpeechKind.LYRICS else Kind.SPEECH


def span(draw: ImageDraw.ImageDraw, box: Box, kind: Kind) -> None:
    """A span of time. Speech is striped /, sung words \\, a slot plain, a line that is heard filled, one
    that is not struck through.
    """
    left, top, right, bottom = box
    if kind is Kind.SPEECH:
        draw.rectangle(box, fill=(64, 64, 64), outline=INK)
        _stripes(draw, box, (150, 150, 150), rising=True)
    elif kind is Kind.LYRICS:
        draw.rectangle(box, fill=PAPER, outline=INK)
        _stripes(draw, box, (64, 64, 64), rising=False)
    elif kind is Kind.SLOT:
        draw.rectangle(box, fill=SKY_BLUE, outline=BLUE)
    elif kind is Kind.HEARD:
        draw.rectangle(box, fill=YELLOW, outline=BLACK)
    elif kind is Kind.UNHEARD:
        draw.rectangle(box, fill=WASH, outline=FAINT)
        draw.line((left, (top + bottom) // 2, right, (top + bottom) // 2), fill=FAINT, width=2)


def _stripes(draw: ImageDraw.ImageDraw, box: Box, ink: Colour, *, rising: bool) -> None:
    """Diagonal stripes every 6 pixels inside a box, at the same places whatever the box."""
    left, top, right, bottom = box[0] + 1, box[1] + 1, box[2] - 1, box[3] - 1
    for y in range(top, bottom + 1):
        lean = y if rising else -y
        for x in range(left + (-left - lean) % 6, right + 1, 6):
            draw.point((x, y), fill=ink)


def badge(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], letters: str, size: int, *, right: bool = False
) -> int:
    """A thread's letters on its colour; ``at`` is the top left corner, or the top right with ``right``.

    Returns its width in pixels.
    """
    drawn = lettering(letters, size - 4)
    width = max(size + 2, round(drawn.width(letters)) + 10)
    left = at[0] - width if right else at[0]
    colour = thread_colour(letters)
    draw.rounded_rectangle((left, at[1], left + width, at[1] + size + 2), 5, fill=colour, outline=BLACK)
    middle = (left + width / 2, at[1] + (size + 2) / 2)
    draw.text(middle, letters, fill=ink_on(colour), font=drawn.font, anchor="mm")
    return width


def border(draw: ImageDraw.ImageDraw, box: Box, thread: str | None) -> None:
    """Around a frame: thick in the thread's colour between black lines, or one thin grey line."""
    left, top, right, bottom = box
    if thread is None:
        draw.rectangle((left - 1, top - 1, right, bottom), outline=FAINT)
        return
    draw.rectangle((left - 4, top - 4, right + 3, bottom + 3), fill=thread_colour(thread), outline=BLACK)


def role_border(draw: ImageDraw.ImageDraw, box: Box, role: Role) -> None:
    """Around frames of a clip: double for current shots, dotted for past, dashed for future ones."""
    left, top, right, bottom = box
    if role is Role.CURRENT:
        draw.rectangle((left - 2, top - 2, right + 1, bottom + 1), outline=INK, width=2)
        draw.rectangle((left - 5, top - 5, right + 4, bottom + 4), outline=INK, width=1)
        return
    on, off = (2, 3) if role is Role.PAST else (9, 5)
    for x in range(left - 3, right + 3):
        if (x - left) % (on + off) < on:
            draw.line((x, top - 3, x, top - 2), fill=INK)
            draw.line((x, bottom + 1, x, bottom + 2), fill=INK)
    for y in range(top - 3, bottom + 3):
        if (y - top) % (on + off) < on:
            draw.line((left - 3, y, left - 2, y), fill=INK)
            draw.line((right + 1, y, right + 2, y), fill=INK)


def legend(draw: ImageDraw.ImageDraw, at: tuple[int, int], samples: Sequence[Sample]) -> None:
    """Signs with the words for them, in one line."""
    x, y = at
    for kind, words in samples:
        if kind is Kind.THREAD:
            x += badge(draw, (x, y), "A", 18) + 8
        else:
            span(draw, (x, y + 2, x + 34, y + 17), kind)
            x += 42
        x += round(write(draw, (x, y + 1), words, 16)) + 28


def thumbnail(image: Image.Image, pixels: int) -> Image.Image:
    """``image`` shrunk to about ``pixels`` in all, in its own shape; never enlarged."""
    size = thumbnail_size(image.size, pixels)
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS)


def thumbnail_size(size: tuple[int, int], pixels: int) -> tuple[int, int]:
    """Width and height at about ``pixels`` in all: ``(1920, 1080), 20736 → (192, 108)``."""
    width, height = size
    scale = min(1.0, (pixels / (width * height)) ** 0.5)
    return max(1, round(width * scale)), max(1, round(height * scale))
