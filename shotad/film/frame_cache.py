"""Where the frames that are looked at come from: `Frames`, a cache that reads through to the film.

Planned slots are looked at on a grid of moments (`TICKS` a second), as small JPEGs. Given slots, which may be
much shorter than a tick, and numbered stills are read exactly. Which of the two never depends on what is left
of an earlier run, so a resumed run sees the same pixels.

A picture comes from the disk, where an earlier look or the pass that finds the shots has left it, or else is
decoded. Whoever asks neither knows nor says so beforehand. Of what the decoder passes those frames are kept
that are known to be worth it (`Frames.keep_along`). On the grid, whose frames are small, all that are asked
for are kept too, and where nothing is known all that lie between, so that who asks next finds them.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, pairwise
from types import TracebackType
from typing import Self, cast

import numpy as np

from shotad.core import (
    Config,
    Interval,
    WorkFolder,
)
from shotad.core.profiling import time_step
from shotad.core.types import Seconds, clip_all
from shotad.film.framestore import (
    QUALITY,
    TICKS,
    FrameKeeper,
    KeptFrames,
    NoPack,
    Pack,
    RawKeeper,
    nearest_tick,
    tick_second,
)
from shotad.film.reader import TOLERANCE, Film, Frame, Picture, ascending
from shotad.film.slots import join_intervals

PIXELS = 854 * 480
"""About how large frames are read that are not on the grid."""

MOST_EXACT = 2**31
"""Bytes of exact frames on the disk: 1,700 of 854 x 480, those of fifty clips. Of a film with more, the older
ones are decoded again where they are asked for again."""

NEAR = 8.0
"""Seconds between two moments asked for, up to which all of the grid between them is decoded and kept. A
quarter of a shot of half a minute; slots mostly lie further apart."""

STRETCH = 30.0
"""Seconds of film that are decoded at a time. Threads that ask for different parts take turns, and each turn
costs a seek."""

BESIDE = 2.0
"""Seconds before and behind a stretch in which frames that are worth keeping are decoded along with it."""

MOST_HELD = 24
"""Frames asked for that are decoded at a time, at most; they are held in memory: 30 MB of exact ones."""

MOST_WAITING = 4
"""Frames of the film's own size that may wait to be kept while the film goes on."""

STILLS = "stills"
"""Codec name of numbered stills, which have too few frames a second for a grid."""

KeptFrame = tuple[float, KeptFrames]
"""The second at which a frame comes up, and the frame as it is kept."""


