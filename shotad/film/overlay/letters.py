"""Lettering for pictures: a font that has the letters, and lines that fit.

Pillow carries a font of its own, which makes the same pixels on every machine but knows little more than
ASCII. Text in other letters is drawn with a font of the system that has them all; where there is none a
note stands in its place, for `overview.html` holds every text as text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from PIL import ImageDraw, ImageFont

from shotad.film.overlay.palette import INK, Colour

Font = ImageFont.FreeTypeFont

NOTE = "(The fonts of this machine lack these letters: read the text in overview.html.)"

SYSTEM_FONTS = (
    "DejaVuSans.ttf",
    "NotoSans-Regular.ttf",
    "LiberationSans-Regular.ttf",
    "Arial.ttf",
    "arial.ttf",
    "NotoSansCJK-Regular.ttc",
    "wqy-microhei.ttc",
    "NotoSansArabic-Regular.ttf",
    "NotoSansHebrew-Regular.ttf",
    "NotoSansDevanagari-Regular.ttf",
    "NotoSansThai-Regular.ttf",
    "Arial Unicode.ttf",
)
"""Tried in this order for text that the built-in font has not."""

_SAME = str.maketrans(
    {"—": "-", "–": "-", "‑": "-", "‐": "-", "−": "-", "\u00a0": " ", "\u202f": " ", "\n": " "}
)
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Lettering:
    """A text that can be drawn, and the font that has all of its letters."""

    text: str
    font: Font

    @property
    def height(self) -> int:
        """Pixels from one line to the next."""
        ascent, descent = self.font.getmetrics()
        return ascent + descent + max(1, ascent // 8)

    def width(self, text: str) -> float:
        """Pixels that ``text`` takes in one line."""
        return self.font.getlength(text)

    def lines(self, width: float, most: int | None = None) -> list[str]:
        """The text in lines of at most ``width`` pixels; what does not go into ``most`` lines is cut off
        with an ellipsis. Words longer than a line are broken.
        """
        lines = _wrap(self, width)
        if most is None or len(lines) <= most:
            return lines
        kept = lines[: max(most, 1)]
        return [*kept[:-1], self._cut(kept[-1], width)]

    def _cut(self, line: str, width: float) -> str:
        while line and self.width(line + _ELLIPSIS) > width:
            line = line[:-1]
        return line.rstrip() + _ELLIPSIS


def lettering(text: str, size: int, fonts: Iterable[str] = SYSTEM_FONTS) -> Lettering:
    """``text`` as it can be drawn ``size`` pixels high: in the built-in font, else in one of ``fonts``,
    else the note that it cannot.

    Signs that are no letters and that no font has are left out.
    """
    plain = text.translate(_SAME)
    own = built_in(size)
    if _lacks(own, plain) == "":
        return Lettering(plain, own)
    candidates = (own, *(font for name in fonts if (font := _system(name, size)) is not None))
    for font in candidates:
        lacking = _lacks(font, plain)
        if not any(unicodedata.category(letter)[0] in "LNM" for letter in lacking):
            return Lettering("".join(letter for letter in plain if letter not in lacking), font)
    return Lettering(NOTE, own)


@lru_cache(maxsize=32)
def built_in(size: int) -> Font:
    """Pillow's own font."""
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("this Pillow was built without FreeType, so it can draw no text")
    return font


def write(
    draw: ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: int, ink: Colour = INK
) -> float:
    """Draw ``text`` in one line from its top left corner; returns the width in pixels."""
    drawn = lettering(text, size)
    draw.text(at, drawn.text, fill=ink, font=drawn.font)
    return drawn.width(drawn.text)


def write_lines(
    draw: ImageDraw.ImageDraw,
    at: tuple[float, float],
    text: str,
    size: int,
    width: float,
    *,
    ink: Colour = INK,
    most: int | None = None,
) -> int:
    """Draw ``text`` in lines of at most ``width`` pixels; returns their height in pixels."""
    drawn = lettering(text, size)
    lines = drawn.lines(width, most)
    for row, line in enumerate(lines):
        draw.text((at[0], at[1] + row * drawn.height), line, fill=ink, font=drawn.font)
    return len(lines) * drawn.height


def lines_height(text: str, size: int, width: float, most: int | None = None) -> int:
    """The height that `write_lines` would return."""
    drawn = lettering(text, size)
    return len(drawn.lines(width, most)) * drawn.height


@lru_cache(maxsize=256)
def _system(name: str, size: int) -> Font | None:
    try:
        return ImageFont.truetype(name, size)
    except OSError:
        return None


def _lacks(font: Font, text: str) -> str:
    """The characters of ``text`` for which ``font`` has nothing but its sign for what is missing."""
    return "".join(sorted({letter for letter in text if not _has(font, letter)}))


@lru_cache(maxsize=8192)
def _has(font: Font, letter: str) -> bool:
    if letter.isspace() or unicodedata.category(letter) in ("Cf", "Mn", "Me"):
        return True
    return bytes(font.getmask(letter)) != bytes(font.getmask("\uffff"))


def _wrap(lettering: Lettering, width: float) -> list[str]:
    lines: list[str] = []
    line = ""
    for word in lettering.text.split():
        together = f"{line} {word}" if line else word
        if lettering.width(together) <= width:
            line = together
            continue
        if line:
            lines.append(line)
        *whole, line = _broken(lettering, word, width)
        lines += whole
    return [*lines, line] if line else lines


def _broken(lettering: Lettering, word: str, width: float) -> list[str]:
    """A word in parts that fit: one, unless it is longer than a line (or written without spaces)."""
    parts, part = [], ""
    for letter in word:
        if part and lettering.width(part + letter) > width:
            parts.append(part)
            part = ""
        part += letter
    return [*parts, part]
