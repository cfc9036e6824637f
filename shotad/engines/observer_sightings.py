"""What the embedded observer sees in the frames of a clip: models, the frames they look at, and colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from threading import Lock

import numpy as np
import numpy.typing as npt

from shotad.core import (
    Box,
    Clip,
    Colour,
    Image,
    Named,
    Presence,
    Sighting,
    give_back_memory,
    obtainable,
    weights_file,
)
from shotad.sight import (
    FACE_SEEN,
    HIPS,
    KINDS,
    NEAR,
    SHOULDERS,
    Classifier,
    EfficientDet,
    Embedding,
    Expression,
    FaceFinder,
    FaceMesh,
    FaceReader,
    Glimpse,
    Hand,
    HandReader,
    Level,
    MobileNet,
    Pose,
    PoseReader,
    Shift,
    SsdMobileNet,
    Stretch,
    Track,
    colour_of,
    composed,
    cut,
    glimpses_of,
    is_break,
    recognised,
    shared,
    shift_between,
    small_gray,
    sure_of,
)

_LOOK_EVERY = 0.24
"""Seconds between two frames that the detectors look at: denser brings little (measured)."""
_AT_ONCE = 2
"""Frames that are looked at together: while one model works for one of them, another does for the other."""
_TRUST = 0.5
"""Share of corners that must agree on the picture's movement for anything else to be seen to move."""
_PLAIN = 0.75
"""Score from which a body needs no closer look, and with a face of it no second opinion either."""
_PROMISING = 0.35
"""Score of anything seen from which the second detector is asked too."""
_SAME_MOMENT = 1e-3
"""Seconds by which the moments of one frame may differ."""
_TOPS = 4
"""Frames in which shoulders and hips must be seen for what is worn there to have a colour."""
_SHOWN = 0.5
"""Share of a face that must lie inside the bars to be seen."""


@dataclass(frozen=True, slots=True, eq=False)
class FrameSightings:
    """What was seen in one frame: possible people, and all things by both detectors."""

    seconds: float
    image: Image
    people: tuple[Glimpse, ...]
    first: tuple[Sighting, ...]
    second: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """Frames of one shot without a break: the ``looks`` at some, as a ``stretch``, and all of them by their
    ``seconds``, with the movements between them as ``steps`` (one fewer)."""

    looks: tuple[FrameSightings, ...]
    stretch: Stretch
    seconds: tuple[float, ...]
    steps: tuple[Shift | None, ...]

    @property
    def moving(self) -> tuple[Box | None, ...]:
        """Where something moves by itself in each step; None where the picture's movement is not sure."""
        return tuple(s.moving if s is not None and s.trust >= _TRUST else None for s in self.steps)


FIRST = "efficientdet-lite2"
"""The better detector of people. Its weights come through npm; without it the others see fewer people."""
OTHERS = (
    "ssd-mobilenet-v2",
    "ssd-mobilenet-v2-graph",
    "yunet",
    "sface",
    "movenet-lightning",
    "face-mesh",
    "palms",
    "hand-points",
    "efficientnet-lite3",
    "mobilenet-v2",
)


def eye_weights() -> tuple[str, ...]:
    """Names of the weights that this machine has or can fetch for looking."""
    return (FIRST, *OTHERS) if obtainable(FIRST) else OTHERS


