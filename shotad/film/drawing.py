"""Letters in pictures, and a matrix as a labelled picture: of confusion, of matching scores.

Pillow carries a font of its own, which makes the same pixels on every machine but knows little more than
ASCII. Text in other letters is drawn with a font of the system that has them all; where there is none a
note stands in its place, for `overview.html` holds every text as text.

All measures of a matrix follow the size of the text; nothing is cut off, long names are broken or stand
upright. Its colours run from a light yellow (low) to a dark blue (high), evenly in lightness, so that the
order stays in grey and for colour-blind people. Built in Oklab (B. Ottosson, "A perceptual color space for
image processing", 2020).
"""

from __future__ import annotations

import math
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont, PngImagePlugin

from shotad.film.palette import FAINT, INK, PAPER, Colour, ink_on

LIGHTNESS = (0.975, 0.30)
"""At the low and at the high end, of Oklab's 0 to 1."""

HUES = (105.0, 262.0)
"""Degrees: from yellow over green to blue."""

CHROMA = (0.04, 0.085)
"""As much as sRGB holds all along the way, so that nothing is clipped."""

_LAB_FROM_CONES = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_CONES_FROM_RGB = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)


def colour_of(share: float) -> Colour:
    """The colour of a share from 0 (low) to 1 (high); what lies beyond is taken as the end.

    Raises ValueError for what is no number.
    """
    if math.isnan(share):
        raise ValueError("nan has no place on a scale of colours")
    red, green, blue = _ramp()[round(min(1.0, max(0.0, share)) * 255)].tolist()
    return red, green, blue


@lru_cache(maxsize=1)
def _ramp() -> npt.NDArray[np.uint8]:
    """``uint8[256, 3]``, low to high."""
    at = np.linspace(0, 1, 256)
    lightness = LIGHTNESS[0] + (LIGHTNESS[1] - LIGHTNESS[0]) * at
    hue = np.radians(HUES[0] + (HUES[1] - HUES[0]) * at)
    chroma = CHROMA[0] + (CHROMA[1] - CHROMA[0]) * np.sin(np.pi / 2 * at)
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=-1)
    cones = (lab @ np.linalg.inv(_LAB_FROM_CONES).T) ** 3
    linear = np.clip(cones @ np.linalg.inv(_CONES_FROM_RGB).T, 0, 1)
    coded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    ramp: npt.NDArray[np.uint8] = np.rint(255 * coded).astype(np.uint8)
    ramp.flags.writeable = False
    return ramp


TITLE = 1.15
"""The title's letters, as a multiple of the others'."""


@dataclass(frozen=True, slots=True)
class Words:
    """Everything that is written into the picture."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    title: str
    row_title: str
    column_title: str
    cells: tuple[tuple[str, ...], ...] | None
    note: str

    def inside(self, i: int, j: int) -> str:
        return self.cells[i][j] if self.cells is not None else ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Where everything stands, in pixels. ``left`` and ``top`` are the corner of the first cell.

    ``rows``, ``columns``, ``title`` and ``note`` are broken into lines; ``upright`` column names are turned.
    ``ceiling`` is where the title ends, ``floor`` where the note begins.
    """

    text: int
    gap: int
    cell: tuple[int, int]
    left: int
    top: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    upright: bool
    title: str
    note: str
    heads: int
    ceiling: int
    floor: int
    ticks: tuple[str, str, str]
    size: tuple[int, int]

    @property
    def right(self) -> int:
        return self.left + self.cell[0] * len(self.columns)

    @property
    def bottom(self) -> int:
        return self.top + self.cell[1] * len(self.rows)

    def box(self, place: tuple[int, int]) -> tuple[int, int, int, int]:
        """First and last pixels of a cell: left, top, right, bottom."""
        left, top = self.left + place[1] * self.cell[0], self.top + place[0] * self.cell[1]
        return left, top, left + self.cell[0] - 1, top + self.cell[1] - 1


