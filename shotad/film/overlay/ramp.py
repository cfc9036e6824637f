"""A scale of colours for figures.

From a light yellow (low) to a dark blue (high), evenly in lightness, so that the order stays in grey and for
colour-blind people. Built in Oklab (B. Ottosson, "A perceptual color space for image processing", 2020).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from shotad.film.overlay.palette import Colour

LIGHTNESS = (0.975, 0.30)
"""At the low and at the high end, of Oklab's 0 to 1."""

HUES = (105.0, 262.0)
"""Degrees: from yellow over green to blue."""

CHROMA = (0.04, 0.085)
"""As much as sRGB holds all along the way, so that nothing is clipped."""

_LAB_FROM_CONES = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_CONES_FROM_RGB = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)


def colour_of(share: float) -> Colour:
    """The colour of a share from 0 (low) to 1 (high); what lies beyond is taken as the end.

    Raises ValueError for what is no number.
    """
    if math.isnan(share):
        raise ValueError("nan has no place on a scale of colours")
    red, green, blue = _ramp()[round(min(1.0, max(0.0, share)) * 255)].tolist()
    return red, green, blue


@lru_cache(maxsize=1)
def _ramp() -> npt.NDArray[np.uint8]:
    """``uint8[256, 3]``, low to high."""
    at = np.linspace(0, 1, 256)
    lightness = LIGHTNESS[0] + (LIGHTNESS[1] - LIGHTNESS[0]) * at
    hue = np.radians(HUES[0] + (HUES[1] - HUES[0]) * at)
    chroma = CHROMA[0] + (CHROMA[1] - CHROMA[0]) * np.sin(np.pi / 2 * at)
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=-1)
    cones = (lab @ np.linalg.inv(_LAB_FROM_CONES).T) ** 3
    linear = np.clip(cones @ np.linalg.inv(_CONES_FROM_RGB).T, 0, 1)
    coded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    ramp: npt.NDArray[np.uint8] = np.rint(255 * coded).astype(np.uint8)
    ramp.flags.writeable = False
    return ramp
