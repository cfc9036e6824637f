"""Find the people of a film and file them in a cast folder, with pictures by which they are recognised.

Faces are grouped into people. People whom the folder has already are recognised, others are added, and the
best pictures of each are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from shotad.core import (
    Cast,
    Member,
    Progress,
)
from shotad.core.errors import UsageError
from shotad.core.progress import progress_task
from shotad.description.casting.recognition import (
    DISCOVERED,
    FaceSearch,
    ShotFaces,
    known_faces,
    read_faces,
    ticks_in,
)
from shotad.description.preparation import RunContext, film_shots
from shotad.film import Film
from shotad.script.cue import timecode
from shotad.sight import (
    Appearance,
    CastFile,
    CastPicture,
    CastPictures,
    DiscoveryRecord,
    Embeddings,
    FaceModels,
    FaceView,
    FoundPerson,
    Gallery,
    Match,
    group_people,
    match_people,
    portrait,
    read_gallery,
    write_overview,
)
from shotad.sight.castfile import cast_path
from shotad.sight.castfolder import (
    file_stem,
    free_ids,
    is_blank,
    locked,
    merge_appearances,
    note_use,
    put_pictures,
    remove_pictures,
)
from shotad.sight.facetracks import portrait_candidates, select_portraits
from shotad.sight.found_people import person_from_tracks

MAX_PIXELS = 1920 * 1080
"""Most pixels of the frames in which faces are looked for."""


def discover(context: RunContext, place: Path, *, models: FaceModels | None = None) -> Discovery:
    """Find the people of a film and put them into the cast folder ``place``, a new or an existing one.

    ``models`` find faces and tell them apart (None: those of the settings). Where nobody is found no folder
    is made. Raises CastError, WorkFolderError, WeightsError, UsageError.
    """
    place = cast_path(place).parent
    # Refuse a damaged folder now, not when the film has been searched.
    CastFile.open(place)
    DiscoveryRecord.read(place)
    models = models or FaceModels(context.config.cast, context.progress)
    tracks = [track for shot_faces in _faces(context, models) for track in shot_faces.tracks]
    info = context.film.info
    height = info.size_within(max_pixels=MAX_PIXELS)[1]
    people = group_people(tracks, height, models.join, models.margin)
    face_count = sum(len(track.faces) for track in tracks)
    if not people and not cast_path(place).exists():
        return Discovery(place, info.name, faces=face_count)
    with locked(place):
        note_use(place, context.folder.path)
        discovery = file_people(people, place, height, models, context)
    return replace(discovery, faces=face_count)


def _faces(context: RunContext, models: FaceModels) -> list[ShotFaces]:
    """The faces of each shot of the part to search, and of other shots that earlier runs have searched."""
    film, run_inputs = context.film, context.run_inputs
    detected = film_shots(context)
    shots, end = detected.shots, detected.end
    if run_inputs.start >= end:
        raise UsageError(f"The film is {end:.1f} s long, so nothing lies after --from {run_inputs.start:g}.")
    until = end if run_inputs.end is None else run_inputs.end
    searches = []
    for shot in shots:
        start, stop = shot.interval.start, shot.interval.end
        if stop <= run_inputs.start or start >= until:
            continue
        # On the clock, but at least twice: a face seen once may be a false detection.
        moments = ticks_in(start, stop, DISCOVERY_RATE)
        if len(moments) < 2:
            moments = [round(start + part * (stop - start), 6) for part in (0.25, 0.75)]
        searches.append(FaceSearch(shot, tuple(moments)))
    pictures = partial(film.pictures, max_pixels=MAX_PIXELS)
    picture_key = [context.film_key, MAX_PIXELS]
    log = context.folder.log_of_records(DISCOVERED)
    is_whole_film = len(searches) == len(shots)
    faces = list(
        read_faces(searches, pictures, picture_key, models, log, context.progress, tidy=is_whole_film)
    )
    by_shot = {shot_faces.shot.index: shot_faces for shot_faces in known_faces(log, shots, models)}
    # This run's faces take the place of earlier ones.
    for shot_faces in faces:
        by_shot[shot_faces.shot.index] = shot_faces
    return [by_shot[index] for index in sorted(by_shot)]


DISCOVERY_RATE = 3.0
"""Frames a second that are searched: no line names a person who is seen for less than a third of a second."""
LEAST_SECONDS = 1.0
"""Seconds in the whole film for which a person must be seen; others are extras that no line names."""
PICTURES = 6
"""Face pictures kept of a person, at most: enough to recognise them, from more than one side."""
_MAX_FILMS = 4
"""Times `PICTURES` that a person may have; then no further film adds to them."""
_VIEWS_PER_PICTURE = 3
"""Views that are cut out for each picture kept."""


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A person found in the film, and what to do with their pictures in the cast folder.

    ``member`` is their id in the cast, None for a new person; ``like`` the id of somebody they look like.
    ``count`` is how many pictures of this film they may get, beside those of the embeddings ``existing``.
    """

    person: FoundPerson
    member: str | None
    like: str
    way: Way
    count: int
    existing: Embeddings

    def is_removable(self, blank: Collection[str]) -> bool:
        """Whether nothing of them is from people or other films; ``blank`` are members with nothing filled
        in."""
        return self.way == "new" or (self.way == "renew" and self.member in blank)


