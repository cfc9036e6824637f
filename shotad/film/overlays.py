"""What is painted on the frames that a model sees, and how large those frames are.

Labels are painted after the resize, at a size that follows the picture, so that they stay readable:
the published code paints before it, and its label on a 720-line film is then 12 pixels high.

Known faces are marked by coloured outlines. Colours, size, width and opacity are those of AutoAD-Zero (Xie
and others 2024), whose list ends after twelve people, the last five of them black; here it has no end:
when colours and styles are used up, small tags stand beside the faces. The thin rim is an addition:
without it white is lost on snow and blue at night.

Outlines are antialiased, as how much of each pixel they cover. Every pixel gets its distance from the
outline and its place along it; a line, a double line and dashes are bands of these two, so that all styles
share their edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow, ImageDraw, ImageFont

from shotad.core import (
    Box,
    Clip,
    Image,
    Sighting,
)
from shotad.core.cast import (
    EMPTY_PRESENCE,
    FrameMark,
    Presence,
)
from shotad.core.config.film import FrameSettings, OverlaySettings
from shotad.film.palette import BLACK, PAPER, Colour, ink_on

PATCH = 28
"""Pixels: Qwen2-VL's frames are whole multiples of this in both directions."""

TEXT_SIZE = 0.075
"""Font size as a part of the picture's geometric mean side: 28 pixels at 504 x 280."""

SMALLEST_TEXT = 14
"""Pixels; below this digits are no longer told apart after JPEG."""

BORDER = 0.018
"""Width of the red border as a part of the geometric mean side: 7 pixels at 504 x 280."""

RED = (255, 0, 0)

_NO_LABEL = np.zeros((0, 0, 3), dtype=np.uint8)

SAME_MOMENT = 1e-3
"""Seconds between a sighting and its frame, at most."""


def vlm_size(width: int, height: int, settings: FrameSettings) -> tuple[int, int]:
    """Width and height in pixels at which a model sees a film of ``width`` x ``height``.

    Multiples of 28 nearest to the film's shape, between ``min_pixels`` and ``max_pixels`` (the rule
    of Qwen2-VL's processor); the shape is not kept exactly. With ``short_side`` the shorter side
    gets that length instead, and the shape is kept.

    >>> vlm_size(1920, 1080, FrameSettings()), vlm_size(1920, 800, FrameSettings())
    ((504, 280), (588, 224))
    """
    if width < 1 or height < 1:
        raise ValueError(f"a picture has at least one pixel, got {width} x {height}")
    if settings.short_side is not None:
        scale = settings.short_side / min(width, height)
        return max(1, round(width * scale)), max(1, round(height * scale))
    wide, high = (max(PATCH, round(side / PATCH) * PATCH) for side in (width, height))
    # Divided and multiplied as the processor does: the last bit decides where a side fits exactly.
    if wide * high > settings.max_pixels:
        shrink = math.sqrt(width * height / settings.max_pixels)
        wide, high = (max(PATCH, math.floor(side / shrink / PATCH) * PATCH) for side in (width, height))
    elif wide * high < settings.min_pixels:
        grow = math.sqrt(settings.min_pixels / (width * height))
        wide, high = (math.ceil(side * grow / PATCH) * PATCH for side in (width, height))
    return wide, high


def resize_images(images: Image, size: tuple[int, int]) -> Image:
    """``uint8[n, H, W, 3]`` resized to ``(width, height)``: bicubic, antialiased, always a new array."""
    width, height = size
    if images.shape[1:3] == (height, width):
        return images.copy()
    resized = [Pillow.fromarray(i).resize((width, height), Pillow.Resampling.BICUBIC) for i in images]
    return np.stack([np.asarray(image, dtype=np.uint8) for image in resized])


def paint(
    clip: Clip,
    settings: OverlaySettings,
    *,
    current: Collection[int] = (),
    presence: Presence = EMPTY_PRESENCE,
) -> Clip:
    """The clip with its marks, in new arrays: people's outlines, then ``Shot k`` top left on every
    frame, or a red border.

    ``current`` are the numbers of the current shots, whose frames get the border. A sighting of
    ``presence`` belongs to the frames whose second it bears. Paint frames of the size that the model sees
    (`vlm_size`, `resize_images`).
    """
    images = clip.images.copy()
    for image, second, number in zip(images, clip.seconds.tolist(), clip.shot_numbers.tolist(), strict=True):
        bordered = settings.label == "box" and number in current
        edge = border_width(image) if bordered else 0
        label = shot_label(number, *image.shape[1::-1]) if settings.label == "number" else _NO_LABEL
        if settings.characters != "none":
            here = [s for s in presence.sightings if abs(s.seconds - second) <= SAME_MOMENT]
            _people(image, here, presence.marks, settings.characters, label=label, edge=edge)
        image[: label.shape[0], : label.shape[1]] = label
        if bordered:
            for strip in (image[:edge], image[-edge:], image[:, :edge], image[:, -edge:]):
                strip[:] = RED
    return Clip(images, clip.seconds.copy(), clip.shot_numbers.copy())


