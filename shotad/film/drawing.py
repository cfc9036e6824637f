"""Pictures as files: a frame as JPEG by Pillow, a matrix of shares as a labelled PNG by matplotlib."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures

from shotad.core import Image, replacing
from shotad.film.palette import colour_of, css, ink_on


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
    ramp = ScalarMappable(cmap=ListedColormap([css(colour_of(k / 255)) for k in range(256)]))
    figure.colorbar(ramp, ax=axes, ticks=[0, 0.5, 1])
    axes.set_title(title, wrap=True)
    axes.set_xlabel(column_title)
    axes.set_ylabel(row_title)
    axes.set_xticks(range(n), [name.replace(" ", "\n") for name in names])
    axes.set_yticks(range(n), list(names))
    for (i, j), value in np.ndenumerate(values):
        ink = css(ink_on(colour_of(float(value))))
        axes.text(j, i, cells[i][j], ha="center", va="center", color=ink, wrap=True)
    with replacing(Path(path)) as part:
        figure.savefig(part, format="png", metadata={"Title": title})
