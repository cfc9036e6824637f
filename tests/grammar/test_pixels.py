"""Frames for the vision transformers: which part, how large, which numbers."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.core import Image
from shotad.grammar.features import (
    MEAN,
    STD,
    THREAD_SIZE,
    all_upright,
    centre_crop,
    fitted,
    grid_of,
    normalised,
)


def noise(height: int, width: int, seed: int = 0) -> Image:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


@pytest.mark.parametrize(
    ("height", "width", "rows", "columns"),
    [
        (720, 1280, slice(0, 720), slice(160, 1120)),
        (332, 800, slice(0, 332), slice(178, 621)),  # 332 * 4 / 3 = 442.7
        (1200, 1280, slice(120, 1080), slice(0, 1280)),
        (480, 640, slice(0, 480), slice(0, 640)),
        (1280, 720, slice(160, 1120), slice(0, 720)),
        (600, 600, slice(0, 600), slice(75, 525)),
        (2, 1000, slice(0, 2), slice(498, 501)),
        (1, 1, slice(0, 1), slice(0, 1)),
    ],
)
def test_the_middle_is_cut_to_4_by_3(height: int, width: int, rows: slice, columns: slice) -> None:
    image = noise(height, width)
    np.testing.assert_array_equal(centre_crop(image), image[rows, columns])


@pytest.mark.parametrize("size", [THREAD_SIZE, (448, 336)])
def test_sizes_of_broad_and_upright_film(size: tuple[int, int]) -> None:
    longer, shorter = size
    assert fitted(noise(90, 160), *size).shape == (shorter, longer, 3)
    assert fitted(noise(160, 90), *size).shape == (longer, shorter, 3)
    assert grid_of(noise(90, 160), *size) == (shorter // 14, longer // 14)
    assert grid_of(noise(160, 90), *size) == (longer // 14, shorter // 14)
    assert grid_of(noise(90, 160)) == (12, 16)


def test_normalised_by_the_formula_and_nothing_of_the_caller_changes() -> None:
    images = [noise(6, 8, seed) for seed in range(3)]
    before = [image.copy() for image in images]
    found = normalised(images)
    wanted = np.stack([((i / 255 - np.array(MEAN)) / np.array(STD)).transpose(2, 0, 1) for i in images])
    assert found.dtype == np.float32
    assert found.flags["C_CONTIGUOUS"]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    for image, old in zip(images, before, strict=True):
        np.testing.assert_array_equal(image, old)
    # What cannot go together.
    with pytest.raises(ValueError, match="1 upright among 2"):
        all_upright([noise(90, 160), noise(160, 90)])
    with pytest.raises(ValueError, match="got none"):
        all_upright([])
    with pytest.raises(ValueError, match="one shape"):
        normalised([noise(6, 8), noise(9, 12)])
    with pytest.raises(ValueError, match=r"uint8\[H, W, 3\]"):
        centre_crop(np.zeros((6, 8, 3), np.float32))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"uint8\[H, W, 3\]"):
        centre_crop(np.zeros((6, 8), np.uint8))
