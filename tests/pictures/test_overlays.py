"""Marks, numbers and pictures of matrices: what is painted, where, and that it is still told apart after JPEG."""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image as Pillow

from shotad.core import (
    Box,
    Character,
    Clip,
    Image,
    Sighting,
)
from shotad.core.cast import FrameMark, Presence
from shotad.core.config.film import FrameSettings, OverlaySettings
from shotad.film import (
    paint,
    resize_images,
    vlm_size,
)
from shotad.film.overlays import (
    COLOURS,
    RED,
    Oval,
    Window,
    border_width,
    cover,
    ellipse,
    line_width,
    marks_for,
    paint_people,
    shot_label,
)
from shotad.film.palette import (
    colour_of,
    contrast,
    ink_on,
    matrix_png,
)

PEOPLE = [f"p{number}" for number in range(21)]
MARKS = marks_for(PEOPLE)
SHAPES: tuple[Literal["ellipses", "boxes"], ...] = ("ellipses", "boxes")
GROUNDS = {
    "night": (10, 12, 30), "white": (255, 255, 255), "grey": (128, 128, 128), "skin": (200, 150, 120),
    "pure red": (255, 0, 0), "pure green": (0, 255, 0), "pure blue": (0, 0, 255), "noise": None,
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


@pytest.mark.parametrize(("size", "pixels"), [((504, 280), 24), ((588, 224), 36), ((448, 336), 24)])
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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pixels", [6, 24, 150])
@pytest.mark.parametrize("person", ["p0", "p14"])
def test_the_face_itself_is_not_painted_on(shape, pixels, person):
    width, height = 504, 280
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


def test_twenty_five_people_on_one_picture_keep_their_faces_and_tags() -> None:
    size = width, height = 448, 336
    marks, image = marks_for([str(number) for number in range(25)]), ground("grey", *size)
    places = [((number % 7 + 0.6) / 7.3, 0.2 + number // 7 * 0.22) for number in range(25)]
    sightings = [
        seen(name, face(x, y, 22, width, height)) for name, (x, y) in zip(marks, places, strict=True)
    ]
    painted = paint_people(image, sightings, marks)
    for sighting in sightings:
        assert not changed(image, painted)[inside(sighting.box, *size)].any()
    without = paint_people(
        image, sightings, {name: FrameMark(m.colour, m.style) for name, m in marks.items()}
    )
    assert changed(without, painted).sum() > 4 * 12 * 12, "four tags, each with two digits"


def settings(label: str, characters: str = "ellipses") -> OverlaySettings:
    return OverlaySettings.model_validate({"label": label, "characters": characters})


def clip(width: int, height: int, numbers: list[int], seed: int = 0) -> Clip:
    """Noisy frames, the hardest background for small type after JPEG."""
    images = np.random.default_rng(seed).integers(0, 256, (len(numbers), height, width, 3), dtype=np.uint8)
    return Clip(images, np.arange(len(numbers), dtype=np.float64), np.array(numbers, dtype=np.int64))


@pytest.mark.parametrize(("film", "seen"), [
    ((1920, 1080), (504, 280)),
    ((1400, 588), (588, 224)),
    ((640, 480), (448, 336)),
    ((1080, 1920), (280, 504)),
    ((160, 120), (392, 280)),
])  # fmt: skip
def test_size_is_that_of_the_models_own_rule(film: tuple[int, int], seen: tuple[int, int]) -> None:
    assert vlm_size(*film, FrameSettings()) == seen
    assert seen[0] % 28 == seen[1] % 28 == 0


@pytest.mark.parametrize("label", ["number", "box", "none"])
def test_callers_frames_are_never_painted_on(label: str) -> None:
    given = clip(504, 280, [0, 1, 2])
    before = given.images.copy()
    painted = paint(given, settings(label), current=[1])
    assert np.array_equal(given.images, before)
    assert not np.shares_memory(painted.images, given.images)
    assert np.array_equal(painted.seconds, given.seconds)
    assert np.array_equal(painted.shot_numbers, given.shot_numbers)
    if label == "box":  # a frame around current shots alone
        assert np.array_equal(painted.images[[0, 2]], given.images[[0, 2]])
        image, edge = painted.images[1], border_width(given.images[1])
        for strip in (image[:edge], image[-edge:], image[:, :edge], image[:, -edge:]):
            assert np.all(strip == RED)
        assert np.array_equal(image[edge:-edge, edge:-edge], given.images[1, edge:-edge, edge:-edge])


@pytest.mark.parametrize("size", [(504, 280), (280, 504), (160, 120)])
def test_every_number_is_told_from_every_other_after_jpeg(size: tuple[int, int]) -> None:
    numbers = list(range(30))
    painted = paint(clip(*size, numbers), settings("number")).images
    labels = {n: shot_label(n, *size).astype(int) for n in numbers}
    for number, image in zip(numbers, painted, strict=True):
        file = io.BytesIO()
        Pillow.fromarray(image).save(file, "JPEG")
        seen = np.asarray(Pillow.open(file)).astype(int)
        distance = {
            n: np.abs(seen[: label.shape[0], : label.shape[1]] - label).mean() for n, label in labels.items()
        }
        ranked = sorted(distance, key=lambda n: distance[n])
        assert ranked[0] == number
        assert distance[ranked[1]] > 1.3 * distance[number]


def test_fit_resizes_smoothly_and_gives_new_arrays() -> None:
    checks = np.indices((200, 300)).sum(axis=0) % 2 * 255
    images = np.repeat(checks[None, :, :, None], 3, axis=-1).astype(np.uint8)
    small = resize_images(images, (100, 50))
    assert small.shape == (1, 50, 100, 3)
    assert abs(int(small[0, 25, 50, 0]) - 127) < 12, "a fine pattern becomes grey, not moiré"
    same = resize_images(images, (300, 200))
    assert np.array_equal(same, images)
    assert not np.shares_memory(same, images)


MIDDLE = Box(0.4, 0.35, 0.55, 0.7)


def presence(*sightings: tuple[str, Box, float]) -> Presence:
    ids = sorted({name for name, _, _ in sightings})
    found = tuple(Sighting(name, box, second, 1.0) for name, box, second in sightings)
    return Presence(tuple(Character(i, i, i) for i in ids), tuple(ids), (), marks_for(ids), found)


def test_people_are_marked_on_the_frames_of_their_seconds_alone() -> None:
    given = clip(504, 280, [0, 1, 2])
    here = presence(("ann", MIDDLE, 1.0004), ("bo", Box(0.7, 0.3, 0.8, 0.5), 1.0), ("ann", MIDDLE, 0.51))
    painted = paint(given, settings("none"), presence=here).images
    assert np.array_equal(painted[[0, 2]], given.images[[0, 2]])
    assert np.array_equal(painted[1], paint_people(given.images[1], here.sightings[:2], here.marks))


@pytest.mark.parametrize("characters", ["ellipses", "boxes"])
def test_a_red_mark_and_the_red_border_stay_two(characters: str) -> None:
    """Between them lies a strip that is not red, all round."""
    given = Clip(ground("grey", 504, 280)[None], np.zeros(1), np.zeros(1, np.int64))
    here = presence(("ann", Box(0, 0, 1, 1), 0.0))
    painted = paint(given, settings("box", characters), current=[0], presence=here).images[0].astype(int)
    edge = border_width(given.images[0])
    strips = (painted[edge : edge + 4], painted[-edge - 4 : -edge])
    upright = (painted[edge:-edge, edge : edge + 4], painted[edge:-edge, -edge - 4 : -edge])
    for strip in (*(s[:, edge:-edge] for s in strips), *upright):
        reddish = (strip[..., 0] > 200) & (strip[..., 1] < 60)
        assert not reddish.any()
    within = painted[edge:-edge, edge:-edge]
    assert ((within[..., 0] > 200) & (within[..., 1] < 60)).sum() > 1000


SCALES = ("extreme close-up", "close-up", "medium", "full", "long")
TITLE = "Scores of „Ä“"
STEPS = [colour_of(k / 255) for k in range(256)]


def drawn(
    path: Path, values: npt.NDArray[np.float64], names: Sequence[str] = SCALES, cell: str = ""
) -> npt.NDArray[np.int64]:
    n = len(names)
    matrix_png(
        path / "drawn.png", values, names,
        title=f"{TITLE} on test", row_title="true", column_title="predicted", cells=[[cell] * n] * n,
    )  # fmt: skip
    return np.asarray(Pillow.open(path / "drawn.png").convert("RGB")).astype(np.int64)


def test_the_order_stays_in_grey_and_for_every_kind_of_eye() -> None:
    """Luma falls all the way (but for rounding), and so do the cones that dichromats are left with."""
    ramp = np.array(STEPS, float)
    assert (np.diff(ramp[::4] @ [0.299, 0.587, 0.114]) < -0.5).all()
    long_medium = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074]])
    assert (np.diff(long_medium @ (ramp[::4].T / 255) ** 2.2) < 0).all()