def _people(
    image: Image,
    here: Sequence[Sighting],
    marks: Mapping[str, FrameMark],
    shape: Shape,
    *,
    label: Image,
    edge: int,
) -> None:
    """Marks the people on a frame, inside its border, so that no red mark runs into it."""
    height, width = image.shape[:2]
    inner = image[edge : height - edge, edge : width - edge]
    if not here or inner.size == 0:
        return
    # Boxes as fractions of the picture without its edge; what lies in the edge is left out.
    across, down = edge / width, edge / height
    moved: list[Sighting] = []
    for sighting in here:
        box = sighting.box
        left, right = (min(max((x - across) / (1 - 2 * across), 0.0), 1.0) for x in (box.left, box.right))
        top, bottom = (min(max((y - down) / (1 - 2 * down), 0.0), 1.0) for y in (box.top, box.bottom))
        if left < right and top < bottom:
            moved.append(replace(sighting, box=Box(left, top, right, bottom)))
    taken = Window(0, 0, label.shape[1], label.shape[0])
    inner[:] = paint_people(inner, moved, marks, shape, taken=[taken])


def shot_label(number: int, width: int, height: int) -> Image:
    """The label for a frame of ``width`` x ``height`` pixels: black on white, ``uint8[h, w, 3]``, read-only.

    Never larger than the frame.
    """
    size = max(SMALLEST_TEXT, round(TEXT_SIZE * math.sqrt(width * height)))
    return _plate(f"Shot {number}", size, max(2, round(size / 5)), PAPER, width, height)


@lru_cache(maxsize=512)
def _plate(
    text: str, size: int, padding: int, colour: Colour, width: int, height: int, *, framed: bool = False
) -> Image:
    """A text on a colour, for a picture of ``width`` x ``height``: ``uint8[h, w, 3]``, read-only, never
    larger; a line at its bottom and right, or (``framed``) around it."""
    font = ImageFont.load_default(size)
    left, top, right, bottom = (round(side) for side in font.getbbox(text))
    plate = Pillow.new("RGB", (right - left + 2 * padding, bottom - top + 2 * padding), colour)
    draw, ink = ImageDraw.Draw(plate), ink_on(colour)
    far_x, far_y = plate.width - 1, plate.height - 1
    draw.text((padding - left, padding - top), text, fill=ink, font=font)
    corners = [(0, far_y), (far_x, far_y), (far_x, 0)]
    draw.line([*corners, (0, 0), (0, far_y)] if framed else corners, fill=ink)
    pixels = np.asarray(plate, dtype=np.uint8)[:height, :width].copy()
    pixels.flags.writeable = False
    return pixels


def border_width(image: Image) -> int:
    """Pixels of the red border around a frame: ``504 x 280 → 7``."""
    return max(2, round(BORDER * math.sqrt(image.shape[0] * image.shape[1])))


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
    faces: list[Window] = []
    taken_windows: list[Window] = list(taken)
    for box, _, _ in tags:
        left, right = math.floor(box.left * width), math.ceil(box.right * width)
        top, bottom = math.floor(box.top * height), math.ceil(box.bottom * height)
        faces.append(Window(left, top, right, bottom))
        # With what is drawn around it.
        x, y = (round((_ROOM - 1) / 2 * side) for side in (right - left, bottom - top))
        left, top, right, bottom = left - x, top - y, right + x, bottom + y
        taken_windows.append(Window(max(left, 0), max(top, 0), min(right, width), min(bottom, height)))
    size = max(SMALLEST_TAG, round(TAG_TEXT * math.sqrt(width * height)))
    for face, (_, text, colour) in zip(faces, tags, strict=True):
        if not text:
            continue
        tag = _plate(text, size, 3, colour, width, height, framed=True)
        at = min(
            _places(face, tag.shape[1], tag.shape[0], width, height),
            key=lambda place: sum(place.shared(window) for window in taken_windows),
        )
        at.of(painted)[:] = tag
        taken_windows.append(at)
    return painted


_ROOM = 1.35
"""Halves of the face's box from its centre to the near edge of a tag."""


