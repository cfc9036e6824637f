"""Who is marked how on the frames, and the marks themselves: coloured outlines around known faces.

Colours, size, width and opacity are those of AutoAD-Zero (Xie and others 2024), whose list ends after
twelve people, the last five of them black; here it has no end. The thin rim is an addition: without it
white is lost on snow and blue at night.

Small tags beside faces, for when colours and styles are used up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow, ImageDraw, ImageFont

from shotad.core import Box, Image, Mark, Sighting
from shotad.film.overlay.outlines import Outline, Oval, Plane, Stroke, Window, cover, ellipse, rectangle
from shotad.film.overlay.palette import BLACK, PAPER, Colour, ink_on

TAG_TEXT = 0.05
"""Font size as a part of the picture's geometric mean side: 19 pixels at 504 x 280."""

SMALLEST_TAG = 14
"""Pixels."""


def paint_tags(
    image: Image, tags: Sequence[tuple[Box, str, Colour]], *, taken: Sequence[Window] = ()
) -> Image:
    """A new picture with each tag that has text beside its face, where it hides the least.

    A tag never leaves the picture; it keeps out of faces with their marks, of other tags and of ``taken``
    where it can.
    """
    painted = image.copy()
    height, width = image.shape[:2]
    faces = [_window(box, width, height) for box, _, _ in tags]
    marked = [_grown(face, width, height) for face in faces]
    there: list[Window] = list(taken)
    for face, (_, text, colour) in zip(faces, tags, strict=True):
        if not text:
            continue
        tag = _tag(text, colour, width, height)
        at = min(
            _places(face, tag.shape[1], tag.shape[0], width, height),
            key=lambda place: sum(place.shared(other) for other in (*there, *marked)),
        )
        at.of(painted)[:] = tag
        there.append(at)
    return painted


@lru_cache(maxsize=256)
def _tag(text: str, colour: Colour, width: int, height: int) -> Image:
    """The tag for a picture of ``width`` x ``height``: ``uint8[h, w, 3]``, read-only, never larger."""
    font = ImageFont.load_default(max(SMALLEST_TAG, round(TAG_TEXT * math.sqrt(width * height))))
    left, top, right, bottom = (round(side) for side in font.getbbox(text))
    size = (right - left + 6, bottom - top + 6)
    tag = Pillow.new("RGB", size, colour)
    draw = ImageDraw.Draw(tag)
    draw.rectangle((0, 0, size[0] - 1, size[1] - 1), outline=ink_on(colour))
    draw.text((3 - left, 3 - top), text, fill=ink_on(colour), font=font)
    pixels = np.asarray(tag, dtype=np.uint8)[:height, :width].copy()
    pixels.flags.writeable = False
    return pixels


_ROOM = 1.35
"""Halves of the face's box from its centre to the near edge of a tag."""


def _places(face: Window, wide: int, high: int, width: int, height: int) -> Iterator[Window]:
    """Beside a face, moved into the picture: right, left, below, above, then the corners."""
    x, y = (face.left + face.right) / 2, (face.top + face.bottom) / 2
    out_x = (face.right - face.left) / 2 * _ROOM + wide / 2 + 4
    out_y = (face.bottom - face.top) / 2 * _ROOM + high / 2 + 4
    near = 0.75
    for right, down in (
        (1, 0),
        (-1, 0),
        (0, 1),
        (0, -1),
        (near, near),
        (-near, near),
        (near, -near),
        (-near, -near),
    ):
        left = min(max(round(x + right * out_x - wide / 2), 0), width - wide)
        top = min(max(round(y + down * out_y - high / 2), 0), height - high)
        yield Window(left, top, left + wide, top + high)


def _window(box: Box, width: int, height: int) -> Window:
    return Window(
        math.floor(box.left * width),
        math.floor(box.top * height),
        math.ceil(box.right * width),
        math.ceil(box.bottom * height),
    )


def _grown(face: Window, width: int, height: int) -> Window:
    """A face with what is drawn around it."""
    more_x, more_y = (
        round((_ROOM - 1) / 2 * side) for side in (face.right - face.left, face.bottom - face.top)
    )
    return Window(
        max(face.left - more_x, 0),
        max(face.top - more_y, 0),
        min(face.right + more_x, width),
        min(face.bottom + more_y, height),
    )


Style = Literal["solid", "dashed", "double"]
Shape = Literal["ellipses", "boxes"]
Draw = Callable[[Oval, Window], Outline]

COLOURS: Mapping[str, Colour] = {
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "pink": (255, 0, 255),
    "cyan": (0, 255, 255),
    "white": (255, 255, 255),
}
"""By the names that the prompt uses, in the order in which people get them."""

STYLES: tuple[Style, ...] = ("solid", "dashed", "double")

ROUND_FACE = 1.25
"""Half-axes of an ellipse, in halves of the face's box."""

BOX_ROOM = 1.2
"""Sides of a box, in those of the face's box: a tenth more at each end."""

LINE = 0.010
"""Width of a line, as a part of the picture's width."""

THINNEST = 2
"""Pixels."""

OPACITY = 0.8

LEAST_SEEN = 0.5
"""Of an outline: where the picture's edge cuts off more, it is drawn within the picture; where other faces
hide more, over them.
"""

RIM = 1.0
"""Pixels on either side of a line."""


