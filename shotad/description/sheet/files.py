"""Pictures and pages on disk: whole or not at all, and none left over from before."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from shotad.core import write_bytes
from shotad.description.sheet.marks import thumbnail_size
from shotad.film import BLACK, FAINT, INK, PAPER, RED, RULE, THREAD_COLOURS, WASH

EXACT = (PAPER, INK, FAINT, RULE, WASH, BLACK, RED, *THREAD_COLOURS)
"""Colours that have a meaning, or are seen in large areas."""

_SAMPLE = 50_000
"""Pixels that the other colours are chosen by."""

_OURS = ("filmstrip*.png", "timeline*.png", "line-*.png", "matrix-*.png", ".tmp-*")
"""Names in a sheet's folder that are this program's, and that it may delete."""


class SheetFiles:
    """The folder of a sheet's pictures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.written: list[Path] = []

    def save(self, name: str, picture: Image.Image, *, photos: bool = False) -> None:
        """Write ``NAME.png``. The same picture gives the same bytes. Raises WorkFolderError.

        With ``photos`` it gets a palette, which makes a picture full of frames half to a third as large
        and hardly another to the eye.
        """
        out = io.BytesIO()
        (few_colours(picture) if photos else picture).save(out, "PNG", compress_level=6)
        path = self._folder / f"{name}.png"
        write_bytes(path, [out.getvalue()])
        self.written.append(path)

    def sweep(self) -> None:
        """Delete pictures of an earlier sheet that were not written again; other files stay."""
        for pattern in _OURS:
            for path in self._folder.glob(pattern):
                if path not in self.written:
                    path.unlink(missing_ok=True)


def page_name(name: str, number: int, pages: int) -> str:
    """Name of page ``number`` (from 1) of ``pages``: ``timeline`` of one, else ``timeline-01``."""
    return name if pages == 1 else f"{name}-{number:0{max(2, len(str(pages)))}d}"


def few_colours(picture: Image.Image) -> Image.Image:
    """``picture`` in 256 colours: those of the lettering and the signs exactly, the frames dithered."""
    sample = picture.resize(thumbnail_size(picture.size, _SAMPLE), Image.Resampling.NEAREST)
    common = sample.quantize(256 - len(EXACT), Image.Quantize.MEDIANCUT).getpalette() or []
    colours = [*common, *[0] * (3 * (256 - len(EXACT)) - len(common)), *(part for c in EXACT for part in c)]
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours)
    indices = np.array(picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG))
    packed = np.asarray(picture).astype(np.uint32) @ np.array([65536, 256, 1], np.uint32)
    for number, (red, green, blue) in enumerate(EXACT, 256 - len(EXACT)):
        indices[packed == red * 65536 + green * 256 + blue] = number
    few = Image.fromarray(indices)
    few.putpalette(colours)
    return few
