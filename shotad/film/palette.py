"""The colours of the pages that people look at, their templates, and pictures as files.

The colours are of the eight of Masataka Okabe and Kei Ito ("Color Universal Design", 2002; revised 2008),
which people with any kind of colour vision tell apart. Contrast is WCAG 2.2's ratio of relative
luminances. The colours of shares run from a light yellow to a dark blue, evenly in lightness, so that the
order stays in grey and for colour-blind people; chosen in Oklab (B. Ottosson, "A perceptual color space for
image processing", 2020). Frames become JPEG by Pillow, a matrix of shares a labelled PNG by matplotlib.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures

from shotad.core import Image
from shotad.core.files import replace_file

if TYPE_CHECKING:
    from jinja2 import Environment

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

BLACK: Colour = (0, 0, 0)
SKY_BLUE: Colour = (86, 180, 233)
BLUE: Colour = (0, 114, 178)
VERMILLION: Colour = (213, 94, 0)

PAPER: Colour = (255, 255, 255)
INK: Colour = (17, 17, 17)
FAINT: Colour = (89, 89, 89)
"""Ink for what matters less; 7:1 on paper."""


def ink_on(colour: Colour) -> Colour:
    """Black or white, whichever is read more easily on ``colour``."""
    return BLACK if contrast(BLACK, colour) >= contrast(PAPER, colour) else PAPER


def contrast(first: Colour, second: Colour) -> float:
    """WCAG's contrast ratio, 1 to 21."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def css_colour(colour: Colour) -> str:
    """``(230, 159, 0) → #e69f00``."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _luminance(colour: Colour) -> float:
    red, green, blue = (
        part / 12.92 if (part := value / 255) <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for value in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_RAMP = np.array(
    [tuple(bytes.fromhex(colour)) for colour in
     ["faf9da", "d3e1be", "aacaa9", "7fb29a", "559990", "2f8087", "12647c", "0d486c", "152c58"]], float
)  # fmt: skip
"""From low to high, evenly apart; what lies between two is mixed of them."""


def colour_of(share: float) -> Colour:
    """The colour of a share from 0 (low) to 1 (high); what lies beyond is taken as the end.

    Raises ValueError for what is no number.
    """
    if math.isnan(share):
        raise ValueError("nan has no place on a scale of colours")
    place = share * (len(_RAMP) - 1)
    red, green, blue = (round(float(np.interp(place, range(len(_RAMP)), channel))) for channel in _RAMP.T)
    return red, green, blue


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


def jpeg(image: Image, quality: int, **more: Any) -> bytes:
    """A frame as JPEG, ``quality`` 1 to 100; ``more`` is Pillow's."""
    file = io.BytesIO()
    Pictures.fromarray(image).save(file, "JPEG", quality=quality, **more)
    return file.getvalue()


def matrix_png(
    path: str | os.PathLike[str],
    values: npt.NDArray[Any],
    names: Sequence[str],
    *,
    title: str,
    row_title: str,
    column_title: str,
    cells: Sequence[Sequence[str]],
) -> None:
    """Write ``values`` (float ``[n, n]``, 0 to 1) with the names of rows and columns to a PNG file.

    ``cells`` are texts inside the cells, line breaks allowed. The title stands in the file as its title. The
    same arguments give the same bytes.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure

    values = np.asarray(values, dtype=np.float64)
    n = len(names)
    figure = Figure(figsize=(3 + 1.1 * n, 1.5 + 0.7 * n), layout="constrained")
    axes = figure.add_subplot()
    shown = np.array([[colour_of(float(value)) for value in row] for row in values], np.uint8)
    axes.imshow(shown, aspect="auto", interpolation="nearest")
    ramp = ScalarMappable(cmap=ListedColormap([css_colour(colour_of(k / 255)) for k in range(256)]))
    figure.colorbar(ramp, ax=axes, ticks=[0, 0.5, 1])
    axes.set_title(title, wrap=True)
    axes.set_xlabel(column_title)
    axes.set_ylabel(row_title)
    axes.set_xticks(range(n), [name.replace(" ", "\n") for name in names])
    axes.set_yticks(range(n), list(names))
    for (i, j), value in np.ndenumerate(values):
        ink = css_colour(ink_on(colour_of(float(value))))
        axes.text(j, i, cells[i][j], ha="center", va="center", color=ink, wrap=True)
    with replace_file(Path(path)) as part:
        figure.savefig(part, format="png", metadata={"Title": title})
