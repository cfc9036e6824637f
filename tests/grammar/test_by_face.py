"""The rule by face: proportions in, scales out, without a model; and with the models, on the sample film."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from common import FILMS
from hypothesis import given, strategies as st
from scales import compare, guesses_of, read_labels

from shotad.core import Box, ShotScale, Sighting
from shotad.film import open_film
from shotad.grammar.by_face import BORDERS, ByFace, Measure, guess_from, measure_person, measure_thing
from shotad.grammar.features import ScaleGuess
from shotad.sight import Face, Glimpse

SAMPLE = Path(__file__).parents[1] / "sample"
WIDE = 2.4

statures = st.floats(0.02, 40)
measures = st.builds(Measure, statures, st.floats(0, 1))


def face(height: float, *, top: float = 0.1, score: float = 0.9, eyes_to_mouth: float = 0.38) -> Face:
    box = Box(0.45, top, 0.55, min(top + height, 1.0))
    eyes = top + 0.4 * height
    mouth = eyes + eyes_to_mouth * height
    points = ((0.48, eyes), (0.52, eyes), (0.5, (eyes + mouth) / 2), (0.48, mouth), (0.52, mouth))
    return Face(box, 0.0, score, points, 0.0)


def with_face(height: float, **kind: float) -> Glimpse:
    found = face(height, **kind)
    return Glimpse(Box(0.3, found.box.top, 0.7, 1.0), 0.0, body=0.8, face=found)


def body(top: float, bottom: float, *, width: float = 0.1, score: float = 0.8, rival: float = 0.0) -> Glimpse:
    return Glimpse(Box(0.5 - width / 2, top, 0.5 + width / 2, bottom), 0.0, body=score, rival=rival)


def guess_of(*people: Glimpse, aspect: float = WIDE) -> ScaleGuess | None:
    return guess_from([measure_person(person, aspect) for person in people])


def scale_of(*people: Glimpse, aspect: float = WIDE) -> ShotScale:
    found = guess_of(*people, aspect=aspect)
    assert found is not None
    return found.scale


@pytest.mark.parametrize(
    ("height", "scale"),
    [
        (0.98, ShotScale.EXTREME_CLOSE_UP),
        (0.6, ShotScale.CLOSE_UP),  # the head
        (0.4, ShotScale.CLOSE_UP),  # head and shoulders
        (0.25, ShotScale.MEDIUM),  # to the waist
        (0.13, ShotScale.MEDIUM),  # to the knees
        (0.09, ShotScale.FULL),  # to the feet
        (0.04, ShotScale.LONG),
    ],
)
def test_a_face_tells_how_much_of_the_body_fits_into_the_picture(height: float, scale: ShotScale) -> None:
    assert scale_of(with_face(height, top=0.01)) is scale


def test_bodies_tell_where_faces_are_cut_off() -> None:
    whole = measure_person(with_face(0.7, top=0.1), WIDE)
    assert whole.stature == pytest.approx(7.0)
    cut = measure_person(with_face(0.7, top=0.0, eyes_to_mouth=0.6), WIDE)
    assert cut.stature == pytest.approx(7.0 * 0.6 / 0.4)
    # A body seen whole is measured by its height.
    assert scale_of(body(0.1, 0.95)) is ShotScale.FULL
    assert scale_of(body(0.5, 0.8)) is ShotScale.LONG
    # A body cut off below is measured by its shoulders.
    slim, broad = body(0.2, 1.0, width=0.14), body(0.2, 1.0, width=0.6)
    assert measure_person(slim, WIDE).stature == pytest.approx(0.14 * WIDE / 0.28)
    assert scale_of(slim) is ShotScale.MEDIUM
    assert scale_of(broad) is ShotScale.CLOSE_UP


def test_what_tells_nothing() -> None:
    assert guess_of(body(0.1, 0.95, score=0.8, rival=0.7)) == guess_from([])
    assert guess_of(body(0.1, 0.95, score=0.8, rival=0.3)) != guess_from([])
    # Things that are doubtful or of any size tell nothing.
    assert measure_thing([thing("cat", 0.9, 0.69), thing("bird", 0.9), thing("boat", 0.9)]) is None
    assert measure_thing([]) is None


def test_the_closest_decides_and_things_where_nobody_does() -> None:
    near, far, phantom = with_face(0.4), body(0.6, 0.8), body(0.0, 1.0, width=0.9, score=0.33)
    assert scale_of(near, far) is scale_of(near)
    assert scale_of(far, phantom) is ShotScale.LONG
    # Things of known size tell where nobody does.
    cat, car = measure_thing([thing("cat", 0.99)]), measure_thing([thing("car", 0.3)])
    assert guess_from([], cat).scale is ShotScale.CLOSE_UP  # type: ignore[union-attr]
    assert guess_from([], car).scale is ShotScale.LONG  # type: ignore[union-attr]


def test_scales_change_at_the_borders() -> None:
    for border, scales in zip(BORDERS, pairwise(ShotScale), strict=True):
        guesses = [guess_from([Measure(border * factor, 1.0)]) for factor in (1.05, 0.95)]
        assert [guess and guess.scale for guess in guesses] == list(scales)


@given(st.lists(measures, min_size=1, max_size=5), st.data(), st.floats(1.0, 5.0))
def test_coming_closer_never_makes_scales_longer(
    people: list[Measure], data: st.DataObject, factor: float
) -> None:
    who = data.draw(st.integers(0, len(people) - 1))
    closer = [replace(m, stature=m.stature * factor) if i == who else m for i, m in enumerate(people)]
    before, after = guess_from(people), guess_from(closer)
    assert (before is None) == (after is None)
    if before and after:
        first, second = (sum(k * p for k, p in enumerate(guess.probabilities)) for guess in (before, after))
        assert second <= first + 1e-9


def thing(name: str, height: float, score: float = 0.85) -> Sighting:
    return Sighting(name, Box(0.2, 0.0, 0.8, height), 0.0, score)


@pytest.mark.slow
def test_the_sample_film() -> None:
    shots = json.loads((SAMPLE / "sample.truths.json").read_text(encoding="utf-8"))["shots"]
    with open_film(SAMPLE / "sample.mp4") as film:
        images = [picture.image for picture in film.pictures([sum(shot["seconds"]) / 2 for shot in shots])]
    guesses, truths = ByFace().of(images), [shot["scale"] for shot in shots]
    numbers = {scale.value: scale.number for scale in ShotScale}
    pairs = [(numbers[t], g) for t, g in zip(truths, guesses, strict=True) if t is not None]
    known = [(t, g.scale.number) for t, g in pairs if g is not None]
    print(f"sample film: {len(known)} of {len(pairs)} with a guess, label and guess: {known}")
    assert len(known) == 8
    assert all(abs(t - g) <= 1 for t, g in known)
    assert sum(t == g for t, g in known) >= 4
    assert [g for t, g in zip(truths, guesses, strict=True) if t is None] == [None, None]


# Shot scales by face on the supplied films, against labels made by eye (tests/labels/scales.json).
@pytest.mark.skipif(not FILMS.is_dir(), reason=f"the labelled films are not at {FILMS}")
@pytest.mark.long
@pytest.mark.slow
def test_scales_of_the_films() -> None:
    """Floors a few stills below what was measured; the borders were not fitted to these films."""
    films, reader = read_labels("films"), ByFace()
    stills = [still for of_film in films.values() for still in of_film]
    guesses = [guess for name, own in films.items() for guess in guesses_of(reader, own, FILMS / name)]
    found = compare(stills, guesses)
    print(f"\nall stills: {found}")
    assert found.guessed >= 0.7 * found.stills
    assert found.false <= 2
    assert found.right >= 0.56 * found.stills
    assert found.admissible >= 0.66 * found.stills
    assert found.near >= 0.85 * found.guessed
    assert found.factor >= 0.77 * found.stills
    medium, long = (compare(stills, [n if still.labels else None for still in stills]) for n in (2, 4))
    assert found.right >= 1.5 * max(medium.right, long.right)
    assert found.factor >= 1.15 * medium.factor
