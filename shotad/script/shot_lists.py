"""Lists of shots of other programs: the scene list of PySceneDetect, EDL (CMX 3600), QP files of x264.

Scene list (CSV of ``scenedetect list-scenes``, 0.6 and 0.7): a row for each shot, with or without a row of
cuts before the heads. Its seconds count; frames are numbered from 1, and the end is the last frame's number.

EDL: the events of the first video track in record time, with or without drop-frame, at the film's frame
rate, for an EDL names none. The film begins at the full hour before its first event, as programmes that begin
at 01:00:00:00 do. A dissolve or a wipe is cut in its middle. Sources: CMX 3600 as the manuals of DaVinci
Resolve, Avid and Premiere show it; the lists that ``scenedetect save-edl`` writes.

OpenTimelineIO does not read them: its adapter for EDL refuses frame rates that broadcasters do not use,
passes over lines that it does not understand, cuts a dissolve where it begins, and has no wheel for Python
3.14 (`benchmarks/LOG.md`).

QP: a line for each first frame of a shot, counted from 0, as ``scenedetect save-qp`` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from shotad.core import Interval
from shotad.core.errors import ScriptError, quoted
from shotad.script.cue import parse_interval
from shotad.script.frame_count import NAMED_RATES, FilmFrames
from shotad.script.table_formats import csv_rows, rows_with_places

RATE_TOLERANCE = 0.01
"""By how much the frame rate of a list may differ from the film's: 24 and 25 are told apart."""

_START, _END = "start time (seconds)", "end time (seconds)"
_START_FRAME, _END_FRAME = "start frame", "end frame"
_EDL_EVENT = re.compile(
    r"(?P<number>\d{1,6})\s+(?P<reel>\S+)\s+(?P<track>\S+)\s+(?P<kind>C|D|W\d*|KB?|KO)\s+(?:(?P<length>\d{1,4})\s+)?"
    r"[\d:;.]+\s+[\d:;.]+\s+(?P<first>[\d:;.]+)\s+(?P<end>[\d:;.]+)(?:\s.*)?",
    re.IGNORECASE,
)
_QP_LINE = re.compile(r"(?P<frame>\d{1,9})\s+[IKPBb](?:\s+-?\d{1,3})?")


def is_scene_list(text: str) -> bool:
    """Whether a text is a scene list of PySceneDetect."""
    return _start_of_heads(text) is not None


def _start_of_heads(text: str) -> int | None:
    """Where the heads of a scene list begin, in its first three lines; None where it has none."""
    start = 0
    for line in text.split("\n", 3)[:3]:
        if _START_FRAME in line.lower() and "start timecode" in line.lower():
            return start
        start += len(line) + 1
    return None


def is_edl(text: str) -> bool:
    """Whether a text is an EDL."""
    head = text.lstrip("\ufeff \r\n")[:4000]
    if head.startswith(("TITLE:", "FCM:")):
        return True
    return any(_EDL_EVENT.fullmatch(line.strip()) for line in head.splitlines())


def is_qp(text: str) -> bool:
    """Whether a text is a QP file."""
    first_line = text.lstrip("\ufeff \r\n").partition("\n")[0].strip()
    return _QP_LINE.fullmatch(first_line) is not None


_TIMELINES = {
    '"OTIO_SCHEMA"': "an OpenTimelineIO timeline",
    "<fcpxml": "an FCPXML timeline",
    "<xmeml": "an XML timeline of Premiere or Final Cut Pro 7",
}
"""What stands in the heads of timelines in which the shots are not looked for, and what these are."""


def timeline_kind(text: str) -> str | None:
    """What kind of timeline a text is that is not read; None for all other texts."""
    head = text[:4096]
    return next((kind for sign, kind in _TIMELINES.items() if sign in head), None)


def read_scene_list(text: str, file_name: str, frame_rate: Fraction | None) -> list[Interval]:
    """The shots of a scene list. Raises ScriptError with file and line for what cannot be read, and where its
    frames are not those of a film of ``frame_rate`` (None: not known)."""
    heads: list[str] = []
    shots: list[Interval] = []
    frames = 0
    # The row of cuts may stand first; the separator is that of the heads.
    table = text[_start_of_heads(text) :]
    for place, row in rows_with_places(csv_rows(table), file_name):
        cells = [cell.strip() for cell in row]
        if not heads:
            heads = [cell.lower() for cell in cells]
            missing = [head for head in (_START, _END) if head not in heads]
            if missing:
                message = f"{place}: there is no column {missing[0]}."
                raise ScriptError(message, "Write the list with scenedetect list-scenes.")
            continue
        row_cells = {_START: "", _END: "", **dict(zip(heads, cells, strict=False))}
        shots.append(parse_interval(row_cells[_START], row_cells[_END], place))
        end_frame = row_cells.get(_END_FRAME, "")
        frames = int(end_frame) if end_frame.isascii() and end_frame.isdigit() else frames
    if shots and frames and frame_rate:
        # From 0: the last end is so many frames behind the film's start.
        rate = frames / shots[-1].end
        if abs(rate / float(frame_rate) - 1) > RATE_TOLERANCE:
            raise ScriptError(
                f"{file_name} counts {rate:.2f} frames a second, and the film has {float(frame_rate):.2f}.",
                "It may be of another version of the film. Find the shots in this one.",
            )
    return shots


