"""What characters.py counts: tracks of faces put beside the truth of a film made by cast_film.py."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from common import Share

from shotad.core import Box
from shotad.sight import FaceTrack, Identification

WIDTH, HEIGHT = 640, 360
LEAST_SECONDS = 0.5
"""How long a face must be there for its person to be in a shot."""


@dataclass(frozen=True)
class TrueShot:
    """One shot of the truth: frames ``[first, end)``; ``people`` by name, with their faces by frame."""

    first: int
    end: int
    people: Mapping[str, Mapping[int, Box]]


@dataclass(frozen=True)
class Truth:
    rate: int
    shots: tuple[TrueShot, ...]
    kinds: Mapping[str, str]

    def shot_at(self, second: float) -> int:
        """Number of the shot at a moment."""
        frame = round(second * self.rate)
        return next((i for i, shot in enumerate(self.shots) if frame < shot.end), len(self.shots) - 1)

    def whose(self, second: float, box: Box) -> str | None:
        """Whose face is in a box at a moment; None where there is none."""
        frame = round(second * self.rate)
        for name, faces in self.shots[self.shot_at(second)].people.items():
            face = faces.get(frame) or faces.get(frame - 1) or faces.get(frame + 1)
            if face is not None and face.iou(box) > 0.25:
                return name
        return None


def read_truth(path: Path) -> Truth:
    """What cast_film.py wrote."""
    record, shots, kinds = json.loads(path.read_text(encoding="utf-8")), [], {}
    for row in record["shots"]:
        people = {}
        for person in row["people"]:
            boxes = {frame: _inside(*corners) for frame, *corners, light in person["faces"] if light > 0.15}
            if faces := {frame: box for frame, box in boxes.items() if box is not None}:
                people[person["name"]], kinds[person["name"]] = faces, person["kind"]
        shots.append(TrueShot(row["first"], row["end"], people))
    return Truth(record["rate"], tuple(shots), kinds)


def _inside(left: float, top: float, right: float, bottom: float) -> Box | None:
    """The part within the picture, if that is most of the face."""
    x0, x1 = (min(max(x / WIDTH, 0.0), 1.0) for x in (left, right))
    y0, y1 = (min(max(y / HEIGHT, 0.0), 1.0) for y in (top, bottom))
    whole = (right - left) * (bottom - top) / WIDTH / HEIGHT
    return Box(x0, y0, x1, y1) if x1 > x0 and y1 > y0 and (x1 - x0) * (y1 - y0) > 0.6 * whole else None


@dataclass(frozen=True, eq=False)
class Judged:
    """One track with its owner by the truth (None: no face is there) and what was decided.

    ``pure`` is the share of its looks that are the owner's, of those that are somebody's.
    """

    track: FaceTrack
    owner: str | None
    pure: float
    verdict: Identification

    def names(self) -> list[tuple[float, str]]:
        """The moments at which somebody is named, and who."""
        if self.verdict.looks:
            return [(f.seconds, n) for f, n in zip(self.track.faces, self.verdict.looks, strict=True) if n]
        return [(f.seconds, self.verdict.member) for f in self.track.faces] if self.verdict.member else []


def owner_of(track: FaceTrack, truth: Truth) -> tuple[str | None, float]:
    """Whose face a track follows, and for how much of what it sees of anybody; in fades that is left open."""
    counted = Counter(truth.whose(face.seconds, face.box) for face in track.faces)
    del counted[None]
    if not counted:
        return None, 1.0
    name, count = counted.most_common(1)[0]
    return name, count / counted.total()


def shot_pairs(judged: Iterable[Judged], truth: Truth) -> set[tuple[int, str]]:
    """Which names were given in which shots."""
    return {(truth.shot_at(second), name) for one in judged for second, name in one.names()}


def true_pairs(truth: Truth, members: set[str]) -> set[tuple[int, str]]:
    """Who of ``members`` has a face in which shot for long enough."""
    return {
        (number, name)
        for number, shot in enumerate(truth.shots)
        for name in shot.people.keys() & members
        if len(shot.people[name]) >= LEAST_SECONDS * truth.rate
    }


def precision(said: set[tuple[int, str]], truth: Truth) -> Share:
    """Names said that are of somebody with a face in the shot, however shortly."""
    return Share(sum(name in truth.shots[shot].people for shot, name in said), len(said))


def shares(said: set[tuple[int, str]], truth: Truth, members: set[str]) -> str:
    """Precision and recall of names per shot, in words."""
    true = true_pairs(truth, members)
    return f"precision {precision(said, truth)}  recall {Share(len(said & true), len(true))}"
