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
    past = _within_reach(slot, shots[max(first - settings.past, 0) : first], Role.PAST, CONTEXT_REACH)
    current = _within_reach(slot, shots[first:end], Role.CURRENT, CURRENT_REACH)
    future = _within_reach(slot, shots[end : end + settings.future], Role.FUTURE, CONTEXT_REACH)
    if not settings.by_rules.keep_current:
        current = _without_short(current) or current
    return (*_without_short(past), *current, *_without_short(future))


def _overlapping(slot: Interval, shots: Sequence[Shot], inclusive: bool) -> tuple[int, int]:
    """Positions ``[first, end)`` of the shots that overlap the slot.

    ``inclusive``: a shot that ends where the slot begins counts too, and one that begins where it ends, as in
    lists with a gap at each cut. Where two shots meet without a gap, that moment is the border of both, and
    neither counts for it: frames ``(9, 14)``, both within, and the slot ``(15, 20)`` share no frame.
    """
    first = bisect_right(shots, slot.start, key=lambda shot: shot.interval.end)
    end = bisect_left(shots, slot.end, key=lambda shot: shot.interval.start)
    if inclusive:
        if _ends_at(shots, first - 1, slot.start) and not _begins_at(shots, first, slot.start):
            first -= 1
        if _begins_at(shots, end, slot.end) and not _ends_at(shots, end - 1, slot.end):
            end += 1
    return first, end


def _ends_at(shots: Sequence[Shot], place: int, moment: float) -> bool:
    """Whether there is a shot at ``place``, and it ends at ``moment``."""
    return place >= 0 and shots[place].interval.end == moment


def _begins_at(shots: Sequence[Shot], place: int, moment: float) -> bool:
    """Whether there is a shot at ``place``, and it begins at ``moment``."""
    return place < len(shots) and shots[place].interval.start == moment


def _within_reach(slot: Interval, shots: Sequence[Shot], role: Role, reach: float) -> list[ContextShot]:
    """The shots, each cut to what lies within ``reach`` seconds of the slot."""
    wide = Interval(slot.start - reach, slot.end + reach)
    pieces: list[ContextShot] = []
    for shot in shots:
        clipped = shot.interval.clip(wide)
        if clipped is not None:
            pieces.append(ContextShot(shot, role, clipped))
    return pieces


def _without_short(pieces: Sequence[ContextShot]) -> list[ContextShot]:
    """The pieces that are long enough to show something."""
    return [piece for piece in pieces if piece.clipped.duration > SHORTEST]


POSITIONS = 32
"""Moments of a shot that may be shown, evenly from its start, its end left out."""

SEAM = 0.01
"""Seconds between the end of a published shot and the cut itself."""

HAIR = 1e-8
"""What the published code adds to what it divides by: a share that is just a whole number falls below it."""

SPARSE = 3
"""Frames a second up to which there is no point in sampling a slot more densely than its shots."""


@dataclass(frozen=True, slots=True)
class ShownMoments:
    """Moments at which a shot is shown, ``float64[n]``; ``place`` is that of the shot in the context."""

    place: int
    moments: Seconds


def _by_place(places: npt.NDArray[np.int64], moments: Seconds) -> list[ShownMoments]:
    """The moments of each place; ``places[k]`` is that of ``moments[k]``."""
    return [ShownMoments(place, moments[places == place]) for place in np.unique(places).tolist()]


def snapped_moments(slot: Interval, context: Sequence[ContextShot], half: int) -> list[ShownMoments]:
    """Moments by the shots of ``context``: ``half`` in the slot, up to as many outside.

    Times are read as whole milliseconds, as in the published tables. Moments may repeat. Fewer than twice
    ``half`` where the slot has no context.
    """
    slot = _in_ms(slot)
    context = [replace(piece, clipped=_in_ms(piece.clipped)) for piece in context]
    places, moments = snap(reference_moments(slot, context, half), context)
    return _by_place(places, moments)


def _in_ms(interval: Interval) -> Interval:
    """The interval in whole milliseconds, at least one."""
    start = round(interval.start, 3)
    return Interval(start, max(round(interval.end, 3), start + 0.001))


