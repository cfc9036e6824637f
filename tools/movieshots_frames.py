"""Takes key frames out of a data set's clips once, so that training reads pictures: many times faster.

    python tools/movieshots_frames.py MOVIESHOTS OUT --frames 3 --height 448

Writes ``OUT/trailer/tt0078841/shot_0012_img_0.jpg`` to ``_2`` (of an odd number the one in the middle is the
clip's middle frame) and the annotation files beside them; ``OUT`` is then what ``shotad train scale --data``
is given. Pictures that are there already are left, so a run that was broken off goes on. Clips that cannot
be read are counted and named; they are what the share ``data.missing`` of the training then allows for.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from PIL import Image
from tqdm import tqdm

from shotad.core import ShotadError
from shotad.film import open_film
from shotad.grammar.scale_data import ClipFile, ScaleItem, picture_length, read_items


@dataclass(frozen=True)
class Wish:
    """What is taken out of each clip."""

    out: Path
    frames: int
    height: int
    quality: int


def shares(count: int) -> list[float]:
    """Where in a clip the frames lie, as parts of its length: 3 → 1/4, 1/2, 3/4."""
    return [(k + 1) / (count + 1) for k in range(count)]


def take(item: ScaleItem, wish: Wish) -> str | None:
    """Write one shot's frames; what is wrong with it, or None."""
    film, shot = item.key.split("/")[-2:]
    folder = wish.out / Path(item.key).parent
    paths = [folder / f"shot_{shot}_img_{k}.jpg" for k in range(wish.frames)]
    if all(path.is_file() for path in paths):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    assert isinstance(item.source, ClipFile)
    try:
        with open_film(item.source.path) as clip:
            length = picture_length(clip.info)
            moments = [share * length for share in shares(wish.frames)]
            pictures = [picture.image for picture in clip.pictures(moments, height=wish.height)]
    except ShotadError as error:
        return f"{film}/{shot}: {error.what}"
    if len(pictures) < wish.frames:
        return f"{film}/{shot}: it has no frames."
    for path, picture in zip(paths, pictures, strict=True):
        draft = path.with_suffix(".part")
        Image.fromarray(picture).save(draft, "JPEG", quality=wish.quality)
        os.replace(draft, path)
    return None


def copy_annotations(source: Path, out: Path) -> None:
    for path in [*source.glob("*.json"), *source.glob("*/*.json")]:
        target = out / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--frames", type=int, default=3, help="per shot; an odd number has the middle one")
    parser.add_argument("--height", type=int, default=448, help="lines, at most")
    parser.add_argument("--quality", type=int, default=92, help="of the JPEGs")
    parser.add_argument("--missing", type=float, default=1.0, help="share of shots that may have no clip")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    given = parser.parse_args(arguments)
    if given.frames < 1 or given.height < 16 or given.jobs < 1:
        parser.error("--frames and --jobs are at least 1, --height at least 16")
    if given.out.resolve() == given.data.resolve():
        parser.error("OUT must be another folder than DATA")
    try:
        data = read_items(given.data, missing=given.missing)
    except ShotadError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    clips = [item for item in data.items if isinstance(item.source, ClipFile)]
    print(data.layout, *data.notes, f"{len(clips)} shots are clips.", sep="\n")
    given.out.mkdir(parents=True, exist_ok=True)
    work = partial(take, wish=Wish(given.out, given.frames, given.height, given.quality))
    if given.jobs == 1:
        results = [work(item) for item in tqdm(clips, unit="shot")]
    else:
        with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
            results = list(tqdm(pool.map(work, clips, chunksize=8), total=len(clips), unit="shot"))
    broken = [result for result in results if result]
    copy_annotations(given.data, given.out)
    print(
        f"{len(clips) - len(broken)} shots written, {len(broken)} could not be read.", *broken[:20], sep="\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
