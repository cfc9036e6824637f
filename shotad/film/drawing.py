"""A matrix of shares as a labelled picture, written as PNG.

Its letters are those of Pillow's own font, which makes the same pixels on every machine.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont, PngImagePlugin

from shotad.film.palette import INK, PAPER, Colour, colour_of, ink_on

_TEXT, _TITLE = 16, 18
"""Pixels that letters are high."""
_LINE, _LINE_OF_TITLE = 21, 23
_GAP = 8
_SMALLEST_CELL = 35


def matrix_png(
    path: str | os.PathLike[str],
    values: npt.NDArray[Any],
    names: Sequence[str],
    *,
    title: str,
    row_title: str,
    column_title: str,
    cells: Sequence[Sequence[str]],
) -> None:
    """Write ``values`` (float ``[n, n]``, 0 to 1) with the names of rows and columns to a PNG file.

    ``cells`` are texts inside the cells, line breaks allowed. The title stands in the file as its title. The
    same arguments give the same bytes. Raises ValueError for shapes that do not agree.
    """
    values = np.asarray(values, dtype=np.float64)
    n = len(names)
    if values.shape != (n, n) or [len(row) for row in cells] != [n] * n:
        raise ValueError(
            f"values and cells must be [{n}, {n}], got {values.shape}, {[len(r) for r in cells]}"
        )
    about = PngImagePlugin.PngInfo()
    about.add_itxt("Title", title)
    draft = Path(path).with_name(f"{Path(path).name}.part")
    picture = _matrix(values, names, (title, row_title, column_title), cells)
    picture.save(draft, "PNG", pnginfo=about, optimize=True)
    os.replace(draft, path)


def _matrix(
    values: npt.NDArray[np.float64],
    names: Sequence[str],
    titles: tuple[str, str, str],
    cells: Sequence[Sequence[str]],
) -> Image.Image:
    n = len(names)
    rows = [_wrapped(name, 14 * _TEXT) for name in names]
    inside = [_extent(cell) for row in cells for cell in row]
    high = max(_SMALLEST_CELL, *(h + _GAP for _, h in inside), *(_extent(row)[1] + _GAP // 2 for row in rows))
    wide = max(high, *(w + _GAP for w, _ in inside))
    columns = [_wrapped(name, max(wide - _GAP, 4 * _TEXT)) for name in names]
    wide = max(wide, *(_extent(column)[0] + _GAP for column in columns))
    heads = max(_extent(column)[1] for column in columns)
    left = _GAP + _LINE + _GAP + max(_extent(row)[0] for row in rows) + _GAP
    right = left + n * wide
    bar = right + 2 * _GAP
    width = bar + _TEXT + _GAP // 2 + _extent("0.5")[0] + _GAP
    heading = _wrapped(titles[0], width - 2 * _GAP, _TITLE)
    ceiling = _GAP + (_LINE_OF_TITLE + 2) * len(heading.split("\n")) + _GAP
    top = ceiling + _LINE + _GAP + heads + _GAP // 2
    bottom = top + n * high

    image = Image.new("RGB", (width, bottom + _GAP), PAPER)
    draw = ImageDraw.Draw(image)
    _write(draw, (_GAP, _GAP), heading, "la", size=_TITLE)
    _write(draw, ((left + right) // 2, top - _GAP // 2 - heads - _GAP), titles[2], "md")
    strip = _turned(titles[1])
    image.paste(strip, (_GAP, max(ceiling, (top + bottom - strip.height) // 2)))
    for k in range(n):
        _write(draw, (left - _GAP, top + (k + 0.5) * high), rows[k], "rm")
        _write(draw, (left + (k + 0.5) * wide, top - _GAP // 2), columns[k], "md")
    for (i, j), value in np.ndenumerate(values):
        x, y, ground = left + j * wide, top + i * high, colour_of(float(value))
        draw.rectangle((x, y, x + wide - 1, y + high - 1), fill=ground, outline=PAPER)
        _write(draw, (x + wide / 2, y + high / 2), cells[i][j], "mm", ink_on(ground))
    for y in range(top, bottom):
        draw.line((bar, y, bar + _TEXT, y), colour_of((bottom - 1 - y) / (bottom - 1 - top)))
    draw.rectangle((bar, top, bar + _TEXT, bottom - 1), outline=INK)
    for words, y, anchor in (("1", top, "la"), ("0.5", (top + bottom) / 2, "lm"), ("0", bottom, "ld")):
        _write(draw, (bar + _TEXT + _GAP // 2, y), words, anchor)
    return image


def _wrapped(words: str, width: int, size: int = _TEXT) -> str:
    """The words in as many lines as the width asks for, broken at spaces and after hyphens."""
    lines = [""]
    for part in re.findall(r"[^\s-]+-?|-|\s+", words):
        if lines[-1] and ImageFont.load_default(size).getlength((lines[-1] + part).rstrip()) > width:
            lines.append("")
        lines[-1] += part if lines[-1] else part.lstrip()
    return "\n".join(line.rstrip() for line in lines)


def _extent(words: str) -> tuple[int, int]:
    """Width and height in pixels of the words in their lines."""
    font, lines = ImageFont.load_default(_TEXT), words.split("\n")
    return max(math.ceil(font.getlength(line)) for line in lines), _LINE * len(lines)


def _write(
    draw: ImageDraw.ImageDraw,
    at: tuple[float, float],
    words: str,
    anchor: str,
    ink: Colour = INK,
    size: int = _TEXT,
) -> None:
    """Lines of text: ``at`` is their left, middle or right (l, m, r) and top, middle or foot (a, m, d)."""
    font, lines = ImageFont.load_default(size), words.split("\n")
    line = _LINE if size == _TEXT else _LINE_OF_TITLE
    top = at[1] - line * len(lines) * {"a": 0.0, "m": 0.5, "d": 1.0}[anchor[1]]
    for number, part in enumerate(lines):
        draw.text((at[0], top + (number + 0.5) * line), part, ink, font, anchor[0] + "m")


def _turned(words: str) -> Image.Image:
    """A line that reads upwards, black on white."""
    strip = Image.new("RGB", _extent(words), PAPER)
    _write(ImageDraw.Draw(strip), (0, 0), words, "la")
    return strip.transpose(Image.Transpose.ROTATE_90)
