"""One pass over a film for all who look at it: whoever is ahead drives it, and puts frames by for the rest.

Who looks says beforehand which moments they will want (`OnePass.expect`). A frame that is wanted by
somebody else is then put on a shelf when the pass goes by; who comes later finds it there. Pixels do not
depend on who drove. Readers may be in several threads; the film is read by one at a time.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Protocol, cast

from shotad.core import Image
from shotad.film.frame_cache import Pack
from shotad.film.grid import Kept
from shotad.film.reader import Film, Frame, Picture, ascending


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
        self, film: Film, shelf: Pack, keeper: Callable[[], Keeps], place: Callable[[float], float]
    ) -> None:
        self._film, self._shelf, self._new_keeper, self._place = film, shelf, keeper, place
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
                self._shelf.flush()
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
            if place in self._shelf and (shelved := self._shelf.get(place)) is not None:
                seconds, kept = shelved
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
                self._shelf.put(passed, frame.seconds, kept)
            if passed == place:
                return frame, kept
        return None

    def _begin(self, place: float) -> None:
        """A pass over all that is wanted from ``place`` on."""
        self._stop()
        later = {one for one, count in self._wanted.items() if count > 0 and one >= place}
        self._plan = deque(sorted({place, *(one for one in later if one not in self._shelf)}))
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
            self._shelf.flush()
