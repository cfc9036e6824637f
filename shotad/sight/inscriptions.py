"""Lines of text followed from frame to frame: an inscription, often read, in its best spelling.

Pure: works on what was read, not on pictures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean, median

import numpy as np

from shotad.core import Box
from shotad.sight.lettering import TextLine, is_readable, letters, tidy

_WHOLE = 0.8
"""Likeness of a reading to the best spelling from which no part is still to come."""
_GAP = 2
"""Frames in a row in which a line may be missed without becoming another one."""


@dataclass(frozen=True, slots=True)
class FrameText:
    """What was read in the frame at ``seconds``, in shot ``shot``; ``lines`` is empty where nothing was."""

    shot: int
    seconds: float
    lines: tuple[TextLine, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """One line in one frame. ``frame`` is the number of the frame in its sequence."""

    frame: int
    shot: int
    seconds: float
    line: TextLine


@dataclass(frozen=True, slots=True)
class Inscription:
    """One line of text as read in one or more frames, in order of time; ``text`` is its best spelling."""

    text: str
    readings: tuple[Reading, ...]

    @property
    def first(self) -> float:
        return self.readings[0].seconds

    @property
    def last(self) -> float:
        return self.readings[-1].seconds

    @property
    def whole(self) -> float:
        """The second from which all of it stands there, give or take misread letters."""
        alike = (r.seconds for r in self.readings if likeness(r.line.text, self.text) >= _WHOLE)
        return next(alike, self.last)

    @property
    def frames(self) -> frozenset[int]:
        return frozenset(reading.frame for reading in self.readings)

    @property
    def score(self) -> float:
        """How surely it was read, 0 to 1: the best score, less where that reading is spelt otherwise."""
        return max(reading.line.score * likeness(reading.line.text, self.text) for reading in self.readings)

    @property
    def height(self) -> float:
        return median(reading.line.box.height for reading in self.readings)

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of where it stood, as fractions of the picture."""
        x, y = zip(*(reading.line.box.centre for reading in self.readings), strict=True)
        return median(x), median(y)

    @property
    def width(self) -> float:
        return median(reading.line.box.width for reading in self.readings)

    @property
    def tilt(self) -> float:
        return median(abs(reading.line.tilt) for reading in self.readings)

    @property
    def ground(self) -> float:
        """How uneven the picture around it was: median of the readings' standard deviations of luma."""
        return median(reading.line.ground for reading in self.readings)

    @property
    def unrest(self) -> float:
        """How much the picture around it changed, in luma levels: median over the blocks around it of their

        standard deviation over the readings. 0 for one reading.
        """
        blocks = {reading.line.around for reading in self.readings if reading.line.around}
        if len(blocks) < 2 or len({len(block) for block in blocks}) > 1:
            return 0.0
        return float(np.median(np.std(sorted(blocks), axis=0)))

    @property
    def drift(self) -> tuple[float, float]:
        """How far it went from first to last reading, x and y, in fractions of the picture.

        Across it is the least of left end, middle and right end: a line may also grow.
        """
        one, other = self.readings[0].line.box, self.readings[-1].line.box
        steps = other.left - one.left, other.centre[0] - one.centre[0], other.right - one.right
        return min(steps, key=abs), other.centre[1] - one.centre[1]


def joined_rows(lines: Iterable[TextLine]) -> tuple[TextLine, ...]:
    """Lines that the detector cut at a wide space, put together: ``THE`` + ``BLENDER FOUNDATION``.

    Two neighbours on one level and of like height are one line if less than about one and a half heights
    lie between them. The rows are tidy; what cannot be text is left out.
    """
    rows: list[TextLine] = []
    for line in sorted(lines, key=lambda a: (a.box.left, a.box.top)):
        place = next((i for i, row in enumerate(rows) if _continues(row, line)), None)
        if place is None:
            rows.append(line)
        elif letters(line.text) or letters(rows[place].text):
            rows[place] = _join(rows[place], line)
    tidied = (replace(row, text=tidy(row.text)) for row in rows)
    return tuple(row for row in tidied if is_readable(row.text))


def _continues(row: TextLine, line: TextLine) -> bool:
    low, high = sorted((row.box.height, line.box.height))
    level = abs(row.box.centre[1] - line.box.centre[1]) < 0.4 * low
    gap = line.box.left - row.box.right
    return level and high < 1.6 * low and -0.5 * low < gap < 0.8 * low


