"""What is in the films of cast_film.py: takes, each one shot, with who is in it and what they do.

Everything is drawn by a seeded generator, so that the same film is made again. In two of the grounds people
sit or walk far off, with no face to be seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np
from cast_actors import Actor, Company

Range = tuple[float, float]
SIZES = ((30.0, 45.0), (45.0, 70.0), (70.0, 110.0), (110.0, 200.0))
"""Heights of faces in pixels of 360: small in a group, near in a close-up."""


@dataclass(frozen=True)
class Part:
    """One person in one take. What changes goes evenly from the first value to the second.

    ``size`` is the height of the face in pixels, ``x`` and ``y`` its centre as fractions of the picture,
    ``tilt`` in degrees, ``turn`` a change of perspective; ``sway`` is how far in heights of the face it moves
    about. ``views`` are shown one after the other for equal times; those from the side start with ``side:``.
    ``covered``: something passes before the face.
    """

    actor: str
    size: Range
    x: Range
    y: Range
    tilt: Range = (0.0, 0.0)
    turn: Range = (0.0, 0.0)
    sway: float = 0.1
    views: tuple[str, ...] = ()
    covered: bool = False
    phase: float = 0.0


@dataclass(frozen=True)
class Take:
    """One shot. ``ground`` is a number; ``gain`` the light; ``fade``: from black, to black or neither.

    ``place``: the ground is the whole picture of the one person in it, over which the camera moves.
    """

    seconds: float
    ground: int
    parts: tuple[Part, ...] = ()
    gain: Range = (1.0, 1.0)
    warmth: float = 0.0
    soft: float = 3.0
    grey: bool = False
    place: bool = False
    fade: str = ""
    move: Range = (0.2, 0.4)


class Author:
    """Draws takes."""

    def __init__(self, company: Company, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._grounds = len(company.grounds)
        self._strangers = cycle(self._rng.permutation(np.array(company.of("stranger"), object)).tolist())
        self._grey = cycle(company.of("grey"))

    def single(self, actor: Actor) -> Take:
        """One person, near or far, often walking or turning."""
        size = self._size()
        start = self._rng.uniform(0.2, 0.8)
        end = start if self._rng.random() < 0.5 else self._rng.uniform(0.15, 0.85)
        part = self._part(actor, size, (start, end))
        return self._take((self._acted(part, actor),))

    def place(self, actor: Actor) -> Take:
        """Somebody in their own surroundings, the camera going closer or away."""
        near = self._rng.uniform(70, 130)
        sizes = (near * self._rng.uniform(0.4, 0.7), near)
        part = Part(actor.name, sizes if self._rng.random() < 0.5 else sizes[::-1], (0.5, 0.5), (0.4, 0.4))
        return replace(self._take((part,)), place=True, soft=0.0)

    def dialogue(self, one: Actor, other: Actor, shots: int) -> Iterator[Take]:
        """A-B-A-B: two set-ups in turn, each with its framing, and at the end both in one shot."""
        set_ups = []
        for actor, x in ((one, 0.38), (other, 0.62)):
            size = self._rng.uniform(75, 140)
            set_ups.append((actor, size, x, self._take(())))
        for shot in range(shots):
            actor, size, x, look = set_ups[shot % 2]
            part = self._part(actor, (size, size * self._rng.uniform(0.95, 1.08)), (x, x))
            yield replace(look, seconds=self._seconds(), parts=(replace(part, views=self._views(actor, 3)),))
        yield self.together([one, other])

    def together(self, actors: Sequence[Actor], height: Range = (45.0, 95.0)) -> Take:
        """Several people side by side in one shot."""
        size = float(self._rng.uniform(*height))
        size = min(size, 640 / len(actors) * 0.42)
        parts = []
        for number, actor in enumerate(actors):
            x = (number + 0.5 + self._rng.uniform(-0.12, 0.12)) / len(actors)
            own = size * self._rng.uniform(0.85, 1.15)
            part = self._part(actor, (own, own * self._rng.uniform(0.95, 1.1)), (x, x), sway=0.05)
            parts.append(replace(part, views=self._views(actor, 2)))
        return self._take(tuple(parts))

    def strangers(self, count: int) -> list[Actor]:
        """The next few of the strangers; each comes once before any comes twice."""
        return [next(self._strangers) for _ in range(count)]

    def grey(self, count: int) -> Take:
        """Strangers of another set in a grey shot, and its few pixels kept in mind."""
        actors = [next(self._grey) for _ in range(count)]
        return replace(self.together(actors, (45.0, 90.0)), grey=True)

    def empty(self) -> Take:
        """Nobody."""
        return self._take(())

    def shuffled(self, scenes: Sequence[Sequence[Take]]) -> list[Take]:
        """The scenes in another order; some begin or end in black."""
        takes: list[Take] = []
        for number in self._rng.permutation(len(scenes)):
            scene = list(scenes[number])
            if self._rng.random() < 0.15:
                scene[0] = replace(scene[0], fade="in")
            elif self._rng.random() < 0.15:
                scene[-1] = replace(scene[-1], fade="out")
            takes += scene
        return takes

    def _acted(self, part: Part, actor: Actor) -> Part:
        """What somebody alone does: mostly looks to the camera, now and then turns away or is covered."""
        chance = self._rng.random()
        if actor.sides and chance < 0.3:
            side = f"side:{actor.sides[int(self._rng.integers(len(actor.sides)))].name}"
            return replace(
                part,
                views=(*self._views(actor, 2), side) if chance < 0.15 else (side, *self._views(actor, 2)),
            )
        if chance > 0.8:
            return replace(part, covered=True)
        return part

    def _part(self, actor: Actor, size: Range, x: Range, sway: float = 0.15) -> Part:
        rng = self._rng
        # The larger the face, the lower its centre may be: hair and chin stay in the picture.
        room = max(size) / 360
        y = (
            float(np.clip(rng.uniform(0.3, 0.5), 0.1 + room * 0.75, 0.95 - room * 0.6))
            if room < 0.6
            else 0.52
        )
        tilts, turns = rng.uniform(-10, 10, 2), rng.uniform(-0.2, 0.2, 2)
        return Part(
            actor.name,
            size,
            x,
            (y, float(np.clip(y + rng.uniform(-0.05, 0.05), 0.1, 0.9))),
            (float(tilts[0]), float(tilts[1])),
            (float(turns[0]), float(turns[1])),
            sway,
            self._views(actor, 3),
            phase=float(rng.uniform(0, 6.28)),
        )

    def _views(self, actor: Actor, count: int) -> tuple[str, ...]:
        chosen = self._rng.permutation(len(actor.views))[:count]
        return tuple(actor.views[int(number)].name for number in chosen)

    def _take(self, parts: tuple[Part, ...]) -> Take:
        rng = self._rng
        gain = (1.0, 1.0)
        if rng.random() < 0.25:
            gain = (
                (float(rng.uniform(0.3, 0.5)),) * 2
                if rng.random() < 0.5
                else (1.05, float(rng.uniform(0.35, 0.6)))
            )
        return Take(
            self._seconds(),
            int(rng.integers(self._grounds)),
            parts,
            gain,
            float(rng.uniform(-0.12, 0.12)),
            float(rng.uniform(0, 5)),
            move=(float(rng.uniform(0, 0.5)), float(rng.uniform(0, 0.5))),
        )

    def _size(self) -> Range:
        low, high = SIZES[int(self._rng.integers(len(SIZES)))]
        start = float(self._rng.uniform(low, high))
        end = start * float(self._rng.uniform(0.6, 1.7)) if self._rng.random() < 0.4 else start * 1.05
        return start, float(np.clip(end, 30, 200))

    def _seconds(self) -> float:
        return round(float(self._rng.uniform(1.2, 2.8)), 2)


def long_film(company: Company, seed: int = 1, quick: bool = False) -> list[Take]:
    """All that is measured: some 300 takes, with ``quick`` a fifth of them."""
    author, members = Author(company, seed), company.of("member")
    some = 1 if quick else 5
    scenes: list[list[Take]] = []
    for number, member in enumerate(members):
        scenes += [[author.single(member)] for _ in range(max(2 * some // 3, 1))]
        if not quick or number % 3 == 0:
            scenes += [[author.place(member)]]
    for number in range(2 * some):
        one, other = members[2 * number % 10], members[(2 * number + 1 + number // 5 * 2) % 10]
        scenes += [list(author.dialogue(one, other, 6))]
    for number in range(2 * some):
        scenes += [[author.together([members[(number + k * 3) % 10] for k in range(3)])]]
    for number in range(6 * some):
        beside = [members[number % 10], *author.strangers(1 + number % 3)]
        scenes += [[author.together(beside[:: 1 if number % 2 else -1])]]
    scenes += [[author.single(author.strangers(1)[0])] for _ in range(16 * some)]
    scenes += [[author.together(author.strangers(2 + n % 3))] for n in range(16 * some)]
    scenes += [[author.together(author.strangers(6), (30.0, 48.0))] for _ in range(2 * some)]
    scenes += [[author.grey(2)] for _ in range(4 * some)]
    scenes += [[author.empty()] for _ in range(2 * some)]
    return author.shuffled(scenes)


def short_film(company: Company, seed: int = 2) -> list[Take]:
    """Two people, as a story: she alone, he alone, a talk, both, strangers, nobody."""
    author, members = Author(company, seed), {actor.name: actor for actor in company.of("member")}
    her, him = members["P003"], members["P005"]
    walk = Part(her.name, (60, 75), (0.15, 0.8), (0.4, 0.42), views=author._views(her, 3), sway=0.08)
    near = Part(him.name, (80, 150), (0.5, 0.5), (0.42, 0.46), views=author._views(him, 3))

    def calm(take: Take) -> Take:
        return replace(take, gain=(1.0, 1.0), seconds=4.0)

    talk = [calm(take) for take in author.dialogue(her, him, 6)]
    stranger = [author.together(author.strangers(count)) for count in (1, 2, 3)]
    beside = author.together([him, *author.strangers(2)])
    story = [
        author.empty(),
        replace(author.empty(), parts=(walk,)),
        author.empty(),
        replace(author.empty(), parts=(near,)),
        stranger[0],
        *talk,
        author.empty(),
        stranger[1],
        beside,
        author.place(her),
        stranger[2],
        author.single(him),
        author.together([her, him]),
        author.empty(),
    ]
    return [calm(take) for take in story]
