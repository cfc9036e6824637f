"""How frames are had at the least cost: along with the pass that finds the shots, in one pass for all who
look, or in a pass for each. It is estimated from the film's size, its key frames, and the moments.

All costs are seconds of one processor core of an ordinary laptop, so that only their ratios
matter. Key frames are read from the index of the container.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from shotad.core import FilmError, Interval, Seconds
from shotad.film.container import is_cover
from shotad.film.decoder import INDEXED, SEEKABLE
from shotad.film.reader import Film

DECODE = 4.2e-3
"""Of one frame of a million pixels (H.264, 480 to 1080 lines)."""
SEEK = 2e-3
"""Of a seek without what is decoded after it: the decoder is flushed and its threads fill again …"""
SEEK_PIXELS = 17e-3
"""… the more so the larger its frames: per million pixels."""
KEEP = 0.4e-3, 3.2e-3
"""Of a frame that is kept as JPEG: always, and per million pixels kept …"""
SHRINK = 0.5e-3
"""… and per million pixels of the film, which are shrunk."""
FETCH = 0.3e-3, 5e-3
"""Of a kept frame that is looked at."""
SHELVE = 0.5e-3, 12e-3
"""Of a picture that is kept without loss: always, and per million pixels."""
TAKE = 0.5e-3, 8e-3
"""Of such a picture that is looked at."""
JPEG_BYTES = 0.08
"""Bytes per pixel of a kept JPEG."""
LOSSLESS_BYTES = 1.1
"""Bytes per pixel of a picture kept without loss."""
ROOM = 8e9
"""Bytes on disk that frames may take. What would take more is decoded again instead."""
SHOT = 4.0
"""Seconds that a shot is taken to last before the shots are known: the usual mean of feature films."""
DENSE = 0.65
"""Share of the kept ticks that is looked at in the end, in the parts where anything is looked at."""

Way = Literal["along", "together", "apart", "none"]
"""``along``: kept while the shots are found; ``together``: in one sorted pass, kept for whoever looks later;
``apart``: each who looks decodes for themselves; ``none``: nobody looks."""


@dataclass(frozen=True, slots=True)
class KeyFrames:
    """Where decoding of a film can begin: ``seconds`` ascend, ``float64[n]``; None where it cannot be told
    before the film is read. ``seekable``: whether seeks are right in it."""

    seconds: Seconds | None = None
    seekable: bool = True

    def before(self, second: float) -> float:
        """The last key frame at or before ``second``; the film's start where none is."""
        if self.seconds is None or not len(self.seconds):
            return 0.0
        place = bisect_right(self.seconds, second + 1e-6) - 1
        return float(self.seconds[place]) if place >= 0 else 0.0

    @property
    def distance(self) -> float | None:
        """Mean distance of key frames in seconds; None where it is not known."""
        if self.seconds is None or len(self.seconds) < 2:
            return None
        return float(self.seconds[-1] - self.seconds[0]) / (len(self.seconds) - 1)


@dataclass(frozen=True, slots=True)
class Costs:
    """What reading one film costs: ``decode`` a second of it, ``seek`` once, ``keep`` and ``fetch`` one frame
    of it, which takes ``size`` bytes."""

    decode: float
    seek: float
    keep: float
    fetch: float
    size: float

    @staticmethod
    def of(pixels: int, rate: float, kept: int, *, lossless: bool = False) -> Costs:
        """For a film of ``rate`` frames a second of ``pixels``, of which ``kept`` pixels are kept."""
        film, small = pixels / 1e6, kept / 1e6
        keep, fetch = (SHELVE, TAKE) if lossless else (KEEP, FETCH)
        return Costs(
            decode=DECODE * film * rate,
            seek=SEEK + SEEK_PIXELS * film,
            keep=keep[0] + keep[1] * small + SHRINK * film,
            fetch=fetch[0] + fetch[1] * small,
            size=(LOSSLESS_BYTES if lossless else JPEG_BYTES) * kept,
        )


@dataclass(frozen=True, slots=True)
class Roll:
    """What one ascending pass decodes: so many seconds of film, after so many seeks."""

    seconds: float = 0.0
    seeks: int = 0

    def cost(self, costs: Costs) -> float:
        """Of the decoding alone."""
        return self.seconds * costs.decode + self.seeks * costs.seek


