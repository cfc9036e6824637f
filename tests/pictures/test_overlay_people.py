"""People on the frames of a clip: each on their own frames, under the label, inside the border."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.core import Box, Character, Clip, OverlaySettings, Presence, Sighting
from shotad.film import marks_for, paint
from shotad.film.overlays import RED, border_width, paint_people

MIDDLE = Box(0.4, 0.35, 0.55, 0.7)


def settings(label: str, characters: str = "ellipses") -> OverlaySettings:
    return OverlaySettings.model_validate({"label": label, "characters": characters})


def clip(seconds: tuple[float, ...] = (1.0, 1.5, 2.0)) -> Clip:
    images = np.random.default_rng(0).integers(60, 190, (len(seconds), 280, 504, 3), dtype=np.uint8)
    return Clip(images, np.array(seconds), np.arange(len(seconds), dtype=np.int64))


def presence(*sightings: tuple[str, Box, float]) -> Presence:
    ids = sorted({name for name, _, _ in sightings})
    found = tuple(Sighting(name, box, second, 1.0) for name, box, second in sightings)
    return Presence(tuple(Character(i, i, i) for i in ids), tuple(ids), (), marks_for(ids), found)


def test_people_are_marked_on_the_frames_of_their_seconds_alone() -> None:
    given = clip()
    here = presence(("ann", MIDDLE, 1.5004), ("bo", Box(0.7, 0.3, 0.8, 0.5), 1.5), ("ann", MIDDLE, 1.01))
    painted = paint(given, settings("none"), presence=here).images
    assert np.array_equal(painted[[0, 2]], given.images[[0, 2]])
    assert np.array_equal(painted[1], paint_people(given.images[1], here.sightings[:2], here.marks))


@pytest.mark.parametrize("characters", ["ellipses", "boxes"])
def test_a_red_mark_and_the_red_border_stay_two(characters: str) -> None:
    """Between them lies a strip that is not red, all round."""
    given = clip((1.0,))
    here = presence(("ann", Box(0, 0, 1, 1), 1.0))
    painted = paint(given, settings("box", characters), current=[0], presence=here).images[0].astype(int)
    edge = border_width(given.images[0])
    assert np.all(painted[:edge] == RED)
    strips = (painted[edge : edge + 4], painted[-edge - 4 : -edge])
    upright = (painted[edge:-edge, edge : edge + 4], painted[edge:-edge, -edge - 4 : -edge])
    for strip in (*(s[:, edge:-edge] for s in strips), *upright):
        reddish = (strip[..., 0] > 200) & (strip[..., 1] < 60)
        assert not reddish.any()
    within = painted[edge:-edge, edge:-edge]
    assert ((within[..., 0] > 200) & (within[..., 1] < 60)).sum() > 1000