def file_people(
    people: Sequence[FoundPerson], place: Path, height: int, models: FaceModels, context: RunContext
) -> Discovery:
    """Put ``people``, the most seen first, into the cast folder ``place``, which the caller has locked.

    ``height`` is that of the pictures in which they were found. Raises CastError.
    """
    film = context.film
    fingerprint = film.info.fingerprint
    file, facts = CastFile.open(place), DiscoveryRecord.read(place)
    holdings = CastPictures(place, file.members, facts)
    gallery = _gallery_without_film(holdings, fingerprint, models, context)
    threshold = max(models.threshold, models.join)
    matches = match_people(
        people,
        fingerprint,
        holdings,
        lambda person: gallery.likeness(person.rows) if len(gallery) else {},
        threshold,
        models.margin,
    )
    candidates = _candidates(people, matches, holdings, gallery, fingerprint)
    blank = {member.id for member in file.members if is_blank(member)}
    # Rounding must not leave out a person who is seen for just `LEAST_SECONDS`.
    least_looks = LEAST_SECONDS * DISCOVERY_RATE - 1e-6
    long_seen = [
        candidate
        for candidate in candidates
        if candidate.person.looks >= least_looks or not candidate.is_removable(blank)
    ]
    portraits = _portraits(long_seen, film, height, models, context.progress)
    final_candidates = [
        candidate for candidate in long_seen if portraits[candidate] or not candidate.is_removable(blank)
    ]
    filing = _Filing(file, holdings, film, list(facts.pictures))
    removed_ids = filing.remove_absent({candidate.member for candidate in final_candidates})
    filed = filing.put(final_candidates, portraits, threshold - models.margin)
    filing.close(filed)
    return Discovery(
        folder=place,
        film=film.info.name,
        people=tuple(filed),
        gone=tuple(removed_ids),
        brief=len(candidates) - len(long_seen),
        unclear=len(long_seen) - len(final_candidates),
        dismissed=sum(match.dismissed for match in matches),
    )


def _gallery_without_film(
    holdings: CastPictures, fingerprint: str, models: FaceModels, context: RunContext
) -> Gallery:
    """The photos of the cast, without those that an earlier run cut from this film."""
    cut_from_film = {(picture.id, picture.sha256) for picture in holdings.facts.of_film(fingerprint)}
    members = []
    for member in holdings.members:
        hashed_photos = zip(member.photos, holdings.hashes[member.id], strict=True)
        photos = tuple(photo for photo, sha256 in hashed_photos if (member.id, sha256) not in cut_from_film)
        members.append(replace(member, photos=photos))
    settings = context.config.cast.model_copy(update={"rules": "ours"})
    return read_gallery(Cast(tuple(members)), models, settings)


