"""Who of the cast is in which clip: faces of the film's shots against the photos of the cast.

Part of the second act. Faces are followed through each shot. What is decided stands in ``characters.json``,
shot by shot and with its reasons; boxes and embeddings of faces stand in ``NAME.jsonl`` of the work folder
and nowhere else. All of it is biometric data or says whose it is: ``shotad cast forget`` removes it.
"""

from __future__ import annotations

import base64
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shotad.core import (
    LATELY,
    Cast,
    CastSettings,
    Character,
    ContextShot,
    Image,
    Interval,
    Presence,
    Progress,
    RecordLog,
    Role,
    Shot,
    Sighting,
    WorkFolder,
    key_of,
    reported,
    span,
)
from shotad.description.preparing import RunContext
from shotad.description.slotplan import SlotPlan, nearby_names
from shotad.film import Pictures, Prepared, marks_for, union
from shotad.sight import (
    FaceModels,
    FaceTrack,
    Gallery,
    PhotoReading,
    Verdict,
    check_photo,
    from_row,
    get_face_models,
    identify,
    note_use,
    read_gallery,
    to_row,
    tracks_of_shot,
)

JUST_COME = 1.0
"""Seconds before a slot within which somebody who comes in is told of in the slot."""
LOOKS = 4.0
"""Frames a second at which faces are looked for, besides those that a model is shown (docs/characters.md)."""


def face_searches(plans: Sequence[SlotPlan], settings: CastSettings) -> list[FaceSearch]:
    """Where to look: on a clock of its own, so that slots more or fewer change little, and at the first and
    last frame shown. Where each frame is decided for itself, at all frames.
    """
    shown: dict[int, list[tuple[ContextShot, list[float]]]] = defaultdict(list)
    for plan in plans:
        for piece, frames in zip(plan.shots, plan.frames, strict=True):
            shown[piece.shot.index].append((piece, frames.seconds.tolist()))
    wanted = []
    for _, parts in sorted(shown.items()):
        moments = tuple(sorted({second for _, seconds in parts for second in seconds}))
        ends = {second for _, seconds in parts for second in (seconds[0], seconds[-1])}
        clipped = union([piece.clipped for piece, _ in parts])
        ticks = {t for part in clipped for t in ticks_in(part.start, part.end, LOOKS)}
        looks = moments if settings.by_rules.decide == "frame" else tuple(sorted(ticks | ends))
        wanted.append(FaceSearch(parts[-1][0].shot, looks, moments))
    return wanted


def searches_before(plans: Sequence[SlotPlan], shots: Sequence[Shot]) -> list[FaceSearch]:
    """One look at the middle of each shot within `LATELY` seconds before a slot that no clip shows: who is
    seen there does not come in anew in the slot."""
    shown = {piece.shot.index for plan in plans for piece in plan.shots}
    before = union([Interval(max(0.0, p.slot.interval.start - LATELY), p.slot.interval.end) for p in plans])
    return [
        FaceSearch(shot, (shot.interval.middle,))
        for shot in shots
        if shot.index not in shown and any(shot.interval.overlaps(time) for time in before)
    ]


_SAME_FRAME = 1e-3
"""Seconds by which records round."""


def check_cast(context: RunContext) -> None:
    """Refuse a cast that cannot be read, and fetch what it needs. Raises CastError, WeightsError."""
    cast = context.inputs.cast
    if cast is None:
        return
    for photo in (photo for member in cast for photo in member.photos):
        check_photo(photo)
    get_face_models(context.config.cast, context.progress)


