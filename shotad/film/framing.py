"""Where the frames that are looked at come from.

Planned slots are looked at on a grid of moments: its frames are kept, small, during the one pass that
finds the shots, so that the film is not decoded twice. Given slots, which may be much shorter than a
tick, and numbered stills are read exactly. Which of the two never depends on what is left of an
earlier run, so a resumed run sees the same pixels.

What the pass for the shots has not kept is decoded by one more pass, which all who look share (`OnePass`):
whoever is ahead drives it, and puts frames by for the rest. How is chosen by estimate (`shotad.film.zones`)
and recorded in ``reading.json``. It changes no pixel.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol, cast

import numpy as np

from shotad.core import Config, Image, Interval, Seconds, WorkFolder
from shotad.film.decoder import SEEK_GAIN
from shotad.film.framestore import FrameStore, Pack
from shotad.film.grid import Grid, Keeper, Kept, LosslessKeeper
from shotad.film.reader import Film, Frame, Picture, ascending
from shotad.film.slots import union
from shotad.film.zones import (
    NOTHING,
    Choice,
    Costs,
    KeyFrames,
    Zones,
    how_to_share,
    key_frames,
    zones_to_keep,
)

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
        self._pack().clear()
        if not self.exact:
            FrameStore(self._folder.path, self._film, self._grid, ()).remove()
            self._store = None

    def _one_pass(self) -> OnePass:
        grid, info = self._grid, self._film.info
        if self.exact:
            make = partial(LosslessKeeper, info.size_within(max_pixels=PIXELS))
            # Records tell moments to the microsecond, and who reads them means the same frame.
            return OnePass(self._film, self._pack(), make, lambda moment: round(moment, 6))
        return OnePass(
            self._film, self._pack(), partial(Keeper, info, grid), lambda m: grid.second(grid.tick(m))
        )

    def _pack(self) -> Pack:
        # Readers differ by a level or two, so a pack is of one reader.
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


class Keeps(Protocol):
    """Makes pictures of frames, and what is kept of them; of the same pixels either way."""

    def image(self, frame: Frame, kept: Kept | None = None) -> Image:
        """The picture of a frame; ``kept``: of it, where it is at hand."""
        ...

    def keep(self, frame: Frame) -> Kept:
        """What is kept of a frame."""
        ...

    def picture(self, kept: Kept) -> Image:
        """The picture of what was kept."""
        ...


class OnePass:
    """The frames of one film by second; ``place`` gives the second that is asked of the film for a moment.

    ``keeper`` makes what keeps frames, anew for each reader, for it is of one thread.
    """

    def __init__(
        self, film: Film, pack: Pack, keeper: Callable[[], Keeps], place: Callable[[float], float]
    ) -> None:
        self._film, self._pack, self._new_keeper, self._place = film, pack, keeper, place
        self._lock = threading.Lock()
        self._keeper = keeper()
        self._wanted: Counter[float] = Counter()
        self._plan: deque[float] = deque()
        self._planned: set[float] = set()
        self._frames: Iterator[Frame] | None = None

    def expect(self, moments: Iterable[float]) -> None:
        """Somebody will look at these moments, once."""
        with self._lock:
            self._wanted.update({self._place(moment) for moment in moments})

    def forget(self) -> None:
        """Nobody is expected any more."""
        with self._lock:
            self._wanted.clear()

    def pictures(self, moments: Sequence[float]) -> Iterator[Picture]:
        """One picture for each of the ascending moments; ends early where the film gives no frame."""
        return self._pictures(ascending(moments))

    def _pictures(self, moments: list[float]) -> Iterator[Picture]:
        places = [self._place(moment) for moment in moments]
        # Who is expected wants each place once already; who is not, wants it for the time of this call.
        with self._lock:
            own = {place for place in places if not self._wanted[place]}
            self._wanted.update(own)
        try:
            yield from self._looked(moments, places, self._new_keeper(), own)
        finally:
            with self._lock:
                self._wanted.subtract(own)
                self._wanted = +self._wanted
                self._pack.flush()
                if not self._plan:
                    self._stop()

    def _looked(
        self, moments: list[float], places: list[float], keeper: Keeps, own: set[float]
    ) -> Iterator[Picture]:
        last: Picture | None = None
        at: float | None = None
        for moment, place in zip(moments, places, strict=True):
            if last is None or place != at:
                found = self._found(place, keeper, own)
                if found is None:
                    return
                seconds, image = found
                # A frame that is shown at both places is the same picture.
                last = Picture(seconds, moment, last.image if last and last.seconds == seconds else image())
                at = place
            else:
                last = Picture(last.seconds, moment, last.image)
            yield last

    def _found(
        self, place: float, keeper: Keeps, own: set[float]
    ) -> tuple[float, Callable[[], Image]] | None:
        """When the frame came up, and what makes its picture; None where the film gives none."""
        with self._lock:
            self._wanted[place] -= 1
            own.discard(place)
            if place in self._pack and (there := self._pack.get(place)) is not None:
                seconds, kept = there
                return seconds, lambda: keeper.picture(kept)
            driven = self._drive(place)
            if driven is None:
                return None
            # The picture is made under the lock: who drives next has the same keeper.
            frame, put_by = driven
            image = self._keeper.image(frame, put_by)
            return frame.seconds, lambda: image

    def _drive(self, place: float) -> tuple[Frame, Kept | None] | None:
        """Go on to ``place``, putting by what others want; the frame there, and what is kept of it."""
        if place not in self._planned:
            self._begin(place)
        while self._frames is not None:
            frame = next(self._frames, None)
            if frame is None or not self._plan:
                self._stop()
                return None
            passed = self._plan.popleft()
            self._planned.discard(passed)
            kept = self._keeper.keep(frame) if self._wanted[passed] > 0 else None
            if kept is not None:
                self._pack.put(passed, frame.seconds, kept)
            if passed == place:
                return frame, kept
        return None

    def _begin(self, place: float) -> None:
        """A pass over all that is wanted from ``place`` on."""
        self._stop()
        later = {one for one, count in self._wanted.items() if count > 0 and one >= place}
        self._plan = deque(sorted({place, *(one for one in later if one not in self._pack)}))
        self._planned = set(self._plan)
        self._frames = self._film.frames_at(tuple(self._plan))
        # Frames are counted anew in every pass, and an encoder wants them to ascend.
        self._keeper = self._new_keeper()

    def _stop(self) -> None:
        if self._frames is not None:
            cast("Generator[Frame, None, None]", self._frames).close()
        self._frames, self._planned = None, set()
        self._plan.clear()

    def close(self) -> None:
        """Let go of the film; another look begins anew."""
        with self._lock:
            self._stop()
            self._pack.flush()
