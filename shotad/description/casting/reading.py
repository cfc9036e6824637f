"""The faces of a film's shots, followed through each shot, and kept so that a later run need not look again.

What is kept are biometric data: boxes and embeddings of faces, in ``NAME.jsonl`` of the work folder and
nowhere else (``shotad cast forget`` removes them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shotad.core import Image, Progress, RecordLog, Shot, key_of, reported
from shotad.film import Picture
from shotad.sight import FaceModels, FaceTrack, from_row, to_row, tracks_of_shot

Pictures = Callable[[Sequence[float]], Iterable[Picture]]
"""Delivers one picture for each of the ascending seconds, in order."""

REVISION = 1
"""Raise it with every change of what a record holds."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where faces are looked for in one shot: at the seconds ``looks``.

    ``frames`` are further seconds, of frames that are shown: when each of those really came up is kept.
    Both ascend and lie in the shot.
    """

    shot: Shot
    looks: tuple[float, ...]
    frames: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ShotFaces:
    """The faces of one shot, and at which second the frame of each wanted moment came up."""

    shot: Shot
    tracks: tuple[FaceTrack, ...]
    came_up: Mapping[float, float]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the pictures come from, and all that changes them."""

    pictures: Pictures
    key: object


def read_faces(
    wanted: Sequence[Wanted],
    source: Source,
    models: FaceModels,
    log: RecordLog,
    progress: Progress,
    *,
    tidy: bool = True,
) -> Iterator[ShotFaces]:
    """The faces of each shot, oldest first, one shot at a time; those in ``log`` are not looked for again.

    ``tidy``: when all have been handed out, ``log`` holds just these.
    """
    keys = {w.shot.index: _key(w, source, models) for w in wanted}
    missing = [w for w in wanted if log.get(keys[w.shot.index]) is None]
    with reported(progress, "Looking for faces", len(missing), "shots") as task:
        fresh = _looked(missing, source.pictures, models)
        for want in wanted:
            key = keys[want.shot.index]
            if log.get(key) is None:
                log.add(key, next(fresh))
                task.advance()
            yield _faces_of(want.shot, log.record(key))
    if tidy:
        log.keep(keys.values())


def missing_of(wanted: Sequence[Wanted], source: Source, models: FaceModels, log: RecordLog) -> list[Wanted]:
    """Those of ``wanted`` that ``log`` does not hold."""
    return [want for want in wanted if log.get(_key(want, source, models)) is None]


def moments_of(wanted: Sequence[Wanted]) -> list[float]:
    """All the seconds that are looked at, ascending."""
    return [second for want in wanted for second in sorted({*want.looks, *want.frames})]


def known_faces(log: RecordLog, shots: Sequence[Shot], models: FaceModels) -> list[ShotFaces]:
    """All that ``log`` holds of these shots by these models, whatever was wanted."""
    by_index = {shot.index: shot for shot in shots}
    rows = (r for r in log.records() if r.get("models") == models.identity and r.get("shot") in by_index)
    return [_faces_of(by_index[row["shot"]], row) for row in rows]


def ticks_in(start: float, end: float, rate: float) -> list[float]:
    """The moments in ``[start, end)`` of a clock that goes from second 0 at ``rate`` a second.

    >>> ticks_in(0.9, 2.0, 2.0)
    [1.0, 1.5]
    """
    first = int(-(-start * rate // 1))
    moments = (n / rate for n in range(max(first - 1, 0), int(end * rate) + 2))
    return [moment for moment in moments if start <= moment < end]


def _key(want: Wanted, source: Source, models: FaceModels) -> str:
    interval = want.shot.interval
    moments = [want.looks, want.frames]
    return key_of("faces", REVISION, source.key, models.identity, [interval.start, interval.end], moments)


def _looked(wanted: Sequence[Wanted], pictures: Pictures, models: FaceModels) -> Iterator[dict[str, Any]]:
    """A record for each shot; the pictures of all are read in one pass, and let go one by one."""
    moments = moments_of(wanted)
    shown = _Queue(pictures(moments)) if moments else _Queue(())
    for want in wanted:
        came_up: dict[float, float] = {}
        tracks = tracks_of_shot(_looks(want, shown, came_up), want.shot.index, models)
        yield {
            "shot": want.shot.index,
            "models": models.identity,
            "frames": [[second, came_up[second]] for second in want.frames if second in came_up],
            "tracks": [to_row(track) for track in tracks],
        }


def _looks(want: Wanted, shown: _Queue, came_up: dict[float, float]) -> Iterator[tuple[float, Image]]:
    """The pictures of one shot that are looked at, each frame once; ``came_up`` is filled on the way."""
    last = max([*want.looks, *want.frames], default=-1.0)
    looks, before = frozenset(want.looks), -1.0
    while (picture := shown.up_to(last)) is not None:
        came_up[picture.wanted] = picture.seconds
        if picture.wanted in looks and picture.seconds > before:
            before = picture.seconds
            yield picture.seconds, picture.image


class _Queue:
    """Pictures in order, of which the next can be left for later."""

    def __init__(self, pictures: Iterable[Picture]) -> None:
        self._rest = iter(pictures)
        self._next = next(self._rest, None)

    def up_to(self, second: float) -> Picture | None:
        """The next picture that was wanted for ``second`` or before; None where it is of a later one."""
        if self._next is None or self._next.wanted > second:
            return None
        picture, self._next = self._next, next(self._rest, None)
        return picture


def _faces_of(shot: Shot, record: Mapping[str, Any]) -> ShotFaces:
    tracks = tuple(from_row(row) for row in record["tracks"])
    return ShotFaces(shot, tracks, dict(record["frames"]))
