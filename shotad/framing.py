"""Where the frames that are looked at come from.

Planned slots are looked at on a grid of moments: its frames are kept, small, during the one pass that
finds the shots, so that the film is not decoded twice. Given slots, which may be much shorter than a
tick, and numbered stills are read exactly. Which of the two never depends on what is left of an
earlier run, so a resumed run sees the same pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from shotad.config import Config
from shotad.film.framestore import FrameStore
from shotad.film.grid import Grid, grid_pictures
from shotad.film.reader import Film, Frame, Picture
from shotad.plan.gaps import union
from shotad.types import Interval, Seconds
from shotad.workfolder import WorkFolder

PIXELS = 854 * 480
"""About how large frames are read that are not on the grid."""

Tee = Callable[[Iterator[Frame]], Iterator[Frame]]
"""Looks at the frames that pass by."""


class Frames:
    """Small frames of one film, by film second."""

    def __init__(self, film: Film, folder: WorkFolder, config: Config, *, exact: bool) -> None:
        self._film, self._folder = film, folder
        self._grid = Grid(config.film.grid, config.film.grid_height, config.film.grid_quality)
        self._store: FrameStore | None = None
        self.exact = exact or film.info.video_codec == STILLS

    @property
    def key(self) -> list[int]:
        """All of the settings that changes the pixels."""
        return [] if self.exact else [self._grid.rate, self._grid.height, self._grid.quality]

    def keep(self, zones: Sequence[Interval]) -> Tee | None:
        """Keeps the frames within ``zones`` as the film goes by; None where nothing is to be kept.

        What a killed run has kept of the same zones is used.
        """
        if self.exact or not zones:
            return None
        self._store = FrameStore(self._folder.path, self._film, self._grid, zones)
        return self._store.tee

    def stamps(self, end: float) -> Seconds | None:
        """The moments that there are frames of, up to ``end``, ``float64[n]``; None: those of the film."""
        return None if self.exact else np.arange(0.0, end, 1 / self._grid.rate)

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        """One picture for each of the ascending ``seconds``."""
        if self.exact:
            return self._film.pictures(seconds, max_pixels=PIXELS)
        if self._store is not None:
            return self._store.pictures(seconds)
        return grid_pictures(self._film, seconds, self._grid)

    def release(self) -> None:
        """Delete what was kept, for it is not needed any more."""
        if not self.exact:
            FrameStore(self._folder.path, self._film, self._grid, ()).remove()


STILLS = "stills"
"""Codec name of numbered stills, which have too few frames a second for a grid."""


def zones_around(
    gaps: Sequence[Interval], reach: float, *, end: float, credits_from: float
) -> list[Interval]:
    """What may be looked at: ``gaps`` widened by ``reach`` seconds, joined, and the last part of the film.

    >>> zones_around([Interval(10, 14), Interval(40, 44)], 5, end=100, credits_from=90)
    [Interval(start=5, end=19), Interval(start=35, end=49), Interval(start=90, end=100)]
    """
    film = Interval(0.0, end)
    wide = [Interval(gap.start - reach, gap.end + reach).clip(film) for gap in gaps]
    last = Interval(credits_from, end) if credits_from < end else None
    return list(union(zone for zone in (*wide, last) if zone is not None))