def snap(moments: Seconds, context: Sequence[ContextShot]) -> tuple[npt.NDArray[np.int64], Seconds]:
    """The place of each moment's shot in ``context``, and the moment moved to a position of that shot.

    A moment in a hole between two shots belongs to the later one.
    """
    borders = np.array([piece.clipped.end + SEAM for piece in context[:-1]])
    places = np.searchsorted(borders, moments, side="right")
    positions = np.stack([_even(piece.clipped.start, piece.clipped.end, POSITIONS) for piece in context])
    positions_of_moment = positions[places]
    nearest = np.abs(positions_of_moment - moments[:, None]).argmin(axis=1)
    return places.astype(np.int64), positions_of_moment[np.arange(len(moments)), nearest]


def reference_moments(slot: Interval, context: Sequence[ContextShot], half: int) -> Seconds:
    """The moments before they are snapped: ``half`` in the slot, some in the margins, the rest around."""
    current = _span(context, Role.CURRENT)
    assert current is not None  # `context_shots` always has a current shot
    inner = slot.clip(current) or current
    left, right = inner.start - current.start, current.end - inner.end
    n_margin = margin_share(left, right, inner.duration, half)
    n_left = round(n_margin * left / (left + right + HAIR))
    past, future = _span(context, Role.PAST), _span(context, Role.FUTURE)
    # Where the code's rounding leaves a moment for a side without shots, the other side gets it.
    n_past, n_outer = 0, half - n_margin
    if past is not None and future is not None:
        n_past = int(n_outer * past.duration / (past.duration + future.duration))
    elif past is not None:
        n_past = n_outer
    parts = [
        _even(current.start, inner.start, n_left),
        _even(inner.start, inner.end, half),
        _even(inner.end, current.end, n_margin - n_left),
    ]
    if past is not None:
        parts.insert(0, _even(past.start, past.end, n_past))
    if future is not None:
        parts.append(_even(future.start, future.end, n_outer - n_past))
    return np.concatenate(parts)


def _span(context: Sequence[ContextShot], role: Role) -> Interval | None:
    """The time from the first start to the last end of the shots with this role, holes included."""
    pieces = [piece.clipped for piece in context if piece.role is role]
    return Interval(pieces[0].start, pieces[-1].end) if pieces else None


