"""DAPT, W3C's script format for audio description: its vocabulary, and a track written in it.

Sources: W3C DAPT (Candidate Recommendation) with its registries, TTML2.

Before it is spoken a track is ``preRecording``, with the lines as they stand in the script. With a
recording it is ``asRecorded``: what the voice really said and when (`Cue.spoken`), with the sound of each
line and the ducking of the programme. Lines that were not spoken are not in it, and import does not take a
recording's shorter words for a person's edit. Lost: candidates, status and notes, provenance line by line.

By DAPT's mixing graph the gain of an event's ``div`` ducks the programme, so the ``animate`` elements stand
there, and the recording within the text is not lowered with it. (W3C's own example,
``intro-script-with-gain.xml``, has them in a ``p`` whose ``span`` holds the sound, which does the same.)

An event lasts as long as its ducking, since gains hold only while it is active; the ``span`` inside has the
times of the spoken line. Where the programme stays down between two lines, one event ends as the next
begins: two at a time would let the programme through twice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import PurePosixPath
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from shotad.core import Interval
from shotad.core.errors import quoted
from shotad.core.types import GainPoint
from shotad.script.cue import (
    Cue,
    CueKind,
    EditField,
    LineState,
    clean_text,
    line_stamp,
    milliseconds,
    timecode,
)
from shotad.script.table_formats import reviewer_name
from shotad.script.track import Track

TT = "http://www.w3.org/ns/ttml"
TTM = f"{TT}#metadata"
TTP = f"{TT}#parameter"
TTA = f"{TT}#audio"
DAPTM = f"{TT}/profile/dapt#metadata"
XML = "http://www.w3.org/XML/1998/namespace"
PROFILE = f"{TT}/profile/dapt1.0/content"
PROFILE_BASE = f"{TT}/profile/"

SCRIPT_TYPES = ("originalTranscript", "translatedTranscript", "preRecording", "asRecorded")
ON_SCREEN = ("ON", "OFF", "ON_OFF", "OFF_ON")
DESC_TYPES = ("pronunciationNote", "scene", "plotSignificance")
DESCRIPTORS = frozenset(
    (
        "audio", "audio.dialogue", "audio.nonDialogueSounds", "visual", "visual.dialogue", "visual.nonText",
        "visual.text", "visual.text.title", "visual.text.credit", "visual.text.location",
    )
)  # fmt: skip
AGENT_TYPES = ("person", "character", "group", "organization", "other")
NAME_TYPES = ("full", "family", "given", "alias", "other")

_NAME_START = (
    "A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME_CHARACTERS = rf"{_NAME_START}\-0-9\u00b7\u0300-\u036f\u203f\u2040"
NCNAME = re.compile(rf"[{_NAME_START}][{_NAME_CHARACTERS}.]*")
_DESCRIPTOR_TOKEN = re.compile(rf"[{_NAME_CHARACTERS}]+")
_CLOCK = re.compile(r"(?P<h>\d{2,}):(?P<m>[0-5]\d):(?P<s>[0-5]\d|60)(?P<f>\.\d+)?")
_OFFSET = re.compile(r"(?P<n>\d+(?:\.\d+)?)(?P<unit>h|ms|m|s|f|t)")
_CLOCK_FRAMES = re.compile(r"\d{2,}:\d{2}:\d{2}:\d{2,}(?:\.\d+)?")
TIMECODE = re.compile(r"(?<!\d)\d{2,}+:[0-5]\d:[0-5]\d:(?P<frames>\d{2,}+)")
_UNITS = {"h": Fraction(3600), "m": Fraction(60), "s": Fraction(1), "ms": Fraction(1, 1000)}


def is_descriptor(value: str) -> bool:
    """A registered content descriptor, or one that extends a registered one by ``x-`` parts."""
    parts = value.split(".")
    if not all(_DESCRIPTOR_TOKEN.fullmatch(part) for part in parts):
        return False
    extension_index = next(
        (i for i, part in enumerate(parts) if part.startswith("x-") and len(part) > 2), len(parts)
    )
    return extension_index == 0 or ".".join(parts[:extension_index]) in DESCRIPTORS


def time_clause(value: str, frame_rate: Fraction | None, tick_rate: int | None) -> str | None:
    """The clause that a time expression breaks, its rates included; None for a clock or an offset time."""
    if _CLOCK.fullmatch(value):
        return None
    if (match := _OFFSET.fullmatch(value)) is not None:
        if match["unit"] == "f" and frame_rate is None:
            return "#time-offset-with-frames"
        return "#time-offset-with-ticks" if match["unit"] == "t" and tick_rate is None else None
    if _CLOCK_FRAMES.fullmatch(value):
        return "#time-clock-with-frames"
    return "#time-wall-clock" if value.startswith("wallclock") else "#timing"


def seconds(value: str, frame_rate: Fraction | None, tick_rate: int | None) -> Fraction:
    """A valid time expression in seconds. Raises ValueError if it is not valid or lacks its rate."""
    if match := _CLOCK.fullmatch(value):
        whole_seconds = int(match["h"]) * 3600 + int(match["m"]) * 60 + int(match["s"])
        return whole_seconds + Fraction((match["f"] and f"0{match['f']}") or 0)
    match = _OFFSET.fullmatch(value)
    units = dict(_UNITS)
    if frame_rate:
        units["f"] = 1 / frame_rate
    if tick_rate:
        units["t"] = Fraction(1, tick_rate)
    if match is None or match["unit"] not in units:
        raise ValueError(
            f"{quoted(value)} is no time such as 00:01:23.120 or 83.12s, or lacks its frame or tick rate"
        )
    return Fraction(match["n"]) * units[match["unit"]]


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule: its clause, what is wrong with the value, and the line (0: the whole document)."""

    clause: str
    message: str
    line: int = 0

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        return f"{place}{self.message} [{self.clause}]"


