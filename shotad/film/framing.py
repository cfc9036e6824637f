"""Where the frames that are looked at come from.

Planned slots are looked at on a grid of moments: its frames are kept, small, during the one pass that
finds the shots, so that the film is not decoded twice. Given slots, which may be much shorter than a
tick, and numbered stills are read exactly. Which of the two never depends on what is left of an
earlier run, so a resumed run sees the same pixels.

What the pass for the shots has not kept is decoded by one more pass, which all who look share; how is
chosen by estimate (`shotad.film.zones`) and recorded in ``reading.json``. It changes no pixel.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from shotad.core import Config, Interval, Seconds, WorkFolder
from shotad.film.decoder import SEEK_GAIN
from shotad.film.frame_cache import Pack
from shotad.film.framestore import FrameStore
from shotad.film.gaps import union
from shotad.film.grid import Grid, Keeper
from shotad.film.keyframes import key_frames
from shotad.film.lossless import LosslessKeeper
from shotad.film.onepass import OnePass
from shotad.film.reader import Film, Picture, ascending
from shotad.film.zones import NOTHING, Choice, Costs, KeyFrames, Zones, how_to_share, zones_to_keep

PIXELS = 854 * 480
"""About how large frames are read that are not on the grid."""

OVERVIEW = "overview"
"""Who looks at every shot at the end, if the overview is drawn."""

READING = "reading.json"
"""Where it is recorded how frames were had."""


class Frames:
    """Small frames of one film, by film second. May be asked by several threads.

    ``shots_given``: there is no pass that finds shots, so nothing can be kept along the way.
    """

    def __init__(
        self, film: Film, folder: WorkFolder, config: Config, *, exact: bool, shots_given: bool = False
    ) -> None:
        self._film, self._folder = film, folder
        self._grid = Grid(height=config.film.grid_height)
        self._store: FrameStore | None = None
        self.exact = exact or film.info.video_codec == STILLS
        self._shots_given = shots_given
        self._shared = self._overview = False
        self._zones = Zones((), NOTHING, NOTHING)
        self._expected: dict[str, list[float]] = {}
        self._reads: dict[str, list[float]] = {}
        self._pass: OnePass | None = None
        self._keys: KeyFrames | None = None
        self._deciding = threading.Lock()
        self._undecided = False

    @property
    def key(self) -> list[int]:
        """All of the settings that changes the pixels."""
        return [] if self.exact else [self._grid.rate, self._grid.height, self._grid.quality]

    def share(self, *, overview: bool) -> None:
        """All who look at the film in this run will say so beforehand (`expect`) and share one pass.

        ``overview``: every shot will be shown at the end. To be said before `keep`.
        """
        self._shared, self._overview = True, overview

    def keep(self, zones: Sequence[Interval]) -> FrameStore | None:
        """What keeps the frames within ``zones`` as the film goes by; None where nothing is to be kept.

        Where that is cheaper than decoding again what only the overview shows, the rest is kept too. What a
        killed run has kept of the same zones is used.
        """
        if self.exact or not zones:
            return None
        kept: tuple[Interval, ...] | None = tuple(zones)
        if self._shared and not self._shots_given:
            end, rate = self._film.info.duration, self._grid.rate
            keys, costs = self._key_frames(), self._costs()
            self._zones = zones_to_keep(
                zones, end, keys, costs, rate=rate, gain=SEEK_GAIN, overview=self._overview
            )
            kept = self._zones.kept
        if kept is not None and not kept:
            return None
        self._store = FrameStore(self._folder.path, self._film, self._grid, kept)
        return self._store

    @property
    def filled_until(self) -> float | None:
        """Second up to which frames can be read while the shots are found; None where none are kept then."""
        return None if self._store is None else self._store.filled_until

    def stamps(self, end: float) -> Seconds | None:
        """The moments that there are frames of, up to ``end``, ``float64[n]``; None: those of the film."""
        return None if self.exact else np.arange(0.0, end, 1 / self._grid.rate)

    def expect(self, name: str, moments: Iterable[float], *, read: Iterable[float] | None = None) -> None:
        """``name`` will look at ``moments``; of these a run that goes on where another stopped will really
        look at ``read`` (None: at all). To be said by all before the first of them looks. Means nothing where
        the run does not share."""
        if not self._shared or (name == OVERVIEW and not self._overview):
            return
        wanted = _sorted(moments)
        with self._deciding:
            self._expected[name], self._undecided = wanted, True
            self._reads[name] = wanted if read is None else _sorted(read)
            if self._pass is None:
                self._pass = self._one_pass()
            self._pass.expect(self._reads[name])

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        """One picture for each of the ascending ``seconds``."""
        return self._pictures(ascending(seconds))

    def _pictures(self, moments: list[float]) -> Iterator[Picture]:
        store = self._store
        # What is kept later is not looked for again: who looks while the store is filled knows how far it is.
        kept = {moment for moment in moments if store.has(moment)} if store is not None else set[float]()
        rest = [moment for moment in moments if moment not in kept]
        there = store.pictures([m for m in moments if m in kept]) if store is not None else iter(())
        decoded = self._decoded(rest) if rest else iter(())
        for moment in moments:
            picture = next(there if moment in kept else decoded, None)
            if picture is None:
                return
            yield picture

    def _decoded(self, moments: Sequence[float]) -> Iterator[Picture]:
        self._decide()
        with self._deciding:
            if self._pass is None:
                self._pass = self._one_pass()
            one_pass = self._pass
        return one_pass.pictures(moments)

    def release(self) -> None:
        """Delete what was kept, for it is not needed any more."""
        self._decide()
        if self._pass is not None:
            self._pass.close()
            self._pass = None
        self._shelf().clear()
        if not self.exact:
            FrameStore(self._folder.path, self._film, self._grid, ()).remove()
            self._store = None

    def _one_pass(self) -> OnePass:
        grid, info = self._grid, self._film.info
        if self.exact:
            make = partial(LosslessKeeper, info.size_within(max_pixels=PIXELS))
            # Records tell moments to the microsecond, and who reads them means the same frame.
            return OnePass(self._film, self._shelf(), make, lambda moment: round(moment, 6))
        return OnePass(
            self._film, self._shelf(), partial(Keeper, info, grid), lambda m: grid.second(grid.tick(m))
        )

    def _shelf(self) -> Pack:
        # Readers differ by a level or two, so a shelf is of one reader.
        reader = type(self._film).__name__
        head = {"film": self._film.info.fingerprint, "reader": reader, "key": self.key, "pixels": PIXELS}
        return Pack(self._folder.path, "shelf", head)

    def _decide(self) -> None:
        """Choose how those who were expected read, and write it down."""
        with self._deciding:
            if not self._undecided:
                return
            self._undecided = False
            keys, costs = self._key_frames(), self._costs()
            wanted = {name: self._beyond(moments) for name, moments in self._expected.items()}
            choice = how_to_share(wanted, keys, costs, gain=SEEK_GAIN)
            self._folder.write_json(READING, self._record(keys, choice, wanted))
            # What a run that goes on really reads may be less, or more where nothing is kept any more. The
            # record tells of a run from the start, so that it is the same however often a run was stopped.
            left = {name: self._lacking(moments) for name, moments in self._reads.items()}
            if how_to_share(left, keys, costs, gain=SEEK_GAIN).way != "together" and self._pass is not None:
                self._pass.forget()

    def _lacking(self, moments: Sequence[float]) -> list[float]:
        """The moments that are not kept by now, as they are asked of the film."""
        store = self._store
        return self._asked([m for m in moments if store is None or not store.has(m)])

    def _asked(self, moments: Iterable[float]) -> list[float]:
        """What is asked of the film for these moments, ascending."""
        grid = self._grid
        return _sorted(moments) if self.exact else _sorted(grid.second(grid.tick(m)) for m in moments)

    def _beyond(self, moments: Sequence[float]) -> list[float]:
        """The moments that the pass for the shots does not keep, as they are asked of the film."""
        kept = self._zones.kept
        if self.exact or (kept is not None and not kept):
            outside = list(moments)
        elif kept is None:
            outside = []
        else:
            ticks = [(self._grid.tick(zone.start), self._grid.tick(zone.end)) for zone in kept]
            outside = [m for m in moments if not any(a <= self._grid.tick(m) <= b for a, b in ticks)]
        return self._asked(outside)

    def _record(self, keys: KeyFrames, choice: Choice, wanted: dict[str, list[float]]) -> dict[str, object]:
        zones, costs = self._zones, self._costs()
        return {
            "film": {
                "seconds": self._film.info.duration,
                "key_frames_every": None if keys.distance is None else round(keys.distance, 3),
                "decoding_a_second": round(costs.decode, 5),
                "a_seek": round(costs.seek, 5),
            },
            "along_with_the_shots": {"where_lines_may_be": zones.dense.row(), "elsewhere": zones.rest.row()},
            "afterwards": choice.row(),
            "moments_afterwards": {name: len(moments) for name, moments in wanted.items()},
        }

    def _key_frames(self) -> KeyFrames:
        if self._keys is None:
            self._keys = key_frames(self._film)
        return self._keys

    def _costs(self) -> Costs:
        info = self._film.info
        width, height = (
            info.size_within(max_pixels=PIXELS) if self.exact else info.size_within(self._grid.height)
        )
        rate = float(info.frame_rate or 24)
        return Costs.of(info.width * info.height, rate, width * height, lossless=self.exact)


def _sorted(moments: Iterable[float]) -> list[float]:
    return sorted({float(moment) for moment in moments})


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
