"""Reading film with decord: the optional second reader, under the same contract.

decord (0.6, unmaintained since 2022) decodes; what the container says, the start time and the tracks
still come from PyAV. It turns pictures upright by itself, but knows neither HDR nor fields, seeks
wrongly (so it is made to decode through), cannot open what states no length, and hangs on MPEG-TS: what
it cannot do is refused here. Its pictures may differ by a level or two.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from shotad.core import FilmError, Image, UsageError
from shotad.film.container import Media, find_media, probe
from shotad.film.reader import TOLERANCE, FilmReader, Frame


def open_decord(source: str | os.PathLike[str] | BinaryIO) -> DecordFilm:
    """Open a film file. Raises FilmError, and UsageError where decord is not installed."""
    try:
        import decord
    except ImportError:
        raise UsageError(
            "The reader decord is not installed.", "Install shotad[decord], or use the reader pyav."
        ) from None
    return DecordFilm(find_media(source), decord)


class DecordFilm(FilmReader):
    """A film through decord; keeps the contract of `shotad.film.reader.Film`."""

    def __init__(self, media: Media, decord: Any) -> None:
        self.media = self._media = media
        self._probed = probe(media)
        self.info = self._probed.info
        if self._probed.container == "mpegts":
            raise FilmError(f"decord hangs on MPEG-TS such as {media.name}.", "Use the reader pyav.")
        if self._probed.light != "sdr" or self._probed.info.interlaced:
            raise FilmError(f"decord cannot read HDR or interlaced film such as {media.name}.", "Use pyav.")
        self._decord = decord
        self._times = self._all_times()

    def _open(self, width: int = -1, height: int = -1) -> Any:
        source = str(self._media.path) if self._media.path else self._media.file
        if self._media.file is not None:
            self._media.file.seek(0)
        try:
            return self._decord.VideoReader(source, width=width, height=height, num_threads=1)
        except self._decord.DECORDError as error:
            text = str(error).strip().splitlines()
            raise FilmError(
                f"decord cannot read {self.info.name}: {text[-1] if text else error}", "Use pyav."
            ) from None

    def _all_times(self) -> npt.NDArray[np.float64]:
        """``float64[n, 2]``: when each frame comes up and goes, seconds from time zero."""
        reader = self._open()
        times = np.asarray(reader.get_frame_timestamp(np.arange(len(reader))), np.float64)
        if len(times) == 0:
            raise FilmError(f"No frame of {self.info.name} can be decoded.", "The file is damaged.")
        # decord counts from the picture's own start, whatever the container's is.
        shifted: npt.NDArray[np.float64] = times - times[0, 0] + self._probed.first_second
        return shifted

    def frames(self) -> Iterator[Frame]:
        """The whole film, see `Film.frames`; `Frame.raw` is None."""
        reader = self._open()
        for index in range(len(self._times)):
            image = reader[index].asnumpy()
            yield Frame(float(self._times[index, 0]), index, None, partial(self._fit, image))
        self.end = float(self._times[-1, 1])

    def _frames_at(self, moments: list[float]) -> Iterator[Frame]:
        places = np.searchsorted(self._times[:, 0], np.array(moments) + TOLERANCE, "right") - 1
        places = np.maximum(places, 0)
        reader, at = self._open(), -1
        for index, place in enumerate(int(place) for place in places):
            while at < place:
                # Never by a seek: decord's give wrong frames where groups of pictures are open.
                image, at = reader.next(), at + 1
            frame = image.asnumpy()
            yield Frame(float(self._times[place, 0]), index, None, partial(self._fit, frame))

    def _fit(self, image: Image, size: tuple[int, int] | None) -> Image:
        import cv2

        width, height = size or (self.info.width, self.info.height)
        if image.shape[:2] == (height, width):
            return image
        method = cv2.INTER_AREA if width < image.shape[1] else cv2.INTER_CUBIC
        return cast(Image, cv2.resize(image, (width, height), interpolation=method))
