"""Shot scale without training: from how tall the people in the picture are.

One measure carries the rule, the *stature*: how tall a whole person at the subject's distance would be,
standing, in heights of the picture. It follows from the face, from the body, or from a thing whose real
size is known (the way of Hoiem, Efros and Hebert 2008). Body proportions, and so which part of a body fits
into the picture, then give the borders of the scales, as in Cherif, Solachidis and Pitas (2007). Of several
people the closest decides, as in the rule on faces and poses of Fu and others (2019, Rekall).

Where no figure is seen the scale is unknown, unless a classifier of pictures takes what fills the picture for
a landscape, a building, a ship or the like: what is as large is seen from afar.

The borders are proportions, not fitted. What was chosen on labelled stills is which detectors are asked, and
how sure the classifier must be (tests/labels/scales.json; figures: `benchmarks/scales.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shotad.core import Image, Progress, Sighting, obtainable, weights_file
from shotad.film import Moment
from shotad.grammar.features import ScaleGuess
from shotad.sight import (
    FaceFinder,
    active_area,
    cut,
    level_of,
    luma,
    mean_luma,
    shared,
)

REVISION = "4"
"""Raise it with every change that changes an answer: records depend on it."""

BORDERS = (9.5, 3.6, 1.05, 0.5)
"""Statures at which extreme close-up, close-up, medium, full and long meet.

A face as high as 0.95 of the picture is an extreme close-up in Fu and others. A close-up ends at the
middle of the chest, a quarter of the body from the crown, with a tenth of the picture above the head:
0.9 / 0.25. Medium reaches to the knees, full to the soles; between them, at 0.85 of the body, 0.9 / 0.85.
A figure of less than half the picture's height is long, again as in Fu and others.
"""
_SPREAD = 0.22
"""How soft a border is, as the scale of a logistic curve over the logarithm of the stature."""
_FACES = 10.0
"""Faces, from the chin to the roots of the hair, in a standing body (Vitruvius, De architectura III, 1)."""
_EYES_TO_MOUTH = 0.4
"""Of the face's height; it gives the height of a face that the picture cuts off."""
_SHOULDERS = 0.28
"""Width of a dressed body seen from the front, of its height."""
_HEADROOM = 0.9
"""Share of the picture's height that a body fills which is cut off below."""
_EDGE = 0.02
"""A box that ends this near to the picture's edge is cut off there."""
_MAN = 1.7
"""Metres."""
_NO_DETAIL = 8.0
"""Largest stature by a thing: one that is seen whole is no extreme close-up."""
_METRES = {
    "cat": 0.3, "dog": 0.5, "sheep": 0.8, "cow": 1.4, "zebra": 1.4, "horse": 1.6, "elephant": 3.0,
    "giraffe": 4.5, "bicycle": 1.0, "motorcycle": 1.1, "car": 1.5, "bus": 3.0, "truck": 3.0, "train": 3.5,
    "cup": 0.1, "bowl": 0.1, "cell phone": 0.14, "wine glass": 0.2, "bottle": 0.25, "laptop": 0.25,
    "vase": 0.3, "chair": 0.9, "couch": 0.85,
}  # fmt: skip
"""Usual height of things that vary by less than about two; birds and boats are not among them."""
_NOBODY = (0.0, 0.1, 0.15, 0.2, 0.55)
"""How often pictures have each scale in which nobody is found: of 60 stills 0, 5, 9, 12 and 34. It stands for
what is left where a figure is likely but not sure."""
PLACES = (
    403, 404, 405, 406, 410, 415, 417, 424, 425, 437, 442, 449, 454, 460, 467, 472, 483, 484, 497, 498, 500,
    509, 510, 517, 525, 536, 538, 540, 554, 562, 576, 580, 582, 598, 624, 625, 628, 634, 649, 657, 660, 663,
    668, 672, 682, 687, 698, 703, 704, 706, 716, 718, 724, 727, 733, 743, 744, 755, 762, 780, 788, 812, 819,
    821, 825, 829, 832, 833, 839, 853, 854, 858, 860, 863, 866, 871, 873, 888, 895, 900, 912, 913, 914, 915,
    919, 920, 970, 972, 973, 974, 975, 976, 977, 978, 979, 980, 984,
)  # fmt: skip
"""ImageNet's classes, from 0, that are seen from afar: landscapes, buildings, shops, ships, aircraft, and
what stands in streets and fields."""
_AFAR = 0.2
"""Stature of somebody who would stand there: what is 8.5 m high and fills the picture."""
_PLACE = 0.1
"""Share of the classifier's certainty, as a mean over tiles, from which it is sure of a place."""
_BLACK = 28.0
"""Luma, as in `shotad.sight.motion.active_area`."""
_LIT = 0.18
"""Share of a picture above ``_BLACK`` below which it may be a title: those have 0.1 at most,
pictures without people 0.27 at least."""
_SURE_FACE = 0.75
"""Score of a face from which the body that holds it shows the scale."""
_RIVAL = 0.6
"""Share of the own score that an animal's in the same place may reach."""

FIRST = "efficientdet-lite2"
CLASSIFIER = "efficientnet-lite3"
_INSTEAD = ("ssd-mobilenet-v2", "ssd-mobilenet-v2-graph")


@dataclass(frozen=True, slots=True)
class Measure:
    """A ``stature`` in heights of the picture, and the chance (0 to 1) that what it was taken of is there."""

    stature: float
    chance: float


