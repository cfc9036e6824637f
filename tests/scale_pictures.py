"""Generated pictures of which only the size of a figure tells the shot scale, and small data sets of them.

Skin, clothes and grounds are of any colour, grounds are drawn alike for all scales, and a figure may stand
anywhere that its scale allows. A third of the long shots show nobody.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from shotad.core import ShotScale

Picture = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]

LABELS = dict(zip(ShotScale, ("ECS", "CS", "MS", "FS", "LS"), strict=True))

HEADS = {
    ShotScale.EXTREME_CLOSE_UP: (1.5, 2.4), ShotScale.CLOSE_UP: (0.55, 0.85), ShotScale.MEDIUM: (0.22, 0.32),
    ShotScale.FULL: (0.095, 0.125), ShotScale.LONG: (0.025, 0.05),
}  # fmt: skip
"""Height of the head as a part of the picture's height; a figure is seven and a half heads high."""

NOBODY = 1 / 3
"""Share of long shots without people."""


def scale_picture(scale: ShotScale, seed: int | str, size: tuple[int, int] = (112, 84)) -> Picture:
    """One picture, ``uint8[H, W, 3]`` for a size of ``(width, height)``; the same seed gives the same one."""
    return scale_frames(scale, seed, size, 1)[0]


def scale_frames(
    scale: ShotScale, seed: int | str, size: tuple[int, int] = (112, 84), count: int = 9
) -> list[Picture]:
    """A short shot: the figure drifts a little from frame to frame, the ground stays."""
    chance = random.Random(f"{seed}:{scale.value}")
    width, height = 2 * size[0], 2 * size[1]
    ground = _ground(chance, width, height)
    head = chance.uniform(*HEADS[scale]) * height
    x, top = _stand(scale, chance, width, height, head)
    dress = [_colour(chance) for _ in range(5)]
    nobody = scale is ShotScale.LONG and chance.random() < NOBODY
    pictures = []
    for number in range(count):
        image = ground.copy()
        draw = ImageDraw.Draw(image)
        if not nobody:
            _figure(draw, x + 0.01 * width * number, top, head, dress)
        pictures.append(np.asarray(image.reduce(2), dtype=np.uint8))
    return pictures


def _stand(
    scale: ShotScale, chance: random.Random, width: int, height: int, head: float
) -> tuple[float, float]:
    """Middle of the figure and top of its head."""
    if scale is ShotScale.EXTREME_CLOSE_UP:
        return chance.uniform(0.4, 0.6) * width, chance.uniform(0.5, 0.3) * height - 0.45 * head
    x = chance.uniform(0.25, 0.75) * width
    room = height - {ShotScale.FULL: 7.5, ShotScale.LONG: 7.5, ShotScale.MEDIUM: 2.8}.get(scale, 1.1) * head
    return x, chance.uniform(0.02, 0.98) * max(room, 0)


def _colour(chance: random.Random) -> Colour:
    return chance.randrange(20, 236), chance.randrange(20, 236), chance.randrange(20, 236)


def _ground(chance: random.Random, width: int, height: int) -> Image.Image:
    """A sky and a floor, with boxes and stripes of any size, and grain."""
    image = Image.new("RGB", (width, height), _colour(chance))
    draw = ImageDraw.Draw(image)
    horizon = chance.uniform(0.3, 0.8) * height
    draw.rectangle((0, horizon, width, height), _colour(chance))
    for _ in range(chance.randrange(2, 9)):
        wide, high = (chance.uniform(0.03, 0.5) ** 1.3 * side for side in (width, height))
        left, top = chance.uniform(-0.1, 1) * width, chance.uniform(-0.1, 1) * height
        box = (left, top, left + wide, top + high)
        if chance.random() < 0.3:
            draw.ellipse(box, _colour(chance))
        else:
            draw.rectangle(box, _colour(chance))
    light = np.linspace(chance.uniform(0.8, 1.2), chance.uniform(0.8, 1.2), width)[:, None]
    grain = np.random.default_rng(chance.getrandbits(32)).normal(0, 6, (height, width, 1))
    pixels = np.clip(np.asarray(image, np.float64) * light + grain, 0, 255).astype(np.uint8)
    return Image.fromarray(pixels)


