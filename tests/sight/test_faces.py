from __future__ import annotations

import pytest

from shotad.sight.faces import Landmarks, yaw_of


def face(nose: float, eyes: tuple[float, float] = (0.4, 0.5)) -> Landmarks:
    left, right = eyes
    return ((left, 0.4), (right, 0.4), (nose, 0.46), (left + 0.01, 0.52), (right - 0.01, 0.52))


def test_a_face_that_looks_ahead_has_its_nose_between_the_eyes() -> None:
    assert yaw_of(face(0.45)) == pytest.approx(0.0)


def test_the_nose_tells_the_side() -> None:
    assert yaw_of(face(0.5)) == pytest.approx(0.5)
    assert yaw_of(face(0.4)) == pytest.approx(-0.5)


def test_mirroring_turns_the_sign() -> None:
    points = face(0.48)
    mirrored = tuple((1 - points[i][0], points[i][1]) for i in (1, 0, 2, 4, 3))
    assert yaw_of(mirrored) == pytest.approx(-yaw_of(points))


def test_eyes_close_together_do_not_explode_the_measure() -> None:
    assert abs(yaw_of(face(0.5, (0.449, 0.451)))) < 1.5


def test_width_counts_as_the_picture_is_shaped() -> None:
    assert yaw_of(face(0.5), aspect=2.0) == pytest.approx(0.5)
