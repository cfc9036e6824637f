"""The overview's pictures: the film as a strip, the time line, and a card for each line.

Contact sheets put the time on every picture and a head above all (vcsi and its kin); the strip adds what
an editor asks: which shots come from one camera set-up, how close they are, where somebody speaks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from shotad.core import Interval
from shotad.description import overview_signs as signs
from shotad.description.overview_data import Line, Piece, SheetShot, Subject
from shotad.description.overview_signs import clip_facts, role_words, short_time, status_words, thumbnail_size
from shotad.film import (
    FAINT,
    INK,
    PAPER,
    RULE,
    WASH,
    ink_on,
    lettering,
    lines_height,
    thread_colour,
    write,
    write_lines,
)
from shotad.script import timecode

WIDTH = 1480
"""Pixels of a page."""
PER_PAGE = 80
"""Shots on a page, at most."""
PIXELS = 23_000
"""Of a frame, about: 202 x 114 for 16:9."""

_EDGE = 24
_GAP = 14
_BAND = 26
_LANE = 9
_TEXT = 14
_NARROWEST = 138
"""Pixels that the words under a frame need."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """Size of a shot's frame, and of all that belongs to a shot."""

    frame: tuple[int, int]

    @staticmethod
    def of(shape: tuple[int, int]) -> _Cell:
        """For frames of that width and height, of about `PIXELS`, so that whole columns fill the page."""
        wide, high = thumbnail_size(shape, PIXELS)
        columns = _Cell((wide, high)).columns
        room = (WIDTH - 2 * _EDGE + _GAP) // columns - _GAP - 8
        return _Cell((room, round(room * high / wide)) if wide + 8 >= _NARROWEST else (wide, high))

    @property
    def width(self) -> int:
        return max(_NARROWEST, self.frame[0] + 8)

    @property
    def height(self) -> int:
        return _BAND + self.frame[1] + 8 + 2 * (_LANE + 3) + 2 * (_TEXT + 6) + 6

    @property
    def columns(self) -> int:
        return max(1, (WIDTH - 2 * _EDGE + _GAP) // (self.width + _GAP))


class Filmstrip:
    """Draws shot after shot and gives each page as soon as it is full, so that one page is kept at a time."""

    def __init__(self, subject: Subject, shape: tuple[int, int]) -> None:
        """``shape`` is width and height of the film's pictures, in any unit."""
        self._subject, self._cell = subject, _Cell.of(shape)
        self._page: Image.Image | None = None
        self._drawn = 0
        self.pages = max(1, math.ceil(len(subject.shots) / PER_PAGE))

    def add(self, shot: SheetShot, picture: Image.Image | None) -> Image.Image | None:
        """Draw the next shot; ``picture`` is None where its frame could not be read.

        Returns the page that this shot has filled, or that it ends.
        """
        place = self._drawn % PER_PAGE
        left = len(self._subject.shots) - self._drawn
        page = self._page or self._new_page(min(PER_PAGE, left))
        self._draw(page, shot, picture, place)
        self._drawn += 1
        full = place == PER_PAGE - 1 or left == 1
        self._page = None if full else page
        return page if full else None

    def _new_page(self, shots: int) -> Image.Image:
        rows = math.ceil(shots / self._cell.columns)
        height = _HEAD + rows * (self._cell.height + _GAP) + _EDGE
        page = Image.new("RGB", (WIDTH, height), PAPER)
        draw = ImageDraw.Draw(page)
        number = self._drawn // PER_PAGE + 1
        of = f", page {number} of {self.pages}" if self.pages > 1 else ""
        write_lines(draw, (_EDGE, 18), f"{self._subject.name}: film strip{of}", 26, WIDTH - 2 * _EDGE, most=1)
        signs.legend(draw, (_EDGE, 60), _LEGEND)
        return page

    def _draw(self, page: Image.Image, shot: SheetShot, picture: Image.Image | None, place: int) -> None:
        cell = self._cell
        row, column = divmod(place, cell.columns)
        left = _EDGE + column * (cell.width + _GAP)
        top = _HEAD + row * (cell.height + _GAP)
        draw = ImageDraw.Draw(page)
        write(draw, (left, top + 2), str(shot.index), 19)
        if shot.thread:
            signs.badge(draw, (left + cell.width, top + 1), shot.thread, 20, right=True)
        _frame(page, draw, (left, top + _BAND), shot, picture, cell)
        below = top + _BAND + cell.frame[1] + 10
        _lanes(draw, (left, below), cell.width, shot.interval, self._subject)
        words = below + 2 * (_LANE + 3) + 2
        scale = shot.scale.value if shot.scale else "scale unknown"
        write(draw, (left, words), scale, _TEXT, INK if shot.scale else FAINT)
        write(draw, (left, words + _TEXT + 5), _times(shot.interval), _TEXT, FAINT)


_HEAD = 104
_LEGEND: tuple[signs.Sample, ...] = (
    (signs.Kind.THREAD, "thread: shots with the same letter share a camera set-up"),
    (signs.Kind.SPEECH, "speech"),
    (signs.Kind.LYRICS, "sung words"),
    (signs.Kind.SLOT, "slot for AD"),
)


def _frame(
    page: Image.Image,
    draw: ImageDraw.ImageDraw,
    at: tuple[int, int],
    shot: SheetShot,
    picture: Image.Image | None,
    cell: _Cell,
) -> None:
    """The shot's frame, centred in its cell, with the border of its thread."""
    left, top = at
    wide, high = cell.frame
    inset = (cell.width - wide) // 2
    box = (left + inset, top + 4, left + inset + wide, top + 4 + high)
    signs.border(draw, box, shot.thread)
    if picture is not None:
        small = picture.resize(cell.frame, Image.Resampling.LANCZOS)
        page.paste(small, box[:2])
        return
    draw.rectangle(box, fill=WASH)
    words = lettering("no picture", _TEXT)
    x = (box[0] + box[2] - words.width(words.text)) / 2
    draw.text((x, (box[1] + box[3]) / 2 - _TEXT / 2), words.text, fill=FAINT, font=words.font)


def _lanes(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], width: int, shot: Interval, subject: Subject
) -> None:
    """Speech and slots within the shot's time, on two lanes as wide as its cell."""
    spoken = [(u.interval, signs.spoken(u)) for u in subject.speech]
    slots = [(slot.interval, signs.Kind.SLOT) for slot in subject.slots]
    for lane, spans in enumerate((spoken, slots)):
        left, top = at[0], at[1] + lane * (_LANE + 3)
        draw.rectangle((left, top, left + width - 1, top + _LANE), outline=RULE)
        for interval, kind in spans:
            if part := interval.clip(shot):
                start, end = (
                    left + round((t - shot.start) / shot.duration * (width - 1))
                    for t in (part.start, part.end)
                )
                start = min(start, left + width - 3)
                signs.span(draw, (start, top, max(end, start + 2), top + _LANE), kind)


