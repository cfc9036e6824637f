"""From a film to a cast folder: its faces, who is who, and pictures by which each is known again.

Faces are grouped into people; who is in the folder is recognised, others are added, the best pictures stay.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from shotad.core import Cast, Member, Progress, UsageError, reported
from shotad.description.cast_recognition import (
    DISCOVERED,
    FaceSearch,
    ShotFaces,
    known_faces,
    read_faces,
    ticks_in,
)
from shotad.description.preparing import RunContext, film_shots
from shotad.film import Film
from shotad.script import timecode
from shotad.sight import (
    CastFile,
    Embeddings,
    FaceModels,
    FaceView,
    Facts,
    Found,
    FoundPerson,
    Gallery,
    Holdings,
    Match,
    Picture,
    best_of,
    cast_path,
    free_ids,
    held,
    is_blank,
    joined,
    looks_of,
    match_people,
    note_use,
    people_in,
    person_of,
    portrait,
    put_pictures,
    read_gallery,
    remove_pictures,
    stem_of,
    write_overview,
)

PIXELS = 1920 * 1080
"""Of the frames in which faces are looked for."""


def discover(context: RunContext, place: Path) -> Discovery:
    """Find the people of a film and put them into the cast folder ``place``, which may be there already.

    Where nobody is found none is made. Raises CastError, WorkFolderError, WeightsError, UsageError.
    """
    place = cast_path(place).parent
    CastFile.open(place)
    Facts.read(place)
    models = FaceModels(context.config.cast, context.progress)
    tracks = [track for shot in _faces(context, models) for track in shot.tracks]
    info, join = context.film.info, models.join
    height = info.size_within(max_pixels=PIXELS)[1]
    people = people_in(tracks, height, join, models.margin)
    faces = sum(len(track.faces) for track in tracks)
    if not people and not cast_path(place).exists():
        return Discovery(place, info.name, faces=faces)
    with held(place):
        note_use(place, context.folder.path)
        return replace(file_people(people, place, height, models, context), faces=faces)


def _faces(context: RunContext, models: FaceModels) -> list[ShotFaces]:
    """The faces of the part asked for, and of what earlier runs have looked at beyond it."""
    film, given = context.film, context.given
    found = film_shots(context)
    shots, end = found.shots, found.end
    if given.start >= end:
        raise UsageError(f"The film is {end:.1f} s long, so nothing lies after --from {given.start:g}.")
    until = end if given.end is None else given.end
    wanted = []
    for shot in shots:
        first, last = shot.interval.start, shot.interval.end
        if last > given.start and first < until:
            # On the clock, but twice at least, for once is no proof of a face
            ticks = ticks_in(first, last, LOOKS)
            if len(ticks) < 2:
                ticks = [round(first + part * (last - first), 6) for part in (0.25, 0.75)]
            wanted.append(FaceSearch(shot, tuple(ticks)))
    pictures, shown = partial(film.pictures, max_pixels=PIXELS), [context.film_key, PIXELS]
    log = context.folder.log_of_records(DISCOVERED)
    whole = len(wanted) == len(shots)
    faces = list(read_faces(wanted, pictures, shown, models, log, context.progress, tidy=whole))
    seen = {one.shot.index for one in faces}
    others = {one.shot.index: one for one in known_faces(log, shots, models) if one.shot.index not in seen}
    return sorted([*faces, *others.values()], key=lambda one: one.shot.index)


LOOKS = 3.0
"""Frames a second that are looked at: who is seen for less than a third of a second is nobody to name."""
LEAST_SECONDS = 1.0
"""Who is seen for less in the whole film is left out: an extra that no line names."""
PICTURES = 6
"""Face pictures kept of a person, at most: enough to know somebody by, from more than one side."""
_MOST = 4
"""Times `PICTURES` that a person may have; then no further film adds to them."""
_TRIES = 3
"""Looks that are cut out for each picture kept."""


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """A person found, whose they are, and how many pictures they may get beside those ``there``."""

    person: FoundPerson
    member: str | None
    like: str
    way: Way
    count: int
    there: Embeddings

    def is_open(self, blank: Collection[str]) -> bool:
        """Whether all of them is up to this run; ``blank`` are members with nothing filled in."""
        return self.way == "new" or (self.way == "renew" and self.member in blank)


def file_people(
    people: Sequence[FoundPerson], place: Path, height: int, models: FaceModels, context: RunContext
) -> Discovery:
    """Put ``people``, the most seen first, into the held cast folder; ``height``: of the pictures."""
    film, config = context.film, context.config
    fingerprint = film.info.fingerprint
    file, facts = CastFile.open(place), Facts.read(place)
    holdings = Holdings(place, file.members, facts)
    # The photos of the cast, without those that an earlier run cut from this film
    own = {(picture.id, picture.sha256) for picture in facts.of_film(fingerprint)}
    members = []
    for member in holdings.members:
        hashed = zip(member.photos, holdings.hashes[member.id], strict=True)
        photos = tuple(photo for photo, sha in hashed if (member.id, sha) not in own)
        members.append(replace(member, photos=photos))
    settings = config.cast.model_copy(update={"rules": "ours"})
    gallery = read_gallery(Cast(tuple(members)), models, settings)
    threshold = max(models.threshold, models.join)
    matches = match_people(
        people,
        fingerprint,
        holdings,
        lambda p: gallery.likeness(p.rows) if len(gallery) else {},
        threshold,
        models.margin,
    )
    cases = _cases(people, matches, holdings, gallery, fingerprint)
    least = LEAST_SECONDS * LOOKS - 1e-6
    blank = {member.id for member in file.members if is_blank(member)}
    seen = [case for case in cases if case.person.looks >= least or not case.is_open(blank)]
    portraits = _portraits(seen, film, height, models, context.progress)
    kept = [case for case in seen if portraits[case] or not case.is_open(blank)]
    filing = _Filing(file, holdings, film, list(facts.pictures))
    gone = filing.clear({case.member for case in kept})
    known = filing.put(kept, portraits, threshold - models.margin)
    filing.close(known, gone)
    left_out = (len(cases) - len(seen), len(seen) - len(kept), sum(match.dismissed for match in matches))
    return Discovery(place, film.info.name, tuple(known), tuple(gone), *left_out)


def _cases(
    people: Sequence[FoundPerson], matches: Sequence[Match], holdings: Holdings, gallery: Gallery, film: str
) -> list[_Case]:
    """One case for each member found and each new person, the most seen first."""
    parts: dict[str, list[FoundPerson]] = {}
    likes: dict[str, str] = {}
    cases: list[_Case] = []
    for person, match in zip(people, matches, strict=True):
        if match.member is not None:
            parts.setdefault(match.member, []).append(person)
            likes.setdefault(match.member, match.like or "")
        elif not match.dismissed:
            cases.append(_Case(person, None, match.like or "", "new", PICTURES, _none(person)))
    for member in holdings.members:
        if member.id in parts:
            whole = person_of(track for part in parts[member.id] for track in part.tracks)
            pictures = holdings.facts.of_film(film)
            way: Way = "leave" if holdings.is_edited(member.id, film) else "renew"
            if not any(member.id in (picture.id, holdings.holder(picture)) for picture in pictures):
                way = "add"
            there = gallery.photos.get(member.id, _none(whole))
            old = len(member.photos) - sum(picture.id == member.id for picture in pictures)
            count = 0 if way == "leave" else min(PICTURES, _MOST * PICTURES - old)
            cases.append(_Case(whole, member.id, likes[member.id], way, max(count, 0), there))
    return sorted(cases, key=lambda case: case.person.order)


def _none(person: FoundPerson) -> Embeddings:
    return np.zeros((0, len(person.centre)), np.float32)


def _portraits(
    cases: Sequence[_Case], film: Film, height: int, models: FaceModels, progress: Progress
) -> dict[_Case, list[FaceView]]:
    """The pictures to keep of each, best first, cut from the film in one pass."""
    wanted: dict[float, list[tuple[_Case, FaceView]]] = {}
    for case in cases:
        looks = looks_of(case.person.tracks, height)
        for look in best_of(looks, case.person.centre, case.there, _TRIES * case.count):
            wanted.setdefault(look.face.seconds, []).append((case, look))
    cut: dict[_Case, list[FaceView]] = {case: [] for case in cases}
    with reported(progress, "Cutting out face pictures", len(wanted), "frames") as task:
        for picture in film.pictures(sorted(wanted)) if wanted else ():
            for case, look in wanted[picture.wanted]:
                others = [other.person.centre for other in cases if other is not case]
                rows = np.stack(others) if others else _none(case.person)
                made = portrait(picture.image, look, case.person.centre, rows, models)
                cut[case] += [made] if made is not None else []
            task.advance()
    return {c: best_of(made, c.person.centre, c.there, c.count) for c, made in cut.items()}


@dataclass(slots=True)
class _Filing:
    """A cast folder under work; ``pictures`` are those that it holds by discovery, as they will be."""

    file: CastFile
    holdings: Holdings
    film: Film
    pictures: list[Picture]

    def clear(self, present: set[str | None]) -> list[str]:
        """Take out those not ``present`` of whom an earlier run over this film made all that there is."""
        gone, film = [], self.film.info.fingerprint
        for member in self.holdings.members:
            films = {found.film for found in self.holdings.facts.in_films(member.id)}
            made = [picture for picture in self._of_film() if picture.id == member.id]
            if member.id in present or not is_blank(member) or films != {film} or not made:
                continue
            if not self.holdings.is_edited(member.id, film):
                self._drop(made)
                self.file.remove(member.id)
                gone.append(member.id)
        return gone

    def _of_film(self) -> list[Picture]:
        return [picture for picture in self.pictures if picture.film == self.film.info.fingerprint]

    def _drop(self, pictures: Sequence[Picture]) -> int:
        self.pictures = [picture for picture in self.pictures if picture not in pictures]
        return remove_pictures(self.holdings.folder, pictures)

    def put(
        self, cases: Sequence[_Case], portraits: Mapping[_Case, Sequence[FaceView]], like: float
    ) -> list[Known]:
        """Write the pictures and the entries of all; from the likeness ``like`` on two may be one person."""
        taken = {*(m.id for m in self.holdings.members), *(p.id for p in self.holdings.facts.pictures)}
        fresh = free_ids(taken, self.holdings.folder)
        ids = {case: case.member or next(fresh) for case in cases}
        names = {member.id: member.name for member in self.holdings.members}
        there = {*ids.values(), *(member.id for member in self.file.members)}
        known = []
        for number, case in enumerate(cases):
            person, name = case.person, names.get(ids[case], "")
            added, removed = self._renew(case, ids[case], portraits[case])
            alike = "" if name else case.like
            if not name and not alike and case.way in ("new", "renew"):
                # Who is more seen, and so alike that both may be one
                near = {
                    ids[other]: float(other.person.centre @ person.centre)
                    for other in cases[:number]
                    if not other.person.meets(person)
                }
                best = max(near, key=near.__getitem__, default="")
                alike = best if best and near[best] >= like else ""
            seconds, first = round(person.looks / LOOKS, 3), round(person.first, 6)
            alike = alike if alike in there else ""
            film, called = self.film.info.fingerprint, self.film.info.name
            found = Found(ids[case], film, called, person.shots, seconds, first, alike)
            known.append(Known(found, name, case.way, added, removed))
        return known

    def _renew(self, case: _Case, person: str, portraits: Sequence[FaceView]) -> tuple[int, int]:
        """Bring a person's pictures to what was chosen: how many came, how many went."""
        if case.way == "leave" or not portraits:
            return 0, 0
        # The subfolder for them, which the person's entry names
        folder, place, film = self.holdings.folder, person, self.film.info.fingerprint
        if case.member is None:
            self.file.add(Member(person, photos=(folder / person,)))
        else:
            specs, root = self.file.photo_specs(person), folder.resolve()
            paths = {spec: (folder / spec).resolve() for spec in specs}
            inside = [s for s, path in paths.items() if path.is_dir() and root in path.parents]
            if inside:
                place = Path(inside[0]).as_posix()
            elif case.count:
                self.file.update(person, photos=(*specs, person))
        before = [p for p in self._of_film() if p.id == person]
        cut = [(p.face.seconds, p.jpeg) for p in portraits]
        put = put_pictures(folder, place, stem_of(self.film.info.name), cut)
        now = [
            Picture(person, name, sha, film, p.face.seconds, p.face.box)
            for (name, sha), p in zip(put, portraits, strict=True)
        ]
        files = {picture.file for picture in now}
        removed = self._drop([picture for picture in before if picture.file not in files])
        self.pictures = [p for p in self.pictures if p.file not in files] + now
        return len(files - {picture.file for picture in before}), removed

    def close(self, known: Sequence[Known], gone: Sequence[str]) -> None:
        """Write ``cast.yaml``, the facts and the overview, each only where it changes."""
        before = self.holdings.facts.found
        older = [
            replace(found, id=now, like=self.holdings.successor(found.like) or "")
            for found in before
            if found.film != self.film.info.fingerprint
            and (now := self.holdings.successor(found.id)) is not None
        ]
        facts = Facts(joined([*older, *(one.found for one in known)]), tuple(self.pictures))
        for one in known:
            self.file.update(
                one.id, comment=comment_of(facts.in_films(one.id), "" if one.name else facts.like(one.id))
            )
        if not self.file.path.exists() or self.file.path.read_text(encoding="utf-8") != self.file.text:
            self.file.save()
        facts.write(self.holdings.folder)
        write_overview(self.holdings.folder, self.file.members, facts)