@span("cast")
def recognise(
    plans: Sequence[SlotPlan],
    prepared: Prepared,
    context: RunContext,
    run: WorkFolder | None = None,
    *,
    lately: bool = False,
) -> tuple[tuple[SlotPlan, ...], tuple[tuple[str, int], ...] | None, tuple[str, ...]]:
    """The plans with the names heard near their clips and, where a cast is given, with who is in them.

    Also who was recognised in how many shots (None without a cast), and what is wrong.

    ``run`` is the folder of a finished run over more slots, which these are a few of: its faces count too
    when the film's own looks at somebody are chosen, so that they are seen as in that run; its records stay.
    ``lately``: whether it is to be known who was seen before each slot (`Presence.lately`).
    """
    cast = context.inputs.cast
    if cast is None:
        return tuple(_with_heard(plan, (), prepared, context) for plan in plans), None, ()
    if context.given.cast is not None:
        note_use(context.given.cast.path, (run or context.folder).path)
    models = FaceModels(context.config.cast, context.progress)
    gallery = _photos(cast, run or context.folder, models, context.config.cast)
    searches = face_searches(plans, context.config.cast)
    if lately:
        searches = sorted(
            [*searches, *searches_before(plans, prepared.shots)], key=lambda search: search.shot.index
        )
    faces_of_shots, all_faces = _named(searches, prepared.shots, context, cast, run, models, gallery)
    film = context.film.info.name
    # Those with a usable photo
    nameable = tuple(member.id for member in cast if member.says and member.id in gallery.photos)
    named_plans = []
    for plan in plans:
        characters = cast.characters(film, plan.slot.interval.start)
        presence = presence_of(plan, characters, nameable, faces_of_shots, context.config.cast)
        if lately:
            presence = replace(presence, lately=seen_lately(plan.slot.interval.start, all_faces))
        named_plans.append(_with_heard(replace(plan, presence=presence), characters, prepared, context))
    context.folder.write_json(f"{CHARACTERS}.json", _record(cast, models, faces_of_shots))
    warnings = [*cast.warnings, *gallery.warnings]
    for member in cast:
        if member.says and member.reveals and member.reveal_of(film) is None:
            films = ", ".join(reveal.film for reveal in member.reveals)
            warnings.append(
                f"reveal_at of {member.says} tells of {films}, not of {film}: named from the start."
            )
    shots = Counter(name for faces in faces_of_shots.values() for name in faces.members)
    recognised = tuple((member.says, shots[member.id]) for member in cast if shots[member.id])
    return tuple(named_plans), recognised, tuple(warnings)


def _photos(cast: Cast, folder: WorkFolder, models: FaceModels, settings: CastSettings) -> Gallery:
    """The photos of the cast, of which those of an earlier run need not be read again."""
    key = key_of("cast-faces/1", models.identity)
    record = folder.known(PHOTOS, key) or {"photos": {}}
    known = {name: reading_of(row) for name, row in record["photos"].items()}
    gallery = read_gallery(cast, models, settings, known)
    rows = {name: reading_row(reading) for name, reading in gallery.readings.items()}
    if rows != record["photos"]:
        folder.write_json(f"{PHOTOS}.json", {"key": key, "photos": rows})
    return gallery


def seen_lately(start: float, faces_of_shots: Iterable[ShotFaces]) -> tuple[str, ...]:
    """Whose face was recognised within `LATELY` seconds before ``start``.

    Who came just before it still comes in.
    """
    members: set[str] = set()
    for faces in faces_of_shots:
        for track, verdict in zip(faces.tracks, faces.verdicts, strict=True):
            if track.first < start - JUST_COME and track.last > start - LATELY:
                members.update(member for member in (verdict.member, *verdict.looks) if member is not None)
    return tuple(sorted(members))


def _named(
    searches: Sequence[FaceSearch],
    shots: Sequence[Shot],
    context: RunContext,
    cast: Cast,
    run: WorkFolder | None,
    models: FaceModels,
    gallery: Gallery,
) -> tuple[dict[int, ShotFaces], list[ShotFaces]]:
    """The faces of the wanted shots, with whose they are, by the number of the shot; and the same of all
    shots that are known, those of a finished run among them."""
    settings, given = context.config.cast, context.given
    log = (run or context.folder).log_of_records(FACES)
    faces_in_run = known_faces(log, shots, models) if run is not None else []
    look = [context.film_key, context.frames.key]
    whole = run is None and given.start <= 0 and given.end is None
    faces_wanted = list(
        read_faces(searches, context.frames.pictures, look, models, log, context.progress, tidy=whole)
    )
    wanted_shots = {faces.shot.index for faces in faces_wanted}
    all_faces = [*faces_wanted, *(faces for faces in faces_in_run if faces.shot.index not in wanted_shots)]
    tracks = [track for faces in all_faces for track in faces.tracks]
    names = {member.id: member.says or member.id for member in cast}
    verdicts = iter(identify(tracks, gallery, settings, models, names))
    identified = [replace(faces, verdicts=tuple(next(verdicts) for _ in faces.tracks)) for faces in all_faces]
    return {faces.shot.index: faces for faces in identified if faces.shot.index in wanted_shots}, identified


