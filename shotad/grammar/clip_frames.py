"""Frames of clips that are decoded once and kept as JPEG: training reads each shot once an epoch.

Decoding a clip up to the frame that is wanted takes ten times as long as all else that is done to a picture
(benchmarks/training.py), and would be done again in each epoch.
"""

from __future__ import annotations

import io
import os
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image as Pictures

from shotad.core import Image
from shotad.core.errors import DatasetError, FilmError, ShotadError
from shotad.film import open_film
from shotad.grammar.features import fitted
from shotad.grammar.scale_data import ClipFile, ScaleItem, picture_length, unreadable

QUALITY = 95
"""Of the JPEGs, whose colour is kept in full: about 35 kB for 448 x 336 pixels."""


@dataclass(frozen=True, slots=True)
class ClipFrames:
    """``count`` frames of each clip, evenly apart, in ``folder``; an odd count has the middle one.

    They are fitted to ``long_side`` x ``short_side`` pixels. A frame is a file with the size and the time of
    its clip in its name, so that a clip that was replaced is decoded again.
    """

    folder: Path
    count: int
    long_side: int
    short_side: int

    def keep(self, item: ScaleItem) -> str | None:
        """Decode and keep the clip's frames, unless all are kept. What is wrong with the clip, or None.

        Raises ShotadError where frames cannot be kept.
        """
        assert isinstance(item.source, ClipFile)
        try:
            files = self._files(item, item.source.path)
            if not all(file.is_file() for file in files):
                self._write(files, self._decoded(item, item.source.path))
        except DatasetError as error:
            return error.what
        return None

    def read(self, item: ScaleItem, rng: random.Random | None) -> Image:
        """A fitted frame of the clip, RGB ``uint8[H, W, 3]``: the middle one, or one by ``rng``.

        Raises DatasetError for a clip that cannot be read, ShotadError where its frames cannot be kept.
        """
        assert isinstance(item.source, ClipFile)
        number = self.count // 2 if rng is None else rng.randrange(self.count)
        files = self._files(item, item.source.path)
        image = _kept_frame(files[number])
        if image is None:
            self._write(files, self._decoded(item, item.source.path))
            image = _kept_frame(files[number])
            if image is None:
                raise ShotadError(f"{files[number]} was written, and cannot be read.", "Check the disk.")
        return image

    def _files(self, item: ScaleItem, clip: Path) -> list[Path]:
        try:
            status = clip.stat()
        except OSError as error:
            raise unreadable(item, clip, f"{error.strerror or error}.") from None
        sides = f"{self.long_side}x{self.short_side}"
        stem = self.folder / sides / f"{item.key} {status.st_size:x} {status.st_mtime_ns:x}"
        return [stem.with_name(f"{stem.name} {k + 1}of{self.count}.jpg") for k in range(self.count)]

    def _decoded(self, item: ScaleItem, clip: Path) -> list[Image]:
        try:
            with open_film(clip) as film:
                length = picture_length(film.info)
                moments = [(k + 1) / (self.count + 1) * length for k in range(self.count)]
                images = [picture.image for picture in film.pictures(moments)]
        except FilmError as error:
            raise unreadable(item, clip, error.what) from None
        if len(images) < self.count:
            raise unreadable(item, clip, "It has no frames.")
        return [fitted(image, self.long_side, self.short_side) for image in images]

    def _write(self, files: list[Path], images: list[Image]) -> None:
        try:
            files[0].parent.mkdir(parents=True, exist_ok=True)
            for file, image in zip(files, images, strict=True):
                jpeg = io.BytesIO()
                Pictures.fromarray(image).save(jpeg, "JPEG", quality=QUALITY, subsampling=0)
                # Another process may be at the same clip: each writes its own file, and the last one stays.
                draft = file.with_suffix(f".{os.getpid()}")
                draft.write_bytes(jpeg.getvalue())
                draft.replace(file)
        except OSError as error:
            raise ShotadError(
                f"{files[0].parent} does not take the frames of clips: {error.strerror or error}.",
                "Name a folder with more space (--set data.cache=FOLDER), or decode clips each time "
                "(--set data.frames=0).",
            ) from None


def _kept_frame(file: Path) -> Image | None:
    """The picture in a file; None where there is none, or not a whole one, as after a power cut."""
    try:
        with Pictures.open(file) as opened:
            return np.array(opened, dtype=np.uint8)
    except (OSError, SyntaxError):
        return None
