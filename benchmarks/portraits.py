"""Pictures of faces with their people, for the measurements of recognition.

The sets are ``openpeople`` (10 people, about 23 pictures each), ``fake-avatars`` (263, one each) and
``orl-faces`` (40, ten each); portraits.yaml says where they come from and on which terms. They are fetched at
first use and kept in the cache of the weights.
"""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import yaml
from PIL import Image as Pictures

from shotad.core import CastSettings, Image, NoProgress, weight_store as weights
from shotad.sight import FaceModels

MANIFEST = Path(__file__).with_suffix(".yaml")
SHEETS = ("emotions_sheet", "character_sheet")
"""Pictures of OpenPeople with many faces of one person."""
BODIES = 0.5
"""Part of a character sheet's height, from the top, that has the heads."""
SPLIT = 0.53
"""Where a sheet of expressions is parted, between its second and third row."""
FIELD = 2.2
"""Side of the square that is cut out of a sheet round a face, in heights of the face."""


@dataclass(frozen=True)
class Portrait:
    """One picture of one person: ``kind`` says of OpenPeople's which."""

    person: str
    kind: str
    image: Image


def portraits(name: str, models: FaceModels | None = None) -> list[Portrait]:
    """The pictures of one set, in a fixed order. ``models`` find the faces on OpenPeople's sheets."""
    single = [_portrait(path, data) for path, data in _members(_archive(name))]
    if name != "openpeople":
        return sorted(single, key=lambda p: (_natural(p.person), _natural(p.kind)))
    models = models or FaceModels(CastSettings())
    cut = [part for portrait in single for part in _cut(portrait, models)]
    return sorted(cut, key=lambda p: (p.person, p.kind))


@cache
def _archive(name: str) -> Path:
    entries = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))["weights"]
    return weights.checked_file(weights.entry_of(name, entries[name]), NoProgress())


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as pack:
            for path in pack.namelist():
                if _PICTURE.search(path):
                    yield path, pack.read(path)
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            stream = tar.extractfile(member) if _PICTURE.search(member.name) else None
            if stream is not None:
                yield member.name, stream.read()


_PICTURE = re.compile(
    r"curated/(?P<person>P\d+)/assets/(?P<kind>\w+)\.jpg$|avatars/png/(?P<avatar>\d+)\.png$"
    r"|ORL_faces/(?P<orl>s\d+)/(?P<number>\d+)\.pgm$"
)


def _portrait(path: str, data: bytes) -> Portrait:
    found = _PICTURE.search(path)
    assert found is not None
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
    boxes = sorted(
        (box for tile in _tiles(portrait) for box in _faces(portrait.image, tile, models)),
        key=lambda b: (round(b[1] / len(portrait.image) * 6), b[0]),
    )
    for number, (x, y, half) in enumerate(boxes):
        left, top = max(x - half, 0), max(y - half, 0)
        part = portrait.image[top : y + half, left : x + half]
        yield Portrait(portrait.person, f"{portrait.kind.split('_')[0]}-{number:02d}", part.copy())


def _tiles(portrait: Portrait) -> list[tuple[slice, slice]]:
    """Parts of a sheet in which the heads are large enough to be found well: rows and columns."""
    height, width = portrait.image.shape[:2]
    half, middle = slice(0, width // 2), slice(width // 2, width)
    if portrait.kind == "character_sheet":
        return [(slice(0, round(height * BODIES)), part) for part in (half, middle)]
    row = round(height * SPLIT)
    return [(rows, part) for rows in (slice(0, row), slice(row, height)) for part in (half, middle)]


def _faces(image: Image, tile: tuple[slice, slice], models: FaceModels) -> Iterator[tuple[int, int, int]]:
    """Middle and half the side of the square round each face of a tile, in pixels of the whole picture."""
    part = image[tile]
    height, width = part.shape[:2]
    for face in models.find(part, 0.0):
        x, y = face.box.centre
        half = round(face.box.height * height * FIELD / 2)
        yield round(x * width) + tile[1].start, round(y * height) + tile[0].start, half


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]
