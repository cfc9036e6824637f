"""What characters.py counts: tracks of faces put beside the truth of a film made by cast_film.py."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.core import Box
from shotad.sight import FaceTrack, Verdict

WIDTH, HEIGHT = 640, 360
LEAST_SECONDS = 0.5
"""How long a face must be there for its person to be in a shot."""
DARK = 0.62
"""Light below which a face is in the dark."""


@dataclass(frozen=True)
class FaceAt:
    """Where a face truly is in one frame."""

    box: Box
    pixels: float
    state: str
    light: float


@dataclass(frozen=True)
class TrueShot:
    """One shot of the truth: frames ``[first, end)``; ``people`` by name, with their faces by frame."""

    kind: str
    first: int
    end: int
    people: Mapping[str, Mapping[int, FaceAt]]
    kinds: Mapping[str, str]

    def present(self, kind: str = "member") -> set[str]:
        """Who of a kind has a face on the screen long enough."""
        return {
            n
            for n, faces in self.people.items()
            if self.kinds[n] == kind and len(faces) >= LEAST_SECONDS * 24
        }

    def traits(self, name: str) -> set[str]:
        """What makes somebody hard to know in this shot."""
        faces = list(self.people[name].values())
        height, part = sorted(f.pixels for f in faces)[len(faces) // 2], 1 / len(faces)
        bucket = next(words for most, words in BUCKETS if height < most)
        found = {bucket, self.kind}
        if sum(f.state == "side" for f in faces) * part > 0.3:
            found.add("partly from the side")
        if any(f.state == "covered" for f in faces):
            found.add("covered for a while")
        if sum(f.light < DARK for f in faces) * part > 0.5:
            found.add("dark")
        return found


BUCKETS = ((40, "30-40 px"), (60, "40-60 px"), (90, "60-90 px"), (130, "90-130 px"), (999, "130-200 px"))


@dataclass(frozen=True)
class Truth:
    """The truth of a film."""

    rate: int
    shots: tuple[TrueShot, ...]

    @property
    def seconds(self) -> float:
        """Length of the film."""
        return self.shots[-1].end / self.rate

    @property
    def kinds(self) -> dict[str, str]:
        """member, stranger or grey, by name."""
        return {name: kind for shot in self.shots for name, kind in shot.kinds.items()}

    def shot_at(self, second: float) -> int:
        """Number of the shot at a moment."""
        frame = round(second * self.rate)
        return next(i for i, shot in enumerate(self.shots) if frame < shot.end or i == len(self.shots) - 1)

    def whose(self, second: float, box: Box) -> str | None:
        """Whose face is in a box at a moment; None where there is none."""
        frame = round(second * self.rate)
        shot = self.shots[self.shot_at(second)]
        for name, faces in shot.people.items():
            face = faces.get(frame) or faces.get(frame - 1) or faces.get(frame + 1)
            if face is not None and face.box.iou(box) > 0.25:
                return name
        return None


def read_truth(path: Path) -> Truth:
    """What cast_film.py wrote."""
    record = json.loads(path.read_text(encoding="utf-8"))
    return Truth(record["rate"], tuple(_shot(row) for row in record["shots"]))


def _shot(row: Mapping[str, object]) -> TrueShot:
    people, kinds = {}, {}
    for person in row["people"]:  # type: ignore[attr-defined]
        faces = {}
        for frame, *corners, state, light in person["faces"]:
            box = _inside(*corners)
            if box is not None and light > 0.15:
                faces[frame] = FaceAt(box, corners[3] - corners[1], state, light)
        if faces:
            people[person["name"]], kinds[person["name"]] = faces, person["kind"]
    return TrueShot(str(row["kind"]), int(row["first"]), int(row["end"]), people, kinds)  # type: ignore[call-overload]


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
    verdict: Verdict

    def names(self) -> list[tuple[float, str]]:
        """The moments at which somebody is named, and who."""
        if self.verdict.looks:
            return [(f.seconds, n) for f, n in zip(self.track.faces, self.verdict.looks, strict=True) if n]
        return [(f.seconds, self.verdict.member) for f in self.track.faces] if self.verdict.member else []

    @property
    def named(self) -> str | None:
        """Who the track, or most of its looks, was said to be."""
        counted = Counter(name for _, name in self.names())
        return counted.most_common(1)[0][0] if counted else None


def owner_of(track: FaceTrack, truth: Truth) -> tuple[str | None, float]:
    """Whose face a track follows, and for how much of what it sees of anybody; in fades that is left open."""
    counted = Counter(truth.whose(face.seconds, face.box) for face in track.faces)
    del counted[None]
    if not counted:
        return None, 1.0
    name, count = counted.most_common(1)[0]
    return name, count / counted.total()


@dataclass(frozen=True)
class Share:
    """``hits`` of ``all``, printed with the 95 % interval of Wilson."""

    hits: int
    all: int

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, 0 to 1."""
        if not self.all:
            return 0.0, 1.0
        z, n, p = 1.96, self.all, self.hits / self.all
        middle, wide = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max((middle - wide) / (1 + z * z / n), 0.0), min((middle + wide) / (1 + z * z / n), 1.0)

    def __str__(self) -> str:
        low, high = self.interval
        part = self.hits / self.all if self.all else 0.0
        return f"{self.hits:4} of {self.all:5} = {part:6.1%} ({low:.1%} to {high:.1%})"


def shot_pairs(judged: Iterable[Judged], truth: Truth) -> set[tuple[int, str]]:
    """Which names were given in which shots."""
    return {(truth.shot_at(second), name) for one in judged for second, name in one.names()}


def true_pairs(truth: Truth, members: set[str]) -> dict[tuple[int, str], set[str]]:
    """Who of ``members`` is in which shot, with what makes it hard."""
    return {
        (i, name): shot.traits(name)
        for i, shot in enumerate(truth.shots)
        for name in shot.present() & members
    }


def precision(said: set[tuple[int, str]], truth: Truth) -> Share:
    """Names said that are of somebody with a face in the shot, however shortly."""
    right = sum(name in truth.shots[shot].people for shot, name in said)
    return Share(right, len(said))


def by_trait(
    true: Mapping[tuple[int, str], set[str]], said: set[tuple[int, str]]
) -> Iterator[tuple[str, Share]]:
    """Recall for each trait."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for pair, traits in true.items():
        for trait in traits:
            counts[trait][0] += pair in said
            counts[trait][1] += 1
    order = [words for _, words in BUCKETS]
    for trait in sorted(counts, key=lambda t: (t not in order, order.index(t) if t in order else 0, t)):
        yield trait, Share(*counts[trait])


def over_people(named: Sequence[Judged]) -> int:
    """How many different people these are."""
    return len({one.owner for one in named})
