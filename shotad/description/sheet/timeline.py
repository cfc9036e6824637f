"""Shots, speech, slots and lines on a line of time, in rows of a constant length."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from shotad.core import Interval
from shotad.description.sheet import marks
from shotad.description.sheet.subject import Line, SheetShot, Subject
from shotad.film import FAINT, INK, PAPER, RULE, WASH, ink_on, lettering, thread_colour, write, write_lines
from shotad.script import timecode

WIDTH = 1480
_NAMES = 84
"""Pixels at the left for the names of the lanes."""
_EDGE = 16
_ROOM = WIDTH - _NAMES - 2 * _EDGE
"""Pixels for the time of a row."""
_AXIS, _SHOTS, _SPEECH, _SLOTS, _LINES = 24, 30, 20, 20, 62
_GAP = 6
ROW_HEIGHT = _AXIS + _SHOTS + _SPEECH + _SLOTS + _LINES + 5 * _GAP + 8

_LENGTHS = (15, 30, 60, 120, 300, 600)
"""Seconds that a row may have."""
_FEW_ROWS, _MANY_ROWS = 6, 72
_NARROWEST_SHOT = 40
"""Pixels that the mean shot gets, so that its number and letter can be read."""
ROWS_PER_PAGE = 12
_TICKS = (1, 5, 10, 30, 60)
_NARROWEST_TEXT = 48


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its time, which may reach beyond the film's end, and its picture."""

    interval: Interval
    picture: Image.Image


def row_times(end: float, shots: int) -> list[Interval]:
    """The rows of a film of ``end`` seconds and ``shots`` shots, all of one length.

    As long as six rows ask for, but shorter where shots are short, and never so short that there are more
    than 72 rows (of 600 s at most).

    >>> row_times(70.0, 17)[-1]
    Interval(start=60.0, end=75.0)
    """
    for_few = next((n for n in _LENGTHS if end / n <= _FEW_ROWS), _LENGTHS[-1])
    for_shots = max((n for n in _LENGTHS if end / shots * _ROOM / n >= _NARROWEST_SHOT), default=_LENGTHS[0])
    for_many = next((n for n in _LENGTHS if end / n <= _MANY_ROWS), _LENGTHS[-1])
    length = max(min(for_few, for_shots), for_many)
    return [Interval(float(k * length), float((k + 1) * length)) for k in range(math.ceil(end / length))]


def timeline_rows(subject: Subject) -> list[Row]:
    """The rows as pictures of one width, without a head."""
    return [Row(time, _row(time, subject)) for time in row_times(subject.end, len(subject.shots))]


def timeline(subject: Subject, rows: Sequence[Row]) -> Iterator[Image.Image]:
    """All rows, twelve to a page, each page with a head and what the signs mean."""
    pages = [rows[k : k + ROWS_PER_PAGE] for k in range(0, len(rows), ROWS_PER_PAGE)]
    for number, part in enumerate(pages, 1):
        of = f", page {number} of {len(pages)}" if len(pages) > 1 else ""
        yield _page(f"{subject.name}: time line{of}", part)


def _page(title: str, rows: Sequence[Row]) -> Image.Image:
    head = 104
    page = Image.new("RGB", (WIDTH, head + len(rows) * (ROW_HEIGHT + 12) + _EDGE), PAPER)
    draw = ImageDraw.Draw(page)
    write_lines(draw, (_EDGE, 18), title, 26, WIDTH - 2 * _EDGE, most=1)
    marks.legend(draw, (_EDGE, 60), LEGEND)
    for number, row in enumerate(rows):
        page.paste(row.picture, (0, head + number * (ROW_HEIGHT + 12)))
    return page


LEGEND: tuple[marks.Sample, ...] = (
    (marks.Kind.THREAD, "thread"),
    (marks.Kind.SPEECH, "speech"),
    (marks.Kind.LYRICS, "sung words"),
    (marks.Kind.SLOT, "slot for AD"),
    (marks.Kind.HEARD, "line that is spoken"),
    (marks.Kind.UNHEARD, "line that is not"),
)


@dataclass(frozen=True, slots=True)
class _Scale:
    """From seconds to pixels within one row."""

    time: Interval

    def x(self, second: float) -> int:
        return _NAMES + _EDGE + round((second - self.time.start) / self.time.duration * _ROOM)

    def width(self, start: float, end: float) -> int:
        return self.x(end) - self.x(start)

    def box(self, part: Interval, top: int, height: int) -> marks.Box | None:
        """The part of ``part`` within the row, at least 2 pixels wide."""
        inside = part.clip(self.time)
        if inside is None:
            return None
        left, right = self.x(inside.start), self.x(inside.end)
        return left, top, max(right - 1, left + 2), top + height


