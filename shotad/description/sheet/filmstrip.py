"""The film as a strip: one frame of every shot with its number, thread and scale, and what is heard below.

Contact sheets put the time on every picture and a head above all (vcsi and its kin); this one adds what
an editor asks: which shots come from one camera set-up, how close they are, where somebody speaks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from PIL import Image, ImageDraw

from shotad.core import Interval
from shotad.description.sheet import marks
from shotad.description.sheet.marks import thumbnail_size
from shotad.description.sheet.subject import SheetShot, Subject
from shotad.description.sheet.wording import short_time
from shotad.film import FAINT, INK, PAPER, RULE, WASH, lettering, write, write_lines

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
        marks.legend(draw, (_EDGE, 60), _LEGEND)
        return page

    def _draw(self, page: Image.Image, shot: SheetShot, picture: Image.Image | None, place: int) -> None:
        cell = self._cell
        row, column = divmod(place, cell.columns)
        left = _EDGE + column * (cell.width + _GAP)
        top = _HEAD + row * (cell.height + _GAP)
        draw = ImageDraw.Draw(page)
        write(draw, (left, top + 2), str(shot.index), 19)
        if shot.thread:
            marks.badge(draw, (left + cell.width, top + 1), shot.thread, 20, right=True)
        _frame(page, draw, (left, top + _BAND), shot, picture, cell)
        below = top + _BAND + cell.frame[1] + 10
        _lanes(draw, (left, below), cell.width, shot.interval, self._subject)
        words = below + 2 * (_LANE + 3) + 2
        scale = shot.scale.value if shot.scale else "scale unknown"
        write(draw, (left, words), scale, _TEXT, INK if shot.scale else FAINT)
        write(draw, (left, words + _TEXT + 5), _times(shot.interval), _TEXT, FAINT)


_HEAD = 104
_LEGEND: tuple[marks.Sample, ...] = (
    (marks.Kind.THREAD, "thread: shots with the same letter share a camera set-up"),
    (marks.Kind.SPEECH, "speech"),
    (marks.Kind.LYRICS, "sung words"),
    (marks.Kind.SLOT, "slot for AD"),
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
    marks.border(draw, box, shot.thread)
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
    spoken = [(u.interval, marks.spoken(u)) for u in subject.speech]
    slots = [(slot.interval, marks.Kind.SLOT) for slot in subject.slots]
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
                marks.span(draw, (start, top, max(end, start + 2), top + _LANE), kind)


def _times(interval: Interval) -> str:
    return f"{short_time(interval.start)}, {interval.duration:.1f} s"
