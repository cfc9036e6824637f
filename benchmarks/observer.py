"""How many of the people that the observer sees in the supplied films are there, and how many it finds.

    python benchmarks/observer.py [FOLDER]

FOLDER holds the films (default ../shared/data/films); tests/labels/people.json says where people are, by eye.
Slots of 5.5 s are looked at as the embedded engine does; what is told are precision and recall of the tracks
that it calls people, frame by frame, for each film and together, and the processor time of looking.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from common import FILMS, LABELS, command_line, cpu, frames_at

from shotad.core import Clip, Interval, ShotSettings
from shotad.engines.observer import FRAMES_PER_SECOND
from shotad.engines.observer_sightings import Eyes, Passage, passages, shot_frames
from shotad.film import open_film, survey
from shotad.sight import active_area, cut, link, people_of

SLOT = 5.5


@dataclass(frozen=True)
class Labels:
    """The people of a film: where each head is at which seconds, and whether it is one of a small group; and
    seconds of which nobody can tell."""

    people: Sequence[tuple[Sequence[tuple[float, float]], bool]]
    unsure: Sequence[tuple[float, float]]

    def here(self, second: float) -> Iterator[tuple[float, bool]]:
        """Where somebody is then, and whether in a small group."""
        for path, small in self.people:
            seconds, xs = zip(*path, strict=True)
            if seconds[0] <= second <= seconds[-1]:
                yield float(np.interp(second, seconds, xs)), small


Tally = npt.NDArray[np.int64]
"""Sightings that are right, all of them; people found, all there who are no small group."""


def told(tally: Tally) -> str:
    right, said, found, there = tally.tolist()
    precision = f"{right / said:.3f}" if said else "  -  "
    return f"precision {precision} of {said:4d}, recall {found / max(there, 1):.3f} of {there}"


def clips_of(path: Path) -> Iterator[Clip]:
    """The film in slots, as dense as the observer looks."""
    with open_film(path) as film:
        seen = list(frames_at(film, 1 / FRAMES_PER_SECOND))
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
    for number in np.unique(clip.shot_numbers).tolist():
        mine = np.flatnonzero(clip.shot_numbers == number)
        images = [np.ascontiguousarray(cut(clip.images[i], area)) for i in mine]
        yield from passages(shot_frames(number, clip.seconds[mine].tolist(), images), eyes)


def tally_of(passage: Passage, labels: Labels) -> Tally:
    """The tracks that are called people, frame by frame."""
    people = people_of(link([look.people for look in passage.looks], passage.stretch.shifts))
    tally = np.zeros(4, np.int64)
    for look in passage.looks:
        if any(first <= look.seconds <= last for first, last in labels.unsure):
            continue
        said = [g.box for person in people for g in person.track.seen if g.seconds == look.seconds]
        here = list(labels.here(look.seconds))
        met = np.array(
            [[abs(x - box.centre[0]) < max(0.07, box.width / 2) for x, _ in here] for box in said], bool
        )
        met = met.reshape(len(said), len(here))
        large = np.array([not small for _, small in here], bool)
        tally += (met.any(axis=1).sum(), len(said), (met.any(axis=0) & large).sum(), large.sum())
    return tally


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FILMS)
    folder = parser.parse_args().folder
    films = json.loads((LABELS / "people.json").read_text(encoding="utf-8"))["clips"]
    eyes, whole = Eyes(), np.zeros(4, np.int64)
    for film, tree in films.items():
        people = [(person["x"], person.get("small", False)) for person in tree["people"]]
        labels, clips = Labels(people, tree["unsure"]), list(clips_of(folder / film))
        seen: list[Passage] = []
        spent = cpu(lambda clips=clips, seen=seen: seen.extend(p for c in clips for p in looked_at(c, eyes)))
        tally = sum(tally_of(passage, labels) for passage in seen)
        whole += tally
        each = spent / (len(clips) * SLOT)
        print(f"{film}: {told(tally)}; {each:.2f} processor s for a film second", flush=True)
    print(f"together: {told(whole)}")


if __name__ == "__main__":
    main()