SHOTAD = "urn:x-shotad:metadata"
"""Namespace of shotad's own metadata: the stamps of the track and of its lines."""

NO_LANGUAGE = "zxx"
"""The tag for no linguistic content (RFC 5646): the source language of a line about something visible."""

_ROOT = f"""<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="{TT}"
    xmlns:ttm="{TTM}"
    xmlns:ttp="{TTP}"
    xmlns:daptm="{DAPTM}"%s
    xmlns:shotad="{SHOTAD}"
    ttp:contentProfiles="{PROFILE}"
    daptm:scriptRepresents="visual"
    daptm:scriptType="%s"
    daptm:langSrc=%s
    xml:lang=%s>
"""


def write_dapt(track: Track, recording: str | None = None, gains: Sequence[GainPoint] = ()) -> str:
    """The heard lines as a DAPT script: one Script Event a line, its id the cue's.

    Actions represent ``visual.nonText`` with no source language (``zxx``, as in W3C's example); text on
    screen represents ``visual.text``, its source language the line's own. The lines of a translated track are
    Translation Text by DAPT (Text Language Source): their source language is that which they were translated
    from. The script stays ``preRecording``: DAPT's ``translatedTranscript`` is what comes before it, a
    translation that has not been made to fit (Script Type), and these lines have. With a ``recording``, the
    lines that were spoken, as they were (`shotad.script.dapt`): it is the address of the description alone,
    relative to the document, and a line is heard at its own times in it. ``gains`` are those of the programme
    as the mix has them, on film time. Raises ValueError for an address that is none, and for gains that do
    not ascend.
    """
    if recording is None:
        body = "".join(_event(cue, track) for cue in track.heard)
        sound, kind = "", "preRecording"
    else:
        body = "".join(_recorded_events(track, recording, gains))
        sound, kind = f'\n    xmlns:tta="{TTA}"', "asRecorded"
    return (
        _ROOT
        % (sound, kind, quoteattr(track.translated_from or NO_LANGUAGE), quoteattr(track.language))
        + f"  <head>\n    <metadata>\n{_metadata(track, recorded=recording is not None)}    </metadata>\n"
        f"  </head>\n  <body>\n{body}  </body>\n</tt>\n"
    )


def _metadata(track: Track, *, recorded: bool) -> str:
    """The metadata in the head, as XML.

    A recording has no stamp of the track: a line that it lacks was not spoken, which is no deletion.
    """
    voices = dict.fromkeys(cue.spoken.voice for cue in track.heard if recorded and cue.spoken is not None)
    names_of_agents = (
        ("maker", "other", [clean_text(name) for name in track.maker_names]),
        ("reviewer", "person", [clean_text(person) for person in track.reviewed_by]),
        ("voice", "other", [clean_text(voice) for voice in voices]),
    )
    agents = ""
    for id_prefix, agent_type, names in names_of_agents:
        for number, name in enumerate(names, 1):
            if name:
                agents += (
                    f'      <ttm:agent xml:id="{id_prefix}{number}" type="{agent_type}">'
                    f'<ttm:name type="full">{escape(name)}</ttm:name></ttm:agent>\n'
                )
    return (
        f"      <ttm:title>{escape(clean_text(track.film.name))}</ttm:title>\n"
        f"      <ttm:desc>{escape(track.statement)}</ttm:desc>\n{agents}"
        + ("" if recorded else f"      <shotad:stamp>{track.stamp}</shotad:stamp>\n")
    )


