"""The name of a region's colour, where it is beyond doubt. Pure numpy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shotad.core import Colour, Image

_HUES: tuple[tuple[float, Colour], ...] = (
    (16, "red"),
    (42, "orange"),
    (68, "yellow"),
    (165, "green"),
    (255, "blue"),
    (290, "purple"),
    (335, "pink"),
    (360, "red"),
)
"""Upper ends of hue ranges, in degrees."""
_DARK = 46
_PALE = 190
_GREYNESS = 0.14
"""Saturation (0 to 1) below which a colour is none."""
_CLEAR = 0.42
"""Saturation from which a hue has a name."""


def hsv(image: Image) -> npt.NDArray[np.float32]:
    """``float32[n, 3]``: hue in degrees, saturation 0 to 1 and value 0 to 255 of each pixel."""
    pixels = image.reshape(-1, 3).astype(np.float32)
    high, low = pixels.max(axis=1), pixels.min(axis=1)
    spread = np.maximum(high - low, 1e-6)
    red, green, blue = pixels.T
    hue = np.select(
        [high == red, high == green],
        [(green - blue) / spread % 6, (blue - red) / spread + 2],
        (red - green) / spread + 4,
    )
    return np.stack([hue * 60, (high - low) / np.maximum(high, 1), high], axis=1).astype(np.float32)


def colour_of(image: Image, least: float = 0.6) -> Colour | None:
    """The colour that at least ``least`` of the pixels have; None where no single one has that many.

    Colours between two names (a pale orange, a dark red) have none: better silent than wrong.
    """
    if image.size == 0:
        return None
    hue, saturation, value = hsv(image).T
    shares: dict[Colour, float] = {
        "black": float(np.mean(value < _DARK)),
        "white": float(np.mean((value >= _PALE) & (saturation < _GREYNESS))),
        "grey": float(np.mean((value >= _DARK) & (value < _PALE) & (saturation < _GREYNESS))),
    }
    vivid = (value >= 70) & (saturation >= _CLEAR)
    low = 0.0
    for high, name in _HUES:
        share = float(np.mean(vivid & (hue >= low) & (hue < high)))
        shares[name] = shares.get(name, 0.0) + share
        low = high
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= least else None
