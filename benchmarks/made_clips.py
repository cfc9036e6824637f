"""Made clips, whose truth is known to the frame: photographs moved and cut, letters, fades, darkness.

PLANS says shot by shot what is drawn; what is to be seen stands in tests/labels/scenes.yaml and seen.yaml, as
of any clip. benchmarks/clips.py makes them from the photographs of tests/labels/stills.yaml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

Picture = npt.NDArray[np.uint8]
"""``uint8[height, width, 3]``, red first."""
SIZE = (640, 360)
RATE = 25
View = tuple[float, float, float]
Draw = Callable[[ImageDraw.ImageDraw, float], None]
"""Draws on a picture, so many seconds after the shot (or, for a plan, the clip) has begun."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A photograph, or a plain ``ground``, for so many seconds, and what is drawn over it.

    ``view`` is what is shown of the photograph: how far to the right and down it lies, from 0 to 1, and its
    width in parts of the largest piece of the picture's shape; ``to`` is the view at the end. ``light`` is
    the share of it, from begin to end, that is left over ``ground``.
    """

    seconds: float
    still: str = ""
    view: View = (0.5, 0.5, 1.0)
    to: View | None = None
    light: tuple[float, float] = (1.0, 1.0)
    ground: int = 0
    draw: Draw | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The shots of a clip one after another, and what is drawn over all of them."""

    shots: tuple[Shot, ...]
    draw: Draw | None = None

    @property
    def seconds(self) -> float:
        """How long the clip is."""
        return round(sum(shot.seconds for shot in self.shots), 3)


def words(
    text: str, size: int, x: float = 0.5, y: float = 0.5, anchor: str = "mm", fill: str = "white"
) -> Draw:
    """Letters of ``size`` pixels, ``x`` and ``y`` in parts of the picture."""

    def draw(pen: ImageDraw.ImageDraw, _: float) -> None:
        at = (x * SIZE[0], y * SIZE[1])
        pen.text(at, text, fill=fill, font=ImageFont.load_default(size), anchor=anchor, align="center")

    return draw


def logo(text: str, x: float) -> Draw:
    """A broadcaster's name in a box at the upper edge."""
    box = (x * SIZE[0] - 50, 16, x * SIZE[0] + 50, 44)
    letters = words(text, 20, x, 30 / SIZE[1], fill="black")

    def draw(pen: ImageDraw.ImageDraw, seconds: float) -> None:
        pen.rounded_rectangle(box, 6, fill=(235, 235, 235))
        letters(pen, seconds)

    return draw


def caption(text: str) -> Draw:
    """White letters on a dark bar at the lower left."""
    letters = words(text, 24, 0.07, 0.88, "lm")

    def draw(pen: ImageDraw.ImageDraw, seconds: float) -> None:
        pen.rectangle((25, 298, 400, 335), fill=(20, 20, 40))
        letters(pen, seconds)

    return draw


def screen(lines: tuple[str, ...], letters_a_second: float = 1e9) -> Draw:
    """A window on a computer screen; its lines are written letter by letter."""

    def draw(pen: ImageDraw.ImageDraw, seconds: float) -> None:
        pen.rectangle((0, 0, *SIZE), fill=(38, 70, 105))
        pen.rectangle((60, 30, 580, 330), fill=(250, 250, 250))
        pen.rectangle((60, 30, 580, 56), fill=(190, 195, 200))
        for number, colour in enumerate(("red", "orange", "green")):
            pen.ellipse((70 + 20 * number, 37, 82 + 20 * number, 49), fill=colour)
        left = round(seconds * letters_a_second)
        for number, line in enumerate(lines):
            pen.text(
                (85, 80 + 44 * number), line[: max(left, 0)], fill="black", font=ImageFont.load_default(26)
            )
            left -= len(line)

    return draw