def _event(cue: Cue, track: Track) -> str:
    times = _time_attributes(milliseconds(cue.interval.start), milliseconds(cue.interval.end))
    stamp = line_stamp(cue.interval, cue.text)
    return (
        f'    <div xml:id="{cue.id}" {times}{_kind_attributes(cue, track)}'
        f' shotad:stamp="{stamp}"{_review_attributes(cue)}>\n{_note(cue)}'
        f'      <p xml:space="preserve">{_text_with_breaks(cue.text)}</p>\n    </div>\n'
    )


def _review_attributes(cue: Cue) -> str:
    """The attributes with a line's state and its reviewer's name; empty for a line as the machine made it."""
    if cue.state is LineState.MACHINE:
        return ""
    name = reviewer_name(cue)
    return f' shotad:state="{cue.state}"' + (f" shotad:reviewer={quoteattr(name)}" if name else "")


def _note(cue: Cue) -> str:
    """The note to a colleague as a description of the Script Event, which is never spoken; empty where there
    is none."""
    if cue.note is None:
        return ""
    by = f" shotad:by={quoteattr(cue.note.by)}" if cue.note.by else ""
    return f"      <ttm:desc{by}>{escape(cue.note.text)}</ttm:desc>\n"


def _text_with_breaks(text: str) -> str:
    return "<br/>".join(escape(line) for line in text.split("\n"))


def _kind_attributes(cue: Cue, track: Track) -> str:
    """The attributes with what a line represents, and its source's and own language where they differ from
    the document's."""
    is_text = cue.kind is CueKind.TEXT
    represents = "visual.text" if is_text else "visual.nonText"
    source = ""
    # A line that a person added to a translation is a translation of none.
    added = cue.edited is not None and EditField.ADDED in cue.edited.fields
    if (is_text or track.translated_from) and (added or not track.translated_from):
        source = f" daptm:langSrc={quoteattr(cue.language if is_text else NO_LANGUAGE)}"
    spoken = f" xml:lang={quoteattr(cue.language)}" if cue.language != track.language else ""
    return f' daptm:represents="{represents}"{source}{spoken}'


GAIN_STEP = 2.5
"""dB that a gain may run evenly in factor instead of in dB: they differ by less than 0.1 dB over that."""

_SOUND_TYPES = {
    "wav": "audio/wave", "flac": "audio/flac", "mp3": "audio/mpeg", "opus": "audio/ogg", "ogg": "audio/ogg",
    "m4a": "audio/mp4", "mp4": "audio/mp4", "aac": "audio/aac",
}  # fmt: skip