def plan_of(words: Words, ticks: tuple[str, str, str], text: int) -> Plan:
    gap = max(4, text // 2)
    rows = tuple(wrapped(name, 14 * text, text) for name in words.rows)
    inside = [extent(cell, text) for line in words.cells or () for cell in line] or [(0, 0)]
    high = max(
        round(2.2 * text), *(h + gap for _, h in inside), *(extent(n, text)[1] + gap // 2 for n in rows)
    )
    wide = max(high, *(w + gap for w, _ in inside))
    across = tuple(wrapped(name, max(wide - gap, 4 * text), text) for name in words.columns)
    needed = max(extent(name, text)[0] for name in across) + gap
    upright = needed > max(1.5 * wide, 6 * text)
    columns = tuple(wrapped(name, 12 * text, text) for name in words.columns) if upright else across
    thick = max(extent(name, text)[1] for name in columns)
    wide = max(wide, thick + gap // 2 if upright else needed)
    heads = max(extent(name, text)[0] for name in columns) if upright else thick
    line = extent("", text)[1]
    left = gap + (line + gap if words.row_title else 0) + max(extent(name, text)[0] for name in rows) + gap
    bar = 2 * gap + text + gap // 2 + max(extent(tick, text)[0] for tick in ticks)
    loose = max(extent(word, text)[0] for word in (*words.note.split(), words.column_title))
    loose = max(loose, *(math.ceil(TITLE * extent(word, text)[0]) + 1 for word in (*words.title.split(), "")))
    width = max(left + wide * len(columns) + bar, loose + gap, 10 * text) + gap
    title = wrapped(words.title, math.floor((width - 2 * gap) / TITLE) - 1, text)
    note = wrapped(words.note, width - 2 * gap, text)
    ceiling = gap + (math.ceil(TITLE * extent(title, text)[1]) + gap if title else 0)
    top = ceiling + (line + gap if words.column_title else 0) + heads + gap // 2
    floor = max(top + high * len(rows), ceiling + extent(words.row_title, text)[0]) + gap
    size = (width, floor + (extent(note, text)[1] + gap if note else 0))
    return Plan(
        text, gap, (wide, high), left, top, rows, columns, upright, title, note, heads, ceiling, floor,
        ticks, size,
    )  # fmt: skip


def wrapped(words: str, width: int, text: int) -> str:
    """The words in as many lines as the width asks for, broken at spaces and after hyphens."""
    lines = [""]
    for part in re.findall(r"[^\s-]+-?|-|\s+", words):
        if lines[-1] and extent((lines[-1] + part).rstrip(), text)[0] > width:
            lines.append("")
        lines[-1] += part if lines[-1] else part.lstrip()
    return "\n".join(line.rstrip() for line in lines)


@lru_cache(maxsize=4096)
def drawn(line: str, text: int) -> Lettering:
    """One line as it can be drawn, in a font that has its letters."""
    return lettering(line, text)


@lru_cache(maxsize=4096)
def extent(words: str, text: int) -> tuple[int, int]:
    """Width and height in pixels of the words in their lines."""
    lines = words.split("\n")
    return max(math.ceil(drawn(line, text).width(drawn(line, text).text)) for line in lines), line_height(
        text
    ) * len(lines)


def line_height(text: int) -> int:
    """Pixels from one line to the next."""
    return round(1.3 * text)


UNKNOWN: Colour = (238, 238, 238)

SMALLEST_TEXT = 8
"""Pixels; below this digits are no longer told apart."""


def matrix_image(
    values: npt.NDArray[Any],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str = "",
    row_title: str = "",
    column_title: str = "",
    cells: Sequence[Sequence[str]] | None = None,
    marks: npt.NDArray[np.bool_] | None = None,
    note: str = "",
    low: float = 0.0,
    high: float = 1.0,
    text: int = 16,
) -> Image.Image:
    """Draw ``values`` (float ``[n, m]``) with the names of its ``n`` rows and ``m`` columns, as RGB.

    ``cells`` are texts inside the cells, line breaks allowed; ``marks`` (bool ``[n, m]``) get a frame;
    ``note`` stands below. Colours run from ``low`` to ``high``, values beyond are drawn as those; what is
    no number (nan) is grey. ``text`` is the size of the letters in pixels, 8 or more. Raises ValueError
    for shapes that do not agree.
    """
    values = np.asarray(values, dtype=np.float64)
    texts = tuple(tuple(line) for line in cells) if cells is not None else None
    words = Words(tuple(rows), tuple(columns), title, row_title, column_title, texts, note)
    _agree(values, words, marks, low, high, text)
    plan = plan_of(words, (_figure(low), _figure((low + high) / 2), _figure(high)), text)
    image = Image.new("RGB", plan.size, PAPER)
    draw = ImageDraw.Draw(image)
    _draw_titles(image, draw, plan, words)
    _draw_names(image, draw, plan, words)
    for (i, j), value in np.ndenumerate(values):
        _draw_cell(draw, plan, (i, j), (float(value) - low) / (high - low), words.inside(i, j))
    for i, j in np.argwhere(marks) if marks is not None else ():
        _draw_mark(draw, plan, (int(i), int(j)))
    _draw_scale(draw, plan)
    return image


def matrix_png(path: str | os.PathLike[str], values: npt.NDArray[Any], *args: Any, **options: Any) -> None:
    """Write the picture of `matrix_image` (same arguments after ``path``) to a PNG file.

    The title stands in the file as its title. The same arguments give the same bytes.
    """
    image = matrix_image(values, *args, **options)
    about = PngImagePlugin.PngInfo()
    if options.get("title"):
        about.add_itxt("Title", options["title"])
    draft = Path(path).with_name(f"{Path(path).name}.part")
    image.save(draft, "PNG", pnginfo=about, optimize=True)
    os.replace(draft, path)


def _agree(
    values: npt.NDArray[np.float64],
    words: Words,
    marks: npt.NDArray[np.bool_] | None,
    low: float,
    high: float,
    text: int,
) -> None:
    n, m = len(words.rows), len(words.columns)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"values must be float[n, m] with n and m above 0, got shape {values.shape}")
    if (n, m) != values.shape:
        raise ValueError(f"values are {values.shape}, but there are {n} rows and {m} columns")
    if words.cells is not None and [len(line) for line in words.cells] != [m] * n:
        raise ValueError(f"cells must be {n} rows of {m} texts, got {[len(line) for line in words.cells]}")
    if marks is not None and marks.shape != values.shape:
        raise ValueError(f"marks must be bool[{n}, {m}], got shape {marks.shape}")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"low must be below high, got {low} and {high}")
    if text < SMALLEST_TEXT:
        raise ValueError(f"text must be at least {SMALLEST_TEXT} pixels high, got {text}")


def _draw_titles(image: Image.Image, draw: ImageDraw.ImageDraw, plan: Plan, words: Words) -> None:
    gap = plan.gap
    _write(draw, (gap, gap), plan.title, round(TITLE * plan.text), "la")
    _write(draw, (gap, plan.floor), plan.note, plan.text, "la")
    if words.column_title:
        wide = extent(words.column_title, plan.text)[0]
        left = min((plan.left + plan.right - wide) // 2, plan.size[0] - gap - wide)
        above = plan.top - gap // 2 - plan.heads - gap
        _write(draw, (max(gap, left), above), words.column_title, plan.text, "ld")
    if words.row_title:
        strip = _turned(words.row_title, plan.text)
        middle = (plan.top + plan.bottom - strip.height) // 2
        image.paste(strip, (gap, max(plan.ceiling, middle)))


def _draw_names(image: Image.Image, draw: ImageDraw.ImageDraw, plan: Plan, words: Words) -> None:
    for i, name in enumerate(plan.rows):
        middle = plan.top + (i + 0.5) * plan.cell[1]
        _write(draw, (plan.left - plan.gap, middle), name, plan.text, "rm")
    for j, name in enumerate(plan.columns):
        middle, foot = plan.left + (j + 0.5) * plan.cell[0], plan.top - plan.gap // 2
        if plan.upright:
            strip = _turned(name, plan.text)
            image.paste(strip, (round(middle - strip.width / 2), foot - strip.height))
        else:
            _write(draw, (middle, foot), name, plan.text, "md")


def _draw_cell(
    draw: ImageDraw.ImageDraw, plan: Plan, place: tuple[int, int], share: float, words: str
) -> None:
    left, top, right, bottom = box = plan.box(place)
    ground = UNKNOWN if math.isnan(share) else colour_of(share)
    draw.rectangle(box, fill=ground, outline=PAPER)
    middle = ((left + right + 1) / 2, (top + bottom + 1) / 2)
    if words:
        _write(draw, middle, words, plan.text, "mm", ink_on(ground))
    elif math.isnan(share):
        reach = plan.text // 3
        draw.line(
            (middle[0] - reach, middle[1], middle[0] + reach, middle[1]), FAINT, max(1, plan.text // 12)
        )


def _draw_mark(draw: ImageDraw.ImageDraw, plan: Plan, place: tuple[int, int]) -> None:
    """A dark frame with a light one inside: seen on every colour, and where marked cells meet."""
    left, top, right, bottom = plan.box(place)
    thick = max(2, plan.text // 7)
    draw.rectangle((left - 1, top - 1, right + 1, bottom + 1), None, INK, thick)
    inner = thick - 1
    draw.rectangle(
        (left + inner, top + inner, right - inner, bottom - inner), None, PAPER, max(1, thick // 2)
    )


def _draw_scale(draw: ImageDraw.ImageDraw, plan: Plan) -> None:
    """The colours as a bar beside the matrix, the high end above."""
    left, right = plan.right + 2 * plan.gap, plan.right + 2 * plan.gap + plan.text
    last = plan.bottom - plan.top - 1
    for y in range(last + 1):
        draw.line((left, plan.top + y, right, plan.top + y), colour_of(1 - y / max(1, last)))
    draw.rectangle((left, plan.top, right, plan.bottom - 1), outline=INK)
    low, middle, high = plan.ticks
    x = right + plan.gap // 2
    _write(draw, (x, plan.top), high, plan.text, "la")
    if last > 4 * plan.text:
        _write(draw, (x, (plan.top + plan.bottom) / 2), middle, plan.text, "lm")
    _write(draw, (x, plan.bottom), low, plan.text, "ld")


def _write(
    draw: ImageDraw.ImageDraw, at: tuple[float, float], words: str, text: int, anchor: str, ink: Colour = INK
) -> None:
    """Lines of text: ``at`` is their left, middle or right (l, m, r) and top, middle or foot (a, m, d)."""
    if not words:
        return
    line = line_height(text)
    lines = words.split("\n")
    top = at[1] - line * len(lines) * {"a": 0.0, "m": 0.5, "d": 1.0}[anchor[1]]
    for number, part in enumerate(lines):
        letters = drawn(part, text)
        place = (at[0], top + (number + 0.5) * line)
        draw.text(place, letters.text, ink, letters.font, anchor[0] + "m")


def _turned(words: str, text: int) -> Image.Image:
    """Lines that read upwards, black on white."""
    width, height = extent(words, text)
    strip = Image.new("RGB", (width, height), PAPER)
    _write(ImageDraw.Draw(strip), (0, 0), words, text, "la")
    return strip.transpose(Image.Transpose.ROTATE_90)


def _figure(value: float) -> str:
    return f"{value:.4g}"


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