def presence_of(
    plan: SlotPlan,
    cast: Sequence[Character],
    known: Sequence[str],
    seen: Mapping[int, ShotFaces],
    settings: CastSettings,
) -> Presence:
    """Who is on the frames of a clip. Somebody who may be called nothing yet is not marked.

    ``known`` are the ids of all who can be recognised and named: each keeps a mark of their own.
    """
    callable_ = [character.id for character in cast if character.called]
    found: dict[tuple[str, float], Sighting] = {}
    roles: dict[str, set[Role]] = defaultdict(set)
    for piece, frames in zip(plan.shots, plan.frames, strict=True):
        shot = seen.get(piece.shot.index)
        if shot is None:
            continue
        for second in frames.seconds.tolist():
            for sighting in shot.at(second, callable_):
                found.setdefault((sighting.name, sighting.seconds), sighting)
                roles[sighting.name].add(frames.role)
    ids = (
        list(dict.fromkeys(s.name for s in found.values())) if settings.by_rules.colours == "clip" else known
    )
    everybody = marks_for(ids)
    return Presence(
        cast=tuple(cast),
        current=tuple(name for name in callable_ if Role.CURRENT in roles[name]),
        others=tuple(name for name in callable_ if roles[name] and Role.CURRENT not in roles[name]),
        marks={name: everybody[name] for name in callable_ if roles[name]},
        sightings=tuple(sorted(found.values(), key=lambda s: (s.seconds, s.name))),
    )


def _with_heard(
    plan: SlotPlan, characters: Sequence[Character], prepared: Prepared, context: RunContext
) -> SlotPlan:
    """The plan with the names in the given subtitles near its clip."""
    if context.given.subtitles is None or not context.config.prompt.by_rules.heard_names:
        return plan
    clip = Interval(plan.shots[0].clipped.start, plan.shots[-1].clipped.end)
    return replace(plan, heard=nearby_names(prepared.speech, clip, characters))


def _record(cast: Cast, models: FaceModels, seen: Mapping[int, ShotFaces]) -> dict[str, Any]:
    """The content of ``characters.json``: each track of a face, whose it is and why."""
    shots: dict[str, list[int]] = defaultdict(list)
    tracks = []
    for index, faces in sorted(seen.items()):
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
    people = [{"id": m.id, "name": m.says, "shots": shots[m.id]} for m in cast if m.says]
    return {"models": models.identity, "cast": people, "tracks": tracks}


@dataclass(frozen=True, slots=True)
class FaceSearch:
    """Where faces are looked for in one shot: at the seconds ``looks``; ``frames`` are shown besides."""

    shot: Shot
    looks: tuple[float, ...]
    frames: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ShotFaces:
    """The faces of one shot, when the frame of each wanted moment came up, and whose each track is."""

    shot: Shot
    tracks: tuple[FaceTrack, ...]
    came_up: Mapping[float, float]
    verdicts: tuple[Verdict, ...] = ()

    @property
    def members(self) -> set[str]:
        """Who of the cast was recognised."""
        everybody = {name for verdict in self.verdicts for name in (verdict.member, *verdict.looks)}
        return {name for name in everybody if name is not None}

    def at(self, second: float, ids: Collection[str]) -> Iterator[Sighting]:
        """Those of ``ids`` that are on the frame wanted at ``second``."""
        shown = self.came_up.get(second)
        if shown is None:
            return
        for track, verdict in zip(self.tracks, self.verdicts, strict=True):
            box, name = track.box_at(shown), verdict.member
            if verdict.looks:
                near = min(range(len(track.faces)), key=lambda i: abs(track.faces[i].seconds - shown))
                known = abs(track.faces[near].seconds - shown) < _SAME_FRAME
                name = verdict.at(near) if known else None
            if box is not None and name is not None and name in ids:
                yield Sighting(name, box, shown, round(verdict.likeness or 0.0, 4))


