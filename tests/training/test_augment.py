"""Changed pictures: deterministic, of the same size, and of the same scale."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt

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


def test_the_shift_moves_and_the_flip_mirrors() -> None:
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
    np.testing.assert_array_equal(augmented(PICTURE, random.Random(0), only(flip=1.0)), PICTURE[:, ::-1])
    # No zoom whatever happens.
    # The square keeps its width and height through everything but bars, which may cover.
    for seed in range(60):
        changed = augmented(square(), random.Random(seed), AugmentSettings(**{**ALWAYS, "bars": 0.0}))
        grey = changed.astype(float).mean(-1)
        middle = grey > (grey.min() + grey.max()) / 2
        assert abs(int((middle.sum(1) > 15).sum()) - 30) <= 1
        assert abs(int((middle.sum(0) > 15).sum()) - 30) <= 1
