"""The published code's ways of choosing frames, kept for comparison (Shot-by-Shot's stage1 data loader).

In a video moments are snapped to 32 positions of each shot, because faces had been detected only there. Of
numbered frames at 3 a second (TV-AD) whole frames are taken, and the slot is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shotad.core.types import ContextShot, Interval, Role, Seconds

POSITIONS = 32
"""Moments of a shot that may be shown, evenly from its start, its end left out."""

SEAM = 0.01
"""Seconds between the end of a published shot and the cut itself."""

HAIR = 1e-8
"""What the published code adds to what it divides by: a share that is just a whole number falls below it."""

SPARSE = 3
"""Frames a second up to which there is no point in sampling a slot more densely than its shots."""


def snapped_moments(slot: Interval, context: Sequence[ContextShot], half: int) -> list[tuple[int, Seconds]]:
    """Moments by the place of their shot in ``context``: ``half`` in the slot, up to as many outside.

    Times are read as whole milliseconds, as in the published tables. Moments may repeat. Fewer than twice
    ``half`` where the slot has no context.
    """
    slot, context = _in_ms(slot), [replace(c, clipped=_in_ms(c.clipped)) for c in context]
    owners, moments = snap(reference_moments(slot, context, half), context)
    return [(i, np.sort(moments[owners == i])) for i in np.unique(owners).tolist()]


def _in_ms(interval: Interval) -> Interval:
    start = round(interval.start, 3)
    return Interval(start, max(round(interval.end, 3), start + 0.001))


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
    n_left = round(n_margin * left / (left + right + HAIR))
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
    return min(2 * round((left + right) / (2 * duration + HAIR) * half // 2), half // 2)


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


def spread_moments(context: Sequence[ContextShot], half: int, frames: Seconds) -> list[tuple[int, Seconds]]:
    """Moments by the place of their shot in ``context``: ``half`` of the current shots, as many around them.

    ``frames`` are the moments of all frames of the film, ``float64[n]``, of which whole ones are taken. They
    repeat where there are too few. Only ``half`` where the slot has no context.
    """
    past, current, future = (_numbers([c for c in context if c.role is role], frames) for role in Role)
    n_past = _past_share(len(past), len(future), half)
    n_future = half - n_past if future else 0
    numbers = np.concatenate([_spread(past, n_past), _spread(current, half), _spread(future, n_future)])
    lasts = [_numbers([c], frames)[-1] for c in context[:-1]]
    owners = np.searchsorted(lasts, numbers)
    return [(i, frames[numbers[owners == i] - 1]) for i in np.unique(owners).tolist()]


def _numbers(pieces: Sequence[ContextShot], frames: Seconds) -> range:
    """Numbers of the frames, from 1, between the first start and the last end, holes included; of a stretch
    in which no frame begins, the one on the screen."""
    if not pieces:
        return range(0)
    before, end = np.searchsorted(frames, [pieces[0].clipped.start, pieces[-1].clipped.end])
    last = max(int(end), 1)
    return range(min(int(before) + 1, last), last + 1)


def _past_share(past: int, future: int, n: int) -> int:
    """Of ``n`` frames those of the past, of which there are so many; where it would be just a whole number
    it is one less."""
    return int(n * past / (past + future + HAIR)) if past and future else n * bool(past)


def _spread(numbers: range, n: int) -> npt.NDArray[np.int64]:
    """``n`` of the numbers, both ends included: ``1 … 4, 6 → 1, 1, 2, 3, 4, 4``."""
    if not n:
        return np.empty(0, np.int64)
    even = np.linspace(numbers[0] - 0.499, numbers[-1] + 0.499, n)
    return np.clip(np.round(even), numbers[0], numbers[-1]).astype(np.int64)
