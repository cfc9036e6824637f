"""What is measured in pictures: movements of the camera, tracks beyond them, light and colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from shotad.core import Box
from shotad.sight import (
    Shift,
    active_area,
    camera_of,
    change_of,
    colour_of,
    composed,
    inside_of,
    is_break,
    level_of,
    link,
    shift_between,
    since_of,
)
from shotad.sight.motion import way_of


def wall(seed: int = 1) -> np.ndarray:
    """A large picture of random soft blocks, which offers corners everywhere."""
    blocks = np.random.default_rng(seed).integers(30, 220, (40, 70), np.uint8)
    return np.repeat(np.repeat(blocks, 12, 0), 12, 1)


def view(picture: np.ndarray, x: int, y: int = 80) -> np.ndarray:
    return np.ascontiguousarray(picture[y : y + 180, x : x + 320])


def squares(moves: Sequence[tuple[int, int]]) -> np.ndarray:
    image = np.full((180, 320), 90, np.uint8)
    for (y, x), (down, across) in zip(
        ((30, 40), (30, 250), (140, 60), (140, 260), (90, 160)), moves, strict=True
    ):
        image[y + down : y + down + 20, x + across : x + across + 20] = 220
    return image


def still(x: float = 0.0, scale: float = 1.0, rest: float = 0.0) -> Shift:
    return Shift(x, 0.0, scale, 0.9, rest)


def test_movements_are_measured_in_fractions_of_the_picture() -> None:
    shift = shift_between(view(wall(), 200), view(wall(), 216))
    assert shift is not None
    assert shift.x == pytest.approx(-16 / 320, abs=0.002)
    assert shift.y == pytest.approx(0.0, abs=0.002)
    assert shift.scale == pytest.approx(1.0, abs=0.005)
    assert shift.trust > 0.6
    assert shift.rest < 0.02
    assert shift.moving is None
    ways = ((-6, 0), (6, 3), (0, 7), (-5, -5), (6, -6))
    assert shift_between(squares(((0, 0),) * 5), squares(ways)) is None, "each goes its own way"
    one, other = view(wall(1), 200), view(wall(3), 200)
    assert is_break(one, other, None)
    assert not is_break(one, view(wall(1), 201), None)
    assert not is_break(one, other, still())
    # Movements one after the other.
    both = composed([Shift(0.1, 0, 1.0, 0.9, 0.1), Shift(0.1, 0, 2.0, 0.8, 0.3)])
    assert both is not None
    assert (both.x, both.scale, both.trust, both.rest) == (pytest.approx(0.3), 2.0, 0.8, 0.3)
    assert both.carry(0.5, 0.5) == (pytest.approx(0.8), 0.5)
    assert composed([still(), None]) is None
    # How much moves inside.
    assert inside_of([still(rest=0.4)] * 3) == "much"
    assert inside_of([still(rest=0.1)] * 3) == "little"
    assert inside_of([None] * 3) == "much"
    assert inside_of([]) == "none"


def test_the_camera() -> None:
    steps = {
        "right": still(-0.03), "left": still(0.03), "still": still(), "in": still(scale=1.05), "out": still(scale=0.95),
        "shaky": None,
    }  # fmt: skip
    for camera, step in steps.items():
        assert camera_of([step] * 8, [i / 8 for i in range(9)]) == camera


# Tracks
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


# Light
EVERY = [i / 8 for i in range(40)]


def test_levels_fades_dims_and_flashes() -> None:
    levels = [level_of([luma] * 3) for luma in (3, 30, 100, 190, 250)]
    assert levels == ["black", "dark", "middling", "bright", "white"]
    lumas = [100, 100, 80, 60, 40, 20, 5, 2]
    assert change_of(lumas, EVERY[:8]) == "fade-out"
    assert change_of(lumas[::-1], EVERY[:8]) == "fade-in"
    assert change_of([100, 100, 100, 0, 0], EVERY[:5]) is None
    assert change_of([100, 90, 80, 70, 60], EVERY[:5]) is None
    # A short rise is a flash and a lasting one is not.
    assert change_of([60, 60, 180, 70, 60, 60], EVERY[:6]) == "flash"
    assert change_of([60] * 6 + [180] * 12, EVERY[:18]) is None
    assert change_of([60, 70, 85, 80, 60], EVERY[:5]) is None


def test_black_bars_are_cut_off_and_a_dark_half_is_none() -> None:
    images = np.zeros((3, 100, 160, 3), np.uint8)
    images[:, 12:88] = 120
    assert active_area(images) == Box(0, 0.12, 1, 0.88)
    images = np.full((2, 100, 160, 3), 120, np.uint8)
    images[:, :40] = 0
    assert active_area(images) == Box(0, 0, 1, 1)
    assert active_area(np.zeros((2, 20, 30, 3), np.uint8)) == Box(0, 0, 1, 1)


def test_a_change_is_seen_from_a_moment_on() -> None:
    for change, lumas, since in (
        (None, [100] * 8, 0.0),
        ("fade-out", [100, 100, 80, 60, 45, 20, 5, 2], 0.5),
        ("fade-in", [2, 5, 20, 40, 60, 80, 100, 100], 0.25),
        ("flash", [40, 40, 40, 200, 40, 40, 40, 40], 0.375),
    ):
        assert change_of(lumas, EVERY[:8]) == change
        assert since_of(change, lumas, EVERY[:8]) == since


def flat(*rgb: int) -> np.ndarray:
    return np.full((8, 8, 3), rgb, np.uint8)


COLOURS = {
    "red": (200, 30, 30), "orange": (230, 130, 20), "yellow": (230, 220, 40), "green": (40, 160, 60),
    "blue": (40, 70, 200), "purple": (150, 50, 200), "pink": (230, 60, 160), "white": (240, 240, 240),
    "grey": (120, 122, 119), "black": (15, 12, 14),
}  # fmt: skip


def test_clear_colours_have_names_and_what_lies_between_has_none() -> None:
    assert [colour_of(flat(*rgb)) for rgb in COLOURS.values()] == list(COLOURS)
    assert colour_of(flat(170, 130, 110)) is None
    assert colour_of(np.concatenate([flat(200, 30, 30), flat(30, 30, 200)])) is None
    assert colour_of(np.zeros((0, 4, 3), np.uint8)) is None
