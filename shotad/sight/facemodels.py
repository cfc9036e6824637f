"""The pair of models that finds faces and tells whose they are: which, with which borders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from shotad.config import CastSettings
from shotad.progress import NoProgress, Progress
from shotad.sight.faces import Embedding, Face, FaceFinder, FaceReader
from shotad.types import Image
from shotad.weights import weights, weights_file

RULES = 1
"""Counted up when the same faces are followed otherwise than before; part of every identity."""


@dataclass(frozen=True, slots=True)
class Following:
    """What holds a track of faces together, in the likenesses and scores of one pair of models."""

    near: float
    """Likeness from which a face at the same place a moment later is the same one."""
    far: float
    """The same at another place, or after a pause."""
    again: float
    """The same anywhere in the shot, however long nobody was seen."""
    believed: float
    """Score that the best look of a track must have."""
    alone: float
    """Score of a face that was seen at one moment only."""


class FaceModels(Protocol):
    """A detector and a recogniser that belong together."""

    identity: str
    """Names, revision and the settings that change what is found; part of the keys of records."""
    threshold: float
    """Likeness (cosine) from which a face is somebody's of the cast."""
    margin: float
    """How much less the second best must be alike."""
    join: float
    """Likeness above which two groups of faces are one person."""
    same: float
    """Likeness beyond doubt: such a face may stand for a photo."""
    following: Following

    def find(self, image: Image, seconds: float) -> list[Face]:
        """The faces in ``image``, ``uint8[H, W, 3]`` RGB, best first."""
        ...

    def read(self, image: Image, face: Face) -> Embedding:
        """The embedding of ``face``, which was found in ``image``: ``float32[d]`` of length 1."""
        ...


@dataclass(frozen=True, slots=True)
class Borders:
    """What the scores and likenesses of one pair of models mean."""

    detection: float
    threshold: float
    margin: float
    join: float
    same: float
    following: Following


BORDERS = {
    # Detection and following: looked at on Tears of Steel and Sintel; the mean of two looks (mirrored and
    # straight) parts faces from machines and shoulders, which reach 0.8 in one look. The others are first
    # values, to be replaced by measured ones.
    "sface": Borders(0.6, 0.40, 0.06, 0.45, 0.6, Following(0.25, 0.45, 0.6, 0.8, 0.85)),
}


class OpenFaces:
    """YuNet and SFace, free to use. Loaded, and fetched if need be, when the first picture comes."""

    def __init__(self, settings: CastSettings, progress: Progress) -> None:
        borders = BORDERS["sface"]
        self._detection, self.threshold, self.margin = _chosen(settings, borders)
        self.join, self.same, self.following = borders.join, borders.same, borders.following
        self.identity = _identity(("yunet", "sface"), self._detection)
        self._progress = progress
        self._finder: FaceFinder | None = None
        self._reader: FaceReader | None = None

    def find(self, image: Image, seconds: float) -> list[Face]:
        """As `FaceModels.find`."""
        if self._finder is None:
            path = weights_file("yunet", self._progress)
            self._finder = FaceFinder(path, min(_ONE_LOOK, self._detection))
        return [face for face in self._finder.find(image, seconds) if face.score >= self._detection]

    def read(self, image: Image, face: Face) -> Embedding:
        """As `FaceModels.read`."""
        if self._reader is None:
            self._reader = FaceReader(weights_file("sface", self._progress))
        return self._reader.read(image, face)


_ONE_LOOK = 0.4
"""Least score of one of YuNet's two looks, whose mean is what counts."""

_MODELS: dict[str, Callable[[CastSettings, Progress], FaceModels]] = {"sface": OpenFaces}


def make_face_models(settings: CastSettings, progress: Progress | None = None) -> FaceModels:
    """The models that ``settings.faces`` names, with the borders of the settings or their own.

    Nothing is fetched or loaded before the first picture; that can raise WeightsError.
    """
    return _MODELS[settings.faces](settings, progress or NoProgress())


def _chosen(settings: CastSettings, borders: Borders) -> tuple[float, float, float]:
    """Detection, threshold and margin: the user's, else the models' own."""
    return (
        borders.detection if settings.detection is None else settings.detection,
        borders.threshold if settings.threshold is None else settings.threshold,
        borders.margin if settings.margin is None else settings.margin,
    )


def _identity(names: tuple[str, ...], detection: float) -> str:
    """Threshold and margin are no part of it: they judge what was found, they do not change it."""
    files = (f"{name}:{weights(name).sha256[:12]}" for name in names)
    return " ".join([*files, f"detection={detection:g}", f"following={RULES}"])
