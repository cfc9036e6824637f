from __future__ import annotations

import numpy as np
import pytest

from shotad.core import Box
from shotad.sight import Change, active_area, change_of, colour_of, level_of, since_of

EVERY = [i / 8 for i in range(40)]


@pytest.mark.parametrize(
    ("luma", "level"), [(3, "black"), (30, "dark"), (100, "middling"), (190, "bright"), (250, "white")]
)
def test_levels(luma: float, level: str) -> None:
    assert level_of([luma] * 3) == level


def test_fades_dims_and_flashes() -> None:
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


@pytest.mark.parametrize(
    ("change", "lumas", "since"),
    [
        (None, [100] * 8, 0.0),
        ("fade-out", [100, 100, 80, 60, 45, 20, 5, 2], 0.5),
        ("fade-in", [2, 5, 20, 40, 60, 80, 100, 100], 0.25),
        ("flash", [40, 40, 40, 200, 40, 40, 40, 40], 0.375),
    ],
)
def test_a_change_is_seen_from_a_moment_on(change: Change | None, lumas: list[float], since: float) -> None:
    assert change_of(lumas, EVERY[:8]) == change
    assert since_of(change, lumas, EVERY[:8]) == since


def flat(*rgb: int) -> np.ndarray:
    return np.full((8, 8, 3), rgb, np.uint8)


@pytest.mark.parametrize(
    ("rgb", "name"),
    [
        ((200, 30, 30), "red"),
        ((230, 130, 20), "orange"),
        ((230, 220, 40), "yellow"),
        ((40, 160, 60), "green"),
        ((40, 70, 200), "blue"),
        ((150, 50, 200), "purple"),
        ((230, 60, 160), "pink"),
        ((240, 240, 240), "white"),
        ((120, 122, 119), "grey"),
        ((15, 12, 14), "black"),
    ],
)
def test_clear_colours_have_names(rgb: tuple[int, int, int], name: str) -> None:
    assert colour_of(flat(*rgb)) == name


def test_what_lies_between_has_none() -> None:
    assert colour_of(flat(170, 130, 110)) is None
    assert colour_of(np.concatenate([flat(200, 30, 30), flat(30, 30, 200)])) is None
    assert colour_of(np.zeros((0, 4, 3), np.uint8)) is None
