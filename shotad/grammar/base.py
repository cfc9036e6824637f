"""What the parts of film grammar hand to each other: features of frames, guesses of scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from shotad.core import Image, ShotScale
from shotad.film import Moment

Array = Any
"""A float array of numpy or of torch; both are taken wherever this stands."""

RADIUS = 2
"""Patches by which a match may be displaced, down and across: a window of 5 x 5 (Shot-by-Shot, appendix)."""
TEMPERATURE = 0.1
"""Of the softmax over a window (Shot-by-Shot, appendix)."""


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Features of ``n`` frames of one shape.

    ``patches`` is float ``[n, rows * columns, D]``, row by row from the top left, each patch of length 1;
    ``whole`` is float ``[n, E]``, one vector of length 1 for the whole frame (the CLS token).
    """

    patches: Array
    whole: Array
    grid: tuple[int, int]
    """Rows and columns of patches: 12 and 16, or 16 and 12 for upright film."""

    def __post_init__(self) -> None:
        rows, columns = self.grid
        if self.patches.ndim != 3 or self.patches.shape[1] != rows * columns:
            raise ValueError(
                f"patches must be float[n, {rows * columns}, D] for a grid of {rows} x {columns}, "
                f"got shape {tuple(self.patches.shape)}"
            )
        if self.whole.ndim != 2 or self.whole.shape[0] != self.patches.shape[0]:
            raise ValueError(
                f"whole must be float[{self.patches.shape[0]}, E], got {tuple(self.whole.shape)}"
            )

    def __len__(self) -> int:
        return int(self.patches.shape[0])


class FeatureMaker(Protocol):
    """Turns frames into features."""

    identity: str
    """All that changes the features: backend, model, revision, precision."""
    threshold: float
    """Matching score above which two shots share a camera set-up, for these features."""

    def of(self, images: Sequence[Image]) -> Features:
        """Features of ``images`` (RGB ``uint8[H, W, 3]``, all upright or none), in order.

        Raises ValueError for no images, or for upright and broad ones together.
        """
        ...


@dataclass(frozen=True, slots=True)
class ScaleGuess:
    """How sure a frame is of each of the five scales; the five sum to 1."""

    probabilities: tuple[float, float, float, float, float]

    def __post_init__(self) -> None:
        if len(self.probabilities) != len(ShotScale) or abs(sum(self.probabilities) - 1) > 1e-3:
            raise ValueError(f"five probabilities must sum to 1, got {self.probabilities}")

    @property
    def scale(self) -> ShotScale:
        """The most probable scale; of equals the closer one."""
        return list(ShotScale)[max(range(5), key=lambda k: (self.probabilities[k], -k))]

    @property
    def expected(self) -> float:
        """The expected value, 0 extreme close-up to 4 long."""
        return sum(k * p for k, p in enumerate(self.probabilities))


def merged(guesses: Sequence[ScaleGuess | None]) -> ScaleGuess | None:
    """The mean of guesses at frames of one shot; frames that tell nothing do not count, None if none does."""
    known = [guess.probabilities for guess in guesses if guess is not None]
    if not known:
        return None
    a, b, c, d, e = (sum(column) / len(known) for column in zip(*known, strict=True))
    return ScaleGuess((a, b, c, d, e))


class ScaleReader(Protocol):
    """Tells the scale of a shot by its middle frame, or by several."""

    identity: str
    """All that changes its answers: method, checkpoint, thresholds, precision."""
    moments: tuple[Moment, ...]
    """The frames of a shot whose guesses are to be `merged`; the paper's is the middle one alone."""

    def of(self, images: Sequence[Image]) -> list[ScaleGuess | None]:
        """One guess for each image (RGB ``uint8[H, W, 3]``); None where it can tell nothing."""
        ...
