"""From photos to names: what is read of a photo, whom the cast's photos show, and who somebody in the film is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image as Pictures, features

from shotad.core import (
    Box,
    Cast,
    Image,
    Member,
    NoProgress,
)
from shotad.core.config.sight import CastSettings
from shotad.core.errors import CastError
from shotad.sight import (
    Embedding,
    Face,
    FaceModels,
    FaceTrack,
    Gallery,
    Identification,
    identify,
    read_gallery,
)
from shotad.sight.gallery import photo_key, read_photo
from shotad.sight.photos import check_photo, is_photo, load_photo
from tests.rules import ruled

LANDMARKS = ((0.4, 0.4), (0.6, 0.4), (0.5, 0.5), (0.4, 0.6), (0.6, 0.6))


def face(left: float, height: float, score: float = 0.9) -> Face:
    return Face(Box(left, 0.1, left + 0.1, 0.1 + height), 0.0, score, LANDMARKS, 0.0)


class Looking:
    """Finds what it is told to, once for each call, and reads a face by where it stands."""

    identity = "made"
    threshold, margin, join, same = 0.4, 0.1, 0.5, 0.7

    def __init__(self, *faces: list[Face]) -> None:
        self.faces = list(faces)
        self.seen: list[tuple[int, ...]] = []

    def find(self, image: Image, seconds: float) -> list[Face]:
        self.seen.append(image.shape)
        return self.faces.pop(0)

    def read(self, image: Image, face: Face) -> Embedding:
        return np.array([face.box.left, 0, 1], np.float32) / np.float32(np.hypot(face.box.left, 1))


def photo(path: Path, size: tuple[int, int] = (60, 40), mode: str = "RGB") -> Path:
    Pictures.new(mode, size, 200 if mode == "L" else (200, 100, 50, 0)[: len(mode)]).save(path)
    return path


def test_the_largest_face_is_whose_photo_it_is(tmp_path: Path) -> None:
    models = Looking([face(0.7, 0.2, 0.99), face(0.2, 0.5)])
    reading = read_photo(photo(tmp_path / "a.png"), models)
    assert not isinstance(reading, str)
    assert reading[0] / reading[2] == pytest.approx(0.2)
    # Nobody can tell whose photo it is with two faces of like size.
    reading = read_photo(photo(tmp_path / "a.png"), Looking([face(0.1, 0.5), face(0.6, 0.4)]))
    assert reading == "several faces"
    # A face that fills the photo is found on a rim.
    models = Looking([], [face(0.3, 0.5)])
    assert not isinstance(read_photo(photo(tmp_path / "a.png"), models), str)
    assert models.seen == [(40, 60, 3), (80, 120, 3)]


def test_photos_stand_upright_and_what_is_see_through_is_grey(tmp_path: Path) -> None:
    picture = Pictures.new("RGB", (60, 40), (0, 0, 0))
    picture.paste((255, 0, 0), (0, 0, 60, 10))
    exif = Pictures.Exif()
    exif[0x0112] = 6
    picture.save(tmp_path / "a.png", exif=exif)
    image = load_photo(tmp_path / "a.png")
    assert image.shape == (60, 40, 3)
    assert image[30, 39].tolist() == [255, 0, 0]
    assert image[30, 0].tolist() == [0, 0, 0]
    assert load_photo(photo(tmp_path / "a.png", mode="RGBA"))[0, 0].tolist() == [128, 128, 128]


RAMP = np.tile(np.linspace(0, 255, 96).astype(np.uint8), (64, 1))
COLOURS = np.dstack([RAMP, 255 - RAMP, np.full_like(RAMP, 90)])


def ramp(mode: str) -> Pictures.Image:
    return Pictures.fromarray(COLOURS).convert(mode)


def encoded(ending: str) -> bytes:
    return bytes(cv2.imencode(ending, COLOURS[:, :, ::-1].astype(np.uint16) * 257)[1])


def animated(path: Path, **more: Any) -> None:
    first = ramp("RGB")
    first.save(path, save_all=True, append_images=[first.rotate(180)] * 2, **more)


KINDS: dict[str, Callable[[Path], None]] = {
    "grey 16.png": lambda path: Pictures.fromarray(RAMP.astype(np.uint16) * 257).save(path),
    "grey 16.tif": lambda path: Pictures.fromarray(RAMP.astype(np.uint16) * 257).save(path),
    "grey 32.tif": lambda path: Pictures.fromarray(RAMP.astype(np.int32) * 257).save(path),
    "grey 8 in 32.tif": lambda path: Pictures.fromarray(RAMP.astype(np.int32)).save(path),
    "float.tif": lambda path: Pictures.fromarray(RAMP.astype(np.float32) / 255).save(path),
    "float 255.tif": lambda path: Pictures.fromarray(RAMP.astype(np.float32)).save(path),
    "grey.png": lambda path: Pictures.fromarray(RAMP).save(path),
    "colour 16.png": lambda path: path.write_bytes(encoded(".png")),
    "colour 16.tif": lambda path: path.write_bytes(encoded(".tif")),
    "cmyk.jpg": lambda path: ramp("CMYK").save(path, quality=95),
    "cmyk.tif": lambda path: ramp("CMYK").save(path),
    "palette.png": lambda path: ramp("RGB").quantize(256).save(path),
    "palette with transparency.png": lambda path: ramp("RGB").quantize(256).save(path, transparency=255),
    "grey with alpha.png": lambda path: Pictures.fromarray(RAMP).convert("LA").save(path),
    "animated.gif": animated,
    "animated.webp": lambda path: animated(path, lossless=True),
    "animated.png": animated,
    "a.bmp": lambda path: ramp("RGB").save(path),
}


@pytest.mark.parametrize("name", KINDS)
def test_photos_of_all_kinds_are_read_as_they_look(name: str, tmp_path: Path) -> None:
    KINDS[name](tmp_path / name)
    check_photo(tmp_path / name)
    image = load_photo(tmp_path / name).astype(int)
    assert image.shape == (64, 96, 3)
    assert is_photo(tmp_path / name)
    expected = (np.dstack([RAMP] * 3) if "grey" in name or "float" in name else COLOURS).astype(int)
    assert np.abs(image - expected).mean() < (
        6 if name.endswith((".jpg", ".gif")) or "palette" in name else 2
    )


@pytest.mark.parametrize(("name", "library"), [("a.avif", "avif"), ("a.jp2", "jpg_2000")])
def test_formats_that_only_some_builds_read(name: str, library: str, tmp_path: Path) -> None:
    if not features.check(library):
        pytest.skip(f"this Pillow was built without {library}")
    ramp("RGB").save(tmp_path / name)
    assert is_photo(tmp_path / name)
    assert np.abs(load_photo(tmp_path / name).astype(int) - COLOURS).mean() < 12


def test_heic_is_read_where_its_library_is_installed(tmp_path: Path) -> None:
    heif = pytest.importorskip("pillow_heif", reason="needs the extra heic")
    heif.register_heif_opener()
    ramp("RGB").save(tmp_path / "a.heic")
    assert is_photo(tmp_path / "a.heic")
    assert np.abs(load_photo(tmp_path / "a.heic").astype(int) - COLOURS).mean() < 12


def test_broken_exif_data_does_not_matter(tmp_path: Path) -> None:
    exif = Pictures.Exif()
    exif[0x0112] = 6
    ramp("RGB").save(tmp_path / "a.jpg", exif=exif)
    data = (tmp_path / "a.jpg").read_bytes()
    at = data.index(b"Exif") + 6
    (tmp_path / "a.jpg").write_bytes(data[:at] + b"\xff" * 20 + data[at + 20 :])
    assert load_photo(tmp_path / "a.jpg").shape == (64, 96, 3)


def test_strips_specks_and_bombs(tmp_path: Path) -> None:
    models = FaceModels(CastSettings(), NoProgress())
    for size in ((1, 1), (30_000, 1), (1, 30_000), (3, 200)):
        image = load_photo(photo(tmp_path / "a.png", size, "L"))
        assert max(image.shape) <= 1600
        assert models.find(image, 0.0) == []
    for size, told in (
        ((30_000, 30_000), "too large"),
        ((10_000, 10_000), "too large .10000 x 10000 pixels."),
    ):
        Pictures.new("1", size).save(tmp_path / "bomb.png")
        for read in (load_photo, check_photo):
            with pytest.raises(CastError, match=rf"bomb\.png cannot be read: it is {told}.* Make it smaller"):
                read(tmp_path / "bomb.png")


@pytest.mark.parametrize("ending", ["jpg", "png", "webp", "gif", "tif", "bmp"])
def test_a_photo_that_was_cut_off_is_named_before_the_film_is_read(ending: str, tmp_path: Path) -> None:
    whole, cut = tmp_path / f"whole.{ending}", tmp_path / f"cut.{ending}"
    rng = np.random.default_rng(1)
    Pictures.fromarray(rng.integers(0, 255, (200, 300, 3), np.uint8)).save(whole)
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    check_photo(whole)
    with pytest.raises(CastError, match=rf"cut\.{ending} cannot be read"):
        check_photo(cut)


def test_what_is_no_whole_picture_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.jpg"
    path.write_text("not a picture")
    for read in (load_photo, check_photo):
        with pytest.raises(CastError, match=r"notes\.jpg cannot be read: it is no picture"):
            read(path)
    check_photo(photo(tmp_path / "good.png", size=(32, 32)))
    # Half a picture is named.
    rng = np.random.default_rng(1)
    Pictures.fromarray(rng.integers(0, 255, (64, 64, 3), np.uint8)).save(tmp_path / "whole.png")
    half = tmp_path / "half.png"
    half.write_bytes((tmp_path / "whole.png").read_bytes()[:4000])
    with pytest.raises(CastError, match=r"half\.png cannot be read"):
        load_photo(half)
    # A missing photo is named.
    with pytest.raises(CastError, match=r"gone\.jpg cannot be read"):
        photo_key(tmp_path / "gone.jpg")


FACE = Face(Box(0.2, 0.2, 0.8, 0.8), 0.0, 0.9, LANDMARKS, 0.0)


def unit(*values: float) -> Embedding:
    vector = np.array(values, np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def rows(*vectors: Embedding) -> Embedding:
    return np.stack(vectors)


class Colours(Looking):
    """A photo's colour is whose it is: red, green and blue are a direction; black, and a grey rim, have no face."""

    def find(self, image: Image, seconds: float) -> list[Face]:
        return [FACE] if image.any() and (image[0, 0] != 128).any() else []

    def read(self, image: Image, face: Face) -> Embedding:
        return unit(*image[image.shape[0] // 2, image.shape[1] // 2].astype(float))


class Studio:
    """Photos of plain colours in a folder, and members who have them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def member(self, name: str, *colours: tuple[int, int, int], nameless: bool = False) -> Member:
        photos = tuple(self.folder / f"{name}-{number}.png" for number in range(len(colours)))
        for path, colour in zip(photos, colours, strict=True):
            Pictures.new("RGB", (20, 20), colour).save(path)
        return Member(name.lower(), "" if nameless else name, photos=photos)


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    return Studio(tmp_path)


RED, GREEN, BLUE, BLACK = (200, 0, 0), (0, 200, 0), (0, 0, 200), (0, 0, 0)


def test_looks_from_the_film_help_but_the_photos_stay_decisive() -> None:
    photos = {"anna": rows(unit(1, 0, 0))}
    gallery = Gallery(photos).with_film({"anna": np.tile(unit(0, 1, 0), (500, 1))})
    near_both = rows(unit(1, 2, 0))
    assert gallery.likeness(near_both)["anna"] > Gallery(photos).likeness(near_both)["anna"] + 0.2
    assert gallery.likeness(rows(unit(0, 1, 0)))["anna"] < 0.5 < gallery.likeness(rows(unit(1, 0, 0)))["anna"]
    # A gallery refuses looks of nobody and empty ones.
    with pytest.raises(ValueError, match="no photo"):
        Gallery({"anna": rows(unit(1, 0, 0))}, film={"ben": rows(unit(0, 1, 0))})
    with pytest.raises(ValueError, match="'anna' must be float32"):
        Gallery({"anna": np.zeros((0, 3), np.float32)})


def test_the_first_of_the_cast_that_have_a_usable_photo(studio: Studio) -> None:
    black, extra = studio.member("Faceless", BLACK), studio.member("extra", GREEN, nameless=True)
    cast = Cast((black, extra, studio.member("Anna", RED), studio.member("Ben", BLUE)))
    gallery = read_gallery(cast, Colours(), ruled(CastSettings(), first=1))
    assert list(gallery.photos) == ["extra", "anna"]


def test_look_alikes_and_photos_of_others_are_named(studio: Studio) -> None:
    member = studio.member("Anna", RED, (190, 20, 0), GREEN)
    reading = read_gallery(Cast((member,)), Colours(), CastSettings())
    assert len(reading.warnings) == 1
    assert str(member.photos[2]) in reading.warnings[0]
    assert "Anna" in reading.warnings[0]
    cast = Cast((studio.member("Anna", RED), studio.member("Ben", GREEN), studio.member("Ann", (190, 60, 0))))
    (warning,) = read_gallery(cast, Colours(), CastSettings()).warnings
    assert "Anna" in warning
    assert "Ann " in warning
    assert "Ben" not in warning


SIZE = 16
AXES = {"anna": 0, "ben": 1, "celia": 2, "extra": 3}


class Borders:
    threshold, margin, same = 0.4, 0.1, 0.7


def like(own: int = 15, **likeness: float) -> Embedding:
    """A face of so much likeness to each of the cast; the rest of it is ``own``."""
    vector = np.zeros(SIZE, np.float32)
    for name, value in likeness.items():
        vector[AXES[name]] = value
    vector[own] = np.sqrt(max(1 - float(vector @ vector), 0.0))
    return vector


def track(
    *looks: Embedding, shot: int = 0, at: float = 0.0, left: float = 0.1, height: float = 0.3
) -> FaceTrack:
    box = Box(left, 0.1, left + 0.1, 0.1 + height)
    faces = tuple(Face(box, at + 0.25 * i, 0.9, LANDMARKS, 0.0) for i in range(len(looks)))
    return FaceTrack(shot, faces, np.stack(looks), tuple(range(len(looks))))


PHOTOS = {name: np.eye(SIZE, dtype=np.float32)[[number]] for name, number in AXES.items()}
GALLERY = Gallery(PHOTOS, nameless=frozenset({"extra"}))
NAMES = {"anna": "Anna", "ben": "Ben", "celia": "Celia"}
PLAIN = ruled(CastSettings(), from_film=False)


def judged(
    tracks: Sequence[FaceTrack], settings: CastSettings = PLAIN, gallery: Gallery = GALLERY
) -> list[Identification]:
    return identify(tracks, gallery, settings, Borders(), NAMES)


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
def test_faces_of_one_person(likeness, person, member, reason):
    (verdict,) = judged([track(like(**likeness))])
    assert (verdict.person, verdict.member, verdict.reason) == (person, member, reason)


def test_who_is_not_named() -> None:
    assert judged([track(like(anna=0.9), height=0.03)])[0].reason == "too small"
    near, far = track(like(anna=0.6), height=0.3), track(like(11, ben=0.9), height=0.03)
    both = FaceTrack(0, near.faces + far.faces, np.concatenate([near.embeddings, far.embeddings]), (0, 1))
    assert judged([both])[0].member == "anna"
    # Without photos nobody is named.
    assert judged([track(like(anna=0.6))], gallery=Gallery({})) == [
        Identification(reason="nobody has a photo")
    ]
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
