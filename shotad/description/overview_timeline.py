"""The overview's time line: rows of equal length, in each the shots, speech, slots and lines of its time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from shotad.core import Interval, SpeechKind
from shotad.description.overview_data import OverviewLine, SheetShot, Subject
from shotad.description.overview_words import plural, span_words
from shotad.script import timecode

_LENGTHS = (15, 30, 60, 120, 300, 600)
"""Seconds that a row may have."""
_FEW_ROWS, _MANY_ROWS = 6, 72
_MOST_SHOTS = 34
"""Shots of mean length in a row whose number and letter can still be read."""
_TICKS = (1, 5, 10, 30, 60)
_MOST_TICKS = 16
_LETTER, _EDGES = 0.9, 0.5
"""Percent of a row that a letter and a span's edges take, at the least width that a row has."""
_NARROWEST_TEXT = 4.0


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a row: where it begins and how wide it is, in percent. ``kind`` is its CSS class."""

    kind: str
    left: float
    width: float
    words: str = ""
    thread: str | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One row. ``words`` say what it shows; ``ticks`` are times with their places in percent.

    ``texts`` are those of the lines. ``end`` is where the film ends, in percent, above 100 in all rows but
    the last.
    """

    words: str
    ticks: tuple[tuple[float, str], ...]
    shots: tuple[Span, ...]
    speech: tuple[Span, ...]
    slots: tuple[Span, ...]
    lines: tuple[Span, ...]
    texts: tuple[Span, ...]
    end: float


def timeline(subject: Subject) -> list[TimelineRow]:
    """The rows of the film from its start to its end."""
    return [_row(time, subject) for time in row_times(subject.end, len(subject.shots))]


def row_times(end: float, shots: int) -> list[Interval]:
    """The times of the rows of a film of ``end`` seconds and ``shots`` shots, all of one length.

    As long as six rows ask for, but shorter where shots are short, and never so short that there are more
    than 72 rows (of 600 s at most).

    >>> row_times(70.0, 17)[-1]
    Interval(start=60.0, end=75.0)
    """
    for_few = next((n for n in _LENGTHS if end / n <= _FEW_ROWS), _LENGTHS[-1])
    for_shots = max((n for n in _LENGTHS if n * shots / end <= _MOST_SHOTS), default=_LENGTHS[0])
    for_many = next((n for n in _LENGTHS if end / n <= _MANY_ROWS), _LENGTHS[-1])
    length = max(min(for_few, for_shots), for_many)
    return [Interval(float(k * length), float((k + 1) * length)) for k in range(math.ceil(end / length))]


def _row(time: Interval, subject: Subject) -> TimelineRow:
    return TimelineRow(
        words=row_words(time, subject),
        ticks=tuple(_ticks(time, subject.end)),
        shots=tuple(s for shot in subject.shots for s in _shot(shot, time)),
        speech=tuple(
            s
            for spoken in subject.speech
            for s in _span("lyrics" if spoken.kind is SpeechKind.LYRICS else "speech", spoken.interval, time)
        ),
        slots=tuple(s for slot in subject.slots for s in _span("slot", slot.interval, time)),
        lines=tuple(s for line in subject.lines for s in _span(_look_of(line), line.interval, time)),
        texts=tuple(_texts(subject, time)),
        end=_percent(subject.end, time),
    )


def row_words(time: Interval, subject: Subject) -> str:
    """What a row of the time line shows, in words."""
    end = min(time.end, subject.end)
    shots = [shot for shot in subject.shots if shot.interval.overlaps(time)]
    spoken = sum(p.duration for u in subject.speech if (p := u.interval.clip(time)))
    slots = [slot for slot in subject.slots if slot.interval.overlaps(time)]
    heard = [line for line in subject.lines if line.cue.heard and line.interval.overlaps(time)]
    first, last = (shots[0].index, shots[-1].index) if shots else (0, 0)
    named = f"shot {first}" if first == last else f"shots {first} to {last}"
    return (
        f"{span_words(Interval(time.start, end))}: {named}, {spoken:.1f} s of speech, "
        f"{plural(len(slots), 'slot')}, {plural(len(heard), 'spoken line')}."
    )


def _percent(second: float, time: Interval) -> float:
    return (second - time.start) / time.duration * 100


def _ticks(time: Interval, end: float) -> Iterator[tuple[float, str]]:
    step = next((t for t in _TICKS if time.duration / t <= _MOST_TICKS), _TICKS[-1])
    for k in range(round(time.duration / step)):
        second = time.start + k * step
        if second <= end:
            yield _percent(second, time), timecode(second)[:-4].removeprefix("00:")


def _span(kind: str, interval: Interval, time: Interval) -> Iterator[Span]:
    """The part of ``interval`` in the row, if there is one."""
    if inside := interval.clip(time):
        left = _percent(inside.start, time)
        yield Span(kind, left, _percent(inside.end, time) - left)


def _shot(shot: SheetShot, time: Interval) -> Iterator[Span]:
    """The shot with its number and the letters of its thread, where there is room for them."""
    labels = (f"{shot.index} {shot.thread or ''}".rstrip(), shot.thread or str(shot.index))
    for span in _span("shot", shot.interval, time):
        fitting = [label for label in labels if _LETTER * len(label) + _EDGES <= span.width]
        yield replace(span, words=fitting[0] if fitting else "", thread=shot.thread)


def _look_of(line: OverviewLine) -> str:
    return "heard" if line.cue.heard else "unheard"


def _texts(subject: Subject, time: Interval) -> Iterator[Span]:
    """The text of each line in the row in which it begins, or in the next where that has no room for it."""
    starts = [*(line.interval.start for line in subject.lines), math.inf]
    for line, (start, after) in zip(subject.lines, pairwise(starts), strict=True):
        if not line.interval.overlaps(time):
            continue
        left, right = max(0.0, _percent(start, time)), min(100.0, _percent(after, time))
        before = _percent(min(after, time.start), time) - _percent(start, time)
        if right - left >= _NARROWEST_TEXT > before:
            words = line.cue.text if line.cue.heard else line.cue.status.value
            yield Span(_look_of(line), left, right - left, words, language=line.cue.language)
