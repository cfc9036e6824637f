"""CMD-AD's and TV-AD's annotation and shots, where they are at hand: every AD with its shots and published context."""

from __future__ import annotations

import ast
import csv
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from shotad.core import Interval, Shot

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

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
    return _read_cmd(_folder("cmd-ad"))


def tvad() -> list[Golden]:
    """All 2,983 ADs, frames at 3 a second read as seconds; the test is skipped where the data is not at hand."""
    return _read_tv(_folder("tv-ad"))


def _folder(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"needs the annotation in {DATA / name}")
    return DATA / name


@lru_cache(maxsize=1)
def _read_cmd(folder: Path) -> list[Golden]:
    shots = {row["cmd_filename"]: _shots(row["shot_list"]) for row in _table(folder / "cmdad_shot_info.csv")}
    expected: dict[int, list[Row]] = defaultdict(list)
    for row in _table(folder / "context_expected.csv"):
        start, end = (round(float(row[side]), 9) for side in ("start", "end"))
        expected[int(row["anno_idx"])].append((row["shot_label"], start, end))
    return [
        Golden(i, _slot(row), shots[row["cmd_filename"]], tuple(expected[i]))
        for i, row in enumerate(_table(folder / "cmdad_anno.csv"))
    ]


@lru_cache(maxsize=1)
def _read_tv(folder: Path) -> list[Golden]:
    lists = {row["tvad_name"]: row["shot_list"] for row in _table(folder / "tvad_shot_info.csv")}
    shots = {
        name: tuple(Shot(i, _frames(*pair)) for i, pair in enumerate(ast.literal_eval(cell)))
        for name, cell in lists.items()
    }
    expected: dict[int, list[Row]] = defaultdict(list)
    for row in _table(folder / "context_expected.csv"):
        piece = _frames(int(row["start_frame"]), int(row["end_frame"]))
        found = (row["shot_label"], round(piece.start, 9), round(piece.end, 9))
        expected[int(row["ad_index"])].append(found)
    golden = []
    for i, row in enumerate(_table(folder / "tvad_anno.csv")):
        numbers = ast.literal_eval(row["tvad_index"])
        slot = _frames(min(numbers), max(numbers))
        golden.append(Golden(i, slot, shots[row["tvad_name"]], tuple(expected[i])))
    return golden


def _frames(first: int, last: int) -> Interval:
    """Frames counted from 1, both within, at 3 a second: ``9, 14 → [2.667, 4.667)``."""
    return Interval((first - 1) / 3, last / 3)


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
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
