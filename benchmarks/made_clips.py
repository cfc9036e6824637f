"""Made clips, whose truth is known to the frame: photographs moved and cut, letters, fades, darkness.

PLANS says shot by shot what is drawn, and what is to be seen: tests/labels/scenes.yaml and seen.yaml hold the
same. benchmarks/clips.py makes them from the photographs of tests/labels/stills.yaml.
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
Facts = tuple[tuple[Any, ...], ...]
Draw = Callable[[ImageDraw.ImageDraw, float], None]
"""Draws on a picture, so many seconds after the shot (or, for a plan, the clip) has begun."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A photograph, or a plain ``ground``, for so many seconds, and what is drawn over it.

    ``view`` is what is shown of the photograph: how far to the right and down it lies, from 0 to 1, and its
    width in parts of the largest piece of the picture's shape; ``to`` is the view at the end. ``light`` is
    the share of it, from begin to end, that is left over ``ground``. ``says`` and ``seen``, facts without
    their seconds, are those of ABOUT where they are None; ``adds`` holds more facts.
    """

    seconds: float
    still: str = ""
    view: View = (0.5, 0.5, 1.0)
    to: View | None = None
    light: tuple[float, float] = (1.0, 1.0)
    ground: int = 0
    draw: Draw | None = None
    says: str | None = None
    seen: Facts | None = None
    adds: Facts = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The shots of a clip one after another, what is drawn over all of them, and what is seen of that."""

    shots: tuple[Shot, ...]
    draw: Draw | None = None
    seen: Facts = ()

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


NOBODY = ("people", 0)
DAY = ("light", "day")
ABOUT: dict[str, tuple[str, Facts]] = {
    "": ("", (NOBODY, ("light", "black"))),
    "arches": (
        "The pointed arches of a ruin.",
        (NOBODY, DAY, ("place", "outdoors", "a ruin with pointed arches")),
    ),
    "astronaut": (
        "A woman with short fair hair, in an orange space suit, smiles at us.",
        (
            ("people", 1),
            ("person", "woman", "short fair hair, orange space suit"),
            ("posture", "smiles"),
            ("thing", "flag", "left"),
        ),
    ),
    "autumn": (
        "A path of fallen leaves leads through an autumn wood.",
        (NOBODY, DAY, ("place", "outdoors", "a path in an autumn wood"), ("thing", "tree")),
    ),
    "birthday": (
        "Children with paper hats sit round a table with a green birthday cake.",
        (("place", "indoors", "a room"), ("thing", "cake"), ("thing", "cup"), ("person", "child")),
    ),
    "canal": (
        "A canal between old houses and bare trees.",
        (DAY, ("place", "outdoors", "a canal between old houses"), ("thing", "tree")),
    ),
    "cat": (
        "Close: a brown striped cat with green eyes.",
        (NOBODY, ("thing", "cat", "middle"), ("scale", "close-up", "extreme close-up")),
    ),
    "coffee": (
        "A cup of coffee on a red saucer stands on a wooden table.",
        (
            NOBODY,
            ("thing", "cup", "middle"),
            ("thing", "saucer", "middle"),
            ("thing", "table"),
            ("scale", "close-up"),
        ),
    ),
    "dahlia": (
        "An orange flower before dark leaves.",
        (NOBODY, ("thing", "flower", "middle"), ("scale", "close-up")),
    ),
    "galaxies": (
        "Stars and galaxies shine in the black sky and come nearer.",
        (NOBODY, ("place", "outdoors", "space"), ("light", "night")),
    ),
    "lake": (
        "A blue lake between trees.",
        (NOBODY, DAY, ("place", "outdoors", "a lake between trees"), ("thing", "lake"), ("thing", "tree")),
    ),
    "motorcycle": (
        "A red motorcycle stands in a garage.",
        (NOBODY, ("place", "indoors", "a garage"), ("thing", "motorcycle", "middle")),
    ),
    "officer": (
        "An old woman with glasses, in a dark uniform and a cap, looks at us.",
        (("people", 1), ("person", "woman", "old, glasses, cap, dark uniform"), ("thing", "flag", "left")),
    ),
    "pagoda": (
        "A Chinese tower above trees and water.",
        (NOBODY, DAY, ("place", "outdoors", "a Chinese tower above a lake"), ("thing", "tower", "left")),
    ),
    "photographer": (
        "In black and white: a man in a dark coat looks into a camera on a tripod.",
        (
            ("people", 1),
            ("person", "man", "dark coat"),
            ("posture", "looks into a camera"),
            ("thing", "camera", "right"),
            ("place", "outdoors", "a lawn"),
            DAY,
        ),
    ),
    "rocket": (
        "A white rocket stands on the launch pad at dusk.",
        (NOBODY, ("place", "outdoors", "a launch pad"), ("thing", "rocket", "middle")),
    ),
    "swimmers": (
        "Two children swim under blue water.",
        (("people", 2), ("person", "child"), ("posture", "swims", "both"), DAY),
    ),
}
"""What a describer would say of each photograph, and what is to be seen in it."""
LINES = ("Directed by", "Ada Holm", "Written by", "Jon Berg", "Music", "Lise Aune", "Camera", "Per Dahl")
MAIL = ("From: Anna", "Subject: Tonight", "I take the night train.", "Meet me at six.")
SEARCH = ("flights to Oslo", "Oslo 09:40 Gate 12", "Oslo 14:05 Gate 3")


