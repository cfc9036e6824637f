"""Marks: no two alike, each told by its own colour after JPEG, faces in sight, the caller's picture untouched."""

from __future__ import annotations

import io
import itertools
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image as Pillow

from shotad.core import Box, Image, Mark, Sighting
from shotad.film import COLOURS, marks_for
from shotad.film.overlays import Oval, Window, cover, ellipse, line_width, paint_people

PEOPLE = [f"p{number}" for number in range(21)]
MARKS = marks_for(PEOPLE)
SIZES = [(504, 280), (588, 224), (448, 336)]
SHAPES: tuple[Literal["ellipses", "boxes"], ...] = ("ellipses", "boxes")
GROUNDS = {
    "black": (0, 0, 0), "night": (10, 12, 30), "white": (255, 255, 255), "snow": (225, 230, 235),
    "grey": (128, 128, 128), "sand": (220, 190, 120), "skin": (200, 150, 120), "red": (200, 20, 20),
    "green": (30, 160, 40), "blue": (30, 50, 200), "pure red": (255, 0, 0), "pure green": (0, 255, 0),
    "pure blue": (0, 0, 255), "noise": None,
}  # fmt: skip


def ground(name: str, width: int, height: int) -> Image:
    colour = GROUNDS[name]
    if colour is None:
        return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return np.full((height, width, 3), colour, dtype=np.uint8)


def face(x: float, y: float, pixels: float, width: int, height: int) -> Box:
    """A face ``pixels`` wide and 1.3 times as high, its centre at the fractions ``x`` and ``y``."""
    across, down = pixels / width / 2, pixels * 1.3 / height / 2
    return Box(max(x - across, 0), max(y - down, 0), min(x + across, 1), min(y + down, 1))


def seen(name: str, box: Box) -> Sighting:
    return Sighting(name, box, 0.0, 1.0)


def inside(box: Box, width: int, height: int) -> npt.NDArray[np.bool_]:
    """Of each pixel: whether it is in the ellipse that fills the box."""
    x, y = box.centre
    oval = Oval(x * width, y * height, box.width * width / 2, box.height * height / 2)
    return ellipse(oval, Window(0, 0, width, height)).distance < -0.5


def changed(image: Image, painted: Image) -> npt.NDArray[np.bool_]:
    return np.asarray((image != painted).any(axis=-1))


def test_then_come_dashed_then_double_then_tagged_ones_and_no_two_are_alike_however_many() -> None:
    words = [str(mark) for mark in marks_for([*PEOPLE, "x", "y"]).values()]
    assert words[7:15:6] + words[14:21:6] == ["dashed red", "dashed white", "double red", "double white"]
    assert words[21:] == ["red, tagged 22", "green, tagged 23"]
    marks = marks_for([str(number) for number in range(500)])
    assert len(set(marks.values())) == len(marks) == 500
    assert len({str(mark) for mark in marks.values()}) == 500


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("pixels", [24, 36])
@pytest.mark.parametrize("name", GROUNDS)
def test_after_jpeg_each_line_is_nearest_to_its_own_colour(size, pixels, name):
    width, height = size
    places = [((number % 7 + 0.5) / 7, (number // 7 + 0.5) / 3) for number in range(21)]
    people = [
        seen(person, face(x, y, pixels, width, height)) for person, (x, y) in zip(PEOPLE, places, strict=True)
    ]
    image = paint_people(ground(name, width, height), people, MARKS)
    file = io.BytesIO()
    Pillow.fromarray(image).save(file, "JPEG", quality=75)
    painted = np.asarray(Pillow.open(file))
    for person, (x, y) in zip(PEOPLE, places, strict=True):
        mark = MARKS[person]
        oval = Oval(x * width, y * height, pixels / 2 * 1.25, pixels * 1.3 / 2 * 1.25)
        window = oval.window(20, width, height)
        assert window is not None
        covered = cover(ellipse(oval, window), mark.style, line_width(width))
        median = np.median(window.of(painted)[covered > 0.99], axis=0)
        away = {other: float(np.linalg.norm(median - rgb)) for other, rgb in COLOURS.items()}
        nearest, second = sorted(away, key=lambda other: away[other])[:2]
        assert nearest == mark.colour, f"{mark} on {name} became {median}"
        assert away[second] - away[nearest] > 25


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pixels", [6, 12, 24, 150])
@pytest.mark.parametrize("person", ["p0", "p14"])
def test_the_face_itself_is_not_painted_on(size, shape, pixels, person):
    width, height = size
    image, box = ground("noise", width, height), face(0.5, 0.5, pixels, width, height)
    painted = paint_people(image, [seen(person, box)], MARKS, shape)
    assert changed(image, painted).sum() > 50
    assert not changed(image, painted)[inside(box, width, height)].any()


def test_a_face_in_front_of_a_large_one_keeps_its_mark() -> None:
    image = ground("grey", 504, 280)
    large, small = Box(0.2, 0.0, 0.8, 1.0), face(0.5, 0.5, 30, 504, 280)
    both = paint_people(image, [seen("p2", small), seen("p0", large)], MARKS)
    alone = paint_people(image, [seen("p2", small)], MARKS)
    around = changed(image, alone)
    assert np.array_equal(both[around], alone[around])


@pytest.mark.parametrize("shape", SHAPES)
def test_dashes_have_gaps_and_double_lines_a_space(shape: Literal["ellipses", "boxes"]) -> None:
    image, box = ground("grey", 504, 280), face(0.5, 0.5, 60, 504, 280)
    solid, dashed, double = (
        changed(image, paint_people(image, [seen(name, box)], MARKS, shape)) for name in ("p0", "p7", "p14")
    )
    assert 0.5 * solid.sum() < dashed.sum() < 0.85 * solid.sum()
    row = paint_people(image, [seen("p14", box)], MARKS, shape)[140]
    red = (row[:252, 0] > 180) & (row[:252, 1] < 80)
    runs = [len(list(group)) for value, group in itertools.groupby(red.tolist()) if value]
    gaps = [len(list(group)) for value, group in itertools.groupby(red.tolist()) if not value][1:-1]
    assert len(runs) == 2
    assert gaps[0] >= 4
    assert double.sum() > 1.3 * solid.sum()


def crowd(width: int, height: int) -> tuple[list[Sighting], dict[str, Mark]]:
    ids = [str(number) for number in range(25)]
    places = [((number % 7 + 0.6) / 7.3, 0.2 + number // 7 * 0.22) for number in range(25)]
    boxes = [face(x, y, 22, width, height) for x, y in places]
    return [seen(name, box) for name, box in zip(ids, boxes, strict=True)], marks_for(ids)


@pytest.mark.parametrize("size", SIZES)
def test_twenty_five_people_on_one_picture_keep_their_faces_and_tags(size: tuple[int, int]) -> None:
    sightings, marks = crowd(*size)
    image = ground("grey", *size)
    painted = paint_people(image, sightings, marks)
    for sighting in sightings:
        assert not changed(image, painted)[inside(sighting.box, *size)].any()
    without = paint_people(image, sightings, {name: Mark(m.colour, m.style) for name, m in marks.items()})
    assert changed(without, painted).sum() > 4 * 12 * 12, "four tags, each with two digits"
