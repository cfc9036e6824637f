"""Makes the sample film, its captions and its truths: ``python tools/make_sample_film.py tests/sample``.

The pictures are public-domain and CC0 photographs that come with scikit-image, moved and combined here;
the voice is hibari-tts; the music is computed. Needs ``pip install scikit-image hibari-tts`` beside the
project itself. The result is the same from run to run, as far as the encoders' versions are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow, ImageDraw, ImageFont

Picture = npt.NDArray[np.float32]
"""``float32[h, w, c]``, RGB 0 to 255 unless said."""
Sound = npt.NDArray[np.float32]
"""``float32[n]`` at `HERTZ`, -1 to 1."""

WIDTH, HEIGHT, RATE, HERTZ = 640, 360, 24, 48000
WHITE, AMBER = (245, 245, 240), (255, 205, 120)


# Pictures


@cache
def photo(name: str) -> Picture:
    from skimage import data

    image = np.asarray(getattr(data, name)())
    if image.ndim == 2:
        # The one grey photograph gets the dusk of the others.
        image = image[..., None] * np.array([0.80, 0.88, 1.06])
    return np.clip(image[..., :3], 0, 255).astype(np.float32)


def view(image: Picture, centre: tuple[float, float], width: float) -> Picture:
    """What a camera sees of ``image``: ``width`` of its pixels around ``centre``, at the film's size."""
    scale = WIDTH / width
    x, y = centre
    move = np.array([[scale, 0, WIDTH / 2 - scale * x], [0, scale, HEIGHT / 2 - scale * y]])
    seen = cv2.warpAffine(
        image, move, (WIDTH, HEIGHT), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return seen.astype(np.float32)


def between(start: float, end: float, part: float) -> float:
    return start + (end - start) * part


def pushed(
    image: Picture, centre: tuple[float, float], width: float, to: tuple[float, float], to_width: float
) -> Callable[[float], Picture]:
    """A slow move of the camera from one view to another."""

    def at(part: float) -> Picture:
        x, y = between(centre[0], to[0], part), between(centre[1], to[1], part)
        return view(image, (x, y), between(width, to_width, part))

    return at


@cache
def figure() -> Picture:
    """The astronaut without her background: RGB and alpha 0 to 1, ``float32[512, 512, 4]``."""
    image = photo("astronaut").astype(np.uint8)[..., ::-1].copy()
    mask = np.full(image.shape[:2], cv2.GC_BGD, np.uint8)
    around = [
        (150, 60), (165, 20), (215, 8), (270, 18), (305, 60), (300, 120), (288, 165), (312, 225), (345, 262),
        (362, 330), (420, 335), (470, 350), (505, 400), (511, 470), (511, 511), (10, 511), (15, 430),
        (30, 350), (50, 250), (80, 205), (105, 175), (130, 155), (180, 145), (165, 120),
    ]  # fmt: skip
    inside = [
        (185, 60), (215, 30), (255, 35), (275, 70), (262, 125), (265, 170), (290, 235), (325, 275),
        (340, 340), (300, 400), (300, 511), (30, 511), (35, 430), (60, 340), (90, 260), (125, 215),
        (150, 180), (195, 150),
    ]  # fmt: skip
    helmet = [(300, 400), (350, 360), (430, 360), (480, 400), (490, 460), (480, 511), (290, 511)]
    cv2.fillPoly(mask, [np.array(around)], cv2.GC_PR_FGD)
    cv2.fillPoly(mask, [np.array(inside)], cv2.GC_FGD)
    cv2.fillPoly(mask, [np.array(helmet)], cv2.GC_FGD)
    cv2.setRNGSeed(1)
    cv2.grabCut(image, mask, None, np.zeros((1, 65)), np.zeros((1, 65)), 6, cv2.GC_INIT_WITH_MASK)
    solid = np.isin(mask, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.float32)
    alpha = cv2.GaussianBlur(cv2.erode(solid, np.ones((3, 3))), (0, 0), 1.0)
    return np.dstack([photo("astronaut"), alpha]).astype(np.float32)


def pasted(picture: Picture, sprite: Picture, left: float, top: float, scale: float) -> Picture:
    """``picture`` with ``sprite`` (RGB and alpha) in front of it."""
    move = np.array([[scale, 0, left], [0, scale, top]])
    colour = cv2.warpAffine(sprite[..., :3], move, (WIDTH, HEIGHT), flags=cv2.INTER_AREA)
    alpha = cv2.warpAffine(sprite[..., 3], move, (WIDTH, HEIGHT), flags=cv2.INTER_AREA)[..., None]
    return np.asarray(picture * (1 - alpha) + colour * alpha, np.float32)


WALK_FROM, WALK_TO, WALK_SCALE = -0.22, 1.22, 0.60
"""Where the middle of the walking figure stands at the start and end of her shot, in picture widths."""


def walk(part: float) -> Picture:
    """The astronaut goes from left to right past the pad, rising a little with each step."""
    pad = cv2.GaussianBlur(view(photo("rocket"), (320, 240), 560), (0, 0), 1.2)
    middle = between(WALK_FROM, WALK_TO, part) * WIDTH
    step = 4 * abs(np.sin(part * 9 * np.pi))
    lit = figure() * np.array([0.80, 0.81, 0.87, 1], np.float32)
    return pasted(pad, lit, middle - 256 * WALK_SCALE, HEIGHT - 500 * WALK_SCALE - step, WALK_SCALE)


@cache
def rocket_apart() -> tuple[Picture, Picture]:
    """The launch pad without its rocket, and the rocket as RGB and alpha."""
    image = photo("rocket")
    mask = np.zeros(image.shape[:2], np.uint8)
    hull = [(310, 405), (312, 178), (311, 145), (316, 132), (322, 126), (328, 132), (334, 145), (334, 178),
            (332, 405)]  # fmt: skip
    cv2.fillPoly(mask, [np.array(hull)], 255)
    hidden = cv2.dilate(mask, np.ones((9, 9)))
    hidden[404:] = 0
    empty = cv2.inpaint(image.astype(np.uint8), hidden, 7, cv2.INPAINT_TELEA).astype(np.float32)
    alpha = cv2.GaussianBlur(mask.astype(np.float32) / 255, (0, 0), 0.8)
    return empty, np.dstack([image, alpha]).astype(np.float32)


LIFT_OFF = 0.45
"""Part of the launch shot at which the rocket begins to rise."""


def launch(part: float) -> Picture:
    """The shot of the pad again; fire under the rocket, which rises out of the picture."""
    pad, rocket = rocket_apart()
    rise = max(0.0, part - LIFT_OFF) / (1 - LIFT_OFF)
    up = 330 * rise**2
    burning = np.clip((part - LIFT_OFF + 0.12) / 0.2, 0, 1)
    scene = pad.copy()
    rows, columns = np.mgrid[0 : pad.shape[0], 0 : pad.shape[1]].astype(np.float32)
    flame = np.exp(-(((columns - 321) / 13) ** 2) - ((rows - (425 - up)) / 34) ** 2)
    smoke = np.exp(-(((columns - 321) / (40 + 190 * rise)) ** 2) - ((rows - 418) / (16 + 45 * rise)) ** 2)
    scene += burning * (smoke[..., None] * np.array([190, 150, 110]) + flame[..., None] * [330, 250, 120])
    move = np.array([[1, 0, 0], [0, 1, -up]])
    lifted = cv2.warpAffine(rocket, move, (pad.shape[1], pad.shape[0]), flags=cv2.INTER_LINEAR)
    scene = scene * (1 - lifted[..., 3:]) + lifted[..., :3] * lifted[..., 3:]
    return view(np.clip(scene, 0, 255).astype(np.float32), (320, 233), between(624, 600, part))


def lettering(lines: list[tuple[str, int, float, tuple[int, int, int]]]) -> Picture:
    """Centred lines (text, size, y of the middle in px, colour) as RGB and alpha 0 to 1."""
    sheet = Pillow.new("RGBA", (WIDTH, HEIGHT), (0, 0, 0, 0))
    pen = ImageDraw.Draw(sheet)
    for text, size, y, colour in lines:
        font = ImageFont.load_default(size)
        pen.text((WIDTH / 2 + 1.5, y + 1.5), text, font=font, fill=(0, 0, 0, 200), anchor="mm")
        pen.text((WIDTH / 2, y), text, font=font, fill=colour, anchor="mm")
    return np.asarray(sheet, np.float32) / np.array([1, 1, 1, 255], np.float32)


def lettered(picture: Picture, sheet: Picture, strength: float) -> Picture:
    alpha = sheet[..., 3:] * strength
    return np.asarray(picture * (1 - alpha) + sheet[..., :3] * alpha, np.float32)


def title(part: float) -> Picture:
    stars = view(photo("hubble_deep_field"), (between(420, 470, part), 400), between(640, 600, part)) * 0.75
    sheet = lettering([("READY FOR LAUNCH", 54, HEIGHT / 2, WHITE)])
    return lettered(stars, sheet, np.clip((part - 0.2) / 0.15, 0, 1)) * np.clip(part / 0.15, 0, 1)


def morning(part: float) -> Picture:
    sheet = lettering([("THE NEXT MORNING", 30, 50, WHITE)])
    strength = np.clip(part / 0.06, 0, 1) * np.clip((0.55 - part) / 0.06, 0, 1)
    return lettered(walk(part), sheet, strength)


CREDITS = [
    ("READY FOR LAUNCH", 30, WHITE), ("", 20, WHITE), ("PICTURES", 20, AMBER), ("NASA", 26, WHITE),
    ("SpaceX", 26, WHITE), ("Lav Varshney", 26, WHITE), ("Rachel Michetti", 26, WHITE),
    ("Stefan van der Walt", 26, WHITE), ("", 20, WHITE), ("VOICE", 20, AMBER), ("hibari", 26, WHITE),
    ("", 20, WHITE), ("The End", 34, WHITE),
]  # fmt: skip
CREDIT_LINE = 42
"""Pixels from one line of the credits to the next."""


def credit_roll(part: float) -> Picture:
    top = HEIGHT + 20 - part * (HEIGHT / 2 + 20 + CREDIT_LINE * (len(CREDITS) - 1))
    lines = [
        (text, size, top + i * CREDIT_LINE, colour)
        for i, (text, size, colour) in enumerate(CREDITS)
        if text and -40 < top + i * CREDIT_LINE < HEIGHT + 40
    ]
    return lettered(np.zeros((HEIGHT, WIDTH, 3), np.float32), lettering(lines), 1)


# The film


@dataclass(frozen=True)
class Take:
    """One shot of the film: how long, what is seen at each part 0 to 1, and what is true of it."""

    seconds: float
    picture: Callable[[float], Picture]
    shows: str
    scale: str | None = None
    thread: str | None = None
    people: int = 0
    fade_out: float = 0.0
    """Seconds at its end in which it goes dark."""


@dataclass(frozen=True)
class Line:
    """Something that is said, from ``start`` seconds of the film on."""

    start: float
    text: str
    deeper: float = 1.0


def takes() -> list[Take]:
    """The shots of the film, in order."""
    astronaut, rocket, woman = photo("astronaut"), photo("rocket"), "a smiling woman in an orange space suit"
    pad = pushed(rocket, (320, 233), 640, (320, 233), 616)
    woman_first = pushed(astronaut, (245, 150), 500, (240, 145), 480)
    woman_again = pushed(astronaut, (239, 144), 478, (235, 140), 462)
    cat = pushed(photo("chelsea"), (240, 140), 420, (215, 125), 390)
    cup = pushed(photo("coffee"), (310, 190), 590, (300, 170), 500)
    man = pushed(photo("camera"), (200, 170), 400, (185, 155), 330)
    return [
        Take(4.0, title, "a title over stars"),
        Take(5.5, pad, "a rocket on its pad at dusk", "long", "pad"),
        Take(3.5, woman_first, woman, "close-up", "astronaut", people=1),
        Take(3.5, cat, "a cat's face", "close-up"),
        Take(3.0, woman_again, woman, "close-up", "astronaut", people=1),
        Take(3.5, cup, "a cup of coffee", "close-up"),
        Take(5.5, morning, "the astronaut walks past the rocket", "medium", people=1),
        Take(4.0, man, "a man looks through a camera on a tripod", "medium", people=1),
        Take(5.5, launch, "the rocket rises from its pad", "long", "pad", fade_out=1.0),
        Take(6.5, credit_roll, "credits roll over black"),
    ]


LINES = [
    Line(4.7, "The rocket is on the pad. All systems are ready."),
    Line(9.8, "Nobody has ever flown this far from home.", 1.14),
    Line(28.9, "Hold it right there. One last picture."),
    Line(32.7, "Three. Two. One.", 1.14),
]
MUSIC = [(0.0, 4.4), (15.6, 28.4), (32.0, 44.5)]
ROAR = (34.6, 38.0)


def starts(film: list[Take]) -> list[int]:
    """Number of the first frame of each shot, and at the end the number of frames."""
    return [0, *(round(x * RATE) for x in np.cumsum([take.seconds for take in film]))]


def pictures(film: list[Take]) -> Iterator[npt.NDArray[np.uint8]]:
    """Every frame of the film, ``uint8[h, w, 3]`` RGB."""
    rng = np.random.default_rng(11)
    for take in film:
        count = round(take.seconds * RATE)
        for i in range(count):
            picture = take.picture(i / (count - 1))
            if take.fade_out:
                picture = picture * np.clip((count - 1 - i) / (take.fade_out * RATE), 0, 1)
            grain = rng.normal(0, 1.2, (HEIGHT, WIDTH, 1)) * (picture.mean() > 1)
            yield np.clip(picture + grain, 0, 255).round().astype(np.uint8)


# Sound


def say(line: Line) -> Sound:
    from hibari import Hibari

    said = Hibari()(line.text, seed=0, speed=line.deeper)
    wanted = round(len(said) * HERTZ / 24000 * line.deeper)
    stretched = np.interp(np.linspace(0, len(said) - 1, wanted), np.arange(len(said)), said)
    loud = np.flatnonzero(np.abs(stretched) > 0.01)
    voice = stretched[loud[0] : loud[-1] + 1]
    return (voice * 0.1 / np.sqrt(np.mean(voice**2))).astype(np.float32)


def music(seconds: float) -> Sound:
    """Slow chords of soft tones, a bar each of two seconds."""
    time = np.arange(round(seconds * HERTZ)) / HERTZ
    chords = [(220, 277.2, 329.6), (185, 220, 277.2), (146.8, 220, 293.7), (164.8, 207.7, 246.9)]
    out = np.zeros_like(time)
    for bar in range(int(seconds / 2) + 1):
        since = time - 2 * bar
        swell = np.where(since > 0, (1 - np.exp(-since * 3)) * np.exp(-np.maximum(since, 0) * 0.9), 0)
        for note in chords[bar % 4]:
            for overtone, level in ((0.5, 0.6), (1, 1), (2, 0.35), (3, 0.12)):
                out += level * swell * np.sin(2 * np.pi * note * overtone * time + note)
    edge = np.clip(np.minimum(time, seconds - time) / 0.5, 0, 1)
    return (0.035 * out * edge / np.sqrt(np.mean(out**2))).astype(np.float32)


def roar(seconds: float) -> Sound:
    noise = np.random.default_rng(5).normal(0, 1, round(seconds * HERTZ))
    low = np.convolve(noise, np.hanning(240) / 120, "same")
    time = np.arange(len(low)) / HERTZ
    shape = np.clip(time / 1.2, 0, 1) * np.clip((seconds - time) / 1.2, 0, 1)
    return (0.10 * low / np.sqrt(np.mean(low**2)) * shape).astype(np.float32)


def laid(track: Sound, sound: Sound, start: float) -> tuple[float, float]:
    """Adds ``sound`` to ``track`` at ``start`` seconds; where it stands then."""
    first = round(start * HERTZ)
    part = sound[: len(track) - first]
    track[first : first + len(part)] += part
    return round(first / HERTZ, 3), round((first + len(part)) / HERTZ, 3)


def soundtrack(seconds: float) -> tuple[Sound, list[dict[str, Any]]]:
    """All sound of the film, and what is said in it, when."""
    rng = np.random.default_rng(3)
    track = (
        np.convolve(rng.normal(0, 1, round(seconds * HERTZ)), np.hanning(60) / 30, "same") * 8e-4
    ).astype(np.float32)
    for start, end in MUSIC:
        laid(track, music(end - start), start)
    laid(track, roar(ROAR[1] - ROAR[0]), ROAR[0])
    spoken = [{"text": line.text, "seconds": laid(track, say(line), line.start)} for line in LINES]
    return np.clip(track, -0.99, 0.99), spoken


# Files


def write_film(path: Path, frames: Iterable[npt.NDArray[np.uint8]], track: Sound) -> None:
    with av.open(str(path), "w", options={"movflags": "+faststart"}) as container:
        video: Any = container.add_stream("libx264", rate=RATE)
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        video.codec_context.colorspace, video.codec_context.color_range = 6, 1
        video.codec_context.time_base = Fraction(1, RATE)
        video.options = {"crf": "24", "preset": "slow", "threads": "1", "g": "96"}
        audio: Any = container.add_stream("aac", rate=HERTZ, layout="mono")
        audio.bit_rate = 80_000
        for number, image in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(
                format="yuv420p", dst_colorspace=6
            )
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            container.mux(video.encode(frame))
        container.mux(video.encode())
        for first in range(0, len(track), 1024):
            block = av.AudioFrame.from_ndarray(
                track[None, first : first + 1024], format="fltp", layout="mono"
            )
            block.sample_rate, block.pts, block.time_base = HERTZ, first, Fraction(1, HERTZ)
            container.mux(audio.encode(block))
        container.mux(audio.encode())


def truths(film: list[Take], spoken: list[dict[str, Any]]) -> dict[str, Any]:
    bounds = starts(film)
    seconds = [round(frame / RATE, 6) for frame in bounds]
    begins = ["start", *("fade" if take.fade_out else "cut" for take in film[:-1])]
    threads: dict[str, list[int]] = {}
    for number, take in enumerate(film):
        if take.thread:
            threads.setdefault(take.thread, []).append(number)
    part = [end - start for start, end in pairwise(seconds)]
    dark = seconds[9]
    return {
        "film": "sample.mp4",
        "size": [WIDTH, HEIGHT],
        "frame_rate": RATE,
        "frames": bounds[-1],
        "duration": seconds[-1],
        "cuts": [bounds[i] for i in range(1, len(film)) if begins[i] == "cut"],
        "shots": [
            {
                "frames": [bounds[i], bounds[i + 1]],
                "seconds": [seconds[i], seconds[i + 1]],
                "begins_with": begins[i],
                "scale": take.scale,
                "people": take.people,
                "shows": take.shows,
            }
            for i, take in enumerate(film)
        ],
        "threads": list(threads.values()),
        "fades": [
            {"kind": "in", "seconds": [0.0, round(0.15 * part[0], 3)]},
            {"kind": "out", "seconds": [dark - film[8].fade_out, dark]},
        ],
        "texts": [
            {"text": "READY FOR LAUNCH", "kind": "title", "shot": 0, "seconds": [1.4, seconds[1]]},
            {
                "text": "THE NEXT MORNING",
                "kind": "title",
                "shot": 6,
                "seconds": [round(seconds[6] + 0.06 * part[6], 3), round(seconds[6] + 0.49 * part[6], 3)],
            },
            {
                "text": " / ".join(text for text, _, _ in CREDITS if text),
                "kind": "credits",
                "shot": 9,
                "seconds": [seconds[9], seconds[10]],
            },
        ],
        "speech": spoken,
        "music": [list(span) for span in MUSIC],
        "figures": [
            {"what": "person", "shot": 6, "seconds": [seconds[6], seconds[7]], "moves": "right",
             "from_x": WALK_FROM, "to_x": WALK_TO},
            {"what": "rocket", "shot": 8, "seconds": [round(seconds[8] + LIFT_OFF * part[8], 3), seconds[9]],
             "moves": "up"},
        ],
    }  # fmt: skip


def captions(spoken: list[dict[str, Any]]) -> str:
    def stamp(second: float) -> str:
        return f"{int(second // 60):02d}:{second % 60:06.3f}"

    cues = [(*line["seconds"], line["text"]) for line in spoken]
    cues += [
        (MUSIC[0][0] + 0.2, MUSIC[0][1], "[soft music]"),
        (ROAR[0] + 0.4, ROAR[1] - 0.8, "[engines roar]"),
    ]
    blocks = [f"{stamp(start)} --> {stamp(end)}\n{text}\n" for start, end, text in sorted(cues)]
    return "\n".join(["WEBVTT\n", *blocks])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="where sample.mp4, .truths.json and .en.vtt are written")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    film = takes()
    track, spoken = soundtrack(sum(take.seconds for take in film))
    write_film(folder / "sample.mp4", pictures(film), track)
    facts = json.dumps(truths(film, spoken), indent=1, ensure_ascii=False)
    (folder / "sample.truths.json").write_text(facts + "\n", encoding="utf-8")
    (folder / "sample.en.vtt").write_text(captions(spoken), encoding="utf-8")
    print(f"{folder / 'sample.mp4'}: {(folder / 'sample.mp4').stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
