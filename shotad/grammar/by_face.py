"""Shot scale without trained weights: from how tall the people in the picture are.

One measure carries the rule: the *stature* of a person, the height that the whole of them would have,
standing, in heights of the picture. It follows from the face, of which a standing adult is about ten high
(Vitruvius; body proportions were used for this by Cherif, Solachidis and Pitas 2007), else from the body.
Borders on the stature make the scale, and the closest person decides it, as in Esper's rule on faces
and poses (Fu and others 2019, Rekall).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shotad.config import ObserverSettings
from shotad.grammar.base import ScaleGuess
from shotad.progress import Progress
from shotad.sight.faces import FaceFinder
from shotad.sight.light import active_area
from shotad.sight.people import Glimpse, glimpses_of
from shotad.sight.things import Blind, EfficientDet, SsdMobileNet, cut
from shotad.types import Image
from shotad.weights import obtainable, weights_file

REVISION = "1"
"""Raise it with every change that changes an answer: records depend on it."""
BORDERS = (9.0, 3.0, 1.15, 0.5)
"""Statures between extreme close-up, close-up, medium, full and long."""
_FACES = 10.0
"""Faces in a standing body: from the chin to the roots of the hair is a tenth."""
_SHOULDERS = 0.28
"""Width of a dressed body as a fraction of its height."""
_EDGE = 0.02
FIRST = "efficientdet-lite2"
SECOND = ("ssd-mobilenet-v2", "ssd-mobilenet-v2-graph")


@dataclass(frozen=True, slots=True)
class Stature:
    """``height`` of a whole person in heights of the picture; ``spread`` is its doubt, as a factor's log."""

    height: float
    spread: float


def guess_from(stature: Stature) -> ScaleGuess:
    """Soft borders: each scale's share of a logistic curve around the stature, on a logarithmic axis."""
    above = [1 / (1 + math.exp(-math.log(stature.height / b) / stature.spread)) for b in BORDERS]
    steps = np.diff([0.0, *above, 1.0])
    a, b, c, d, e = (float(step) for step in steps)
    return ScaleGuess((a, b, c, d, e))


def stature_of(glimpse: Glimpse, aspect: float) -> Stature:
    """How tall the whole person would be. ``aspect`` is the picture's width over its height."""
    if glimpse.face is not None:
        return Stature(_FACES * glimpse.face.box.height, 0.2)
    box = glimpse.box
    if box.bottom < 1 - _EDGE and box.top > _EDGE / 2:
        return Stature(box.height, 0.25)
    return Stature(max(box.height, box.width * aspect / _SHOULDERS), 0.4)


def guess_of(people: Sequence[Glimpse], aspect: float) -> ScaleGuess | None:
    """The scale by the closest of the people seen; None where there is none."""
    statures = [stature_of(person, aspect) for person in people]
    closest = max(statures, key=lambda s: (s.height, -s.spread), default=None)
    return None if closest is None else guess_from(closest)


def by_face_weights() -> tuple[str, ...]:
    """Names of the weights that this machine has or can fetch for it."""
    return ((FIRST,) if obtainable(FIRST) else SECOND) + ("yunet",)


class ByFace:
    """Reads the scale of a shot off the people in its middle frame. Answers depend on the image alone."""

    def __init__(self, observer: ObserverSettings, progress: Progress | None = None) -> None:
        names = by_face_weights()
        self.identity = f"by-face {REVISION} {'+'.join(names)} {observer.face_score} {observer.people_score}"
        self._observer = observer
        self._faces = FaceFinder(weights_file("yunet", progress))
        self._bodies = (
            EfficientDet(weights_file(FIRST, progress), observer.threads) if FIRST in names else Blind()
        )
        self._second = None if FIRST in names else _ssd(progress)

    def of(self, images: Sequence[Image]) -> list[ScaleGuess | None]:
        """One guess for each image (RGB ``uint8[H, W, 3]``); None where nobody is seen."""
        return [self._guess(image) for image in images]

    def _guess(self, image: Image) -> ScaleGuess | None:
        picture = np.ascontiguousarray(cut(image, active_area(image[None])))
        people = [p for p in self.people(picture) if self._counts(p)]
        return guess_of(people, picture.shape[1] / picture.shape[0])

    def people(self, picture: Image) -> list[Glimpse]:
        """All possible people in a picture without bars."""
        whole, parts = self._bodies.find(picture, 0.0), self._bodies.find_small(picture, 0.0)
        second = self._second.find(picture, 0.0) if self._second else []
        return glimpses_of(whole, parts, second, self._faces.find(picture, 0.0))

    def _counts(self, person: Glimpse) -> bool:
        body = max(person.body, person.part, person.second)
        return person.face_score >= self._observer.face_score or body >= 0.5 > person.rival


def _ssd(progress: Progress | None) -> SsdMobileNet:
    weights, graph = (weights_file(name, progress) for name in SECOND)
    return SsdMobileNet(weights, graph)
