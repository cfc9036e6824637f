"""People to put into a film: heads and shoulders cut out of portraits, and grounds; for cast_film.py.

The portraits are those of ``openpeople`` (10 people, about 23 pictures each), ``fake-avatars`` (263, one
each) and ``orl-faces`` (40, ten each); portraits.yaml says where they come from and on which terms. They are
fetched at first use and kept in the cache of the weights. The photos that a cast is made of are other
pictures than those that are cut out here.
"""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt
import yaml
from PIL import Image as Pictures

from shotad.core import Image, NoProgress, weight_store as weights
from shotad.sight import FaceModels

MANIFEST = Path(__file__).with_name("portraits.yaml")
SHEETS = ("emotions_sheet", "character_sheet")
"""Pictures of OpenPeople with many faces of one person."""
BODIES = 0.5
"""Part of a character sheet's height, from the top, that has the heads."""
SPLIT = 0.53
"""Where a sheet of expressions is parted, between its second and third row."""
FIELD = 2.2
"""Side of the square that is cut out of a sheet round a face, in heights of the face."""
PHOTOS = ("studio_portrait", "amateur_selfie", "studio_posture")
"""Pictures of OpenPeople that a cast is made of, the first first; none of them is on the screen."""
FACE = 110
"""Height of the face in a cut-out, in pixels; enlarged no further than the picture allows."""
BODY = 9
"""Heights of the face that a painted body is high, so that none hangs in the air."""
GREY = 28.0
"""Distance in RGB from the ground of a studio picture beyond which something is the person."""
CHIN = 0.12
"""Heights of the face below the chin at which the picture ends and the painted body goes on."""
PROFILE = 0.35
"""Turn of the head from which a view is one from the side."""
REVISION = 6
Kind = Literal["member", "stranger", "grey"]


@dataclass(frozen=True)
class Portrait:
    """One picture of one person: ``kind`` says of OpenPeople's which."""

    person: str
    kind: str
    image: Image


_PICTURE = re.compile(
    r"curated/(?P<person>P\d+)/assets/(?P<kind>\w+)\.jpg$|avatars/png/(?P<avatar>\d+)\.png$"
    r"|ORL_faces/(?P<orl>s\d+)/(?P<number>\d+)\.pgm$"
)


def portraits(name: str, models: FaceModels) -> list[Portrait]:
    """The pictures of one set, in a fixed order. ``models`` find the faces on OpenPeople's sheets."""
    entries = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))["weights"]
    archive = weights.checked_file(weights.entry_of(name, entries[name]), NoProgress())
    single = [_portrait(found, data) for path, data in _members(archive) if (found := _PICTURE.search(path))]
    if name != "openpeople":
        return sorted(single, key=lambda p: (_natural(p.person), _natural(p.kind)))
    cut = [part for portrait in single for part in _cut(portrait, models)]
    return sorted(cut, key=lambda p: (p.person, p.kind))


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as pack:
            yield from ((path, pack.read(path)) for path in pack.namelist())
        return
    with tarfile.open(archive) as tar:
        yield from ((m.name, stream.read()) for m in tar if (stream := tar.extractfile(m)))


def _portrait(found: re.Match[str], data: bytes) -> Portrait:
    with Pictures.open(io.BytesIO(data)) as opened:
        image = np.asarray(opened.convert("RGB"), np.uint8)
    if found["avatar"]:
        return Portrait(f"avatar-{found['avatar']}", "portrait", image)
    if found["orl"]:
        return Portrait(f"orl-{found['orl']}", found["number"], image)
    return Portrait(found["person"], found["kind"], image)


