"""DAPT, W3C's script format for audio description: what we write, and what we read back.

Before it is spoken a track is written as ``preRecording``, with the lines as they stand in the script. With a
`Recording` it is written ``asRecorded``: what the voice really said and when (`Cue.spoken`), for each line
its sound, and the ducking of the programme. Lines that were not spoken are not in it, and import does not
take a recording's shorter words for a person's edit.
Lost: candidates, status and notes, provenance line by line.

Recorded lines and ducking in DAPT: where each line is heard, and how the programme is lowered under it.

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
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import PurePosixPath
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from shotad.core import GainPoint, Interval, ScriptError
from shotad.script import dapt_terms as terms
from shotad.script.cue import (
    Cue,
    CueKind,
    EditField,
    LineState,
    Script,
    ScriptCue,
    Voiced,
    clean_text,
    line_stamp,
    milliseconds,
    timecode,
)
from shotad.script.dapt_check import Violation, check_dapt
from shotad.script.dapt_terms import TT, frame_rate, is_script_event, parse_dapt, tick_rate, xml_name
from shotad.script.sheet import reviewer
from shotad.script.track import Track

OWN = "urn:x-shotad:metadata"
"""Namespace of our own metadata: the stamps of the track and of its lines."""

NO_LANGUAGE = "zxx"
"""What has no language (RFC 5646): the source of a line that tells what is seen to happen."""

_ROOT = f"""<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="{TT}"
    xmlns:ttm="{terms.TTM}"
    xmlns:ttp="{terms.TTP}"
    xmlns:daptm="{terms.DAPTM}"%s
    xmlns:shotad="{OWN}"
    ttp:contentProfiles="{terms.PROFILE}"
    daptm:scriptRepresents="visual"
    daptm:scriptType="%s"
    daptm:langSrc=%s
    xml:lang=%s>
