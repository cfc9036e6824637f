from __future__ import annotations

from dataclasses import dataclass

import pytest

from shotad.core import Box
from shotad.sight import link
from shotad.sight.tracks import way_of


@dataclass(frozen=True)
class Seen:
    box: Box
    seconds: float


@dataclass(frozen=True)
class Pan:
    """A background that goes ``x`` to the right in each step, and grows by ``scale``."""

    x: float = 0.0
    scale: float = 1.0

    def carry(self, x: float, y: float) -> tuple[float, float]:
        return 0.5 + self.scale * (x - 0.5) + self.x, 0.5 + self.scale * (y - 0.5)


def body(x: float, second: float, *, height: float = 0.4, width: float = 0.1, y: float = 0.5) -> Seen:
    return Seen(Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2), second)


def walk(xs: list[float]) -> list[list[Seen]]:
    return [[body(x, 0.25 * i)] for i, x in enumerate(xs)]


def test_people_are_linked_over_pans_and_gaps() -> None:
    frames = [[body(0.2 + 0.02 * i, i / 4), body(0.8 - 0.02 * i, i / 4, y=0.6)] for i in range(10)]
    tracks = link(frames, [Pan()] * 9)
    assert [len(track.seen) for track in tracks] == [10, 10]
    assert tracks[0].seen[-1].box.centre[0] == pytest.approx(0.38)
    # A fast pan needs the background to be linked.
    frames = walk([0.8, 0.55, 0.3])
    assert len(link(frames, [Pan(-0.25)] * 2)) == 1
    assert len(link(frames, [Pan(0.0)] * 2)) == 3
    # A short disappearance is bridged and a long one is not.
    frames: list[list[Seen]] = [[body(0.5, 0.0)], [], [], [body(0.5, 0.75)], [], [], [], [], [body(0.5, 2.0)]]
    tracks = link(frames, [Pan()] * 8)
    assert [track.frames for track in tracks] == [(0, 3), (8,)]


def test_movement_counts_beyond_the_cameras_only() -> None:
    track = link(walk([0.5] * 5), [Pan(-0.05)] * 4)[0]
    way = way_of(track, [Pan(-0.05)] * 4, aspect=2.0)
    assert way.x == pytest.approx(4 * 0.05 * 2.0 / 0.4)
    assert (way.seconds, way.known) == (1.0, 1.0)
    # Growth counts beyond the zoom only.
    shifts = [Pan(scale=1.1)] * 2
    frames = [[body(0.5, 0.25 * i, height=0.3 * h, width=0.1 * h)] for i, h in enumerate((1, 1.1, 1.21))]
    assert way_of(link(frames, shifts)[0], shifts, 2.0).growth == pytest.approx(1.0)
    assert way_of(link(frames, [Pan()] * 2)[0], [Pan()] * 2, 2.0).growth == pytest.approx(1.21)
    # Steps without a known background do not count.
    frames = walk([0.3, 0.35, 0.4])
    way = way_of(link(frames, [Pan(), None])[0], [Pan(), None], 1.0)
    assert way.known == 0.5
    assert way.x == pytest.approx(0.05 / 0.4)
