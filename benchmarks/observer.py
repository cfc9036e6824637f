"""How many of the people that the observer sees in the supplied films are there, and how many it finds.

    python benchmarks/observer.py [FOLDER] [--density 8]

FOLDER holds the films (default ../shared/data/films); tests/labels/people.json says where people are, by eye.
Slots of 5.5 s are looked at as the embedded engine does; what is told are precision and recall of the tracks
that it calls people, frame by frame, for each film and together, and the processor time of looking.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from common import FILMS, ROOT, command_line, cpu, frames_at

from shotad.core import Clip, Interval, ShotSettings
from shotad.engines.observer import FRAMES_PER_SECOND
from shotad.engines.observer_sightings import Eyes, Passage, passages, shot_frames
from shotad.film import open_film, survey
from shotad.sight import Glimpse, active_area, cut, link, people_of

SLOT = 5.5


@dataclass(frozen=True)
class Person:
    """One labelled person: where the head is, when, and whether it is one of a small group."""

    path: tuple[tuple[float, float], ...]
    small: bool

    def at(self, second: float) -> float | None:
        seconds, xs = zip(*self.path, strict=True)
        return float(np.interp(second, seconds, xs)) if seconds[0] <= second <= seconds[-1] else None


@dataclass(frozen=True)
class Labels:
    """The people of a film, and seconds of which nobody can tell."""

    people: tuple[Person, ...]
    unsure: tuple[tuple[float, float], ...]

    def here(self, second: float) -> list[tuple[Person, float]] | None:
        if any(first <= second <= last for first, last in self.unsure):
            return None
        places = ((person, person.at(second)) for person in self.people)
        return [(person, x) for person, x in places if x is not None]


@dataclass
class Tally:
    """Sightings that are right and wrong; people found, of those there who are no small group."""

    right: int = 0
    wrong: int = 0
    found: int = 0
    there: int = 0

    def __add__(self, more: Tally) -> Tally:
        return Tally(*(getattr(self, f.name) + getattr(more, f.name) for f in fields(Tally)))

    def __str__(self) -> str:
        said = self.right + self.wrong
        precision = f"{self.right / said:.3f}" if said else "  -  "
        recall = self.found / max(self.there, 1)
        return f"precision {precision} of {said:4d}, recall {recall:.3f} of {self.there}"


def labels_of(film: str) -> Labels:
    tree = json.loads((ROOT / "tests/labels/people.json").read_text(encoding="utf-8"))["clips"][film]
    people = (Person(tuple(map(tuple, p["x"])), p.get("small", False)) for p in tree["people"])
    return Labels(tuple(people), tuple(map(tuple, tree["unsure"])))


def clips_of(path: Path, density: float) -> Iterator[Clip]:
    """The film in slots, with so many frames a second."""
    with open_film(path) as film:
        seen = list(frames_at(film, 1 / density))
    with open_film(path) as film:
        shots = survey(film, ShotSettings()).shots
    starts = np.array([shot.interval.start for shot in shots])
    for start in np.arange(0, seen[-1][0], SLOT):
        slot = Interval(float(start), min(float(start) + SLOT, seen[-1][0] + 1e-3))
        inside = [(second, image) for second, image in seen if slot.contains(second)]
        if len(inside) >= 8:
            seconds = np.array([second for second, _ in inside])
            numbers = np.maximum(np.searchsorted(starts, seconds + 1e-3, "right") - 1, 0)
            _, numbers = np.unique(numbers, return_inverse=True)
            yield Clip(np.stack([image for _, image in inside]), seconds, numbers)


def looked_at(clip: Clip, eyes: Eyes) -> Iterator[Passage]:
    """The shots of a clip as the observer sees them."""
    area = active_area(clip.images)
    for number in sorted(set(clip.shot_numbers.tolist())):
        mine = np.flatnonzero(clip.shot_numbers == number)
        images = [np.ascontiguousarray(cut(clip.images[i], area)) for i in mine]
        yield from passages(shot_frames(int(number), clip.seconds[mine].tolist(), images), eyes)


def tally_of(passage: Passage, labels: Labels) -> Tally:
    """The tracks that are called people, frame by frame."""
    people = people_of(link([look.people for look in passage.looks], passage.shifts))
    tally = Tally()
    for look in passage.looks:
        said = [g for person in people for g in person.track.seen if g.seconds == look.seconds]
        here = labels.here(look.seconds)
        if here is not None:
            right = sum(any(_matches(g, x) for _, x in here) for g in said)
            large = [x for person, x in here if not person.small]
            found = sum(any(_matches(g, x) for g in said) for x in large)
            tally += Tally(right, len(said) - right, found, len(large))
    return tally


def _matches(glimpse: Glimpse, x: float) -> bool:
    return abs(x - glimpse.box.centre[0]) < max(0.07, glimpse.box.width / 2)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FILMS)
    parser.add_argument("--density", type=float, default=FRAMES_PER_SECOND)
    options = parser.parse_args()
    films = json.loads((ROOT / "tests/labels/people.json").read_text(encoding="utf-8"))["clips"]
    eyes, whole = Eyes(), Tally()
    for film in films:
        labels, clips = labels_of(film), list(clips_of(options.folder / film, options.density))
        seen: list[Passage] = []
        spent = cpu(lambda clips=clips, seen=seen: seen.extend(p for c in clips for p in looked_at(c, eyes)))
        tally = sum((tally_of(passage, labels) for passage in seen), Tally())
        whole += tally
        print(f"{film}: {tally}; {spent / (len(clips) * SLOT):.2f} processor s for a film second", flush=True)
    print(f"together: {whole}")


if __name__ == "__main__":
    main()
