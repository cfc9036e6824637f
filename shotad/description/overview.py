"""The overview: ``overview.html``, a film's lines, shots, threads, scales, speech and slots on one page.

The film is read once, in order of time. Its small pictures, the middle of each shot and one frame of each
line, are files in the folder ``overview`` beside the page, or stand in the page itself.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import numpy as np
from PIL import Image

from shotad.core import (
    Clip,
    Config,
    NoProgress,
    OverlaySettings,
    Progress,
    reported,
    span,
    spanned,
    write_bytes,
)
from shotad.description.overview_data import Piece, SheetShot, SlotView, lead_frame, read_subject
from shotad.description.overview_page import Photo, embedded, overview, webp
from shotad.film import Picture, Pictures, fit, paint, vlm_size

PAGE, PICTURES = "overview.html", "overview"

PIXELS = 20_000
"""Of a frame on the page: 189 x 106 for 16:9."""


@span("sheet")
def write_sheet(
    folder: Path,
    pictures: Pictures,
    config: Config,
    progress: Progress | None = None,
    *,
    single_file: bool = False,
) -> Path:
    """Write ``overview.html`` from the records in ``folder`` and return its path.

    ``pictures`` must give the frames as the engines saw them. The same records and pictures give the same
    bytes. ``single_file``: the pictures stand in the page, and their files go. Raises WorkFolderError where
    there are no shots to show or a file cannot be written, ScriptError for a track that is damaged.
    """
    subject = read_subject(folder)
    shots: dict[float, list[SheetShot]] = defaultdict(list)
    for shot in subject.shots:
        shots[shot.middle].append(shot)
    leads: dict[float, list[tuple[int, SlotView, Piece]]] = defaultdict(list)
    for number, line in enumerate(subject.lines):
        if line.look is not None and line.look.pieces:
            piece, second = lead_frame(line.look)
            leads[second].append((number, line.look, piece))
    written: set[Path] = set()

    def kept(name: str, image: Image.Image) -> Photo:
        small = thumbnail(image)
        if single_file:
            return embedded(small)
        written.add(folder / PICTURES / name)
        write_bytes(folder / PICTURES / name, [webp(small)])
        return Photo(f"{PICTURES}/{name}", *small.size)

    strip: dict[int, Photo] = {}
    frames: dict[str, Photo] = {}
    moments = sorted({*shots, *leads})
    with reported(progress or NoProgress(), "Drawing the overview", len(moments), "frames") as task:
        for picture in spanned("frames", pictures(moments)):
            for shot in shots.get(picture.wanted, ()):
                strip[shot.index] = kept(f"shot-{shot.index:05}.webp", Image.fromarray(picture.image))
            for number, look, piece in leads.get(picture.wanted, ()):
                seen = as_seen(picture, piece, look, config)
                frames[subject.lines[number].id] = kept(f"line-{number:05}.webp", seen)
            task.advance()
    write_bytes(folder / PAGE, overview(subject, strip, frames))
    for old in {*(folder / PICTURES).glob("*.webp")} - written:
        old.unlink()
    if single_file:
        with suppress(OSError):  # it was never made, or holds what is not ours
            (folder / PICTURES).rmdir()
    return folder / PAGE


def as_seen(picture: Picture, piece: Piece, look: SlotView, config: Config) -> Image.Image:
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


def thumbnail(image: Image.Image) -> Image.Image:
    """``image`` shrunk to about `PIXELS` in all, in its own shape; never enlarged."""
    scale = min(1.0, (PIXELS / (image.width * image.height)) ** 0.5)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