def roll(lines: tuple[str, ...], pixels_a_second: float) -> Draw:
    """Lines of credits that rise from below the picture."""

    def draw(pen: ImageDraw.ImageDraw, seconds: float) -> None:
        for number, line in enumerate(lines):
            y = SIZE[1] + 20 + 48 * number - pixels_a_second * seconds
            words(line, 24, 0.5, y / SIZE[1])(pen, seconds)

    return draw


def disc(pixels_a_second: float) -> Draw:
    """A bright disc with a dim rim, growing in the middle."""

    def draw(pen: ImageDraw.ImageDraw, seconds: float) -> None:
        for add, colour in ((8, (120, 110, 70)), (0, (255, 250, 225))):
            radius = 2 + add + pixels_a_second * seconds
            pen.circle((SIZE[0] / 2, SIZE[1] / 2), radius, fill=colour)

    return draw


LINES = ("Directed by", "Ada Holm", "Written by", "Jon Berg", "Music", "Lise Aune", "Camera", "Per Dahl")
MAIL = ("From: Anna", "Subject: Tonight", "I take the night train.", "Meet me at six.")
SEARCH = ("flights to Oslo", "Oslo 09:40 Gate 12", "Oslo 14:05 Gate 3")
NEAR = (0.5, 0.5, 0.8)
FACE = (0.5, 0.15, 1.0)
PLANS: dict[str, Plan] = {
    "made-cuts-vehicles": Plan(
        (Shot(4, "motorcycle"), Shot(4, "rocket"), Shot(4, "photographer", (0.5, 0.3, 1)))
    ),
    "made-cuts-places": Plan((Shot(4, "canal"), Shot(3, "arches"), Shot(5, "pagoda"))),
    "made-move-cat": Plan((Shot(10, "cat", to=(0.55, 0.4, 0.6)),)),
    "made-move-canal": Plan((Shot(12, "canal", (0, 0.6, 0.6), (1, 0.6, 0.6)),)),
    "made-person-portrait": Plan(
        (Shot(4, "officer", (0.5, 1, 1), (0.5, 0.6, 1)), Shot(5, "officer", (0.5, 0.6, 1), FACE))
    ),
    "made-person-children": Plan((Shot(10, "swimmers", (0.4, 0.6, 0.9), (0.5, 0.7, 1)),)),
    "made-thing-flower": Plan((Shot(8, "dahlia", (0.5, 0.5, 0.7)),)),
    "made-thing-cup": Plan((Shot(10, "coffee", (0.5, 0.5, 0.9), (0.5, 0.5, 1)),)),
    "made-logo-lake": Plan(
        (Shot(6, "lake", (0, 0.4, 0.8), (1, 0.4, 0.8)), Shot(6, "autumn", NEAR, (0.5, 0.6, 0.6))),
        logo("NORD 4", 0.9),
    ),
    "made-logo-birthday": Plan(
        (
            Shot(7, "birthday", (0, 0, 0.95), (1, 0.1, 0.95)),
            Shot(5, "arches", (0.5, 0.2, 0.9), (0.5, 0.8, 0.9)),
        ),
        logo("TELE 9", 0.1),
    ),
    "made-title-autumn": Plan(
        (
            Shot(2, "autumn", NEAR),
            Shot(4, "autumn", NEAR, draw=words("FOUR AUTUMNS", 64)),
            Shot(5, "lake"),
        )
    ),
    "made-title-card": Plan((Shot(1.6), Shot(3.4, draw=words("THE LAST FERRY", 56)), Shot(6, "canal"))),
    "made-screen-mail": Plan((Shot(4, "motorcycle"), Shot(6, draw=screen(MAIL)))),
    "made-screen-search": Plan(
        (
            Shot(2, draw=screen(SEARCH[:1], 7.5)),
            Shot(2, draw=screen(SEARCH[:1])),
            Shot(6, draw=screen(SEARCH)),
        )
    ),
    "made-credits-roll": Plan((Shot(3, "lake"), Shot(13, draw=roll(LINES, 58)))),
    "made-credits-pages": Plan(
        (
            Shot(3, "arches"),
            Shot(3, draw=words("Directed by\nIda Moe", 34)),
            Shot(3, draw=words("Written by\nOla Ness", 34)),
            Shot(3, draw=words("Music\nEva Lund", 34)),
        )
    ),
    "made-caption-garage": Plan(
        (
            Shot(2, "motorcycle"),
            Shot(5, "motorcycle", draw=caption("Bergen, March 1994")),
            Shot(3, "motorcycle"),
        )
    ),
    "made-caption-canal": Plan(
        (Shot(3, "canal"), Shot(4, "canal", draw=caption("Amsterdam, 7 a.m.")), Shot(4, "canal"))
    ),
    "made-fade-in-out": Plan(
        (
            Shot(2),
            Shot(2, "lake", light=(0, 1)),
            Shot(5, "lake"),
            Shot(2, "lake", light=(1, 0)),
            Shot(2),
        )
    ),
    "made-fade-between": Plan(
        (
            Shot(4, "arches"),
            Shot(1.6, "arches", light=(1, 0), ground=255),
            Shot(1.4, "astronaut", FACE, light=(0, 1), ground=255),
            Shot(5, "astronaut", FACE),
        )
    ),
    "made-growing-light": Plan((Shot(2), Shot(9, draw=disc(12)))),
    "made-growing-stars": Plan((Shot(12, "galaxies", to=(0.45, 0.5, 0.35)),)),
    "made-dark-lake": Plan((Shot(3, "lake"), Shot(6), Shot(4, "autumn", NEAR))),
    "made-dark-night": Plan((Shot(10, "canal", light=(0.2, 0.2)),)),
}