def _times(interval: Interval) -> str:
    return f"{short_time(interval.start)}, {interval.duration:.1f} s"


_NAMES = 84
"""Pixels at the left for the names of the lanes."""
_ROW_EDGE = 16
_ROOM = WIDTH - _NAMES - 2 * _ROW_EDGE
"""Pixels for the time of a row."""
_AXIS, _SHOTS, _SPEECH, _SLOTS, _LINES = 24, 30, 20, 20, 62
_ROW_GAP = 6
ROW_HEIGHT = _AXIS + _SHOTS + _SPEECH + _SLOTS + _LINES + 5 * _ROW_GAP + 8

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
    page = Image.new("RGB", (WIDTH, head + len(rows) * (ROW_HEIGHT + 12) + _ROW_EDGE), PAPER)
    draw = ImageDraw.Draw(page)
    write_lines(draw, (_ROW_EDGE, 18), title, 26, WIDTH - 2 * _ROW_EDGE, most=1)
    signs.legend(draw, (_ROW_EDGE, 60), LEGEND)
    for number, row in enumerate(rows):
        page.paste(row.picture, (0, head + number * (ROW_HEIGHT + 12)))
    return page


LEGEND: tuple[signs.Sample, ...] = (
    (signs.Kind.THREAD, "thread"),
    (signs.Kind.SPEECH, "speech"),
    (signs.Kind.LYRICS, "sung words"),
    (signs.Kind.SLOT, "slot for AD"),
    (signs.Kind.HEARD, "line that is spoken"),
    (signs.Kind.UNHEARD, "line that is not"),
)


