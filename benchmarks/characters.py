"""Who is on the screen, measured on a film with known people, by the code that describes films.

    python benchmarks/characters.py [--folder FOLDER] [--quick] [--only PART ...]

The film of cast_film.py is made at first use (some minutes) and kept in FOLDER with what was read of it, so
that a second run takes a minute. Intervals are Wilson's at 95 %; those over strangers count tracks.

names       precision and recall of names per shot, with one photo and several of each of ten people, and by
            AutoAD-Zero's published rule (each frame for itself, 0.2, no margin; by SFace here)
strangers   how many tracks of people who are not in the cast are given a name, for several casts
discover    purity and groups of the people found; and the film named by the cast found in it
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import cast_film
import cv2
from cast_actors import PHOTOS
from cast_truth import Judged, Share, Truth, owner_of, read_truth, shares, shot_pairs
from common import command_line

from shotad.core import (
    Cast,
    Config,
    Member,
    NoProgress,
    RunInputs,
    WorkFolder,
)
from shotad.core.config.sight import CastSettings
from shotad.description import (
    RunContext,
    plan_clips,
    prepare,
)
from shotad.description.casting import discovery as discovering, recognition
from shotad.film import open_film
from shotad.sight import CastFile, FaceModels, FoundPerson, Gallery, group_people, identify, read_gallery
from shotad.sight.gallery import Embeddings, mean_of

QUIET = {"threads": {"features": "none"}, "scale": {"method": "none"}}
"""Film grammar has no part in who somebody is."""


@dataclass(frozen=True)
class Lab:
    """The long film, its truth, the photos of its people, and a folder for what is read."""

    folder: Path
    film: Path
    truth: Truth

    @contextmanager
    def run(self, work: str, cast: Mapping[str, object]) -> Iterator[RunContext]:
        """The film opened with settings for the cast."""
        config = Config.model_validate({**QUIET, "cast": dict(cast)})
        with (
            open_film(self.film) as film,
            WorkFolder(self.folder / f"work-{self.film.stem}-{work}") as folder,
        ):
            yield RunContext.of(film, folder, config, RunInputs(), NoProgress())

    @property
    def members(self) -> set[str]:
        """Names of those who can be in a cast."""
        return {name for name, kind in self.truth.kinds.items() if kind == "member"}

    def cast(self, photos: Sequence[str], names: Sequence[str] = ()) -> Cast:
        """A cast of ``names`` (everybody) with these photos of each."""
        files = [f"{PHOTOS.index(kind)}-{kind}.jpg" for kind in photos]
        place = self.folder / "photos"
        people = sorted(names or self.members)
        return Cast(tuple(Member(p, p, photos=tuple(place / p / file for file in files)) for p in people))

    def judged(self, cast: Cast, **settings: object) -> list[Judged]:
        """The film's tracks as they are decided for a cast."""
        with self.run("frame" if settings else "track", settings) as run:
            plans, _ = plan_clips(prepare(run), run)
            shots = tuple({piece.shot.index: piece.shot for plan in plans for piece in plan.shots}.values())
            models = FaceModels(run.config.cast)
            gallery = read_gallery(cast, models, run.config.cast)
            named = recognition._named(plans, shots, run, cast, None, models, gallery)
        tracks = [pair for one in named.values() for pair in zip(one.tracks, one.verdicts, strict=True)]
        return [Judged(track, *owner_of(track, self.truth), verdict) for track, verdict in tracks]


def names(lab: Lab) -> None:
    """Precision and recall of names per shot."""
    print("\nNames per shot")
    for words, photos in (("1 photo (studio)", PHOTOS[:1]), ("3 photos", PHOTOS)):
        said = shot_pairs(lab.judged(lab.cast(photos)), lab.truth)
        print(f"{words:34}{shares(said, lab.truth, lab.members)}")
    frames = shot_pairs(lab.judged(lab.cast(PHOTOS[:1]), rules="paper", threshold=0.2), lab.truth)
    print(f"{'1 photo, each frame for itself':34}{shares(frames, lab.truth, lab.members)}")


def strangers(lab: Lab) -> None:
    """How often somebody who is not in the cast is given a name."""
    members = sorted(lab.members)
    casts = {
        "ten, 1 photo (studio)": lab.cast(PHOTOS[:1]),
        "ten, 3 photos": lab.cast(PHOTOS),
        "five of ten, 3 photos": lab.cast(PHOTOS, members[:5]),
        "the other five": lab.cast(PHOTOS, members[5:]),
        **{f"only {name}, 3 photos": lab.cast(PHOTOS, [name]) for name in members[:3]},
    }
    print(f"\nTracks that are given a name\n{'cast':34}{'strangers':41}members left out of the cast")
    for name, cast in casts.items():
        rows = lab.judged(cast)
        others = [r for r in rows if r.owner and r.owner not in members]
        left = [r for r in rows if r.owner in lab.members - {member.id for member in cast}]
        print(f"{name:34}{_named(others)}  {_named(left) if left else ''}")
    # Casts of ten of those who are strangers so far, with a picture from the film; all others are strangers.
    rows = [r for r in lab.judged(lab.cast(PHOTOS[:1])) if r.owner]
    for kind in ("stranger", "grey"):
        own = {name: one for name, one in _from_film(rows).items() if lab.truth.kinds[name] == kind}
        print(f"{f'casts of ten, {kind}, from the film':34}{_misnamed(rows, own)}")