def margin_share(left: float, right: float, duration: float, half: int) -> int:
    """How many of the outer moments fall into current shots: half the slot's density, even, at most half."""
    return min(2 * round((left + right) / (2 * duration + HAIR) * half // 2), half // 2)


def _even(start: float, end: float, n: int) -> Seconds:
    return np.linspace(start, end, n, endpoint=False, dtype=np.float64)


def spread_moments(context: Sequence[ContextShot], half: int, frames: Seconds) -> list[ShownMoments]:
    """Moments by the shots of ``context``: ``half`` of the current shots, as many around them.

    ``frames`` are the moments of all frames of the film, ``float64[n]``, of which whole ones are taken. They
    repeat where there are too few. Only ``half`` where the slot has no context.
    """
    past = _numbers(_span(context, Role.PAST), frames)
    current = _numbers(_span(context, Role.CURRENT), frames)
    future = _numbers(_span(context, Role.FUTURE), frames)
    if past and future:
        # Where the share would be just a whole number it is one less.
        n_past = int(half * len(past) / (len(past) + len(future) + HAIR))
    else:
        n_past = half if past else 0
    n_future = half - n_past if future else 0
    numbers = np.concatenate([_spread(past, n_past), _spread(current, half), _spread(future, n_future)])
    last_numbers = [_numbers(piece.clipped, frames)[-1] for piece in context[:-1]]
    places = np.searchsorted(last_numbers, numbers).astype(np.int64)
    return _by_place(places, frames[numbers - 1])


def _numbers(time: Interval | None, frames: Seconds) -> range:
    """Numbers of the frames, from 1, that begin in ``time``; where none does, the one on the screen."""
    if time is None:
        return range(0)
    before, end = np.searchsorted(frames, [time.start, time.end])
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
class _Part:
    """The part of a context shot that lies inside the slot, before it, or after it.

    ``place`` is that of the shot in the context. ``moments`` are the seconds at which its frames are asked
    for and ``lengths`` how long each is shown there: ``float64[n]``.
    """

    place: int
    role: Role
    interval: Interval
    inside: bool
    moments: Seconds
    lengths: Seconds


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
        shown = spread_moments(context, settings.inside, _moments(stamps, float(1 / frame_rate)))
    elif settings.sampling == "reference":
        shown = snapped_moments(slot, context, settings.inside)
    else:
        parts = _parts(slot, context, settings, frame_rate, stamps)
        if settings.sampling == "uniform":
            # Evenly over the time shown, wherever the slot lies.
            current = {part.place for part in parts if part.role is Role.CURRENT}
            shown = _evenly(parts, settings.inside + settings.outside, required=current)
        else:
            shown = _in_slot_and_around(parts, settings)
    # Of a shot at a border of the slot some may be shown inside it, and others outside.
    moments_by_place: dict[int, list[Seconds]] = defaultdict(list)
    for shot in shown:
        moments_by_place[shot.place].append(shot.moments)
    plans: list[FramePlan] = []
    for place, piece in enumerate(context):
        if place in moments_by_place:
            moments = np.sort(np.concatenate(moments_by_place[place]))
            plans.append(FramePlan(len(plans), piece.role, moments))
    return tuple(plans)


def _parts(
    slot: Interval,
    context: Sequence[ContextShot],
    settings: FrameSettings,
    frame_rate: Fraction,
    stamps: Seconds | None,
) -> list[_Part]:
    """The clip cut at the slot's borders, ascending, with the frames of each part.

    A shot without a frame of its own, and a slot without one, still show what is on the screen.
    """
    distance = float(1 / frame_rate)
    parts: list[_Part] = []
    for place, shot in enumerate(context):
        near = _stamps_near(shot, frame_rate, stamps)
        moments = _moments(near, distance)
        shown_for = np.diff(near, append=near[-1:] + distance)
        for interval in _cut(shot.clipped, slot):
            inside = interval.overlaps(slot)
            if not inside and not settings.outside:
                continue
            # The frames that belong to this part, and how long each is shown in it.
            belongs = (near >= interval.start - TOLERANCE) & (moments < interval.end)
            lengths = np.minimum(shown_for, interval.end - near)
            parts.append(_Part(place, shot.role, interval, inside, moments[belongs], lengths[belongs]))
    with_frames = {part.place for part in parts if len(part.moments)}
    slot_has_frames = any(len(part.moments) for part in parts if part.inside)
    for place in sorted({part.place for part in parts} - with_frames):
        _show_middle_of_longest(parts, [k for k, part in enumerate(parts) if part.place == place])
    if not slot_has_frames:
        _show_middle_of_longest(parts, [k for k, part in enumerate(parts) if part.inside])
    return [part for part in parts if len(part.moments)]


def _show_middle_of_longest(parts: list[_Part], indices: list[int]) -> None:
    """Show of the longest of these parts, in which no frame starts, what is on the screen half-way."""
    if not indices:
        return
    longest = max(indices, key=lambda k: (parts[k].inside, parts[k].interval.duration))
    interval = parts[longest].interval
    middle, length = np.array([interval.middle]), np.array([interval.duration])
    parts[longest] = replace(parts[longest], moments=middle, lengths=length)


def _cut(piece: Interval, slot: Interval) -> list[Interval]:
    """The parts of ``piece`` before, inside and after the slot, as far as there are any."""
    parts: list[Interval] = []
    if piece.start < slot.start:
        parts.append(Interval(piece.start, min(piece.end, slot.start)))
    shared = piece.clip(slot)
    if shared is not None:
        parts.append(shared)
    if slot.end < piece.end:
        parts.append(Interval(max(piece.start, slot.end), piece.end))
    return parts


def _stamps_near(shot: ContextShot, frame_rate: Fraction, stamps: Seconds | None) -> Seconds:
    """Stamps of the frames in and just after the shown piece, ``float64[n]``."""
    start, end = shot.clipped.start - TOLERANCE, shot.clipped.end - TOLERANCE
    if stamps is not None:
        first, after = np.searchsorted(stamps, [start, end])
        return np.asarray(stamps[first : after + 1], dtype=np.float64)
    origin, step = shot.shot.interval.start, float(1 / frame_rate)
    first_number = int(np.ceil((start - origin) / step))
    after_number = int(np.ceil((end - origin) / step))
    return np.asarray(origin + np.arange(first_number, after_number + 1) * step, dtype=np.float64)


def _moments(stamps: Seconds, distance: float) -> Seconds:
    """When the frames are asked for; ``distance`` is the usual one between two, in seconds."""
    shown_for = np.diff(stamps, append=stamps[-1:] + distance)
    return np.asarray(stamps + LAG * np.minimum(shown_for, distance))


def _in_slot_and_around(parts: Sequence[_Part], settings: FrameSettings) -> list[ShownMoments]:
    """``inside`` frames evenly over the slot, ``outside`` over the rest, current shots denser."""
    inner = [part for part in parts if part.inside]
    outer = [part for part in parts if not part.inside]
    total = settings.inside + settings.outside
    # Shots that end with the slot can be shown nowhere else.
    only_inside = {part.place for part in inner} - {part.place for part in outer}
    n_outer = total
    if inner:
        outer_frames = sum(len(part.moments) for part in outer)
        n_outer = min(settings.outside, outer_frames, max(total - len(only_inside), 0))
    shown = _evenly(inner, total - n_outer, required=only_inside) if inner else []
    shown_inside = {shot.place for shot in shown}
    weights: list[float] = []
    required: list[bool] = []
    for part in outer:
        is_current = part.role is Role.CURRENT
        weights.append(part.interval.duration * (MARGIN_WEIGHT if is_current else 1))
        required.append(not is_current or part.place not in shown_inside)
    return shown + _shared_out(outer, n_outer, weights, required)


def _evenly(parts: Sequence[_Part], n: int, required: Collection[int]) -> list[ShownMoments]:
    """``n`` moments evenly over the time of all; by shares where a shot at a ``required`` place would get
    none."""
    places = np.concatenate([np.full(len(part.moments), part.place) for part in parts])
    moments = np.concatenate([part.moments for part in parts])
    chosen = even_positions(np.concatenate([part.lengths for part in parts]), n)
    if set(required) <= set(places[chosen].tolist()):
        return _by_place(places[chosen], moments[chosen])
    weights = [part.interval.duration for part in parts]
    return _shared_out(parts, n, weights, [part.place in required for part in parts])


def _shared_out(
    parts: Sequence[_Part], n: int, weights: Sequence[float], required: Sequence[bool]
) -> list[ShownMoments]:
    """``n`` moments, shared out over the parts by `apportion`, and evenly in each."""
    shares = apportion(n, weights, [len(part.moments) for part in parts], required)
    shown: list[ShownMoments] = []
    for part, share in zip(parts, shares, strict=True):
        if share:
            shown.append(ShownMoments(part.place, part.moments[even_positions(part.lengths, share)]))
    return shown


def apportion(
    n: int, weights: Sequence[float], capacities: Sequence[int], required: Sequence[bool]
) -> list[int]:
    """``n`` seats over parties by weight (Webster's method), the required ones first.

    No share exceeds its capacity while another has room; after that the rest is given by weight.

    >>> apportion(6, [3.0, 1.0, 0.1], [9, 9, 9], [False, False, True])
    [4, 1, 1]
    """
    shares = [0] * len(weights)
    by_weight = sorted(range(len(weights)), key=lambda party: -weights[party])
    required_parties = [party for party in by_weight if required[party]]
    for party in required_parties[:n]:
        shares[party] = 1
    for _ in range(n - sum(shares) if by_weight else 0):
        below_capacity = [party for party in by_weight if shares[party] < capacities[party]]
        winner = max(below_capacity or by_weight, key=lambda party: weights[party] / (2 * shares[party] + 1))
        shares[winner] += 1
    return shares


def even_positions(lengths: Seconds, n: int) -> npt.NDArray[np.int64]:
    """Ascending positions of ``n`` frames, evenly over the time that the frames are shown.

    Distinct where there are ``n`` frames; else every frame at least once.

    >>> even_positions(np.ones(8), 4).tolist(), even_positions(np.ones(2), 3).tolist()
    ([1, 3, 5, 7], [0, 1, 1])
    """
    count = len(lengths)
    middles = (np.arange(n) + 0.5) / n if n else np.empty(0)
    if n >= count:
        return np.floor(middles * count).astype(np.int64)
    ends = np.cumsum(lengths)
    positions = np.searchsorted(ends, middles * ends[-1], side="right")
    # Distinct: each position is at least one more than that before it, and leaves enough for those after it.
    steps = np.arange(n)
    rising = np.maximum.accumulate(positions - steps) + steps
    return np.minimum(rising, count - n + steps).astype(np.int64)


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
        start, end = np.searchsorted(stamps, [shot.start - TOLERANCE, shot.end - TOLERANCE])
        inside = stamps[start:end]
        if not len(inside):
            return None
        quarter, middle, three_quarters = (
            float(inside[int(np.argmin(np.abs(inside - second)))]) for second in between
        )
        return ShotMoments(float(inside[0]), quarter, middle, three_quarters, float(inside[-1]))
    frame = float(1 / frame_rate)
    first = min(shot.start + LAG * frame, shot.middle)
    last = max(shot.end - (1 - LAG) * frame, first)
    quarter, middle, three_quarters = (min(max(second, first), last) for second in between)
    return ShotMoments(first, quarter, middle, three_quarters, last)


def published_moments_of(shot: Interval) -> ShotMoments:
    """The same as the published code has it: positions 0, 15 and 31 of 32, the end left out."""
    return ShotMoments(*(shot.start + k * shot.duration / POSITIONS for k in (0, 8, 15, 24, POSITIONS - 1)))


Pictures = Callable[[Sequence[float]], Iterable[Picture]]
"""Delivers one picture for each of the ascending seconds, in order."""


@dataclass(frozen=True, slots=True)
class _PlannedClip:
    """A clip of which not all pictures have been read: those by second, None until they are."""

    slot_id: str
    frames: tuple[FramePlan, ...]
    pictures: dict[float, Picture | None]

    @property
    def is_read(self) -> bool:
        return None not in self.pictures.values()


def clips(
    plans: Iterable[tuple[str, tuple[FramePlan, ...]]], pictures: Pictures
) -> Iterator[tuple[str, Clip]]:
    """The clips of ``plans`` (slot id, its frames shot by shot), in their order, each as soon as its last
    frame has been read.

    Pictures are read once, in the order of the film, and shared by the clips that want them; a clip
    that has been handed out is let go. A plan of which no frame can be had any more (the film ends
    early) is left out. Raises ValueError for a plan without frames.
    """
    waiting: deque[_PlannedClip] = deque()
    wanted_by: dict[float, list[_PlannedClip]] = defaultdict(list)
    for slot_id, frames in plans:
        if not frames:
            raise ValueError(f"the clip of slot {slot_id} must want at least one frame, got none")
        moments = (float(second) for shot in frames for second in shot.seconds)
        planned = _PlannedClip(slot_id, frames, dict.fromkeys(moments))
        waiting.append(planned)
        for moment in planned.pictures:
            wanted_by[moment].append(planned)
    for picture in pictures(sorted(wanted_by)):
        for planned in wanted_by.pop(picture.wanted):
            planned.pictures[picture.wanted] = picture
        while waiting and waiting[0].is_read:
            yield from _finished(waiting.popleft())
    for planned in waiting:
        yield from _finished(planned)


def _finished(planned: _PlannedClip) -> Iterator[tuple[str, Clip]]:
    """The id and the clip, of the pictures that could be had; nothing where there are none."""
    numbers: list[int] = []
    shown: list[Picture] = []
    for shot in planned.frames:
        for second in shot.seconds:
            picture = planned.pictures[float(second)]
            if picture is not None:
                numbers.append(shot.number)
                shown.append(picture)
    planned.pictures.clear()
    if not shown:
        return
    seconds = np.array([picture.seconds for picture in shown], dtype=np.float64)
    images = np.empty((len(shown), *shown[0].image.shape), np.uint8)
    del picture
    for k in reversed(range(len(shown))):  # each is let go once it is copied
        images[k] = shown.pop().image
    yield planned.slot_id, Clip(images, seconds, np.array(numbers, dtype=np.int64))