_STEP = 0.5
"""Seconds between the looks at a part that is taken to be looked at densely."""

BLIND = 4.0
"""Seconds of a gap over which a film without an index is sought, and that a seek is taken to land before."""


def roll_of(moments: Sequence[float], keys: KeyFrames, gain: float) -> Roll:
    """What a pass over the ascending ``moments`` decodes that seeks wherever that spares ``gain`` seconds.

    >>> roll_of([1.0, 2.0, 9.5], KeyFrames(np.array([0.0, 4.0, 8.0])), gain=0.5)
    Roll(seconds=3.5, seeks=1)
    """
    now, seconds, seeks = 0.0, 0.0, 0
    for moment in moments:
        start = _start_for(moment, now, keys)
        if start - now > gain:
            seeks += 1
            now = start
        seconds += max(0.0, moment - now)
        now = max(now, moment)
    return Roll(round(seconds, 3), seeks)


def _start_for(moment: float, now: float, keys: KeyFrames) -> float:
    """Where a seek to ``moment`` would land; ``now`` where none can be made."""
    if not keys.seekable:
        return now
    if keys.seconds is None:
        return moment - BLIND / 2 if moment - now > BLIND else now
    return keys.before(moment)


@dataclass(frozen=True, slots=True)
class Choice:
    """How frames are had: the ``way``, and what each that was weighed costs, in seconds of one core.

    ``seconds`` and ``seeks`` are what the way decodes of the film beside the pass that finds the shots;
    ``size`` is what it keeps on the disk, in bytes.
    """

    way: Way
    costs: Mapping[Way, float]
    seconds: float = 0.0
    seeks: int = 0
    size: float = 0.0

    def row(self) -> dict[str, Any]:
        """For the record."""
        told = {**asdict(self), "costs": {way: round(cost, 2) for way, cost in self.costs.items()}}
        return {**told, "size": round(self.size)}


NOTHING = Choice("none", {})
"""Where there is nothing to look at."""


@dataclass(frozen=True, slots=True)
class Zones:
    """What is kept while the shots are found: the parts ``kept`` (None: the whole film), and why."""

    kept: tuple[Interval, ...] | None
    dense: Choice
    rest: Choice
    """How frames outside those parts are had: of shots that only the overview shows."""


def zones_to_keep(
    zones: Sequence[Interval],
    end: float,
    keys: KeyFrames,
    costs: Costs,
    *,
    rate: float,
    gain: float,
    overview: bool = True,
) -> Zones:
    """What to keep of a film that ends at ``end`` while its shots are found, ``rate`` frames a second.

    ``zones`` are where lines may be written: there frames are looked at densely. Outside them one frame of
    each shot is wanted for the ``overview``. Each is either kept along the way, or decoded afterwards.
    """
    if not zones:
        return Zones((), NOTHING, NOTHING)
    dense = _dense(zones, keys, costs, rate, gain)
    rest = _sparse(zones, end, keys, costs, rate, gain) if overview else NOTHING
    if dense.way == "along" and rest.way == "along":
        return Zones(None, dense, rest)
    return Zones(tuple(zones) if dense.way == "along" else (), dense, rest)


def _dense(zones: Sequence[Interval], keys: KeyFrames, costs: Costs, rate: float, gain: float) -> Choice:
    ticks = sum(zone.duration for zone in zones) * rate
    looked = ticks * DENSE
    steps = [np.append(np.arange(zone.start, zone.end, _STEP), zone.end) for zone in zones]
    roll = roll_of(np.concatenate(steps).tolist(), keys, gain)
    after = roll.cost(costs) + looked * (costs.keep + costs.fetch)
    along = ticks * costs.keep + looked * costs.fetch
    return _cheaper({"along": along, "together": after}, roll, {"along": ticks, "together": looked}, costs)


