"""Which shots around a slot are shown: the shots it overlaps, and their neighbours, cut to reach.

The rule is that of Shot-by-Shot (section 3.1); what the published code does otherwise is a setting.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from shotad.core import ContextSettings, ContextShot, Interval, Role, Shot


def context_shots(
    slot: Interval, shots: Sequence[Shot], settings: ContextSettings
) -> tuple[ContextShot, ...]:
    """The shots shown for ``slot``, oldest first, each cut to the part that is shown.

    ``shots`` are those of the whole film, ascending, not overlapping. The first current shot is cut
    to start at most ``internal_range`` seconds before the slot, the last to end as much after it;
    past and future shots are cut to ``internal_range + 2 x external_range``. Neighbours are chosen
    before short pieces are dropped, and not replaced. A current shot always stays.

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
    shown = _long(current, 0.0 if settings.keep_current else settings.shortest) or _long(current, 0.0)
    return (*_long(past, settings.shortest), *shown, *_long(future, settings.shortest))


def _overlapping(slot: Interval, shots: Sequence[Shot], inclusive: bool) -> tuple[int, int]:
    """Positions ``[first, end)`` of the shots that overlap the slot.

    ``inclusive``: a shot that ends where the slot begins counts too, and one that begins where it ends, as in
    lists with a gap at each cut. Where two shots meet without a gap, that moment is the border of both, and
    neither counts for it: frames ``(9, 14)``, both within, and the slot ``(15, 20)`` share no frame.
    """
    first = bisect_right(shots, slot.start, key=lambda s: s.interval.end)
    end = bisect_left(shots, slot.end, key=lambda s: s.interval.start)
    if inclusive:
        first -= _borders(shots, first, slot.start) == (True, False)
        end += _borders(shots, end, slot.end) == (False, True)
    return first, end


def _borders(shots: Sequence[Shot], place: int, moment: float) -> tuple[bool, bool]:
    """Whether the shot before ``place`` ends at ``moment``, and whether the one at ``place`` begins there."""
    ends = place > 0 and shots[place - 1].interval.end == moment
    return ends, place < len(shots) and shots[place].interval.start == moment


def _around(slot: Interval, reach: float) -> Interval:
    return Interval(slot.start - reach, slot.end + reach)


def _piece(shot: Shot, role: Role, reach: Interval) -> ContextShot | None:
    """The shot cut to what is in reach, or None where nothing of it is."""
    clipped = shot.interval.clip(reach)
    return ContextShot(shot, role, clipped) if clipped else None


def _long(pieces: Sequence[ContextShot | None], seconds: float) -> list[ContextShot]:
    """The pieces that are longer than ``seconds``."""
    return [piece for piece in pieces if piece is not None and piece.clipped.duration > seconds]
