"""Reading film with decord: the optional second reader, under the same contract.

PyAV reads the container, decord 0.6 decodes it all: its seeks give wrong frames in open groups of pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core.errors import FilmError, UsageError
from shotad.core.installation import install_command
from shotad.film.container import find_media, probe, timeline_of
from shotad.film.reader import TOLERANCE, Film, Frame, picture_holes


class DecordFilm(Film):
    """A film through decord; raises FilmError, and UsageError where decord is not installed."""

    def __init__(self, path: Path) -> None:
        try:
            import decord
        except ImportError:
            raise UsageError(
                "The reader decord is not installed.", f"{install_command('shotad[decord]')}."
            ) from None
        self.media = self._file = find_media(path)
        self._decord, probed = decord, probe(self._file)
        self.info = probed.info
        if probed.container == "mpegts" or probed.light != "sdr" or self.info.interlaced:
            raise FilmError("decord cannot read MPEG-TS, HDR or interlaced film.", "Use the reader pyav.")
        with self._file.open() as container:
            if timeline_of(container) is not None:
                raise FilmError("decord cannot read a film whose clock jumps.", "Use the reader pyav.")
        reader = self._open()
        times = np.asarray(reader.get_frame_timestamp(np.arange(len(reader))), np.float64)
        if len(times) == 0:
            raise FilmError(f"No frame of {self.info.name} can be decoded.", "The file is damaged.")
        # decord counts from the picture's own start, whatever the container's is.
        self._times = times - times[0, 0] + probed.first_second

    def _open(self) -> Any:
        self._file.check_same()
        try:
            return self._decord.VideoReader(str(self._file.path), num_threads=1)
        except self._decord.DECORDError as error:
            why = str(error).strip().rpartition("\n")[2]
            raise FilmError(f"decord cannot read {self.info.name}: {why}", "Use the reader pyav.") from None

    def frames(self) -> Iterator[Frame]:
        """The whole film, see `Film.frames`; `Frame.raw` is None."""
        yield from self._frames_at(self._times[:, 0].tolist())
        self.end = float(self._times[-1, 1])
        self.holes = picture_holes(self._times[:, 0].tolist())

    def _frames_at(self, moments: Iterable[float]) -> Iterator[Frame]:
        reader, at = self._open(), -1
        for index, moment in enumerate(moments):
            place = max(0, int(np.searchsorted(self._times[:, 0], moment + TOLERANCE, "right")) - 1)
            while at < place:
                image, at = reader.next(), at + 1
            yield Frame(float(self._times[place, 0]), index, None, partial(self._sized, image.asnumpy()))
