"""Waiting for new films: places are looked through again and again, and a film is taken when it has settled.

Looking works where notices of the system do not reach: on disks of the network and object storage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from shotad.batch.storage.finding import Found
from shotad.core import ShotadError

Look = Callable[[], Iterable[Found]]

LEAST_PAUSE = 2.0
"""Seconds between two looks at least."""
_SHARE = 10
"""A look is taken no more often than every so many times the time that it takes itself."""

State = tuple[int | None, datetime | None]


@dataclass(frozen=True, slots=True)
class _Seen:
    state: State
    since: float


class Watch:
    """Looks for films that are new or have changed. ``settle``: seconds for which size and date of a film
    must stay the same before it is taken. ``clock``: seconds that only go on; ``now``: the date."""

    def __init__(self, look: Look, settle: float, clock: Callable[[], float]) -> None:
        if settle < 0:
            raise ValueError(f"settle must be 0 or more, got {settle}")
        self._look, self._settle, self._clock = look, settle, clock
        self._seen: dict[str, _Seen] = {}
        self._taken: dict[str, State] = {}
        self._next = clock()
        self.trouble: str | None = None
        """Why the last look failed, if it did; the next one may not."""

    def take(self, films: Iterable[Found]) -> None:
        """These are taken already."""
        self._taken.update((film.place, _state(film)) for film in films)

    @property
    def unsettled(self) -> int:
        """How many films are still being written."""
        return len(self._seen)

    def settled(self) -> list[Found]:
        """The films that have settled since the last call, sorted; none before it is time to look again."""
        began = self._clock()
        if began < self._next:
            return []
        try:
            found = list(self._look())
            self.trouble = None
        except (ShotadError, OSError) as error:
            found, self.trouble = [], str(error)
        ended = self._clock()
        self._next = ended + max(LEAST_PAUSE, min(self._settle, 10.0) / 2, _SHARE * (ended - began))
        return [] if self.trouble else self._sorted_out(found, began)

    def _sorted_out(self, found: Iterable[Found], at: float) -> list[Found]:
        new = [film for film in found if self._taken.get(film.place) != _state(film)]
        before, self._seen = self._seen, {}
        ready = []
        for film in new:
            seen = before.get(film.place)
            if seen is None or seen.state != _state(film):
                seen = _Seen(_state(film), at)
            if at - seen.since >= self._settle and film.size != 0:
                ready.append(film)
            else:
                self._seen[film.place] = seen
        self.take(ready)
        return ready


def _state(film: Found) -> State:
    return (film.size, film.changed)