class Eyes:
    """The models that look at frames, fetched and loaded when they are first needed."""

    def __init__(self, names: Sequence[str] = (FIRST, *OTHERS)) -> None:
        self._names, self._opening = names, Lock()

    def look(self, image: Image, seconds: float) -> FrameSightings:
        """All that the models see in one frame (RGB, bars cut off)."""
        with self._opening:
            second, _ = self._heavy
            first, faces = self._detectors
        seen_faces = faces.find(image, seconds)
        sure_faces = [face.box for face in seen_faces if face.score >= _PLAIN]
        whole, parts = first.find_all(image, seconds, faces=sure_faces) if first else ([], [])
        settled = sure_faces and any(s.name == "person" and s.score >= _PLAIN for s in whole)
        promising = first is None or seen_faces or any(s.score >= _PROMISING for s in (*whole, *parts))
        things = any(s.name in KINDS and s.score >= _PLAIN for s in whole)
        others = second.find(image, seconds) if promising and (things or not settled) else []
        people = glimpses_of(whole, parts, others, seen_faces)
        return FrameSightings(seconds, image, tuple(people), tuple(whole), tuple(others))

    def face_of(self, look: FrameSightings, glimpse: Glimpse) -> Embedding | None:
        """The embedding of a person's face; None where no face is seen."""
        return None if glimpse.face is None else self._heavy[1].read(look.image, glimpse.face)

    def shares(self, image: Image, sighting: Sighting) -> dict[str, float]:
        """How much the classifier takes what is in the sighting's box for each kind of thing."""
        return self._classifier.shares(image, sighting.box)

    def scenes(self, images: Sequence[Image], told: Iterable[str]) -> list[dict[str, float]]:
        """How sure the classifiers are that all of each picture shows a kind of thing, place or outfit."""
        return sure_of(images, self._classifier, self._second, told)

    def poses(self, track: Track[Glimpse], images: Mapping[float, Image]) -> list[Pose]:
        """The joints of a person in each frame of their track; ``images`` are the frames by seconds."""
        return [self._poses.read(images[g.seconds], g.box, g.seconds) for g in track.seen]

    def hands(self, looks: Sequence[FrameSightings]) -> list[list[Hand]]:
        """The hands in every second of the looks; none where every fourth shows none."""
        found = {i: self._hands.find(looks[i].image, looks[i].seconds) for i in range(0, len(looks), 4)}
        if any(found.values()):
            found |= {i: self._hands.find(looks[i].image, looks[i].seconds) for i in range(2, len(looks), 4)}
        return [found[i] for i in sorted(found)]

    def expressions(self, track: Track[Glimpse], images: Mapping[float, Image]) -> list[Expression]:
        """What a person's face shows in the frames in which it is plain, near and not aside."""
        seen = [g for g in track.seen if g.face and g.face_score > FACE_SEEN and g.face.box.height >= NEAR]
        found = (self._mesh.read(images[g.seconds], g.face) for g in seen if g.face)
        return [expression for expression in found if expression is not None]

    @cached_property
    def _heavy(self) -> tuple[SsdMobileNet, FaceReader]:
        """Those that need three times their memory while they are loaded: before all others."""
        ssd = SsdMobileNet(weights_file("ssd-mobilenet-v2"), weights_file("ssd-mobilenet-v2-graph"))
        give_back_memory()
        sface = FaceReader(weights_file("sface"))
        give_back_memory()
        return ssd, sface

    @cached_property
    def _detectors(self) -> tuple[EfficientDet | None, FaceFinder]:
        first = EfficientDet(weights_file(FIRST)) if FIRST in self._names else None
        return first, shared(FaceFinder, weights_file("yunet"))

    @cached_property
    def _classifier(self) -> Classifier:
        return Classifier(weights_file("efficientnet-lite3"))

    @cached_property
    def _second(self) -> MobileNet:
        return MobileNet(weights_file("mobilenet-v2"))

    @cached_property
    def _hands(self) -> HandReader:
        return HandReader(weights_file("palms"), weights_file("hand-points"))

    @cached_property
    def _mesh(self) -> FaceMesh:
        return FaceMesh(weights_file("face-mesh"))

    @cached_property
    def _poses(self) -> PoseReader:
        return PoseReader(weights_file("movenet-lightning"))


@dataclass(frozen=True, slots=True, eq=False)
class ShotFrames:
    """The frames of one shot inside the slot, bars cut off, and how the picture moves between them."""

    number: int
    seconds: tuple[float, ...]
    images: tuple[Image, ...]
    grays: tuple[npt.NDArray[np.uint8], ...]
    shifts: tuple[Shift | None, ...]
    breaks: tuple[int, ...]
    """Places in ``seconds`` where another picture begins."""
    known: tuple[Sighting, ...] = ()
    """Faces of the cast that were recognised in the film, in places of these images."""

    def known_at(self, seconds: float) -> list[Sighting]:
        """The recognised faces of the frame at that moment."""
        near = (s for s in self.known if abs(s.seconds - seconds) <= _SAME_MOMENT)
        return [replace(sighting, seconds=seconds) for sighting in near]


def cast_of(presence: Presence) -> dict[str, Named]:
    """Those of the clip who may be named, by id; nobody who is called the same as another."""
    called = [character.called.casefold() for character in presence.cast]
    alone = [c for c in presence.seen if c.called and called.count(c.called.casefold()) == 1]
    return {c.id: Named(c.id, c.called, c.pronoun, c.named) for c in alone}


def known_faces(sightings: Iterable[Sighting], area: Box) -> tuple[Sighting, ...]:
    """Faces in the whole picture by their places in its part ``area``; those outside it are left out."""
    found: list[Sighting] = []
    for sighting in sightings:
        box = sighting.box
        left, right = (min(max((x - area.left) / area.width, 0.0), 1.0) for x in (box.left, box.right))
        top, bottom = (min(max((y - area.top) / area.height, 0.0), 1.0) for y in (box.top, box.bottom))
        shown = (right - left) * area.width * (bottom - top) * area.height
        if shown >= _SHOWN * box.area:
            found.append(replace(sighting, box=Box(left, top, right, bottom)))
    return tuple(found)


def shot_frames(
    number: int, seconds: Sequence[float], images: Sequence[Image], known: tuple[Sighting, ...] = ()
) -> ShotFrames:
    """The frames of one shot with the movement of the picture measured."""
    grays = [small_gray(image) for image in images]
    shifts = tuple(shift_between(a, b) for a, b in pairwise(grays))
    pairs = enumerate(zip(pairwise(grays), shifts, strict=True), 1)
    breaks = tuple(i for i, ((a, b), shift) in pairs if is_break(a, b, shift))
    return ShotFrames(number, tuple(seconds), tuple(images), tuple(grays), shifts, breaks, known)


