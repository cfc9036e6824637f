"""Where the decoding of a film can begin, from the index of its container."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from shotad.core import FilmError
from shotad.film.container import is_cover
from shotad.film.decoder import INDEXED, SEEKABLE
from shotad.film.reader import Film
from shotad.film.zones import KeyFrames

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