@dataclass(frozen=True, slots=True)
class _Scale:
    """From seconds to pixels within one row."""

    time: Interval

    def x(self, second: float) -> int:
        return _NAMES + _ROW_EDGE + round((second - self.time.start) / self.time.duration * _ROOM)

    def width(self, start: float, end: float) -> int:
        return self.x(end) - self.x(start)

    def box(self, part: Interval, top: int, height: int) -> signs.Box | None:
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
    top = _AXIS + _ROW_GAP
    _name(draw, "shots", top, _SHOTS)
    for shot in subject.shots:
        _shot(draw, scale, shot, top)
    top += _SHOTS + _ROW_GAP
    _name(draw, "speech", top, _SPEECH)
    for spoken in subject.speech:
        if box := scale.box(spoken.interval, top, _SPEECH):
            signs.span(draw, box, signs.spoken(spoken))
    top += _SPEECH + _ROW_GAP
    _name(draw, "slots", top, _SLOTS)
    for slot in subject.slots:
        if box := scale.box(slot.interval, top, _SLOTS):
            signs.span(draw, box, signs.Kind.SLOT)
    top += _SLOTS + _ROW_GAP
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
        draw.line((x, _AXIS - 5, x, _AXIS + _SHOTS + _SPEECH + _SLOTS + 4 * _ROW_GAP + 12), fill=RULE)
        words = lettering(timecode(second)[:-4].removeprefix("00:"), 15)
        place = min(max(x - words.width(words.text) / 2, 2), WIDTH - words.width(words.text) - 2)
        draw.text((place, 0), words.text, fill=INK, font=words.font)
    if end < time.end:
        draw.rectangle((right, _AXIS, scale.x(time.end), ROW_HEIGHT - 8), fill=WASH)
        if scale.x(time.end) - right > 80:
            write(draw, (right + 8, _AXIS + _ROW_GAP + 6), "end of film", 15, FAINT)


def _name(draw: ImageDraw.ImageDraw, name: str, top: int, height: int) -> None:
    write(draw, (_ROW_EDGE, top + height / 2 - 10), name, 16)


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
    signs.span(draw, box, signs.Kind.HEARD if line.cue.heard else signs.Kind.UNHEARD)
    time, start = scale.time, line.interval.start
    before = scale.width(start, min(room, time.start)) if start < time.start else 0
    width = scale.width(max(start, time.start), min(room, time.end)) - 6
    if width < _NARROWEST_TEXT or before >= _NARROWEST_TEXT + 6:
        return
    words = line.cue.text if line.cue.heard else line.cue.status.value
    ink = INK if line.cue.heard else FAINT
    write_lines(draw, (box[0], top + 16), words, 14, width, ink=ink, most=2)


_CARD_EDGE = 24
_CARD_GAP = 18
_CARD_HEAD = 70
_LABEL = 56
"""Pixels above each frame, for what is said of its shot at the first one."""
_TIME = 22
_CARD_NARROWEST = 190
"""Pixels that a label needs."""
_CARD_TEXT = 28
_SMALL = 16