def _candidates(
    people: Sequence[FoundPerson],
    matches: Sequence[Match],
    holdings: CastPictures,
    gallery: Gallery,
    film: str,
) -> list[_Candidate]:
    """One candidate for each member found and each new person, the most seen first.

    ``film`` is its fingerprint.
    """
    people_of_member: dict[str, list[FoundPerson]] = {}
    likes: dict[str, str] = {}
    candidates: list[_Candidate] = []
    for person, match in zip(people, matches, strict=True):
        like = match.like or ""
        if match.member is not None:
            people_of_member.setdefault(match.member, []).append(person)
            likes.setdefault(match.member, like)
        elif not match.dismissed:
            candidates.append(_Candidate(person, None, like, "new", PICTURES, _no_embeddings(person)))
    pictures = holdings.facts.of_film(film)
    for member in holdings.members:
        if member.id not in people_of_member:
            continue
        # Faces that were grouped into several people and matched one member are one person.
        person = person_from_tracks(track for part in people_of_member[member.id] for track in part.tracks)
        way: Way = "leave" if holdings.is_edited(member.id, film) else "renew"
        if not any(member.id in (picture.id, holdings.holder(picture)) for picture in pictures):
            way = "add"
        existing = gallery.photos.get(member.id, _no_embeddings(person))
        # Photos that are not this film's: those are replaced, so they take no space.
        other_photos = len(member.photos) - sum(picture.id == member.id for picture in pictures)
        count = 0 if way == "leave" else min(PICTURES, _MAX_FILMS * PICTURES - other_photos)
        candidates.append(_Candidate(person, member.id, likes[member.id], way, max(count, 0), existing))
    return sorted(candidates, key=lambda candidate: candidate.person.order)


def _no_embeddings(person: FoundPerson) -> Embeddings:
    """float32[0, d] for the model's dimension d."""
    return np.zeros((0, len(person.centre)), np.float32)


def _portraits(
    candidates: Sequence[_Candidate], film: Film, height: int, models: FaceModels, progress: Progress
) -> dict[_Candidate, list[FaceView]]:
    """The pictures to keep of each candidate, best first, cut from the film in one pass."""
    views_at: dict[float, list[tuple[_Candidate, FaceView]]] = {}
    for candidate in candidates:
        person = candidate.person
        views = portrait_candidates(person.tracks, height)
        # More than are kept: a full-size frame may show that a face is blurred or hidden.
        tries = _VIEWS_PER_PICTURE * candidate.count
        for view in select_portraits(views, person.centre, candidate.existing, tries):
            views_at.setdefault(view.face.seconds, []).append((candidate, view))
    cut_out: dict[_Candidate, list[FaceView]] = {candidate: [] for candidate in candidates}
    with progress_task(progress, "Cutting out face pictures", len(views_at), "frames") as task:
        for picture in film.pictures(sorted(views_at)) if views_at else ():
            for candidate, view in views_at[picture.wanted]:
                centres = [rival.person.centre for rival in candidates if rival is not candidate]
                other_centres = np.stack(centres) if centres else _no_embeddings(candidate.person)
                cut = portrait(picture.image, view, candidate.person.centre, other_centres, models)
                if cut is not None:
                    cut_out[candidate].append(cut)
            task.advance()
    portraits: dict[_Candidate, list[FaceView]] = {}
    for candidate, views in cut_out.items():
        portraits[candidate] = select_portraits(
            views, candidate.person.centre, candidate.existing, candidate.count
        )
    return portraits