def _cut(portrait: Portrait, models: FaceModels) -> Iterator[Portrait]:
    """The portrait itself, or the heads of a sheet one by one, left to right and from the top."""
    if portrait.kind not in SHEETS:
        yield portrait
        return
    image = portrait.image
    height, width = image.shape[:2]
    # Parts of a sheet in which the heads are large enough to be found well
    rows = [(0, round(height * BODIES))]
    if portrait.kind == "emotions_sheet":
        rows = [(0, round(height * SPLIT)), (round(height * SPLIT), height)]
    squares = []
    for (top, bottom), (left, right) in product(rows, ((0, width // 2), (width // 2, width))):
        for face in models.find(image[top:bottom, left:right], 0.0):
            x, y = face.box.centre
            half = round(face.box.height * (bottom - top) * FIELD / 2)
            squares.append((round(x * (right - left)) + left, round(y * (bottom - top)) + top, half))
    squares.sort(key=lambda s: (round(s[1] / height * 6), s[0]))
    for number, (x, y, half) in enumerate(squares):
        part = image[max(y - half, 0) : y + half, max(x - half, 0) : x + half]
        yield Portrait(portrait.person, f"{portrait.kind.split('_')[0]}-{number:02d}", part.copy())


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]


@dataclass(frozen=True, eq=False)
class View:
    """A cut-out: ``uint8[h, w, 4]``, RGB and alpha, where the face is, in its pixels, and its turn."""

    name: str
    image: npt.NDArray[np.uint8]
    box: tuple[float, float, float, float]
    yaw: float = 0.0

    @property
    def face(self) -> float:
        """Height of the face in pixels."""
        return self.box[3] - self.box[1]


@dataclass(frozen=True, eq=False)
class Actor:
    """One person: ``views`` are seen from the front, ``sides`` from the side; ``places`` are whole pictures
    in which they stand."""

    name: str
    kind: Kind
    views: tuple[View, ...]
    sides: tuple[View, ...] = ()
    places: tuple[View, ...] = ()


@dataclass(frozen=True, eq=False)
class Company:
    """Everybody, and photographic grounds without people, ``uint8[h, w, 3]``; ``photos`` are the pictures of
    members by name and kind."""

    actors: tuple[Actor, ...]
    grounds: tuple[Image, ...]
    photos: dict[tuple[str, str], Image]

    def of(self, kind: Kind) -> list[Actor]:
        """Those of a kind, in order."""
        return [actor for actor in self.actors if actor.kind == kind]


def company(models: FaceModels) -> Company:
    """The people of all three sets; to cut them out takes a minute or two."""
    pictures = portraits("openpeople", models)
    actors = [_member(own, models) for own in _by_person(pictures)]
    actors += [a for p in portraits("fake-avatars", models) if (a := _single([p], "stranger", models))]
    grey = _by_person(portraits("orl-faces", models))
    actors += [a for own in grey if (a := _single(own[:4], "grey", models))]
    grounds = [g for p in pictures if p.kind == "amateur_posture" for g in _grounds(p.image, models)]
    photos = {(p.person, p.kind): p.image for p in pictures if p.kind in PHOTOS}
    return Company(tuple(actors), tuple(grounds), photos)


def _by_person(pictures: Sequence[Portrait]) -> list[list[Portrait]]:
    return [list(group) for _, group in groupby(pictures, key=lambda p: p.person)]


def _member(own: Sequence[Portrait], models: FaceModels) -> Actor:
    views = [v for p in own if p.kind.startswith("emotions") and (v := _keyed(p, models))]
    sides = [v for p in own if p.kind.startswith("character") and (v := _keyed(p, models, from_side=True))]
    places = [v for p in own if p.kind == "amateur_posture" and (v := _found(p, models))]
    return Actor(own[0].person, "member", tuple(views), tuple(sides), tuple(places))


def _single(own: Sequence[Portrait], kind: Kind, models: FaceModels) -> Actor | None:
    """Somebody whose pictures have no plain ground."""
    views = [_carved(view) for p in own if (view := _found(p, models))]
    return Actor(own[0].person, kind, tuple(views)) if views else None


def _found(portrait: Portrait, models: FaceModels) -> View | None:
    """The picture with its largest face, opaque, at the size of cut-outs; on a grey rim where the face fills
    it."""
    image, faces = portrait.image, models.find(portrait.image, 0.0)
    if not faces:
        down, across = round(image.shape[0] / 2), round(image.shape[1] / 2)
        image = np.pad(image, ((down, down), (across, across), (0, 0)), constant_values=96)
        faces = models.find(image, 0.0)
    if not faces:
        return None
    face = max(faces, key=lambda f: f.box.area)
    height, width = image.shape[:2]
    box = np.array([face.box.left, face.box.top, face.box.right, face.box.bottom])
    box *= (width, height, width, height)
    scale = min(FACE / (box[3] - box[1]), 1.0)
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    alpha = np.full((*small.shape[:2], 1), 255, np.uint8)
    return View(portrait.kind, np.concatenate([small, alpha], axis=2), (*(box * scale).tolist(),), face.yaw)


def _keyed(portrait: Portrait, models: FaceModels, *, from_side: bool = False) -> View | None:
    """Somebody before a plain grey ground, cut out by its colour."""
    view = _found(portrait, models)
    if view is None or from_side != (abs(view.yaw) > PROFILE):
        return None
    rgb = view.image[..., :3].astype(np.float32)
    plain = (np.ptp(rgb, axis=2) < 20) & (rgb.mean(axis=2) > 70) & (rgb.mean(axis=2) < 200)
    # A sheet has two greys, within and without the white frames round its pictures.
    greys = np.quantile(rgb[plain], [0.2, 0.5, 0.8], axis=0)
    away = np.min([np.linalg.norm(rgb - grey, axis=2) for grey in greys], axis=0)
    # Where the picture is, without the white frame round it and the words beyond
    white = view.image[..., :3].min(axis=2) > 215
    left, top, right, bottom = (int(v) for v in view.box)
    inside = np.ones(white.shape, bool)
    above = np.flatnonzero(white[: max(top - 2, 0)].mean(axis=1) > 0.5)
    sides = white[top:bottom].mean(axis=0) > 0.6
    before, after = np.flatnonzero(sides[: max(left - 5, 0)]), np.flatnonzero(sides[right + 5 :])
    inside[: int(above[-1]) + 3 if len(above) else 0] = False
    inside[:, : int(before[-1]) + 3 if len(before) else 0] = False
    inside[:, (right + 3 + int(after[0])) if len(after) else white.shape[1] :] = False
    solid = ((away > GREY) & inside).astype(np.uint8)
    return _cut_out(view, cv2.morphologyEx(solid, cv2.MORPH_OPEN, np.ones((6, 6), np.uint8)))


def _carved(view: View) -> View:
    """Somebody before any ground, cut out by GrabCut from a guess at head and shoulders."""
    rgb = np.ascontiguousarray(view.image[..., :3])
    left, top, right, bottom = view.box
    centre, face = (left + right) / 2, bottom - top
    mask = np.full(rgb.shape[:2], cv2.GC_BGD, np.uint8)
    head = ((centre, top + face * 0.42), (face * 1.25, face * 1.75), 0.0)
    cv2.ellipse(mask, head, cv2.GC_PR_FGD, -1)
    rim, neck, arm = len(mask) + 1, face * 0.45, face * 1.1
    above = [(centre - neck, bottom), (centre + neck, bottom)]
    shoulders = np.array([*above, (centre + arm, rim), (centre - arm, rim)])
    cv2.fillPoly(mask, [shoulders.astype(np.int32)], cv2.GC_PR_FGD)
    cv2.ellipse(mask, ((centre, (top + bottom) / 2), (face * 0.62, face * 0.9), 0.0), cv2.GC_FGD, -1)
    cv2.setRNGSeed(1)
    cv2.grabCut(rgb, mask, (0, 0, 1, 1), np.zeros((1, 65)), np.zeros((1, 65)), 3, cv2.GC_INIT_WITH_MASK)
    return _cut_out(view, ((mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)).astype(np.uint8))


def _cut_out(view: View, solid: npt.NDArray[np.uint8]) -> View:
    """The part of ``solid`` with the face, with a soft rim."""
    left, top, right, bottom = view.box
    centre, middle = (left + right) / 2, int((top + bottom) / 2)
    end = min(int(bottom + view.face * CHIN), len(solid))
    _, labels = cv2.connectedComponents(solid[:end])
    own = (labels == labels[middle, int(centre)]).astype(np.uint8)
    contours, _ = cv2.findContours(own, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = cv2.drawContours(np.zeros_like(own), contours, -1, 255, -1)
    alpha = _soft(cv2.erode(filled, np.ones((3, 3), np.uint8)))
    return View(view.name, np.dstack([view.image[:end, :, :3], alpha]), view.box)


def dressed(view: View, person: str) -> View:
    """A cut-out head on a neck and a body, in the same plain clothes whenever somebody comes."""
    side, above = int(view.face * 1.3), int(view.face * 0.3)
    room = np.pad(view.image, ((above, int(view.face * BODY)), (side, side), (0, 0)))
    left, top, right, bottom = view.box
    box = (left + side, top + above, right + side, bottom + above)
    centre, chin, face = (box[0] + box[2]) / 2, box[3], box[3] - box[1]
    rows = slice(int(box[1] + face * 0.4), int(chin))
    cheeks = room[rows, int(centre - face * 0.2) : int(centre + face * 0.2), :3]
    height, width = room.shape[:2]
    body, neck = np.zeros((height, width), np.uint8), np.zeros((height, width), np.uint8)
    cv2.ellipse(body, ((centre, chin + face * 0.9), (face * 2.6, face * 1.4), 0.0), 255, -1)
    shoulder = (int(centre - face * 1.3), int(chin + face * 0.9))
    cv2.rectangle(body, shoulder, (int(centre + face * 1.3), height), 255, -1)
    cv2.ellipse(neck, ((centre, chin), (face * 0.55, face * 0.9), 0.0), 255, -1)
    rng = np.random.default_rng(zlib.crc32(person.encode()))
    shade = np.clip(1 - 0.35 * np.abs(np.arange(width) - centre) / face, 0.5, 1)
    cloth = rng.uniform(30, 220, 3) * shade[None, :, None] + rng.normal(0, 4, (height, width, 1))
    skin = np.median(cheeks, axis=(0, 1)) * 0.85
    painted, cover = np.zeros((height, width, 3)), np.zeros((height, width, 1))
    for colour, mask in ((cloth, body), (skin, neck), (room[..., :3], room[..., 3])):
        part = _soft(mask)[..., None] / 255
        painted, cover = painted * (1 - part) + colour * part, cover + part - cover * part
    return View(view.name, np.dstack([np.clip(painted, 0, 255), cover * 255]).astype(np.uint8), box)


def _soft(mask: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """A mask with a soft rim."""
    return np.asarray(cv2.GaussianBlur(mask, (0, 0), 1.2), np.uint8)


def _grounds(image: Image, models: FaceModels) -> Iterator[Image]:
    """Parts of a picture beside the person who stands in its middle."""
    height, width = image.shape[:2]
    across = int(width * 0.3)
    down = across * 9 // 16
    for left, top in product((0, width - across), (int(height * 0.05), int(height * 0.3))):
        part = image[top : top + down, left : left + across]
        if not models.find(np.asarray(cv2.resize(part, (640, 360)), np.uint8), 0.0):
            yield part.copy()