Way = Literal["new", "add", "renew", "leave"]
"""What becomes of somebody's pictures; ``leave``: a person has changed them."""


@dataclass(frozen=True, slots=True)
class Known:
    """One person of the film as they are in the cast now; ``added`` and ``removed`` count pictures."""

    found: Found
    name: str
    way: Way
    added: int = 0
    removed: int = 0

    @property
    def id(self) -> str:
        """Who in the cast."""
        return self.found.id


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a run found, the most seen first, and what it did.

    ``gone`` are ids of an earlier run that the film no longer shows, with nothing filled in; ``brief`` were
    seen too shortly, ``unclear`` had no good picture, ``dismissed`` were taken out of the cast before.
    """

    folder: Path
    film: str
    people: tuple[Known, ...] = ()
    gone: tuple[str, ...] = ()
    brief: int = 0
    unclear: int = 0
    dismissed: int = 0
    faces: int = 0


def comment_of(found: Sequence[Found], like: str = "") -> str:
    """What stands above a person's entry.

    >>> comment_of([Found("person-01", "f", "ep1.mp4", 2, 3.3, 83.5)], "anna")
    '2 shots, 3 s in view, first at 00:01:23 in ep1.mp4\\nLooks like anna; if they are one person, merge them'
    """
    shots, seconds = sum(f.shots for f in found), sum(f.seconds for f in found)
    films = f"{len(found)} films, " if len(found) > 1 else ""
    first = f"first at {timecode(found[0].first)[:8]} in {found[0].name}"
    lines = [f"{films}{shots} {'shot' if shots == 1 else 'shots'}, {seconds:.0f} s in view, {first}"]
    return "\n".join(lines + ([f"Looks like {like}; if they are one person, merge them"] if like else []))