def _join(row: TextLine, line: TextLine) -> TextLine:
    a, b = row.box, line.box
    box = Box(a.left, min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom))
    share = letters(row.text) / (letters(row.text) + letters(line.text))
    score = row.score * share + line.score * (1 - share)
    ground = max(row.ground, line.ground)
    return replace(row, text=f"{row.text} {line.text}", box=box, score=score, ground=ground)


def follow(observations: Sequence[FrameText]) -> list[Inscription]:
    """The inscriptions in ``observations`` (ascending seconds), by first reading, then from the top."""
    done: list[list[Reading]] = []
    open_: list[list[Reading]] = []
    for frame, seen in enumerate(observations):
        open_ = [track for track in open_ if frame - track[-1].frame <= _GAP + 1]
        rows = [Reading(frame, seen.shot, seen.seconds, row) for row in joined_rows(seen.lines)]
        for reading, track in _pairs(rows, open_):
            if track is None:
                done.append([reading])
                open_.append(done[-1])
            else:
                track.append(reading)
    found = [Inscription(best_spelling([r.line for r in track]), tuple(track)) for track in done]
    return sorted(found, key=lambda a: (a.first, a.readings[0].line.box.top, a.readings[0].line.box.left))


def _pairs(
    rows: Sequence[Reading], tracks: Sequence[list[Reading]]
) -> list[tuple[Reading, list[Reading] | None]]:
    """Each row with the track that it goes on, at most one row to a track, the most alike first."""
    likely = [
        (match, i, k)
        for i, row in enumerate(rows)
        for k, track in enumerate(tracks)
        if (match := _match(track[-1], row)) > 0
    ]
    row_of: dict[int, int] = {}
    for _, i, k in sorted(likely, key=lambda item: (-item[0], item[1], item[2])):
        if i not in row_of and k not in row_of.values():
            row_of[i] = k
    return [(row, tracks[row_of[i]] if i in row_of else None) for i, row in enumerate(rows)]


def _match(last: Reading, now: Reading) -> float:
    """How surely the two are one line, 0 to 2.

    Either alike in place and, more or less, in spelling; or alike in spelling and size in neighbouring
    frames, in one column: lines that roll or move along.
    """
    before, after = last.line, now.line
    alike = likeness(before.text, after.text)
    overlap = before.box.iou(after.box)
    part = before.text in after.text or after.text in before.text
    if overlap > 0.2 and (alike >= 0.65 or part):
        return alike + overlap
    if now.frame - last.frame > 1 or letters(after.text) < 4 or alike < 0.8:
        return 0.0
    low, high = sorted((before.box.height, after.box.height))
    column = abs(before.box.centre[0] - after.box.centre[0]) < 0.25
    return alike if column and high < 1.35 * low else 0.0


@lru_cache(maxsize=8192)
def likeness(one: str, other: str) -> float:
    """1 for equal texts, 0 for entirely different ones: 1 - edits / length, case and spaces aside at half."""
    if one == other:
        return 1.0
    longest = max(len(one), len(other))
    if not longest:
        return 1.0
    exact = 1 - _edits(one, other) / longest
    a, b = one.casefold().replace(" ", ""), other.casefold().replace(" ", "")
    loose = 1 - _edits(a, b) / max(len(a), len(b), 1)
    return (exact + loose) / 2


def _edits(one: str, other: str) -> int:
    """Levenshtein's distance."""
    above = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
        above = row
    return above[-1]


def best_spelling(lines: Sequence[TextLine]) -> str:
    """The spelling that all readings speak for most, each with the eighth power of its score.

    A reading speaks for a spelling as far as it is like it, and by nine tenths if it is part of it: a title
    that fades in or is written letter by letter ends up whole.
    """
    weight: dict[str, float] = defaultdict(float)
    for line in lines:
        weight[line.text] += line.score**8
    return max(weight, key=lambda text: sum(w * _support(r, text) for r, w in weight.items()))


def _support(reading: str, spelling: str) -> float:
    if reading == spelling:
        return 1.0
    alike = likeness(reading, spelling) ** 2
    return max(alike, 0.9) if reading in spelling else alike


def mean_score(inscriptions: Iterable[Inscription]) -> float:
    """Mean score, each inscription weighted by its letters."""
    return fmean(*zip(*((a.score, letters(a.text)) for a in inscriptions), strict=True))