def write_clip(name: str, stills: Mapping[str, Path], target: Path) -> None:
    """Write a made clip as a film with silent sound; ``stills`` holds each photograph that it takes."""
    plan, at = PLANS[name], 0.0
    with av.open(str(target), "w", format="mp4") as film:
        picture: Any = film.add_stream("libx264", rate=RATE, options={"crf": "18", "preset": "veryfast"})
        picture.width, picture.height, picture.pix_fmt = *SIZE, "yuv420p"
        sound: Any = film.add_stream("aac", rate=48000, layout="mono")
        for shot in plan.shots:
            still = _photograph(stills[shot.still]) if shot.still else None
            count = round(shot.seconds * RATE)
            for number in range(count):
                drawn = Image.fromarray(_picture(shot, still, number / max(count - 1, 1)))
                pen = ImageDraw.Draw(drawn)
                for draw, seconds in ((shot.draw, number / RATE), (plan.draw, at + number / RATE)):
                    if draw:
                        draw(pen, seconds)
                film.mux(picture.encode(av.VideoFrame.from_image(drawn)))
            at += shot.seconds
        film.mux(picture.encode())
        silence = av.AudioFrame.from_ndarray(np.zeros((1, round(at * 48000)), np.float32), "fltp", "mono")
        silence.rate = 48000
        film.mux(sound.encode(silence))
        film.mux(sound.encode())


def _photograph(path: Path) -> Picture:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def _picture(shot: Shot, still: Picture | None, part: float) -> Picture:
    """What a shot shows of its photograph when ``part`` of it is over."""
    plain = np.full((SIZE[1], SIZE[0], 3), shot.ground, np.uint8)
    if still is None:
        return plain
    high, wide = still.shape[:2]
    x, y, width = (a + (b - a) * part for a, b in zip(shot.view, shot.to or shot.view, strict=True))
    width *= min(wide, high * SIZE[0] / SIZE[1])
    scale, height = SIZE[0] / width, width * SIZE[1] / SIZE[0]
    left, top = x * (wide - width), y * (high - height)
    view = np.array([[scale, 0, -left * scale], [0, scale, -top * scale]])
    shown = cv2.warpAffine(still, view, SIZE, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    light = shot.light[0] + (shot.light[1] - shot.light[0]) * part
    return np.asarray(cv2.addWeighted(shown, light, plain, 1 - light, 0), np.uint8)
