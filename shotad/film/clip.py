"""From frame plans to clips: one sorted pass over the pictures serves all slots."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from shotad.core import Clip, FramePlan
from shotad.film.reader import Picture

Pictures = Callable[[Sequence[float]], Iterable[Picture]]
"""Delivers one picture for each of the ascending seconds, in order."""


@dataclass(frozen=True, slots=True)
class ClipPlan:
    """The frames that one slot's clip wants, shot by shot, oldest first."""

    slot_id: str
    frames: tuple[FramePlan, ...]

    def __post_init__(self) -> None:
        if not self.frames:
            raise ValueError(f"the clip of slot {self.slot_id} must want at least one frame, got none")


@dataclass(slots=True)
class _Pending:
    plan: ClipPlan
    missing: int
    pictures: dict[float, Picture] = field(default_factory=dict)


def clips(plans: Iterable[ClipPlan], pictures: Pictures) -> Iterator[tuple[str, Clip]]:
    """The clips of ``plans``, in their order, each as soon as its last frame has been read.

    Pictures are read once, in the order of the film, and shared by the clips that want them; a clip
    that has been handed out is let go. A plan of which no frame can be had any more (the film ends
    early) is left out.
    """
    waiting = deque(_Pending(plan, len(_moments(plan))) for plan in plans)
    wanted_by: dict[float, list[_Pending]] = defaultdict(list)
    for pending in waiting:
        for moment in _moments(pending.plan):
            wanted_by[moment].append(pending)
    for picture in pictures(sorted(wanted_by)):
        for pending in wanted_by.pop(picture.wanted):
            pending.pictures[picture.wanted] = picture
            pending.missing -= 1
        while waiting and waiting[0].missing == 0:
            yield from _finished(waiting.popleft())
    for pending in waiting:
        yield from _finished(pending)


def _moments(plan: ClipPlan) -> list[float]:
    return sorted({float(second) for frames in plan.frames for second in frames.seconds})


def _finished(pending: _Pending) -> Iterator[tuple[str, Clip]]:
    had = [
        (frames.number, pending.pictures[float(second)])
        for frames in pending.plan.frames
        for second in frames.seconds
        if float(second) in pending.pictures
    ]
    if had:
        clip = Clip(
            np.stack([picture.image for _, picture in had]),
            np.array([picture.seconds for _, picture in had], dtype=np.float64),
            np.array([number for number, _ in had], dtype=np.int64),
        )
        yield pending.plan.slot_id, clip
    pending.pictures.clear()