def _named(rows: Sequence[Judged]) -> Share:
    return Share(sum(bool(row.names()) for row in rows), len(rows))


def _from_film(rows: Sequence[Judged]) -> dict[str, Embeddings]:
    """One track of the film for each stranger, large enough for a face picture, as discovery makes them."""
    found: dict[str, Embeddings] = {}
    for r in rows:
        if r.owner and r.pure > 0.9 and max(face.box.height for face in r.track.faces) * 360 > 60:
            found.setdefault(r.owner, mean_of(r.track.embeddings)[None])
    return found


def _misnamed(rows: Sequence[Judged], photos: Mapping[str, Embeddings]) -> Share:
    """Tracks of strangers that are given a name by casts of ten."""
    settings, people = CastSettings(), sorted(photos)
    models = FaceModels(settings)
    named = others = 0
    for first in range(0, len(people) - 9, 10):
        own = people[first : first + 10]
        rest = [r.track for r in rows if r.owner not in own]
        verdicts = identify(rest, Gallery({n: photos[n] for n in own}), settings, models)
        named, others = named + sum(v.member is not None for v in verdicts), others + len(rest)
    return Share(named, others)


def discover(lab: Lab) -> None:
    """People found by their faces, against the truth; and the film named by them."""
    place = lab.folder / f"found-{lab.film.stem}.cast"
    shutil.rmtree(place, ignore_errors=True)
    with lab.run("discover", {}) as run:
        models = FaceModels(run.config.cast)
        faces = [track for shot in discovering._faces(run, models) for track in shot.tracks]
        height = run.film.info.size_within(max_pixels=discovering.MAX_PIXELS)[1]
        people = group_people(faces, height, models.join, models.margin)
        discovering.discover(run, place)
    owners = {id(track): owner_of(track, lab.truth)[0] for track in faces}
    held = [Counter(owners[id(track)] for track in person.tracks) for person in people]
    main = [counted.most_common(1)[0] for counted in held]
    pure = Share(sum(count for _, count in main), sum(counted.total() for counted in held))
    groups = [name for name, _ in main if name in lab.members]
    print(f"\nDiscovered: {len(people)} groups; {len(set(groups))} members in {len(groups)} of them")
    print(f"{'  purity (tracks)':34}{pure}")
    said = by_found(lab, place, owners, people)
    print(f"{'  named by the cast found':34}{shares(said, lab.truth, lab.members)}")


def by_found(
    lab: Lab, place: Path, owners: Mapping[int, str | None], people: Sequence[FoundPerson]
) -> set[tuple[int, str]]:
    """Names by shot, the people found being named as somebody would who looks at the overview."""
    file, models = CastFile.open(place), FaceModels(CastSettings())
    whose = {}
    for name, photos in read_gallery(Cast(file.members), models, CastSettings()).photos.items():
        alike = max(people, key=lambda person: float(person.centre @ mean_of(photos)))
        whose[name] = Counter(owners[id(track)] for track in alike.tracks).most_common(1)[0][0]
    spoken = {m.id: owner if (owner := whose.get(m.id)) in lab.members else "" for m in file.members}
    cast = Cast(tuple(Member(m.id, spoken[m.id] or "", photos=m.photos) for m in file.members))
    pairs = shot_pairs(lab.judged(cast), lab.truth)
    return {(shot, spoken[name] or "") for shot, name in pairs}


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--folder", type=Path, default=Path("cast-film"), help="for films and what is read")
    parser.add_argument("--quick", action="store_true", help="a fifth of the film")
    parts = {"names": names, "strangers": strangers, "discover": discover}
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    options = parser.parse_args()
    cv2.setNumThreads(2)
    film = cast_film.make(options.folder, options.quick)
    lab = Lab(options.folder, film, read_truth(film.with_suffix(".json")))
    shots, people = lab.truth.shots, lab.truth.kinds
    print(f"{film.name}: {shots[-1].end / lab.truth.rate:.0f} s, {len(shots)} shots, {len(people)} people")
    for part in options.only:
        parts[part](lab)


if __name__ == "__main__":
    main()
