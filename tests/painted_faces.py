"""Films of painted heads (squares of one colour each), and models that find them and tell them apart.

So that what is done with faces can be tested without weights, and with the truth known.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np
import numpy.typing as npt
import pytest
import yaml
from PIL import Image as Pictures

from shotad.core import Box
from shotad.core.settings import manifest_path
from shotad.core.weight_store import cache_folder
from shotad.sight import Face
from shotad.sight.faces import FACE_MODEL_PAIRS, TrackingRules

Image = npt.NDArray[np.uint8]

SIZE = (320, 180)
RATE = 12
HEADS: Mapping[str, tuple[int, int, int]] = {
    "ann": (220, 30, 30), "bo": (30, 200, 40), "cy": (40, 60, 220), "stranger": (220, 210, 30),
}  # fmt: skip
"""Who there is, and the colour of the head."""

GROUNDS = ((90, 90, 90), (150, 150, 150), (40, 40, 40), (190, 190, 190))


@dataclass(frozen=True)
class Head:
    """Somebody in a shot: whose head, its centre at the shot's start and end, its side; fractions."""

    who: str
    start: tuple[float, float] = (0.5, 0.5)
    end: tuple[float, float] = (0.5, 0.5)
    side: float = 0.3


@dataclass(frozen=True)
class Take:
    """One shot: how long it is, and who is in it."""

    seconds: float
    heads: tuple[Head, ...] = ()


def paint_film(path: Path, takes: Sequence[Take]) -> Path:
    """A silent film of these shots, each on a ground of its own, at 24 frames a second."""
    import av

    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", RATE)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        stream.options = {"crf": "12", "preset": "ultrafast"}
        stream.time_base = stream.codec_context.time_base = Fraction(1, RATE)
        number = 0
        for place, take in enumerate(takes):
            for i in range(count := round(take.seconds * RATE)):
                frame = av.VideoFrame.from_ndarray(_picture(place, take, i / max(count - 1, 1)), "rgb24")
                frame.pts, number = number, number + 1
                container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def photo(path: Path, who: str) -> Path:
    """A photo of somebody."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Pictures.fromarray(_picture(0, Take(1, (Head(who, side=0.5),)), 0)).save(path)
    return path


class PaintedFaces:
    """Finds painted heads; each is alike to itself alone. Counts the pictures that it was shown."""

    threshold, margin, join, same = 0.5, 0.1, 0.6, 0.8
    tracking = TrackingRules(0.2, 0.45, 0.6, 0.5, 0.5)

    def __init__(self) -> None:
        self.identity = "painted/1"
        self.shown = 0

    def find(self, image: Image, seconds: float) -> list[Face]:
        self.shown += 1
        height, width = image.shape[:2]
        found = []
        for colour in HEADS.values():
            low, high = (np.clip([c + by for c in colour], 0, 255).astype(np.uint8) for by in (-44, 44))
            rows, columns = np.nonzero(cv2.inRange(image, low, high))
            if len(rows) < 0.004 * height * width:
                continue
            box = Box(
                columns.min() / width,
                rows.min() / height,
                (columns.max() + 1) / width,
                (rows.max() + 1) / height,
            )
            x, y, w, h = *box.centre, box.width / 4, box.height / 4
            points = ((x - w, y - h), (x + w, y - h), (x, y), (x - w, y + h), (x + w, y + h))
            found.append(Face(box, seconds, 0.95, points, 0.0))
        return sorted(found, key=lambda face: face.box.left)

    def read(self, image: Image, face: Face) -> npt.NDArray[np.float32]:
        height, width = image.shape[:2]
        x, y = face.box.centre
        pixel = image[int(y * height), int(x * width)].astype(float)
        unlike = [float(np.linalg.norm(pixel - np.array(colour))) for colour in HEADS.values()]
        vector = np.zeros(8, np.float32)
        vector[int(np.argmin(unlike))] = 1.0
        return vector


_WEIGHTS = ("painted-finder", "painted-reader")


@cache
def _weights_folder() -> Path:
    """A folder with the program's manifest of weights and the painted models in it, and with a cache that has
    what the user's has."""
    folder = Path(tempfile.mkdtemp(prefix="painted-faces-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "weights").mkdir()
    if cache_folder().is_dir():
        for kept in cache_folder().iterdir():
            if kept.is_dir():
                (folder / "weights" / kept.name).symlink_to(kept)
    tree: dict[str, Any] = yaml.safe_load(manifest_path().read_text(encoding="utf-8"))
    for name in _WEIGHTS:
        digest = hashlib.sha256(name.encode()).hexdigest()
        tree["weights"][name] = {
            "role": "faces", "file": name, "sha256": digest, "bytes": len(name), "memory_mb": 1,
            "licence": "MIT", "credit": "made by a test", "sources": [],
        }  # fmt: skip
        file = folder / "weights" / digest[:16] / name
        file.parent.mkdir()
        file.write_bytes(name.encode())
    (folder / "models").mkdir()
    (folder / "models" / "manifest.yaml").write_text(json.dumps(tree), encoding="utf-8")
    return folder


def look_for_painted_faces(monkeypatch: pytest.MonkeyPatch) -> PaintedFaces:
    """The usual face models are those for painted faces."""
    models: Any = PaintedFaces()
    folder = _weights_folder()
    monkeypatch.setenv("SHOTAD_DATA", str(folder))
    monkeypatch.setenv("SHOTAD_CACHE", str(folder))
    pair = replace(
        FACE_MODEL_PAIRS["sface"], weights=_WEIGHTS, finder=lambda path, score: models, reader=lambda path: models,
        detection=0.5, threshold=models.threshold, margin=models.margin, join=models.join, same=models.same,
        tracking=models.tracking,
    )  # fmt: skip
    monkeypatch.setitem(FACE_MODEL_PAIRS, "sface", pair)
    return cast("PaintedFaces", models)


def _picture(place: int, take: Take, at: float) -> Image:
    width, height = SIZE
    image = np.empty((height, width, 3), np.uint8)
    image[:] = GROUNDS[place % len(GROUNDS)]
    rows = np.arange(height)[:, None] // 12 + np.arange(width)[None, :] // 12
    image[(rows + place) % 7 == 0] //= 2
    for head in take.heads:
        x, y = (a + (b - a) * at for a, b in zip(head.start, head.end, strict=True))
        half = head.side * height / 2
        top, left = (max(0, round(c - half)) for c in (y * height, x * width))
        image[top : round(y * height + half), left : round(x * width + half)] = HEADS[head.who]
    return image
