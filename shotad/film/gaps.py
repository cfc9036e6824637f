"""Where a voice may speak: the film less its speech, with a safety margin at each side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from shotad.core import Interval, SpeechKind, SpeechSettings, Utterance


def free_time(speech: Sequence[Utterance], duration: float, settings: SpeechSettings) -> tuple[Interval, ...]:
    """The stretches of ``[0, duration)`` in which nobody speaks, sorted and apart.

    Each utterance is widened by ``settings.margin`` seconds at both sides; utterances may overlap,
    be unsorted, or lie beyond the film. Sung lyrics are kept free too unless
    ``settings.over_lyrics``: guidelines let a describer speak over the instrumental part of a song
    and not over its words, and an instrumental part is no utterance. Pieces are not filtered by
    length here, for only `plan_slots` knows what is too short for a line.
    """
    if not math.isfinite(duration) or duration <= 0:
        return ()
    taken = [
        Interval(u.interval.start - settings.margin, u.interval.end + settings.margin)
        for u in speech
        if not (settings.over_lyrics and u.kind is SpeechKind.LYRICS)
    ]
    return subtract(Interval(0.0, duration), taken)


def union(intervals: Iterable[Interval], bridge: float = 0.0) -> tuple[Interval, ...]:
    """The intervals sorted and joined where they touch, overlap, or lie at most ``bridge`` seconds apart.

    >>> union([Interval(3, 4), Interval(0, 1), Interval(0.5, 2)])
    (Interval(start=0, end=2), Interval(start=3, end=4))
    """
    joined: list[Interval] = []
    for interval in sorted(intervals):
        if joined and interval.start <= joined[-1].end + bridge:
            joined[-1] = Interval(joined[-1].start, max(joined[-1].end, interval.end))
        else:
            joined.append(interval)
    return tuple(joined)


def subtract(whole: Interval, taken: Iterable[Interval]) -> tuple[Interval, ...]:
    """What is left of ``whole`` without ``taken``: ``[0, 9)`` less ``[3, 5)`` is ``[0, 3)``, ``[5, 9)``."""
    left: list[Interval] = []
    start = whole.start
    for interval in union(taken):
        if interval.start >= whole.end:
            break
        if interval.start > start:
            left.append(Interval(start, interval.start))
        start = max(start, interval.end)
    if start < whole.end:
        left.append(Interval(start, whole.end))
    return tuple(left)
