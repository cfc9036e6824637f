"""Who is on the screen, measured the whole way: on films with known people, by the code that describes films.

    python benchmarks/characters.py [--folder FOLDER] [--quick] [--only PART ...] [--worst FILE]

PART is ``names``, ``strangers``, ``discover``, ``speed`` or ``twice`` (described twice, see cast_twice.py).
The films of cast_film.py are made at first use (some minutes) and kept in FOLDER with what was read of them,
so that a second run takes a minute. All intervals are Wilson's at 95 %; those over strangers count tracks,
and beside them stands how many people these are. ``--worst`` writes pictures of the tracks that went wrong.

names       precision and recall of names per shot, with one photo and several of each of ten people, with and
            without the film's own bank, and by AutoAD-Zero's published rule (each frame for itself, 0.2, no
            margin; by SFace here, not by the paper's models); what makes somebody hard to know
strangers   how many tracks of people who are not in the cast are given a name, for several casts
discover    people found, purity, completeness and splits; and the film named by the cast found in it
speed       pictures searched and faces read in a second, and the ratio to the film's length
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import cast_film
from cast_actors import PHOTOS
from cast_found import discover
from cast_lab import Lab, judged
from cast_truth import Judged, Share, by_trait, over_people, precision, read_truth, shot_pairs, true_pairs
from cast_twice import described_twice
from PIL import Image as Pictures, ImageDraw
from portraits import portraits

from shotad.core import Cast, CastSettings, Image, Member, NoProgress, WorkFolder
from shotad.description import prepare, understand
from shotad.description.cast_recognition import Source, Wanted, read_faces, ticks_in
from shotad.film import open_film
from shotad.sight import Gallery, identify, make_face_models, read_gallery
from shotad.sight.gallery import Embeddings, mean_of
from tests.rules import ruled

Photos = Mapping[str, Embeddings]
PARTS = ("names", "strangers", "discover", "speed")


def names(lab: Lab) -> dict[str, list[Judged]]:
    """Precision and recall of names per shot."""
    casts = {
        "1 photo (studio)": lab.cast(PHOTOS[:1]),
        "1 photo (selfie)": lab.cast(PHOTOS[1:2]),
        "3 photos": lab.cast(PHOTOS),
    }
    ways: dict[str, dict[str, object]] = {
        "": {},
        ", without the film's bank": {"from_film": False},
        ", each photo for itself": {"pool": "set"},
        ", each frame, 0.2, no margin": {"decide": "frame", "threshold": 0.2, "margin": 0.0},
    }
    true = true_pairs(lab.truth, lab.members)
    print(f"\nNames per shot: {len(true)} times one of {len(lab.members)} people is in a shot")
    print(f"{'':46}{'precision':39}{'recall':39}of members given another's name (tracks)")
    usual = {}
    for words, settings in ways.items():
        for name, rows in judged(lab, casts, settings).items():
            said = shot_pairs(rows, lab.truth)
            own = [r for r in rows if r.owner in lab.members]
            wrong = Share(sum(r.named not in (None, r.owner) for r in own), len(own))
            recall = Share(len(said & true.keys()), len(true))
            print(f"{name + words:46}{precision(said, lab.truth)}  {recall}  {wrong}")
            if not settings:
                usual[name] = rows
    print("\nRecall by what makes it hard, 3 photos")
    for trait, share in by_trait(true, shot_pairs(usual["3 photos"], lab.truth)):
        print(f"  {trait:24}{share}")
    missed(usual["3 photos"], lab, true)
    tracks(usual["3 photos"], lab)
    return usual


def missed(rows: Sequence[Judged], lab: Lab, true: Mapping[tuple[int, str], set[str]]) -> None:
    """Why nobody was named where somebody was."""
    said = shot_pairs(rows, lab.truth)
    why: Counter[str] = Counter()
    for shot, name in true.keys() - said:
        own = [r for r in rows if r.owner == name and lab.truth.shot_at(r.track.first) == shot]
        reasons = {r.verdict.reason.split("(")[0].strip() for r in own} or {"no face was found"}
        why[" / ".join(sorted("too near to another" if " too near " in r else r for r in reasons))] += 1
    print("Missed: " + "; ".join(f"{count} {reason}" for reason, count in why.most_common()))


def tracks(rows: Sequence[Judged], lab: Lab) -> None:
    """How well faces were followed."""
    nobody = [r for r in rows if r.owner is None]
    parts = Counter((lab.truth.shot_at(r.track.first), r.owner) for r in rows if r.owner)
    there = sum(len(shot.people) for shot in lab.truth.shots)
    print(f"{len(rows)} tracks; {len(parts)} of {there} faces in shots found, in {parts.total()} tracks")
    print(f"  tracks of more than one person {sum(r.pure < 1 for r in rows)}, of nobody's face {len(nobody)}")


def strangers(lab: Lab) -> list[Judged]:
    """How often somebody who is not in the cast is given a name."""
    members = sorted(lab.members)
    halves = (members[:5], members[5:])
    casts = {
        "ten, 1 photo (studio)": lab.cast(PHOTOS[:1]),
        "ten, 1 photo (selfie)": lab.cast(PHOTOS[1:2]),
        "ten, 3 photos": lab.cast(PHOTOS),
    }
    casts |= {f"five of ten, 3 photos, half {i}": lab.cast(PHOTOS, half) for i, half in enumerate(halves, 1)}
    casts |= {f"only {name}, 3 photos": lab.cast(PHOTOS, [name]) for name in members[:3]}
    print("\nStrangers' tracks that are given a name")
    print(f"{'cast':34}{'strangers':39}{'people':8}members left out of the cast")
    wrong = []
    for words, settings in (("", {}), (", no bank", {"from_film": False})):
        for name, rows in judged(lab, casts, settings).items():
            cast = {member.id for member in casts[name]}
            others = [r for r in rows if r.owner and r.owner not in lab.members]
            left = [r for r in rows if r.owner in lab.members - cast]
            bad = [r for r in others if r.named]
            wrong += [r for r in [*bad, *(r for r in left if r.named)] if not words]
            left_out = Share(sum(r.named is not None for r in left), len(left)) if left else ""
            print(f"{name + words:34}{Share(len(bad), len(others))}  {over_people(others):4}    {left_out}")
    of_strangers(lab)
    return wrong


def of_strangers(lab: Lab) -> None:
    """Casts of ten of those who are strangers so far; everybody else is a stranger to them.

    Of fake-avatars there is one picture each, which is on the screen too: their own tracks are left out. The
    photos of ORL's people are others than those on the screen. ``film``: the photo is a track of the film, as
    the face pictures are that ``cast discover`` makes.
    """
    rows = [r for r in judged(lab, {"": lab.cast(PHOTOS[:1])})[""] if r.owner]
    gallery = read_gallery(_strangers_cast(lab), make_face_models(CastSettings()), CastSettings()).gallery
    sets = {f"{kind}, photos": _of_kind(gallery.photos, lab, kind) for kind in ("stranger", "grey")}
    sets |= {f"{kind}, film": _of_kind(_from_film(rows), lab, kind) for kind in ("stranger", "grey")}
    for words, photos in sets.items():
        for from_film in (True, False):
            named, others, casts = _misnamed(rows, photos, ruled(CastSettings(), from_film=from_film))
            title = f"{casts} x ten of {words}{'' if from_film else ', no bank'}"
            people = over_people(named)
            print(f"{title:34}{Share(len(named), others)}  {people:4} people are taken for another")


def _strangers_cast(lab: Lab) -> Cast:
    """Everybody of fake-avatars and ORL with photos, which are written beside the film."""
    photos: dict[str, list[Path]] = defaultdict(list)
    for portrait in [
        *portraits("fake-avatars"),
        *(p for p in portraits("orl-faces") if p.kind in ("8", "9")),
    ]:
        path = lab.folder / "photos-strangers" / f"{portrait.person}-{portrait.kind}.png"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            # Faces that fill a picture are not found.
            Pictures.fromarray(np.pad(portrait.image, ((40, 40), (40, 40), (0, 0)), constant_values=96)).save(
                path
            )
        photos[portrait.person].append(path)
    return Cast(tuple(Member(name, name, photos=tuple(paths)) for name, paths in photos.items()))


def _of_kind(photos: Photos, lab: Lab, kind: str) -> Photos:
    kinds = lab.truth.kinds
    return {name: rows for name, rows in photos.items() if kinds.get(name) == kind}


def _from_film(rows: Sequence[Judged]) -> Photos:
    """One track of the film for each stranger, large enough for a face picture."""
    found: dict[str, Embeddings] = {}
    for r in rows:
        if r.owner and r.pure > 0.9 and max(face.box.height for face in r.track.faces) * 360 > 60:
            found.setdefault(r.owner, mean_of(r.track.embeddings)[None])
    return found


def _misnamed(
    rows: Sequence[Judged], photos: Photos, settings: CastSettings
) -> tuple[list[Judged], int, int]:
    """Tracks of strangers that are given a name by casts of ten; of how many; and the number of casts."""
    models, people = make_face_models(settings), sorted(photos)
    named: list[Judged] = []
    others = 0
    for first in range(0, len(people) - 9, 10):
        own = people[first : first + 10]
        rest = [r for r in rows if r.owner not in own]
        verdicts = identify([r.track for r in rest], Gallery({n: photos[n] for n in own}), settings, models)
        named += [replace(r, verdict=v) for r, v in zip(rest, verdicts, strict=True) if v.member]
        others += len(rest)
    return named, others, len(people) // 10


def speed(lab: Lab) -> None:
    """Looking for faces in the first part of the film with nothing kept: wall clock and processor."""
    models = make_face_models(CastSettings())
    seconds = min(lab.truth.seconds, 60.0)
    with lab.bench(f"work-{lab.film.stem}-track") as bench:
        shots = {p.shot.index: p.shot for plan in understand(prepare(bench), bench).plans for p in plan.shots}
        wanted = [
            Wanted(shot, tuple(ticks_in(shot.interval.start, shot.interval.end, CastSettings().looks)))
            for _, shot in sorted(shots.items())
            if shot.interval.end <= seconds
        ]
        pictures = sum(len(want.looks) for want in wanted)
        with WorkFolder(lab.folder / "work-speed", force=True) as folder:
            log = folder.log_of_records(f"speed-{time.time_ns()}")
            wall, work = time.perf_counter(), time.process_time()
            source = Source(bench.frames.pictures, ["speed"])
            faces = sum(
                len(t.faces) for s in read_faces(wanted, source, models, log, NoProgress()) for t in s.tracks
            )
            wall, work = time.perf_counter() - wall, time.process_time() - work
        shutil.rmtree(lab.folder / "work-speed")
    film = wanted[-1].shot.interval.end
    print(f"\nSpeed: {film:.0f} s of film, {pictures} pictures, {faces} faces found and read")
    for words, spent in (("wall clock", wall), ("processor time", work)):
        rates = f"{pictures / spent:5.1f} pictures and {faces / spent:5.1f} faces a second"
        print(f"  {words:15} {spent:6.1f} s: {rates}, {spent / film:.2f} of the film's length")


def worst(lab: Lab, wrong: Sequence[Judged], path: Path) -> None:
    """A picture of each track that went wrong, with who it is and who it was said to be."""
    tiles = []
    for one in wrong[:40]:
        face = one.track.faces[one.track.read[0]]
        with open_film(lab.film) as film:
            image = next(iter(film.pictures([face.seconds]))).image
        tiles.append((f"{one.owner} as {one.named} {one.verdict.likeness:.2f}", image))
    if tiles:
        _sheet(tiles, path)


def _sheet(tiles: Sequence[tuple[str, Image]], path: Path) -> None:
    columns, (width, height) = 4, (320, 180)
    sheet = Pictures.new("RGB", (columns * width, -(-len(tiles) // columns) * height))
    for number, (words, image) in enumerate(tiles):
        tile = Pictures.fromarray(image).resize((width, height))
        ImageDraw.Draw(tile).text((4, 4), words, fill=(255, 255, 0))
        sheet.paste(tile, (number % columns * width, number // columns * height))
    sheet.save(path)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--folder", type=Path, default=Path("cast-film"), help="for the films and what is read"
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of the film")
    parser.add_argument("--only", nargs="+", choices=(*PARTS, "twice"), default=(*PARTS, "twice"))
    parser.add_argument("--worst", type=Path, help="picture of tracks that were named wrongly")
    options = parser.parse_args()
    cv2.setNumThreads(2)
    film, short = cast_film.make(options.folder, options.quick)
    lab = Lab(options.folder, film, read_truth(film.with_suffix(".json")))
    print(
        f"{film.name}: {lab.truth.seconds:.0f} s, {len(lab.truth.shots)} shots, {len(lab.truth.kinds)} people"
    )
    wrong: list[Judged] = []
    if "names" in options.only:
        wrong += [
            r
            for rows in names(lab).values()
            for r in rows
            if r.named and r.owner in lab.members and r.named != r.owner
        ]
    if "strangers" in options.only:
        wrong += strangers(lab)
    for part, measure in (("discover", discover), ("speed", speed)):
        if part in options.only:
            measure(lab)
    if "twice" in options.only:
        described_twice(options.folder, short)
    if options.worst:
        worst(lab, wrong, options.worst)


if __name__ == "__main__":
    main()
