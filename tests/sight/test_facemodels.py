"""Face models: SCRFD and ArcFace against numbers by hand, which pair is used, and the tracks that faces make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import Box, Image
from shotad.core.config.sight import CastSettings
from shotad.core.errors import WeightsError
from shotad.sight import (
    Face,
    FaceModels,
    FaceTrack,
    get_face_models,
    tracks_of_shot,
)
from shotad.sight.faces import STANDARD, ArcFace, Scrfd, aligned, similarity
from tests.made_weights import use_manifest
from tests.runs import Heard
from tests.sight.face_makers import KnownFaces, Seen, face, person, scene, tiny_arcface, tiny_scrfd, unfit


# SCRFD: what its outputs become
def picture(height: int, width: int, left: int, top: int, side: int) -> Image:
    """Black with a red square."""
    image = np.zeros((height, width, 3), np.uint8)
    image[top : top + side, left : left + side] = (255, 0, 0)
    return image


def test_a_place_becomes_a_box_and_five_points(tmp_path: Path) -> None:
    finder = Scrfd(tiny_scrfd(tmp_path / "det.onnx"), 0.4)
    (found,) = finder.find(picture(320, 640, 80, 40, 8), 2.5)
    # The place is (80, 40); edges 1, 1, 2, 2 and the points are in strides of 8.
    box = found.box
    assert (box.left * 640, box.top * 320) == pytest.approx((72, 32))
    assert (box.right * 640, box.bottom * 320) == pytest.approx((96, 56))
    points = [(x * 640, y * 320) for x, y in found.landmarks]
    assert np.allclose(points, [(76, 40), (92, 40), (84, 44), (78, 48), (90, 48)])
    assert found.score == pytest.approx(127.5 / 128)
    assert found.seconds == 2.5
    assert found.yaw == pytest.approx(0)
    # Boxes are those of the whole picture.
    for height, width, factor in ((640, 1280, 2), (1280, 640, 2), (160, 320, 0.5)):
        left, top, side = (round(v * factor) for v in (96, 48, 8))
        box = finder.find(picture(height, width, left, top, side), 0.0)[0].box
        found_at = (box.left * width, box.top * height, box.bottom * height)
        assert found_at == pytest.approx((88 * factor, 40 * factor, 64 * factor))


def test_models_with_other_outputs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="no SCRFD"):
        Scrfd(unfit(tmp_path / "one.onnx", 640), 0.4).find(np.zeros((64, 64, 3), np.uint8), 0.0)
    image = pattern()
    with pytest.raises(WeightsError, match="no recogniser"):
        ArcFace(unfit(tmp_path / "same.onnx", 112)).read(image, face_of(np.array(STANDARD), image))


# ArcFace: the alignment, against known points, and what the network is given
RNG = np.random.default_rng(7)
Points = npt.NDArray[np.float64]


def turned(angle: float, scale: float, x: float, y: float) -> Points:
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    return np.array([[c, -s, x], [s, c, y]])


def moved(points: object, matrix: Points) -> Points:
    points = np.asarray(points, float)
    return points @ matrix[:, :2].T + matrix[:, 2]


def face_of(points: Points, image: Image) -> Face:
    height, width = image.shape[:2]
    return Face(Box(0.1, 0.1, 0.9, 0.9), 0.0, 0.9, tuple((x / width, y / height) for x, y in points), 0.0)


def pattern() -> Image:
    small = RNG.integers(0, 255, (7, 7, 3), np.uint8)
    return np.asarray(cv2.resize(small, (112, 112), interpolation=cv2.INTER_CUBIC), np.uint8)


def test_points_that_fit_no_movement_are_met_by_least_squares() -> None:
    points, wanted = RNG.uniform(0, 100, (5, 2)), np.array(STANDARD)
    # x' = a x - b y + c, y' = b x + a y + d, solved as one linear system.
    x, y = points.T
    one, none = np.ones(5), np.zeros(5)
    system = np.concatenate([np.stack([x, -y, one, none], 1), np.stack([y, x, none, one], 1)])
    a, b, c, d = np.linalg.lstsq(system, wanted.T.ravel(), rcond=None)[0]
    assert np.allclose(similarity(points, wanted), [[a, -b, c], [b, a, d]])


@pytest.mark.parametrize(("angle", "scale"), [(0.0, 1.0), (0.5, 2.0), (-1.0, 1.3)])
def test_a_face_anywhere_comes_out_as_in_training(angle: float, scale: float) -> None:
    wanted = pattern()
    matrix = turned(angle, scale, 200, 160)
    image = np.asarray(cv2.warpAffine(wanted, matrix, (640, 480), flags=cv2.INTER_LINEAR), np.uint8)
    found = aligned(image, face_of(moved(STANDARD, matrix), image))
    assert found.shape == (112, 112, 3)
    inner = slice(6, -6)
    assert np.abs(found[inner, inner].astype(int) - wanted[inner, inner]).mean() < 4


def test_one_face_gives_one_embedding(tmp_path: Path) -> None:
    reader = ArcFace(tiny_arcface(tmp_path / "rec.onnx"))
    wanted, other = pattern(), pattern()
    matrix = turned(0.3, 2.0, 100, 60)
    images = [np.asarray(cv2.warpAffine(p, matrix, (640, 480)), np.uint8) for p in (wanted, other)]
    for image in images:
        image.flags.writeable = False
    one, two = (reader.read(image, face_of(moved(STANDARD, matrix), image)) for image in images)
    assert one.shape == (48,)
    assert np.linalg.norm(one) == pytest.approx(1)
    small = cv2.resize(wanted, (4, 4), interpolation=cv2.INTER_AREA).astype(float).transpose(2, 0, 1)
    direct = (small / 127.5 - 1).ravel()
    assert one @ direct / np.linalg.norm(direct) > 0.999
    assert one @ two < 0.9


# Which pair is used, with which borders
NAMES = ("buffalo-l-det", "buffalo-l-rec", "yunet", "sface")


def test_the_identity_holds_what_changes_the_faces_found_and_nothing_else() -> None:
    def identity(**settings: object) -> str:
        return FaceModels(CastSettings.model_validate(settings)).identity

    plain = identity()
    assert identity(threshold=0.9) == plain
    assert "sface:0ba9fbfa01b5" in plain
    others = [
        identity(rules="paper"), identity(faces="buffalo_l"), identity(faces="buffalo_l", rules="paper"),
    ]  # fmt: skip
    assert len({plain, *others}) == 4


def test_the_terms_are_said_when_the_models_are_fetched_and_what_to_do_where_they_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, free = Heard(), Heard()
    for name in NAMES:
        (tmp_path / f"{name}.onnx").write_bytes(name.encode())
    cached = use_manifest(
        tmp_path, monkeypatch, {name: ("faces", tmp_path / f"{name}.onnx") for name in NAMES}
    )
    get_face_models(CastSettings(faces="buffalo_l"), heard)
    (note,) = heard.notes
    assert "non-commercial" in note
    get_face_models(CastSettings(), free)
    assert free.notes == []
    for path in cached.values():
        path.unlink()
    with pytest.raises(WeightsError, match="cast.faces=sface"):
        get_face_models(CastSettings(faces="buffalo_l"), heard)
    with pytest.raises(WeightsError) as told:
        get_face_models(CastSettings(), free)
    assert "cast.faces" not in str(told.value)
    assert heard.steps == free.steps == [], "nothing is fetched"


def red_and_moving() -> Iterator[tuple[float, Image]]:
    for i in range(4):
        image = np.random.default_rng(3).integers(0, 90, (320, 640, 3), np.uint8)
        image[..., 0] = 0
        left = 80 + 8 * i
        image[40:48, left : left + 8] = (255, 60 * (i % 2), 0)
        yield i / 4, image


def test_tracks_with_buffalos_own_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """buffalo_l's weights are tiny models of the same shapes."""
    files = {"det": tiny_scrfd(tmp_path / "det.onnx"), "rec": tiny_arcface(tmp_path / "rec.onnx")}
    use_manifest(
        tmp_path, monkeypatch, {f"buffalo-l-{name}": ("faces", path) for name, path in files.items()}
    )
    (track,) = tracks_of_shot(red_and_moving(), 1, FaceModels(CastSettings(faces="buffalo_l")))
    assert [round(f.box.left * 640) for f in track.faces] == [72, 80, 88, 96]
    assert track.embeddings.shape == (4, 48)


# Faces followed through a shot: one track is one person, and what is kept of it
ANNA, BEN = person(0), person(1)


def tracks(
    seen: Mapping[float, Sequence[Seen]], scenes: Mapping[float, int] | None = None
) -> tuple[FaceTrack, ...]:
    """The tracks of a shot with a picture for each second of ``seen``; ``scenes`` are other pictures."""
    pictures = [(second, scene((scenes or {}).get(second, 0))) for second in sorted(seen)]
    return tracks_of_shot(pictures, 3, KnownFaces(seen))


def row(*xs: float) -> dict[float, list[Seen]]:
    return {i / 4: [(face(x), ANNA)] for i, x in enumerate(xs)}


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
    assert all(track.first >= 12 / 4 or track.last < (12 + 5) / 4 for track in found)


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