@dataclass(slots=True)
class _Filing:
    """A cast folder that is being changed.

    ``pictures`` are those that discovery put there, this run's included.
    """

    file: CastFile
    holdings: CastPictures
    film: Film
    pictures: list[CastPicture]

    def remove_absent(self, present: set[str | None]) -> list[str]:
        """Remove members who are not ``present`` and have nothing but what earlier runs over this film made.

        Returns their ids.
        """
        fingerprint = self.film.info.fingerprint
        removed_ids: list[str] = []
        for member in self.holdings.members:
            films = {appearance.film for appearance in self.holdings.facts.in_films(member.id)}
            pictures = [picture for picture in self._pictures_of_film() if picture.id == member.id]
            if member.id in present or not is_blank(member) or films != {fingerprint} or not pictures:
                continue
            if self.holdings.is_edited(member.id, fingerprint):
                continue
            self._remove_pictures(pictures)
            self.file.remove(member.id)
            removed_ids.append(member.id)
        return removed_ids

    def _pictures_of_film(self) -> list[CastPicture]:
        return [picture for picture in self.pictures if picture.film == self.film.info.fingerprint]

    def _remove_pictures(self, pictures: Sequence[CastPicture]) -> int:
        """Delete pictures from the folder; returns how many there were."""
        self.pictures = [picture for picture in self.pictures if picture not in pictures]
        return remove_pictures(self.holdings.folder, pictures)

    def put(
        self,
        candidates: Sequence[_Candidate],
        portraits: Mapping[_Candidate, Sequence[FaceView]],
        likeness: float,
    ) -> list[FiledPerson]:
        """Write the pictures and entries of all candidates, the most seen first.

        Two whose embeddings have a cosine of ``likeness`` or more may be the same person: that is noted.
        """
        used_ids = {member.id for member in self.holdings.members}
        used_ids |= {picture.id for picture in self.holdings.facts.pictures}
        new_ids = free_ids(used_ids, self.holdings.folder)
        ids = {candidate: candidate.member or next(new_ids) for candidate in candidates}
        names = {member.id: member.name for member in self.holdings.members}
        ids_in_cast = {*ids.values(), *(member.id for member in self.file.members)}
        filed: list[FiledPerson] = []
        for number, candidate in enumerate(candidates):
            person, person_id = candidate.person, ids[candidate]
            name = names.get(person_id, "")
            added, removed = self._renew(candidate, person_id, portraits[candidate])
            like = "" if name else candidate.like
            if not name and not like and candidate.way in ("new", "renew"):
                cosines: dict[str, float] = {}
                for more_seen in candidates[:number]:
                    # Two people in one frame are not the same.
                    if not more_seen.person.meets(person):
                        cosines[ids[more_seen]] = float(more_seen.person.centre @ person.centre)
                nearest = max(cosines, key=cosines.__getitem__, default="")
                like = nearest if nearest and cosines[nearest] >= likeness else ""
            appearance = Appearance(
                person_id,
                self.film.info.fingerprint,
                self.film.info.name,
                person.shots,
                round(person.looks / DISCOVERY_RATE, 3),
                round(person.first, 6),
                like if like in ids_in_cast else "",
            )
            filed.append(FiledPerson(appearance, name, candidate.way, added, removed))
        return filed

    def _renew(self, candidate: _Candidate, person_id: str, portraits: Sequence[FaceView]) -> tuple[int, int]:
        """Replace a person's pictures of this film by ``portraits``; returns how many are new and removed."""
        if candidate.way == "leave" or not portraits:
            return 0, 0
        subfolder = self._subfolder(candidate, person_id)
        before = [picture for picture in self._pictures_of_film() if picture.id == person_id]
        jpegs = [(view.face.seconds, view.jpeg) for view in portraits]
        written = put_pictures(self.holdings.folder, subfolder, file_stem(self.film.info.name), jpegs)
        now = []
        for (name, sha256), view in zip(written, portraits, strict=True):
            face = view.face
            now.append(
                CastPicture(person_id, name, sha256, self.film.info.fingerprint, face.seconds, face.box)
            )
        files = {picture.file for picture in now}
        removed = self._remove_pictures([picture for picture in before if picture.file not in files])
        self.pictures = [picture for picture in self.pictures if picture.file not in files] + now
        added = len(files - {picture.file for picture in before})
        return added, removed

    def _subfolder(self, candidate: _Candidate, person_id: str) -> str:
        """The subfolder for a person's pictures, which their entry in ``cast.yaml`` names from now on."""
        folder = self.holdings.folder
        if candidate.member is None:
            self.file.add(Member(person_id, photos=(folder / person_id,)))
            return person_id
        specs, root = self.file.photo_specs(person_id), folder.resolve()
        for spec in specs:
            path = (folder / spec).resolve()
            # Pictures go to no folder outside the cast's.
            if path.is_dir() and root in path.parents:
                return Path(spec).as_posix()
        if candidate.count:
            self.file.update(person_id, photos=(*specs, person_id))
        return person_id

    def close(self, filed: Sequence[FiledPerson]) -> None:
        """Write ``cast.yaml``, the facts and the overview, each only where it changes."""
        appearances: list[Appearance] = []
        for appearance in self.holdings.facts.found:
            # Members may have been merged or renamed since.
            successor = self.holdings.successor(appearance.id)
            if appearance.film != self.film.info.fingerprint and successor is not None:
                like = self.holdings.successor(appearance.like) or ""
                appearances.append(replace(appearance, id=successor, like=like))
        appearances += [person.found for person in filed]
        facts = DiscoveryRecord(merge_appearances(appearances), tuple(self.pictures))
        for person in filed:
            like = "" if person.name else facts.like(person.id)
            self.file.update(person.id, comment=comment_of(facts.in_films(person.id), like))
        if not self.file.path.exists() or self.file.path.read_text(encoding="utf-8") != self.file.text:
            self.file.save()
        facts.write(self.holdings.folder)
        write_overview(self.holdings.folder, self.file.members, facts)


