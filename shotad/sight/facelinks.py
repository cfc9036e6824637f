"""Looks at faces, linked from picture to picture of a shot. Pure logic.

A strand is one person: place and likeness must agree, and where they leave a doubt the strand ends and
another begins. Two short tracks of one person do no harm; one of two people gives somebody a wrong name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.core.types import Box
from shotad.sight.facemodels import Following
from shotad.sight.faces import Embedding, Face

MOMENT = 0.6
"""Seconds between two looks that count as a moment; pictures come four a second, or one."""
_NEAR = 0.25
"""Least likeness of two places that are the same."""
_MEMORY = 3
"""Looks back to which a face is compared."""
_ONCE = 0.15
"""Seconds within which all looks count as one: neighbouring frames repeat each other's mistakes."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """One face in one picture; ``worth`` is how much its embedding says, 0 to 1."""

    face: Face
    embedding: Embedding
    worth: float

    @property
    def seconds(self) -> float:
        """When."""
        return self.face.seconds


Strand = list[Look]
"""Looks at one person, oldest first."""
Cut = Callable[[float, float], bool]
"""Whether the pictures of two moments show different scenes; asked only where likeness does not settle it."""


def extend(strands: list[Strand], looks: Sequence[Look], following: Following, cut: Cut) -> None:
    """Add the looks of one picture, each to the strand that it continues, or as a new strand.

    The most alike come first; each strand takes one look at most.
    """
    pairs = sorted(
        (-_tie(strand, look, following, cut), s, n)
        for s, strand in enumerate(strands)
        for n, look in enumerate(looks)
    )
    taken_strands: set[int] = set()
    taken: set[int] = set()
    for tie, s, n in pairs:
        if tie < 0 and s not in taken_strands and n not in taken:
            strands[s].append(looks[n])
            taken_strands.add(s)
            taken.add(n)
    strands += [[look] for n, look in enumerate(looks) if n not in taken]


def _tie(strand: Strand, look: Look, following: Following, cut: Cut) -> float:
    """How well a look continues a strand; 0: not at all."""
    last = strand[-1]
    alike = max(float(look.embedding @ other.embedding) for other in strand[-_MEMORY:])
    place = _nearness(last.face.box, look.face.box)
    if alike >= following.again:
        return alike + place
    moment = look.seconds - last.seconds <= MOMENT
    border = following.near if moment and place >= _NEAR else following.far
    if not (moment or place >= _NEAR) or alike < border:
        return 0.0
    return 0.0 if cut(last.seconds, look.seconds) else alike + place


def _nearness(one: Box, two: Box) -> float:
    """1 for the same place and size, 0 for a distance of one's own size or more."""
    width, height = (one.width + two.width) / 2, (one.height + two.height) / 2
    (x, y), (u, v) = one.centre, two.centre
    size = min(one.area, two.area) / max(one.area, two.area)
    return max(0.0, 1 - math.hypot((u - x) / width, (v - y) / height)) * math.sqrt(size)


def parted(strand: Strand, following: Following) -> list[Strand]:
    """The strand in as many parts as it has people: it may have passed from one to another by steps, over
    looks that say little. Two parts of one person have looks that are alike across the parting."""
    if len(strand) < 4:
        return [strand]
    vectors = np.stack([look.embedding for look in strand])
    worth = np.array([look.worth for look in strand])
    weights = np.outer(worth, worth)
    sums, shares = (_across(m) for m in (weights * (vectors @ vectors.T), weights))
    across = sums / np.maximum(shares, 1e-9)
    at = int(np.argmin(across))
    if across[at] >= following.near:
        return [strand]
    return [*parted(strand[: at + 2], following), *parted(strand[at + 2 :], following)]


def _across(matrix: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """The sum of ``matrix[:i, i:]`` for each ``i`` that leaves two rows on either side, by running sums."""
    above = np.cumsum(np.cumsum(matrix, axis=0, dtype=np.float64), axis=1)
    i = np.arange(2, len(matrix) - 1)
    return np.asarray(above[i - 1, -1] - above[i - 1, i - 1], np.float64)


def believed(strand: Strand, following: Following) -> bool:
    """True where this is a face beyond doubt: a good look among several, or a very good one."""
    best = max(look.face.score for look in strand)
    once = strand[-1].seconds - strand[0].seconds < _ONCE
    return best >= (following.alone if once else following.believed)
