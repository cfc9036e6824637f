"""What the observer sees in the supplied films against labels made by eye, and what each look costs.

    python benchmarks/observer.py [FOLDER] [--density 8] [--facts]

FOLDER holds the films (default ../shared/data/films); tests/labels/people.json says where people are.
Printed:
precision and recall of each sign in single frames at several thresholds; of whole tracks, with the
observer's borders moved; processor time of each model; and with ``--facts`` every fact of every slot of
5.5 s, to be read against the pictures.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import av
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from scenedetect import AdaptiveDetector, detect

from shotad.core import Clip, Config, ContextShot, Image, Interval, Role, Scene, Shot, weights_file
from shotad.engines import observer as engine
from shotad.engines.observer import describe
from shotad.engines.observer_sightings import Eyes, Passage, passages, shot_frames
from shotad.sight import (
    EfficientDet,
    FaceFinder,
    Glimpse,
    PeopleBorders,
    SsdMobileNet,
    Track,
    active_area,
    cut,
    link,
    people_of,
)

ROOT = Path(__file__).parents[1]
THRESHOLDS = (0.35, 0.45, 0.55, 0.65, 0.72, 0.8, 0.85)
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
    people: tuple[Person, ...]
    unsure: tuple[tuple[float, float], ...]

    def counts(self, second: float) -> bool:
        return not any(first <= second <= last for first, last in self.unsure)

    def here(self, second: float) -> list[tuple[Person, float]]:
        places = ((person, person.at(second)) for person in self.people)
        return [(person, x) for person, x in places if x is not None]


@dataclass
class Tally:
    right: int = 0
    wrong: int = 0
    found: int = 0
    there: int = 0

    def __str__(self) -> str:
        said = self.right + self.wrong
        precision = f"{self.right / said:.3f}" if said else "  -  "
        recall = self.found / max(self.there, 1)
        return f"precision {precision} of {said:4d}, recall {recall:.3f} of {self.there}"


def labels_of(film: str) -> Labels:
    tree = json.loads((ROOT / "tests/labels/people.json").read_text(encoding="utf-8"))["clips"][film]
    people = (Person(tuple(map(tuple, p["x"])), p.get("small", False)) for p in tree["people"])
    return Labels(tuple(people), tuple(map(tuple, tree["unsure"])))


def frames(path: Path, density: float) -> Iterator[tuple[float, Image]]:
    with av.open(str(path)) as container:
        start, due = (container.start_time or 0) / av.time_base, 0.0
        for frame in container.decode(video=0):
            second = float(frame.time) - start
            if second + 1e-6 >= due:
                due += 1 / density
                yield second, frame.to_ndarray(format="rgb24")


def shots_of(path: Path) -> list[Interval]:
    found = detect(str(path), AdaptiveDetector(), start_in_scene=True)
    return [Interval(a.seconds, b.seconds) for a, b in found]


def matches(glimpse: Glimpse, x: float) -> bool:
    return abs(x - glimpse.box.centre[0]) < max(0.07, glimpse.box.width / 2)


def score(tally: Tally, said: Sequence[Glimpse], labels: Labels, second: float) -> None:
    if not labels.counts(second):
        return
    here = labels.here(second)
    for glimpse in said:
        true = any(matches(glimpse, x) for _, x in here)
        tally.right += true
        tally.wrong += not true
    large = [x for person, x in here if not person.small]
    tally.there += len(large)
    tally.found += sum(any(matches(g, x) for g in said) for x in large)


SIGNS: dict[str, Callable[[Glimpse], float]] = {
    "body in the whole picture": lambda g: g.body,
    "body in a tile": lambda g: g.part,
    "second detector": lambda g: g.second,
    "face": lambda g: g.face_score,
    "face with a body": lambda g: g.face_score if max(g.body, g.part, g.second) >= 0.3 else 0.0,
}

Seen = list[tuple[Labels, Passage]]


def signs_table(seen: Seen) -> None:
    print("\nSingle frames: people by one sign alone")
    for name, value in SIGNS.items():
        for threshold in THRESHOLDS:
            tally = Tally()
            for labels, passage in seen:
                for look in passage.looks:
                    said = [g for g in look.people if value(g) >= threshold]
                    score(tally, said, labels, look.seconds)
            print(f"  {name:26} >= {threshold:.2f}  {tally}")


def tracks_table(seen: Seen) -> None:
    print("\nTracks that the observer calls people, frame by frame; borders moved")
    usual = PeopleBorders()
    kinds = {
        "as set": usual,
        **{f"body {v}": replace(usual, body=v) for v in (0.5, 0.6, 0.66, 0.8)},
        **{f"body_mean {v}": replace(usual, body_mean=v) for v in (0.4, 0.5, 0.7)},
        **{f"face {v}": replace(usual, face=v) for v in (0.5, 0.65, 0.85)},
        "a face needs no body": replace(usual, face_body=0.0),
        **{f"second_mean {v}": replace(usual, second_mean=v) for v in (0.4, 0.5, 0.7)},
        **{f"frames {v}": replace(usual, frames=v) for v in (1, 3)},
        "animals do not count against": replace(usual, rival=99.0),
    }
    for name, borders in kinds.items():
        tally = Tally()
        for labels, passage in seen:
            tracks: list[Track[Glimpse]] = [
                p.track for p in people_of(link([k.people for k in passage.looks], passage.shifts), borders)
            ]
            for look in passage.looks:
                said = [g for t in tracks for g in t.seen if g.seconds == look.seconds]
                score(tally, said, labels, look.seconds)
        print(f"  {name:30} {tally}")


def looks(film: str, clips: Sequence[tuple[Clip, Scene]], eyes: Eyes) -> Seen:
    found: Seen = []
    labels = labels_of(film)
    for clip, _ in clips:
        area = active_area(clip.images)
        for number in sorted(set(clip.shot_numbers.tolist())):
            mine = np.flatnonzero(clip.shot_numbers == number)
            images = [np.ascontiguousarray(cut(clip.images[i], area)) for i in mine]
            shot = shot_frames(int(number), clip.seconds[mine].tolist(), images)
            found += [(labels, passage) for passage in passages(shot, eyes)]
    return found


def clips_of(path: Path, density: float) -> list[tuple[Clip, Scene]]:
    seen, shots = list(frames(path, density)), shots_of(path)
    found = []
    for start in np.arange(0, seen[-1][0], SLOT):
        slot = Interval(float(start), min(float(start) + SLOT, seen[-1][0] + 1e-3))
        inside = [(s, image) for s, image in seen if slot.contains(s)]
        if len(inside) < 8:
            continue
        number = [
            max((i for i, shot in enumerate(shots) if shot.start <= s + 1e-3), default=0) for s, _ in inside
        ]
        order = sorted(set(number))
        context = tuple(
            ContextShot(Shot(i, shots[i]), Role.CURRENT, shots[i].clip(slot) or slot) for i in order
        )
        clip = Clip(
            np.stack([image for _, image in inside]),
            np.array([s for s, _ in inside]),
            np.array([order.index(n) for n in number]),
        )
        found.append((clip, Scene(slot, context)))
    return found


def cost(clips: Sequence[tuple[Clip, Scene]]) -> None:
    images = [clip.images[i] for clip, _ in clips for i in range(0, len(clip), 12)][:24]
    first = EfficientDet(weights_file("efficientdet-lite2"))
    second = SsdMobileNet(weights_file("ssd-mobilenet-v2"), weights_file("ssd-mobilenet-v2-graph"))
    faces = FaceFinder(weights_file("yunet"))
    parts: dict[str, Callable[[Image], Any]] = {
        "first detector, whole picture": lambda image: first.find(image, 0.0),
        "first detector, tiles": lambda image: first.find_small(image, 0.0),
        "second detector": lambda image: second.find(image, 0.0),
        "faces, twice": lambda image: faces.find(image, 0.0),
    }
    print("\nProcessor time of one frame")
    for name, look in parts.items():
        look(images[0])
        start = time.process_time()
        for image in images:
            look(image)
        print(f"  {name:30} {1000 * (time.process_time() - start) / len(images):6.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT.parent / "shared/data/films")
    parser.add_argument("--density", type=float, default=engine.FRAMES_PER_SECOND)
    parser.add_argument("--facts", action="store_true")
    options = parser.parse_args()
    films = json.loads((ROOT / "tests/labels/people.json").read_text(encoding="utf-8"))["clips"]
    eyes, watcher, seen = Eyes(), engine.Observer(Config()), []
    for film in films:
        clips = clips_of(options.folder / film, options.density)
        start, wall = time.process_time(), time.perf_counter()
        if options.facts:
            for clip, scene in clips:
                print(f"\n{film} {scene.slot}\n{describe(watcher.observe(clip, scene))}")
        else:
            seen += looks(film, clips, eyes)
        length = sum(scene.slot.duration for _, scene in clips)
        spent = time.process_time() - start
        passed = time.perf_counter() - wall
        print(f"{film}: {spent / length:.2f} processor s and {passed / length:.2f} s for a film second")
        if film == next(iter(films)):
            cost(clips)
    if seen:
        signs_table(seen)
        tracks_table(seen)


if __name__ == "__main__":
    main()
