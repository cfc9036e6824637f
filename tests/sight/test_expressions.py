"""What faces do, by their points: made looks, and the model on the sample film."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import shotad
from shotad.core import WeightsError, weights_file
from shotad.sight import Act, Expression, FaceFinder, FaceMesh, face_acts

SAMPLE = Path(__file__).resolve().parents[1] / "sample" / "sample.mp4"
REST = Expression(0.0, size=0.4, wide=0.55, open=0.03, lift=-0.03, down=8.0, tilt=0.0)
SMILE = replace(REST, wide=0.72, lift=0.1, open=0.2)
SHOUT = replace(REST, open=0.6, wide=0.68, lift=0.1)
BOWED, RAISED, TILTED = replace(REST, down=30.0), replace(REST, down=-14.0), replace(REST, tilt=-21.0)


def looks(*course: tuple[Expression, float], every: float = 0.25) -> list[Expression]:
    """One look after the other, each expression for its seconds."""
    shown = [expression for expression, seconds in course for _ in range(round(seconds / every))]
    return [replace(expression, seconds=i * every) for i, expression in enumerate(shown)]


@pytest.mark.parametrize(
    ("course", "acts"),
    [
        ([(REST, 4.0)], []),
        ([(REST, 1.0), (SMILE, 2.0), (REST, 1.0)], [Act("smiles", 1.0, 2.75)]),
        ([(SMILE, 2.0)], [Act("smiles", 0.0, 1.75)]),
        ([(SMILE, 0.5), (REST, 0.5)] * 4, []),
        ([(replace(SMILE, lift=0.0), 2.0)], []),
        ([(replace(SMILE, open=0.05), 2.0)], []),
        ([(SHOUT, 2.0)], []),
        ([(REST, 1.5), (SHOUT, 1.0)], [Act("opens the mouth wide", 1.5, 2.25)]),
        ([(REST, 0.5), (SHOUT, 1.0)] * 2, []),
        ([(REST, 1.5), (BOWED, 1.0)], [Act("lowers the head", 1.5, 2.25)]),
        ([(REST, 1.5), (RAISED, 1.0)], [Act("raises the head", 1.5, 2.25)]),
        ([(REST, 1.5), (TILTED, 1.0)], [Act("tilts the head", 1.5, 2.25)]),
        ([(replace(REST, size=0.2), 1.0), (replace(BOWED, size=0.2), 1.0)], []),
        ([(BOWED, 4.0)], []),
        ([(RAISED, 1.0), (REST, 3.0)], []),
    ],
    ids=[
        "rest", "smiles", "smiles all the time", "talks", "grimaces", "weeps",
        "shouts all the time", "opens the mouth",
        "sings", "bows", "looks up", "leans", "far off", "bowed all the time",
        "comes back",
    ],
)  # fmt: skip
def test_a_face_is_told_of_by_what_lasts(
    course: Sequence[tuple[Expression, float]], acts: Sequence[Act]
) -> None:
    assert face_acts(looks(*course)) == list(acts)


def test_nothing_is_known_of_what_was_between_two_distant_looks() -> None:
    before, after = looks((REST, 1.5)), looks((BOWED, 1.0))
    assert face_acts([*before, *(replace(look, seconds=look.seconds + 2.5) for look in after)]) == []
    assert face_acts([*before, *(replace(look, seconds=look.seconds + 1.5) for look in after)]) != []


def test_a_head_that_moves_with_the_body_is_not_told_of() -> None:
    shown = looks((REST, 4.0), (BOWED, 1.0), (replace(SMILE, down=30.0), 2.0))
    head, smile = Act("lowers the head", 4.0, 6.75), Act("smiles", 5.0, 6.75)
    assert face_acts(shown, [Act("raises a hand", 1.0, 2.5)]) == [head, smile]
    assert face_acts(shown, [Act("sits down", 2.0, 3.5)]) == [smile]
    assert face_acts(shown, [Act("bends forward", 7.0, 8.0)]) == [smile]


def test_the_model_sees_a_smile_and_not_one_in_a_face_that_it_does_not_find() -> None:
    try:
        mesh, finder = FaceMesh(weights_file("face-mesh")), FaceFinder(weights_file("yunet"))
    except WeightsError as error:
        pytest.skip(str(error))
    with shotad.open_film(SAMPLE) as film:
        seconds = [k / 2 for k in range(int(float(film.info.duration) * 2))]
        pictures = list(film.pictures(seconds))
    faced = [
        (p.image, face) for p in pictures for face in finder.find(p.image, p.seconds) if face.score > 0.85
    ]
    shown = [mesh.read(image, face) for image, face in faced]
    assert any(e is not None and e.wide > 0.66 and e.lift > 0.08 and e.open > 0.12 for e in shown)
    image, face = faced[0]
    assert mesh.read(image * 0 + 90, face) is None
