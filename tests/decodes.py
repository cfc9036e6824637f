"""Counts how often a film's picture is decoded: passes and frames."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

from shotad.film import Film, Picture
from shotad.film.decoder import Decoder
from shotad.film.framestore import FrameKeeper, nearest_tick, tick_second


class Decodes:
    """What came out of each decoder of a film's picture, oldest first; the pass that finds the shots may have several."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    @property
    def passes(self) -> list[int]:
        """The frames of each decoder that gave some."""
        return [count for count in self.counts.values() if count]

    @property
    def frames(self) -> int:
        """Frames decoded in all."""
        return sum(self.counts.values())


@contextmanager
def counted_decodes() -> Iterator[Decodes]:
    """Counts what is decoded of any film while it is open, in all threads."""
    found, lock = Decodes(), threading.Lock()
    numbers: dict[int, int] = {}
    begin, decode = Decoder.__init__, Decoder._raw_frames

    def begun(decoder: Decoder, *args: Any, **more: Any) -> None:
        with lock:
            numbers[id(decoder)] = len(found.counts)
            found.counts[len(found.counts)] = 0
        begin(decoder, *args, **more)

    def decoded(decoder: Decoder, *args: Any) -> Iterator[Any]:
        frames: Callable[..., Iterator[Any]] = decode
        for frame in frames(decoder, *args):
            found.counts[numbers[id(decoder)]] += 1
            yield frame

    with mock.patch.object(Decoder, "__init__", begun), mock.patch.object(Decoder, "_raw_frames", decoded):
        yield found


def grid_pictures(film: Film, moments: Sequence[float], height: int) -> list[Picture]:
    """For each of the ascending moments the grid's picture, by decoding the film."""
    keeper = FrameKeeper(film.info, height)
    frames = film.frames_at([tick_second(nearest_tick(moment)) for moment in moments])
    return [Picture(one.seconds, at, keeper.image(one)) for one, at in zip(frames, moments, strict=True)]
