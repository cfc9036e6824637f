"""What is in the film of cast_film.py: takes, each one shot, with who is in it and what they do.

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

    def _drawn(self, low: float, high: float) -> float:
        return float(self._rng.uniform(low, high))

    def _happens(self, chance: float) -> bool:
        return self._rng.random() < chance

    def single(self, actor: Actor) -> Take:
        """One person, near or far, often walking; mostly they look to the camera, now and then they turn away
        or are covered."""
        low, high = SIZES[int(self._rng.integers(len(SIZES)))]
        size = self._drawn(low, high)
        end = size * self._drawn(0.6, 1.7) if self._happens(0.4) else size * 1.05
        x = self._drawn(0.2, 0.8)
        ways = (x, x if self._happens(0.5) else self._drawn(0.15, 0.85))
        part = self._part(actor, (size, float(np.clip(end, 30, 200))), ways)
        chance = self._rng.random()
        if actor.sides and chance < 0.3:
            side = (f"side:{actor.sides[int(self._rng.integers(len(actor.sides)))].name}",)
            views = self._views(actor, 2)
            part = replace(part, views=views + side if chance < 0.15 else side + views)
        return self._take(replace(part, covered=chance > 0.8))

    def place(self, actor: Actor) -> Take:
        """Somebody in their own surroundings, the camera going closer or away."""
        near = self._drawn(70, 130)
        sizes = (near * self._drawn(0.4, 0.7), near)
        part = Part(actor.name, sizes if self._happens(0.5) else sizes[::-1], (0.5, 0.5), (0.4, 0.4))
        return replace(self._take(part), place=True, soft=0.0)

    def dialogue(self, one: Actor, other: Actor, shots: int) -> Iterator[Take]:
        """A-B-A-B: two set-ups in turn, each with its framing, and at the end both in one shot."""
        set_ups = [(a, self._drawn(75, 140), x, self._take()) for a, x in ((one, 0.38), (other, 0.62))]
        for shot in range(shots):
            actor, size, x, look = set_ups[shot % 2]
            part = self._part(actor, (size, size * self._drawn(0.95, 1.08)), (x, x))
            yield replace(look, seconds=self._seconds(), parts=(replace(part, views=self._views(actor, 3)),))
        yield self.together([one, other])

    def together(self, actors: Sequence[Actor], height: Range = (45.0, 95.0)) -> Take:
        """Several people side by side in one shot."""
        size = min(self._drawn(*height), 640 / len(actors) * 0.42)
        parts = []
        for number, actor in enumerate(actors):
            x = (number + 0.5 + self._drawn(-0.12, 0.12)) / len(actors)
            own = size * self._drawn(0.85, 1.15)
            part = self._part(actor, (own, own * self._drawn(0.95, 1.1)), (x, x), sway=0.05)
            parts.append(replace(part, views=self._views(actor, 2)))
        return self._take(*parts)

    def strangers(self, count: int) -> list[Actor]:
        return [next(self._strangers) for _ in range(count)]

    def grey(self, count: int) -> Take:
        """Strangers of another set in a grey shot, and its few pixels kept in mind."""
        actors = [next(self._grey) for _ in range(count)]
        return replace(self.together(actors, (45.0, 90.0)), grey=True)

    def empty(self) -> Take:
        return self._take()

    def shuffled(self, scenes: Sequence[Sequence[Take]]) -> list[Take]:
        """The scenes in another order; some begin or end in black."""
        takes: list[Take] = []
        for number in self._rng.permutation(len(scenes)):
            scene = list(scenes[number])
            if self._happens(0.15):
                scene[0] = replace(scene[0], fade="in")
            elif self._happens(0.15):
                scene[-1] = replace(scene[-1], fade="out")
            takes += scene
        return takes

    def _part(self, actor: Actor, size: Range, x: Range, sway: float = 0.15) -> Part:
        # The larger the face, the lower its centre may be: hair and chin stay in the picture.
        room, y = max(size) / 360, 0.52
        if room < 0.6:
            y = float(np.clip(self._drawn(0.3, 0.5), 0.1 + room * 0.75, 0.95 - room * 0.6))
        tilt = (self._drawn(-10, 10), self._drawn(-10, 10))
        turn = (self._drawn(-0.2, 0.2), self._drawn(-0.2, 0.2))
        ys = (y, float(np.clip(y + self._drawn(-0.05, 0.05), 0.1, 0.9)))
        views = self._views(actor, 3)
        return Part(actor.name, size, x, ys, tilt, turn, sway, views, phase=self._drawn(0, 6.28))

    def _views(self, actor: Actor, count: int) -> tuple[str, ...]:
        chosen = self._rng.permutation(len(actor.views))[:count]
        return tuple(actor.views[int(number)].name for number in chosen)

    def _take(self, *parts: Part) -> Take:
        gain = (1.0, 1.0)
        if self._happens(0.25):
            gain = (self._drawn(0.3, 0.5),) * 2 if self._happens(0.5) else (1.05, self._drawn(0.35, 0.6))
        seconds, ground = self._seconds(), int(self._rng.integers(self._grounds))
        warmth, soft = self._drawn(-0.12, 0.12), self._drawn(0, 5)
        move = (self._drawn(0, 0.5), self._drawn(0, 0.5))
        return Take(seconds, ground, parts, gain, warmth, soft, move=move)

    def _seconds(self) -> float:
        return round(self._drawn(1.2, 2.8), 2)


def long_film(company: Company, quick: bool = False) -> list[Take]:
    """All that is measured: some 300 takes, with ``quick`` a fifth of them."""
    author, members = Author(company, 1), company.of("member")
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