def read_faces(
    wanted: Sequence[FaceSearch],
    pictures: Pictures,
    shown: object,
    models: FaceModels,
    log: RecordLog,
    progress: Progress,
    *,
    tidy: bool = True,
) -> Iterator[ShotFaces]:
    """The faces of each shot, oldest first, one shot at a time; those in ``log`` are not looked for again.

    ``shown`` is all that changes the ``pictures``. ``tidy``: in the end ``log`` holds just these.
    """
    keys = {w.shot.index: _key(w, shown, models) for w in wanted}
    missing = [w for w in wanted if log.get(keys[w.shot.index]) is None]
    with reported(progress, "Looking for faces", len(missing), "shots") as task:
        fresh = _looked(missing, pictures, models)
        for want in wanted:
            key = keys[want.shot.index]
            if log.get(key) is None:
                log.add(key, next(fresh))
                task.advance()
            yield _faces_of(want.shot, log.record(key))
    if tidy:
        log.keep(keys.values())


def moments_of(wanted: Sequence[FaceSearch]) -> list[float]:
    """All the seconds that are looked at, ascending."""
    return [second for want in wanted for second in sorted({*want.looks, *want.frames})]


def known_faces(log: RecordLog, shots: Sequence[Shot], models: FaceModels) -> list[ShotFaces]:
    """All that ``log`` holds of these shots by these models, whatever was wanted."""
    by_index = {shot.index: shot for shot in shots}
    rows = (r for r in log.records() if r.get("models") == models.identity and r.get("shot") in by_index)
    return [_faces_of(by_index[row["shot"]], row) for row in rows]


def ticks_in(start: float, end: float, rate: float) -> list[float]:
    """The moments in ``[start, end)`` of a clock that goes from second 0 at ``rate`` a second.

    >>> ticks_in(0.9, 2.0, 2.0)
    [1.0, 1.5]
    """
    first = int(-(-start * rate // 1))
    moments = (n / rate for n in range(max(first - 1, 0), int(end * rate) + 2))
    return [moment for moment in moments if start <= moment < end]


def _key(want: FaceSearch, shown: object, models: FaceModels) -> str:
    interval = want.shot.interval
    moments = [want.looks, want.frames]
    return key_of("faces/1", shown, models.identity, [interval.start, interval.end], moments)


def _looked(wanted: Sequence[FaceSearch], pictures: Pictures, models: FaceModels) -> Iterator[dict[str, Any]]:
    """A record for each shot; the pictures of all are read in one pass, and let go one by one."""
    moments = moments_of(wanted)
    rest = iter(pictures(moments) if moments else ())
    ahead = next(rest, None)

    def looks(want: FaceSearch, came_up: dict[float, float]) -> Iterator[tuple[float, Image]]:
        """The pictures of one shot that are looked at, each frame once; ``came_up`` is filled on the way."""
        nonlocal ahead
        last, before = max([*want.looks, *want.frames], default=-1.0), -1.0
        while ahead is not None and ahead.wanted <= last:
            picture, ahead = ahead, next(rest, None)
            came_up[picture.wanted] = picture.seconds
            if picture.wanted in want.looks and picture.seconds > before:
                before = picture.seconds
                yield picture.seconds, picture.image

    for want in wanted:
        came_up: dict[float, float] = {}
        tracks = tracks_of_shot(looks(want, came_up), want.shot.index, models)
        yield {
            "shot": want.shot.index,
            "models": models.identity,
            "frames": [[second, came_up[second]] for second in want.frames if second in came_up],
            "tracks": [to_row(track) for track in tracks],
        }


def _faces_of(shot: Shot, record: Mapping[str, Any]) -> ShotFaces:
    tracks = tuple(from_row(row) for row in record["tracks"])
    return ShotFaces(shot, tracks, dict(record["frames"]))


FACES = "faces"
"""Of ``faces.jsonl``: the faces in the clips, a record for each shot."""
DISCOVERED = "discovered"
"""Of ``discovered.jsonl``: the same for the whole film, by discovery."""
PHOTOS = "cast-faces"
"""Of ``cast-faces.json``: the faces on the cast's photos."""
CHARACTERS = "characters"
"""Of ``characters.json``: whose each face was."""

_FLOAT = np.dtype("<f4")


def reading_row(reading: PhotoReading) -> dict[str, Any]:
    """A photo's face as JSON, to the bit."""
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