def marks_for(ids: Sequence[str]) -> dict[str, Mark]:
    """A mark for everybody, in the order given: seven colours, the same dashed, then double, then with a tag.

    No two are alike, however many there are; the same ids get the same marks.

    >>> [str(mark) for mark in marks_for(["ann", "bo"]).values()]
    ['red', 'green']
    """
    plain = [Mark(colour, style) for style, colour in product(STYLES, COLOURS)]
    people = list(dict.fromkeys(ids))
    return {
        name: plain[i] if i < len(plain) else Mark(list(COLOURS)[i % len(COLOURS)], tag=str(i + 1))
        for i, name in enumerate(people)
    }


def paint_people(
    image: Image,
    sightings: Sequence[Sighting],
    marks: Mapping[str, Mark],
    shape: Shape = "ellipses",
    *,
    taken: Sequence[Window] = (),
) -> Image:
    """A new picture with the mark of each sighting (``name`` is the id) around its face.

    The larger faces first, so that small ones in front of them keep their line whole; no line runs over
    another face, unless most of it lies there. Tags keep out of ``taken``, rectangles in pixels. Sightings
    without a mark are left alone.
    """
    ordered = sorted((s for s in sightings if s.name in marks), key=lambda s: (-s.box.area, s.name))
    painted = image.astype(np.float64)
    for sighting in ordered:
        others = [s.box for s in ordered if s is not sighting]
        _paint(painted, sighting.box, marks[sighting.name], shape, others)
    result: Image = np.rint(painted).astype(np.uint8)
    tags = [(s.box, marks[s.name].tag, COLOURS[marks[s.name].colour]) for s in ordered]
    return paint_tags(result, tags, taken=taken)


def line_width(width: int) -> int:
    """Pixels, for a picture of ``width``: ``504 → 5``."""
    return max(THINNEST, int(LINE * width))


def stroke_of(style: Style, line: int) -> Stroke:
    """How a style is drawn, with lines ``line`` pixels wide."""
    half = line / 2
    if style == "dashed":
        return Stroke(((-half, half),), dash=2.6 * line, gap=1.4 * line + 2 * RIM)
    if style == "double":
        thin = max(THINNEST, round(0.7 * line))
        outer = -half + thin + 2 * RIM + thin
        return Stroke(((-half, -half + thin), (outer, outer + thin)))
    return Stroke(((-half, half),))


def rim_colour(colour: Colour) -> Colour:
    """Of the thin line on either side: dark beside light colours, light beside blue."""
    return PAPER if colour == COLOURS["blue"] else BLACK


Picture = npt.NDArray[np.float64]
"""``float64[H, W, 3]``, 0 to 255."""


def _paint(painted: Picture, face: Box, mark: Mark, shape: Shape, others: Sequence[Box]) -> None:
    """Draws one mark; not over the ``others``' faces, unless little of it would be left."""
    height, width = painted.shape[:2]
    line = line_width(width)
    stroke = stroke_of(mark.style, line)
    draw = ellipse if shape == "ellipses" else rectangle
    oval = _around(face, shape, line, width, height)
    if _share_seen(draw, oval, line, width, height) < LEAST_SEEN:
        oval = _pulled_in(oval, line, width, height)
    window = oval.window(stroke.reach + RIM + 1, width, height)
    if window is None:
        return
    outline = draw(oval, window)
    covered = cover(outline, stroke)
    free = _free(others, window, width, height)
    if (covered * free).sum() < LEAST_SEEN * covered.sum():
        free = np.ones_like(free)
    rim = cover(outline, stroke, RIM) - covered
    colour = COLOURS[mark.colour]
    for part, ink in ((rim, rim_colour(colour)), (covered, colour)):
        share = (OPACITY * part * free)[..., None]
        window.of(painted)[:] += share * (np.array(ink, dtype=np.float64) - window.of(painted))


def _around(face: Box, shape: Shape, line: int, width: int, height: int) -> Oval:
    """Around a face; never so near that the line covers a small one."""
    oval = _oval(face, width, height)
    room = ROUND_FACE if shape == "ellipses" else BOX_ROOM
    across, down = (max(half * room, half + line / 2 + RIM) for half in (oval.across, oval.down))
    return Oval(oval.x, oval.y, across, down)


def _share_seen(draw: Draw, oval: Oval, line: int, width: int, height: int) -> float:
    """How much of the outline lies on the picture, 0 to 1."""
    window = oval.window(line, width, height)
    if window is None:
        return 0.0
    outline = draw(oval, window)
    return float(cover(outline, stroke_of("solid", line)).sum()) / (outline.length * line)


def _pulled_in(oval: Oval, line: int, width: int, height: int) -> Oval:
    """As much of it as fits into the picture, a line's width from its edge."""
    edge = 1.5 * line + RIM
    left, right = max(oval.x - oval.across, edge), min(oval.x + oval.across, width - edge)
    top, bottom = max(oval.y - oval.down, edge), min(oval.y + oval.down, height - edge)
    across, down = max((right - left) / 2, 1.0), max((bottom - top) / 2, 1.0)
    return Oval((left + right) / 2, (top + bottom) / 2, across, down)


def _oval(box: Box, width: int, height: int) -> Oval:
    """The ellipse that fills a box."""
    x, y = box.centre
    return Oval(x * width, y * height, box.width * width / 2, box.height * height / 2)


def _free(faces: Sequence[Box], window: Window, width: int, height: int) -> Plane:
    """Of a window's pixels: 0 where one of these faces is, 1 elsewhere."""
    free = np.ones((window.bottom - window.top, window.right - window.left))
    for face in faces:
        oval = _oval(face, width, height)
        reached = oval.window(1, width, height)
        if reached is not None and reached.shared(window):
            free *= np.clip(ellipse(oval, window).distance + 0.5, 0, 1)
    return free
