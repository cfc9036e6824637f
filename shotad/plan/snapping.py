"""The published code's way of choosing frames, kept for comparison (Shot-by-Shot's stage1 data loader).

Its moments are snapped to 32 positions of each shot, because faces had been detected only there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shotad.types import ContextShot, Interval, Role, Seconds

POSITIONS = 32
"""Moments of a shot that may be shown, evenly from its start, its end left out."""

SEAM = 0.01
"""Seconds between the end of a published shot and the cut itself."""


def snapped_moments(slot: Interval, context: Sequence[ContextShot], half: int) -> list[tuple[int, Seconds]]:
    """Moments by the place of their shot in ``context``: ``half`` in the slot, up to as many outside.

    Moments may repeat. Fewer than twice ``half`` where the slot has no context.
    """
    owners, moments = snap(reference_moments(slot, context, half), context)
    return [(i, np.sort(moments[owners == i])) for i in np.unique(owners).tolist()]


def snap(moments: Seconds, context: Sequence[ContextShot]) -> tuple[npt.NDArray[np.int64], Seconds]:
    """The place of each moment's shot in ``context``, and the moment moved to a position of that shot.

    A moment in a hole between two shots belongs to the later one.
    """
    borders = np.array([c.clipped.end + SEAM for c in context[:-1]])
    owners = np.searchsorted(borders, moments, side="right")
    positions = np.stack([_even(c.clipped.start, c.clipped.end, POSITIONS) for c in context])[owners]
    nearest = np.abs(positions - moments[:, None]).argmin(axis=1)
    return owners.astype(np.int64), positions[np.arange(len(moments)), nearest]


def reference_moments(slot: Interval, context: Sequence[ContextShot], half: int) -> Seconds:
    """The moments before they are snapped: ``half`` in the slot, some in the margins, the rest around."""
    current = [c.clipped for c in context if c.role is Role.CURRENT]
    first, last = current[0].start, current[-1].end
    inner = slot.clip(Interval(first, last)) or Interval(first, last)
    left, right = inner.start - first, last - inner.end
    n_margin = margin_share(left, right, inner.duration, half)
    n_left = round(n_margin * left / (left + right)) if n_margin else 0
    past = [c.clipped for c in context if c.role is Role.PAST]
    future = [c.clipped for c in context if c.role is Role.FUTURE]
    n_past, n_future = _context_shares(past, future, half - n_margin)
    return np.concatenate(
        [
            _even(past[0].start, past[-1].end, n_past) if past else np.empty(0),
            _even(first, inner.start, n_left),
            _even(inner.start, inner.end, half),
            _even(inner.end, last, n_margin - n_left),
            _even(future[0].start, future[-1].end, n_future) if future else np.empty(0),
        ]
    )


def margin_share(left: float, right: float, duration: float, half: int) -> int:
    """How many of the outer moments fall into current shots: half the slot's density, even, at most half."""
    return min(2 * round(((left + right) / (2 * duration)) * half // 2), half // 2)


def _context_shares(past: Sequence[Interval], future: Sequence[Interval], n: int) -> tuple[int, int]:
    """Shares of past and future by the time from the first start to the last end, holes included.

    Where the code's rounding leaves a moment for a side without shots, the other side gets it.
    """
    if not past or not future:
        return (n, 0) if past else (0, n if future else 0)
    before, after = (pieces[-1].end - pieces[0].start for pieces in (past, future))
    n_past = int(n * before / (before + after))
    return n_past, n - n_past


def _even(start: float, end: float, n: int) -> Seconds:
    return np.linspace(start, end, n, endpoint=False, dtype=np.float64)