class Frames:
    """Small frames of one film, by film second; may be asked by several threads at once.

    A context manager: what was kept is deleted at its end. After an error it stays, as after a kill, for the
    run that goes on from there.
    """

    def __init__(self, film: Film, folder: WorkFolder | None, config: Config, *, exact: bool) -> None:
        """``folder`` is where frames are kept, held by this process; None: nowhere. ``exact``: the frames
        themselves, not those of the grid."""
        self._film = film
        self._height = config.film.grid_height
        self.exact = exact or film.info.video_codec == STILLS
        # Readers differ by a level or two, so frames are kept of one reader.
        head = {"film": film.info.fingerprint, "reader": type(film).__name__, "key": self.key or [PIXELS]}
        limit = MOST_EXACT if self.exact else None
        self._pack = NoPack() if folder is None else Pack(folder.path, head, limit)
        self._reader = ForwardReader(film)
        self._reader_keeper = self._new_keeper()
        self._last_decoded: KeptFrame | None = None
        self._along: list[float] = []
        """The places of `keep_along`, ascending."""
        self._reading = threading.Lock()
        """Held by who decodes: the reader and what belongs to it are of one thread at a time."""

    @property
    def key(self) -> list[int]:
        """All of the settings that changes the pixels."""
        return [] if self.exact else [TICKS, self._height, QUALITY]

    def stamps(self, end: float) -> Seconds | None:
        """The moments that there are frames of, up to ``end``, ``float64[n]``; None: those of the film."""
        return None if self.exact else np.arange(0.0, end, 1 / TICKS)

    def keep_along(self, moments: Iterable[float]) -> None:
        """Keep the frames of these moments when the decoder passes them on its way to others.

        This asks for nothing and changes no picture, whenever it is said. Without it exact frames of parts
        that several look at are decoded for each of them, and of the grid more is kept than need be.
        """
        places = set(map(self._place, moments))
        with self._reading:
            self._along = sorted(places.union(self._along))

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        """One picture for each of the ascending ``seconds``; ends early where the film gives no frame.

        Raises ValueError for seconds that do not ascend or are not finite.
        """
        return self._pictures(ascending(seconds))

    def _pictures(self, moments: list[float]) -> Iterator[Picture]:
        places = [self._place(moment) for moment in moments]
        keeper = self._new_keeper()
        decoded: dict[float, KeptFrame] = {}
        last: Picture | None = None
        last_place: float | None = None
        for number, (moment, place) in enumerate(zip(moments, places, strict=True)):
            if last is None or place != last_place:
                frame = decoded.pop(place, None) or self._pack.get(place)
                if frame is None:
                    decoded = self._decode(places[number:])
                    frame = decoded.pop(place, None)
                if frame is None:
                    return
                second, kept_frame = frame
                # A frame that is shown at both places is the same picture.
                image = last.image if last and last.seconds == second else keeper.picture(kept_frame)
                last, last_place = Picture(second, moment, image), place
            else:
                last = Picture(last.seconds, moment, last.image)
            yield last

    def keeping(self, frames: Iterator[Frame], zones: Sequence[Interval]) -> Iterator[Frame]:
        """``frames``, those of a pass over the whole film, unchanged; what the grid has within ``zones`` is
        kept as they go by.

        Frames are shrunk and compressed in a thread of its own. Where the disk fails the frames go on, and no
        more are kept. Of exact frames none is kept: nobody knows which will be looked at.
        """
        if self.exact or not zones:
            yield from frames
            return
        ticks = (range(nearest_tick(zone.start), nearest_tick(zone.end) + 1) for zone in zones)
        ticks_to_keep = {tick for zone in ticks for tick in zone}
        keeper = self._new_keeper()
        before: Frame | None = None
        waiting: deque[Future[None]] = deque()
        with ThreadPoolExecutor(1, "keeping frames") as thread:
            for frame in chain(frames, [None]):
                if before is not None:
                    shown = self._ticks(before, None if frame is None else frame.seconds)
                    missing = [tick_second(tick) for tick in shown if tick in ticks_to_keep]
                    missing = [place for place in missing if place not in self._pack.places]
                    if missing and self._pack.stopped is None:
                        waiting.append(thread.submit(self._keep, keeper, before, missing))
                if len(waiting) > MOST_WAITING:
                    waiting.popleft().result()
                if frame is not None:
                    before = frame
                    yield frame
            for keeping in waiting:
                keeping.result()

    def close(self) -> None:
        """Delete what was kept. Frames can still be asked for, and are decoded again."""
        with self._reading:
            self._reader.close()
            self._pack.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._reader.close()

    def _new_keeper(self) -> FrameKeeper | RawKeeper:
        """What compresses frames and makes pictures of them; one for each thread."""
        info = self._film.info
        if self.exact:
            return RawKeeper(info.size_within(max_pixels=PIXELS))
        return FrameKeeper(info, self._height)

    def _place(self, moment: float) -> float:
        """The second at which the film is asked for a moment's frame."""
        # Records tell moments to the microsecond, and who reads them means the same frame.
        return round(moment, 6) if self.exact else tick_second(nearest_tick(moment))

    def _decode(self, places: Sequence[float]) -> dict[float, KeptFrame]:
        """Decode what is not kept yet of the ascending ``places`` in the next `STRETCH` seconds.

        Returns the frames of the first of them, up to `MOST_HELD`, by place; none where the film gives none.
        """
        first = places[0]
        with self._reading:
            # Another thread may have decoded it while this one waited.
            picture = self._pack.get(first)
            if picture is not None:
                return {first: picture}
            frames: dict[float, KeptFrame] = {}
            places_to_decode = {place for place in places if place <= first + STRETCH}
            for place in self._stretch(sorted(places_to_decode)):
                frame = self._frame_at(place)
                if frame is None:
                    break
                if not self.exact or self._is_along(place):
                    self._pack.put(place, *frame)
                if place in places_to_decode:
                    frames[place] = frame
                if len(frames) == MOST_HELD:
                    break
            return frames

    def _is_along(self, place: float) -> bool:
        """Whether `keep_along` named the place."""
        number = bisect_left(self._along, place)
        return number < len(self._along) and self._along[number] == place

    def _stretch(self, places: Sequence[float]) -> list[float]:
        """The places to decode, ascending: ``places``, and what is worth keeping on the way; not what is kept
        already."""
        first, last = places[0], places[-1]
        passed = set(places)
        if self._pack.stopped is None:
            begin, marks = first - BESIDE, list(places)
            position = self._reader.position
            if position is not None and 0 <= first - position <= STRETCH:
                # The decoder goes on where it is, and would have to start again for what lies behind it.
                begin, marks = position, [position, *places]
            named = slice(bisect_left(self._along, begin), bisect_right(self._along, last + BESIDE))
            passed.update(self._along[named])
            # Where nothing was named nobody knows what will be asked for next: all of the grid may be.
            if not self.exact and not self._along:
                for before, after in pairwise(marks):
                    if after - before <= NEAR:
                        passed.update(map(tick_second, range(nearest_tick(before), nearest_tick(after))))
        return sorted(place for place in passed if place not in self._pack.places)

    def _frame_at(self, place: float) -> KeptFrame | None:
        """The frame at ``place``, decoded; None where the film gives none."""
        if self._reader.position is None or place < self._reader.position:
            # Frames are counted again, and an encoder wants them to ascend.
            self._reader_keeper = self._new_keeper()
        frame = self._reader.frame_at(place)
        if frame is None:
            return None
        if self._last_decoded is None or self._last_decoded[0] != frame.seconds:
            self._last_decoded = frame.seconds, self._reader_keeper.keep(frame)
        return self._last_decoded

    def _keep(self, keeper: FrameKeeper | RawKeeper, frame: Frame, places: Sequence[float]) -> None:
        """Keep ``frame`` for the ``places`` at which it is shown."""
        with time_step("keep"):
            kept_frame = keeper.keep(frame)
            for place in places:
                self._pack.put(place, frame.seconds, kept_frame)

    def _ticks(self, frame: Frame, until: float | None) -> range:
        """The ticks at which ``frame`` is shown: until ``until`` s, or (None) the film's end."""
        start = 0 if frame.index == 0 else _first_tick_from(frame.seconds)
        if until is None:
            return range(start, max(nearest_tick(self._film.info.duration), start) + 2)
        return range(start, _first_tick_from(until))


