"""A made MovieShots in the published layout: the same folders, names, annotation files and columns.

    python benchmarks/fake_movieshots.py FOLDER [--films 200] [--size 640x360] [--frames 60]

A clip is a picture of one shot scale over which the camera drifts, with grain, as H.264 of the usual settings
(CABAC, B-frames, one key frame at the start). Frames, size and bit rate decide what reading costs; 60 frames
are 2.5 s, a usual shot of a trailer. A folder that holds the annotation is taken as finished.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import av
import numpy as np
from common import command_line
from tqdm import tqdm

from shotad.core import Image, ShotScale
from tests.scale_pictures import film_id, scale_of, scale_picture, write_annotations

SHOTS_PER_FILM = 10
ANNOTATION = "v1_split_trailer.json"
DRIFT = 0.1
"""How far the camera drifts in a shot, as a share of the width."""
GRAIN = 4.0
"""Standard deviation of the grain, of 255."""


@dataclass(frozen=True)
class ClipForm:
    """Size in pixels, and how many frames, of each clip."""

    width: int
    height: int
    frames: int


def make_movieshots(folder: Path, films: int, form: ClipForm, jobs: int) -> None:
    """Write the clips of ``films`` films and, when all are there, the annotations."""
    if (folder / ANNOTATION).is_file():
        return
    clips = films * SHOTS_PER_FILM
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        written = pool.map(partial(write_clip, folder, form), range(clips), chunksize=8)
        for _ in tqdm(written, total=clips, unit="clip", desc="Making clips"):
            pass
    write_annotations(folder, films, SHOTS_PER_FILM)


def write_clip(folder: Path, form: ClipForm, number: int) -> None:
    """Write clip ``number``, unless it is there."""
    film, shot = divmod(number, SHOTS_PER_FILM)
    path = folder / "trailer" / film_id(film) / f"shot_{shot:04d}.mp4"
    if path.is_file():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    with av.open(str(draft), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=24, options={"crf": "23", "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = form.width, form.height, "yuv420p"
        stream.codec_context.thread_count = 1
        for frame in drifting_frames(scale_of(film, shot), number, form):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, "rgb24")))
        container.mux(stream.encode(None))
    os.replace(draft, path)


def drifting_frames(scale: ShotScale, number: int, form: ClipForm) -> list[Image]:
    """The frames of one clip, ``uint8[H, W, 3]``."""
    # The picture is a little wider than the frame, and even.
    wide = round(form.width * (1 + DRIFT) / 2) * 2
    picture = scale_picture(scale, f"clip {number}", (wide, form.height)).astype(np.float32)
    chance = np.random.default_rng(number)
    # A few patterns of grain in turn: drawing new grain for each frame would take longer than encoding it.
    grains = chance.normal(0, GRAIN, (5, form.height, form.width, 1)).astype(np.float32)
    frames = []
    for index in range(form.frames):
        left = round((wide - form.width) * index / max(form.frames - 1, 1))
        view = picture[:, left : left + form.width] + grains[index % len(grains)]
        frames.append(np.clip(view, 0, 255).astype(np.uint8))
    return frames


def clip_form(size: str, frames: int) -> ClipForm:
    """A form from words such as ``640x360``. Raises argparse's error for others."""
    try:
        width, height = map(int, size.split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"a size is WIDTHxHEIGHT, got {size!r}") from None
    return ClipForm(width, height, frames)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--films", type=int, default=200, help="of ten clips each (200)")
    parser.add_argument("--size", default="640x360", help="pixels (640x360)")
    parser.add_argument("--frames", type=int, default=60, help="of each clip (60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    make_movieshots(
        arguments.folder, arguments.films, clip_form(arguments.size, arguments.frames), arguments.jobs
    )


if __name__ == "__main__":
    main()
