"""The colours of the pages that people look at, and how their templates are filled in.

The eight colours are those of Masataka Okabe and Kei Ito ("Color Universal Design", 2002; revised 2008),
which people with any kind of colour vision tell apart. Contrast is WCAG 2.2's ratio of relative
luminances. The colours of shares run from a light yellow to a dark blue, evenly in lightness, so that the
order stays in grey and for colour-blind people; built in Oklab (B. Ottosson, "A perceptual color space for
image processing", 2020)."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shotad.core import thread_number

if TYPE_CHECKING:
    from jinja2 import Environment

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

BLACK: Colour = (0, 0, 0)
ORANGE: Colour = (230, 159, 0)
SKY_BLUE: Colour = (86, 180, 233)
BLUISH_GREEN: Colour = (0, 158, 115)
YELLOW: Colour = (240, 228, 66)
BLUE: Colour = (0, 114, 178)
VERMILLION: Colour = (213, 94, 0)
REDDISH_PURPLE: Colour = (204, 121, 167)

PAPER: Colour = (255, 255, 255)
INK: Colour = (17, 17, 17)
FAINT: Colour = (89, 89, 89)
"""Ink for what matters less; 7:1 on paper."""

THREAD_COLOURS = (ORANGE, SKY_BLUE, BLUISH_GREEN, VERMILLION, BLUE, REDDISH_PURPLE, YELLOW)
"""Neighbours differ in lightness too. Thread H has the colour of A again; its letter is another."""


def thread_colour(letters: str) -> Colour:
    """Colour of the thread with these letters; they come round again after seven."""
    return THREAD_COLOURS[thread_number(letters) % len(THREAD_COLOURS)]


def ink_on(colour: Colour) -> Colour:
    """Black or white, whichever is read more easily on ``colour``."""
    return BLACK if contrast(BLACK, colour) >= contrast(PAPER, colour) else PAPER


def contrast(one: Colour, other: Colour) -> float:
    """WCAG's contrast ratio, 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def css(colour: Colour) -> str:
    """``(230, 159, 0) → #e69f00``."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _luminance(colour: Colour) -> float:
    red, green, blue = (
        part / 12.92 if (part := value / 255) <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for value in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


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


def page_environment(templates: Path, **filters: Any) -> Environment:
    """Templates of a folder as HTML: all text is escaped, and a name that nobody gave is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(filters)
    return environment
