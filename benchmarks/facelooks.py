"""Portraits as a film would show them: small, turned, soft, dark and compressed; and read as such.

Used by faces.py. A track is one person in one quality, seen a few times; its looks differ in place, turn and
noise, and where there are several pictures of the person, in expression too.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures
from portraits import Portrait

from shotad.core import Image
from shotad.sight import Face, FaceModels

FRAME = (640, 360)
"""Width and height of the made frames."""
HEIGHTS = (20, 30, 45, 70, 120)
"""Heights of faces, in pixels."""
LOOKS = 4


@dataclass(frozen=True)
class Quality:
    """What becomes of a picture: ``height`` of the face in pixels, ``gain`` of its light, ``blur`` in pixels
    (sigma), ``jpeg`` quality from 1 to 95."""

    height: int
    gain: float
    blur: float
    jpeg: int


@dataclass(frozen=True, eq=False)
class Looks:
    """One track: the embeddings ``float32[k, d]``, k from 0, of the looks in which a face was found."""

    person: str
    kinds: tuple[str, ...]
    height: int
    embeddings: npt.NDArray[np.float32]


def seed_of(*parts: object) -> int:
    """A seed that is the same on every machine."""
    return zlib.crc32(repr(parts).encode())


def quality(height: int, rng: np.random.Generator) -> Quality:
    """One out of those in which faces of this height are seen: every third shot dark, most a little soft."""
    gain = float(rng.uniform(0.25, 0.5) if rng.random() < 1 / 3 else rng.uniform(0.7, 1.1))
    return Quality(height, gain, float(rng.uniform(0.0, 0.02) * height), int(rng.integers(30, 85)))


def made(image: Image, face: Face, wanted: Quality, rng: np.random.Generator) -> Image:
    """A frame with the face of a portrait in it, somewhere, in the wanted quality."""
    scale = wanted.height / (face.box.height * image.shape[0])
    if scale < 1:
        size = (max(round(image.shape[1] * scale), 1), max(round(image.shape[0] * scale), 1))
        image, scale = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8), 1.0
    height, width = image.shape[:2]
    centre = np.array([face.box.centre[0] * width, face.box.centre[1] * height])
    matrix = _placed(centre, scale, wanted.height, rng)
    frame = cv2.warpPerspective(image, matrix, FRAME, borderValue=(96, 96, 96)).astype(np.float32)
    if wanted.blur > 0.2:
        frame = cv2.GaussianBlur(frame, (0, 0), wanted.blur)
    frame = 255 * (np.clip(frame / 255, 0, 1) ** (1 / max(wanted.gain, 0.5))) * min(wanted.gain * 1.5, 1)
    frame += rng.normal(0, 3, frame.shape)
    return _compressed(np.clip(frame, 0, 255).astype(np.uint8), wanted.jpeg)


def _placed(
    centre: npt.NDArray[np.float64], scale: float, height: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Homography that puts ``centre`` somewhere in the frame, tilted up to 15 degrees and turned a little."""
    tilt, turn = np.deg2rad(rng.uniform(-15, 15)), rng.uniform(-0.25, 0.25) / (height / scale)
    cos, sin = scale * np.cos(tilt), scale * np.sin(tilt)
    rim = np.minimum(np.array(FRAME) / 2, height * 0.9)
    target = rng.uniform(rim, np.array(FRAME) - rim)
    away = np.array([[1, 0, -centre[0]], [0, 1, -centre[1]], [0, 0, 1]])
    turned = np.array([[1, 0, 0], [0, 1, 0], [turn, 0, 1]])
    back = np.array([[cos, -sin, target[0]], [sin, cos, target[1]], [0, 0, 1]])
    homography: npt.NDArray[np.float64] = back @ turned @ away
    return homography


def _compressed(frame: Image, jpeg: int) -> Image:
    kept = io.BytesIO()
    Pictures.fromarray(frame).save(kept, "JPEG", quality=jpeg)
    with Pictures.open(kept) as opened:
        return np.asarray(opened.convert("RGB"), np.uint8)


def main_face(image: Image, models: FaceModels) -> tuple[Image, Face] | None:
    """The largest face of a picture, on a grey rim where it fills it: the picture used, and the face."""
    for rim in (0.0, 0.5):
        down, across = round(image.shape[0] * rim), round(image.shape[1] * rim)
        padded = np.pad(image, ((down, down), (across, across), (0, 0)), constant_values=96)
        faces = models.find(padded, 0.0)
        if faces:
            return padded, max(faces, key=lambda f: f.box.area)
    return None


def read_tracks(
    pictures: Sequence[Portrait], models: FaceModels, heights: Iterable[int] = HEIGHTS
) -> Iterator[Looks]:
    """The tracks of one person: the pictures in groups of `LOOKS`, each group at each height."""
    usable = [(p.kind, found) for p in pictures if (found := main_face(p.image, models)) is not None]
    for first in range(0, max(len(usable) - LOOKS + 1, min(len(usable), 1)), LOOKS):
        group = usable[first : first + LOOKS]
        for height in heights:
            rng = np.random.default_rng(seed_of(pictures[0].person, first, height))
            wanted = quality(height, rng)
            rows = []
            for look in range(LOOKS):
                _, (image, face) = group[look % len(group)]
                frame = made(image, face, wanted, rng)
                seen = models.find(frame, 0.0)
                rows += [models.read(frame, max(seen, key=lambda f: f.box.area))] if seen else []
            stack = np.stack(rows) if rows else np.zeros((0, 128), np.float32)
            yield Looks(pictures[0].person, tuple(kind for kind, _ in group), height, stack)


def clean(pictures: Sequence[Portrait], models: FaceModels) -> dict[str, npt.NDArray[np.float32]]:
    """The embedding of each picture as it is, ``float32[d]``, by kind."""
    found = {p.kind: main_face(p.image, models) for p in pictures}
    return {kind: models.read(*got) for kind, got in found.items() if got is not None}
