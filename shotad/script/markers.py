"""The lines as markers for editing programs: an edit decision list (CMX 3600) and FCPXML.

Both count in frames, so they need the film's frame rate and the time code of its first frame (`FilmFrames`).

EDL: each line is an event of its length on video track 1, with its text twice below it. Between bars as
DaVinci Resolve writes and reads its timeline markers (``|C:ResolveColorBlue |M:text |D:frames``), and as a
locator as Avid writes it (``* LOC:``), which OpenTimelineIO and others read. An EDL names no frame rate: ours
is in the title, with the number of lines and the time code of the start.

FCPXML 1.10 (Apple): one clip of the film's length with a marker for each line, its text in ``value``; what a
person noted for a colleague in ``note``. Final Cut Pro and DaVinci Resolve read it. The film is named without
its folder: the program asks where it is, or shows it as offline with its markers.

Lost: ids (import finds lines by their frames and texts), what lies between two frames, kind, status, and
reviewers.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from shotad.core import Interval
from shotad.core.errors import ScriptError, quoted
from shotad.script.cue import (
    DEFAULT_FRAME_RATE,
    Cue,
    Script,
    ScriptCue,
    check_line_count,
    clean_text,
    incomplete_error,
    nearest_frame,
    one_line,
)
from shotad.script.frame_count import FilmFrames
from shotad.script.track import Track
from shotad.script.track_texts import texts_in

if TYPE_CHECKING:
    from lxml import etree

COLOUR = "Blue"
"""Of the markers in programs that colour them."""

_MOST_TITLE = 40
_TITLE = re.compile(
    r"TITLE:.*\bAD, (?P<count>\d+) lines? at (?P<spec>[\d/]+(?:df)?) fps from (?P<start>[\d:;]+)\s*"
)
_EVENT = re.compile(
    r"(?P<number>\d+)\s+\S+\s+\S+\s+C\s+(?:\S+\s+)?[\d:;]+\s+[\d:;]+\s+(?P<first>[\d:;]+)\s+(?P<end>[\d:;]+)\s*"
)
_FRAMES = re.compile(r"\d{1,9}")
_LOCATOR = re.compile(r"\*\s*LOC:\s*[\d:;]+\s+\w+\s+(?P<text>.*)")


def _resolve_marker(line: str) -> tuple[str, int] | None:
    """Text and frames of a marker as DaVinci Resolve writes it: ``note |C:colour |M:text |D:frames``."""
    head, _, frames = line.rpartition("|D:")
    note_and_colour, separator, text = head.partition("|M:")
    if not separator or "|C:" not in note_and_colour or not _FRAMES.fullmatch(frames):
        return None
    return text.rstrip(), int(frames)


def _avid_marker(line: str) -> tuple[str, int] | None:
    """Text of a locator as Avid writes it, which lasts a frame: ``* LOC: time colour text``."""
    locator = _LOCATOR.fullmatch(line)
    return None if locator is None else (locator["text"], 1)


def write_edl(track: Track, frames: FilmFrames | None = None) -> str:
    """The heard lines as markers in an EDL (CMX 3600)."""
    frames = frames or FilmFrames()
    heard = track.heard
    stem = re.sub(r"[^\w .-]", " ", PurePath(track.film.name).stem)[:_MOST_TITLE].strip()
    texts = texts_in(track.language)
    title = texts(
        "script.edl_title",
        film=stem,
        lines=texts.count("count.lines", len(heard)),
        rate=frames.spec,
        start=frames.timecode(frames.start),
    )
    mode = "DROP FRAME" if frames.is_drop else "NON-DROP FRAME"
    blocks = [f"TITLE: {title}\nFCM: {mode}\n"]
    spans = [frames.span(cue.interval) for cue in heard]
    # Events of one track may not overlap; the marker keeps its own length.
    limits = [*(start for start, _ in spans[1:]), None][: len(spans)]
    for number, (cue, (first, end), limit) in enumerate(zip(heard, spans, limits, strict=True), 1):
        event_end = end if limit is None else max(first + 1, min(end, limit))
        times = f"{frames.timecode(first)} {frames.timecode(event_end)}"
        text = one_line(cue.text).replace("|", "/")
        blocks.append(
            f"{number:03d}  001      V     C        {times} {times}\n"
            f" |C:ResolveColor{COLOUR} |M:{text} |D:{end - first}\n"
            f"* LOC: {frames.timecode(first)} {COLOUR.upper():<7} {text}\n"
        )
    return "\n".join(blocks) + "\n"


def read_edl(text: str, file_name: str, frames: FilmFrames | None = None) -> Script:
    """The markers in an EDL of ours, or of DaVinci Resolve's timeline markers, or with Avid's locators.

    ``frames`` are those of the film; without them an EDL that is not ours counts 25 a second from 0. Raises
    ScriptError with file and line for time codes that there are not, for an event without a marker, and for a
    file of ours of which the end is missing.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    own = next((match for line in lines[:3] if (match := _TITLE.fullmatch(line))), None)
    if frames is None and own is not None:
        try:
            frames = FilmFrames.parse(f"{own['spec']}+{own['start']}")
        except (ValueError, ZeroDivisionError) as error:
            raise ScriptError(f"{file_name}, in its title: {error}.", _HINT) from None
    frames = frames or FilmFrames()
    cues: list[ScriptCue] = []
    event: re.Match[str] | None = None
    place = ""
    for number, line in enumerate(lines, 1):
        if next_event := _EVENT.fullmatch(line.strip()):
            if event is not None:
                raise ScriptError(f"{place}: there is no marker.", "Export the timeline's markers as EDL.")
            event, place = next_event, f"{file_name}, line {number}"
            continue
        marker = _resolve_marker(line.strip()) or _avid_marker(line.strip())
        # After the first of the two the event has its text.
        if event is None or marker is None:
            continue
        text, marker_frames = marker
        try:
            first, end = frames.number_of(event["first"]), frames.number_of(event["end"])
            # DaVinci Resolve writes events of one frame, and the length beside the text.
            length = max(end - first, marker_frames)
            interval = frames.interval(first, first + length)
        except ValueError as error:
            raise ScriptError(f"{place}: {error}.", _HINT) from None
        cues.append(ScriptCue(None, interval, clean_text(text)))
        check_line_count(cues, file_name)
        event = None
    if event is not None:
        raise incomplete_error(place, "the last event has no marker")
    if own is not None and (len(cues) < int(own["count"]) or (lines and lines[-1].strip())):
        raise incomplete_error(
            file_name,
            f"it holds {len(cues)} lines, and its title says {own['count']}, or its last empty line is gone",
            "If the file is whole, write the number of lines into its title, and an empty line at its end",
        )
    if not cues:
        raise ScriptError(f"{file_name} holds no markers.", "Export the timeline's markers as EDL.")
    return Script(tuple(cues), frame_rate=frames.frame_rate)