def _places(face: Window, wide: int, high: int, width: int, height: int) -> Iterator[Window]:
    """Beside a face, moved into the picture: right, left, below, above, then the corners."""
    x, y = (face.left + face.right) / 2, (face.top + face.bottom) / 2
    out_x = (face.right - face.left) / 2 * _ROOM + wide / 2 + 4
    out_y = (face.bottom - face.top) / 2 * _ROOM + high / 2 + 4
    near = 0.75
    sides, corners = ((1, 0), (-1, 0), (0, 1), (0, -1)), product((near, -near), repeat=2)
    for right, down in (*sides, *((x, y) for y, x in corners)):
        left = min(max(round(x + right * out_x - wide / 2), 0), width - wide)
        top = min(max(round(y + down * out_y - high / 2), 0), height - high)
        yield Window(left, top, left + wide, top + high)


Style = Literal["solid", "dashed", "double"]
Shape = Literal["ellipses", "boxes"]

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


def marks_for(ids: Sequence[str]) -> dict[str, FrameMark]:
    """A mark for everybody, in the order given: seven colours, the same dashed, then double, then with a tag.

    No two are alike, however many there are; the same ids get the same marks.

    >>> [str(mark) for mark in marks_for(["ann", "bo"]).values()]
    ['red', 'green']
    """
    plain = [FrameMark(colour, style) for style, colour in product(STYLES, COLOURS)]
    people = list(dict.fromkeys(ids))
    return {
        name: plain[i] if i < len(plain) else FrameMark(list(COLOURS)[i % len(COLOURS)], tag=str(i + 1))
        for i, name in enumerate(people)
    }