def shots_of(
    clip: Clip, current: npt.NDArray[np.bool_], area: Box, faces: tuple[Sighting, ...]
) -> Iterator[ShotFrames]:
    """The slot's frames, shot by shot, black bars cut off, with the recognised faces in them."""
    places = np.flatnonzero(current).tolist()
    for number, group in groupby(places, key=lambda i: int(clip.shot_numbers[i])):
        mine = list(group)
        images = [np.ascontiguousarray(cut(clip.images[i], area)) for i in mine]
        yield shot_frames(number, [float(clip.seconds[i]) for i in mine], images, faces)


def passages(frames: ShotFrames, eyes: Eyes) -> Iterator[Passage]:
    """The unbroken passages of a shot, looked at."""
    borders = [0, *frames.breaks, len(frames.seconds)]
    for start, end in pairwise(borders):
        chosen = _spaced(frames.seconds, start, end)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            looks = tuple(pool.map(lambda i: _look(frames, i, eyes), chosen))
        give_back_memory()  # a tenth of all that the program has, for a hundredth of the time
        steps = _steps_beside(looks, chosen, frames, end)
        shifts = tuple(composed(steps[a - start : b - start]) for a, b in pairwise(chosen))
        height, width = frames.images[0].shape[:2]
        seconds, is_last = tuple(look.seconds for look in looks), end == len(frames.seconds)
        stretch = Stretch(frames.number, seconds, shifts, width / height, start == 0, is_last)
        yield Passage(looks, stretch, frames.seconds[start:end], steps)


def _look(frames: ShotFrames, i: int, eyes: Eyes) -> FrameSightings:
    """What is seen in one frame, with who is known in it."""
    look = eyes.look(frames.images[i], frames.seconds[i])
    known = frames.known_at(look.seconds)
    return replace(look, people=recognised(look.people, known)) if known else look


def _steps_beside(
    looks: Sequence[FrameSightings], chosen: Sequence[int], frames: ShotFrames, end: int
) -> tuple[Shift | None, ...]:
    """The picture's movements in a passage, measured beside people, who carry its corners along."""
    steps: list[Shift | None] = []
    for look, after, (first, last) in zip(looks, [*looks[1:], None], pairwise([*chosen, end]), strict=True):
        people = [*look.people, *(after.people if after else ())]
        apart = [glimpse.box for glimpse in people if glimpse.body >= _PLAIN or glimpse.face or glimpse.who]
        steps += [
            shift_between(frames.grays[i], frames.grays[i + 1], apart) if apart else frames.shifts[i]
            for i in range(first, min(last, end - 1))
        ]
    return tuple(steps)


def _spaced(seconds: Sequence[float], start: int, end: int) -> list[int]:
    """The frames from ``start`` to before ``end`` that are looked at."""
    chosen = [start]
    for i in range(start + 1, end):
        if seconds[i] - seconds[chosen[-1]] >= _LOOK_EVERY - 1e-6:
            chosen.append(i)
    return chosen


def clothes_of(
    track: Track[Glimpse], poses: Sequence[Pose], images: Mapping[float, Image], level: Level
) -> Colour | None:
    """The colour between shoulders and hips, else below the chin, of nearly all frames, if no shade."""
    tops = [_top(images[pose.seconds], pose) for pose in poses if pose.seen(*SHOULDERS, *HIPS)]
    if len(tops) >= _TOPS and level not in ("black", "dark"):
        colour = max(set(tops), key=lambda colour: (tops.count(colour), str(colour)))
        plain = tops.count(colour) >= 0.8 * len(tops) and colour not in ("grey", "brown")
        return colour if plain else None
    faced = sorted((g for g in track.seen if g.face_score >= 0.8), key=lambda g: (-g.face_score, g.seconds))
    found = {_below(images[g.seconds], g.face.box) for g in faced[:3] if g.face is not None}
    if len(faced) < 3 or len(found) != 1 or level in ("black", "dark"):
        return None
    colour = found.pop()
    return None if colour in ("grey", "brown") else colour


def _top(image: Image, pose: Pose) -> Colour | None:
    """The colour of the middle of what is worn above the hips."""
    corners = pose.points[[*SHOULDERS, *HIPS]] * image.shape[0]
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    x, y = 0.2 * (right - left), 0.2 * (bottom - top)
    part = image[int(top + y) : int(bottom - y) + 1, int(left + x) : int(right - x) + 1]
    return colour_of(np.asarray(part, np.uint8)) if part.shape[0] * part.shape[1] >= 60 else None


def _below(image: Image, face: Box) -> Colour | None:
    """The colour of a strip from 0.7 to 1.6 face heights below the chin."""
    left, right = face.centre[0] - 0.6 * face.width, face.centre[0] + 0.6 * face.width
    top, bottom = face.bottom + 0.7 * face.height, face.bottom + 1.6 * face.height
    if bottom > 1 or left < 0 or right > 1:
        return None
    return colour_of(cut(image, Box(left, top, right, bottom)))