def _recorded_events(track: Track, source: str, gains: Sequence[GainPoint]) -> Iterator[str]:
    """The lines of the track that have been spoken as they are now, in order, each with its ducking.

    Lines that no voice has spoken, or that were changed since, are not in a recording.
    """
    if not source.strip() or source.startswith("#"):
        raise ValueError(f"a recording must have the address of a sound file, got {quoted(source)}")
    if any(point.seconds > next_point.seconds for point, next_point in pairwise(gains)):
        raise ValueError("gain points must ascend")
    # All times in whole milliseconds.
    spoken: list[tuple[Cue, str, int, int]] = []
    for cue in track.heard:
        take = cue.spoken
        if take is not None and take.interval is not None:
            start, stop = milliseconds(take.interval.start), milliseconds(take.interval.end)
            spoken.append((cue, take.text, start, stop))
    spoken.sort(key=lambda line: (line[2], line[0].id))
    ducked = _ducked_ranges(gains, milliseconds(track.film.duration))
    # An event begins with its ducking, but not before the words of the line before it have ended.
    begins: list[int] = []
    last_stop = 0
    for _, _, start, stop in spoken:
        ducking_starts = [low for low, high in ducked if low <= start <= high]
        begins.append(min(start, max(last_stop, ducking_starts[0])) if ducking_starts else start)
        last_stop = max(last_stop, stop, start + 1)
    kind = _SOUND_TYPES.get(PurePosixPath(source).suffix.lower().lstrip("."), "audio/wave")
    for (cue, text, start, stop), begin, limit in zip(spoken, begins, [*begins[1:], math.inf], strict=True):
        # The event is from ``begin`` to ``end``, its words from ``start`` to ``last``.
        last = max(stop, start + 1)
        ducking_ends = [high for low, high in ducked if low <= last <= high]
        end = max(last, int(min(ducking_ends[-1], limit))) if ducking_ends else last
        inside = _time_attributes(start - begin, last - begin)
        clip = _time_attributes(start, last).replace("begin", "clipBegin").replace("end", "clipEnd")
        stamp = line_stamp(Interval(start / 1000, last / 1000), text)
        # The programme's gain where the event begins.
        level = _gain_factor(level_at(gains, begin / 1000))
        gain = f' tta:gain="{level}"' if level != "1" else ""
        yield (
            f'    <div xml:id="{cue.id}" {_time_attributes(begin, end)}'
            f'{_kind_attributes(cue, track)} shotad:stamp="{stamp}"'
            f"{_review_attributes(cue)}{gain}>\n{_animations(begin, end, gains)}"
            f'      <p xml:space="preserve"><span {inside}>'
            f'<audio src={quoteattr(source)} type="{kind}" {clip}/>'
            f"{_text_with_breaks(text)}</span></p>\n    </div>\n"
        )


def _time_attributes(begin: int, end: int) -> str:
    """The attributes ``begin`` and ``end`` for times in milliseconds."""
    return f'begin="{timecode(begin / 1000)}" end="{timecode(end / 1000)}"'


def _animations(first: int, last: int, gains: Sequence[GainPoint]) -> str:
    """The ``animate`` elements of an event's ``div``: every bend of the programme's gain while it lasts."""
    lines: list[str] = []
    ends = [(time, level_at(gains, time / 1000)) for time in (first, last)]
    points = ((milliseconds(point.seconds), point.decibels) for point in gains)
    points_within = [point for point in points if first <= point[0] <= last]
    base = _gain_factor(ends[0][1])
    for (begin, low), (end, high) in pairwise([ends[0], *points_within, ends[1]]):
        # Factors at even times that follow a line in dB: ``0, -9 → 1, 0.772, 0.596, 0.46, 0.355``.
        steps = max(1, math.ceil(abs(high - low) / GAIN_STEP))
        values = [_gain_factor(low + (high - low) * i / steps) for i in range(steps + 1)]
        if len(set(values)) == 1:
            continue
        if begin == end:
            time = timecode((begin - first) / 1000)
            lines.append(f'      <set begin="{time}" tta:gain="{values[-1]}"/>\n')
            continue
        freeze = "" if values[-1] == base else ' fill="freeze"'
        times = _time_attributes(begin - first, end - first)
        lines.append(f'      <animate {times} tta:gain="{";".join(values)}"{freeze}/>\n')
    return "".join(lines)


def level_at(gains: Sequence[GainPoint], second: float) -> float:
    """The programme's gain in dB at a second; 0 without points. Between two points it is interpolated."""
    points = gains or (GainPoint(0.0, 0.0),)
    return float(np.interp(second, [p.seconds for p in points], [p.decibels for p in points]))


def _ducked_ranges(gains: Sequence[GainPoint], duration: int) -> list[tuple[int, int]]:
    """The ranges in which the programme is not at its own level, in milliseconds, ascending, with gaps
    between them. ``duration`` of the film is in milliseconds, too."""
    if not gains:
        return []
    ends = (GainPoint(0.0, gains[0].decibels), GainPoint(duration / 1000, gains[-1].decibels))
    points = [ends[0], *gains] + ([ends[1]] if ends[1].seconds > gains[-1].seconds else [])
    ducked: list[tuple[int, int]] = []
    for point, next_point in pairwise(points):
        if point.decibels == 0 == next_point.decibels:
            continue
        low, high = milliseconds(point.seconds), milliseconds(next_point.seconds)
        if ducked and ducked[-1][1] >= low and point.decibels != 0:
            ducked[-1] = (ducked[-1][0], high)
        elif high > low or point.decibels != next_point.decibels:
            ducked.append((low, high))
    return ducked


def _gain_factor(decibels: float) -> str:
    return f"{10 ** (decibels / 20):.4f}".rstrip("0").rstrip(".")
