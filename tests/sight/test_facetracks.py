"""Faces followed through a shot: one track is one person, and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shotad.sight import FaceTrack, tracks_of_shot
from tests.sight.face_makers import KnownFaces, Seen, face, person, scene

ANNA, BEN = person(0), person(1)


def tracks(
    seen: Mapping[float, Sequence[Seen]], scenes: Mapping[float, int] | None = None
) -> tuple[FaceTrack, ...]:
    """The tracks of a shot with a picture for each second of ``seen``; ``scenes`` are other pictures."""
    pictures = [(second, scene((scenes or {}).get(second, 0))) for second in sorted(seen)]
    return tracks_of_shot(pictures, 3, KnownFaces(seen))


def row(
    *xs: float, who: np.ndarray[tuple[int], np.dtype[np.float32]] = ANNA, step: float = 0.25
) -> dict[float, list[Seen]]:
    return {i * step: [(face(x), who)] for i, x in enumerate(xs)}


def spans(found: Sequence[FaceTrack]) -> list[tuple[float, float]]:
    return [(track.first, track.last) for track in found]


def test_two_people_are_two_tracks() -> None:
    ways = [(0.4, 0.6), (0.47, 0.53), (0.53, 0.47), (0.6, 0.4)]
    found = tracks({i / 4: [(face(b), BEN), (face(a), ANNA)] for i, (a, b) in enumerate(ways)})
    assert sorted(tuple(round(f.box.centre[0], 2) for f in t.faces) for t in found) == [
        (0.4, 0.47, 0.53, 0.6), (0.6, 0.53, 0.47, 0.4),
    ]  # fmt: skip
    # Another person at the same place is another track.
    seen = row(0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
    seen |= {second: [(face(0.5), BEN)] for second in list(seen)[3:]}
    assert spans(tracks(seen)) == [(0.0, 0.5), (0.75, 1.25)]
    # A chain of looks that leads to another person is parted.
    # Each look is like the one before it, but Anna is not like Ben.
    steps = [np.cos(a) * ANNA + np.sin(a) * BEN for a in np.linspace(0, np.pi / 2, 7)]
    looks = [ANNA] * 12 + steps[1:-1] + [BEN] * 12
    found = tracks({i / 4: [(face(0.5), np.asarray(v, np.float32))] for i, v in enumerate(looks)})
    assert len(found) > 1
    for track in found:
        assert not {i for i in range(12) if track.first <= i / 4 <= track.last} or track.last < (12 + 5) / 4


def test_likeness_is_enough_where_place_or_doubt_allows() -> None:
    seen = row(0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
    seen |= {second: [(face(0.5), person(0, 0.35))] for second in list(seen)[3:]}
    assert spans(tracks(seen)) == [(0.0, 1.25)]
    assert spans(tracks(seen, {0.75: 1, 1.0: 1, 1.25: 1})) == [(0.0, 0.5), (0.75, 1.25)]
    # Who was out of sight is known again beyond doubt only.
    for like, parts in ((0.8, 1), (0.5, 2)):
        seen: dict[float, list[Seen]] = {second: [] for second in (0.5, 1.0, 1.5, 2.0, 2.5)}
        seen |= row(0.3, 0.3) | {second: [(face(0.7), person(0, like))] for second in (3.0, 3.25)}
        assert len(tracks(seen)) == parts
    # What was seen once must be beyond doubt.
    assert tracks({0.0: [(face(score=0.84), ANNA)], 0.25: []}) == ()
    assert len(tracks({0.0: [(face(score=0.9), ANNA)], 0.25: []})) == 1


def test_the_place_at_a_moment() -> None:
    (found,) = tracks({0.0: [(face(0.4), ANNA)], 0.5: [(face(0.5), ANNA)], 1.5: [(face(0.5), ANNA)]})

    def middle(second: float) -> float | None:
        box = found.box_at(second)
        return None if box is None else round(box.centre[0], 4)

    assert [middle(s) for s in (0.0, 0.0004, 0.25, 0.5, 1.5)] == [0.4, 0.4, 0.45, 0.5, 0.5]
    assert [middle(s) for s in (-0.1, 0.6, 1.0, 1.4, 1.6)] == [None] * 5
