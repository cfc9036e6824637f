"""Recognise the people of the cast in clips, by comparing faces in the film's shots with the cast's photos.

A part of building clips (`clip_builder`). Faces are tracked through each shot. What is decided stands in
``characters.json``, shot by shot and with its reasons; boxes and embeddings of faces stand in ``NAME.jsonl``
of the work folder and nowhere else. All of it is biometric data or says whose it is: ``shotad cast forget``
removes it.
"""

from __future__ import annotations

import base64
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shotad.core import (
    Cast,
    Character,
    ContextShot,
    Image,
    Interval,
    Progress,
    RecordLog,
    Shot,
    Sighting,
    WorkFolder,
)
from shotad.core.cast import REAPPEARANCE_SECONDS, Presence
from shotad.core.config.sight import CastSettings
from shotad.core.profiling import time_step
from shotad.core.progress import progress_task
from shotad.core.types import Role
from shotad.core.workfolder import hash_key
from shotad.description.preparation import RunContext
from shotad.description.slotplan import SlotPlan, nearby_names
from shotad.film import Pictures, Prepared
from shotad.film.overlays import marks_for
from shotad.film.slots import join_intervals
from shotad.sight import (
    FaceModels,
    FaceTrack,
    Gallery,
    Identification,
    PhotoReading,
    get_face_models,
    identify,
    read_gallery,
    tracks_of_shot,
)
from shotad.sight.castfolder import note_use
from shotad.sight.facetracks import track_from_json, track_to_json
from shotad.sight.photos import check_photo

ENTRANCE = 1.0
"""Seconds before a slot within which a person who comes in still counts as coming in during the slot."""
RECOGNITION_RATE = 4.0
"""Frames a second that are searched for faces, in addition to those that a model is shown
(docs/characters.md)."""


def face_searches(plans: Sequence[SlotPlan], settings: CastSettings) -> list[FaceSearch]:
    """The moments at which to look for faces, one search for each shot that a clip shows.

    They lie on a clock that does not depend on the slots, so that more or fewer slots change little, and at
    the first and last frame shown. Where each frame is decided for itself, they are all frames shown.
    """
    shown: dict[int, list[tuple[ContextShot, list[float]]]] = defaultdict(list)
    for plan in plans:
        for shot, frames in zip(plan.shots, plan.frames, strict=True):
            shown[shot.shot.index].append((shot, frames.seconds.tolist()))
    searches: list[FaceSearch] = []
    for _, parts in sorted(shown.items()):
        frame_moments: set[float] = set()
        moments: set[float] = set()
        for _, seconds in parts:
            frame_moments.update(seconds)
            moments.update((seconds[0], seconds[-1]))
        for interval in join_intervals([shot.clipped for shot, _ in parts]):
            moments.update(ticks_in(interval.start, interval.end, RECOGNITION_RATE))
        if settings.by_rules.decide == "frame":
            moments = frame_moments
        whole_shot = parts[-1][0].shot
        searches.append(FaceSearch(whole_shot, tuple(sorted(moments)), tuple(sorted(frame_moments))))
    return searches


def searches_before(plans: Sequence[SlotPlan], shots: Sequence[Shot]) -> list[FaceSearch]:
    """One search, in the middle, for each shot within `REAPPEARANCE_SECONDS` seconds before a slot that no
    clip shows.

    A person who is seen there does not come in during the slot.
    """
    shown: set[int] = set()
    times: list[Interval] = []
    for plan in plans:
        shown.update(shot.shot.index for shot in plan.shots)
        slot = plan.slot.interval
        times.append(Interval(max(0.0, slot.start - REAPPEARANCE_SECONDS), slot.end))
    times_before = join_intervals(times)
    searches = []
    for shot in shots:
        if shot.index not in shown and any(shot.interval.overlaps(time) for time in times_before):
            searches.append(FaceSearch(shot, (shot.interval.middle,)))
    return searches


_SAME_FRAME = 1e-3
"""Seconds by which records round."""


