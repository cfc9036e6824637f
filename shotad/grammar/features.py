"""What film grammar works on: features, guesses of scale, the published models, and frames made ready for
these.

Frames are 4:3, small, ImageNet-normalised: centre crop to 4:3 (3:4 for upright film), then Pillow's bicubic
filter, which widens with the reduction and so antialiases. Threads look at 224 x 168 pixels, which DINOv2
cuts into 12 rows of 16 patches; shot scale looks at 448 x 336 (Shot-by-Shot's published code; the paper
says "224p").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow

from shotad.core import Image, ShotScale
from shotad.core.model_loading import NETWORK_HINT, HubModel
from shotad.film.sampling import Moment

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
    agreeing: bool
    """Whether matches must agree to count (`shotad.grammar.threads.Matching.agreeing`)."""

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


def merged(guesses: Sequence[ScaleGuess | None]) -> ScaleGuess | None:
    """The mean of guesses at frames of one shot; frames that tell nothing do not count, None if none does."""
    distributions = [guess.probabilities for guess in guesses if guess is not None]
    if not distributions:
        return None
    a, b, c, d, e = (sum(column) / len(distributions) for column in zip(*distributions, strict=True))
    return ScaleGuess((a, b, c, d, e))


class ScaleReader(Protocol):
    """Tells the scale of a shot by its middle frame, or by several."""

    identity: str
    """All that changes its answers: method, checkpoint, thresholds, precision."""
    moments: tuple[Moment, ...]
    """The frames of a shot whose guesses to merge (`merged`); the paper's is the middle one alone."""

    def of(self, images: Sequence[Image]) -> list[ScaleGuess | None]:
        """One guess for each image (RGB ``uint8[H, W, 3]``); None where it can tell nothing."""
        ...


PATCH = 14
"""Pixels along the side of a DINOv2 patch."""
THREAD_SIZE = (224, 168)
"""Longer and shorter side, in pixels, of what thread features look at."""
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
"""ImageNet's mean and standard deviation of R, G and B as fractions of 255."""


def is_upright(image: Image) -> bool:
    """True where the frame is no wider than high: a square one counts as upright."""
    _check(image)
    return bool(image.shape[1] <= image.shape[0])


def all_upright(images: Sequence[Image]) -> bool:
    """True where all are upright, False where none is.

    Raises ValueError for no images, for upright and broad ones together, and for what is no image.
    """
    if not len(images):
        raise ValueError("at least one image is needed, got none")
    ways = [is_upright(image) for image in images]
    if any(ways) and not all(ways):
        raise ValueError(
            f"images must be all upright or all broad, got {sum(ways)} upright among {len(images)}"
        )
    return ways[0]


def centre_crop(image: Image) -> Image:
    """The largest 4:3 part (3:4 where width <= height) around the middle, as a view.

    >>> centre_crop(np.zeros((720, 1280, 3), np.uint8)).shape
    (720, 960, 3)
    """
    _check(image)
    height, width = image.shape[:2]
    across, down = (3, 4) if is_upright(image) else (4, 3)
    wide = min(width, max(1, round(height * across / down)))
    high = min(height, max(1, round(width * down / across)))
    left, top = (width - wide) // 2, (height - high) // 2
    return image[top : top + high, left : left + wide]


def fitted(image: Image, long_side: int, short_side: int) -> Image:
    """The centre crop at ``long_side`` x ``short_side`` pixels: ``uint8[h, w, 3]``, a copy.

    Broad film becomes ``[short_side, long_side, 3]``, upright film ``[long_side, short_side, 3]``.
    """
    size = (short_side, long_side) if is_upright(image) else (long_side, short_side)
    cropped = Pillow.fromarray(np.ascontiguousarray(centre_crop(image)))
    return np.array(cropped.resize(size, Pillow.Resampling.BICUBIC))


def normalised(images: Sequence[Image]) -> npt.NDArray[np.float32]:
    """``float32[n, 3, H, W]`` from images of one size: 0..1, less ImageNet's mean, over its deviation.

    Raises ValueError for no images, and for images of several shapes (upright and broad together).
    """
    all_upright(images)
    shapes = {image.shape for image in images}
    if len(shapes) > 1:
        raise ValueError(f"images must have one shape, got {sorted(shapes)}")
    stack = np.stack(images).astype(np.float32) / np.float32(255)
    stack -= np.array(MEAN, np.float32)
    stack /= np.array(STD, np.float32)
    return np.ascontiguousarray(stack.transpose(0, 3, 1, 2))


def grid_of(
    image: Image, long_side: int = THREAD_SIZE[0], short_side: int = THREAD_SIZE[1]
) -> tuple[int, int]:
    """Rows and columns of patches for a frame fitted to these sides.

    >>> grid_of(np.zeros((720, 1280, 3), np.uint8)), grid_of(np.zeros((1280, 720, 3), np.uint8))
    ((12, 16), (16, 12))
    """
    few, many = short_side // PATCH, long_side // PATCH
    return (many, few) if is_upright(image) else (few, many)


def _check(image: Image) -> None:
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        raise ValueError(f"an image must be uint8[H, W, 3], got {image.dtype}{list(image.shape)}")


HINT = (
    f"{NETWORK_HINT}, give a folder that holds the model (--set threads.features=FOLDER), or use features "
    "without weights: --set threads.features=grid."
)


_SIZES = {"small": 88_226_304, "base": 346_321_920, "large": 1_217_474_560, "giant": 4_545_923_072}

MODELS: dict[str, HubModel] = {
    f"dinov2-{part}{ending}": HubModel(
        f"dinov2-{part}{ending}",
        f"facebook/dinov2-{'with-registers-' if ending else ''}{part}",
        size,
        "features for threads",
        "Apache-2.0",
        "Meta AI, DINOv2",
        hint=HINT,
    )
    for part, size in _SIZES.items()
    for ending in ("", "-registers")
}
"""``dinov2-small`` … ``dinov2-giant-registers``, by name. Bytes are those of float32."""
