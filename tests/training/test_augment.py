"""Changed pictures: deterministic, of the same size, and of the same scale."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import ValidationError

from shotad.core import ShotScale
from shotad.grammar.training_settings import AugmentSettings, augmented
from tests.scale_pictures import scale_picture

NEVER = dict.fromkeys(("flip", "colour", "greyscale", "blur", "noise", "jpeg", "shift", "bars"), 0.0)
ALWAYS = dict.fromkeys(NEVER, 1.0)


def only(**settings: Any) -> AugmentSettings:
    return AugmentSettings(**{**NEVER, **settings})


def square(height: int = 84, width: int = 112, side: int = 30) -> npt.NDArray[np.uint8]:
    """A grey square of ``side`` pixels in the middle of a dark picture."""
    image = np.full((height, width, 3), 60, np.uint8)
    top, left = (height - side) // 2, (width - side) // 2
    image[top : top + side, left : left + side] = 180
    return image


PICTURE = scale_picture(ShotScale.MEDIUM, 5, (112, 84))


def test_the_same_chance_gives_the_same_bytes_and_another_another() -> None:
    settings = AugmentSettings()
    seen = [augmented(PICTURE, random.Random(k), settings) for k in range(12)]
    again = [augmented(PICTURE, random.Random(k), settings) for k in range(12)]
    for one, other in zip(seen, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len({image.tobytes() for image in seen}) == 12


def test_the_callers_picture_stays_as_it_is() -> None:
    image = PICTURE.copy()
    image.flags.writeable = False
    for settings in (AugmentSettings(), only(), AugmentSettings(enabled=False)):
        changed = augmented(image, random.Random(1), settings)
        changed[:] = 0
    np.testing.assert_array_equal(image, PICTURE)


@pytest.mark.parametrize("shape", [(84, 112), (112, 84), (1, 1), (2, 3), (333, 517)])
def test_size_and_type_stay(shape: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    for seed in range(8):
        changed = augmented(image, random.Random(seed), AugmentSettings(**ALWAYS))
        assert changed.shape == image.shape
        assert changed.dtype == np.uint8


@pytest.mark.parametrize("name", sorted(NEVER))
def test_each_change_changes_something(name: str) -> None:
    changed = [augmented(PICTURE, random.Random(k), only(**{name: 1.0})) for k in range(6)]
    assert any((image != PICTURE).any() for image in changed)


def test_no_zoom_whatever_happens() -> None:
    """The square keeps its width and height through everything but bars, which may cover."""
    for seed in range(60):
        changed = augmented(square(), random.Random(seed), AugmentSettings(**{**ALWAYS, "bars": 0.0}))
        grey = changed.astype(float).mean(-1)
        middle = grey > (grey.min() + grey.max()) / 2
        assert abs(int((middle.sum(1) > 15).sum()) - 30) <= 1
        assert abs(int((middle.sum(0) > 15).sum()) - 30) <= 1


def test_the_flip_is_a_mirror() -> None:
    np.testing.assert_array_equal(augmented(PICTURE, random.Random(0), only(flip=1.0)), PICTURE[:, ::-1])


def test_the_shift_moves_and_mirrors_the_edge() -> None:
    line = np.arange(100, dtype=np.uint8)
    image = np.repeat(np.repeat(line[None, :, None], 3, axis=2), 40, axis=0)
    moves = set()
    for seed in range(40):
        changed = augmented(image, random.Random(seed), only(shift=1.0, shift_size=0.1))
        row = changed[0, :, 0].astype(int)
        inner = row[15:85]
        by = 15 - inner[0]
        assert (inner == np.arange(15, 85) - by).all(), "the inside moves as a whole"
        assert (np.abs(np.diff(row)) == 1).all(), "and the edge is its mirror image, without a seam"
        moves.add(by)
    assert min(moves) < -5
    assert max(moves) > 5
    assert max(abs(by) for by in moves) <= 10


def test_greyscale_is_grey_and_of_the_same_luma() -> None:
    changed = augmented(PICTURE, random.Random(0), only(greyscale=1.0)).astype(int)
    assert (changed.max(-1) == changed.min(-1)).all()
    luma = PICTURE.astype(float) @ [0.299, 0.587, 0.114]
    assert np.abs(changed[..., 0] - luma).max() <= 0.51


@pytest.mark.parametrize(
    ("name", "size", "measure"),
    [
        ("brightness", 0.3, lambda i: i.mean()),
        ("contrast", 0.3, lambda i: i.std(axis=(0, 1)).mean()),
        ("saturation", 0.3, lambda i: (i.max(-1) - i.min(-1)).mean()),
    ],
)
def test_colour_settings_do_what_they_are_called(name: str, size: float, measure: Any) -> None:
    """Over many draws the measure lies between 1 - size and 1 + size of what it was, and near both ends."""
    image = (100 + PICTURE // 4).astype(np.uint8)
    settings = only(colour=1.0, brightness=0.0, contrast=0.0, saturation=0.0, hue=0.0)
    settings = settings.model_copy(update={name: size})
    before = measure(image.astype(float))
    factors = [
        measure(augmented(image, random.Random(k), settings).astype(float)) / before for k in range(80)
    ]
    assert 1 - size - 0.02 <= min(factors) < 1 - 0.8 * size
    assert 1 + 0.8 * size < max(factors) <= 1 + size + 0.02


def test_contrast_and_hue_leave_the_mean_grey() -> None:
    image = (100 + PICTURE // 4).astype(np.uint8)
    for settings in (
        only(colour=1.0, brightness=0.0, saturation=0.0, hue=0.0),
        only(colour=1.0, brightness=0.0, contrast=0.0, saturation=0.0, hue=0.1),
    ):
        for seed in range(10):
            changed = augmented(image, random.Random(seed), settings)
            luma = [float(i.astype(float).mean((0, 1)) @ [0.299, 0.587, 0.114]) for i in (image, changed)]
            assert abs(luma[0] - luma[1]) < 1.5


def test_bars_are_black_at_two_sides_and_spare_the_rest() -> None:
    image = np.full((100, 200, 3), 90, np.uint8)
    across = upright = 0
    for seed in range(60):
        black = (augmented(image, random.Random(seed), only(bars=1.0, bars_size=0.1)) == 0).all(-1)
        rows, columns = black.all(1), black.all(0)
        assert (black == (rows[:, None] | columns[None, :])).all()
        assert not rows.any() or not columns.any()
        assert rows[:50].sum() == rows[50:].sum() <= 10
        assert columns[:100].sum() == columns[100:].sum() <= 20
        across += bool(rows.any())
        upright += bool(columns.any())
    assert across > 10
    assert upright > 10


def test_noise_keeps_to_its_level() -> None:
    image = np.full((80, 80, 3), 128, np.uint8)
    levels = [augmented(image, random.Random(k), only(noise=1.0, noise_level=10.0)).std() for k in range(40)]
    assert 6 < max(levels) < 11
    assert min(levels) < 4


def test_how_often_follows_the_chances() -> None:
    image = np.random.default_rng(1).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    flipped = sum(
        bool((augmented(image, random.Random(k), only(flip=0.25)) == image[:, ::-1]).all())
        for k in range(800)
    )
    assert 150 < flipped < 250


@pytest.mark.parametrize("wrong", [{"flip": 1.5}, {"hue": 0.7}, {"jpeg_quality": 0}, {"zoom": 0.1}])
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        AugmentSettings.model_validate(wrong)