def guess_from(
    people: Sequence[Measure],
    thing: Measure | None = None,
    place: Measure | None = None,
) -> ScaleGuess | None:
    """The scale by the closest person who is really there; a thing counts where nobody is, then a place.

    None where it is more likely than not that there is none of them: the scale is unknown. One who comes
    closer never makes the expected scale longer.
    """
    left, total = 1.0, np.zeros(len(_NOBODY))
    ordered = sorted(people, key=lambda m: (-m.stature, -m.chance))
    for measure in (*ordered, *(m for m in (thing, place) if m)):
        total += left * measure.chance * np.array(scales_at(measure.stature))
        left *= 1 - measure.chance
    if left > 0.5:
        return None
    a, b, c, d, e = (total + left * np.array(_NOBODY)).tolist()
    return ScaleGuess((a, b, c, d, e))


def scales_at(stature: float) -> tuple[float, ...]:
    """Chances of the five scales at a stature: a logistic curve at each border.

    >>> [round(p, 2) for p in scales_at(2.0)]
    [0.0, 0.06, 0.88, 0.05, 0.0]
    """
    beyond = [1 / (1 + (border / stature) ** (1 / _SPREAD)) for border in BORDERS]
    return tuple(np.diff([0.0, *beyond, 1.0]).tolist())


def measure_person(glimpse: Glimpse, aspect: float) -> Measure:
    """Stature by the face where there is one, else by the body. ``aspect`` is the picture's width by height.

    A body that is cut off below is measured by its shoulders, and is taller than what is seen of it.
    """
    body = max(glimpse.body, glimpse.part, glimpse.second)
    if glimpse.rival > _RIVAL * max(body, glimpse.face_score):
        return Measure(glimpse.box.height, 0.0)
    by_face = _rise(glimpse.face_score, 0.55, 0.8)
    chance = 1 - (1 - _rise(body, 0.3, 0.7)) * (1 - by_face)
    box = glimpse.box
    if glimpse.face is not None and by_face > 0:
        face = glimpse.face.box
        height = face.height
        if face.top <= _EDGE or face.bottom >= 1 - _EDGE:  # cut off
            (_, a), (_, b), _, (_, c), (_, d) = glimpse.face.landmarks
            height = max(height, abs(c + d - a - b) / 2 / _EYES_TO_MOUTH)
        return Measure(_FACES * height, chance)
    if box.bottom < 1 - _EDGE:
        return Measure(box.height, chance)
    return Measure(max(box.height / _HEADROOM, box.width * aspect / _SHOULDERS), chance)


def measure_thing(sightings: Sequence[Sighting]) -> Measure | None:
    """Stature by the surest thing of known size; None where there is none."""
    known = [s for s in sightings if s.name in _METRES and s.score > 0.7]
    best = max(known, key=lambda s: (s.score, s.box.area, s.name), default=None)
    if best is None:
        return None
    stature = best.box.height * _MAN / _METRES[best.name]
    return Measure(min(stature, _NO_DETAIL), _rise(best.score, 0.7, 0.9))


def _rise(score: float, start: float, end: float) -> float:
    """0 up to ``start``, 1 from ``end`` on, straight between them."""
    return min(max((score - start) / (end - start), 0.0), 1.0)


def by_face_weights() -> tuple[str, ...]:
    """Names of the weights that this machine has or can fetch for it."""
    bodies = (FIRST,) if obtainable(FIRST) else _INSTEAD
    return (*bodies, "yunet", *((CLASSIFIER,) if obtainable(CLASSIFIER) else ()))


class ByFace:
    """Reads the scale off the people in a picture, or off what else it shows, from that picture alone.

    Three frames of a shot are better than one that leaves doubt, for one is often blurred by motion.
    """

    moments: tuple[Moment, ...] = ("middle", "quarter", "three_quarters")

    def __init__(self, progress: Progress | None = None) -> None:
        names = by_face_weights()
        self.identity = f"by-face-{REVISION} {'+'.join(names)}"
        self._faces = shared(FaceFinder, weights_file("yunet", progress))
        self._first = EfficientDet(weights_file(FIRST, progress)) if FIRST in names else None
        self._places = Classifier(weights_file(CLASSIFIER, progress)) if CLASSIFIER in names else None
        if self._first is None:
            weights, graph = (weights_file(name, progress) for name in _INSTEAD)
            self._instead = SsdMobileNet(weights, graph)

    def of(self, images: Sequence[Image]) -> list[ScaleGuess | None]:
        """One guess for each image (RGB ``uint8[H, W, 3]``); None where nothing shows it."""
        return [self._guess(image) for image in images]

    def _guess(self, image: Image) -> ScaleGuess | None:
        """The guess at one image, black bars cut off."""
        picture = np.ascontiguousarray(cut(image, active_area(image[None])))
        if level_of([mean_luma(picture)]) == "black":
            return None
        faces = self._faces.find(picture, 0.0)
        sure = [face.box for face in faces if face.score >= _SURE_FACE]
        # What is seen in the whole picture, and in its tiles where somebody small may be
        if self._first is not None:
            whole, parts = self._first.find_all(picture, 0.0, faces=sure)
        else:
            whole, parts = self._instead.find(picture, 0.0), []
        glimpses = glimpses_of(whole, parts, [], faces)
        people = [measure_person(g, picture.shape[1] / picture.shape[0]) for g in glimpses]
        thing = measure_thing(whole)
        guess = guess_from(people, thing)
        lit = float(np.mean(luma(picture[::2, ::2]) > _BLACK)) >= _LIT
        if guess is not None or self._places is None or not lit:
            return guess
        shares = [self._places.shares(picture, tile, {"": PLACES})[""] for tile in tiles_of(picture)]
        return guess_from(people, thing, Measure(_AFAR, _rise(float(np.mean(shares)), 0.0, _PLACE)))
