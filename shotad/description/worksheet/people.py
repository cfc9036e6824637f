"""The people in each shot, for the worksheet: by name where the cast is known, else by a letter.

Read from what runs have kept of faces; no model is asked. A letter stands for a group of faces that ``shotad
cast discover`` would make one person; it is the same through the whole film.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shotad.core import (
    Box,
    Config,
    FilmInfo,
    Member,
    ShotadError,
    WorkFolder,
)
from shotad.core.files import read_file
from shotad.core.records import parse_record
from shotad.core.runsettings import read_settings
from shotad.core.types import thread_name
from shotad.description.casting.discovery import DISCOVERY_RATE, LEAST_SECONDS, MAX_PIXELS
from shotad.description.casting.recognition import CHARACTERS, DISCOVERED, FACES, RECOGNITION_RATE
from shotad.sight import (
    CastPictures,
    DiscoveryRecord as CastFacts,
    Face,
    FaceModels,
    FaceTrack,
    FoundPerson,
    group_people,
    load_cast,
)
from shotad.sight.facetracks import track_from_json

OWN_CAST = "cast"
"""The cast folder within the work folder, which the review page makes where there is no other."""

_SAME_FACE = 0.5
"""Overlap (intersection over union) above which two boxes of one moment are of one face."""

_DISCOVERY_HEIGHT = 1080
"""Height of the pictures in which discovery looked for faces, where the film is gone and nothing says so."""


@dataclass(frozen=True, slots=True)
class SeenFace:
    """A face track of a shot, with the id of the ``member`` whose it is, or the ``letter`` of its group;
    neither where it is not known. ``first`` and ``last`` are film seconds."""

    shot: int
    first: float
    last: float
    member: str = ""
    letter: str = ""


@dataclass(frozen=True, slots=True)
class SeenPeople:
    """The face tracks of a film by the index of their shot, the members of its cast by id, and the faces of
    each group without a name by its letter.

    ``cast_ids`` has, by letter, the id of the member without a name that the group is; ``missing`` says what
    could not be read.
    """

    faces: Mapping[int, Sequence[SeenFace]] = field(default_factory=dict)
    members: Mapping[str, Member] = field(default_factory=dict)
    by_letter: Mapping[str, tuple[Face, ...]] = field(default_factory=dict)
    cast_ids: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def name_at(self, face: SeenFace, film: str, second: float) -> str:
        """What a face may be called at a moment: a name, ``person A``, or nothing."""
        if face.letter:
            return f"person {face.letter}"
        member = self.members.get(face.member)
        if member is None:
            return face.member
        character = member.character(film, second)
        if character is None or not member.says:
            return member.descriptor or member.id
        if character.named:
            return character.called
        return f"{member.says} (not named yet)"


def find_cast(folder: Path, film: Path | None) -> Path | None:
    """The cast of a film: the one given to its run, else a cast folder beside the film or in its work folder;
    None where there is none."""
    try:
        cast_of_run = read_settings(folder).given.cast
    except ShotadError:
        cast_of_run = None
    if cast_of_run is not None and cast_of_run.path.exists():
        return cast_of_run.path
    beside = film.with_name((film.stem if film.suffix else film.name) + ".cast") if film is not None else None
    for place in (beside, folder / OWN_CAST):
        if place is not None and place.is_dir():
            return place
    return None


TrackName = tuple[int, float, float, int]
"""What identifies a track in ``characters.json``: its shot, its first and last second, how many faces."""

NamedFace = tuple[float, Box, str]
"""The middle face of a recognised track: its second, its box, and the id of the member."""


def seen_people(
    folder: Path, config: Config, fingerprint: str, info: FilmInfo | None, height: int | None = None
) -> SeenPeople:
    """The people in the film of a work folder, as far as its records have them.

    ``fingerprint`` is the film's; ``height`` that of the pictures in which discovery looked for faces, for a
    film that is gone (``info`` is None then).
    """
    missing: list[str] = []
    models = FaceModels(config.cast)
    place = find_cast(folder, info.path if info is not None else None)
    members: dict[str, Member] = {}
    holdings: CastPictures | None = None
    recognised: dict[TrackName, str] = {}
    try:
        if place is not None:
            members, holdings = _read_cast(folder, place)
        recognised = _recognised_tracks(folder)
    except ShotadError as error:
        missing.append(f"{error.what.rstrip('.')}; so people have no names.")

    tracks_of_run = _tracks_in(folder / f"{FACES}.jsonl", models)
    # Discovery has searched the whole film, a run with a cast only its clips.
    discovered = _tracks_in(folder / f"{DISCOVERED}.jsonl", models)
    tracks = discovered or tracks_of_run
    if discovered:
        picture_height = info.size_within(max_pixels=MAX_PIXELS)[1] if info else height or _DISCOVERY_HEIGHT
    else:
        grid_height = config.film.grid_height
        picture_height = info.size_within(grid_height)[1] if info else grid_height
    people = group_people(tracks, picture_height, models.join, models.margin) if tracks else []
    # People who are seen for less in the whole film get no entry by discovery either.
    least_looks = LEAST_SECONDS * (DISCOVERY_RATE if discovered else RECOGNITION_RATE)

    faces: list[SeenFace] = []
    by_letter: dict[str, tuple[Face, ...]] = {}
    cast_ids: dict[str, str] = {}
    named_faces = _named_faces(tracks_of_run, recognised)
    grouped_tracks: set[int] = set()
    # Letters go by place among all groups, so that nobody's changes when somebody else gets a name.
    for number, person in enumerate(people):
        member = _member_of(person, named_faces, holdings, fingerprint)
        has_name = _has_name(members, member)
        letter = ""
        if not has_name and person.looks >= least_looks:
            letter = thread_name(number)
            by_letter[letter] = tuple(face for track in person.tracks for face in track.faces)
            cast_ids[letter] = member if member in members else ""
        for track in person.tracks:
            grouped_tracks.add(id(track))
            faces.append(SeenFace(track.shot, track.first, track.last, member if has_name else "", letter))

    for track in tracks:
        if id(track) not in grouped_tracks and not _names_on(track, named_faces):
            faces.append(SeenFace(track.shot, track.first, track.last))
    # A member who was recognised by photos counts also where no group of faces is theirs.
    for (shot, first, last, _), member in recognised.items():
        if _has_name(members, member):
            faces.append(SeenFace(shot, first, last, member))
    by_shot: dict[int, list[SeenFace]] = {}
    for face in faces:
        by_shot.setdefault(face.shot, []).append(face)
    return SeenPeople(by_shot, members, by_letter, cast_ids, tuple(missing))


def _has_name(members: Mapping[str, Member], member: str) -> bool:
    """Whether the id ``member`` is in the cast and has a name there."""
    return member in members and bool(members[member].says)


def _read_cast(folder: Path, place: Path) -> tuple[dict[str, Member], CastPictures | None]:
    """The members of the cast at ``place`` by id, and what discovery has put into its folder. Raises
    CastError."""
    key, photos = "", None
    try:
        cast_of_run = read_settings(folder).given.cast
        if cast_of_run is not None and cast_of_run.path == place:
            key, photos = cast_of_run.key, cast_of_run.photos
    except ShotadError:
        pass  # without settings the cast lies beside the film, and is of this film alone
    cast = load_cast(place, key=key, photos=photos)
    members = {member.id: member for member in cast}
    cast_folder = place if place.is_dir() else place.parent
    return members, CastPictures(cast_folder, tuple(cast), CastFacts.read(cast_folder))


def _tracks_in(path: Path, models: FaceModels) -> list[FaceTrack]:
    """The face tracks in ``faces.jsonl`` or ``discovered.jsonl`` by these models, in the film's order."""
    if not path.exists():
        return []
    # A record with the key of an earlier one takes its place.
    records = {}
    for line in read_file(path).splitlines():
        record = parse_record(path.name, line)
        if record is not None and record.get("models") == models.identity:
            records[record["key"]] = record
    record_of_shot = {record["shot"]: record for record in records.values()}
    tracks: list[FaceTrack] = []
    for _, record in sorted(record_of_shot.items()):
        tracks += [track_from_json(row) for row in record["tracks"]]
    return tracks


