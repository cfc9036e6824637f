"""One line as a picture: its frames as the engine saw them, shot by shot, and the text below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image, ImageDraw

from shotad.description.sheet import marks
from shotad.description.sheet.subject import Line, Piece
from shotad.description.sheet.wording import clip_facts, role_words, status_words
from shotad.film import FAINT, PAPER, RULE, WASH, lines_height, write, write_lines
from shotad.script import timecode

WIDTH = 1480
_EDGE = 24
_GAP = 18
_HEAD = 70
_LABEL = 56
"""Pixels above each frame, for what is said of its shot at the first one."""
_TIME = 22
_NARROWEST = 190
"""Pixels that a label needs."""
_TEXT = 28
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
        return max(self.size[0], _NARROWEST) + _GAP, _LABEL + self.size[1] + _TIME + 12

    @property
    def columns(self) -> int:
        return max(1, (WIDTH - 2 * _EDGE + _GAP) // self.pitch[0])

    @property
    def height(self) -> int:
        return -(-self.count // self.columns) * self.pitch[1]

    def corner(self, place: int) -> tuple[int, int]:
        """Left and top of a place, its label included."""
        row, column = divmod(place, self.columns)
        return _EDGE + column * self.pitch[0], _HEAD + row * self.pitch[1]


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
    facts, width = clip_facts(line), WIDTH - 2 * _EDGE
    top = _HEAD + grid.height
    height = top + 14 + lines_height(text, _TEXT, width) + 8 + lines_height(facts, _SMALL, width) + _EDGE
    card = Image.new("RGB", (WIDTH, height), PAPER)
    draw = ImageDraw.Draw(card)
    _head(draw, line)
    before = None
    for place, (piece, second) in enumerate(shown):
        _label(draw, piece, grid, place, first=piece is not before)
        _frame(card, draw, (piece, second), pictures.get((piece.number, second)), grid, place)
        before = piece
    draw.line((_EDGE, top, WIDTH - _EDGE, top), fill=RULE)
    top += 14
    top += write_lines(draw, (_EDGE, top), text, _TEXT, width) + 8
    write_lines(draw, (_EDGE, top), facts, _SMALL, width, ink=FAINT)
    return card


def _head(draw: ImageDraw.ImageDraw, line: Line) -> None:
    start, end = (timecode(t) for t in (line.interval.start, line.interval.end))
    x = _EDGE + write(draw, (_EDGE, 18), start, 26) + 12
    x += write(draw, (x, 26), f"to {end}", 17, FAINT) + 24
    write_lines(draw, (x, 26), f"{line.id}: {status_words(line.cue)}", 17, WIDTH - _EDGE - x, most=1)


def _label(draw: ImageDraw.ImageDraw, piece: Piece, grid: _Grid, place: int, *, first: bool) -> None:
    """What is said of a shot, above its first frame; above the others a line that leads on from it."""
    left, top = grid.corner(place)
    if not first:
        start = left - _GAP if place % grid.columns else left
        draw.line((start, top + 36, left + grid.size[0], top + 36), fill=RULE, width=2)
        return
    x = left + write(draw, (left, top), f"Shot {piece.number}", 21) + 8
    if piece.thread:
        x += marks.badge(draw, (round(x), top + 1), piece.thread, 20) + 8
    write(draw, (x, top + 3), role_words(piece.role), 18)
    scale = piece.scale.value if piece.scale else "scale unknown"
    write(draw, (left, top + 26), f"{scale}, film shot {piece.shot}", _SMALL, FAINT)


def _frame(
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
    marks.role_border(draw, box, piece.role)
    if picture is None:
        draw.rectangle((left, top, left + wide - 1, top + high - 1), fill=WASH)
        write(draw, (left + 8, top + high / 2 - 8), "no picture", _SMALL, FAINT)
    else:
        card.paste(picture if picture.size == grid.size else picture.resize(grid.size), box[:2])
    write(draw, (left, top + high + 5), timecode(second), 14, FAINT)