def read_edl_shots(text: str, file_name: str, frame_rate: Fraction | None) -> list[Interval]:
    """The shots of an EDL in record time. Raises ScriptError with file and line for time codes that there
    are not at ``frame_rate`` (None: not known), and for an EDL without a video event."""
    lines = text.removeprefix("\ufeff").splitlines()
    frames = _frames_of_edl(lines, file_name, frame_rate)
    spans: list[tuple[int, int]] = []
    track = ""
    for number, line in enumerate(lines, 1):
        event = _EDL_EVENT.fullmatch(line.strip())
        if event is None or not event["track"].upper().startswith(("V", "B")):
            continue
        track = track or event["track"]
        place = f"{file_name}, line {number}"
        try:
            first, end = frames.number_of(event["first"]), frames.number_of(event["end"])
        except ValueError as error:
            hint = "Export the EDL at the film's frame rate, and check that it is of this film."
            raise ScriptError(f"{place}: {error}.", hint) from None
        # The first line of a dissolve names the shot that ends, and lasts no frame. Other tracks lie above.
        if event["track"] != track or first == end:
            continue
        if event["kind"].upper() != "C" and event["length"] and spans:
            # Both are seen while it lasts; each has half of it.
            first += int(event["length"]) // 2
            spans[-1] = (spans[-1][0], max(first, spans[-1][1]))
        if end < first:
            raise ScriptError(f"{place}: the event ends before it starts.", "Export the EDL again.")
        spans.append((first, end))
    if not spans:
        raise ScriptError(f"{file_name} holds no event of a picture.", "Export the EDL of the video track.")
    hour = 3600 * frames.nominal_rate
    start = frames.number_of(f"{spans[0][0] // hour:02d}:00:00{';' if frames.is_drop else ':'}00")
    counted = FilmFrames(frames.frame_rate, frames.is_drop, min(start, spans[0][0]))
    return [counted.interval(first, end) for first, end in spans]


def _frames_of_edl(lines: Sequence[str], file_name: str, frame_rate: Fraction | None) -> FilmFrames:
    """How an EDL counts frames: as the film, in drop-frame time code where it says so or has a semicolon."""
    if frame_rate is None:
        raise ScriptError(
            f"{file_name} counts in frames, and the film has no frame rate.", "Give start and end in seconds."
        )
    # A container may say 29.97, or a number that is nearly 30000/1001.
    exact = min([*NAMED_RATES.values(), frame_rate], key=lambda rate: (abs(rate - frame_rate), -rate))
    rate = exact if abs(exact / frame_rate - 1) < 1e-4 else frame_rate
    modes = [line.strip().upper() for line in lines if line.strip().upper().startswith("FCM:")]
    events = [match for line in lines if (match := _EDL_EVENT.fullmatch(line.strip()))]
    is_drop = (bool(modes) and "NON" not in modes[0]) or any(";" in event["first"] for event in events)
    try:
        return FilmFrames(rate, is_drop)
    except ValueError as error:
        message = f"{file_name} is in drop-frame time code: {error}."
        raise ScriptError(message, "It is of another film, or of another version of this one.") from None


def read_qp(text: str, file_name: str, frame_rate: Fraction | None, end: float) -> list[Interval]:
    """The shots of a QP file up to second ``end`` of the film. Raises ScriptError with file and line."""
    if frame_rate is None or end <= 0:
        raise ScriptError(
            f"{file_name} counts in frames, and the film's frame rate or length is not known.",
            "Give start and end in seconds.",
        )
    firsts: list[int] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        match = _QP_LINE.fullmatch(line.strip())
        if line.strip() and match is None:
            raise ScriptError(
                f"{file_name}, line {number}: {quoted(line)} is no frame of a QP file.",
                "Write, for example, 240 I -1.",
            )
        if match is not None:
            firsts.append(int(match["frame"]))
    seconds = [float(first / frame_rate) for first in dict.fromkeys([0, *firsts])]
    if sorted(seconds) != seconds or seconds[-1] >= end:
        raise ScriptError(
            f"{file_name}: frame {firsts[-1]} is out of order, or behind the film's end ({end:.3f} s).",
            "Is it of another film, or of another frame rate?",
        )
    return [Interval(start, stop) for start, stop in pairwise([*seconds, end])]
