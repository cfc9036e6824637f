"""The overview: ``overview.html``, a film's shots, threads, scales, speech, slots and lines on one page.

The film is read once, in order of time; of each frame only its small picture is kept.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
from PIL import Image

from shotad.core import (
    Clip,
    Config,
    NoProgress,
    OverlaySettings,
    Progress,
    in_room,
    reported,
    spanned,
    write_bytes,
)
from shotad.description.overview_data import Look, Piece, SheetShot, read_subject, shown_seconds
from shotad.description.overview_page import Embedded, overview, photo
from shotad.film import Picture, Pictures, fit, paint, vlm_size

PAGE = "overview.html"

PIXELS = 20_000
"""Of a frame on the page: 189 x 106 for 16:9."""


@in_room("sheet")
def write_sheet(folder: Path, pictures: Pictures, config: Config, progress: Progress | None = None) -> Path:
    """Write ``overview.html`` from the records in ``folder`` and return its path.

    ``pictures`` must give the frames as the engines saw them. The same records and pictures give the same
    bytes. Raises WorkFolderError where there are no shots to show or the file cannot be written, ScriptError
    for a track that is damaged.
    """
    subject = read_subject(folder)
    shots: dict[float, list[SheetShot]] = defaultdict(list)
    for shot in subject.shots:
        shots[shot.middle].append(shot)
    looks: dict[float, list[tuple[str, Look, Piece]]] = defaultdict(list)
    for line in subject.lines:
        if line.look is None:
            continue
        shown = shown_seconds(line.look)
        for piece in line.look.pieces:
            for second in shown[piece.number]:
                looks[second].append((line.id, line.look, piece))
    strip: dict[int, Embedded] = {}
    frames: dict[str, dict[tuple[int, float], Embedded]] = {line.id: {} for line in subject.lines}
    moments = sorted({*shots, *looks})
    with reported(progress or NoProgress(), "Drawing the sheet", len(moments), "frames") as task:
        for picture in spanned("frames", pictures(moments)):
            for shot in shots.get(picture.wanted, ()):
                strip[shot.index] = photo(thumbnail(Image.fromarray(picture.image)))
            for name, look, piece in looks.get(picture.wanted, ()):
                seen = thumbnail(as_seen(picture, piece, look, config))
                frames[name][piece.number, picture.wanted] = photo(seen)
            task.advance()
    write_bytes(folder / PAGE, overview(subject, strip, frames))
    return folder / PAGE


def as_seen(picture: Picture, piece: Piece, look: Look, config: Config) -> Image.Image:
    """The frame as the engine got it: at its size and with the marks of its run, or raw."""
    if look.overlay is None:
        return Image.fromarray(picture.image)
    height, width = picture.image.shape[:2]
    size = look.size or vlm_size(width, height, config.frames)
    one = Clip(
        fit(picture.image[np.newaxis], size), np.array([picture.seconds]), np.array([piece.number], np.int64)
    )
    painted = paint(one, OverlaySettings(label=look.overlay), current=look.current)
    return Image.fromarray(painted.images[0])


def thumbnail(image: Image.Image, pixels: int = PIXELS) -> Image.Image:
    """``image`` shrunk to about ``pixels`` in all, in its own shape; never enlarged."""
    scale = min(1.0, (pixels / (image.width * image.height)) ** 0.5)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS)