"""


def write_dapt(track: Track, recording: Recording | None = None) -> str:
    """The heard lines as a DAPT script: one Script Event a line, its id the cue's.

    Actions represent ``visual.nonText`` with no source language (``zxx``, as in W3C's example); text on
    screen represents ``visual.text``, its source language the line's own. The lines of a translated track are
    Translation Text by DAPT (Text Language Source): their source language is that which they were translated
    from. The script stays ``preRecording``: DAPT's ``translatedTranscript`` is what comes before it, a
    translation that has not been made to fit (Script Type), and these lines have. With a ``recording``, the
    lines that were spoken, as they were (`shotad.script.dapt`).
    """
    if recording is None:
        body = "".join(_event(cue, track) for cue in track.heard)
        sound, kind = "", "preRecording"
    else:
        events = recorded_events(track, recording.gains)
        body = "".join(_recorded(event, track, recording) for event in events)
        sound, kind = f'\n    xmlns:tta="{terms.TTA}"', "asRecorded"
    return (
        _ROOT
        % (sound, kind, quoteattr(track.translated_from or NO_LANGUAGE), quoteattr(track.language))
        + f"  <head>\n    <metadata>\n{_metadata(track, recorded=recording is not None)}    </metadata>\n"
        f"  </head>\n  <body>\n{body}  </body>\n</tt>\n"
    )


def read_dapt(document: bytes, name: str) -> Script:
    """The Script Events of a valid DAPT document that have a time, times counted from its start.

    Raises ScriptError with file, line and clause where the document is not valid or an event has no end.
    """
    violations = check_dapt(document)
    if violations:
        first = violations[0]
        raise ScriptError(f"{name}, {first}.", "The document is not valid DAPT.", first.clause)
    root = parse_dapt(document)
    assert not isinstance(root, Violation)
    stamp = root.findtext(f".//{{{OWN}}}stamp")
    divs = [div for div in root.iter(f"{{{TT}}}div") if is_script_event(div)]
    stamps = {div.get(xml_name("id"), ""): div.get(f"{{{OWN}}}stamp", "") for div in divs}
    line_stamps = {key: value for key, value in stamps.items() if value}
    return Script(tuple(_cue(div, root, name) for div in divs), stamp, line_stamps)


def _metadata(track: Track, *, recorded: bool) -> str:
    """What stands in the head. A recording has no stamp of the track, for what it lacks was not deleted."""
    voices = dict.fromkeys(cue.spoken.voice for cue in track.heard if recorded and cue.spoken is not None)
    agents = "".join(
        f'      <ttm:agent xml:id="{kind}{i}" type="{of_type}"><ttm:name type="full">{escape(who)}'
        f"</ttm:name></ttm:agent>\n"
        for kind, of_type, names in (
            ("maker", "other", [clean_text(str(maker)) for maker in track.makers]),
            ("reviewer", "person", [clean_text(person) for person in track.reviewed_by]),
            ("voice", "other", [clean_text(voice) for voice in voices]),
        )
        for i, who in enumerate(names, 1)
        if who
    )
    return (
        f"      <ttm:title>{escape(clean_text(track.film.name))}</ttm:title>\n"
        f"      <ttm:desc>{escape(track.statement)}</ttm:desc>\n{agents}"
        + ("" if recorded else f"      <shotad:stamp>{track.stamp}</shotad:stamp>\n")
    )


def _event(cue: Cue, track: Track) -> str:
    begin, end = timecode(cue.interval.start), timecode(cue.interval.end)
    stamp = line_stamp(cue.interval, cue.text)
    return (
        f'    <div xml:id="{cue.id}" begin="{begin}" end="{end}"{_nature(cue, track)}'
        f' shotad:stamp="{stamp}"{_review(cue)}>\n'
        f'      <p xml:space="preserve">{_broken(cue.text)}</p>\n    </div>\n'
    )


def _recorded(event: Event, track: Track, recording: Recording) -> str:
    times = f'begin="{timecode(event.begin / 1000)}" end="{timecode(event.end / 1000)}"'
    start, stop = (timecode((second - event.begin) / 1000) for second in (event.start, event.stop))
    stamp = line_stamp(Interval(event.start / 1000, event.stop / 1000), event.voiced.text)
    return (
        f'    <div xml:id="{event.cue.id}" {times}{_nature(event.cue, track)} shotad:stamp="{stamp}"'
        f"{_review(event.cue)}{gain_attribute(event, recording.gains)}>\n{animations(event, recording.gains)}"
        f'      <p xml:space="preserve"><span begin="{start}" end="{stop}">'
        f"{audio_element(event, recording)}{_broken(event.voiced.text)}</span></p>\n    </div>\n"
    )


def _review(cue: Cue) -> str:
    """Whose a line is where a person had to do with it, and who accepted it."""
    if cue.state is LineState.MACHINE:
        return ""
    name = reviewer(cue)
    return f' shotad:state="{cue.state}"' + (f" shotad:reviewer={quoteattr(name)}" if name else "")


def _broken(text: str) -> str:
    return "<br/>".join(escape(line) for line in text.split("\n"))


def _nature(cue: Cue, track: Track) -> str:
    """What a line represents, the language of its source where that is not the document's, and its own."""
    represents = "visual.text" if cue.kind is CueKind.TEXT else "visual.nonText"
    source = _source_language(cue, track)
    source = f" daptm:langSrc={quoteattr(source)}" if source is not None else ""
    spoken = f" xml:lang={quoteattr(cue.language)}" if cue.language != track.language else ""
    return f' daptm:represents="{represents}"{source}{spoken}'


def _source_language(cue: Cue, track: Track) -> str | None:
    """The source language of a line; None where it has the document's. A line that a person added to a
    translation is a translation of none."""
    added = cue.edited is not None and EditField.ADDED in cue.edited.fields
    if track.translated_from and not added:
        return None
    if cue.kind is CueKind.TEXT:
        return cue.language
    return NO_LANGUAGE if track.translated_from else None


def _cue(div: etree._Element, root: etree._Element, name: str) -> ScriptCue:
    start, end = _said(div, root)
    where = f"{name}, line {div.sourceline}: event {div.get(xml_name('id'))!r}"
    if end is None:
        raise ScriptError(f"{where} has no end.", "Give it begin and end.")
    try:
        interval = Interval(float(start), float(end))
    except ValueError as error:
        raise ScriptError(f"{where}: {error}.", "Correct the times.") from None
    texts = [_text(p) if _keeps_space(p) else _squeeze(_text(p)) for p in div.iter(f"{{{TT}}}p")]
    return ScriptCue(div.get(xml_name("id")), interval, clean_text("\n".join(texts)))


def _said(div: etree._Element, root: etree._Element) -> tuple[Fraction, Fraction | None]:
    """When the words of an event are said: an event may last longer, to lower the programme around them."""
    parts = [
        _active(element, root)
        for element in div.iter(f"{{{TT}}}p", f"{{{TT}}}span")
        if "".join([element.text or "", *(child.tail or "" for child in element)]).strip()
    ]
    starts, ends = [start for start, _ in parts], [end for _, end in parts if end is not None]
    if not parts or len(ends) < len(parts):
        return _active(div, root)
    return min(starts), max(ends)


def _active(element: etree._Element, root: etree._Element) -> tuple[Fraction, Fraction | None]:
    """When an element is active, in seconds: its times count from its parent's, and it ends with it."""
    parent = element.getparent()
    origin, limit = (Fraction(0), None) if parent is None else _active(parent, root)
    rates = frame_rate(root), tick_rate(root)
    begin, end, dur = (
        None if (value := element.get(key)) is None else terms.seconds(value, *rates)
        for key in ("begin", "end", "dur")
    )
    start = origin + (begin or 0)
    ends = [
        *([origin + end] if end is not None else []),
        *([start + dur] if dur is not None else []),
        *([limit] if limit is not None else []),
    ]
    return start, min(ends, default=None)


def _text(element: etree._Element) -> str:
    """What is read out of a paragraph: text and spans, ``br`` as a line break."""
    keep = _keeps_space(element)
    parts = [_on_one_line(element.text, keep=keep)]
    for child in element:
        if child.tag == f"{{{TT}}}br":
            parts.append("\n")
        elif child.tag == f"{{{TT}}}span":
            parts.append(_text(child))
        parts.append(_on_one_line(child.tail, keep=keep))
    return "".join(parts)


def _keeps_space(element: etree._Element | None) -> bool:
    while element is not None:
        if (value := element.get(xml_name("space"))) is not None:
            return value == "preserve"
        element = element.getparent()
    return False


def _on_one_line(text: str | None, *, keep: bool) -> str:
    return (text or "") if keep else re.sub(r"\s+", " ", text or "")


def _squeeze(text: str) -> str:
    """White space runs as one space, line by line, as TTML presents text that does not preserve it."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


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
