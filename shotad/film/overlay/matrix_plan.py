"""Where the words and cells of a matrix stand in its picture (see `shotad.film.overlay.matrix`)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from shotad.film.overlay.letters import Lettering, lettering

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
