"""A film with known people in it, for the measurements of characters.py.

Ten people of OpenPeople and some 300 strangers (fake-avatars; the ORL faces in grey shots) stand, walk and
talk before photographic grounds: alone, in dialogue from two set-ups, in twos and threes, among strangers,
and not at all. Faces are 30 to 200 pixels high in 640 x 360; they move, tilt, turn to the side, change
expression, grow and shrink, are lit well and badly, blurred by motion and passed by posts. H.264 at an
ordinary quality, 24 frames a second. Beside the film stands the truth as JSON: who is where in each frame.
``photos/`` holds the photos of the cast, none of which is on the screen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
from cast_actors import PHOTOS, REVISION, Company, View, company, dressed
from cast_takes import Part, Take, long_film
from PIL import Image as Pictures

from shotad.core import Image
from shotad.core.config.sight import CastSettings
from shotad.sight import FaceModels

CRF = 23
MADE = 2
"""Counted up when the same takes are drawn otherwise."""
WIDTH, HEIGHT, RATE = 640, 360, 24
DISSOLVE = 4
"""Frames in which one view of a person goes over into the next."""

Picture = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float64]
Area = tuple[slice, slice]
Corners = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels."""


class Stage:
    """Draws the frames of takes."""

    def __init__(self, company: Company) -> None:
        self._company = company
        self._actors = {actor.name: actor for actor in company.actors}
        self._small: dict[tuple[str, str], list[View]] = {}

    def frames(self, take: Take, seed: int) -> Iterator[tuple[Image, dict[str, Corners], float]]:
        """Each frame of a take, whose faces are where in it, and how much light there is."""
        self._small.clear()
        count = round(take.seconds * RATE)
        noise = np.random.default_rng(seed).normal(0, 1.5, (4, HEIGHT, WIDTH, 1)).astype(np.float32)
        tint = np.array([1 + take.warmth, 1.0, 1 - take.warmth], np.float32)
        ground = self._ground(take)
        for frame in range(count):
            part = frame / max(count - 1, 1)
            image, seen = self._place(take, part) if take.place else self._composed(take, ground, part, count)
            light = _between(take.gain, part) * _fade(take, frame, count)
            image = image * light * tint
            if take.grey:
                image = image.mean(axis=2, keepdims=True).repeat(3, axis=2)
            yield np.clip(image + noise[frame % 4], 0, 255).astype(np.uint8), seen, light

    def _ground(self, take: Take) -> Picture:
        image = self._company.grounds[take.ground % len(self._company.grounds)]
        large = cv2.resize(image, (int(WIDTH * 1.3), int(HEIGHT * 1.3)), interpolation=cv2.INTER_CUBIC)
        if take.soft > 0.3:
            large = cv2.GaussianBlur(large, (0, 0), take.soft)
        return large.astype(np.float32)

    def _composed(
        self, take: Take, ground: Picture, part: float, count: int
    ) -> tuple[Picture, dict[str, Corners]]:
        x = _between(take.move, part) * 0.3 * WIDTH
        shift = np.array([[1, 0, -x], [0, 1, -0.15 * HEIGHT]])
        image = cv2.warpAffine(ground, shift, (WIDTH, HEIGHT), borderMode=cv2.BORDER_REFLECT)
        seen = {one.actor: self._put(image, one, part, count) for one in take.parts}
        return image, seen

    def _put(self, image: Picture, one: Part, part: float, count: int) -> Corners:
        """One person put before the picture; where the face is."""
        (view, share), *others = self._views(one, part, count)
        size = _between(one.size, part)
        area, layer, box = _layer(self._fitting(one.actor, view, size), one, part, size)
        for other, weight in others:
            more = _layer(self._fitting(one.actor, other, size), one, part, size, area)[1]
            layer = layer * share + more * weight
        layer = _blurred(layer, one, part, count)
        image[area] = image[area] * (1 - layer[..., 3:] / 255) + layer[..., :3]
        if one.covered:
            # A dark post goes by.
            width = (box[2] - box[0]) * 0.6
            x = _between((box[0] - 3 * width, box[2] + 3 * width), part)
            image[:, max(int(x), 0) : max(int(x + width), 0)] = (38, 34, 30)
        return box

    def _views(self, one: Part, part: float, count: int) -> list[tuple[str, float]]:
        """Which views are shown at ``part`` of the take, and how much of each; the first is the most."""
        length = count / len(one.views)
        at = part * (count - 1)
        number = min(int(at / length), len(one.views) - 1)
        into = at - number * length
        if number and into < DISSOLVE and one.views[number] != one.views[number - 1]:
            share = (into + 1) / (DISSOLVE + 1)
            pair = [(one.views[number], share), (one.views[number - 1], 1 - share)]
            return sorted(pair, key=lambda item: -item[1])
        return [(one.views[number], 1.0)]

    def _fitting(self, name: str, view: str, size: float) -> View:
        """The view, halved as often as the size allows, so that it is not sampled too thinly."""
        if (name, view) not in self._small:
            actor = self._actors[name]
            known = actor.sides if view.startswith("side:") else actor.views
            own = next(one for one in known if one.name == view.removeprefix("side:"))
            self._small[name, view] = list(_halvings(dressed(own, name)))
        steps = self._small[name, view]
        return next((step for step in reversed(steps) if step.face >= size), steps[0])

    def _place(self, take: Take, part: float) -> tuple[Picture, dict[str, Corners]]:
        (one,) = take.parts
        view = self._actors[one.actor].places[0]
        size = _between(one.size, part)
        scale, (left, top, right, bottom) = size / view.face, view.box
        height, width = view.image.shape[:2]
        scale = max(scale, WIDTH / width)
        x = float(np.clip((left + right) / 2 * scale - WIDTH / 2, 0, width * scale - WIDTH))
        y = float(np.clip((top + bottom) / 2 * scale - HEIGHT * one.y[0], 0, max(height * scale - HEIGHT, 0)))
        move = np.array([[scale, 0, -x], [0, scale, -y]])
        flags = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
        image = cv2.warpAffine(view.image[..., :3], move, (WIDTH, HEIGHT), flags=flags).astype(np.float32)
        box = (left * scale - x, top * scale - y, right * scale - x, bottom * scale - y)
        return image, {one.actor: box}


