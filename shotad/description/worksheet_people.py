"""Who is seen when, for the worksheet: by name where the cast is known, else by a letter.

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
    read_file,
    read_settings,
    thread_name,
    whole_record,
)
from shotad.description.cast_discovery import FRAMES_PER_SECOND, LEAST_SECONDS, PIXELS
from shotad.description.cast_recognition import CHARACTERS, DISCOVERED, FACES, LOOKS as RUN_LOOKS
from shotad.sight import (
    Face,
    FaceModels,
    FaceTrack,
    Facts as CastFacts,
    FoundPerson,
    Holdings,
    from_row,
    load_cast,
    people_in,
)

OWN_CAST = "cast"
"""The cast folder within the work folder, which the review page makes where there is no other."""

_SAME_FACE = 0.5
"""Overlap (intersection over union) above which two boxes of one moment are of one face."""

_HIGHEST = 1080
"""Lines of the picture in which faces were looked for, where the film is gone and nothing says so."""


@dataclass(frozen=True, slots=True)
class SeenFace:
    """One face through one shot: whose it is by the id of the ``member``, or the ``letter`` of its group;
    neither where it is not known."""

    shot: int
    first: float
    last: float
    member: str = ""
    letter: str = ""


@dataclass(frozen=True, slots=True)
class SeenPeople:
    """All faces seen in a film by shot, the members of its cast by id, and by letter the faces of each group.

    ``cast_ids`` says by letter who of the cast it is, of those without a name there.

    ``missing`` says what could not be read.
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


def cast_place(folder: Path, film: Path | None) -> Path | None:
    """Where the cast of a film lies: as its run was given it, else beside the film or in the folder."""
    try:
        given = read_settings(folder).given.cast
    except ShotadError:
        given = None
    if given is not None and given.path.exists():
        return given.path
    beside = film.with_name((film.stem if film.suffix else film.name) + ".cast") if film is not None else None
    for place in (beside, folder / OWN_CAST):
        if place is not None and place.is_dir():
            return place
    return None


TrackName = tuple[int, float, float, int]
"""By which ``characters.json`` names a track: its shot, its first and last second, its number of looks."""


def seen_people(
    folder: Path, config: Config, fingerprint: str, info: FilmInfo | None, height: int | None = None
) -> SeenPeople:
    """Who is seen in the film of a work folder, as far as its records tell.

    ``fingerprint`` is the film's; ``height`` that of the pictures in which discovery looked for faces, for a
    film that is gone (``info`` is None then).
    """
    missing: list[str] = []
    models = FaceModels(config.cast)
    place = cast_place(folder, info.path if info is not None else None)
    members: dict[str, Member] = {}
    holdings: Holdings | None = None
    decided: dict[TrackName, str] = {}
    try:
        if place is not None:
            members, holdings = _read_cast(folder, place)
        decided = _decided_in(folder)
    except ShotadError as error:
        missing.append(f"{error.what.rstrip('.')}; so people have no names.")

    looked = _tracks_in(folder / f"{FACES}.jsonl", models)
    # Discovery has looked at the whole film, a run with a cast only at its clips.
    discovered = _tracks_in(folder / f"{DISCOVERED}.jsonl", models)
    tracks = discovered or looked
    lines = (height or _HIGHEST) if discovered else config.film.grid_height
    if info is not None:
        lines = info.size_within(max_pixels=PIXELS)[1] if discovered else info.size_within(lines)[1]
    people = people_in(tracks, lines, models.join, models.margin) if tracks else []
    # Who is seen for less in the whole film gets no entry by discovery either.
    least_looks = LEAST_SECONDS * (FRAMES_PER_SECOND if discovered else RUN_LOOKS)

    faces: list[SeenFace] = []
    by_letter: dict[str, tuple[Face, ...]] = {}
    cast_ids: dict[str, str] = {}
    named_looks = _named_looks(looked, decided)
    # Letters go by place among all groups, so that nobody's changes when somebody else gets a name.
    for number, person in enumerate(people):
        member = _member_of(person, named_looks, holdings, fingerprint)
        letter = ""
        if not _says_name(members, member) and person.looks >= least_looks:
            letter = thread_name(number)
            by_letter[letter] = tuple(face for track in person.tracks for face in track.faces)
            cast_ids[letter] = member if member in members else ""
        name = member if _says_name(members, member) else ""
        faces += [SeenFace(track.shot, track.first, track.last, name, letter) for track in person.tracks]

    grouped = {id(track) for person in people for track in person.tracks}
    for track in tracks:
        if id(track) not in grouped and not _is_named(track, named_looks):
            faces.append(SeenFace(track.shot, track.first, track.last))
    # Who was recognised by the photos of the cast counts also where no group of faces says so.
    for (shot, first, last, _), member in decided.items():
        if _says_name(members, member):
            faces.append(SeenFace(shot, first, last, member))
    by_shot: dict[int, list[SeenFace]] = {}
    for face in faces:
        by_shot.setdefault(face.shot, []).append(face)
    return SeenPeople(by_shot, members, by_letter, cast_ids, tuple(missing))