def _first_tick_from(seconds: float) -> int:
    """The first tick at which a frame that comes up at ``seconds`` is shown (within 1 µs)."""
    tick = max(0, int((seconds - TOLERANCE) * TICKS) - 1)
    while seconds > tick_second(tick) + TOLERANCE:
        tick += 1
    return tick


class ForwardReader:
    """Frames of a film at seconds that are asked for one by one, in one thread at a time.

    It goes on from where it is, and starts again for a second that lies before.
    """

    def __init__(self, film: Film) -> None:
        self._film = film
        self._asked: deque[float] = deque()
        self._frames: Iterator[Frame] | None = None
        self.position: float | None = None
        """The second that was asked for last; None before the first."""

    def frame_at(self, second: float) -> Frame | None:
        """The frame on the screen at ``second``; None where the film gives none."""
        if self._frames is None or self.position is None or second < self.position:
            self.close()
            # The film draws each second from here when its frame is asked for.
            self._frames = self._film.frames_at(iter(self._asked.popleft, None))
        self._asked.append(second)
        try:
            frame = next(self._frames, None)
        except BaseException:
            self.close()
            raise
        if frame is None:
            self.close()
        else:
            self.position = second
        return frame

    def close(self) -> None:
        """Let go of the decoder; the next frame starts another."""
        if self._frames is not None:
            cast("Generator[Frame, None, None]", self._frames).close()
        self._frames, self.position = None, None
        self._asked.clear()


def zones_around(
    gaps: Sequence[Interval], reach: float, *, end: float, credits_from: float
) -> list[Interval]:
    """What may be looked at: ``gaps`` widened by ``reach`` seconds, joined, and the last part of the film.

    >>> zones_around([Interval(10, 14), Interval(40, 44)], 5, end=100, credits_from=90)
    [Interval(start=5, end=19), Interval(start=35, end=49), Interval(start=90, end=100)]
    """
    zones = [Interval(gap.start - reach, gap.end + reach) for gap in gaps]
    if credits_from < end:
        zones.append(Interval(credits_from, end))
    return list(join_intervals(clip_all(zones, Interval(0.0, end))))
