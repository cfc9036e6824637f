"""Who is marked how on the frames, and the marks themselves: coloured outlines around known faces.

Colours, size, width and opacity are those of AutoAD-Zero (Xie and others 2024), whose list ends after
twelve people, the last five of them black; here it has no end. The thin rim is an addition: without it
white is lost on snow and blue at night.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Literal

import numpy as np

from shotad.pictures.outlines import Outline, Oval, Plane, Stroke, cover, ellipse, rectangle
from shotad.pictures.palette import BLACK, PAPER, Colour
from shotad.pictures.tags import Corners, paint_tags
from shotad.types import Box, Image, Mark, Sighting

Style = Literal["solid", "dashed", "double"]

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
    shape: Literal["ellipses", "boxes"] = "ellipses",
    *,
    taken: Sequence[Corners] = (),
) -> Image:
    """A new picture with the mark of each sighting (``name`` is the id) around its face.

    The larger faces first, so that small ones in front of them keep their line whole; no line runs over
    another face. Tags keep out of ``taken``, rectangles in pixels. Sightings without a mark are left alone.
    """
    seen = [s for s in sightings if s.name in marks]
    painted = image.astype(np.float64)
    height, width = image.shape[:2]
    line = line_width(width)
    ordered = sorted(seen, key=lambda s: (-s.box.area, s.name))
    for sighting in ordered:
        mark = marks[sighting.name]
        outline = _outline(sighting.box, shape, line, width, height)
        others = [s.box for s in ordered if s is not sighting]
        _stroke(
            painted, outline, stroke_of(mark.style, line), COLOURS[mark.colour], _free(others, width, height)
        )
    result: Image = np.rint(painted).astype(np.uint8)
    return paint_tags(
        result, [(s.box, marks[s.name].tag, COLOURS[marks[s.name].colour]) for s in ordered], taken=taken
    )


def line_width(width: int) -> int:
    """Pixels, for a picture of ``width``: ``504 → 5``."""
    return max(THINNEST, int(LINE * width))


def stroke_of(style: Style, line: int) -> Stroke:
    """How a style is drawn, with lines ``line`` pixels wide."""
    half = line / 2
    if style == "dashed":
        return Stroke(((-half, half),), dash=2.0 * line, gap=1.6 * line + 2 * RIM)
    if style == "double":
        thin = max(THINNEST, round(0.6 * line))
        outer = -half + thin + max(2 * RIM + 1, thin)
        return Stroke(((-half, -half + thin), (outer, outer + thin)))
    return Stroke(((-half, half),))


def rim_colour(colour: Colour) -> Colour:
    """Of the thin line on either side: dark beside light colours, light beside blue."""
    return PAPER if colour == COLOURS["blue"] else BLACK


def _outline(box: Box, shape: str, line: int, width: int, height: int) -> Outline:
    """Around a face; never so near that the line covers a small one."""
    x, y = box.centre
    room = ROUND_FACE if shape == "ellipses" else BOX_ROOM
    half = (box.width * width / 2, box.height * height / 2)
    across, down = (max(side * room, side + line / 2 + RIM) for side in half)
    oval = Oval(x * width, y * height, across, down)
    return (ellipse if shape == "ellipses" else rectangle)(oval, width, height)


def _free(faces: Sequence[Box], width: int, height: int) -> Plane:
    """0 where one of these faces is, 1 elsewhere."""
    free = np.ones((height, width))
    for box in faces:
        x, y = box.centre
        oval = Oval(x * width, y * height, box.width * width / 2, box.height * height / 2)
        free *= np.clip(ellipse(oval, width, height).distance + 0.5, 0, 1)
    return free


def _stroke(painted: Plane, outline: Outline, stroke: Stroke, colour: Colour, free: Plane) -> None:
    line = cover(outline, stroke)
    rim = cover(outline, stroke, RIM) - line
    for covered, ink in ((rim, rim_colour(colour)), (line, colour)):
        share = (OPACITY * covered * free)[..., None]
        painted *= 1 - share
        painted += share * np.array(ink, dtype=np.float64)
