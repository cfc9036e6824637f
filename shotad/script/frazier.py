"""CSV for Frazier, the program in which German-speaking describers write and record audio description.

Its maker publishes no description of the file. This is the layout that the describAIbe project of
Fachhochschule Südwestfalen writes for it (fhswf/descraibe, ``backend/pipeline/export.py``, 2026): semicolons,
the heads ``Position;Start;End;Text``, times ``HH:MM:SS.FF`` with frames at 25 a second, a line's text on one
line, UTF-8 without a byte order mark. Two older states of theirs are read as well (a comma before the frames;
``Slot;Startzeit;Endzeit;Dauer_s;Audiodeskription``).

Lost: what lies between two frames, kind, status, notes, and the statement that the script is made by
machine, for there is no place for it that Frazier would not read out. Ids stand in ``Position`` as in SubRip:
``s00083120`` is 100083120. A program that counts anew loses them, and import then finds lines by their times.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from shotad.core import Interval, ScriptError
from shotad.script.cue import Script, ScriptCue, clean_text
from shotad.script.sheet import guarded, unguarded
from shotad.script.srt import id_of, number_of
from shotad.script.timecodes import parse_time
from shotad.script.track import Track

HEADS = ("Position", "Start", "End", "Text")
FRAME_RATE = Fraction(25)

_NAMES = {
    "position": "position", "slot": "position", "start": "start", "startzeit": "start", "end": "end",
    "ende": "end", "endzeit": "end", "text": "text", "audiodeskription": "text",
}  # fmt: skip
_TIME = re.compile(r"(?P<clock>\d+:\d{1,2}:\d{1,2})[.,:;](?P<frames>\d{2})")


@dataclass(frozen=True, slots=True)
class FramedScript(Script):
    """A script whose times stand on frames, at ``frame_rate`` a second."""

    frame_rate: Fraction = FRAME_RATE


def on_frames(interval: Interval, frame_rate: Fraction) -> Interval:
    """The interval as a file in frames shows it, a frame long at least: at 25, [1.019, 1.03) is [1, 1.04)."""
    start, end = (_nearest_frame(second, frame_rate) for second in (interval.start, interval.end))
    return Interval(float(start / frame_rate), float(max(end, start + 1) / frame_rate))


def write_frazier(track: Track, frame_rate: Fraction = FRAME_RATE) -> str:
    """The heard lines for Frazier. Lines of a text are joined by U+2028, at which the reader parts them."""
    out = io.StringIO()
    rows = csv.writer(out, delimiter=";")
    rows.writerow(HEADS)
    for cue in track.heard:
        shown = on_frames(cue.interval, frame_rate)
        times = (_timecode(second, frame_rate) for second in (shown.start, shown.end))
        rows.writerow([number_of(cue.id), *times, guarded(cue.text.replace("\n", " \u2028"))])
    return out.getvalue()


def read_frazier(text: str, name: str, frame_rate: Fraction = FRAME_RATE) -> FramedScript:
    """The lines of a Frazier CSV, its frames counted at ``frame_rate``.

    Raises ScriptError with file and line, also for frames that ``frame_rate`` does not have.
    """
    text = text.removeprefix("\ufeff")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)
    heads: list[str] = []
    cues: list[ScriptCue] = []
    try:
        for row in rows:
            where = f"{name}, line {rows.line_num}"
            if not heads:
                heads = _heads(row, where)
            elif any(cell.strip() for cell in row):
                cues.append(_line(dict(zip(heads, row, strict=False)), where, frame_rate))
    except csv.Error as error:
        raise ScriptError(f"{name}, line {rows.line_num}: {error}.", "Correct the quotes.") from None
    return FramedScript(tuple(cues), frame_rate=frame_rate)


def is_frazier(first_line: str) -> bool:
    """Whether these are the heads of a Frazier CSV."""
    names = [_NAMES.get(cell.strip().strip('"').lower()) for cell in first_line.split(";")]
    return names[:3] == ["position", "start", "end"] and "text" in names


def _heads(row: Sequence[str], where: str) -> list[str]:
    names = [_NAMES.get(cell.strip().lower(), "") for cell in row]
    missing = [head for head in HEADS[1:] if head.lower() not in names]
    if missing:
        raise ScriptError(
            f"{where}: columns are {', '.join(row)}; {' and '.join(missing)} missing.",
            f"Frazier's heads are {';'.join(HEADS)}.",
        )
    return names


def _line(cells: dict[str, str], where: str, frame_rate: Fraction) -> ScriptCue:
    try:
        interval = Interval(*(_seconds(cells.get(key, ""), frame_rate) for key in ("start", "end")))
    except ValueError as error:
        raise ScriptError(f"{where}: {error}.", "Correct the times, or name the frames a second.") from None
    text = clean_text(unguarded(cells.get("text", "")))
    return ScriptCue(id_of(cells.get("position", "").strip()), interval, text)


def _seconds(text: str, frame_rate: Fraction) -> float:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return parse_time(text)
    frames, counted = int(match["frames"]), math.ceil(frame_rate)
    if frames >= counted:
        raise ValueError(f"{text!r} has frame {frames}, but there are {counted} frames in a second")
    return float((int(parse_time(match["clock"])) * counted + frames) / frame_rate)


def _timecode(second: float, frame_rate: Fraction) -> str:
    """SMPTE timecode, non-drop: at 29.97 frames a second 30 are counted for each of its seconds."""
    whole, rest = divmod(_nearest_frame(second, frame_rate), math.ceil(frame_rate))
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}.{rest:02d}"


def _nearest_frame(second: float, frame_rate: Fraction) -> int:
    return round(Fraction(second).limit_denominator(1_000_000) * frame_rate)
