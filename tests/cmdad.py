"""CMD-AD's annotation and shots, where they are at hand: every AD with its shots and published context."""

from __future__ import annotations

import ast
import csv
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from shotad.types import Interval, Shot

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "cmd-ad"

Row = tuple[str, float, float]
"""Published label, start and end in seconds, without the noise of their last digits."""


@dataclass(frozen=True, slots=True)
class Golden:
    """One AD: its number, slot, the shots of its clip of film, and the rows of the published rule."""

    index: int
    slot: Interval
    shots: tuple[Shot, ...]
    rows: tuple[Row, ...]


def cmdad() -> list[Golden]:
    """All 7,316 ADs; the test is skipped where the data is not at hand."""
    if not FOLDER.is_dir():
        pytest.skip(f"needs the CMD-AD annotation in {FOLDER}")
    return _read()


@lru_cache(maxsize=1)
def _read() -> list[Golden]:
    shots = {row["cmd_filename"]: _shots(row["shot_list"]) for row in _table("cmdad_shot_info.csv")}
    expected: dict[int, list[Row]] = defaultdict(list)
    for row in _table("context_expected.csv"):
        start, end = (round(float(row[side]), 9) for side in ("start", "end"))
        expected[int(row["anno_idx"])].append((row["shot_label"], start, end))
    return [
        Golden(i, _slot(row), shots[row["cmd_filename"]], tuple(expected[i]))
        for i, row in enumerate(_table("cmdad_anno.csv"))
    ]


def _table(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _shots(cell: str) -> tuple[Shot, ...]:
    """The published list, rounded to whole ms as the rule rounds it."""
    pairs = ast.literal_eval(cell)
    return tuple(Shot(i, Interval(round(a, 3), round(b, 3))) for i, (a, b) in enumerate(pairs))


def _slot(row: dict[str, str]) -> Interval:
    """The AD's own length around the middle of its padded time in the clip of film."""
    middle = (float(row["scaled_start"]) + float(row["scaled_end"])) / 2
    half = (float(row["end"]) - float(row["start"])) / 2
    return Interval(max(middle - half, 0), middle + half)
