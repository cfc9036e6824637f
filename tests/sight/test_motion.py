"""What is measured between pictures: whether the second goes on from the first; black bars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shotad.core import Box
from shotad.sight.motion import active_area, agreement, is_break


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


def test_a_pan_goes_on_and_a_cut_breaks() -> None:
    agreed = agreement(view(wall(), 200), view(wall(), 216))
    assert agreed is not None
    assert agreed > 0.6
    ways = ((-6, 0), (6, 3), (0, 7), (-5, -5), (6, -6))
    assert agreement(squares(((0, 0),) * 5), squares(ways)) is None, "each goes its own way"
    one, other = view(wall(1), 200), view(wall(3), 200)
    assert is_break(one, other, moved_on=False)
    assert not is_break(one, view(wall(1), 201), moved_on=False)
    assert not is_break(one, other, moved_on=True)


def test_black_bars_are_cut_off_and_a_dark_half_is_none() -> None:
    images = np.zeros((3, 100, 160, 3), np.uint8)
    images[:, 12:88] = 120
    assert active_area(images) == Box(0, 0.12, 1, 0.88)
    images = np.full((2, 100, 160, 3), 120, np.uint8)
    images[:, :40] = 0
    assert active_area(images) == Box(0, 0, 1, 1)
    assert active_area(np.zeros((2, 20, 30, 3), np.uint8)) == Box(0, 0, 1, 1)