_HINT = "Name the film's frames a second and first time code: --format edl@25+01:00:00:00."


def write_fcpxml(track: Track, frames: FilmFrames | None = None) -> str:
    """The heard lines as markers on a clip of the film's length, in FCPXML 1.10."""
    frames = frames or FilmFrames()
    name, texts = track.film.name, texts_in(track.language)
    project = texts("script.film_with_title", film=PurePath(name).stem)
    length = max(1, nearest_frame(track.film.duration, frames.frame_rate))
    start, duration = _seconds(frames.start, frames), _seconds(length, frames)
    mode = "DF" if frames.is_drop else "NDF"
    size = f' width="{frames.width}" height="{frames.height}"' if frames.width and frames.height else ""
    statement = quoteattr(clean_text(track.statement))
    markers = "".join(_marker(cue, frames) for cue in track.heard)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE fcpxml>\n\n<fcpxml version="1.10">\n'
        "  <resources>\n"
        f'    <format id="r1" frameDuration="{_seconds(1, frames)}"{size}/>\n'
        f'    <asset id="r2" name={quoteattr(name)} start="{start}" duration="{duration}" hasVideo="1" '
        'format="r1" hasAudio="1">\n'
        f'      <media-rep kind="original-media" src={quoteattr(f"./{quote(name)}")}/>\n    </asset>\n'
        "  </resources>\n"
        "  <library>\n"
        f"    <event name={quoteattr(texts('script.title'))}>\n"
        f"      <project name={quoteattr(project)}>\n"
        f'        <sequence format="r1" tcStart="{start}" tcFormat="{mode}" duration="{duration}">\n'
        f"          <note>{statement[1:-1]}</note>\n"
        "          <spine>\n"
        f'            <asset-clip ref="r2" name={quoteattr(name)} offset="{start}" start="{start}" '
        f'duration="{duration}" format="r1" tcFormat="{mode}">\n{markers}'
        "            </asset-clip>\n          </spine>\n        </sequence>\n      </project>\n"
        "    </event>\n  </library>\n</fcpxml>\n"
    )


