"""Made clips, whose truth is known to the frame: photographs moved and cut, letters, fades, darkness.

tests/labels/clips.yaml says shot by shot what is drawn; what is to be seen stands in scenes.yaml and
seen.yaml beside it, as of any clip. benchmarks/clips.py makes them from the photographs of stills.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

Picture = npt.NDArray[np.uint8]
"""``uint8[height, width, 3]``, red first."""
Pen = ImageDraw.ImageDraw
SIZE = (640, 360)
RATE = 25
View = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Shot:
    """A photograph, or a plain ``ground``, for so many seconds, and what is drawn over it: one of `DRAWS` by
    name, with what it takes after the pen and the seconds since the shot began.

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
    draw: Mapping[str, Sequence[Any]] = field(default_factory=dict)


def words(
    pen: Pen,
    _: float,
    text: str,
    size: int,
    x: float = 0.5,
    y: float = 0.5,
    anchor: str = "mm",
    fill: str = "white",
) -> None:
    """Letters of ``size`` pixels, ``x`` and ``y`` in parts of the picture."""
    font = ImageFont.load_default(size)
    pen.text((x * SIZE[0], y * SIZE[1]), text, fill=fill, font=font, anchor=anchor, align="center")


def logo(pen: Pen, _: float, text: str, x: float) -> None:
    """A broadcaster's name in a box at the upper edge."""
    pen.rounded_rectangle((x * SIZE[0] - 50, 16, x * SIZE[0] + 50, 44), 6, fill=(235, 235, 235))
    words(pen, 0, text, 20, x, 30 / SIZE[1], fill="black")


def caption(pen: Pen, _: float, text: str) -> None:
    """White letters on a dark bar at the lower left."""
    pen.rectangle((25, 298, 400, 335), fill=(20, 20, 40))
    words(pen, 0, text, 24, 0.07, 0.88, "lm")


def screen(pen: Pen, seconds: float, lines: Sequence[str], letters_a_second: float = 1e9) -> None:
    """A window on a computer screen; its lines are written letter by letter."""
    pen.rectangle((0, 0, *SIZE), fill=(38, 70, 105))
    pen.rectangle((60, 30, 580, 330), fill=(250, 250, 250))
    pen.rectangle((60, 30, 580, 56), fill=(190, 195, 200))
    for number, colour in enumerate(("red", "orange", "green")):
        pen.ellipse((70 + 20 * number, 37, 82 + 20 * number, 49), fill=colour)
    left, font = round(seconds * letters_a_second), ImageFont.load_default(26)
    for number, line in enumerate(lines):
        pen.text((85, 80 + 44 * number), line[: max(left, 0)], fill="black", font=font)
        left -= len(line)


def roll(pen: Pen, seconds: float, lines: Sequence[str], pixels_a_second: float) -> None:
    """Lines of credits that rise from below the picture."""
    for number, line in enumerate(lines):
        words(pen, 0, line, 24, 0.5, (SIZE[1] + 20 + 48 * number - pixels_a_second * seconds) / SIZE[1])


def disc(pen: Pen, seconds: float, pixels_a_second: float) -> None:
    """A bright disc with a dim rim, growing in the middle."""
    for add, colour in ((8, (120, 110, 70)), (0, (255, 250, 225))):
        pen.circle((SIZE[0] / 2, SIZE[1] / 2), 2 + add + pixels_a_second * seconds, fill=colour)


DRAWS = {draw.__name__: draw for draw in (words, logo, caption, screen, roll, disc)}


def write_clip(shots: Sequence[Shot], stills: Mapping[str, Path], target: Path) -> None:
    """Write a made clip as a film with silent sound; ``stills`` holds each photograph that it takes."""
    with av.open(str(target), "w", format="mp4") as film:
        picture: Any = film.add_stream("libx264", rate=RATE, options={"crf": "18", "preset": "veryfast"})
        picture.width, picture.height, picture.pix_fmt = *SIZE, "yuv420p"
        sound: Any = film.add_stream("aac", rate=48000, layout="mono")
        for shot in shots:
            still = _photograph(stills[shot.still]) if shot.still else None
            count = round(shot.seconds * RATE)
            for number in range(count):
                drawn = Image.fromarray(_picture(shot, still, number / max(count - 1, 1)))
                for name, given in shot.draw.items():
                    DRAWS[name](ImageDraw.Draw(drawn), number / RATE, *given)
                film.mux(picture.encode(av.VideoFrame.from_image(drawn)))
        film.mux(picture.encode())
        samples = round(sum(shot.seconds for shot in shots) * 48000)
        silence = av.AudioFrame.from_ndarray(np.zeros((1, samples), np.float32), "fltp", "mono")
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
