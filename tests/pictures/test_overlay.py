"""Labels are readable at the size that the model sees, and the caller's frames stay as they are."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from shotad.core import Clip, FrameSettings, OverlaySettings
from shotad.film import fit, paint, vlm_size
from shotad.film.overlays import RED, shot_label

DEFAULT = FrameSettings()
NUMBER, BOX, NONE = (OverlaySettings.model_validate({"label": label}) for label in ("number", "box", "none"))
SIZES = [(504, 280), (588, 224), (448, 336), (280, 504), (160, 120)]


def clip(width: int, height: int, numbers: list[int], seed: int = 0) -> Clip:
    """Noisy frames, the hardest background for small type after JPEG."""
    images = np.random.default_rng(seed).integers(0, 256, (len(numbers), height, width, 3), dtype=np.uint8)
    return Clip(images, np.arange(len(numbers), dtype=np.float64), np.array(numbers, dtype=np.int64))


@pytest.mark.parametrize(("film", "seen"), [
    ((1920, 1080), (504, 280)),
    ((1280, 720), (504, 280)),
    ((640, 360), (504, 280)),
    ((640, 480), (448, 336)),
    ((1920, 800), (588, 224)),
    ((1080, 1920), (280, 504)),
    ((160, 120), (392, 280)),
])  # fmt: skip
def test_size_is_that_of_the_models_own_rule(film: tuple[int, int], seen: tuple[int, int]) -> None:
    assert vlm_size(*film, DEFAULT) == seen
    assert seen[0] % 28 == seen[1] % 28 == 0
    assert DEFAULT.min_pixels <= seen[0] * seen[1] <= DEFAULT.max_pixels


@pytest.mark.parametrize("settings", [NUMBER, BOX, NONE])
def test_callers_frames_are_never_painted_on(settings: OverlaySettings) -> None:
    given = clip(504, 280, [0, 1])
    before = given.images.copy()
    painted = paint(given, settings, current=[1])
    assert np.array_equal(given.images, before)
    assert not np.shares_memory(painted.images, given.images)
    assert np.array_equal(painted.seconds, given.seconds)
    assert np.array_equal(painted.shot_numbers, given.shot_numbers)


@pytest.mark.parametrize("size", SIZES)
def test_every_number_is_told_from_every_other_after_jpeg(size: tuple[int, int]) -> None:
    numbers = list(range(30))
    painted = paint(clip(*size, numbers), NUMBER).images
    labels = {n: shot_label(n, *size).astype(int) for n in numbers}
    for number, image in zip(numbers, painted, strict=True):
        file = io.BytesIO()
        Image.fromarray(image).save(file, "JPEG")
        seen = np.asarray(Image.open(file)).astype(int)
        distance = {
            n: np.abs(seen[: label.shape[0], : label.shape[1]] - label).mean() for n, label in labels.items()
        }
        ranked = sorted(distance, key=lambda n: distance[n])
        assert ranked[0] == number
        assert distance[ranked[1]] > 1.3 * distance[number]


def test_box_frames_current_shots_alone() -> None:
    given = clip(504, 280, [0, 1, 2])
    painted = paint(given, BOX, current={1}).images
    assert np.array_equal(painted[[0, 2]], given.images[[0, 2]])
    edge = 7
    for strip in (painted[1, :edge], painted[1, -edge:], painted[1, :, :edge], painted[1, :, -edge:]):
        assert np.all(strip == RED)
    assert np.array_equal(painted[1, edge:-edge, edge:-edge], given.images[1, edge:-edge, edge:-edge])


def test_fit_resizes_smoothly_and_gives_new_arrays() -> None:
    checks = np.indices((200, 300)).sum(axis=0) % 2 * 255
    images = np.repeat(checks[None, :, :, None], 3, axis=-1).astype(np.uint8)
    small = fit(images, (100, 50))
    assert small.shape == (1, 50, 100, 3)
    assert abs(int(small[0, 25, 50, 0]) - 127) < 12, "a fine pattern becomes grey, not moiré"
    same = fit(images, (300, 200))
    assert np.array_equal(same, images)
    assert not np.shares_memory(same, images)