def _recognised_tracks(folder: Path) -> dict[TrackName, str]:
    """The ids of the members whose tracks a run recognised."""
    record = WorkFolder(folder).read_json(f"{CHARACTERS}.json") or {"tracks": ()}
    members: dict[TrackName, str] = {}
    for row in record["tracks"]:
        if row["person"]:
            members[row["shot"], row["first"], row["last"], row["looks"]] = row["person"]
    return members


def _named_faces(
    tracks: Iterable[FaceTrack], recognised: Mapping[TrackName, str]
) -> dict[int, list[NamedFace]]:
    """The middle face of each recognised track, by the index of its shot."""
    named_faces: dict[int, list[NamedFace]] = {}
    for track in tracks:
        member = recognised.get((track.shot, track.first, track.last, len(track.faces)))
        if member is not None:
            middle = track.faces[len(track.faces) // 2]
            named_faces.setdefault(track.shot, []).append((middle.seconds, middle.box, member))
    return named_faces


def _names_on(track: FaceTrack, named_faces: Mapping[int, Sequence[NamedFace]]) -> list[str]:
    """The ids of the members whom a run recognised where this track is."""
    members: list[str] = []
    for second, named_box, member in named_faces.get(track.shot, ()):
        box = track.box_at(second)
        if box is not None and box.iou(named_box) > _SAME_FACE:
            members.append(member)
    return members


def _member_of(
    person: FoundPerson,
    named_faces: Mapping[int, Sequence[NamedFace]],
    holdings: CastPictures | None,
    fingerprint: str,
) -> str:
    """The id of the member that a group of faces is; empty for nobody of the cast.

    Pictures that discovery cut from the group, and faces that a run recognised, each count once.
    """
    votes: Counter[str] = Counter()
    for track in person.tracks:
        votes.update(_names_on(track, named_faces))
    if holdings is not None:
        for picture in holdings.facts.of_film(fingerprint):
            holder = holdings.holder(picture)
            if holder is not None and person.is_seen_at(picture.second, picture.box):
                votes[holder] += 1
    if not votes:
        return ""
    # Sorted, so that of equals the first id is taken.
    return max(sorted(votes), key=lambda member: votes[member])