Way = Literal["new", "add", "renew", "leave"]
"""What is done with a person's pictures; ``leave``: somebody has changed them by hand."""


@dataclass(frozen=True, slots=True)
class FiledPerson:
    """A person of the film as they are in the cast now; ``added`` and ``removed`` count pictures."""

    found: Appearance
    name: str
    way: Way
    added: int = 0
    removed: int = 0

    @property
    def id(self) -> str:
        """Their id in the cast."""
        return self.found.id


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a run found and changed; ``people`` are the most seen first.

    ``gone`` are ids of an earlier run that the film no longer shows, with nothing filled in; ``brief`` were
    seen too shortly, ``unclear`` had no good picture, ``dismissed`` were taken out of the cast before.
    """

    folder: Path
    film: str
    people: tuple[FiledPerson, ...] = ()
    gone: tuple[str, ...] = ()
    brief: int = 0
    unclear: int = 0
    dismissed: int = 0
    faces: int = 0


def comment_of(appearances: Sequence[Appearance], like: str = "") -> str:
    """The comment above a person's entry in ``cast.yaml``; ``like`` is the id of somebody they look like.

    >>> comment_of([Appearance("person-01", "f", "ep1.mp4", 2, 3.3, 83.5)], "anna")
    '2 shots, 3 s in view, first at 00:01:23 in ep1.mp4\\nLooks like anna; if they are one person, merge them'
    """
    shots = sum(in_film.shots for in_film in appearances)
    seconds = sum(in_film.seconds for in_film in appearances)
    films = f"{len(appearances)} films, " if len(appearances) > 1 else ""
    first = f"first at {timecode(appearances[0].first)[:8]} in {appearances[0].name}"
    comment = f"{films}{shots} {'shot' if shots == 1 else 'shots'}, {seconds:.0f} s in view, {first}"
    if like:
        comment += f"\nLooks like {like}; if they are one person, merge them"
    return comment
