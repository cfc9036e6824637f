"""The people that ``shotad cast discover`` finds in the long film of cast_film.py, against its truth.

Used by characters.py.
"""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from cast_lab import Lab, judged
from cast_truth import Share, owner_of, precision, shot_pairs, true_pairs

from shotad.core import Cast, CastSettings, Member
from shotad.description import cast_discovery as discovering
from shotad.sight import CastFile, FoundPerson, make_face_models, people_in, read_gallery
from shotad.sight.gallery import mean_of


def discover(lab: Lab) -> None:
    """People found by their faces, against the truth; and the film named by them."""
    with lab.bench(f"work-{lab.film.stem}-discover") as bench:
        models = make_face_models(bench.config.cast)
        faces = [track for shot in discovering._faces(bench, models) for track in shot.tracks]
        people = people_in(
            faces,
            bench.film.info.size_within(max_pixels=discovering.PIXELS)[1],
            models.join,
            models.margin,
        )
        place = lab.folder / f"found-{lab.film.stem}.cast"
        shutil.rmtree(place, ignore_errors=True)
        found = discovering.discover(bench, place)
    owners = {id(track): owner_of(track, lab.truth)[0] for track in faces}
    clusters(people, owners, lab, found.people)
    by_found(lab, place, owners, people)


def clusters(
    people: Sequence[FoundPerson], owners: Mapping[int, str | None], lab: Lab, kept: Sequence[object]
) -> None:
    """Purity, completeness and splits."""
    held = [Counter(owners[id(t)] for t in person.tracks) for person in people]
    total = sum(sum(c.values()) for c in held)
    pure = Share(sum(c.most_common(1)[0][1] for c in held), total)
    whole: dict[str, list[int]] = defaultdict(list)
    for counted in held:
        name, count = counted.most_common(1)[0]
        if name:
            whole[name].append(count)
    tracks_of = Counter(owner for owner in owners.values() if owner)
    members = [n for n in sorted(lab.members) if tracks_of[n]]
    complete = Share(sum(max(whole[n], default=0) for n in members), sum(tracks_of[n] for n in members))
    others = [n for n in tracks_of if n not in lab.members]
    mixed = Share(sum(len(counted.keys() - {None}) > 1 for counted in held), len(held))
    print(f"\nDiscovered: {len(people)} groups, {len(kept)} kept as people")
    print(f"  truly seen                          {len(members)} members and {len(others)} strangers")
    print(f"  purity (tracks)                     {pure}")
    print(f"  groups with more than one person    {mixed}")
    print(f"  members' tracks in their main group {complete}")
    print("  groups of each member               " + " ".join(f"{n}:{len(whole[n])}" for n in members))
    print(
        f"  strangers in one group              {Share(sum(len(whole[n]) == 1 for n in others), len(others))}"
    )
    print(f"  strangers in several groups         {sum(len(whole[n]) > 1 for n in others)}")
    print(f"  tracks in no group                  {len(owners) - total}")


def by_found(lab: Lab, place: Path, owners: Mapping[int, str | None], people: Sequence[FoundPerson]) -> None:
    """Name the people found who are members, as somebody would who looks at the overview, and describe."""
    file = CastFile.open(place)
    models = make_face_models(CastSettings())
    gallery = read_gallery(Cast(file.members), models, CastSettings()).gallery
    whose = {}
    for name, photos in gallery.photos.items():
        likeness = [float(person.centre @ mean_of(photos)) for person in people]
        tracks = people[likeness.index(max(likeness))].tracks
        whose[name] = Counter(owners[id(track)] for track in tracks).most_common(1)[0][0]
    named = {name for name in whose.values() if name in lab.members}
    members = tuple(
        Member(m.id, (whose.get(m.id) or "") if whose.get(m.id) in named else "", photos=m.photos)
        for m in file.members
    )
    spoken = {m.id: m.name for m in members}
    rows = judged(lab, {"": Cast(members)})[""]
    said = {(shot, spoken[name]) for shot, name in shot_pairs(rows, lab.truth)}
    true = true_pairs(lab.truth, lab.members)
    others = [r for r in rows if r.owner and r.owner not in lab.members]
    print(f"  named by the cast found: {len(named)} of {len(lab.members)} members named")
    print(f"    precision per shot      {precision(said, lab.truth)}")
    print(f"    recall per shot         {Share(len(said & true.keys()), len(true))}")
    print(f"    strangers' tracks named {Share(sum(r.named is not None for r in others), len(others))}")
