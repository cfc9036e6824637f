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
from itertools import product
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


_PICTURE = re.compile(
    r"curated/(?P<person>P\d+)/assets/(?P<kind>\w+)\.jpg$|avatars/png/(?P<avatar>\d+)\.png$"
    r"|ORL_faces/(?P<orl>s\d+)/(?P<number>\d+)\.pgm$"
)


def portraits(name: str, models: FaceModels | None = None) -> list[Portrait]:
    """The pictures of one set, in a fixed order. ``models`` find the faces on OpenPeople's sheets."""
    entries = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))["weights"]
    archive = weights.checked_file(weights.entry_of(name, entries[name]), NoProgress())
    single = [_portrait(found, data) for path, data in _members(archive) if (found := _PICTURE.search(path))]
    if name != "openpeople":
        return sorted(single, key=lambda p: (_natural(p.person), _natural(p.kind)))
    models = models or FaceModels(CastSettings())
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
