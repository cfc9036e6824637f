"""Hands: how the two models' answers become places in the picture, and which hands are told of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shotad
from shotad.core import MANY, Box, WeightsError, weights_file
from shotad.sight import Hand, HandReader, hands, hands_of

SAMPLE = Path(__file__).resolve().parents[1] / "sample" / "sample.mp4"


def hand(seconds: float, x: float = 0.5, y: float = 0.5, size: float = 0.2, spread: float = 0.0) -> Hand:
    """A hand whose palm is ``size`` high, its fingers up, bent by ``spread`` sizes to the side."""
    points = np.full((21, 2), (x * 16 / 9, y))
    points[1:, 1] -= size
    points[[4, 8, 12, 16, 20], 0] += spread * size
    return Hand(seconds, Box(x - size / 3, y - size / 2, x + size / 3, y + size / 2), points)


def shown(*looks: Sequence[Hand]) -> Any:
    return hands_of(looks, 7)


def test_a_hand_that_moves_is_told_of_from_when_it_is_seen() -> None:
    fact = shown([], [hand(1.0, x=0.2)], [], [hand(2.0, x=0.3)], [hand(2.5, x=0.25)])
    assert (fact.shot, fact.name, fact.count, fact.place, fact.since) == (7, "hand", 1, "left", 1.0)
    assert fact.area == pytest.approx(0.2 * 0.4 / 3, abs=1e-3)


def test_fingers_that_move_are_enough_and_a_hand_that_keeps_still_is_not_told_of() -> None:
    assert shown([hand(0.0)], [hand(0.5, spread=0.8)], [hand(1.0)]) is not None
    assert shown([hand(0.0)], [hand(0.5, spread=0.1)], [hand(1.0)], [hand(1.5)]) is None


def test_one_seen_in_two_looks_is_no_hand_yet() -> None:
    assert shown([hand(0.0, x=0.2)], [hand(0.5, x=0.6)], [], []) is None
    assert shown() is None


def test_several_at_once_are_not_counted() -> None:
    pair = [hand(0.0, x=0.2), hand(0.0, x=0.7)]
    assert shown(pair, pair, [hand(1.0, x=0.4)]).count == MANY
    assert shown(pair, [hand(0.5, x=0.4)], [hand(1.0, x=0.2)]).count == 1


class Scripted:
    """A model of LiteRT that answers always the same, whatever it is shown."""

    def __init__(self, pixels: int, answers: dict[str, np.ndarray]) -> None:
        self.pixels, self._answers = pixels, list(answers.values())
        self.outputs = [{"name": name} for name in answers]

    def __call__(self, square: np.ndarray) -> list[np.ndarray]:
        assert square.shape == (self.pixels, self.pixels, 3)
        return self._answers


def reader(monkeypatch: pytest.MonkeyPatch, upright: tuple[float, float], sure: float = 0.99) -> Any:
    """A reader whose palm lies in the middle of the first quarter of a square, the wrist against ``upright``."""
    rows, scores = np.zeros((1, 2016, 18), np.float32), np.full((1, 2016, 1), -9.0, np.float32)
    place = (6 * 24 + 6) * 2  # the anchor at 6.5 / 24 of width and height
    scores[0, place] = 3.0
    rows[0, place, 2:4] = 48  # a quarter of the side
    rows[0, place, 8:10] = (
        np.array(upright) * 20
    )  # the base of the middle finger, from the wrist in the middle
    points = np.tile([112.0, 112.0, 0.0], (21, 1)).astype(np.float32)
    points[12, 1] = 12  # one finger's tip up
    models = {
        "palms": Scripted(192, {"a": rows, "b": scores}),
        "points": Scripted(224, {"Identity": points.reshape(1, 63), "Identity_1": np.array([[sure]])}),
    }
    monkeypatch.setattr(hands, "shared", lambda make, path: models[path.name])
    return HandReader(Path("palms"), Path("points"))


@pytest.mark.parametrize("upright", [(0, -1), (1, 0), (0, 1), (-1, 0)])
def test_the_points_lie_where_the_hand_does_however_it_is_turned(
    monkeypatch: pytest.MonkeyPatch, upright: tuple[float, float]
) -> None:
    image = np.zeros((180, 320, 3), np.uint8)
    (found,) = reader(monkeypatch, upright).find(image, 3.5)
    middle, size = np.array([6.5 / 24 * 320, 6.5 / 24 * 320 - 70]), 80.0
    assert found.seconds == 3.5
    low, high = (middle - 40) / (320, 180), (middle + 40) / (320, 180)
    sides = [found.box.left, found.box.top, found.box.right, found.box.bottom]
    assert sides == pytest.approx(np.clip([*low, *high], 0, 1), abs=1e-6)
    ahead = middle + 0.5 * size * np.array(upright)
    assert found.points[0] * 180 == pytest.approx(ahead, abs=1e-3)
    tip = ahead + 100 / 224 * 2.6 * size * np.array(upright)
    assert found.points[12] * 180 == pytest.approx(tip, abs=1e-3)


def test_a_palm_that_the_second_model_takes_for_something_else_is_no_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert reader(monkeypatch, (0, -1), sure=0.5).find(np.zeros((180, 320, 3), np.uint8), 0.0) == []


@pytest.mark.slow
def test_neither_a_face_nor_a_cat_nor_a_cup_is_a_hand() -> None:
    try:
        real = HandReader(weights_file("palms"), weights_file("hand-points"))
    except WeightsError as error:
        pytest.skip(f"the weights are not here: {error}")
    with shotad.open_film(SAMPLE) as film:
        pictures = film.pictures([float(k) for k in range(int(film.info.duration))])
        assert [p.seconds for p in pictures if real.find(p.image, p.seconds)] == []