def check_cast(context: RunContext) -> None:
    """Refuse a cast that cannot be read, and fetch what it needs. Raises CastError, WeightsError."""
    cast = context.inputs.cast
    if cast is None:
        return
    for member in cast:
        for photo in member.photos:
            check_photo(photo)
    get_face_models(context.config.cast, context.progress)


@dataclass(frozen=True, slots=True)
class RecognisedMember:
    """Somebody of the cast, as they are called, and in how many shots of the clips they were recognised."""

    name: str
    shots: int


@dataclass(frozen=True, slots=True)
class Recognition:
    """Plans with the people and the names near their clips; who was recognised (None without a cast), and
    sentences for the user."""

    plans: tuple[SlotPlan, ...]
    members: tuple[RecognisedMember, ...] | None = None
    warnings: tuple[str, ...] = ()


@time_step("cast")
def recognise(
    plans: Sequence[SlotPlan],
    prepared: Prepared,
    context: RunContext,
    run: WorkFolder | None = None,
    *,
    lately: bool = False,
) -> Recognition:
    """The plans with the names in the dialogue near their clips and, with a cast, with who is in them.

    ``run`` is the folder of a finished run over more slots, of which these are a few. Its faces count too
    where the film's own views of a person are chosen, so that people are recognised as in that run; its
    records are kept. ``lately``: whether to find who was seen before each slot (`Presence.lately`).
    """
    cast = context.inputs.cast
    if cast is None:
        return Recognition(tuple(_with_nearby_names(plan, (), prepared, context) for plan in plans))
    if context.run_inputs.cast is not None:
        note_use(context.run_inputs.cast.path, (run or context.folder).path)
    models = FaceModels(context.config.cast, context.progress)
    gallery = _photos(cast, run or context.folder, models, context.config.cast)
    searches = face_searches(plans, context.config.cast)
    if lately:
        searches += searches_before(plans, prepared.shots)
        searches.sort(key=lambda search: search.shot.index)
    faces_by_shot, all_faces = _recognised_faces(
        searches, prepared.shots, context, cast, run, models, gallery
    )
    film = context.film.info.name
    # Those with a usable photo
    nameable_ids = tuple(member.id for member in cast if member.says and member.id in gallery.photos)
    plans_with_people = []
    for plan in plans:
        start = plan.slot.interval.start
        characters = cast.characters(film, start)
        presence = presence_of(plan, characters, nameable_ids, faces_by_shot, context.config.cast)
        if lately:
            presence = replace(presence, lately=seen_lately(start, all_faces))
        plan_with_people = replace(plan, presence=presence)
        plans_with_people.append(_with_nearby_names(plan_with_people, characters, prepared, context))
    context.folder.write_json(f"{CHARACTERS}.json", _record(cast, models, faces_by_shot))
    warnings = [*cast.warnings, *gallery.warnings]
    for member in cast:
        if member.says and member.reveals and member.reveal_of(film) is None:
            films = ", ".join(reveal.film for reveal in member.reveals)
            warnings.append(
                f"reveal_at of {member.says} tells of {films}, not of {film}: named from the start."
            )
    shot_counts: Counter[str] = Counter()
    for faces in faces_by_shot.values():
        shot_counts.update(faces.members)
    members: list[RecognisedMember] = []
    for member in cast:
        if shot_counts[member.id]:
            members.append(RecognisedMember(member.says, shot_counts[member.id]))
    return Recognition(tuple(plans_with_people), tuple(members), tuple(warnings))


def _photos(cast: Cast, folder: WorkFolder, models: FaceModels, settings: CastSettings) -> Gallery:
    """The photos of the cast; those that an earlier run has read are not read again."""
    key = hash_key("cast-faces/1", models.identity)
    record = folder.record_under_key(PHOTOS, key) or {"photos": {}}
    earlier_readings = {name: reading_of(row) for name, row in record["photos"].items()}
    gallery = read_gallery(cast, models, settings, earlier_readings)
    rows = {name: reading_row(reading) for name, reading in gallery.readings.items()}
    if rows != record["photos"]:
        folder.write_json(f"{PHOTOS}.json", {"key": key, "photos": rows})
    return gallery


