"""What is to be shown and known for one slot, before any pixel is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shotad.core import NOBODY, ContextShot, FramePlan, Grammar, Interval, Presence, Role, Scene, Slot
from shotad.description.hints import Heard

_SLACK = 1e-6
"""Seconds by which a planned moment may miss the border of its shot, for rounding."""


@dataclass(frozen=True, slots=True)
class SlotPlan:
    """One slot with its clip: ``shots[k]`` and ``frames[k]`` are those of painted number ``k``."""

    slot: Slot
    shots: tuple[ContextShot, ...]
    frames: tuple[FramePlan, ...]
    grammar: Grammar
    speech: tuple[Interval, ...] = ()
    """Where people speak while the clip lasts."""
    presence: Presence = NOBODY
    """Who of the cast is on its frames."""
    heard: tuple[Heard, ...] = ()
    """Names in the subtitles near the clip."""

    def __post_init__(self) -> None:
        if len(self.shots) != len(self.frames):
            raise ValueError(
                f"slot {self.slot.id} has {len(self.shots)} shots and {len(self.frames)} frame plans"
            )
        if [frames.number for frames in self.frames] != list(range(len(self.frames))):
            raise ValueError(f"painted numbers must count from 0, got {[f.number for f in self.frames]}")

    @property
    def current(self) -> tuple[int, ...]:
        """Painted numbers of the current shots."""
        return tuple(f.number for f in self.frames if f.role is Role.CURRENT)

    @property
    def others(self) -> tuple[int, ...]:
        """Painted numbers of the past and future shots."""
        return tuple(f.number for f in self.frames if f.role is not Role.CURRENT)

    @property
    def scene(self) -> Scene:
        """The same for an engine."""
        return Scene(self.slot.interval, self.shots, self.slot.credits, self.speech, self.presence)


def shown_shots(context: Sequence[ContextShot], frames: Sequence[FramePlan]) -> tuple[ContextShot, ...]:
    """The context shots that got frames, by painted number. Both come oldest first."""
    pieces = iter(context)
    return tuple(next(piece for piece in pieces if _holds(piece, plan)) for plan in frames)


def _holds(piece: ContextShot, plan: FramePlan) -> bool:
    first = float(plan.seconds[0])
    return piece.role is plan.role and piece.clipped.start - _SLACK <= first < piece.clipped.end + _SLACK
