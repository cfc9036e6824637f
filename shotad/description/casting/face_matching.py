"""Where the faces of a film are put beside the photos of its cast."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from shotad.core.config import CastSettings
from shotad.core.members import Cast
from shotad.core.recordlog import RecordLog
from shotad.core.types import Interval, Shot, Sighting
from shotad.core.workfolder import WorkFolder, key_of
from shotad.description.casting.reading import (
    ShotFaces,
    Source,
    Wanted,
    known_faces,
    missing_of,
    moments_of,
    read_faces,
    ticks_in,
)
from shotad.description.casting.records import FACES, PHOTOS, reading_of, reading_row
from shotad.description.prepare import Bench
from shotad.description.slotplan import SlotPlan
from shotad.film.gaps import union
from shotad.sight.cast.gallery import GalleryReading, read_gallery
from shotad.sight.cast.identity import Verdict, identify
from shotad.sight.facemodels import make_face_models
from shotad.sight.facetracks import FaceTrack

LOOKS = 4.0
"""Frames a second at which faces are looked for, besides those that a model is shown (docs/characters.md)."""


class FaceMatcher:
    """Where the film's faces are put beside the photos of the cast."""

    def __init__(self, bench: Bench, cast: Cast, run: WorkFolder | None) -> None:
        self._bench, self._cast, self._run = bench, cast, run
        self._settings, self._folder = bench.config.cast, run or bench.folder
        self.models = make_face_models(self._settings, bench.progress)
        read = self._gallery()
        self._gallery_, self.warnings = read.gallery, read.warnings
        self.known = frozenset(self._gallery_.photos)
        """The ids of those of whom a photo could be used."""

    def named(self, plans: Sequence[SlotPlan], shots: Sequence[Shot]) -> dict[int, Named]:
        """The faces of the shots that the plans show, with whose they are, by the number of the shot."""
        log = self._folder.log_of_records(FACES)
        known = known_faces(log, shots, self.models) if self._run is not None else []
        faces = self._faces(plans, log)
        shown = {one.shot.index for one in faces}
        both = [*faces, *(one for one in known if one.shot.index not in shown)]
        tracks = [track for one in both for track in one.tracks]
        names = {member.id: member.says or member.id for member in self._cast}
        verdicts = iter(identify(tracks, self._gallery_, self._settings, self.models, names))
        named = [Named(one, tuple((track, next(verdicts)) for track in one.tracks)) for one in both]
        return {one.faces.shot.index: one for one in named if one.faces.shot.index in shown}

    def _gallery(self) -> GalleryReading:
        """The photos, of which those of an earlier run need not be read again."""
        key = key_of("cast-faces/1", self.models.identity)
        record = self._folder.known(PHOTOS, key) or {"photos": {}}
        known = {name: reading_of(row) for name, row in record["photos"].items()}
        read = read_gallery(self._cast, self.models, self._settings, known)
        rows = {name: reading_row(reading) for name, reading in read.photos.items()}
        if rows != record["photos"]:
            self._folder.write_json(f"{PHOTOS}.json", {"key": key, "photos": rows})
        return read

    def _faces(self, plans: Sequence[SlotPlan], log: RecordLog) -> list[ShotFaces]:
        """The faces in the parts of shots that the clips show."""
        bench, given = self._bench, self._bench.given
        source = Source(bench.frames.pictures, [bench.film_key, bench.frames.key])
        whole = self._run is None and given.start <= 0 and given.end is None
        wanted = wanted_of(plans, self._settings)
        if self._run is None:
            every, missing = moments_of(wanted), moments_of(missing_of(wanted, source, self.models, log))
            bench.frames.expect("faces", every, read=missing)
        return list(read_faces(wanted, source, self.models, log, bench.progress, tidy=whole))


def wanted_of(plans: Sequence[SlotPlan], settings: CastSettings) -> list[Wanted]:
    """Where to look: on a clock of its own, so that slots more or fewer change little, and at the first and
    the last frame shown, so that none lies beyond the looks. Where each frame is decided for itself, at all
    frames.
    """
    pieces: dict[int, list[Interval]] = defaultdict(list)
    shown: dict[int, set[float]] = defaultdict(set)
    ends: dict[int, set[float]] = defaultdict(set)
    shots: dict[int, Shot] = {}
    for plan in plans:
        for piece, frames in zip(plan.shots, plan.frames, strict=True):
            shots[piece.shot.index] = piece.shot
            pieces[piece.shot.index].append(piece.clipped)
            shown[piece.shot.index].update(frames.seconds.tolist())
            ends[piece.shot.index].update((float(frames.seconds[0]), float(frames.seconds[-1])))
    wanted = []
    for index in sorted(shots):
        moments = tuple(sorted(shown[index]))
        ticks = {t for part in union(pieces[index]) for t in ticks_in(part.start, part.end, LOOKS)}
        looks = moments if settings.decide == "frame" else tuple(sorted(ticks | ends[index]))
        wanted.append(Wanted(shots[index], looks, moments))
    return wanted


@dataclass(frozen=True, slots=True)
class Named:
    """A shot's faces, each with whose it is."""

    faces: ShotFaces
    tracks: tuple[tuple[FaceTrack, Verdict], ...]

    def at(self, second: float, ids: Collection[str]) -> Iterator[Sighting]:
        """Those of ``ids`` that are on the frame wanted at ``second``."""
        shown = self.faces.came_up.get(second)
        if shown is None:
            return
        for track, verdict in self.tracks:
            box, name = track.box_at(shown), _name_at(track, verdict, shown)
            if box is not None and name is not None and name in ids:
                yield Sighting(name, box, shown, round(verdict.likeness or 0.0, 4))


def _name_at(track: FaceTrack, verdict: Verdict, shown: float) -> str | None:
    """Whose the track's face is in the frame of second ``shown``."""
    if not verdict.looks:
        return verdict.member
    near = min(range(len(track.faces)), key=lambda i: abs(track.faces[i].seconds - shown))
    return verdict.at(near) if abs(track.faces[near].seconds - shown) < _SAME_FRAME else None


_SAME_FRAME = 1e-3
"""Seconds by which records round."""