def seen_lately(start: float, all_faces: Iterable[ShotFaces]) -> tuple[str, ...]:
    """Ids of the members whose face was recognised within `REAPPEARANCE_SECONDS` seconds before second
    ``start``.

    Left out are those who came in within `ENTRANCE` seconds before it.
    """
    members: set[str] = set()
    for faces in all_faces:
        for track, verdict in zip(faces.tracks, faces.verdicts, strict=True):
            if track.first < start - ENTRANCE and track.last > start - REAPPEARANCE_SECONDS:
                members.update(member for member in (verdict.member, *verdict.looks) if member is not None)
    return tuple(sorted(members))


def _recognised_faces(
    searches: Sequence[FaceSearch],
    shots: Sequence[Shot],
    context: RunContext,
    cast: Cast,
    run: WorkFolder | None,
    models: FaceModels,
    gallery: Gallery,
) -> tuple[dict[int, ShotFaces], list[ShotFaces]]:
    """The faces of the searched shots with whose they are, by the index of the shot; and the same of these
    shots and all others that a finished ``run`` has searched."""
    settings, run_inputs = context.config.cast, context.run_inputs
    log = (run or context.folder).log_of_records(FACES)
    # Before `read_faces`, which adds to the log
    faces_in_run = known_faces(log, shots, models) if run is not None else []
    picture_key = [context.film_key, context.frames.key]
    is_whole_film = run is None and run_inputs.start <= 0 and run_inputs.end is None
    all_faces = list(
        read_faces(
            searches,
            context.frames.pictures,
            picture_key,
            models,
            log,
            context.progress,
            tidy=is_whole_film,
        )
    )
    searched_shots = {faces.shot.index for faces in all_faces}
    all_faces += [faces for faces in faces_in_run if faces.shot.index not in searched_shots]
    tracks = [track for faces in all_faces for track in faces.tracks]
    names = {member.id: member.says or member.id for member in cast}
    # All tracks together: the film's own views of a person are chosen among them.
    verdicts = iter(identify(tracks, gallery, settings, models, names))
    recognised: list[ShotFaces] = []
    for faces in all_faces:
        recognised.append(replace(faces, verdicts=tuple(next(verdicts) for _ in faces.tracks)))
    by_shot = {faces.shot.index: faces for faces in recognised if faces.shot.index in searched_shots}
    return by_shot, recognised


def presence_of(
    plan: SlotPlan,
    characters: Sequence[Character],
    nameable_ids: Sequence[str],
    faces_by_shot: Mapping[int, ShotFaces],
    settings: CastSettings,
) -> Presence:
    """Who is on the frames of a clip; a character who may be called nothing yet gets no mark.

    ``characters`` are the cast as they are called at the slot; ``nameable_ids`` all who can be recognised
    and named in the film: each has the same mark in all clips.
    """
    ids = [character.id for character in characters if character.called]
    sightings: dict[tuple[str, float], Sighting] = {}
    roles: dict[str, set[Role]] = defaultdict(set)
    for shot, frames in zip(plan.shots, plan.frames, strict=True):
        faces = faces_by_shot.get(shot.shot.index)
        if faces is None:
            continue
        for second in frames.seconds.tolist():
            for sighting in faces.at(second, ids):
                sightings.setdefault((sighting.name, sighting.seconds), sighting)
                roles[sighting.name].add(frames.role)
    marked_ids = nameable_ids
    if settings.by_rules.colours == "clip":
        marked_ids = list(dict.fromkeys(sighting.name for sighting in sightings.values()))
    marks = marks_for(marked_ids)
    return Presence(
        cast=tuple(characters),
        current=tuple(name for name in ids if Role.CURRENT in roles[name]),
        others=tuple(name for name in ids if roles[name] and Role.CURRENT not in roles[name]),
        marks={name: marks[name] for name in ids if roles[name]},
        sightings=tuple(sorted(sightings.values(), key=lambda sighting: (sighting.seconds, sighting.name))),
    )


def _with_nearby_names(
    plan: SlotPlan, characters: Sequence[Character], prepared: Prepared, context: RunContext
) -> SlotPlan:
    """The plan with the names in the given subtitles near its clip, if these are wanted."""
    if context.run_inputs.subtitles is None or not context.config.prompt.by_rules.heard_names:
        return plan
    clip = Interval(plan.shots[0].clipped.start, plan.shots[-1].clipped.end)
    return replace(plan, nearby_names=nearby_names(prepared.speech, clip, characters))


