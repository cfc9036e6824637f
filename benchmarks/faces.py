"""Whose a face is: how often a stranger is given a name, and how often somebody of the cast theirs.

    python benchmarks/faces.py [--keep FILE] [--strangers FOLDER] [--films FILM ...]
                               [--threshold T] [--margin M]

The people of portraits.py are shown as a film would show them (facelooks.py): faces of 20 to 120 pixels,
turned a little, soft, dark and compressed, four looks to a track. Casts of ten are made of them: the ten of
OpenPeople with one to four photos each, the forty of ORL ten at a time, and fake-avatars ten at a time,
whose only picture is their photo; everybody else is a stranger to a cast. Printed are likenesses of the
same and of different people; for thresholds and margins the share of strangers' tracks that are given a
name, with the 95 % interval over strangers, and the shares of the cast's tracks named rightly and wrongly;
the same by the height of the face, the number and pooling of photos and looks, with and without the film's
own bank; faces found and read per second; and with ``--films`` how the faces of films, strangers all, fare
against the casts. ``--keep`` keeps what was read for the next time; ``--strangers`` adds portraits of yours,
one file and person each.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import facelooks
from facelooks import Looks
from facetrials import LOOK_POOLS, Photos, Scores, Trial, scored, trials
from portraits import Portrait, portraits

from shotad.core import Box, CastSettings, ShotSettings
from shotad.film import open_film
from shotad.film.shots import detect_shots
from shotad.sight import Face, FaceModels, FaceTrack, Gallery, identify, make_face_models, tracks_of_shot
from shotad.sight.gallery import mean_of
from tests.rules import ruled

LEAST = 30
"""Height of the smallest faces that count in the tables, unless they are by height."""
THRESHOLDS, MARGINS = (0.3, 0.34, 0.36, 0.38, 0.4, 0.42, 0.45, 0.5), (0.0, 0.03, 0.05, 0.1)
RATE = 0.25
"""Seconds between the pictures of a film that are looked at."""


def interval(named: npt.NDArray[np.bool_], persons: Sequence[str], draws: int = 2000) -> tuple[float, float]:
    """95 % interval of the share that is named, drawn over persons; 3 / n above where nobody is."""
    names = sorted(set(persons))
    at = np.array([names.index(p) for p in persons])
    hits = np.bincount(at, named, len(names))
    sizes = np.bincount(at, minlength=len(names))
    if hits.sum() == 0:
        return 0.0, 3 / len(names)
    drawn = np.random.default_rng(1).integers(0, len(names), (draws, len(names)))
    shares = hits[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(low), float(high)


def table(own: Scores, strangers: Scores, thresholds: Iterable[float], margins: Iterable[float]) -> None:
    """Shares for each threshold and margin."""
    print("threshold margin   strangers named (95 % interval)        cast: named   rightly   wrongly")
    for threshold in thresholds:
        for margin in margins:
            called = strangers.named(threshold, margin)
            low, high = interval(called, strangers.persons)
            mine = own.named(threshold, margin)
            print(
                f"   {threshold:.2f}   {margin:.2f}   {called.mean():8.3%} ({low:.3%} to {high:.3%})"
                f"  {mine.mean():14.1%} {(mine & own.right).mean():9.1%} {(mine & ~own.right).mean():9.3%}"
            )


def at_rate(own: Scores, strangers: Scores, rate: float, margin: float) -> tuple[float, float]:
    """The threshold at which ``rate`` of the strangers are named, and the share of the cast named rightly."""
    apart = strangers.best - strangers.second >= margin
    likeness = np.sort(np.where(apart, strangers.best, -1.0))[::-1]
    threshold = float(likeness[int(rate * len(likeness))]) + 1e-6
    return threshold, float((own.named(threshold, margin) & own.right).mean())


def compare(tracks: Sequence[Looks], photos: Photos, margin: float) -> None:
    """Number of photos, pooling of photos and of looks, each at the threshold that names few strangers."""
    print("\nat 0.5 % of strangers named: threshold, share of the cast named rightly (all, OpenPeople, ORL)")
    cases = [(n, pool, "joined", 4) for n in (1, 2, 3, 4) for pool in ("mean", "set")]
    cases += [(2, "mean", pool, 4) for pool in LOOK_POOLS] + [(2, "mean", "joined", k) for k in (1, 2, 3)]
    for count, photo_pool, look_pool, looks in cases:
        made = trials(tracks, photos, count)
        ways = (photo_pool, look_pool, looks)
        own, strangers = scored(made, "own", *ways), scored(made, "strangers", *ways)
        own, strangers = own.only(own.heights >= LEAST), strangers.only(strangers.heights >= LEAST)
        threshold, right = at_rate(own, strangers, 0.005, margin)
        sets = [own.only(np.array([p.startswith(s) for p in own.persons])) for s in ("P", "orl")]
        by_set = [float((s.named(threshold, margin) & s.right).mean()) for s in sets]
        print(
            f"{count} photos as {photo_pool:5} {looks} looks as {look_pool:7} {threshold:6.3f}  {right:6.1%}"
            f"  {by_set[0]:6.1%}  {by_set[1]:6.1%}"
        )


def by_height(own: Scores, strangers: Scores, threshold: float, margin: float) -> None:
    """What small faces cost."""
    print(f"\nby height, at {threshold:.2f} and {margin:.2f}:  strangers named, cast rightly, wrongly")
    for height in sorted(set(strangers.heights.tolist()) | set(own.heights.tolist())):
        them, mine = strangers.only(strangers.heights == height), own.only(own.heights == height)
        called, named = them.named(threshold, margin), mine.named(threshold, margin)
        low, high = interval(called, them.persons)
        right, wrong = (named & mine.right).mean(), (named & ~mine.right).mean()
        print(
            f"{height:4} px  {called.mean():8.3%} ({low:.3%} to {high:.3%})  {right:7.1%}  {wrong:7.2%}"
            f"   ({len(them.persons)} and {len(mine.persons)} tracks)"
        )


def spread(made: Sequence[Trial]) -> None:
    """Likeness of tracks to their own person and to others of the cast; and of strangers."""
    print("\nlikeness of means: 1 %, 5 %, 25 %, half, 75 %, 95 %, 99 %, 99.9 %")
    own, other, stranger = [], [], []
    for trial in made:
        means = {member: mean_of(rows) for member, rows in trial.photos.items()}
        for track in trial.own + trial.strangers:
            if track.height < LEAST or not len(track.embeddings):
                continue
            face = mean_of(track.embeddings)
            for member, mean in means.items():
                kind = own if member == track.person else other if track.person in means else stranger
                kind.append(float(mean @ face))
    for name, values in (("the same person", own), ("others of the cast", other), ("strangers", stranger)):
        marks = np.quantile(values, [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999])
        print(f"{name:20}{len(values):8} pairs  " + " ".join(f"{v:6.3f}" for v in marks))


@dataclass(frozen=True)
class Decision:
    """Whose a track is, who that was taken for, and whether they are of the cast."""

    person: str
    member: str | None
    of_cast: bool


def with_bank(made: Sequence[Trial], models: FaceModels) -> None:
    """The whole decision of shotad, each cast in a film in which all tracks are shots of their own."""
    print("\nas decided, with and without the film's own bank:  strangers named, cast rightly, wrongly")
    for from_film in (False, True):
        settings = ruled(CastSettings(), from_film=from_film, smallest=LEAST / facelooks.FRAME[1] * 0.8)
        decided = {trial: _decided(trial, settings, models) for trial in made}
        for name in (*dict.fromkeys(trial.name for trial in made), "all"):
            of_name = [d for trial, ds in decided.items() if name in (trial.name, "all") for d in ds]
            print(f"{name:13} bank {'on ' if from_film else 'off'} {_shares(of_name)}")


def _shares(decisions: Sequence[Decision]) -> str:
    strangers = [d for d in decisions if not d.of_cast]
    cast = [d for d in decisions if d.of_cast]
    named = np.array([d.member is not None for d in strangers])
    low, high = interval(named, [d.person for d in strangers])
    right = sum(d.member == d.person for d in cast)
    wrong = sum(d.member not in (None, d.person) for d in cast)
    mine = f"  {right:4} and {wrong} of {len(cast):4} ({right / len(cast):.1%})" if cast else ""
    return f"{named.sum():5} of {len(named):6} {named.mean():.3%} ({low:.3%} to {high:.3%}){mine}"


def _decided(trial: Trial, settings: CastSettings, models: FaceModels) -> list[Decision]:
    asked = trial.own + trial.strangers
    shown = [t for t in asked + trial.photographed if t.height >= LEAST and len(t.embeddings)]
    tracks = [_track(looks, shot) for shot, looks in enumerate(shown)]
    verdicts = identify(tracks, Gallery(trial.photos), settings, models)
    return [
        Decision(track.person, verdict.member, track.person in trial.photos)
        for track, verdict in zip(shown, verdicts, strict=True)
        if track not in trial.photographed
    ]


def _track(looks: Looks, shot: int) -> FaceTrack:
    box = Box(0.2, 0.1, 0.3, 0.1 + looks.height / facelooks.FRAME[1])
    points = ((0.22, 0.15), (0.28, 0.15), (0.25, 0.2), (0.23, 0.25), (0.27, 0.25))
    count = len(looks.embeddings)
    faces = tuple(Face(box, n / 4, 0.9, points, 0.0) for n in range(count))
    return FaceTrack(shot, faces, looks.embeddings, tuple(range(count)))


def read_all(models: FaceModels, folder: Path | None) -> tuple[list[Looks], Photos]:
    """Every picture, clean and in tracks. Takes minutes."""
    pictures = [p for name in ("openpeople", "orl-faces", "fake-avatars") for p in portraits(name, models)]
    for number, path in enumerate(sorted(folder.iterdir()) if folder else ()):
        with Pictures.open(path) as opened:
            pictures.append(
                Portrait(f"other-{number}", "portrait", np.asarray(opened.convert("RGB"), np.uint8))
            )
    tracks: list[Looks] = []
    photos: Photos = {}
    for person, group in groupby(pictures, key=lambda p: p.person):
        own = list(group)
        photos |= {(person, kind): row for kind, row in facelooks.clean(own, models).items()}
        heights = facelooks.HEIGHTS if person.startswith("P") else (30, 70)
        tracks += facelooks.read_tracks(own, models, heights)
    return tracks, photos


def films(paths: Iterable[Path], made: Sequence[Trial], models: FaceModels) -> None:
    """The faces of films against all casts; nobody in them is in a cast."""
    for path in paths:
        start = time.perf_counter()
        tracks = list(_film_tracks(path, models))
        looks = sum(len(track.faces) for track in tracks)
        print(f"\n{path.name}: {len(tracks)} tracks, {looks} faces in {time.perf_counter() - start:.0f} s")
        best = [max(Gallery(t.photos).likeness(f.embeddings).values()) for t in made for f in tracks]
        named = [
            v for t in made for v in identify(tracks, Gallery(t.photos), CastSettings(), models) if v.member
        ]
        print(f"{len(best)} decisions, {len(named)} named; likest {max(best):.3f}")


def _film_tracks(path: Path, models: FaceModels) -> Iterator[FaceTrack]:
    with open_film(path) as film:
        shots = detect_shots(film.frames(), ShotSettings(), end=film.info.duration).shots
    for shot in shots:
        moments = np.arange(shot.interval.start + 0.02, shot.interval.end, RATE)
        with open_film(path) as film:
            seen = ((p.seconds, p.image) for p in film.pictures(moments.tolist()))
            yield from tracks_of_shot(seen, shot.index, models)


def speed(models: FaceModels) -> None:
    """Pictures searched and faces read in a second."""
    image = portraits("fake-avatars")[0].image
    frame = facelooks.made(
        *(facelooks.main_face(image, models) or (image, models.find(image, 0.0)[0])),
        facelooks.Quality(70, 1.0, 0.0, 80),
        np.random.default_rng(1),
    )
    face = models.find(frame, 0.0)[0]
    models.read(frame, face)
    start = time.process_time(), time.perf_counter()
    for _ in range(20):
        models.find(frame, 0.0)
    middle = time.process_time(), time.perf_counter()
    for _ in range(20):
        models.read(frame, face)
    end = time.process_time(), time.perf_counter()
    found, read = (
        [20 / (b - a) for a, b in zip(x, y, strict=True)] for x, y in ((start, middle), (middle, end))
    )
    print(f"\npictures searched: {found[1]:.1f} a second ({found[0]:.1f} a second of processor time)")
    print(f"faces read: {read[1]:.1f} a second ({read[0]:.1f} a second of processor time)")


def report(tracks: Sequence[Looks], photos: Photos, models: FaceModels) -> list[Trial]:
    """All tables; the casts."""
    seen = np.mean([len(t.embeddings) for t in tracks]) / facelooks.LOOKS
    print(f"{len({t.person for t in tracks})} people, {len(tracks)} tracks; faces found in {seen:.1%}")
    made = trials(tracks, photos, 2)
    spread(made)
    own, strangers = scored(made, "own"), scored(made, "strangers")
    by_height(own, strangers, models.threshold, models.margin)
    own, strangers = own.only(own.heights >= LEAST), strangers.only(strangers.heights >= LEAST)
    count = len(set(strangers.persons))
    print(f"\n{len(made)} casts of ten, two photos; {count} strangers, faces from {LEAST} px")
    table(own, strangers, sorted({models.threshold, *THRESHOLDS}), sorted({models.margin, *MARGINS}))
    compare(tracks, photos, models.margin)
    with_bank(made, models)
    return made


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--keep", type=Path, help="file (.npz) for what was read, used where it is there")
    parser.add_argument("--strangers", type=Path, help="folder of further portraits, one person each")
    parser.add_argument(
        "--films", type=Path, nargs="*", default=(), help="films whose faces are all strangers"
    )
    parser.add_argument("--threshold", type=float, help="instead of that of the models")
    parser.add_argument("--margin", type=float, help="instead of that of the models")
    options = parser.parse_args()
    models = make_face_models(ruled(CastSettings(threshold=options.threshold), margin=options.margin))
    if options.keep and options.keep.is_file():
        tracks, photos = facelooks.load(options.keep)
    else:
        tracks, photos = read_all(models, options.strangers)
        if options.keep:
            facelooks.save(options.keep, tracks, photos)
    made = report(tracks, photos, models)
    films(options.films, made, models)
    speed(models)


if __name__ == "__main__":
    main()
