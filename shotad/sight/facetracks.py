"""Faces followed through a shot, with the embeddings of their best looks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.sight.facemodels import FaceModels
from shotad.sight.faces import Face
from shotad.types import Box, Image


@dataclass(frozen=True, slots=True, eq=False)
class FaceTrack:
    """One face through one shot.

    ``faces`` are what was seen, oldest first (their ``seconds`` are those of the pictures); ``embeddings`` is
    ``float32[k, d]``, rows of length 1, read from ``faces[i]`` for ``i`` in ``read``, the best looks first.
    """

    shot: int
    faces: tuple[Face, ...]
    embeddings: npt.NDArray[np.float32]
    read: tuple[int, ...]

    @property
    def first(self) -> float:
        """Second of the first look."""
        return self.faces[0].seconds

    @property
    def last(self) -> float:
        """Second of the last look."""
        return self.faces[-1].seconds

    def box_at(self, seconds: float) -> Box | None:
        """Where the face is at a moment: seen, or between two looks that are close; None elsewhere."""
        raise NotImplementedError


def tracks_of_shot(
    pictures: Iterable[tuple[float, Image]], shot: int, models: FaceModels
) -> tuple[FaceTrack, ...]:
    """The faces of one shot's pictures, given as (second, image) oldest first; the first to appear first.

    Pictures are looked at one by one and let go.
    """
    raise NotImplementedError