def _halvings(view: View) -> Iterator[View]:
    """The view, premultiplied, and halves of it down to faces of 28 pixels."""
    image = view.image.astype(np.float32)
    image[..., :3] *= image[..., 3:] / 255
    box = view.box
    while True:
        step = View(view.name, np.clip(image, 0, 255).astype(np.uint8), box)
        yield step
        if step.face < 56:
            return
        half = image.shape[1] // 2, image.shape[0] // 2
        image = np.asarray(cv2.resize(image, half, interpolation=cv2.INTER_AREA), np.float32)
        box = (box[0] / 2, box[1] / 2, box[2] / 2, box[3] / 2)


def _layer(
    view: View, one: Part, part: float, size: float, area: Area | None = None
) -> tuple[Area, Picture, Corners]:
    """Somebody alone: the rows and columns in which they are, ``float32[h, w, 4]`` premultiplied in these,
    and the box of the face in the picture."""
    matrix = _placed(view, one, part, size)
    height, width = view.image.shape[:2]
    x0, y0, x1, y1 = _outline((0, 0, width, height), matrix)
    rows = slice(int(np.clip(y0 - 4, 0, HEIGHT - 1)), int(np.clip(y1 + 4, 1, HEIGHT)))
    area = area or (rows, slice(int(np.clip(x0 - 12, 0, WIDTH - 1)), int(np.clip(x1 + 12, 1, WIDTH))))
    shift = np.array([[1, 0, -area[1].start], [0, 1, -area[0].start], [0, 0, 1]])
    shape = (area[1].stop - area[1].start, area[0].stop - area[0].start)
    layer = cv2.warpPerspective(view.image, shift @ matrix, shape, flags=cv2.INTER_LINEAR)
    return area, layer.astype(np.float32), _outline(view.box, matrix)


def _outline(box: Corners, matrix: Matrix) -> Corners:
    """The upright rectangle round a box that is put through a homography."""
    left, top, right, bottom = box
    corners = np.array([[[left, top], [right, top], [right, bottom], [left, bottom]]], np.float64)
    points = cv2.perspectiveTransform(corners, matrix)[0]
    return (*points.min(axis=0).tolist(), *points.max(axis=0).tolist())