def _says_name(members: Mapping[str, Member], member: str) -> bool:
    """Whether somebody is in the cast and has a name there."""
    return member in members and bool(members[member].says)


def _read_cast(folder: Path, place: Path) -> tuple[dict[str, Member], Holdings | None]:
    """The members of a cast by id, and what discovery has put into its folder."""
    key, photos = "", None
    try:
        given = read_settings(folder).given.cast
        if given is not None and given.path == place:
            key, photos = given.key, given.photos
    except ShotadError:
        pass  # without settings the cast lies beside the film, and is of this film alone
    cast = load_cast(place, key=key, photos=photos)
    members = {member.id: member for member in cast}
    cast_folder = place if place.is_dir() else place.parent
    return members, Holdings(cast_folder, tuple(cast), CastFacts.read(cast_folder))


def _tracks_in(path: Path, models: FaceModels) -> list[FaceTrack]:
    """The faces in ``faces.jsonl`` or ``discovered.jsonl`` by these models, in order of the film."""
    if not path.exists():
        return []
    # A record with the key of an earlier one takes its place.
    records = {}
    for line in read_file(path).splitlines():
        record = whole_record(path.name, line)
        if record is not None and record.get("models") == models.identity:
            records[record["key"]] = record
    by_shot = {record["shot"]: record for record in records.values()}
    return [from_row(row) for _, record in sorted(by_shot.items()) for row in record["tracks"]]


def _decided_in(folder: Path) -> dict[TrackName, str]:
    """Whose each track is that a run recognised, by id."""
    record = WorkFolder(folder).read_json(f"{CHARACTERS}.json") or {"tracks": ()}
    return {
        (row["shot"], row["first"], row["last"], row["looks"]): row["person"]
        for row in record["tracks"]
        if row["person"]
    }


def _named_looks(
    tracks: Iterable[FaceTrack], decided: Mapping[TrackName, str]
) -> dict[int, list[tuple[float, Box, str]]]:
    """By shot: when and where somebody of the cast was recognised, and who."""
    looks: dict[int, list[tuple[float, Box, str]]] = {}
    for track in tracks:
        member = decided.get((track.shot, track.first, track.last, len(track.faces)))
        if member is not None:
            middle = track.faces[len(track.faces) // 2]
            looks.setdefault(track.shot, []).append((middle.seconds, middle.box, member))
    return looks


def _is_named(track: FaceTrack, named_looks: Mapping[int, Sequence[tuple[float, Box, str]]]) -> bool:
    """Whether a run has recognised somebody of the cast where this track is."""
    return any(
        (there := track.box_at(second)) is not None and there.iou(box) > _SAME_FACE
        for second, box, _ in named_looks.get(track.shot, ())
    )


def _member_of(
    person: FoundPerson,
    named_looks: Mapping[int, Sequence[tuple[float, Box, str]]],
    holdings: Holdings | None,
    fingerprint: str,
) -> str:
    """Which member of the cast a group of faces is, by id; empty for nobody.

    Pictures that discovery cut from the group, and faces that a run recognised, each count once.
    """
    votes: Counter[str] = Counter()
    for track in person.tracks:
        for second, box, member in named_looks.get(track.shot, ()):
            there = track.box_at(second)
            if there is not None and there.iou(box) > _SAME_FACE:
                votes[member] += 1
    for picture in holdings.facts.of_film(fingerprint) if holdings is not None else ():
        holder = holdings.holder(picture) if holdings is not None else None
        if holder is not None and person.is_seen_at(picture.second, picture.box):
            votes[holder] += 1
    if not votes:
        return ""
    return max(sorted(votes), key=lambda member: votes[member])
