"""Which shots around a slot are shown: the shots it overlaps, and their neighbours, cut to reach.

The rule is that of Shot-by-Shot (section 3.1); what the published code does otherwise is a setting.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from shotad.config import ContextSettings
from shotad.types import ContextShot, Interval, Role, Shot

ROUNDING = 1e-9
"""Seconds; a piece from 9.6 to 10.0 is one of 0.4 s, whatever its floats say."""


def context_shots(
    slot: Interval, shots: Sequence[Shot], settings: ContextSettings
) -> tuple[ContextShot, ...]:
    """The shots shown for ``slot``, oldest first, each cut to the part that is shown.

    ``shots`` are those of the whole film, ascending, not overlapping. The first current shot is cut
    to start at most ``internal_range`` seconds before the slot, the last to end as much after it;
    past and future shots are cut to ``internal_range + 2 x external_range``. Neighbours are chosen
    before short pieces are dropped, and not replaced.

    A slot outside all shots gives one pseudo-shot, the slot itself, numbered after the film's last
    shot; two such slots share that number, so what is known of a shot belongs to the whole `Shot`.
    """
    first, end = _overlapping(slot, shots, settings.inclusive)
    if first >= end:
        index = shots[-1].index + 1 if shots else 0
        return (ContextShot(Shot(index, slot), Role.CURRENT, slot),)
    near = _around(slot, settings.internal_range)
    wide = _around(slot, settings.internal_range + 2 * settings.external_range)
    past = [_piece(s, Role.PAST, wide) for s in shots[max(first - settings.past, 0) : first]]
    current = [_piece(s, Role.CURRENT, near) for s in shots[first:end]]
    future = [_piece(s, Role.FUTURE, wide) for s in shots[end : end + settings.future]]
    kept = [p for p in (*past, *current, *future) if p is not None and _long_enough(p, settings)]
    return tuple(kept)


def _overlapping(slot: Interval, shots: Sequence[Shot], inclusive: bool) -> tuple[int, int]:
    """Positions ``[first, end)`` of the shots that overlap the slot; touching counts if ``inclusive``."""
    if inclusive:
        return (
            bisect_left(shots, slot.start, key=lambda s: s.interval.end),
            bisect_right(shots, slot.end, key=lambda s: s.interval.start),
        )
    return (
        bisect_right(shots, slot.start, key=lambda s: s.interval.end),
        bisect_left(shots, slot.end, key=lambda s: s.interval.start),
    )


def _around(slot: Interval, reach: float) -> Interval:
    return Interval(slot.start - reach, slot.end + reach)


def _piece(shot: Shot, role: Role, reach: Interval) -> ContextShot | None:
    """The shot cut to what is in reach, or None where nothing of it is."""
    clipped = shot.interval.clip(reach)
    return ContextShot(shot, role, clipped) if clipped else None


def _long_enough(piece: ContextShot, settings: ContextSettings) -> bool:
    if piece.role is Role.CURRENT and settings.keep_current:
        return True
    return piece.clipped.duration > settings.shortest + ROUNDING