def _marker(cue: Cue, frames: FilmFrames) -> str:
    first, end = frames.span(cue.interval)
    note = f" note={quoteattr(one_line(cue.note.text))}" if cue.note is not None else ""
    return (
        f'              <marker start="{_seconds(first, frames)}" duration="{_seconds(end - first, frames)}" '
        f"value={quoteattr(one_line(cue.text))}{note}/>\n"
    )


def _seconds(number: int, frames: FilmFrames) -> str:
    """A number of frames as FCPXML writes it, in seconds: ``1001/30000s``, ``5s``."""
    seconds = number / frames.frame_rate
    if seconds.denominator == 1:
        return f"{seconds.numerator}s"
    # In frames, not in lowest terms, as Final Cut Pro itself writes them.
    return f"{number * frames.frame_rate.denominator}/{frames.frame_rate.numerator}s"


def read_fcpxml(data: bytes, file_name: str, frames: FilmFrames | None = None) -> Script:
    """The markers of an FCPXML, on whatever clips they stand, in the time of its sequence.

    The frame rate is that of the file; a sequence counts from its own start. Raises ScriptError for what is
    no FCPXML, has no markers, or holds times that are none.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise ScriptError(f"{file_name}: {error}.", "Export it again.") from None
    sequence = root.find(".//sequence")
    if root.tag != "fcpxml" or sequence is None:
        raise ScriptError(f"{file_name} is no FCPXML with a sequence.", "Export the timeline as FCPXML.")
    rate = frames.frame_rate if frames is not None else _frame_rate(root, sequence)
    try:
        start = _time(sequence.get("tcStart"))
        cues = [_marker_cue(marker, start, rate) for marker in sequence.iter("marker")]
    except (ValueError, ZeroDivisionError) as error:
        raise ScriptError(f"{file_name}: {error}.", "Export it again.") from None
    check_line_count(cues, file_name)
    if not cues:
        raise ScriptError(f"{file_name} holds no markers.", "Set some, or export the script again.")
    return Script(tuple(sorted(cues, key=lambda cue: cue.interval.start)), frame_rate=rate, is_proven=True)


def _frame_rate(root: etree._Element, sequence: etree._Element) -> Fraction:
    for media_format in root.iter("format"):
        if media_format.get("id") == sequence.get("format") and media_format.get("frameDuration"):
            duration = _time(media_format.get("frameDuration"))
            if duration > 0:
                return 1 / duration
    return DEFAULT_FRAME_RATE


def _marker_cue(marker: etree._Element, start: Fraction, rate: Fraction) -> ScriptCue:
    """The line of a marker: its time within its clip, and the clip's in those around it."""
    begin = _time(marker.get("start"))
    clip = marker.getparent()
    while clip is not None and clip.tag != "sequence":
        if clip.get("offset") is not None:
            begin += _time(clip.get("offset")) - _time(clip.get("start"))
        clip = clip.getparent()
    first = round((begin - start) * rate)
    length = max(1, round(_time(marker.get("duration")) * rate))
    interval = Interval(float(first / rate), float((first + length) / rate))
    return ScriptCue(None, interval, clean_text(marker.get("value", "")), clean_text(marker.get("note", "")))


def _time(value: str | None) -> Fraction:
    """Seconds from ``1001/30000s`` or ``5s``; 0 where there is none. Raises ValueError."""
    if value is None:
        return Fraction(0)
    match = re.fullmatch(r"(-?\d{1,19}(?:/\d{1,19})?)s", value)
    if match is None:
        raise ValueError(f"{quoted(value)} is no time such as 1001/30000s")
    return Fraction(match[1])
