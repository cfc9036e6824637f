from __future__ import annotations

import numpy as np
import pytest

from shotad.sight import colour_of


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
