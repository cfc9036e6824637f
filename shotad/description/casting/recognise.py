"""Who of the cast is in which clip: faces of the film's shots against the photos of the cast.

Part of the second act. What it decides stands in ``characters.json``, shot by shot and with its reasons.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core.clip_cast import Character, Presence
from shotad.core.config import CastSettings
from shotad.core.members import Cast
from shotad.core.profiling import in_room
from shotad.core.types import Interval, Role, Sighting
from shotad.core.workfolder import WorkFolder
from shotad.description.casting.face_matching import FaceMatcher, Named
from shotad.description.casting.records import CHARACTERS
from shotad.description.hints import heard_names
from shotad.description.prepare import Bench
from shotad.description.slotplan import SlotPlan
from shotad.film.overlay.marks import marks_for
from shotad.film.prepared import Prepared
from shotad.sight.cast.files.loading import load_cast
from shotad.sight.cast.found.castfolder import note_use
from shotad.sight.cast.identity import Verdict
from shotad.sight.cast.photos import check_photo
from shotad.sight.facemodels import FaceModels, get_face_models
from shotad.sight.facetracks import FaceTrack


@dataclass(frozen=True, slots=True)
class Recognised:
    """The plans with who is in their clips; who was recognised in how many shots (None without a cast); and
    what is amiss."""

    plans: tuple[SlotPlan, ...]
    shots: tuple[tuple[str, int], ...] | None = None
    warnings: tuple[str, ...] = ()


def check_cast(bench: Bench) -> None:
    """Refuse a cast that cannot be read and fetch what it needs, before any work goes into the film.

    Raises CastError, WeightsError.
    """
    cast = cast_of(bench)
    if cast is None:
        return
    for photo in (photo for member in cast for photo in member.photos):
        check_photo(photo)
    get_face_models(bench.config.cast, bench.progress)


@in_room("cast")
def recognise(
    plans: Sequence[SlotPlan], prepared: Prepared, bench: Bench, run: WorkFolder | None = None
) -> Recognised:
    """The plans with the names heard near their clips and, where a cast is given, with who is in them.

    ``run`` is the folder of a finished run over more slots, which these are a few of: its faces count too
    when the film's own looks at somebody are chosen, so that they are seen as in that run; its records stay.
    """
    cast = cast_of(bench)
    if cast is None:
        return Recognised(tuple(_with_heard(plan, (), prepared, bench) for plan in plans))
    if bench.given.cast is not None:
        note_use(bench.given.cast.path, (run or bench.folder).path)
    desk = FaceMatcher(bench, cast, run)
    seen = desk.named(plans, prepared.shots)
    film = bench.film.info.name
    known = tuple(member.id for member in cast if member.says and member.id in desk.known)
    done = []
    for plan in plans:
        characters = cast.characters(film, plan.slot.interval.start)
        presence = presence_of(plan, characters, known, seen, bench.config.cast)
        done.append(_with_heard(replace(plan, presence=presence), characters, prepared, bench))
    bench.folder.write_json(f"{CHARACTERS}.json", _record(cast, desk.models, seen))
    warnings = (*cast.warnings, *desk.warnings, *_unrevealed(cast, film))
    return Recognised(tuple(done), _in_shots(cast, seen), warnings)


def cast_of(bench: Bench) -> Cast | None:
    """The cast that was given, if any. Raises CastError."""
    given = bench.given.cast
    return None if given is None else load_cast(given.path, key=given.key, photos=given.photos)


def presence_of(
    plan: SlotPlan,
    cast: Sequence[Character],
    known: Sequence[str],
    seen: Mapping[int, Named],
    settings: CastSettings,
) -> Presence:
    """Who is on the frames of a clip. Somebody whose name may not be said yet, and who has no descriptor, is
    not marked: there is nothing to call them by.

    ``known`` are the ids of all who can be recognised and are named at some time of the film. Each has a mark
    of their own, so that nobody's changes where a name is told.
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
    ids = list(dict.fromkeys(s.name for s in found.values())) if settings.colours == "clip" else known
    everybody = marks_for(ids)
    return Presence(
        cast=tuple(cast),
        current=tuple(name for name in callable_ if Role.CURRENT in roles[name]),
        others=tuple(name for name in callable_ if roles[name] and Role.CURRENT not in roles[name]),
        marks={name: everybody[name] for name in callable_ if roles[name]},
        sightings=tuple(sorted(found.values(), key=lambda s: (s.seconds, s.name))),
    )


def _unrevealed(cast: Cast, film: str) -> Iterator[str]:
    """Who may be named from the start only because ``reveal_at`` speaks of other films."""
    for member in cast:
        if member.says and member.reveals and member.reveal_of(film) is None:
            others = ", ".join(reveal.film for reveal in member.reveals)
            yield f"reveal_at of {member.says} tells of {others}, not of {film}: named from the start."


def _with_heard(
    plan: SlotPlan, characters: Sequence[Character], prepared: Prepared, bench: Bench
) -> SlotPlan:
    """The plan with the names in the given subtitles near its clip."""
    if bench.given.subtitles is None or not bench.config.prompt.heard_names:
        return plan
    clip = Interval(plan.shots[0].clipped.start, plan.shots[-1].clipped.end)
    return replace(plan, heard=heard_names(prepared.speech, clip, characters))


def _in_shots(cast: Cast, seen: Mapping[int, Named]) -> tuple[tuple[str, int], ...]:
    """Who was recognised, in the order of the cast, and in how many of the shots."""
    counted = Counter(name for named in seen.values() for name in _members(named))
    return tuple((member.says, counted[member.id]) for member in cast if counted[member.id])


def _members(named: Named) -> set[str]:
    everybody = {name for _, verdict in named.tracks for name in (verdict.member, *verdict.looks)}
    return {name for name in everybody if name is not None}


def _record(cast: Cast, models: FaceModels, seen: Mapping[int, Named]) -> dict[str, Any]:
    """The content of ``characters.json``: each track of a face, whose it is and why."""
    shots: dict[str, list[int]] = defaultdict(list)
    for index, named in sorted(seen.items()):
        for name in _members(named):
            shots[name].append(index)
    people = [{"id": m.id, "name": m.says, "shots": shots[m.id]} for m in cast if m.says]
    tracks = [_row(index, *pair) for index, named in sorted(seen.items()) for pair in named.tracks]
    return {"models": models.identity, "cast": people, "tracks": tracks}


def _row(shot: int, track: FaceTrack, verdict: Verdict) -> dict[str, Any]:
    return {
        "shot": shot,
        "first": track.first,
        "last": track.last,
        "looks": len(track.faces),
        "person": verdict.person,
        "named": verdict.member,
        "likeness": None if verdict.likeness is None else round(verdict.likeness, 3),
        "runner_up": None if verdict.runner_up is None else round(verdict.runner_up, 3),
        "reason": verdict.reason,
    }