def _sparse(
    zones: Sequence[Interval], end: float, keys: KeyFrames, costs: Costs, rate: float, gain: float
) -> Choice:
    borders = [0.0, *(border for zone in zones for border in (zone.start, zone.end)), end]
    gaps = [(a, b) for a, b in list(pairwise(borders))[::2] if b > a]
    if not gaps:
        return NOTHING
    shots = [a + (k + 0.5) * SHOT for a, b in gaps for k in range(max(1, math.floor((b - a) / SHOT)))]
    roll = roll_of(shots, keys, gain)
    ticks = sum(b - a for a, b in gaps) * rate
    # They are looked at once, so nothing of them is kept.
    after = roll.cost(costs) + len(shots) * (costs.keep + costs.fetch)
    along = ticks * costs.keep + len(shots) * costs.fetch
    return _cheaper({"along": along, "together": after}, roll, {"along": ticks, "together": 0}, costs)


def _cheaper(found: Mapping[Way, float], roll: Roll, frames: Mapping[Way, float], costs: Costs) -> Choice:
    fits = [way for way in found if frames[way] * costs.size <= ROOM] or ["together"]
    way: Way = min(fits, key=lambda one: found[one])
    read = Roll() if way == "along" else roll
    return Choice(way, found, read.seconds, read.seeks, frames[way] * costs.size)


def how_to_share(
    wanted: Mapping[str, Sequence[float]], keys: KeyFrames, costs: Costs, *, gain: float
) -> Choice:
    """Whether all who look share one pass; ``wanted`` are the ascending moments that each looks at.

    Shared, a frame is decoded once and kept for those who come later; else each decodes what they need.
    """
    readers = [moments for moments in wanted.values() if moments]
    if not readers:
        return NOTHING
    union = sorted({moment for moments in readers for moment in moments})
    rolls = [roll_of(moments, keys, gain) for moments in readers]
    apart = sum(roll.cost(costs) for roll in rolls)
    one = roll_of(union, keys, gain)
    later = sum(map(len, readers)) - len(union)
    kept = _wanted_again(readers)
    together = one.cost(costs) + kept * costs.keep + later * costs.fetch
    size = kept * costs.size
    found: dict[Way, float] = {"together": together, "apart": apart}
    if len(readers) > 1 and together <= apart and size <= ROOM:
        return Choice("together", found, one.seconds, one.seeks, size)
    return Choice("apart", found, round(sum(r.seconds for r in rolls), 3), sum(r.seeks for r in rolls))


def _wanted_again(readers: Sequence[Sequence[float]]) -> int:
    """How many moments more than one of them looks at."""
    seen: set[float] = set()
    again: set[float] = set()
    for moments in readers:
        own = set(moments)
        again |= seen & own
        seen |= own
    return len(again)


_MOST = 200_000
"""Key frames that are read; films of which every frame is one are not searched for an hour."""


def key_frames(film: Film) -> KeyFrames:
    """The key frames of ``film``; without seconds where its container has no index of them.

    Numbered stills and readers that never seek count as not seekable. Nothing is decoded.
    """
    from shotad.film.pyav_reader import PyavFilm

    if film.media is None or not isinstance(film, PyavFilm):
        return KeyFrames(seekable=False)
    try:
        container = film.media.open()
    except FilmError:
        return KeyFrames(seekable=False)
    with container:
        kinds = container.format.name.split(",")
        if SEEKABLE.isdisjoint(kinds):
            return KeyFrames(seekable=False)
        streams = [stream for stream in container.streams.video if not is_cover(stream)]
        if INDEXED.isdisjoint(kinds) or not streams:
            return KeyFrames()
        seconds = _indexed(container, streams[0], film.info.start)
    return KeyFrames(np.array(seconds, dtype=np.float64) if len(seconds) > 1 else None)


def _indexed(container: Any, stream: Any, start: Fraction) -> list[float]:
    import av

    try:
        # An index that stands at the film's end is only read when something is sought.
        container.seek(0)
    except (av.error.FFmpegError, OSError):
        return []
    base = stream.time_base or Fraction(1, 1_000_000)
    entries, stamp = stream.index_entries, None
    found: list[float] = []
    last = entries[len(entries) - 1].timestamp if len(entries) else -1
    while stamp is None or stamp < last:
        sought = -(1 << 62) if stamp is None else stamp + 1
        place = entries.search_timestamp(sought, backward=False)
        if place < 0 or len(found) >= _MOST:
            break
        stamp = entries[place].timestamp
        found.append(float(stamp * base - start))
    return found
