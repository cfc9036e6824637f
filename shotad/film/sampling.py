"""From a slot to its clip: which shots around it are shown, and which frames of them.

The rules are those of Shot-by-Shot (section 3.1): the shots that the slot overlaps and their neighbours, cut
to reach; 16 frames inside the slot and 16 outside it. What the published code does otherwise is a setting.

Frames are chosen, not moments: a frame is asked for a quarter of a frame behind its stamp, so that
a reader finds that very frame whether it takes the last one before a moment or the nearest to it.
A frame belongs to a stretch of time where both its stamp and that moment do; nothing is taken from
the holes between the pieces of a clip.

The published code's ways (its stage1 data loader) are kept for comparison. In a video moments are snapped
to 32 positions of each shot, because faces had been detected only there. Of numbered frames at 3 a second
(TV-AD) whole frames are taken, and the slot is not looked at.

Film grammar is read from the first, the middle and the last frame of a shot, and two between (`moments_of`).
One sorted pass over the pictures serves the clips of all slots (`clips`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from shotad.core import (
    Clip,
    ContextShot,
    FramePlan,
    Interval,
    Shot,
)
from shotad.core.config.film import ContextSettings, FrameSettings
from shotad.core.types import Role, Seconds
from shotad.film.reader import Picture

CURRENT_REACH = 3.0
"""Seconds by which current shots may reach beyond the slot (published code)."""
CONTEXT_REACH = 19.0
"""Seconds by which context may: those and 8 for each of two neighbours (published code)."""
SHORTEST = 0.4
"""Seconds; pieces of context so short show nothing, and are dropped (published code)."""


def context_shots(
    slot: Interval, shots: Sequence[Shot], settings: ContextSettings
) -> tuple[ContextShot, ...]:
    """The shots shown for ``slot``, oldest first, each cut to the part that is shown.

    ``shots`` are those of the whole film, ascending, not overlapping. The first current shot is cut
    to start at most `CURRENT_REACH` seconds before the slot, the last to end as much after it; past and
    future shots are cut to `CONTEXT_REACH`. Neighbours are chosen before short pieces are dropped, and not
    replaced. A current shot always stays.

    A slot outside all shots gives one pseudo-shot, the slot itself, numbered after the film's last
    shot; two such slots share that number, so what is known of a shot belongs to the whole `Shot`.
    """
    first, end = _overlapping(slot, shots, settings.by_rules.inclusive)
    if first >= end:
        index = shots[-1].index + 1 if shots else 0
        return (ContextShot(Shot(index, slot), Role.CURRENT, slot),)
    past = _shown(slot, shots[max(first - settings.past, 0) : first], Role.PAST, CONTEXT_REACH)
    current = _shown(slot, shots[first:end], Role.CURRENT, CURRENT_REACH)
    future = _shown(slot, shots[end : end + settings.future], Role.FUTURE, CONTEXT_REACH)
    if not settings.by_rules.keep_current:
        current = _long(current) or current
    return (*_long(past), *current, *_long(future))


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


def _shown(slot: Interval, shots: Sequence[Shot], role: Role, reach: float) -> list[ContextShot]:
    """The shots, each cut to what lies within ``reach`` seconds of the slot."""
    wide = Interval(slot.start - reach, slot.end + reach)
    pieces = ((shot, shot.interval.clip(wide)) for shot in shots)
    return [ContextShot(shot, role, piece) for shot, piece in pieces if piece is not None]


def _long(pieces: Sequence[ContextShot]) -> list[ContextShot]:
    return [piece for piece in pieces if piece.clipped.duration > SHORTEST]


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
    # By the time from the first start to the last end, holes included. Where the code's rounding leaves a
    # moment for a side without shots, the other side gets it.
    n_past, n_outer = 0, half - n_margin
    if past and future:
        before, after = (pieces[-1].end - pieces[0].start for pieces in (past, future))
        n_past = int(n_outer * before / (before + after))
    elif past:
        n_past = n_outer
    return np.concatenate(
        [
            _even(past[0].start, past[-1].end, n_past) if past else np.empty(0),
            _even(first, inner.start, n_left),
            _even(inner.start, inner.end, half),
            _even(inner.end, last, n_margin - n_left),
            _even(future[0].start, future[-1].end, n_outer - n_past) if future else np.empty(0),
        ]
    )


def margin_share(left: float, right: float, duration: float, half: int) -> int:
    """How many of the outer moments fall into current shots: half the slot's density, even, at most half."""
    return min(2 * round((left + right) / (2 * duration + HAIR) * half // 2), half // 2)


def _even(start: float, end: float, n: int) -> Seconds:
    return np.linspace(start, end, n, endpoint=False, dtype=np.float64)


def spread_moments(context: Sequence[ContextShot], half: int, frames: Seconds) -> list[tuple[int, Seconds]]:
    """Moments by the place of their shot in ``context``: ``half`` of the current shots, as many around them.

    ``frames`` are the moments of all frames of the film, ``float64[n]``, of which whole ones are taken. They
    repeat where there are too few. Only ``half`` where the slot has no context.
    """
    past, current, future = (_numbers([c for c in context if c.role is role], frames) for role in Role)
    # Where the share would be just a whole number it is one less.
    both = past and future
    n_past = int(half * len(past) / (len(past) + len(future) + HAIR)) if both else half * bool(past)
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


def _spread(numbers: range, n: int) -> npt.NDArray[np.int64]:
    """``n`` of the numbers, both ends included: ``1 … 4, 6 → 1, 1, 2, 3, 4, 4``."""
    if not n:
        return np.empty(0, np.int64)
    even = np.linspace(numbers[0] - 0.499, numbers[-1] + 0.499, n)
    return np.clip(np.round(even), numbers[0], numbers[-1]).astype(np.int64)


LAG = 0.25
"""How far behind its stamp a frame is asked for, as a part of the time it is shown."""

MARGIN_WEIGHT = 2.0
"""How much denser than context the current shots are shown beyond the slot."""

TOLERANCE = 1e-6
"""Seconds by which a stamp may miss a border that it means; stamps are whole ms or finer."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The part of a context shot that lies inside the slot, before it, or after it.

    ``position`` is the shot's place in the context. ``moments`` are the seconds at which its frames
    are asked for and ``lengths`` how long each is shown there: ``float64[n]``.
    """

    position: int
    role: Role
    interval: Interval
    inside: bool
    moments: Seconds
    lengths: Seconds


Picks = list[tuple[int, Seconds]]
"""Moments by the place of their shot in the context."""


def plan_frames(
    slot: Interval,
    context: Sequence[ContextShot],
    settings: FrameSettings,
    frame_rate: Fraction,
    *,
    stamps: Seconds | None = None,
) -> tuple[FramePlan, ...]:
    """The moments to show of each shot, oldest shot first, numbered from 0 as they are painted.

    ``stamps`` are the seconds of the film's frames, ascending; without them frames are taken to
    stand ``1 / frame_rate`` apart from the start of each shot. Always ``inside + outside`` moments,
    distinct frames first; where the clip has too few, some are shown more than once. Every current
    shot has a frame, as long as there are not more of them than moments; a shot without one is left
    out, and the numbers are given after that.

    Raises ValueError for an empty context.
    """
    if not context:
        raise ValueError(f"the clip of slot {slot} has no shots, so no frames can be planned")
    if settings.sampling == "reference" and frame_rate <= SPARSE:
        if stamps is None:
            stamps = np.arange(np.ceil(context[-1].clipped.end * frame_rate)) / float(frame_rate)
        picks = spread_moments(context, settings.inside, _moments(stamps, float(1 / frame_rate)))
    elif settings.sampling == "reference":
        picks = snapped_moments(slot, context, settings.inside)
    else:
        stretches = _stretches(slot, context, settings, frame_rate, stamps)
        if settings.sampling == "uniform":
            # Evenly over the time shown, wherever the slot lies.
            current = {s.position for s in stretches if s.role is Role.CURRENT}
            picks = _evenly(stretches, settings.inside + settings.outside, required=current)
        else:
            picks = _in_slot_and_around(stretches, settings)
    by_shot = [[m for position, m in picks if position == i and len(m)] for i in range(len(context))]
    shown = [(c.role, np.sort(np.concatenate(m))) for c, m in zip(context, by_shot, strict=True) if m]
    return tuple(FramePlan(number, role, moments) for number, (role, moments) in enumerate(shown))


def _stretches(
    slot: Interval,
    context: Sequence[ContextShot],
    settings: FrameSettings,
    frame_rate: Fraction,
    stamps: Seconds | None,
) -> list[_Stretch]:
    """The clip cut at the slot's borders, ascending, with the frames of each part.

    A shot without a frame of its own, and a slot without one, still show what is on the screen.
    """
    parts = []
    for position, shot in enumerate(context):
        near, grid = _stamps_near(shot, frame_rate, stamps), float(1 / frame_rate)
        for interval, inside in _cut(shot.clipped, slot):
            if inside or settings.outside:
                # The frames that belong to this part, and how long each is shown in it.
                moments = _moments(near, grid)
                belongs = (near >= interval.start - TOLERANCE) & (moments < interval.end)
                gaps = np.diff(near, append=near[-1:] + grid)
                lengths = np.minimum(gaps, interval.end - near)[belongs]
                parts.append(_Stretch(position, shot.role, interval, inside, moments[belongs], lengths))
    bare = {s.position for s in parts} - {s.position for s in parts if len(s.moments)}
    slot_is_bare = not any(len(s.moments) for s in parts if s.inside)
    for position in sorted(bare):
        _let_longest_stand(parts, [i for i, s in enumerate(parts) if s.position == position])
    if slot_is_bare:
        _let_longest_stand(parts, [i for i, s in enumerate(parts) if s.inside])
    return [s for s in parts if len(s.moments)]


def _let_longest_stand(stretches: list[_Stretch], places: list[int]) -> None:
    """Show of the longest, in which no frame starts, what is on the screen half-way."""
    if places:
        longest = max(places, key=lambda i: (stretches[i].inside, stretches[i].interval.duration))
        chosen = stretches[longest]
        middle, length = np.array([chosen.interval.middle]), np.array([chosen.interval.duration])
        stretches[longest] = replace(chosen, moments=middle, lengths=length)


def _cut(piece: Interval, slot: Interval) -> Iterator[tuple[Interval, bool]]:
    """The parts of ``piece`` before, inside and after the slot; True marks the one inside."""
    if piece.start < slot.start:
        yield Interval(piece.start, min(piece.end, slot.start)), False
    shared = piece.clip(slot)
    if shared:
        yield shared, True
    if slot.end < piece.end:
        yield Interval(max(piece.start, slot.end), piece.end), False


def _stamps_near(shot: ContextShot, frame_rate: Fraction, stamps: Seconds | None) -> Seconds:
    """Stamps of the frames in and just after the shown piece, ``float64[n]``."""
    start, end = shot.clipped.start - TOLERANCE, shot.clipped.end - TOLERANCE
    if stamps is not None:
        low, high = (int(np.searchsorted(stamps, t)) for t in (start, end))
        return np.asarray(stamps[low : high + 1], dtype=np.float64)
    origin, step = shot.shot.interval.start, float(1 / frame_rate)
    low, high = (int(np.ceil((t - origin) / step)) for t in (start, end))
    return np.asarray(origin + np.arange(low, high + 1) * step, dtype=np.float64)


def _moments(stamps: Seconds, grid: float) -> Seconds:
    """When the frames are asked for; ``grid`` is their usual distance."""
    return np.asarray(stamps + LAG * np.minimum(np.diff(stamps, append=stamps[-1:] + grid), grid))


def _in_slot_and_around(stretches: Sequence[_Stretch], settings: FrameSettings) -> Picks:
    """``inside`` frames evenly over the slot, ``outside`` over the rest, current shots denser."""
    inner, outer = [s for s in stretches if s.inside], [s for s in stretches if not s.inside]
    only_inside = {s.position for s in inner} - {s.position for s in outer}
    total = settings.inside + settings.outside
    within, beyond = (sum(len(s.moments) for s in part) for part in (inner, outer))
    n_outer = min(settings.outside, beyond, max(total - len(only_inside), 0)) if within else total
    picks = _evenly(inner, total - n_outer, required=only_inside) if inner else []
    positions_with_moments = {position for position, moments in picks if len(moments)}
    weights = [s.interval.duration * (MARGIN_WEIGHT if s.role is Role.CURRENT else 1) for s in outer]
    required = [s.role is not Role.CURRENT or s.position not in positions_with_moments for s in outer]
    return picks + _shared_out(outer, n_outer, weights, required)


def _evenly(stretches: Sequence[_Stretch], n: int, required: Collection[int]) -> Picks:
    """``n`` moments evenly over the time of all; by shares where a required shot would get none."""
    owners = np.concatenate([np.full(len(s.moments), s.position) for s in stretches])
    moments = np.concatenate([s.moments for s in stretches])
    chosen = even_positions(np.concatenate([s.lengths for s in stretches]), n)
    if set(required) <= set(owners[chosen].tolist()):
        return [(int(i), moments[chosen][owners[chosen] == i]) for i in np.unique(owners[chosen])]
    weights = [s.interval.duration for s in stretches]
    return _shared_out(stretches, n, weights, [s.position in required for s in stretches])


def _shared_out(
    stretches: Sequence[_Stretch], n: int, weights: Sequence[float], required: Sequence[bool]
) -> Picks:
    shares = apportion(n, weights, [len(s.moments) for s in stretches], required)
    return [
        (s.position, s.moments[even_positions(s.lengths, k)])
        for s, k in zip(stretches, shares, strict=True)
        if k
    ]


def apportion(
    n: int, weights: Sequence[float], capacities: Sequence[int], required: Sequence[bool]
) -> list[int]:
    """``n`` seats over parties by weight (Webster's method), the required ones first.

    No share exceeds its capacity while another has room; after that the rest is given by weight.

    >>> apportion(6, [3.0, 1.0, 0.1], [9, 9, 9], [False, False, True])
    [4, 1, 1]
    """
    shares = [0] * len(weights)
    order = sorted(range(len(weights)), key=lambda i: -weights[i])
    for i in [i for i in order if required[i]][:n]:
        shares[i] = 1
    for _ in range(n - sum(shares) if order else 0):
        open_ones = [i for i in order if shares[i] < capacities[i]] or order
        winner = max(open_ones, key=lambda i: weights[i] / (2 * shares[i] + 1))
        shares[winner] += 1
    return shares


def even_positions(lengths: Seconds, n: int) -> npt.NDArray[np.int64]:
    """Ascending positions of ``n`` frames, evenly over the time that the frames are shown.

    Distinct where there are ``n`` frames; else every frame at least once.

    >>> even_positions(np.ones(8), 4).tolist(), even_positions(np.ones(2), 3).tolist()
    ([1, 3, 5, 7], [0, 1, 1])
    """
    m = len(lengths)
    middles = (np.arange(n) + 0.5) / n if n else np.empty(0)
    if n >= m:
        return np.floor(middles * m).astype(np.int64)
    ends = np.cumsum(lengths)
    indices = np.searchsorted(ends, middles * ends[-1], side="right")
    steps = np.arange(n)
    rising = np.maximum.accumulate(indices - steps) + steps
    return np.minimum(rising, m - n + steps).astype(np.int64)


@dataclass(frozen=True, slots=True)
class ShotMoments:
    """The seconds at which frames of a shot are asked for, ascending.

    ``quarter`` and ``three_quarters`` are for readers of scale that want more than the middle frame.
    """

    first: float
    quarter: float
    middle: float
    three_quarters: float
    last: float

    def __post_init__(self) -> None:
        moments = [self.first, self.quarter, self.middle, self.three_quarters, self.last]
        if moments != sorted(moments):
            raise ValueError(f"moments of a shot must ascend, got {self}")


Moment = Literal["first", "quarter", "middle", "three_quarters", "last"]
"""Name of one of them."""

_BETWEEN = (0.25, 0.5, 0.75)


def moments_of(shot: Interval, frame_rate: Fraction, *, stamps: Seconds | None = None) -> ShotMoments | None:
    """The first and the last frame of ``shot``, and those at a quarter, the middle and three quarters.

    Frames stand ``1 / frame_rate`` apart from the shot's start, and are asked for a quarter of that
    behind their stamps, so that every reader finds them. With ``stamps``, ``float64[n]`` ascending, they
    are the first and last stamp inside the shot and those nearest to the places between; None where none is.

    >>> moments_of(Interval(1.0, 3.0), Fraction(4), stamps=np.arange(0, 9, 0.5))
    ShotMoments(first=1.0, quarter=1.5, middle=2.0, three_quarters=2.5, last=2.5)
    """
    between = [shot.start + part * shot.duration for part in _BETWEEN]
    if stamps is not None:
        low, high = (int(np.searchsorted(stamps, t - TOLERANCE)) for t in (shot.start, shot.end))
        inside = stamps[low:high]
        if not len(inside):
            return None
        a, b, c = (float(inside[int(np.argmin(np.abs(inside - second)))]) for second in between)
        return ShotMoments(float(inside[0]), a, b, c, float(inside[-1]))
    frame = float(1 / frame_rate)
    first = min(shot.start + LAG * frame, shot.middle)
    last = max(shot.end - (1 - LAG) * frame, first)
    a, b, c = (min(max(second, first), last) for second in between)
    return ShotMoments(first, a, b, c, last)


def published_moments_of(shot: Interval) -> ShotMoments:
    """The same as the published code has it: positions 0, 15 and 31 of 32, the end left out."""
    a, b, c, d, e = (shot.start + k * shot.duration / POSITIONS for k in (0, 8, 15, 24, POSITIONS - 1))
    return ShotMoments(a, b, c, d, e)


Pictures = Callable[[Sequence[float]], Iterable[Picture]]
"""Delivers one picture for each of the ascending seconds, in order."""


Frames = tuple[FramePlan, ...]
"""The frames that one slot's clip wants, shot by shot, oldest first."""


def clips(plans: Iterable[tuple[str, Frames]], pictures: Pictures) -> Iterator[tuple[str, Clip]]:
    """The clips of ``plans`` (slot id, frames), in their order, each as soon as its last frame has been read.

    Pictures are read once, in the order of the film, and shared by the clips that want them; a clip
    that has been handed out is let go. A plan of which no frame can be had any more (the film ends
    early) is left out. Raises ValueError for a plan without frames.
    """
    # Each plan with its pictures by second: None until they are read.
    waiting: deque[tuple[str, Frames, dict[float, Picture | None]]] = deque()
    wanted_by: dict[float, list[dict[float, Picture | None]]] = defaultdict(list)
    for slot_id, frames in plans:
        if not frames:
            raise ValueError(f"the clip of slot {slot_id} must want at least one frame, got none")
        read = dict.fromkeys(float(second) for shot in frames for second in shot.seconds)
        waiting.append((slot_id, frames, read))
        for moment in read:
            wanted_by[moment].append(read)
    for picture in pictures(sorted(wanted_by)):
        for read in wanted_by.pop(picture.wanted):
            read[picture.wanted] = picture
        while waiting and None not in waiting[0][-1].values():
            yield from _finished(*waiting.popleft())
    for slot_id, frames, read in waiting:
        yield from _finished(slot_id, frames, read)


def _finished(slot_id: str, frames: Frames, read: dict[float, Picture | None]) -> Iterator[tuple[str, Clip]]:
    had = [
        (shot.number, picture)
        for shot in frames
        for second in shot.seconds
        if (picture := read[float(second)]) is not None
    ]
    read.clear()
    if had:
        numbers = np.array([number for number, _ in had], dtype=np.int64)
        seconds = np.array([picture.seconds for _, picture in had], dtype=np.float64)
        images = np.empty((len(had), *had[0][1].image.shape), np.uint8)
        for k in reversed(range(len(had))):  # each is let go once it is copied
            images[k] = had.pop()[1].image
        yield slot_id, Clip(images, seconds, numbers)
