"""The pair of models that finds faces and tells whose they are: which, with which borders."""

from __future__ import annotations

from typing import Protocol

from shotad.sight.faces import Embedding, Face
from shotad.types import Image


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

    def find(self, image: Image, seconds: float) -> list[Face]:
        """The faces in ``image``, ``uint8[H, W, 3]`` RGB, best first."""
        ...

    def read(self, image: Image, face: Face) -> Embedding:
        """The embedding of ``face``, which was found in ``image``: ``float32[d]`` of length 1."""
        ...
