"""Recorded lines and ducking in DAPT: where each line is heard, and how the programme is lowered under it.

By the mixing graph of DAPT (Audio Mixing: programme → Gain of the Script Event → mixed with the Audio
Recording → Gain of the Text) the programme is ducked by the gain of the event's ``div``, so that the
``animate`` elements stand there, and the recording within the event's text is not lowered with it. W3C's own
example (``examples/intro-script-with-gain.xml``: 1 to 0.39 in 0.3 s, back at the end) puts them into a ``p``
whose ``span`` holds the sound, which does the same.

An event lasts as long as its ducking, since gains hold only while it is active; the ``span`` inside it has
the times of the spoken line. Where the programme stays down between two lines, one event ends as the next
begins: two at a time would let the programme through twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath
from xml.sax.saxutils import quoteattr

from shotad.core import GainPoint, Interval
from shotad.script.cue import Cue, Voiced, milliseconds
from shotad.script.timecodes import timecode
from shotad.script.track import Track

STEP = 2.5
"""dB that a gain may run evenly in factor instead of in dB: they differ by less than 0.1 dB over that."""

_TYPES = {
    "wav": "audio/wave", "flac": "audio/flac", "mp3": "audio/mpeg", "opus": "audio/ogg", "ogg": "audio/ogg",
    "m4a": "audio/mp4", "mp4": "audio/mp4", "aac": "audio/aac",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clip:
    """A line's sound: the file's address, and the part of it, None for all of it."""

    source: str
    part: Interval | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """How a track was recorded.

    ``source`` is the address of the description alone, on film time, relative to the document: a line is
    heard at its own times in it. ``clips`` name other sounds by cue id, such as one file a line, or the
    places in a copy with pauses. ``gains`` are those of the programme, on film time, as the mix has them.
    ``decibels`` and ``pan`` (-1 left to 1 right) are applied to the recording.
    """

    source: str
    gains: Sequence[GainPoint] = ()
    decibels: float = 0.0
    pan: float = 0.0
    clips: Mapping[str, Clip] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.source.strip() or self.source.startswith("#"):
            raise ValueError(f"a recording must have the address of a sound file, got {self.source!r}")
        if not -1 <= self.pan <= 1:
            raise ValueError(f"pan must be from -1 to 1, got {self.pan}")
        if any(one.seconds > two.seconds for one, two in pairwise(self.gains)):
            raise ValueError("gain points must ascend")


@dataclass(frozen=True, slots=True)
class Event:
    """A recorded line with the time for which it holds the programme down, in whole milliseconds."""

    cue: Cue
    voiced: Voiced
    begin: int
    end: int
    start: int
    stop: int
    """``begin`` to ``end`` is the event's, ``start`` to ``stop`` that of its words."""


def recorded_events(track: Track, gains: Sequence[GainPoint]) -> tuple[Event, ...]:
    """The lines of the track that have been spoken as they are now, in order, each with its ducking.

    Lines that no voice has spoken, or that were changed since, are not in a recording.
    """
    spoken = [
        (cue, voiced, milliseconds(voiced.interval.start), milliseconds(voiced.interval.end))
        for cue in track.heard
        if (voiced := cue.spoken) is not None and voiced.interval is not None
    ]
    spoken.sort(key=lambda line: (line[2], line[0].id))
    ducked = _ducked(gains, milliseconds(track.film.duration))
    begins: list[int] = []
    before = 0
    for _, _, start, stop in spoken:
        around = [low for low, high in ducked if low <= start <= high]
        begins.append(min(start, max(before, around[0])) if around else start)
        before = max(before, stop, start + 1)
    events: list[Event] = []
    for at, (cue, voiced, start, stop) in enumerate(spoken):
        last = max(stop, start + 1)
        around = [high for low, high in ducked if low <= last <= high]
        limit = begins[at + 1] if at + 1 < len(begins) else math.inf
        end = max(last, int(min(around[-1], limit))) if around else last
        events.append(Event(cue, voiced, begins[at], end, start, last))
    return tuple(events)


