"""Which looks become pictures: good ones that differ."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shotad.core import Box
from shotad.sight import Face, PortraitView, promising

NONE = np.zeros((0, 8), np.float32)


def leaning(degrees: float, towards: int = 1) -> npt.NDArray[np.float32]:
    """A face that differs from the typical one by an angle, in a direction of its own."""
    row = np.zeros(8, np.float32)
    row[0], row[towards] = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return row


CENTRE = leaning(0)


def look(
    second: float, *, shot: int = 0, side: float = 0.4, yaw: float = 0.0, degrees: float = 20, way: int = 1
) -> PortraitView:
    box = Box(0.3, 0.3, 0.3 + side / 2, 0.3 + side)
    return PortraitView(shot, Face(box, second, 0.9, ((0.4, 0.4),) * 5, yaw), leaning(degrees, way), 400)


def test_large_faces_that_look_ahead_come_first() -> None:
    small, turned, good = look(1, side=0.1), look(2, yaw=0.8, shot=1, way=2), look(3, shot=2, way=3)
    assert promising([small, turned, good], CENTRE, NONE, 1) == [good]
    assert {look_.face.seconds for look_ in promising([small, turned, good], CENTRE, NONE, 3)} == {1, 2, 3}


def test_pictures_are_spread_over_shots() -> None:
    same = [look(float(second), degrees=30, way=second) for second in (1, 2, 3)]
    other = look(9.0, shot=5, side=0.3, degrees=30, way=4)
    chosen = promising([*same, other], CENTRE, NONE, 2)
    assert {one.shot for one in chosen} == {0, 5}