def _row(time: Interval, subject: Subject) -> Image.Image:
    picture = Image.new("RGB", (WIDTH, ROW_HEIGHT), PAPER)
    draw = ImageDraw.Draw(picture)
    scale = _Scale(time)
    _axis(draw, scale, subject.end)
    top = _AXIS + _GAP
    _name(draw, "shots", top, _SHOTS)
    for shot in subject.shots:
        _shot(draw, scale, shot, top)
    top += _SHOTS + _GAP
    _name(draw, "speech", top, _SPEECH)
    for spoken in subject.speech:
        if box := scale.box(spoken.interval, top, _SPEECH):
            marks.span(draw, box, marks.spoken(spoken))
    top += _SPEECH + _GAP
    _name(draw, "slots", top, _SLOTS)
    for slot in subject.slots:
        if box := scale.box(slot.interval, top, _SLOTS):
            marks.span(draw, box, marks.Kind.SLOT)
    top += _SLOTS + _GAP
    _name(draw, "lines", top, 24)
    for line, room in _with_room(subject.lines, time):
        _line(draw, scale, line, room, top)
    return picture


def _axis(draw: ImageDraw.ImageDraw, scale: _Scale, end: float) -> None:
    time = scale.time
    step = next((t for t in _TICKS if time.duration / t <= 16), _TICKS[-1])
    right = scale.x(min(time.end, end))
    draw.rectangle((scale.x(time.start), _AXIS, right, ROW_HEIGHT - 1), fill=PAPER)
    for k in range(round(time.duration / step) + 1):
        second = time.start + k * step
        if second > end:
            break
        x = scale.x(second)
        draw.line((x, _AXIS - 5, x, _AXIS + _SHOTS + _SPEECH + _SLOTS + 4 * _GAP + 12), fill=RULE)
        words = lettering(timecode(second)[:-4].removeprefix("00:"), 15)
        place = min(max(x - words.width(words.text) / 2, 2), WIDTH - words.width(words.text) - 2)
        draw.text((place, 0), words.text, fill=INK, font=words.font)
    if end < time.end:
        draw.rectangle((right, _AXIS, scale.x(time.end), ROW_HEIGHT - 8), fill=WASH)
        if scale.x(time.end) - right > 80:
            write(draw, (right + 8, _AXIS + _GAP + 6), "end of film", 15, FAINT)


def _name(draw: ImageDraw.ImageDraw, name: str, top: int, height: int) -> None:
    write(draw, (_EDGE, top + height / 2 - 10), name, 16)


def _shot(draw: ImageDraw.ImageDraw, scale: _Scale, shot: SheetShot, top: int) -> None:
    """The shot's time in its thread's colour, with number and letter where there is room."""
    box = scale.box(shot.interval, top, _SHOTS)
    if box is None:
        return
    colour = thread_colour(shot.thread) if shot.thread else PAPER
    draw.rectangle(box, fill=colour, outline=INK)
    room = box[2] - box[0] - 2
    label = f"{shot.index} {shot.thread}" if shot.thread else str(shot.index)
    short = shot.thread or str(shot.index)
    for words, size in ((label, 16), (label, 12), (short, 12), (short, 9)):
        drawn = lettering(words, size)
        if drawn.width(words) <= room:
            middle = ((box[0] + box[2]) / 2, top + _SHOTS / 2)
            draw.text(middle, words, fill=ink_on(colour), font=drawn.font, anchor="mm")
            break


def _with_room(lines: Sequence[Line], time: Interval) -> list[tuple[Line, float]]:
    """The lines that touch ``time``, each with the second up to which its text may reach."""
    starts = [*(line.interval.start for line in lines), math.inf]
    return [
        (line, after) for line, after in zip(lines, starts[1:], strict=True) if line.interval.overlaps(time)
    ]


def _line(draw: ImageDraw.ImageDraw, scale: _Scale, line: Line, room: float, top: int) -> None:
    """The line's time, and its text in the row in which it begins, or in the next where that has no room."""
    box = scale.box(line.interval, top, 12)
    if box is None:
        return
    marks.span(draw, box, marks.Kind.HEARD if line.cue.heard else marks.Kind.UNHEARD)
    time, start = scale.time, line.interval.start
    before = scale.width(start, min(room, time.start)) if start < time.start else 0
    width = scale.width(max(start, time.start), min(room, time.end)) - 6
    if width < _NARROWEST_TEXT or before >= _NARROWEST_TEXT + 6:
        return
    words = line.cue.text if line.cue.heard else line.cue.status.value
    ink = INK if line.cue.heard else FAINT
    write_lines(draw, (box[0], top + 16), words, 14, width, ink=ink, most=2)
