"""Counts how often a film's picture is decoded: passes, frames and seeks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from shotad.film import Decoder, Film, Grid, Picture
from shotad.film.grid import Keeper


@dataclass(slots=True)
class Pass:
    """One decoder of a film's picture: how many frames came out of it, and how often it sought.

    The pass that finds the shots may have several, each for its own parts of the film.
    """

    frames: int = 0
    seeks: int = 0


@dataclass(slots=True)
class Decodes:
    """All passes, oldest first. A film that was opened and of which nothing was decoded is no pass."""

    all: list[Pass] = field(default_factory=list)

    @property
    def passes(self) -> list[Pass]:
        """Those that decoded something."""
        return [one for one in self.all if one.frames]

    @property
    def frames(self) -> int:
        """Frames decoded in all."""
        return sum(one.frames for one in self.all)

    @property
    def seeks(self) -> int:
        """Seeks in all."""
        return sum(one.seeks for one in self.all)

    def __str__(self) -> str:
        each = ", ".join(f"{one.frames} frames/{one.seeks} seeks" for one in self.passes)
        return f"{len(self.passes)} passes, {self.frames} frames, {self.seeks} seeks ({each})"


@contextmanager
def counted_decodes() -> Iterator[Decodes]:
    """Counts what is decoded of any film while it is open, in all threads."""
    found, lock = Decodes(), threading.Lock()
    passes: dict[int, Pass] = {}
    begin, decode, land = Decoder.__init__, Decoder._raw_frames, Decoder.land

    def begun(reel: Decoder, *args: Any, **more: Any) -> None:
        one = Pass()
        with lock:
            found.all.append(one)
            passes[id(reel)] = one
        begin(reel, *args, **more)

    def decoded(reel: Decoder, *args: Any) -> Iterator[Any]:
        frames: Callable[..., Iterator[Any]] = decode
        for frame in frames(reel, *args):
            passes[id(reel)].frames += 1
            yield frame

    def landed(reel: Decoder, wanted: float) -> Any:
        passes[id(reel)].seeks += 1
        return land(reel, wanted)

    with (
        mock.patch.object(Decoder, "__init__", begun),
        mock.patch.object(Decoder, "_raw_frames", decoded),
        mock.patch.object(Decoder, "land", landed),
    ):
        yield found


def grid_pictures(film: Film, moments: Sequence[float], grid: Grid) -> list[Picture]:
    """For each of the ascending moments the grid's picture, by decoding the film."""
    keeper = Keeper(film.info, grid)
    frames = film.frames_at([grid.second(grid.tick(moment)) for moment in moments])
    return [Picture(one.seconds, at, keeper.image(one)) for one, at in zip(frames, moments, strict=True)]
