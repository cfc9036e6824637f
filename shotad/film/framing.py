"""Where the frames that are looked at come from.

Planned slots are looked at on a grid of moments: its frames are kept, small, during the one pass that
finds the shots, so that the film is not decoded twice. Given slots, which may be much shorter than a
tick, and numbered stills are read exactly. Which of the two never depends on what is left of an
earlier run, so a resumed run sees the same pixels.

What the pass for the shots has not kept is decoded by one more pass, which all who look share (`OnePass`):
whoever is ahead drives it, and puts frames by for the rest. It changes no pixel.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import cast

import numpy as np

from shotad.core import Config, Image, Interval, Seconds, WorkFolder
from shotad.film.framestore import (
    QUALITY,
    TICKS,
    FrameStore,
    Keeper,
    Kept,
    LosslessKeeper,
    Pack,
    second_of,
    tick_of,
)
from shotad.film.reader import Film, Frame, Picture, ascending
from shotad.film.slots import union

PIXELS = 854 * 480
"""About how large frames are read that are not on the grid."""

WORKSHEET = "worksheet"
"""Who looks at every slot at the end, if the worksheet is drawn."""


class Frames:
    """Small frames of one film, by film second. May be asked by several threads."""

    def __init__(self, film: Film, folder: WorkFolder, config: Config, *, exact: bool) -> None:
        self._film, self._folder = film, folder
        self._height = config.film.grid_height
        self._store: FrameStore | None = None
        self.exact = exact or film.info.video_codec == STILLS
        self._shared = self._worksheet = False
        self._pass: OnePass | None = None
        self._lock = threading.Lock()

    @property
    def key(self) -> list[int]:
        """All of the settings that changes the pixels."""
        return [] if self.exact else [TICKS, self._height, QUALITY]

    def share(self, *, worksheet: bool) -> None:
        """All who look at the film in this run will say so beforehand (`expect`) and share one pass.

        ``worksheet``: every slot will be shown at the end. To be said before `keep`.
        """
        self._shared, self._worksheet = True, worksheet

    def keep(self, zones: Sequence[Interval]) -> FrameStore | None:
        """What keeps the frames within ``zones`` as the film goes by; None where nothing is to be kept.

        What a killed run has kept of the same zones is used.
        """
        if self.exact or not zones:
            return None
        self._store = FrameStore(self._folder.path, self._film, self._height, tuple(zones))
        return self._store

    def stamps(self, end: float) -> Seconds | None:
        """The moments that there are frames of, up to ``end``, ``float64[n]``; None: those of the film."""
        return None if self.exact else np.arange(0.0, end, 1 / TICKS)

    def expect(self, name: str, moments: Iterable[float], *, read: Iterable[float] | None = None) -> None:
        """``name`` will look at ``moments``; of these a run that goes on where another stopped will really
        look at ``read`` (None: at all). To be said by all before the first of them looks. Means nothing where
        the run does not share."""
        if not self._shared or (name == WORKSHEET and not self._worksheet):
            return
        store = self._store
        looked = moments if read is None else read
        self._shared_pass().expect(m for m in looked if store is None or not store.has(m))

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        """One picture for each of the ascending ``seconds``."""
        return self._shared_pass().pictures(seconds)

    def release(self) -> None:
        """Delete what was kept, for it is not needed any more."""
        if self._pass is not None:
            self._pass.close()
            self._pass = None
        self._pack().clear()
        if not self.exact:
            FrameStore(self._folder.path, self._film, self._height, ()).clear()
            self._store = None

    def _shared_pass(self) -> OnePass:
        info = self._film.info
        with self._lock:
            if self._pass is None and self.exact:
                make = partial(LosslessKeeper, info.size_within(max_pixels=PIXELS))
                # Records tell moments to the microsecond, and who reads them means the same frame.
                self._pass = OnePass(self._film, self._pack(), make, lambda moment: round(moment, 6))
            elif self._pass is None:
                keeper = partial(Keeper, info, self._height)
                self._pass = OnePass(
                    self._film, self._pack(), keeper, lambda m: second_of(tick_of(m)), self._store
                )
            return self._pass

    def _pack(self) -> Pack:
        # Readers differ by a level or two, so a pack is of one reader.
        reader = type(self._film).__name__
        head = {"film": self._film.info.fingerprint, "reader": reader, "key": self.key, "pixels": PIXELS}
        return Pack(self._folder.path, "shelf", head)


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


class OnePass:
    """The frames of one film by second; ``place`` gives the second that is asked of the film for a moment.

    What ``store`` has is taken from there. ``keeper`` makes what keeps frames, one for each reader, for it
    is of one thread.
    """

    def __init__(
        self,
        film: Film,
        pack: Pack,
        keeper: Callable[[], Keeper | LosslessKeeper],
        place: Callable[[float], float],
        store: FrameStore | None = None,
    ) -> None:
        self._film, self._pack, self._new_keeper, self._place = film, pack, keeper, place
        self._store = store
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

    def pictures(self, moments: Sequence[float]) -> Iterator[Picture]:
        """One picture for each of the ascending moments; ends early where the film gives no frame."""
        return self._pictures(ascending(moments))

    def _pictures(self, moments: list[float]) -> Iterator[Picture]:
        places = [self._place(moment) for moment in moments]
        # Who is expected wants each place once already; who is not, wants it for the time of this call.
        with self._lock:
            own = {place for place in places if not self._wanted[place]}
            self._wanted.update(own)
        last: Picture | None = None
        at: float | None = None
        try:
            keeper = self._new_keeper()
            for moment, place in zip(moments, places, strict=True):
                if last is None or place != at:
                    found = self._found(place, keeper, own)
                    if found is None:
                        return
                    seconds, image = found
                    # A frame that is shown at both places is the same picture.
                    same = last.image if last and last.seconds == seconds else image()
                    last, at = Picture(seconds, moment, same), place
                else:
                    last = Picture(last.seconds, moment, last.image)
                yield last
        finally:
            with self._lock:
                self._wanted.subtract(own)
                self._wanted = +self._wanted
                if not self._plan:
                    self._stop()

    def _found(
        self, place: float, keeper: Keeper | LosslessKeeper, own: set[float]
    ) -> tuple[float, Callable[[], Image]] | None:
        """When the frame came up, and what makes its picture; None where the film gives none."""
        there = None if self._store is None else self._store.kept_at(place)
        with self._lock:
            self._wanted[place] -= 1
            own.discard(place)
            there = there or self._pack.get(place)
            if there is not None:
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
            # A pass over all that is wanted from there on.
            self._stop()
            later = {one for one, count in self._wanted.items() if count > 0 and one >= place}
            store = self._store
            kept_before = {one for one in later if one in self._pack.places or (store and store.has(one))}
            self._plan = deque(sorted({place, *(later - kept_before)}))
            self._planned = set(self._plan)
            self._frames = self._film.frames_at(tuple(self._plan))
            # Frames are counted again in every pass, and an encoder wants them to ascend.
            self._keeper = self._new_keeper()
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

    def _stop(self) -> None:
        if self._frames is not None:
            cast("Generator[Frame, None, None]", self._frames).close()
        self._frames, self._planned = None, set()
        self._plan.clear()

    def close(self) -> None:
        """Let go of the film; another look starts again."""
        with self._lock:
            self._stop()
