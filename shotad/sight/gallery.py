"""The gallery: embeddings of the cast's photos; and identification of the film's face tracks with it.

Photos are read as AutoAD-Zero's profile pictures are (section 3.2), but there may be several of a person, and
one that does not plainly show a single face is left out with a warning rather than used.

Identification (`identify`) decides for a whole face track. A wrong name is worse than none: a track is given
a name if it is like a person beyond the threshold and plainly less like everybody else. Sure matches in the
film itself may be used beside the photos, as a bank of best queries. To take each face of each frame for the
person it is most like, and no more, is AutoAD-Zero's way (section 3.2) and a setting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from shotad.core import Cast, Member
from shotad.core.config.sight import CastSettings
from shotad.core.errors import CastError
from shotad.core.weight_store import file_sha256
from shotad.sight.cast_entries import label_of
from shotad.sight.faces import Embedding, Embeddings, FaceModels
from shotad.sight.facetracks import FaceTrack
from shotad.sight.photos import load_photo

PhotoReading: TypeAlias = Embedding | Literal["no face", "several faces"]
"""The embedding of a photo, ``float32[d]`` of length 1, or why it has none. Of one `FaceModels.identity`."""

_PROBLEM_TEXTS = {
    "no face": "No face was found in {}; the photo is not used.",
    "several faces": "Several faces of like size are in {}, so nobody can tell whose it is; it is not used.",
}
_ODD_PHOTO = 0.5
"""A photo whose cosine to all others of a person is less than this part of the threshold shows somebody
else."""


@dataclass(frozen=True, eq=False)
class Gallery:
    """The embeddings of each person's photos, by `Member.id`, in the order of the cast.

    ``photos`` are ``float32[n, d]``, n > 0, rows of length 1. ``film`` are further embeddings of some of
    them, taken from the film itself, which count less (see `likeness`). ``nameless`` are the ids of those who
    are recognised but never named. ``warnings`` are sentences on photos that are not used or look wrong,
    ``readings`` those of all photos, by `photo_key`. Raises ValueError for other shapes, and for a person
    without photos in ``film`` or ``nameless``.
    """

    photos: Mapping[str, Embeddings]
    nameless: frozenset[str] = frozenset()
    film: Mapping[str, Embeddings] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    readings: Mapping[str, PhotoReading] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for person, embeddings in (*self.photos.items(), *self.film.items()):
            if embeddings.ndim != 2 or len(embeddings) == 0:
                raise ValueError(
                    f"embeddings of {person!r} must be float32[n, d], n > 0, got {embeddings.shape}"
                )
        for person in (*self.film, *self.nameless):
            if person not in self.photos:
                raise ValueError(f"{person!r} has no photo in the gallery")

    @cached_property
    def _arrays(self) -> tuple[Embeddings, Embeddings, npt.NDArray[np.float64]]:
        """For the m people: the means of their photos and of their embeddings from the film,
        ``float32[m, d]``, and the weights of the latter, ``float64[m]``, 0 where there are none."""
        photo_means, film_means, counts = [], [], []
        for person, photos in self.photos.items():
            photo_mean = mean_of(photos)
            film = self.film.get(person)
            photo_means.append(photo_mean)
            film_means.append(np.zeros_like(photo_mean) if film is None else mean_of(film))
            counts.append(0 if film is None else len(film))
        film_counts = np.array(counts, np.float64)
        return np.stack(photo_means), np.stack(film_means), film_counts / (film_counts + 1)

    def __len__(self) -> int:
        return len(self.photos)

    def likeness(self, looks: Embeddings) -> dict[str, float]:
        """How much a face looks like each person: cosine, -1 to 1, by id, in the order of the cast.

        ``looks`` is ``float32[k, d]``, k > 0: embeddings of one face, whose mean is compared (measured better
        than the mean, the median or the best of their cosines). Where the gallery has embeddings from the
        film, it is the mean of the cosine to the photos and of that to these. They weigh less, however many
        they are: a wrong match among them does not take the person over.
        """
        if not self.photos:
            return {}
        face = mean_of(looks)
        photo_means, film_means, film_weights = self._arrays
        photo_cosines = (photo_means @ face).astype(np.float64)
        cosines = (photo_cosines + film_weights * (film_means @ face)) / (1 + film_weights)
        return dict(zip(self.photos, cosines.tolist(), strict=True))

    def with_film(self, film: Mapping[str, Embeddings]) -> Gallery:
        """The same photos with other embeddings from the film, ``float32[n, d]`` by id."""
        return replace(self, film=film)


def read_gallery(
    cast: Cast,
    models: FaceModels,
    settings: CastSettings,
    known_readings: Mapping[str, PhotoReading] | None = None,
) -> Gallery:
    """The gallery of a cast's photos. Those with a reading in ``known_readings``, by the same models and by
    `photo_key`, are not read again.

    Of the members who may be named, the settings may limit the number (``first``), as the paper does: the
    first ones with a usable photo count. Raises CastError where a photo cannot be read.
    """
    readings: dict[str, PhotoReading] = {}
    warnings: list[str] = []
    photos: dict[str, Embeddings] = {}
    named_count = 0
    max_named = settings.by_rules.first
    for member in cast:
        if member.says and max_named is not None and named_count >= max_named:
            continue
        reading_of_path: dict[Path, PhotoReading] = {}
        for path in member.photos:
            key = photo_key(path)
            if key not in readings:
                readings[key] = (
                    known_readings[key]
                    if known_readings and key in known_readings
                    else read_photo(path, models)
                )
            reading_of_path[path] = readings[key]
        embedding_of_path = {
            path: reading for path, reading in reading_of_path.items() if not isinstance(reading, str)
        }
        for path, reading in reading_of_path.items():
            if isinstance(reading, str):
                warnings.append(_PROBLEM_TEXTS[reading].format(path))
        warnings += _odd_photos(member, embedding_of_path, models.threshold)
        if embedding_of_path:
            photos[member.id] = np.stack(list(embedding_of_path.values()))
            named_count += bool(member.says)
    nameless = frozenset(member.id for member in cast if member.id in photos and not member.says)
    warnings += _look_alikes(photos, cast, models.join)
    return Gallery(photos, nameless, warnings=tuple(warnings), readings=readings)


def mean_of(rows: Embeddings) -> Embeddings:
    """The mean of ``float32[n, d]``, brought to length 1: ``float32[d]``."""
    vector = rows.astype(np.float64).sum(axis=0)
    unit: Embeddings = (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)
    return unit


def _odd_photos(member: Member, embeddings: Mapping[Path, Embedding], threshold: float) -> Iterator[str]:
    """A warning for each photo that is not like the member's others."""
    for path, embedding in embeddings.items():
        cosines = [float(embedding @ other) for other_path, other in embeddings.items() if other_path != path]
        if cosines and max(cosines) < _ODD_PHOTO * threshold:
            yield f"The face in {path} is not like those in the other photos of {label_of(member)}."


