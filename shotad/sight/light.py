"""How light pictures are: level, fades and flashes of one shot. Pure numpy, no model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from shotad.core import Box, Image

Level = Literal["black", "dark", "middling", "bright", "white"]
Change = Literal["fade-out", "fade-in", "flash"]

_LEVELS: tuple[tuple[float, Level], ...] = ((8, "black"), (50, "dark"), (150, "middling"), (235, "bright"))
"""Mean luma (0 to 255) below which a picture counts as such; from there on it is white."""
_FADED = 8.0
"""Mean luma of a picture that has faded away."""
_SEEN = 13.0
"""Mean luma that a picture must have had to be one that fades."""
_FLASH = 30.0
"""Luma levels by which a flash outshines the frames before and after."""
_SUDDEN = 0.4
"""Seconds in which a flash rises, at most."""
_FLASH_SECONDS = 1.0
"""Seconds after which it has gone."""


def luma(image: Image) -> npt.NDArray[np.float32]:
    """``float32[H, W]``, 0 to 255, by the weights of Rec. 601."""
    weights = np.array([0.299, 0.587, 0.114], np.float32)
    return np.asarray(image.astype(np.float32) @ weights, np.float32)


def mean_luma(image: Image) -> float:
    """Mean luma of every second pixel, 0 to 255."""
    return float(luma(image[::2, ::2]).mean())


def active_area(images: npt.NDArray[np.uint8], black: int = 28) -> Box:
    """The part of the frames ``uint8[n, H, W, 3]`` that is not a black bar in all of them.

    The whole picture where less than a tenth or more than half of it would be cut off, and where the
    frames are too dark to tell.
    """
    brightest = images[:, ::2, ::2].max(axis=(0, 3))
    rows, columns = (np.flatnonzero(np.percentile(brightest, 98, axis=axis) > black) for axis in (1, 0))
    if len(rows) == 0 or len(columns) == 0:
        return Box(0, 0, 1, 1)
    height, width = brightest.shape
    box = Box(
        float(columns[0] / width),
        float(rows[0] / height),
        float((columns[-1] + 1) / width),
        float((rows[-1] + 1) / height),
    )
    balanced = abs(box.top - (1 - box.bottom)) < 0.05 and abs(box.left - (1 - box.right)) < 0.05
    return box if balanced and 0.5 <= box.area <= 0.97 else Box(0, 0, 1, 1)


def level_of(lumas: Sequence[float]) -> Level:
    """The level of a shot: that of the median of its frames' mean lumas."""
    middle = float(np.median(lumas))
    return next((name for limit, name in _LEVELS if middle < limit), "white")


def change_of(lumas: Sequence[float], seconds: Sequence[float]) -> Change | None:
    """What the light of one shot does: it fades out or in, or flashes, or None.

    ``lumas`` are the mean lumas of its frames (0 to 255), ``seconds`` their times, ascending.
    """
    values = np.asarray(lumas, float)
    if len(values) < 3 or values.max() < _SEEN:
        return None
    if _flash(values, np.asarray(seconds, float)) is not None:
        return "flash"
    peak = int(values.argmax())
    if values[-1] < _FADED and values[-1] < values.max() / 4 and _falls(values[peak:]):
        return "fade-out"
    if values[0] < _FADED and values[0] < values.max() / 4 and _falls(values[: peak + 1][::-1]):
        return "fade-in"
    return None


def since_of(change: Change | None, lumas: Sequence[float], seconds: Sequence[float]) -> float:
    """The second from which a change that `change_of` found is to be seen: the picture half gone, the
    first of it come, the flash risen. Without a change that of the first frame."""
    values = np.asarray(lumas, float)
    peak = int(values.argmax())
    if change == "flash":
        return float(seconds[_flash(values, np.asarray(seconds, float)) or 0])
    if change == "fade-out":
        return float(seconds[peak + int(np.argmax(values[peak:] < values[peak] / 2))])
    if change == "fade-in":
        return float(seconds[int(np.argmax(values >= _FADED))])
    return float(seconds[0])


def _falls(values: npt.NDArray[np.float64]) -> bool:
    """True where the values fall step by step, with at least one in between: no cut to black."""
    between = np.count_nonzero((values > values[-1] + 3) & (values < values[0] - 3))
    return bool(np.all(np.diff(values) < 2.0)) and int(between) >= 1


def _flash(values: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]) -> int | None:
    """The first frame of a sudden rise that has all but gone a moment later: what is brighter for longer is
    no flash."""
    for i in range(1, len(values) - 1):
        before = values[:i][seconds[:i] >= seconds[i] - _SUDDEN]
        after = values[i + 1 :][seconds[i + 1 :] <= seconds[i] + _FLASH_SECONDS]
        if not len(before) or not len(after):
            continue
        rise = values[i] - before.min()
        if rise > _FLASH and values[i] - after.min() > 0.7 * rise:
            return i
    return None
