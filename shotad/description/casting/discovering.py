"""From a film to a cast folder: its faces, who is who, and pictures by which they are known again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from shotad.core import Shot, UsageError, shots_of
from shotad.description.casting.discovery import Discovery
from shotad.description.casting.merge_people import LOOKS, Reel, file_people, join_of
from shotad.description.casting.reading import ShotFaces, Source, Wanted, known_faces, read_faces, ticks_in
from shotad.description.casting.records import DISCOVERED
from shotad.description.preparing import Bench, shots_step
from shotad.sight import CastFile, FaceModels, Facts, cast_path, held, make_face_models, note_use, people_in

PIXELS = 1920 * 1080
"""Of the frames in which faces are looked for."""


def discover(bench: Bench, place: Path) -> Discovery:
    """Find the people of a film and put them into the cast folder ``place``, which may be there already.

    Where nobody is found and there is no such folder, none is made. Raises CastError, WorkFolderError,
    WeightsError, UsageError.
    """
    place = cast_path(place).parent
    CastFile.open(place)
    Facts.read(place)
    models = make_face_models(bench.config.cast, bench.progress)
    tracks = [track for shot in _faces(bench, models) for track in shot.tracks]
    info, join = bench.film.info, join_of(models, bench.config)
    people = people_in(tracks, info.size_within(max_pixels=PIXELS)[1], join, models.margin)
    faces = sum(len(track.faces) for track in tracks)
    if not people and not cast_path(place).exists():
        return Discovery(place, info.name, faces=faces)
    reel = Reel(info.fingerprint, info.name, info.size_within(max_pixels=PIXELS)[1], bench.film.pictures)
    with held(place):
        note_use(place, bench.folder.path)
        return replace(file_people(people, place, reel, models, bench.config, bench.progress), faces=faces)


def _faces(bench: Bench, models: FaceModels) -> list[ShotFaces]:
    """The faces of the part asked for, and of what earlier runs have looked at beyond it."""
    film, given = bench.film, bench.given
    shots, end = shots_of((found := shots_step(bench))["shots"]), float(found["end"])
    if given.start >= end:
        raise UsageError(f"The film is {end:.1f} s long, so nothing lies after --from {given.start:g}.")
    until = end if given.end is None else given.end
    wanted = [
        Wanted(shot, _looks(shot, LOOKS))
        for shot in shots
        if shot.interval.end > given.start and shot.interval.start < until
    ]
    source = Source(lambda seconds: film.pictures(seconds, max_pixels=PIXELS), [bench.film_key, PIXELS])
    log = bench.folder.log_of_records(DISCOVERED)
    whole = len(wanted) == len(shots)
    faces = list(read_faces(wanted, source, models, log, bench.progress, tidy=whole))
    seen = {one.shot.index for one in faces}
    others = {one.shot.index: one for one in known_faces(log, shots, models) if one.shot.index not in seen}
    return sorted([*faces, *others.values()], key=lambda one: one.shot.index)


def _looks(shot: Shot, rate: float) -> tuple[float, ...]:
    """When a shot is looked at: on the clock, but twice at least, for once is no proof of a face."""
    start, end = shot.interval.start, shot.interval.end
    ticks = ticks_in(start, end, rate)
    if len(ticks) < 2:
        ticks = [round(start + part * (end - start), 6) for part in (0.25, 0.75)]
    return tuple(ticks)
