"""The planned moments bring the planned frames out of a film, whatever its container does to time."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest

from shotad.core import ContextSettings, FramePlan, FrameSettings, Image, Interval, Role, Shot
from shotad.film import ClipPlan, Picture, clips, context_shots, open_film, plan_frames
from tests.media import FilmSpec, make_film, read_number

CINEMA = Fraction(24000, 1001)
SLOT = Interval(2.013, 4.987)
VARIABLE = FilmSpec(
    suffix=".mkv",
    times=(0.0, *np.cumsum(np.tile([0.04, 0.02, 0.1, 0.04], 45)).round(3).tolist()),
    time_base=Fraction(1, 1000),
)
FILMS = {
    "25 a second": FilmSpec(frames=200),
    "stamps in whole ms": FilmSpec(suffix=".mkv", frames=200, rate=CINEMA),
    "late start": FilmSpec(suffix=".mkv", frames=200, rate=CINEMA, shift=7.3),
    "variable rate": VARIABLE,
}


@pytest.mark.parametrize("spec", FILMS.values(), ids=FILMS)
@pytest.mark.parametrize("known", [True, False], ids=["stamps", "rate alone"])
def test_planned_frames_are_those_that_the_reader_delivers(spec: FilmSpec, known: bool) -> None:
    made = make_film(spec)
    times = np.array(made.seconds)
    cuts = [times[0], times[60], times[110], times[-1] + 0.04]
    shots = [Shot(i, Interval(a, b)) for i, (a, b) in enumerate(itertools.pairwise(cuts))]
    context = context_shots(SLOT, shots, ContextSettings())
    with open_film(made.path) as film:
        rate = film.info.frame_rate
        assert rate is not None
        plans = plan_frames(SLOT, context, FrameSettings(), rate, stamps=times if known else None)
        ((_, clip),) = clips([ClipPlan("s", plans)], film.pictures)
    wanted = np.concatenate([p.seconds for p in plans])
    shown = np.array([read_number(image) for image in clip.images])
    assert shown.tolist() == [made.number_at(second) for second in wanted]
    assert clip.shot_numbers.tolist() == [p.number for p in plans for _ in p.seconds]
    if known or spec is not VARIABLE:
        inside = (times[shown] >= SLOT.start) & (times[shown] < SLOT.end)
        assert inside.sum() == 16
        assert len(set(shown.tolist())) == 32


def test_pictures_of_a_clip_are_let_go_before_it_is_handed_out() -> None:
    """Else each clip takes its room twice for as long as it is worked on."""
    read: list[weakref.ref[Image]] = []

    def pictures(seconds: Sequence[float]) -> Iterator[Picture]:
        for second in seconds:
            image = np.full((2, 2, 3), int(second), np.uint8)
            read.append(weakref.ref(image))
            yield Picture(second, second, image)

    moments = FramePlan(0, Role.CURRENT, np.arange(8.0))
    reading = clips([ClipPlan("s", (moments,))], pictures)
    _, clip = next(reading)
    assert clip.images[:, 0, 0, 0].tolist() == list(range(8))
    held = sum(image() is not None for image in read)
    assert held <= 1, "only the one that was read last may be held"
