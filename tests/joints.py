"""Made people: seventeen joints in a posture, of any size, mirrored, with noise, with hidden joints."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from shotad.sight import Pose

_TRUNK = {0: (0, -1.45), 1: (0.07, -1.5), 2: (-0.07, -1.5), 3: (0.15, -1.45), 4: (-0.15, -1.45),
          5: (0.35, -1), 6: (-0.35, -1), 11: (0.2, 0), 12: (-0.2, 0)}  # fmt: skip
_HANGING = {7: (0.45, -0.5), 8: (-0.45, -0.5), 9: (0.45, 0), 10: (-0.45, 0)}
_STRAIGHT = {13: (0.2, 0.85), 14: (-0.2, 0.85), 15: (0.2, 1.7), 16: (-0.2, 1.7)}
_Points = dict[int, tuple[float, float]]
_STANDING: _Points = _TRUNK | _HANGING | _STRAIGHT


def _lower(points: _Points, by: float) -> _Points:
    return {joint: (x, y + by) for joint, (x, y) in points.items()}


def _turned(points: _Points, degrees: float) -> _Points:
    a = np.radians(degrees)
    return {
        j: (float(x * np.cos(a) - y * np.sin(a)), float(x * np.sin(a) + y * np.cos(a)))
        for j, (x, y) in points.items()
    }


POSTURES: dict[str, _Points] = {
    "stands": _STANDING,
    "sits": _lower(_TRUNK | _HANGING, 0.75)
    | {13: (0.35, 0.95), 14: (-0.35, 0.95), 15: (0.35, 1.7), 16: (-0.35, 1.7)},
    "crouches": _lower(_TRUNK | _HANGING, 1.1)
    | {13: (0.5, 1.0), 14: (-0.5, 1.0), 15: (0.2, 1.7), 16: (-0.2, 1.7)},
    "bends": _turned(_TRUNK | _HANGING, 75) | _STRAIGHT,
    "leans closer": _lower({j: (x, 0.3 * y) for j, (x, y) in (_TRUNK | _HANGING).items()}, 0.2)
    | {13: (0.2, 0.85), 14: (-0.2, 0.85), 15: (0.2, 1.7), 16: (-0.2, 1.7)},
    "kneels": _lower(_TRUNK | _HANGING, 0.85)
    | {13: (0.2, 1.7), 14: (-0.2, 1.7), 15: (0.2, 1.75), 16: (-0.2, 1.75)},
    "lies": _turned(_STANDING, 90),
    "from behind": {joint: (-x, y) for joint, (x, y) in _STANDING.items()},
    "from the side": {joint: (0.1 * x, y) for joint, (x, y) in _STANDING.items()},
    "hand up": _STANDING | {7: (0.55, -1.3), 9: (0.5, -2.0)},
    "arms up": _STANDING | {7: (0.55, -1.3), 9: (0.5, -2.0), 8: (-0.55, -1.3), 10: (-0.5, -2.0)},
    "arms out": _STANDING | {7: (0.8, -1), 9: (1.25, -1), 8: (-0.8, -1), 10: (-1.25, -1)},
    "sits on the floor": _TRUNK
    | _HANGING
    | {13: (0.5, 0.3), 14: (-0.5, 0.3), 15: (0.4, 0.8), 16: (-0.4, 0.8)},
    "sits low on the floor": _lower(_TRUNK | _HANGING, 0.3)
    | {13: (0.5, 0.4), 14: (-0.5, 0.4), 15: (0.4, 0.8), 16: (-0.4, 0.8)},
    "bows over the hand": _STANDING | {0: (0, -1), 7: (0.5, -0.5), 9: (0.15, -0.75)},
    "hand at face": _STANDING | {7: (0.5, -0.6), 9: (0.2, -1.2)},
}
"""Seen from before, the upright torso one long, the hips of one who stands at 0, 0; y points down."""

LEGS = (13, 14, 15, 16)
FEET = (15, 16)
HANDS = (9, 10)


def pose(
    posture: str | npt.NDArray[np.float64],
    second: float = 0.0,
    *,
    size: float = 0.15,
    at: tuple[float, float] = (0.9, 0.5),
    mirrored: bool = False,
    hidden: Collection[int] = (),
    noise: float = 0.0,
    score: float = 0.9,
    seed: int = 0,
) -> Pose:
    """One moment of a made person. ``size`` is the length of the torso, ``at`` where the hips of one who
    stands are, both in heights of the picture; ``noise`` in lengths of the torso."""
    points = joints_of(posture) if isinstance(posture, str) else posture
    points = points + np.random.default_rng([seed, int(1000 * second)]).normal(0, noise, (17, 2))
    points = points * (-1 if mirrored else 1, 1) * size + at
    scores = np.array([0.1 if joint in hidden else score for joint in range(17)])
    return Pose(second, points, scores)


def joints_of(posture: str) -> npt.NDArray[np.float64]:
    """The joints of a posture, ``float64[17, 2]``."""
    return np.array([POSTURES[posture][joint] for joint in range(17)], np.float64)


def moments(
    *course: tuple[str, float], rate: float = 4.0, sizes: Sequence[float] = (), **more: object
) -> list[Pose]:
    """A made person through postures, each for so many seconds, one frame on the way between two.

    ``sizes``: those at the beginning and at the end, for one who comes nearer.
    """
    whole: list[npt.NDArray[np.float64]] = []
    for posture, seconds in course:
        joints = joints_of(posture)
        whole += [(last + joints) / 2 for last in whole[-1:]]
        whole += [joints] * round(seconds * rate)
    grown = np.linspace(*sizes, len(whole)) if sizes else np.full(len(whole), more.pop("size", 0.15))
    return [
        pose(joints, i / rate, size=float(size), **more)  # type: ignore[arg-type]
        for i, (joints, size) in enumerate(zip(whole, grown, strict=True))
    ]
