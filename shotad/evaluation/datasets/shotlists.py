"""Published lists of shots, in seconds of the video."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from shotad.core import Interval, Shot
from shotad.evaluation.datasets.ads import Finding
from shotad.evaluation.datasets.annotation import FIRST_FRAME
from shotad.evaluation.datasets.cells import pairs
from shotad.evaluation.datasets.description import Description
from shotad.evaluation.datasets.findings import MALFORMED, NOTE
from shotad.evaluation.datasets.tables import read_table

ShotsByClip = dict[str, tuple[Interval, ...]]

_MS = 0.001
"""Seconds: published times are whole milliseconds with the noise of floats."""


def read_shots(path: Path, described: Description) -> tuple[ShotsByClip, list[Finding]]:
    """The shots of each clip as published, half-open in seconds, and what is wrong with them.

    An empty list is kept as such. One that cannot be read, or does not ascend, is a finding, and the clip is
    left out. Raises DatasetError for a file without the columns.
    """
    table = read_table(path)
    clips = table.needed(described.shots.clip, "the clip")
    lists = table.needed(described.shots.list, "the list of shots")
    found: ShotsByClip = {}
    findings: list[Finding] = []
    for row in table.rows:
        clip = row.cells.get(clips, "").strip()
        try:
            if row.wrong or not clip:
                raise ValueError(row.wrong or "the clip is empty")
            if clip in found:
                raise ValueError(f"the clip {clip!r} stands twice")
            shots = _intervals(pairs(row.cells[lists]), described)
        except ValueError as error:
            findings.append(Finding(MALFORMED, table.where(row), f"no shots can be read: {error}."))
            continue
        found[clip] = shots
        if not shots:
            findings.append(
                Finding(
                    NOTE, table.where(row), f"{clip} has an empty list: no cut was found, it is one shot."
                )
            )
    return found, findings


def _intervals(published: Sequence[tuple[float, float]], described: Description) -> tuple[Interval, ...]:
    """``(9, 14)`` frames at 3 a second → ``[2.667, 4.667)``."""
    if described.shots.unit == "frames":
        rate = described.videos.frames_per_second
        shots = tuple(Interval((a - FIRST_FRAME) / rate, (b - FIRST_FRAME + 1) / rate) for a, b in published)
    else:
        shots = tuple(Interval(a, b) for a, b in published)
    for one, other in pairwise(shots):
        if other.start < one.end - _MS:
            raise ValueError(f"the shot {other} begins before {one} ends")
    return shots


def touching(shots: Sequence[Interval], gap: float, end: float | None = None) -> tuple[Shot, ...]:
    """The same shots without the published gaps: each ends where the next begins, half-way in the gap.

    The first begins at 0 if what is missing there is half a gap, as published; the last ends half a gap
    later, or at ``end``, the film's, where that is known. No shots are one that lasts to ``end``; without it,
    none. A hole that is wider than the gap is left as it is, and so are shots that touch already.
    """
    if not shots:
        return (Shot(0, Interval(0.0, end)),) if end else ()
    half = gap / 2
    edge = gap + _MS
    starts = [0.0 if shots[0].start <= half + _MS else round(shots[0].start - half, 6)]
    ends: list[float] = []
    for one, other in pairwise(shots):
        near = other.start - one.end <= edge
        middle = one.end if one.end == other.start else round((one.end + other.start) / 2, 6)
        ends.append(middle if near else round(one.end + half, 6))
        starts.append(middle if near else round(other.start - half, 6))
    last = round(shots[-1].end + half, 6)
    ends.append(end if end is not None and end > starts[-1] else last)
    return tuple(Shot(i, Interval(a, b)) for i, (a, b) in enumerate(zip(starts, ends, strict=True)))