def paint_people(
    image: Image,
    sightings: Sequence[Sighting],
    marks: Mapping[str, FrameMark],
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


def _bands(style: Style, line: int) -> tuple[tuple[float, float], ...]:
    """The lines of a style, each from and to a distance from the outline, ``line`` pixels wide."""
    half = line / 2
    if style != "double":
        return ((-half, half),)
    thin = max(THINNEST, round(0.7 * line))
    outer = -half + thin + 2 * RIM + thin
    return ((-half, -half + thin), (outer, outer + thin))


Picture = npt.NDArray[np.float64]
"""``float64[H, W, 3]``, 0 to 255."""


def _paint(painted: Picture, face: Box, mark: FrameMark, shape: Shape, others: Sequence[Box]) -> None:
    """Draws one mark; not over the ``others``' faces, unless little of it would be left."""
    height, width = painted.shape[:2]
    line = line_width(width)
    draw = ellipse if shape == "ellipses" else rectangle
    # Around the face, never so near that the line covers a small one.
    oval = _oval(face, width, height)
    growth = ROUND_FACE if shape == "ellipses" else BOX_ROOM
    across, down = (max(half * growth, half + line / 2 + RIM) for half in (oval.across, oval.down))
    oval = replace(oval, across=across, down=down)
    if _share_seen(draw, oval, line, width, height) < LEAST_SEEN:
        # As much of it as fits into the picture, a line's width from its edge
        edge = 1.5 * line + RIM
        left, right = max(oval.x - oval.across, edge), min(oval.x + oval.across, width - edge)
        top, bottom = max(oval.y - oval.down, edge), min(oval.y + oval.down, height - edge)
        across, down = max((right - left) / 2, 1.0), max((bottom - top) / 2, 1.0)
        oval = Oval((left + right) / 2, (top + bottom) / 2, across, down)
    reach = max(abs(end) for band in _bands(mark.style, line) for end in band)
    window = oval.window(reach + RIM + 1, width, height)
    if window is None:
        return
    outline = draw(oval, window)
    covered = cover(outline, mark.style, line)
    free = _free(others, window, width, height)
    if (covered * free).sum() < LEAST_SEEN * covered.sum():
        free = np.ones_like(free)
    rim = cover(outline, mark.style, line, RIM) - covered
    colour = COLOURS[mark.colour]
    beside = PAPER if colour == COLOURS["blue"] else BLACK
    for part, ink in ((rim, beside), (covered, colour)):
        share = (OPACITY * part * free)[..., None]
        window.of(painted)[:] += share * (np.array(ink, dtype=np.float64) - window.of(painted))


def _share_seen(
    draw: Callable[[Oval, Window], Outline], oval: Oval, line: int, width: int, height: int
) -> float:
    """How much of the outline lies on the picture, 0 to 1."""
    window = oval.window(line, width, height)
    if window is None:
        return 0.0
    outline = draw(oval, window)
    return float(cover(outline, "solid", line).sum()) / (outline.length * line)


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


Plane = npt.NDArray[np.float64]
"""``float64[H, W]``."""

_TABLE = 720
"""Points along an ellipse at which its length is summed."""


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangle of whole pixels; ``right`` and ``bottom`` are open ends."""

    left: int
    top: int
    right: int
    bottom: int

    def shared(self, other: Window) -> int:
        """Pixels that lie in both."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(across, 0) * max(down, 0)

    def of(self, picture: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A view of the window's pixels."""
        return picture[self.top : self.bottom, self.left : self.right]


@dataclass(frozen=True, slots=True)
class Oval:
    """Centre and half-axes in pixels, of an ellipse or of the rectangle around it."""

    x: float
    y: float
    across: float
    down: float

    def window(self, reach: float, width: int, height: int) -> Window | None:
        """The part of a picture of ``width`` x ``height`` within ``reach`` pixels of the oval; None where
        that lies beside the picture."""
        left, right = math.floor(self.x - self.across - reach), math.ceil(self.x + self.across + reach)
        top, bottom = math.floor(self.y - self.down - reach), math.ceil(self.y + self.down + reach)
        window = Window(max(left, 0), max(top, 0), min(right, width), min(bottom, height))
        return window if window.left < window.right and window.top < window.bottom else None


@dataclass(frozen=True, slots=True)
class Outline:
    """For each pixel of a window: ``distance`` from the outline in pixels, below 0 inside, and the place
    ``along`` it in pixels, 0 to ``length``.
    """

    distance: Plane
    along: Plane
    length: float


def ellipse(oval: Oval, window: Window) -> Outline:
    """The ellipse; its distances are of first order, good near it."""
    x, y = _offsets(oval, window)
    a, b = oval.across, oval.down
    ratio = np.hypot(x / a, y / b)
    slope = np.hypot(x / a**2, y / b**2)
    distance = np.where(slope > 0, (ratio - 1) * ratio / np.maximum(slope, 1e-12), -min(a, b))
    turns = np.linspace(0, 2 * math.pi, _TABLE + 1)
    steps = np.hypot(np.diff(a * np.cos(turns)), np.diff(b * np.sin(turns)))
    sums = np.concatenate(([0.0], np.cumsum(steps)))
    angle = np.arctan2(y / b, x / a) % (2 * math.pi)
    return Outline(distance, np.interp(angle, turns, sums), float(sums[-1]))


def rectangle(oval: Oval, window: Window) -> Outline:
    """The rectangle, its places clockwise from the top left corner."""
    x, y = _offsets(oval, window)
    a, b = oval.across, oval.down
    beyond_x, beyond_y = np.abs(x) - a, np.abs(y) - b
    distance = np.maximum(beyond_x, beyond_y)
    near_x, near_y = np.clip(x, -a, a), np.clip(y, -b, b)
    level = beyond_y >= beyond_x
    along = np.where(
        level,
        np.where(y < 0, near_x + a, 2 * a + 2 * b + (a - near_x)),
        np.where(x > 0, 2 * a + near_y + b, 4 * a + 2 * b + (b - near_y)),
    )
    return Outline(distance, along, 4 * (a + b))


_FEWEST_DASHES = 4
"""Fewer no longer look like dashes."""


def cover(outline: Outline, style: Style, line: int, wider: float = 0.0) -> Plane:
    """How much of each pixel a line covers, 0 to 1; ``wider`` by so many pixels on every side."""
    covered = np.zeros_like(outline.distance)
    for start, end in _bands(style, line):
        depth = np.minimum(outline.distance - start, end - outline.distance) + wider
        covered = np.maximum(covered, np.clip(depth + 0.5, 0, 1))
    if style == "dashed":
        # Whole dashes all round, the gaps as long as asked, or shorter where the outline is short.
        dash, gap = 2.6 * line, 1.4 * line + 2 * RIM
        number = max(_FEWEST_DASHES, round(outline.length / (dash + gap)))
        period = outline.length / number
        dash = period * dash / (dash + gap)
        place = outline.along % period
        from_middle = np.minimum(place, period - place)
        covered *= np.clip(dash / 2 + wider - from_middle + 0.5, 0, 1)
    return covered


def _offsets(oval: Oval, window: Window) -> tuple[Plane, Plane]:
    """Of each pixel's middle from the centre."""
    y, x = np.mgrid[window.top : window.bottom, window.left : window.right].astype(np.float64)
    return x + 0.5 - oval.x, y + 0.5 - oval.y
