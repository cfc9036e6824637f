"""Features without weights: what they tell apart, what they see past, and the threads that they find in films."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import cv2
import numpy as np
import pytest
import threads
from common import FILMS

from shotad.core import Image
from shotad.film import open_film
from shotad.grammar import Features, matching_of, shot_scores
from shotad.grammar.grid_features import GridFeatures

SAMPLE = Path(__file__).parents[1] / "sample" / "sample.mp4"
SECONDS = (10.0, 14.0, 21.0, 29.5)
"""A woman, a cat, a cup, a man with a camera."""


@pytest.fixture(scope="module")
def pictures() -> list[Image]:
    """Four different photographs."""
    with open_film(SAMPLE) as film:
        return [picture.image for picture in film.pictures(SECONDS)]


def made(*images: Image) -> Features:
    return GridFeatures().of(images)


def score(one: Image, other: Image) -> float:
    kinds = {"last": made(one, one), "first": made(other, other)}
    return float(shot_scores(kinds, matching_of(GridFeatures(), kinds["last"].grid))[0, 1])


def likeness(one: Image, other: Image) -> float:
    """Mean cosine of cells in the same place."""
    return float((made(one).patches * made(other).patches).sum(-1).mean())


def darker(image: Image) -> Image:
    return (image * 0.6).astype(np.uint8)


def noisy(image: Image, level: float) -> Image:
    noise = np.random.default_rng(5).normal(0, level, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def test_frames_are_told_apart(pictures: list[Image]) -> None:
    before = [image.copy() for image in pictures]
    together = made(*pictures)
    for k, image in enumerate(pictures):
        alone = made(image)
        assert alone.patches.tobytes() == together.patches[k : k + 1].tobytes()
        assert alone.whole.tobytes() == together.whole[k : k + 1].tobytes()
        assert np.array_equal(image, before[k])
    # Different pictures stay below the threshold.
    assert max(score(a, b) for a, b in permutations(pictures, 2)) < GridFeatures.threshold
    # Somebody who walks in front covers only his cells.
    place, person = pictures[2].copy(), pictures[0]
    place[60:360, 250:430] = person[60:360, 200:380]
    assert GridFeatures.threshold + 0.1 < score(pictures[2], place) < 0.9 * score(pictures[2], pictures[2])
    # Letters over two places join nothing.
    titled = []
    for picture in pictures[2:]:
        image = picture.copy()
        for line, word in enumerate(("HOT FIRE", "TEST")):
            where = (120, 170 + 70 * line)
            cv2.putText(image, word, where, cv2.FONT_HERSHEY_SIMPLEX, 2, (255, 255, 255), 6)
        titled.append(image)
    assert score(*titled) < GridFeatures.threshold < score(titled[0], titled[0])
    # Bars are cut off at night too.
    night = (pictures[3] * 0.12).astype(np.uint8)
    assert likeness(night, np.pad(night, ((60, 60), (0, 0), (0, 0)))) > 0.8


@pytest.mark.parametrize("k", range(4))
def test_exposure_noise_and_a_small_move_do_not_matter(pictures: list[Image], k: int) -> None:
    image = pictures[k]
    moved = np.roll(image, (8, 12), axis=(0, 1))
    for other in (darker(image), noisy(image, 4), moved, darker(noisy(moved, 4))):
        assert score(image, other) > GridFeatures.threshold + 0.1


@pytest.mark.parametrize("level", [0, 1, 16, 128, 255])
def test_flat_frames_match_nothing_not_even_themselves(pictures: list[Image], level: int) -> None:
    flat = np.full((360, 640, 3), level, np.uint8)
    assert score(flat, flat) < 0.06
    assert score(flat, pictures[0]) < 0.1
    assert score(pictures[0], flat) < 0.1


@pytest.mark.parametrize("at_the_sides", [False, True])
def test_black_bars_are_cut_off(pictures: list[Image], at_the_sides: bool) -> None:
    image = pictures[0] if at_the_sides else pictures[3]
    black = ((0, 0), (70, 70), (0, 0)) if at_the_sides else ((60, 60), (0, 0), (0, 0))
    barred = np.pad(image, black)
    assert likeness(image, barred) > 0.8
    assert score(image, barred) > 0.6


# Floors, measured with ``grid:2`` in November 2026 (`benchmarks/threads.py`): sample film precision 0.500, recall 1.000,
# AP 1.000; battle 1.000, 0.667, 1.000. The features' few constants were chosen on these very clips.
def test_the_threads_of_the_sample_film_are_found() -> None:
    made = threads.judged(threads.sample_clip(), GridFeatures())
    assert (made.pairs.recall, made.ap) == (1, 1)
    # Shot 6 has the rocket of shots 1 and 8 behind it, closer by: one photograph, looked at differently.
    assert made.pairs.wrong <= 2


@pytest.mark.skipif(not FILMS.is_dir(), reason=f"the labelled films are not at {FILMS}")
@pytest.mark.slow
def test_the_threads_of_the_battle_are_found() -> None:
    clip = next(clip for clip in threads.labelled_clips(FILMS) if clip.name == "tears-of-steel-battle.webm")
    made = threads.judged(clip, GridFeatures())
    print(threads.line(clip.name, made))
    assert made.pairs.right >= 2
    assert made.pairs.wrong == 0
    assert made.ap is not None
    assert made.ap > 0.9
    assert made.purity > 0.95
