"""Which looks become pictures: good ones that differ."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import Box
from shotad.sight import Face, FaceTrack, Look, best_of, looks_of, portrait, promising
from tests.painted_faces import Head, PaintedFaces, Take, _picture

NONE = np.zeros((0, 8), np.float32)


def leaning(degrees: float, towards: int = 1) -> npt.NDArray[np.float32]:
    """A face that differs from the typical one by an angle, in a direction of its own."""
    row = np.zeros(8, np.float32)
    row[0], row[towards] = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return row


CENTRE = leaning(0)


def look(
    second: float, *, shot: int = 0, side: float = 0.4, yaw: float = 0.0, degrees: float = 20, way: int = 1
) -> Look:
    box = Box(0.3, 0.3, 0.3 + side / 2, 0.3 + side)
    return Look(shot, Face(box, second, 0.9, ((0.4, 0.4),) * 5, yaw), leaning(degrees, way), 400)


def test_large_faces_that_look_ahead_come_first() -> None:
    small, turned, good = look(1, side=0.1), look(2, yaw=0.8, shot=1, way=2), look(3, shot=2, way=3)
    assert promising([small, turned, good], CENTRE, NONE, 1) == [good]
    assert {look_.face.seconds for look_ in promising([small, turned, good], CENTRE, NONE, 3)} == {1, 2, 3}


def test_a_face_cut_off_by_the_edge_is_worth_less() -> None:
    whole = look(1)
    cut = replace(whole, face=replace(whole.face, box=Box(0.0, 0.3, 0.2, 0.7)))
    assert cut.worth < whole.worth / 2


def test_pictures_are_spread_over_shots() -> None:
    same = [look(float(second), degrees=30, way=second) for second in (1, 2, 3)]
    other = look(9.0, shot=5, side=0.3, degrees=30, way=4)
    chosen = promising([*same, other], CENTRE, NONE, 2)
    assert {one.shot for one in chosen} == {0, 5}


def test_what_shows_nothing_new_is_left_out() -> None:
    twins = [look(1.0), look(2.0, shot=1)]
    assert len(promising(twins, CENTRE, NONE, 6)) == 1
    assert promising(twins, CENTRE, twins[0].embedding[np.newaxis], 6) == []


def test_looks_that_are_not_typical_come_last() -> None:
    odd, usual = look(1.0, degrees=75, way=2), look(2.0, degrees=25, shot=1)
    assert promising([odd, usual], CENTRE, NONE, 1) == [usual]


def test_looks_are_those_with_embeddings_in_the_order_of_time() -> None:
    faces = tuple(look(float(second)).face for second in (1, 2, 3, 4))
    track = FaceTrack(7, faces, np.stack([leaning(10), leaning(30)]), (2, 0))
    found = looks_of([track], 400)
    assert [(one.face.seconds, one.shot) for one in found] == [(1.0, 7), (3.0, 7)]
    assert found[0].embedding == pytest.approx(leaning(30))


def test_the_same_looks_in_any_order_give_the_same_pictures() -> None:
    looks = [look(float(k), shot=k % 3, degrees=20 + 3 * k, way=1 + k % 6) for k in range(12)]
    chosen = promising(looks, CENTRE, NONE, 5)
    assert promising(looks[::-1], CENTRE, NONE, 5) == chosen
    assert all(one is not other for one, other in pairwise(chosen))


def test_blurred_and_dark_pictures_are_worth_less() -> None:
    import cv2

    faces = PaintedFaces()
    image = _picture(0, Take(1, (Head("bo", side=0.5),)), 0)
    rows = np.arange(image.shape[0])[:, None] // 3 + np.arange(image.shape[1])[None, :] // 3
    bo = np.abs(image.astype(int) - (30, 200, 40)).max(axis=2) < 45
    image[bo & (rows % 2 == 0)] = (20, 170, 30)
    (face,) = faces.find(image, 0.0)
    centre = np.asarray(faces.read(image, face))

    def worth(shown: npt.NDArray[np.uint8]) -> float:
        made = portrait(shown, Look(0, face, centre, 180), centre, NONE, faces)
        assert made is not None
        return made.worth

    blurred = np.asarray(cv2.blur(image, (7, 7)), np.uint8)
    assert worth(blurred) < worth(image)


def test_a_picture_is_cut_from_the_frame_and_leaves_it_as_it_was() -> None:
    faces = PaintedFaces()
    image = _picture(0, Take(1, (Head("ann"),)), 0)
    before = image.copy()
    (face,) = faces.find(image, 0.0)
    centre = np.asarray(faces.read(image, face))
    made = portrait(image, Look(0, face, centre, 180), centre, NONE, faces)
    assert made is not None
    assert (image == before).all()
    assert best_of([made, made], centre, NONE, 6) == [made]
