"""Faces followed through a shot: one track is one person, and what is kept of it."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from shotad.core import Box, Image
from shotad.sight import Face, FaceTrack, from_row, to_row, tracks_of_shot
from shotad.sight.faces import BORDERS
from shotad.sight.facetracks import Look, parted
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


def test_a_face_that_moves_a_little_is_one_track() -> None:
    (found,) = tracks(row(0.4, 0.44, 0.48, 0.52, 0.56))
    assert (found.shot, found.first, found.last, len(found.faces)) == (3, 0.0, 1.0, 5)


def test_two_people_who_cross_stay_two() -> None:
    ways = [(0.4, 0.6), (0.47, 0.53), (0.53, 0.47), (0.6, 0.4)]
    found = tracks({i / 4: [(face(b), BEN), (face(a), ANNA)] for i, (a, b) in enumerate(ways)})
    assert sorted(tuple(round(f.box.centre[0], 2) for f in t.faces) for t in found) == [
        (0.4, 0.47, 0.53, 0.6),
        (0.6, 0.53, 0.47, 0.4),
    ]


def test_another_person_at_the_same_place_is_another_track() -> None:
    seen = row(0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
    seen |= {second: [(face(0.5), BEN)] for second in list(seen)[3:]}
    assert spans(tracks(seen)) == [(0.0, 0.5), (0.75, 1.25)]


def test_a_weak_likeness_is_enough_at_the_same_place_and_not_across_a_cut() -> None:
    seen = row(0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
    seen |= {second: [(face(0.5), person(0, 0.35))] for second in list(seen)[3:]}
    assert spans(tracks(seen)) == [(0.0, 1.25)]
    assert spans(tracks(seen, {0.75: 1, 1.0: 1, 1.25: 1})) == [(0.0, 0.5), (0.75, 1.25)]


def test_black_bars_do_not_hide_a_cut() -> None:
    seen = row(0.5, 0.5, 0.5, 0.5)
    seen |= {second: [(face(0.5), person(0, 0.35))] for second in (0.5, 0.75)}
    pictures = [(second, scene(int(second >= 0.5))) for second in sorted(seen)]
    for _, image in pictures:
        image[:40], image[-40:] = 0, 0
    assert spans(tracks_of_shot(pictures, 0, KnownFaces(seen))) == [(0.0, 0.25), (0.5, 0.75)]


def test_far_away_more_likeness_is_asked_for() -> None:
    for like, parts in ((0.5, 1), (0.35, 2)):
        seen = row(0.3, 0.3, 0.7, 0.7)
        seen |= {second: [(face(0.7), person(0, like))] for second in (0.5, 0.75)}
        assert len(tracks(seen)) == parts


def test_with_a_picture_a_second_more_likeness_is_asked_for() -> None:
    for like, parts in ((0.5, 1), (0.35, 2)):
        seen = row(0.5, 0.5, 0.5, 0.5, step=1.0)
        seen |= {second: [(face(0.5), person(0, like))] for second in (2.0, 3.0)}
        assert len(tracks(seen)) == parts


def test_who_was_out_of_sight_is_known_again_beyond_doubt_only() -> None:
    for like, parts in ((0.8, 1), (0.5, 2)):
        seen: dict[float, list[Seen]] = {second: [] for second in (0.5, 1.0, 1.5, 2.0, 2.5)}
        seen |= row(0.3, 0.3) | {second: [(face(0.7), person(0, like))] for second in (3.0, 3.25)}
        assert len(tracks(seen)) == parts


def test_a_chain_of_looks_that_leads_to_another_person_is_parted() -> None:
    """Each look is like the one before it, but Anna is not like Ben."""
    steps = [np.cos(a) * ANNA + np.sin(a) * BEN for a in np.linspace(0, np.pi / 2, 7)]
    looks = [ANNA] * 12 + steps[1:-1] + [BEN] * 12
    found = tracks({i / 4: [(face(0.5), np.asarray(v, np.float32))] for i, v in enumerate(looks)})
    assert len(found) > 1
    for track in found:
        assert not {i for i in range(12) if track.first <= i / 4 <= track.last} or track.last < (12 + 5) / 4


def test_looks_that_say_little_part_nobody() -> None:
    seen = row(*[0.5] * 12)
    seen |= {second: [(face(0.5, yaw=0.9, score=0.7), person(0, 0.3))] for second in list(seen)[5:7]}
    assert spans(tracks(seen)) == [(0.0, 2.75)]


def test_what_was_seen_once_must_be_beyond_doubt() -> None:
    assert tracks({0.0: [(face(score=0.84), ANNA)], 0.25: []}) == ()
    assert len(tracks({0.0: [(face(score=0.9), ANNA)], 0.25: []})) == 1


def test_two_frames_of_one_moment_are_one_look() -> None:
    for apart, parts in ((0.04, 0), (0.25, 1)):
        assert len(tracks({s: [(face(score=0.82), ANNA)] for s in (0.0, apart)})) == parts


def test_faint_faces_are_nobody() -> None:
    assert tracks({i / 4: [(face(score=0.79), ANNA)] for i in range(8)}) == ()


def test_the_first_to_appear_comes_first() -> None:
    seen = {i / 4: [(face(0.3), ANNA), (face(0.7), BEN)][: 1 + (i >= 1)] for i in range(4)}
    assert [t.faces[0].box.centre[0] for t in tracks(seen)] == pytest.approx([0.3, 0.7])


def test_the_best_looks_are_read_and_not_all_from_one_moment() -> None:
    seen = {i / 4: [(face(yaw=0.0 if i >= 12 else 0.2), person(0, 0.9, of=10 + i))] for i in range(16)}
    (found,) = tracks(seen)
    assert found.embeddings.shape == (5, 128)
    assert found.read[0] == 12
    assert sorted(found.read) != list(range(11, 16))
    assert max(found.read) - min(found.read) >= 8
    for look, vector in zip(found.read, found.embeddings, strict=True):
        assert vector[10 + look] == pytest.approx(np.sqrt(1 - 0.81), abs=1e-3)


@pytest.mark.parametrize("poor", [face(height=0.2), face(yaw=0.6), face(score=0.75)])
def test_poor_looks_are_not_read_where_there_are_good_ones(poor: Face) -> None:
    seen = {i / 4: [(face() if i % 2 else poor, ANNA)] for i in range(8)}
    looks = [look for track in tracks(seen) for look in (track.faces[i] for i in track.read)]
    assert looks
    assert all((f.yaw, f.score, round(f.box.height, 2)) == (0.0, 0.9, 0.4) for f in looks)


def test_small_faces_say_less_than_large_ones() -> None:
    seen = {i / 4: [(face(height=0.6 if i == 3 else 0.4), ANNA)] for i in range(6)}
    (found,) = tracks(seen)
    assert found.read[0] == 3


def test_rows_are_of_length_one_and_kept_to_the_bit() -> None:
    noise = np.random.default_rng(5).normal(size=(6, 128)).astype(np.float32) * 0.02
    vectors = [(ANNA + n) / np.linalg.norm(ANNA + n) for n in noise]
    seen = {i / 3: [(face(0.5 + i / 173, yaw=i / 7), vectors[i])] for i in range(6)}
    (found,) = tracks(seen)
    assert np.allclose(np.linalg.norm(found.embeddings, axis=1), 1, atol=1e-3)
    kept = json.loads(json.dumps(to_row(found)))
    again = from_row(kept)
    assert again.faces == found.faces
    assert (again.shot, again.read) == (found.shot, found.read)
    assert again.embeddings.dtype == np.float32
    assert again.embeddings.tobytes() == found.embeddings.tobytes()
    assert to_row(again) == kept
    assert kept["faces"][1]["box"] == [round(v, 4) for v in kept["faces"][1]["box"]]


def test_a_row_is_the_same_on_every_machine() -> None:
    """1.0 in half precision, little-endian, is the bytes 00 3c."""
    track = FaceTrack(0, (face(),), np.array([[1.0, 0.0]], np.float32), (0,))
    assert to_row(track)["embeddings"] == ["ADwAAA=="]


def test_the_place_at_a_moment() -> None:
    (found,) = tracks({0.0: [(face(0.4), ANNA)], 0.5: [(face(0.5), ANNA)], 1.5: [(face(0.5), ANNA)]})

    def middle(second: float) -> float | None:
        box = found.box_at(second)
        return None if box is None else round(box.centre[0], 4)

    assert [middle(s) for s in (0.0, 0.0004, 0.25, 0.5, 1.5)] == [0.4, 0.4, 0.45, 0.5, 0.5]
    assert [middle(s) for s in (-0.1, 0.6, 1.0, 1.4, 1.6)] == [None] * 5


def test_a_place_between_two_places_has_the_size_between() -> None:
    (found,) = tracks({0.0: [(face(height=0.4), ANNA)], 0.5: [(face(height=0.5), ANNA)]})
    box = found.box_at(0.1)
    assert box is not None
    assert box.height == pytest.approx(0.42)


def test_pictures_are_let_go_and_not_changed() -> None:
    alive: list[weakref.ref[Image]] = []

    def pictures() -> Iterator[tuple[float, Image]]:
        for i in range(6):
            image = scene(0)
            image.flags.writeable = False
            alive.append(weakref.ref(image))
            yield i / 4, image
            del image
            gc.collect()
            assert sum(ref() is not None for ref in alive) <= 1

    (found,) = tracks_of_shot(pictures(), 0, KnownFaces(row(*[0.5] * 6)))
    assert len(found.faces) == 6


def test_no_pictures_and_no_faces_are_no_tracks() -> None:
    assert tracks({}) == ()
    assert tracks({0.0: [], 0.25: []}) == ()


def test_a_track_that_reads_what_it_has_not_is_refused() -> None:
    one: Face = replace(face(), box=Box(0, 0, 1, 1))
    with pytest.raises(ValueError, match=r"reads some of its 1 faces, got \(1,\)"):
        FaceTrack(0, (one,), np.zeros((1, 4), np.float32), (1,))
    with pytest.raises(ValueError, match=r"float32\[1, d\], got \(2, 4\)"):
        FaceTrack(0, (one,), np.zeros((2, 4), np.float32), (0,))


def test_a_long_strand_of_one_person_stays_whole() -> None:
    """Looks that share half of what they show, at ten minutes and one a second."""
    rest = np.random.default_rng(2).normal(size=(600, 127)) / np.sqrt(127)
    looks = [Look(face(second=i), person(0, 0.7) * (np.arange(128) == 0), 1.0) for i in range(600)]
    for look, extra in zip(looks, rest, strict=True):
        look.embedding[1:] = extra * np.sqrt(1 - 0.49)
    assert parted(looks, KnownFaces({}).following) == [looks]


def test_a_strand_is_parted_where_the_two_sides_are_least_alike() -> None:
    following = KnownFaces({}).following
    looks = [Look(face(second=i / 4), (ANNA, BEN)[i >= 5], 1.0) for i in range(12)]
    assert [len(part) for part in parted(looks, following)] == [5, 7]
    assert parted(looks[:5], following) == [looks[:5]]


def test_where_each_frame_is_decided_for_itself_every_look_is_read() -> None:
    seen = {i / 4: [(face(height=0.2 if i % 2 else 0.4), ANNA)] for i in range(12)}
    models = KnownFaces(seen, replace(BORDERS["sface"].following, every=True))
    (found,) = tracks_of_shot([(second, scene(0)) for second in seen], 3, models)
    assert found.read == tuple(range(12))
    assert found.embeddings.shape == (12, 128)