FramePictures = Mapping[tuple[int, float], Image.Image]
"""A picture for each painted number and second that is shown; one that could not be read is absent."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Places for frames of one size, from left to right and then below, in order of time."""

    size: tuple[int, int]
    count: int

    @property
    def pitch(self) -> tuple[int, int]:
        """Pixels from one place to the next, across and down."""
        return max(self.size[0], _CARD_NARROWEST) + _CARD_GAP, _LABEL + self.size[1] + _TIME + 12

    @property
    def columns(self) -> int:
        return max(1, (WIDTH - 2 * _CARD_EDGE + _CARD_GAP) // self.pitch[0])

    @property
    def height(self) -> int:
        return -(-self.count // self.columns) * self.pitch[1]

    def corner(self, place: int) -> tuple[int, int]:
        """Left and top of a place, its label included."""
        row, column = divmod(place, self.columns)
        return _CARD_EDGE + column * self.pitch[0], _CARD_HEAD + row * self.pitch[1]


def line_card(
    line: Line, seconds: Mapping[int, tuple[float, ...]], pictures: FramePictures, size: tuple[int, int]
) -> Image.Image:
    """The card of ``line``: ``seconds`` are the moments shown of each shot, by painted number; ``size`` is
    that of a frame in pixels.
    """
    pieces = line.look.pieces if line.look else ()
    shown = [(piece, second) for piece in pieces for second in seconds[piece.number]]
    grid = _Grid(size, len(shown))
    text = line.cue.text or f"({status_words(line.cue)})"
    facts, width = clip_facts(line), WIDTH - 2 * _CARD_EDGE
    top = _CARD_HEAD + grid.height
    height = (
        top + 14 + lines_height(text, _CARD_TEXT, width) + 8 + lines_height(facts, _SMALL, width) + _CARD_EDGE
    )
    card = Image.new("RGB", (WIDTH, height), PAPER)
    draw = ImageDraw.Draw(card)
    _card_head(draw, line)
    before = None
    for place, (piece, second) in enumerate(shown):
        _card_label(draw, piece, grid, place, first=piece is not before)
        _card_frame(card, draw, (piece, second), pictures.get((piece.number, second)), grid, place)
        before = piece
    draw.line((_CARD_EDGE, top, WIDTH - _CARD_EDGE, top), fill=RULE)
    top += 14
    top += write_lines(draw, (_CARD_EDGE, top), text, _CARD_TEXT, width) + 8
    write_lines(draw, (_CARD_EDGE, top), facts, _SMALL, width, ink=FAINT)
    return card


def _card_head(draw: ImageDraw.ImageDraw, line: Line) -> None:
    start, end = (timecode(t) for t in (line.interval.start, line.interval.end))
    x = _CARD_EDGE + write(draw, (_CARD_EDGE, 18), start, 26) + 12
    x += write(draw, (x, 26), f"to {end}", 17, FAINT) + 24
    write_lines(draw, (x, 26), f"{line.id}: {status_words(line.cue)}", 17, WIDTH - _CARD_EDGE - x, most=1)


def _card_label(draw: ImageDraw.ImageDraw, piece: Piece, grid: _Grid, place: int, *, first: bool) -> None:
    """What is said of a shot, above its first frame; above the others a line that leads on from it."""
    left, top = grid.corner(place)
    if not first:
        start = left - _CARD_GAP if place % grid.columns else left
        draw.line((start, top + 36, left + grid.size[0], top + 36), fill=RULE, width=2)
        return
    x = left + write(draw, (left, top), f"Shot {piece.number}", 21) + 8
    if piece.thread:
        x += signs.badge(draw, (round(x), top + 1), piece.thread, 20) + 8
    write(draw, (x, top + 3), role_words(piece.role), 18)
    scale = piece.scale.value if piece.scale else "scale unknown"
    write(draw, (left, top + 26), f"{scale}, film shot {piece.shot}", _SMALL, FAINT)


def _card_frame(
    card: Image.Image,
    draw: ImageDraw.ImageDraw,
    shown: tuple[Piece, float],
    picture: Image.Image | None,
    grid: _Grid,
    place: int,
) -> None:
    piece, second = shown
    left, top = grid.corner(place)
    (wide, high), top = grid.size, top + _LABEL
    box = (left, top, left + wide, top + high)
    signs.role_border(draw, box, piece.role)
    if picture is None:
        draw.rectangle((left, top, left + wide - 1, top + high - 1), fill=WASH)
        write(draw, (left + 8, top + high / 2 - 8), "no picture", _SMALL, FAINT)
    else:
        card.paste(picture if picture.size == grid.size else picture.resize(grid.size), box[:2])
    write(draw, (left, top + high + 5), timecode(second), 14, FAINT)
