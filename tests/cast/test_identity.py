from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from shotad.core import Box, CastSettings
from shotad.sight import Embedding, Face, FaceTrack, Gallery, Verdict, identify
from tests.rules import ruled

LANDMARKS = ((0.4, 0.4), (0.6, 0.4), (0.5, 0.5), (0.4, 0.6), (0.6, 0.6))
SIZE = 16
ANNA, BEN, CELIA, EXTRA = range(4)


class Borders:
    threshold, margin, same = 0.4, 0.1, 0.7


def axis(number: int) -> Embedding:
    return np.eye(SIZE, dtype=np.float32)[number]


def like(own: int = 15, **likeness: float) -> Embedding:
    """A face of so much likeness to each of the cast; the rest of it is ``own``."""
    vector = np.zeros(SIZE, np.float32)
    for name, value in likeness.items():
        vector[{"anna": ANNA, "ben": BEN, "celia": CELIA, "extra": EXTRA}[name]] = value
    vector[own] = np.sqrt(max(1 - float(vector @ vector), 0.0))
    return vector


def track(
    *looks: Embedding,
    shot: int = 0,
    at: float = 0.0,
    left: float = 0.1,
    height: float = 0.3,
    step: float = 0.25,
) -> FaceTrack:
    box = Box(left, 0.1, left + 0.1, 0.1 + height)
    faces = tuple(Face(box, at + step * i, 0.9, LANDMARKS, 0.0) for i in range(len(looks)))
    return FaceTrack(shot, faces, np.stack(looks), tuple(range(len(looks))))


GALLERY = Gallery(
    {
        "anna": axis(ANNA)[None], "ben": axis(BEN)[None], "celia": axis(CELIA)[None],
        "extra": axis(EXTRA)[None],
    },
    nameless=frozenset({"extra"}),
)  # fmt: skip
NAMES = {"anna": "Anna", "ben": "Ben", "celia": "Celia"}
PLAIN = ruled(CastSettings(), from_film=False)


def judged(
    tracks: Sequence[FaceTrack], settings: CastSettings = PLAIN, gallery: Gallery = GALLERY
) -> list[Verdict]:
    return identify(tracks, gallery, settings, Borders(), NAMES)


def one(*looks: Embedding, height: float = 0.3, settings: CastSettings = PLAIN) -> Verdict:
    return judged([track(*looks, height=height)], settings)[0]


@pytest.mark.parametrize(
    ("likeness", "person", "member", "reason"),
    [
        ({"anna": 0.6, "ben": 0.3}, "anna", "anna", ""),
        ({"anna": 0.39}, None, None, "not alike enough (best: Anna, 0.39)"),
        ({"anna": 0.6, "celia": 0.55}, None, None, "Anna is too near to Celia"),
        ({"anna": 0.6, "extra": 0.55}, None, None, "Anna is too near to somebody without a name"),
        ({"extra": 0.6, "anna": 0.4}, "extra", None, "somebody without a name"),
    ],
)
def test_faces_of_one_person(
    likeness: dict[str, float], person: str | None, member: str | None, reason: str
) -> None:
    verdict = one(like(**likeness))  # type: ignore[arg-type]
    assert (verdict.person, verdict.member, verdict.reason) == (person, member, reason)


def test_who_is_not_named() -> None:
    assert one(like(anna=0.9), height=0.03).reason == "too small"
    near, far = track(like(anna=0.6), height=0.3), track(like(11, ben=0.9), height=0.03)
    both = FaceTrack(0, near.faces + far.faces, np.concatenate([near.embeddings, far.embeddings]), (0, 1))
    assert judged([both])[0].member == "anna"
    # Without photos nobody is named.
    assert judged([track(like(anna=0.6))], gallery=Gallery({})) == [Verdict(reason="nobody has a photo")]
    # One person is in one place at a time.
    better, worse = track(like(11, anna=0.65), left=0.1), track(like(12, anna=0.5), left=0.6)
    elsewhere = track(like(13, anna=0.5), shot=1)
    later = track(like(14, anna=0.5), at=10.0)
    verdicts = judged([worse, better, elsewhere, later])
    assert [v.member for v in verdicts] == [None, "anna", "anna", "anna"]
    assert verdicts[0].reason == "the same moment as a face more like Anna"
    assert verdicts[0].person is None
    # Two who are both very like somebody but not one another are not both that.
    one_face, other = like(11, anna=0.72), like(12, anna=0.75)
    assert [v.member for v in judged([track(one_face, left=0.1), track(other, left=0.6)])] == [None, "anna"]


# A face of Anna as the film shows it: like the photo beyond doubt, and a dim one like the first rather.
SURE, DIM = like(11, anna=0.8), like(11, anna=0.35)


def test_matches_that_help_nobody() -> None:
    unsure = [track(like(11, anna=0.65)), track(DIM, shot=1)]
    assert [v.member for v in judged(unsure, CastSettings())] == ["anna", None]
    near = [track(like(11, anna=0.74, ben=0.56)), track(DIM, shot=1)]
    assert [v.member for v in judged(near, CastSettings())] == ["anna", None]

    # Whoever is like the film but not the photos helps nobody.
    class Lenient(Borders):
        same = 0.5

    sure = [track(SURE, shot=shot) for shot in range(8)]
    drifting, far = track(like(11, anna=0.35), shot=90), track(like(11, anna=0.0), shot=91)
    *_, near, last = identify([*sure, drifting, far], GALLERY, CastSettings(), Lenient())
    assert near.likeness is not None
    assert near.likeness > 0.55
    assert last == identify([*sure, far], GALLERY, CastSettings(), Lenient())[-1]
    assert last.member is None


BY_FRAME = ruled(CastSettings(), decide="frame")


def test_frame_by_frame_the_better_face_is_kept_and_reasons_are_given() -> None:
    left = track(like(11, anna=0.6), like(11, anna=0.45), left=0.1)
    right = track(like(12, anna=0.5), like(12, anna=0.5), left=0.6)
    verdicts = judged([left, right], BY_FRAME)
    assert [v.looks for v in verdicts] == [("anna", None), (None, "anna")]
    small, unlike = judged([track(like(anna=0.6), height=0.02), track(like(anna=0.3), left=0.5)], BY_FRAME)
    assert small.reason == "too small"
    assert unlike.reason.startswith("not alike enough")