def _record(cast: Cast, models: FaceModels, faces_by_shot: Mapping[int, ShotFaces]) -> dict[str, Any]:
    """The content of ``characters.json``: each face track, whose it is and why."""
    shots: dict[str, list[int]] = defaultdict(list)
    tracks = []
    for index, faces in sorted(faces_by_shot.items()):
        for name in faces.members:
            shots[name].append(index)
        for track, verdict in zip(faces.tracks, faces.verdicts, strict=True):
            tracks.append(
                {
                    "shot": index,
                    "first": track.first,
                    "last": track.last,
                    "looks": len(track.faces),
                    "person": verdict.person,
                    "named": verdict.member,
                    "likeness": None if verdict.likeness is None else round(verdict.likeness, 3),
                    "runner_up": None if verdict.runner_up is None else round(verdict.runner_up, 3),
                    "reason": verdict.reason,
                }
            )
    people = []
    for member in cast:
        if member.says:
            people.append({"id": member.id, "name": member.says, "shots": shots[member.id]})
    return {"models": models.identity, "cast": people, "tracks": tracks}


@dataclass(frozen=True, slots=True)
class FaceSearch:
    """The seconds at which faces are looked for in a shot, and those of the frames that a model is shown."""

    shot: Shot
    moments: tuple[float, ...]
    frames: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ShotFaces:
    """The face tracks of a shot, with whose each is once that is known.

    ``frame_times`` has, for each moment of a frame that a model is shown, the second of the film's frame
    there.
    """

    shot: Shot
    tracks: tuple[FaceTrack, ...]
    frame_times: Mapping[float, float]
    verdicts: tuple[Identification, ...] = ()

    @property
    def members(self) -> set[str]:
        """Ids of the members of the cast that were recognised."""
        members: set[str] = set()
        for verdict in self.verdicts:
            members.update(member for member in (verdict.member, *verdict.looks) if member is not None)
        return members

    def at(self, moment: float, ids: Collection[str]) -> Iterator[Sighting]:
        """The members among ``ids`` that are on the frame of ``moment``."""
        frame_time = self.frame_times.get(moment)
        if frame_time is None:
            return
        for track, verdict in zip(self.tracks, self.verdicts, strict=True):
            box, member = track.box_at(frame_time), verdict.member
            if verdict.looks:
                # Each face of the track has a verdict of its own.
                distances = [abs(face.seconds - frame_time) for face in track.faces]
                nearest = min(range(len(distances)), key=distances.__getitem__)
                member = verdict.at(nearest) if distances[nearest] < _SAME_FRAME else None
            if box is not None and member is not None and member in ids:
                yield Sighting(member, box, frame_time, round(verdict.likeness or 0.0, 4))


def read_faces(
    searches: Sequence[FaceSearch],
    pictures: Pictures,
    picture_key: object,
    models: FaceModels,
    log: RecordLog,
    progress: Progress,
    *,
    tidy: bool = True,
) -> Iterator[ShotFaces]:
    """The faces of each searched shot, in the order of ``searches`` (the film's), one shot at a time.

    Shots that ``log`` has are not searched again. ``picture_key`` is all that changes the ``pictures``.
    ``tidy``: in the end ``log`` holds just these shots.
    """
    keys = {search.shot.index: _key(search, picture_key, models) for search in searches}
    missing = [search for search in searches if log.get(keys[search.shot.index]) is None]
    with progress_task(progress, "Looking for faces", len(missing), "shots") as task:
        new_records = _searched(missing, pictures, models)
        for search in searches:
            key = keys[search.shot.index]
            if log.get(key) is None:
                log.add(key, next(new_records))
                task.advance()
            yield _faces_of(search.shot, log.record(key))
    if tidy:
        log.keep(keys.values())


def search_moments(searches: Sequence[FaceSearch]) -> list[float]:
    """All the seconds of which pictures are needed, ascending."""
    moments: list[float] = []
    for search in searches:
        moments += sorted({*search.moments, *search.frames})
    return moments