def _figure(draw: ImageDraw.ImageDraw, x: float, top: float, head: float, colours: list[Colour]) -> None:
    """Head with hair and face, trunk and legs; ``head`` is the height of the head in pixels."""
    skin, hair, coat, legs, mouth = colours

    def box(left: float, above: float, right: float, below: float) -> tuple[float, float, float, float]:
        return x + left * head, top + above * head, x + right * head, top + below * head

    draw.rectangle(box(-0.18, 0.9, 0.18, 1.25), skin)
    draw.rounded_rectangle(box(-1.3, 1.2, 1.3, 4.2), 0.3 * head, coat)
    draw.ellipse(box(-0.42, -0.05, 0.42, 0.8), hair)
    draw.ellipse(box(-0.37, 0.08, 0.37, 1.0), skin)
    for side in (-1, 1):
        leg = sorted((side * 0.08, side * 0.75))
        draw.rectangle(box(leg[0], 4.1, leg[1], 7.5), legs)
        draw.ellipse(box(side * 0.16 - 0.09, 0.42, side * 0.16 + 0.09, 0.54), (15, 15, 15))
    draw.ellipse(box(-0.14, 0.78, 0.14, 0.86), mouth)


def make_scale_pictures(
    folder: Path, per_class: int, seed: int = 0, size: tuple[int, int] = (112, 84), suffix: str = ".png"
) -> Path:
    """A folder for each scale, ``ECS`` to ``LS``, with ``per_class`` pictures in it."""
    for scale, label in LABELS.items():
        (folder / label).mkdir(parents=True, exist_ok=True)
        for number in range(per_class):
            picture = scale_picture(scale, f"{seed}:{number}", size)
            Image.fromarray(picture).save(folder / label / f"{number:04d}{suffix}")
    return folder


def make_movieshots(
    folder: Path,
    films: int = 10,
    shots: int = 5,
    seed: int = 0,
    form: Literal["clips", "frames"] = "clips",
    size: tuple[int, int] = (96, 72),
) -> dict[str, Any]:
    """A small MovieShots in the published layout. Returns the tree of the split.

    ``trailer/tt0000000/shot_0000.mp4``, or key frames ``shot_0000_img_0.jpg`` to ``_2``, with annotations.
    """
    for film in range(films):
        for shot in range(shots):
            frames = scale_frames(scale_of(film, shot), f"{seed}:{film}:{shot}", size)
            write_shot(folder / "trailer" / film_id(film), shot, frames, form)
    return write_annotations(folder, films, shots)


def film_id(film: int) -> str:
    """As films are named in MovieShots."""
    return f"tt{film:07d}"


def scale_of(film: int, shot: int) -> ShotScale:
    """The scales take turns."""
    return list(ShotScale)[(film + shot) % len(ShotScale)]


def write_annotations(folder: Path, films: int, shots: int) -> dict[str, Any]:
    """Write ``v1_full_trailer.json`` and ``v1_split_trailer.json`` (films 7:1:2). Returns the tree of the split."""
    full: dict[str, dict[str, Any]] = {}
    for film in range(films):
        of_film = full[film_id(film)] = {}
        for shot in range(shots):
            scale = scale_of(film, shot)
            of_film[f"{shot:04d}"] = {
                "scale": {"label": LABELS[scale], "value": scale.number},
                "movement": {"label": "Static", "value": 1},
            }
    names = sorted(full)
    cuts = {"train": (0, 0.7), "val": (0.7, 0.8), "test": (0.8, 1.0)}
    split = {
        part: {name: full[name] for name in names[round(a * films) : round(b * films)]}
        for part, (a, b) in cuts.items()
    }
    (folder / "v1_full_trailer.json").write_text(json.dumps(full), encoding="utf-8")
    (folder / "v1_split_trailer.json").write_text(json.dumps(split), encoding="utf-8")
    return split


def write_shot(folder: Path, shot: int, frames: list[Picture], form: str) -> None:
    """One shot in a film's folder, as a clip or as three key frames."""
    folder.mkdir(parents=True, exist_ok=True)
    if form == "frames":
        for number, place in enumerate((1, len(frames) // 2, len(frames) - 2)):
            Image.fromarray(frames[place]).save(folder / f"shot_{shot:04d}_img_{number}.jpg", quality=92)
        return
    import av

    with av.open(str(folder / f"shot_{shot:04d}.mp4"), "w") as container:
        stream: Any = container.add_stream("libx264", rate=25, options={"crf": "20", "preset": "ultrafast"})
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1
        for packet in _packets(stream, frames):
            container.mux(packet)


def _packets(stream: Any, frames: list[Picture]) -> Iterator[Any]:
    from av import VideoFrame

    for picture in frames:
        yield from stream.encode(VideoFrame.from_ndarray(np.ascontiguousarray(picture), "rgb24"))
    yield from stream.encode(None)