def _look_alikes(photos: Mapping[str, Embeddings], cast: Cast, join: float) -> Iterator[str]:
    """A warning for each pair of people who look so alike that they may be one."""
    members = {member.id: member for member in cast}
    for first, second in combinations(photos, 2):
        cosine = float(mean_of(photos[first]) @ mean_of(photos[second]))
        if cosine >= join:
            yield (
                f"{label_of(members[first])} and {label_of(members[second])} look alike ({cosine:.2f}); "
                "if they are one person, make them one, else neither may be named where both are possible."
            )


_SIMILAR_SIZE = 0.6
"""Heights of two faces, the smaller over the larger, from which nobody can tell whose photo it is."""
_BORDER = 0.5
"""Grey that is put round a photo in which no face is found, on each side, in parts of its size: detectors
miss a face that fills the picture."""


def photo_key(path: Path) -> str:
    """The sha256 of the file. Raises CastError where it cannot be read."""
    try:
        return file_sha256(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CastError(f"The photo {path} cannot be read: {reason}.", "Take it out of the cast.") from None


def read_photo(path: Path, models: FaceModels) -> PhotoReading:
    """The embedding of the largest face in a photo, or why there is none.

    Raises CastError where the file is no picture.
    """
    image = load_photo(path)
    faces = models.find(image, 0.0)
    if not faces:
        height, width = image.shape[:2]
        rows, columns = round(height * _BORDER), round(width * _BORDER)
        image = np.pad(image, ((rows, rows), (columns, columns), (0, 0)), constant_values=128)
        faces = models.find(image, 0.0)
    if not faces:
        return "no face"
    largest, *others = sorted(faces, key=lambda face: -face.box.height)
    # Smaller faces are people in the background.
    if any(other.box.height >= _SIMILAR_SIZE * largest.box.height for other in others):
        return "several faces"
    return models.read(image, largest)


_MARGINS_OF_SURE_MATCH = 2.0
"""Times the margin by which a match beyond doubt is ahead of the second best."""
_MAX_BANK = 24
"""Tracks of the film whose embeddings are used for one person: the surest."""


@dataclass(frozen=True, slots=True)
class Identification:
    """Who the person of one track is.

    ``person`` is the id of the recognised person, the nameless of the cast too; ``member`` the same where
    they may be named. ``likeness`` is the cosine to the best match, ``runner_up`` that to the second best
    (None: there is none). ``reason`` says why nobody is named, in words for people; empty where somebody is.
    ``looks`` has an id or None for each of the track's ``faces`` where each frame was identified by itself,
    else it is empty.
    """

    person: str | None = None
    member: str | None = None
    likeness: float | None = None
    runner_up: float | None = None
    reason: str = ""
    looks: tuple[str | None, ...] = ()

    def at(self, look: int) -> str | None:
        """The id of the person who may be named at the track's ``faces[look]``; None: nobody."""
        return self.looks[look] if self.looks else self.member


def identify(
    tracks: Sequence[FaceTrack],
    gallery: Gallery,
    settings: CastSettings,
    models: FaceModels,
    names: Mapping[str, str] | None = None,
) -> list[Identification]:
    """A verdict for each track. The order of the tracks does not matter. ``names`` (by id) are for the
    reasons only."""
    if not len(gallery):
        return [Identification(reason="nobody has a photo") for _ in tracks]
    options = settings.by_rules
    rules = _Rules(
        models.threshold,
        models.margin,
        same=max(models.same, models.threshold),
        min_height=options.smallest,
        nameless=gallery.nameless,
        names=names or {},
    )
    if options.decide == "frame":
        return _by_frame(tracks, gallery, rules)
    # Of each track, the embeddings of faces that are large enough: ``float32[k, d]``, k from 0
    embeddings = []
    for track in tracks:
        is_large = [track.faces[face_index].box.height >= rules.min_height for face_index in track.read]
        embeddings.append(track.embeddings[np.array(is_large, np.bool_)])
    if options.from_film:
        gallery = _with_bank(tracks, embeddings, gallery, rules)
    verdicts = [_verdict(of_track, gallery, rules) for of_track in embeddings]
    return _one_place_at_a_time(tracks, embeddings, verdicts, rules)


@dataclass(frozen=True, slots=True)
class _Rules:
    """When a face is a person's: ``threshold``, ``margin`` and ``same`` as in `shotad.sight.faces.Pair`,
    ``min_height`` of a face in heights of the picture."""

    threshold: float
    margin: float
    same: float
    min_height: float
    nameless: frozenset[str]
    names: Mapping[str, str]

    def label_of(self, person: str) -> str:
        """The name of the person with this id, for a reason."""
        return "somebody without a name" if person in self.nameless else self.names.get(person, person)

    def is_sure(self, verdict: Identification) -> bool:
        """Whether a match is beyond doubt, so that its embeddings may be used like a photo."""
        if verdict.likeness is None or verdict.likeness < self.same:
            return False
        if verdict.runner_up is None:
            return True
        return verdict.likeness - verdict.runner_up >= _MARGINS_OF_SURE_MATCH * self.margin


def _verdict(embeddings: Embeddings, gallery: Gallery, rules: _Rules) -> Identification:
    """The verdict on one face with ``embeddings``, ``float32[k, d]``, k from 0."""
    if len(embeddings) == 0:
        return Identification(reason="too small")
    # The most alike first; of equals, the first of the cast.
    (person, likeness), *others = sorted(gallery.likeness(embeddings).items(), key=lambda item: -item[1])
    rival, runner_up = others[0] if others else (None, None)
    verdict = Identification(likeness=likeness, runner_up=runner_up)
    if likeness < rules.threshold:
        return replace(verdict, reason=f"not alike enough (best: {rules.label_of(person)}, {likeness:.2f})")
    if rival is not None and runner_up is not None and likeness - runner_up < rules.margin:
        return replace(verdict, reason=f"{rules.label_of(person)} is too near to {rules.label_of(rival)}")
    if person in rules.nameless:
        return replace(verdict, person=person, reason=rules.label_of(person))
    return replace(verdict, person=person, member=person)


def _with_bank(
    tracks: Sequence[FaceTrack], embeddings: Sequence[Embeddings], gallery: Gallery, rules: _Rules
) -> Gallery:
    """The gallery with embeddings of the film's own sure matches.

    They are searched in rounds until there are no more. Tracks beyond doubt by the photos come first; with
    these in the gallery others may be. Each of these must be like the person's photos beyond the threshold
    too. The bank only grows, so that the rounds end.
    """
    photo_likeness = [gallery.likeness(of_track) if len(of_track) else {} for of_track in embeddings]
    bank: dict[int, str] = {}  # the person of each track in the bank, by the track's index
    while True:
        verdicts = [_verdict(of_track, gallery, rules) for of_track in embeddings]
        verdicts = _one_place_at_a_time(tracks, embeddings, verdicts, rules)
        sure: dict[int, str] = {}
        for index, verdict in enumerate(verdicts):
            if verdict.person is None or not rules.is_sure(verdict):
                continue
            if photo_likeness[index][verdict.person] >= rules.threshold:
                sure[index] = verdict.person
        if sure.keys() <= bank.keys():
            return gallery
        bank = sure | bank
        # Of each person the tracks most like the photos, one embedding each. Sorted also by its bytes, so
        # that the order of the tracks does not matter.
        ranked: dict[str, list[tuple[float, bytes, Embedding]]] = {}
        for index, person in bank.items():
            mean = mean_of(embeddings[index])
            ranked.setdefault(person, []).append((-photo_likeness[index][person], mean.tobytes(), mean))
        film: dict[str, Embeddings] = {}
        for person, candidates in ranked.items():
            surest = sorted(candidates, key=lambda candidate: candidate[:2])[:_MAX_BANK]
            film[person] = np.stack([mean for _, _, mean in surest])
        gallery = gallery.with_film(film)


def _one_place_at_a_time(
    tracks: Sequence[FaceTrack],
    embeddings: Sequence[Embeddings],
    verdicts: Sequence[Identification],
    rules: _Rules,
) -> list[Identification]:
    """``verdicts`` without a person for the less alike of two tracks that are in one picture.

    Both keep the person where they are the same beyond doubt, to the gallery and to one another: a mirror, a
    split screen, a portrait on the wall.
    """
    tracks_of_person: dict[tuple[int, str], list[int]] = {}  # indices, by shot and person
    for index, (track, verdict) in enumerate(zip(tracks, verdicts, strict=True)):
        if verdict.person is not None:
            tracks_of_person.setdefault((track.shot, verdict.person), []).append(index)
    seconds = [{face.seconds for face in track.faces} for track in tracks]

    def is_same(first: int, second: int) -> bool:
        if not (rules.is_sure(verdicts[first]) and rules.is_sure(verdicts[second])):
            return False
        return float(mean_of(embeddings[first]) @ mean_of(embeddings[second])) >= rules.same

    def rank(index: int) -> tuple[float, float, tuple[float, float]]:
        return -(verdicts[index].likeness or 0.0), tracks[index].first, _top_left(tracks[index])

    final = list(verdicts)
    for (_, person), indices in tracks_of_person.items():
        kept_indices: list[int] = []
        for index in sorted(indices, key=rank):
            rivals = [other for other in kept_indices if seconds[other] & seconds[index]]
            if all(is_same(rival, index) for rival in rivals):
                kept_indices.append(index)
            else:
                reason = f"the same moment as a face more like {rules.label_of(person)}"
                final[index] = replace(verdicts[index], person=None, member=None, reason=reason)
    return final


def _top_left(track: FaceTrack) -> tuple[float, float]:
    """The corner of the track's first face, which puts equally alike tracks in an order."""
    return track.faces[0].box.left, track.faces[0].box.top


def _by_frame(tracks: Sequence[FaceTrack], gallery: Gallery, rules: _Rules) -> list[Identification]:
    """Verdicts as in AutoAD-Zero: each face of each frame is the person it is most like, from the threshold
    on; of two that would be one person in a frame, the better. There is no margin."""
    without_margin = replace(rules, margin=0.0)
    # Of each track, the verdict on each face with an embedding, by the face's index
    face_verdicts: list[dict[int, Identification]] = []
    for track in tracks:
        of_track: dict[int, Identification] = {}
        for row, face_index in enumerate(track.read):
            if track.faces[face_index].box.height >= rules.min_height:
                embedding = track.embeddings[row : row + 1]
                of_track[face_index] = _verdict(embedding, gallery, without_margin)
        face_verdicts.append(of_track)

    def rank(place: tuple[int, int]) -> tuple[float, tuple[float, float]]:
        track_index, face_index = place
        verdict = face_verdicts[track_index][face_index]
        return -(verdict.likeness or 0.0), _top_left(tracks[track_index])

    places: list[tuple[int, int]] = []
    for track_index, of_track in enumerate(face_verdicts):
        places += [(track_index, face_index) for face_index in of_track]
    # The best face of each person in each frame: (track, face) by (shot, second, person)
    best: dict[tuple[int, float, str], tuple[int, int]] = {}
    for track_index, face_index in sorted(places, key=rank):
        person = face_verdicts[track_index][face_index].person
        if person is not None:
            track = tracks[track_index]
            frame_and_person = track.shot, track.faces[face_index].seconds, person
            best.setdefault(frame_and_person, (track_index, face_index))
    verdicts = []
    for track_index, (track, of_track) in enumerate(zip(tracks, face_verdicts, strict=True)):
        recognised = sorted(face for index, face in best.values() if index == track_index)
        looks = tuple(
            of_track[face_index].member if face_index in recognised else None
            for face_index in range(len(track.faces))
        )
        if recognised:
            # The track is the person of most of its faces.
            counts = Counter(of_track[face_index].person for face_index in recognised)
            person = counts.most_common(1)[0][0]
            of_person = [of_track[index] for index in recognised if of_track[index].person == person]
            surest = max(of_person, key=lambda verdict: verdict.likeness or 0.0)
            verdicts.append(replace(surest, looks=looks))
        elif of_track:
            surest = max(of_track.values(), key=lambda verdict: verdict.likeness or 0.0)
            reason = surest.reason or f"the same moment as a face more like {surest.person}"
            verdicts.append(replace(surest, person=None, member=None, reason=reason, looks=looks))
        else:
            verdicts.append(Identification(reason="too small", looks=looks))
    return verdicts