def test_values_beyond_are_taken_as_the_end() -> None:
    assert colour_of(-3) == STEPS[0]
    assert colour_of(7) == colour_of(float("inf")) == STEPS[-1]
    with pytest.raises(ValueError, match="nan"):
        colour_of(float("nan"))


def test_text_is_readable_on_every_step() -> None:
    assert min(contrast(ink_on(colour), colour) for colour in STEPS) >= 4.5


def test_each_value_has_its_colour_at_its_place(tmp_path: Path) -> None:
    values = np.arange(25).reshape(5, 5) / 24
    picture = drawn(tmp_path, values)
    centres = np.zeros((5, 5, 2))
    for (i, j), value in np.ndenumerate(values):
        rows, columns = np.nonzero((picture == colour_of(float(value))).all(-1))
        # The bar of colours beside the matrix has every colour too.
        left = columns < 0.8 * picture.shape[1]
        assert left.sum() > 400
        centres[i, j] = rows[left].mean(), columns[left].mean()
    assert np.ptp(centres[..., 0], axis=1).max() < 1
    assert np.ptp(centres[..., 1], axis=0).max() < 1
    assert (np.diff(centres[..., 0], axis=0) > 30).all()
    assert (np.diff(centres[..., 1], axis=1) > 30).all()


def test_nothing_touches_the_edge(tmp_path: Path) -> None:
    for names in (tuple("0123456789"), ("a longer name", "b", "c", "d")):
        for words in ("", "100%\n99999", "a long text in a cell"):
            ink = drawn(tmp_path, np.ones((len(names), len(names))), names, words).min(-1) < 250
            for edge in (ink[:2], ink[-2:], ink[:, :2], ink[:, -2:]):
                assert not edge.any()


def test_files_are_the_same_every_time_and_bear_their_title(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        drawn(tmp_path / name, np.eye(5))
        files.append((tmp_path / name / "drawn.png").read_bytes())
        assert [path.name for path in (tmp_path / name).iterdir()] == ["drawn.png"]
    assert files[0] == files[1]
    with Pillow.open(tmp_path / "a" / "drawn.png") as image:
        assert image.info["Title"] == f"{TITLE} on test"