def gain_attribute(event: Event, gains: Sequence[GainPoint]) -> str:
    """The programme's gain where the event begins, as an attribute of its ``div``; empty where it is 1."""
    level = level_at(gains, event.begin / 1000)
    return f' tta:gain="{_factor(level)}"' if _factor(level) != "1" else ""


def animations(event: Event, gains: Sequence[GainPoint]) -> str:
    """The ``animate`` elements of an event's ``div``: every bend of the programme's gain while it lasts."""
    lines: list[str] = []
    base = _factor(level_at(gains, event.begin / 1000))
    for (begin, low), (end, high) in pairwise(_knots(event, gains)):
        values = _ramp(low, high)
        if len(set(values)) == 1:
            continue
        times = f'begin="{timecode((begin - event.begin) / 1000)}"'
        if begin == end:
            lines.append(f'      <set {times} tta:gain="{values[-1]}"/>\n')
            continue
        freeze = "" if values[-1] == base else ' fill="freeze"'
        times += f' end="{timecode((end - event.begin) / 1000)}"'
        lines.append(f'      <animate {times} tta:gain="{";".join(values)}"{freeze}/>\n')
    return "".join(lines)


def audio_element(event: Event, recording: Recording) -> str:
    """The ``audio`` element of an event's words."""
    clip = recording.clips.get(event.cue.id)
    if clip is None:
        clip = Clip(recording.source, Interval(event.start / 1000, event.stop / 1000))
    part = ""
    if clip.part is not None:
        part = f' clipBegin="{timecode(clip.part.start)}" clipEnd="{timecode(clip.part.end)}"'
    kind = _TYPES.get(PurePosixPath(clip.source).suffix.lower().lstrip("."), "audio/wave")
    gain = f' tta:gain="{_factor(recording.decibels)}"' if recording.decibels else ""
    pan = f' tta:pan="{_number(recording.pan)}"' if recording.pan else ""
    return f'<audio src={quoteattr(clip.source)} type="{kind}"{part}{gain}{pan}/>'


def level_at(gains: Sequence[GainPoint], second: float) -> float:
    """dB of the programme at a second; 0 without points."""
    if not gains:
        return 0.0
    if second <= gains[0].seconds:
        return gains[0].decibels
    for one, two in pairwise(gains):
        if one.seconds <= second < two.seconds:
            share = (second - one.seconds) / (two.seconds - one.seconds)
            return one.decibels + share * (two.decibels - one.decibels)
    return gains[-1].decibels


def _ducked(gains: Sequence[GainPoint], duration: int) -> list[tuple[int, int]]:
    """Where the programme is not at its own level, in milliseconds, ascending and apart."""
    if not gains:
        return []
    ends = (GainPoint(0.0, gains[0].decibels), GainPoint(duration / 1000, gains[-1].decibels))
    points = [ends[0], *gains] + ([ends[1]] if ends[1].seconds > gains[-1].seconds else [])
    found: list[tuple[int, int]] = []
    for one, two in pairwise(points):
        if one.decibels == 0 == two.decibels:
            continue
        low, high = milliseconds(one.seconds), milliseconds(two.seconds)
        if found and found[-1][1] >= low and one.decibels != 0:
            found[-1] = (found[-1][0], high)
        elif high > low or one.decibels != two.decibels:
            found.append((low, high))
    return found


def _knots(event: Event, gains: Sequence[GainPoint]) -> Iterator[tuple[int, float]]:
    """Milliseconds and dB of the bends within an event, its ends included."""
    yield event.begin, level_at(gains, event.begin / 1000)
    for point in gains:
        if event.begin <= milliseconds(point.seconds) <= event.end:
            yield milliseconds(point.seconds), point.decibels
    yield event.end, level_at(gains, event.end / 1000)


def _ramp(low: float, high: float) -> list[str]:
    """Factors at even times that follow a line in dB: ``0, -9 → 1, 0.772, 0.596, 0.46, 0.355``."""
    steps = max(1, math.ceil(abs(high - low) / STEP))
    return [_factor(low + (high - low) * i / steps) for i in range(steps + 1)]


def _factor(decibels: float) -> str:
    return _number(10 ** (decibels / 20))


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")