def _placed(view: View, one: Part, part: float, size: float) -> Matrix:
    """Homography from the view to the picture."""
    left, top, right, bottom = view.box
    scale, tilt = size / view.face, np.deg2rad(_between(one.tilt, part))
    turn = _between(one.turn, part) / (3 * view.face)
    x, y = _centre(one, part, size)
    cos, sin = scale * np.cos(tilt), scale * np.sin(tilt)
    away = np.array([[1, 0, -(left + right) / 2], [0, 1, -(top + bottom) / 2], [0, 0, 1]])
    turned = np.array([[1, 0, 0], [0, 1, 0], [turn, 0, 1]])
    return np.array([[cos, -sin, x], [sin, cos, y], [0, 0, 1]]) @ turned @ away


def _centre(one: Part, part: float, size: float) -> tuple[float, float]:
    sway = one.sway * size
    x = _between(one.x, part) * WIDTH + sway * np.sin(one.phase + part * 7)
    y = _between(one.y, part) * HEIGHT + sway * 0.5 * np.sin(2 * one.phase + part * 9)
    return float(x), float(y)


def _blurred(layer: Picture, one: Part, part: float, count: int) -> Picture:
    """Motion blur: half of the way to the next frame, as film with an open shutter has it."""
    size, after = _between(one.size, part), min(part + 1 / count, 1.0)
    here, there = _centre(one, part, size), _centre(one, after, size)
    way = int(np.hypot(there[0] - here[0], there[1] - here[1]) / 2)
    if way < 2:
        return layer
    kernel = np.zeros((2 * way + 1, 2 * way + 1), np.float32)
    angle = np.arctan2(there[1] - here[1], there[0] - here[0])
    end = (round(way + way * float(np.cos(angle)) / 2), round(way + way * float(np.sin(angle)) / 2))
    start = (2 * way - end[0], 2 * way - end[1])
    cv2.line(kernel, start, end, 1.0)
    return np.asarray(cv2.filter2D(layer, -1, kernel / kernel.sum()), np.float32)


def _fade(take: Take, frame: int, count: int) -> float:
    """How much of the light is there while a shot comes from black or goes to it, in 16 frames."""
    if take.fade == "in":
        return min(1.0, frame / 16)
    return min(1.0, (count - 1 - frame) / 16) if take.fade == "out" else 1.0


def _between(ends: tuple[float, float], part: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * part


def shoot(takes: Sequence[Take], people: Company, path: Path) -> None:
    """Write the film of ``takes`` and, beside it as JSON, the truth."""
    stage, kinds = Stage(people), {actor.name: actor.kind for actor in people.actors}
    shots, first = [], 0
    unfinished = path.with_suffix(".part.mp4")
    with av.open(str(unfinished), "w") as sink:
        stream: Any = sink.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.time_base = Fraction(1, RATE)
        stream.options = {"preset": "veryfast", "crf": str(CRF), "threads": "2"}
        for number, take in enumerate(takes):
            faces: dict[str, list[list[float]]] = {part.actor: [] for part in take.parts}
            for offset, (image, seen, light) in enumerate(stage.frames(take, number)):
                frame = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format="yuv420p")
                frame.pts, frame.time_base = first + offset, Fraction(1, RATE)
                sink.mux(stream.encode(frame))
                for name, box in seen.items():
                    corners = [round(v, 1) for v in box]
                    faces[name].append([first + offset, *corners, round(light, 2)])
            count = round(take.seconds * RATE)
            people_in = [{"name": n, "kind": kinds[n], "faces": rows} for n, rows in faces.items()]
            shots.append({"first": first, "end": first + count, "people": people_in})
            first += count
        sink.mux(stream.encode())
    path.with_suffix(".json").write_text(json.dumps({"rate": RATE, "shots": shots}))
    unfinished.rename(path)


def make(folder: Path, quick: bool = False) -> Path:
    """The film, with its truth and the photos of the cast, in ``folder``; made where they are not there."""
    film, photos = folder / f"{'quick' if quick else 'long'}-{MADE}-{REVISION}.mp4", folder / "photos"
    if not (film.exists() and photos.exists()):
        cv2.setNumThreads(2)
        people = company(FaceModels(CastSettings()))
        folder.mkdir(parents=True, exist_ok=True)
        shoot(long_film(people, quick=quick), people, film)
        for (name, kind), image in people.photos.items():
            path = photos / name / f"{PHOTOS.index(kind)}-{kind}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            Pictures.fromarray(image).save(path, quality=92)
    return film
