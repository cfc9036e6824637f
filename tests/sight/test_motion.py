from __future__ import annotations

import numpy as np
import pytest

from shotad.sight import Shift, camera_of, composed, inside_of, is_break, shift_between


def wall(seed: int = 1) -> np.ndarray:
    """A large picture of random soft blocks, which offers corners everywhere."""
    blocks = np.random.default_rng(seed).integers(30, 220, (40, 70), np.uint8)
    return np.repeat(np.repeat(blocks, 12, 0), 12, 1)


def view(picture: np.ndarray, x: int, y: int = 80) -> np.ndarray:
    return np.ascontiguousarray(picture[y : y + 180, x : x + 320])


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


@pytest.mark.parametrize(
    ("step", "camera"),
    [
        (still(-0.03), "right"),
        (still(0.03), "left"),
        (still(0.0), "still"),
        (still(scale=1.05), "in"),
        (still(scale=0.95), "out"),
        (None, "shaky"),
    ],
)
def test_the_camera(step: Shift | None, camera: str) -> None:
    assert camera_of([step] * 8, [i / 8 for i in range(9)]) == camera