def known_faces(log: RecordLog, shots: Sequence[Shot], models: FaceModels) -> list[ShotFaces]:
    """The faces that ``log`` has of these shots by these models, whatever the search was for."""
    by_index = {shot.index: shot for shot in shots}
    faces: list[ShotFaces] = []
    for record in log.records():
        if record.get("models") == models.identity and record.get("shot") in by_index:
            faces.append(_faces_of(by_index[record["shot"]], record))
    return faces


def ticks_in(start: float, end: float, rate: float) -> list[float]:
    """The moments in ``[start, end)`` of a clock that goes from second 0 at ``rate`` a second.

    >>> ticks_in(0.9, 2.0, 2.0)
    [1.0, 1.5]
    """
    # One tick more on each side: a rounded product may lie on the wrong side of the border.
    first = int(-(-start * rate // 1))
    moments = (tick / rate for tick in range(max(first - 1, 0), int(end * rate) + 2))
    return [moment for moment in moments if start <= moment < end]


def _key(search: FaceSearch, picture_key: object, models: FaceModels) -> str:
    interval = search.shot.interval
    moments = [search.moments, search.frames]
    return hash_key("faces/1", picture_key, models.identity, [interval.start, interval.end], moments)


def _searched(
    searches: Sequence[FaceSearch], pictures: Pictures, models: FaceModels
) -> Iterator[dict[str, Any]]:
    """A record for each search, in order; pictures are read in one pass, and held one at a time."""
    moments = search_moments(searches)
    remaining = iter(pictures(moments) if moments else ())
    next_picture = next(remaining, None)

    def pictures_of(search: FaceSearch, frame_times: dict[float, float]) -> Iterator[tuple[float, Image]]:
        """The pictures of one shot to search, each frame once, with its second; fills ``frame_times``."""
        nonlocal next_picture
        last_moment = max([*search.moments, *search.frames], default=-1.0)
        last_searched = -1.0
        while next_picture is not None and next_picture.wanted <= last_moment:
            picture, next_picture = next_picture, next(remaining, None)
            frame_times[picture.wanted] = picture.seconds
            if picture.wanted in search.moments and picture.seconds > last_searched:
                last_searched = picture.seconds
                yield picture.seconds, picture.image

    for search in searches:
        frame_times: dict[float, float] = {}
        tracks = tracks_of_shot(pictures_of(search, frame_times), search.shot.index, models)
        yield {
            "shot": search.shot.index,
            "models": models.identity,
            "frames": [[moment, frame_times[moment]] for moment in search.frames if moment in frame_times],
            "tracks": [track_to_json(track) for track in tracks],
        }


def _faces_of(shot: Shot, record: Mapping[str, Any]) -> ShotFaces:
    tracks = tuple(track_from_json(row) for row in record["tracks"])
    return ShotFaces(shot, tracks, dict(record["frames"]))


FACES = "faces"
"""Name of ``faces.jsonl``: the faces in the clips, a record for each shot."""
DISCOVERED = "discovered"
"""Name of ``discovered.jsonl``: the same for the whole film, by discovery."""
PHOTOS = "cast-faces"
"""Name of ``cast-faces.json``: the faces on the cast's photos."""
CHARACTERS = "characters"
"""Name of ``characters.json``: whose each face was."""

_FLOAT = np.dtype("<f4")
"""Little-endian on all machines, so that records can be moved."""


def reading_row(reading: PhotoReading) -> dict[str, Any]:
    """A photo's embedding as JSON, to the bit, or why it has none."""
    if isinstance(reading, str):
        return {"trouble": reading}
    data = np.ascontiguousarray(reading, _FLOAT).tobytes()
    return {"embedding": base64.b64encode(data).decode("ascii")}


def reading_of(row: Mapping[str, Any]) -> PhotoReading:
    """The reading that `reading_row` wrote."""
    if "embedding" not in row:
        trouble: PhotoReading = row["trouble"]
        return trouble
    return np.frombuffer(base64.b64decode(row["embedding"]), _FLOAT).astype(np.float32)
