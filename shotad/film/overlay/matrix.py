"""A matrix as a labelled picture: of confusion after training, of the matching scores of a clip's shots.

All measures follow the size of the text; nothing is cut off, long names are broken or stand upright.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, PngImagePlugin

from shotad.film.overlay.matrix_plan import TITLE, Plan, Words, drawn, extent, line_height, plan_of
from shotad.film.overlay.palette import FAINT, INK, PAPER, Colour, ink_on
from shotad.film.overlay.ramp import colour_of

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