def page(role: str, name: str, says: str = "") -> Shot:
    """One page of credits."""
    facts = (("text", f"{role} {name}", "credits"),)
    return Shot(3, draw=words(f"{role}\n{name}", 34), says=says, adds=facts)


def written(seconds: float, shown: tuple[str, ...], says: str) -> Shot:
    """Lines on a computer screen."""
    facts = (NOBODY, *(("text", line, "screen") for line in shown))
    return Shot(seconds, draw=screen(shown), says=says, seen=facts)


def named(seconds: float, still: str, text: str, kind: str, draw: Draw, view: View = (0.5, 0.5, 1.0)) -> Shot:
    """Letters over a photograph, or over black."""
    return Shot(seconds, still, view, draw=draw, says=f'"{text}"', adds=(("text", text, kind),))


CLOSER = (("camera", "closer"),)
RIGHT = (("camera", "right"),)
NEAR = (0.5, 0.5, 0.8)
FACE = (0.5, 0.15, 1.0)
PLANS: dict[str, Plan] = {
    "made-cuts-vehicles": Plan(
        (Shot(4, "motorcycle"), Shot(4, "rocket"), Shot(4, "photographer", (0.5, 0.3, 1)))
    ),
    "made-cuts-places": Plan((Shot(4, "canal"), Shot(3, "arches"), Shot(5, "pagoda"))),
    "made-move-cat": Plan((Shot(10, "cat", to=(0.55, 0.4, 0.6), adds=CLOSER),)),
    "made-move-canal": Plan((Shot(12, "canal", (0, 0.6, 0.6), (1, 0.6, 0.6), adds=RIGHT),)),
    "made-person-portrait": Plan(
        (
            Shot(
                4,
                "officer",
                (0.5, 1, 1),
                (0.5, 0.6, 1),
                says="A dark uniform with medals, before a flag.",
                seen=(("people", 1), ("thing", "flag", "left"), ("camera", "up")),
            ),
            Shot(5, "officer", (0.5, 0.6, 1), FACE, adds=(("camera", "up"),)),
        )
    ),
    "made-person-children": Plan((Shot(10, "swimmers", (0.4, 0.6, 0.9), (0.5, 0.7, 1)),)),
    "made-thing-flower": Plan((Shot(8, "dahlia", (0.5, 0.5, 0.7)),)),
    "made-thing-cup": Plan((Shot(10, "coffee", (0.5, 0.5, 0.9), (0.5, 0.5, 1)),)),
    "made-logo-lake": Plan(
        (
            Shot(6, "lake", (0, 0.4, 0.8), (1, 0.4, 0.8), adds=RIGHT),
            Shot(6, "autumn", NEAR, (0.5, 0.6, 0.6), adds=CLOSER),
        ),
        logo("NORD 4", 0.9),
        (("text", "NORD 4", "logo"),),
    ),
    "made-logo-birthday": Plan(
        (
            Shot(7, "birthday", (0, 0, 0.95), (1, 0.1, 0.95)),
            Shot(5, "arches", (0.5, 0.2, 0.9), (0.5, 0.8, 0.9), adds=(("camera", "down"),)),
        ),
        logo("TELE 9", 0.1),
        (("text", "TELE 9", "logo"),),
    ),
    "made-title-autumn": Plan(
        (
            Shot(2, "autumn", NEAR),
            named(4, "autumn", "FOUR AUTUMNS", "title", words("FOUR AUTUMNS", 64), view=NEAR),
            Shot(5, "lake"),
        )
    ),
    "made-title-card": Plan(
        (Shot(1.6), named(3.4, "", "THE LAST FERRY", "title", words("THE LAST FERRY", 56)), Shot(6, "canal"))
    ),
    "made-screen-mail": Plan(
        (
            Shot(4, "motorcycle"),
            written(6, MAIL, 'On a screen: "From Anna. I take the night train. Meet me at six."'),
        )
    ),
    "made-screen-search": Plan(
        (
            Shot(
                2,
                draw=screen(SEARCH[:1], 7.5),
                says='On a screen someone types: "flights to Oslo".',
                seen=(NOBODY,),
            ),
            written(2, SEARCH[:1], ""),
            written(6, SEARCH, "Two flights are listed."),
        )
    ),
    "made-credits-roll": Plan(
        (
            Shot(3, "lake"),
            Shot(
                13,
                draw=roll(LINES, 58),
                says="Credits: directed by Ada Holm.",
                adds=(("text", " ".join(LINES), "credits"),),
            ),
        )
    ),
    "made-credits-pages": Plan(
        (
            Shot(3, "arches"),
            page("Directed by", "Ida Moe", "Credits: directed by Ida Moe."),
            page("Written by", "Ola Ness"),
            page("Music", "Eva Lund"),
        )
    ),
    "made-caption-garage": Plan(
        (
            Shot(2, "motorcycle"),
            named(5, "motorcycle", "Bergen, March 1994", "caption", caption("Bergen, March 1994")),
            Shot(3, "motorcycle", says=""),
        )
    ),
    "made-caption-canal": Plan(
        (
            Shot(3, "canal"),
            named(4, "canal", "Amsterdam, 7 a.m.", "caption", caption("Amsterdam, 7 a.m.")),
            Shot(4, "canal", says=""),
        )
    ),
    "made-fade-in-out": Plan(
        (
            Shot(2),
            Shot(2, "lake", light=(0, 1), says="", seen=(NOBODY, ("light", "fade from black", "a lake"))),
            Shot(5, "lake"),
            Shot(
                2,
                "lake",
                light=(1, 0),
                says="The picture fades to black.",
                seen=(("light", "fade to black"),),
            ),
            Shot(2),
        )
    ),
    "made-fade-between": Plan(
        (
            Shot(4, "arches"),
            Shot(
                1.6,
                "arches",
                light=(1, 0),
                ground=255,
                says="The picture goes white.",
                seen=(("light", "fade to white"),),
            ),
            Shot(1.4, "astronaut", FACE, light=(0, 1), ground=255, says="", seen=()),
            Shot(5, "astronaut", FACE),
        )
    ),
    "made-growing-light": Plan(
        (
            Shot(2),
            Shot(
                9,
                draw=disc(12),
                says="In the dark a bright disc grows.",
                seen=(NOBODY, ("thing", "bright disc", "middle")),
            ),
        )
    ),
    "made-growing-stars": Plan((Shot(12, "galaxies", to=(0.45, 0.5, 0.35), adds=CLOSER),)),
    "made-dark-lake": Plan((Shot(3, "lake"), Shot(6, says="All is black."), Shot(4, "autumn", NEAR))),
    "made-dark-night": Plan(
        (
            Shot(
                10,
                "canal",
                light=(0.2, 0.2),
                says="It is dark; a canal between houses can just be made out.",
                seen=(("light", "dim"), ("place", "outdoors", "a canal between old houses")),
            ),
        )
    ),
}


def labels(name: str) -> tuple[list[list[Any]], list[list[Any]]]:
    """Of a made clip what scenes.yaml and what seen.yaml hold, by the order of time."""
    plan, at, before = PLANS[name], 0.0, None
    scenes: list[list[Any]] = []
    seen: list[list[Any]] = [[0, plan.seconds, *fact] for fact in plan.seen]
    for shot in plan.shots:
        start, at = at, round(at + shot.seconds, 3)
        says, facts = ABOUT[shot.still]
        says = says if shot.says is None else shot.says
        scenes += [[start, at, says]] if says else []
        if before and before.still != shot.still and before.light[1] and shot.light[0]:
            seen.append([round(start - 1 / RATE, 3), start, "cut", "hard"])
        seen += [[start, at, *fact] for fact in (*(facts if shot.seen is None else shot.seen), *shot.adds)]
        before = shot
    if not any("cut" in fact for fact in seen):
        seen.append([0, plan.seconds, "cut", "none"])
    return scenes, seen


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
