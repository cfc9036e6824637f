"""What the people of a cast look like in their photos, and whose the faces of a film are.

Photos are read as AutoAD-Zero's profile pictures are (section 3.2), but there may be several of a person, and
one that does not plainly show who is meant is left out with a warning rather than used.

Whose a face of the film is (`identify`): decided for a face followed through a shot. A wrong name is worse
than none. A face is given a name if it is like somebody beyond the threshold and plainly less like everybody
else. Sure matches in the film itself may stand beside the photos, as a bank of best queries. To take each
face of each frame for whom it is most like, and no more, is AutoAD-Zero's way (section 3.2) and a setting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from shotad.core import Cast, CastError, CastSettings, Member, file_sha256
from shotad.sight.cast_entries import label_of
from shotad.sight.faces import Embedding, Embeddings, FaceModels
from shotad.sight.facetracks import FaceTrack
from shotad.sight.photos import load_photo

PhotoReading = Embedding | Literal["no face", "several faces"]
"""What one photo gave: ``float32[d]`` of length 1, or why not. Of one `FaceModels.identity`."""

_TROUBLE = {
    "no face": "No face was found in {}; the photo is not used.",
    "several faces": "Several faces of like size are in {}, so nobody can tell whose it is; it is not used.",
}
_ODD = 0.5
"""A photo that is less than this part of the threshold like all others of a person shows somebody else."""


@dataclass(frozen=True, eq=False)
class Gallery:
    """What each person looks like, by `Member.id`, in the order of the cast.

    ``photos`` are ``float32[n, d]``, n > 0, rows of length 1. ``film`` are further looks of some of them,
    taken from the film itself, which count less (see `likeness`). ``nameless`` are the ids of those who are
    known but never named. ``warnings`` are what there is to say about the photos, ``readings`` all that was
    read, by `photo_key`.
    """

    photos: Mapping[str, Embeddings]
    nameless: frozenset[str] = frozenset()
    film: Mapping[str, Embeddings] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    readings: Mapping[str, PhotoReading] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, rows in (*self.photos.items(), *self.film.items()):
            if rows.ndim != 2 or len(rows) == 0:
                raise ValueError(f"embeddings of {name!r} must be float32[n, d], n > 0, got {rows.shape}")
        stray = next((name for name in (*self.film, *self.nameless) if name not in self.photos), None)
        if stray is not None:
            raise ValueError(f"{stray!r} has no photo in the gallery")

    @cached_property
    def _arrays(self) -> tuple[Embeddings, Embeddings, npt.NDArray[np.float64]]:
        """Means of each one's photos and of the looks from the film, ``float32[m, d]``, and the weight of
        these, ``float64[m]``."""
        people = [mean_of(rows) for rows in self.photos.values()]
        looks = [self.film.get(name, np.zeros((0, 1), np.float32)) for name in self.photos]
        means = [mean_of(f) if len(f) else np.zeros_like(p) for f, p in zip(looks, people, strict=True)]
        counts = np.array([len(rows) for rows in looks], np.float64)
        return np.stack(people), np.stack(means), counts / (counts + 1)

    def __len__(self) -> int:
        return len(self.photos)

    def likeness(self, looks: Embeddings) -> dict[str, float]:
        """How much a face looks like each person: cosine, -1 to 1, by id, in the order of the cast.

        ``looks`` is ``float32[k, d]``, k > 0: one face seen k times, whose mean is compared (measured better
        than the mean, the median or the best of their likenesses). Where there are looks from the film, it is
        the mean of the likeness to the photos and of that to these, which weigh less, however many they
        are: somebody wrong among them does not take the person over.
        """
        if not self.photos:
            return {}
        face, (people, film, weight) = mean_of(looks), self._arrays
        together = ((people @ face).astype(np.float64) + weight * (film @ face)) / (1 + weight)
        return dict(zip(self.photos, together.tolist(), strict=True))

    def with_film(self, film: Mapping[str, Embeddings]) -> Gallery:
        """The same photos with other looks from the film, ``float32[n, d]`` by id."""
        return replace(self, film=film)


def read_gallery(
    cast: Cast,
    models: FaceModels,
    settings: CastSettings,
    known: Mapping[str, PhotoReading] | None = None,
) -> Gallery:
    """Read the photos of a cast; those in ``known``, read by the same models before, are not looked at again.

    By the paper's rules only so many of those who may be named, in the order of the cast, that have a
    usable photo. Raises CastError where a photo cannot be read.
    """
    readings: dict[str, PhotoReading] = {}
    warnings: list[str] = []
    photos: dict[str, Embeddings] = {}
    named = 0
    most = settings.by_rules.first
    for member in cast:
        if member.says and most is not None and named >= most:
            continue
        read = {}
        for path in member.photos:
            key = photo_key(path)
            if key not in readings:
                readings[key] = known[key] if known and key in known else read_photo(path, models)
            read[path] = readings[key]
        warnings += _photo_warnings(member, read, models.threshold)
        rows = [reading for reading in read.values() if not isinstance(reading, str)]
        if rows:
            photos[member.id] = np.stack(rows)
            named += bool(member.says)
    nameless = frozenset(member.id for member in cast if member.id in photos and not member.says)
    warnings += _twins(photos, cast, models.join)
    return Gallery(photos, nameless, warnings=tuple(warnings), readings=readings)


def mean_of(rows: Embeddings) -> Embeddings:
    """The mean of ``float32[n, d]``, brought to length 1: ``float32[d]``."""
    vector = rows.astype(np.float64).sum(axis=0)
    unit: Embeddings = (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)
    return unit


def _photo_warnings(member: Member, read: Mapping[Path, PhotoReading], threshold: float) -> Iterator[str]:
    for path, reading in read.items():
        if isinstance(reading, str):
            yield _TROUBLE[reading].format(path)
    usable = {path: reading for path, reading in read.items() if not isinstance(reading, str)}
    for path, embedding in usable.items():
        others = [float(embedding @ other) for at, other in usable.items() if at != path]
        if others and max(others) < _ODD * threshold:
            yield f"The face in {path} is not like those in the other photos of {label_of(member)}."


def _twins(photos: Mapping[str, Embeddings], cast: Cast, join: float) -> Iterator[str]:
    """Pairs of people who look so alike that they may be one."""
    members = {member.id: member for member in cast}
    for one, other in combinations(photos, 2):
        likeness = float(mean_of(photos[one]) @ mean_of(photos[other]))
        if likeness >= join:
            yield (
                f"{label_of(members[one])} and {label_of(members[other])} look alike ({likeness:.2f}); "
                "if they are one person, make them one, else neither may be named where both are possible."
            )


_LIKE_SIZE = 0.6
"""Heights of two faces, the smaller over the larger, from which a photo does not say who is meant."""
_RIM = 0.5
"""Grey that is put round a photo in which no face is found, on each side, in parts of its size: detectors
miss a face that fills the picture."""


def photo_key(path: Path) -> str:
    """The sha256 of the file. Raises CastError where it cannot be read."""
    try:
        return file_sha256(path)
    except OSError as error:
        why = error.strerror or str(error)
        raise CastError(f"The photo {path} cannot be read: {why}.", "Take it out of the cast.") from None


def read_photo(path: Path, models: FaceModels) -> PhotoReading:
    """The face of the person in a photo. Raises CastError where it is no picture."""
    image = load_photo(path)
    faces = models.find(image, 0.0)
    if not faces:
        height, width = image.shape[:2]
        down, across = round(height * _RIM), round(width * _RIM)
        image = np.pad(image, ((down, down), (across, across), (0, 0)), constant_values=128)
        faces = models.find(image, 0.0)
    if not faces:
        return "no face"
    # The largest face, where none is nearly as large
    first, *others = sorted(faces, key=lambda face: -face.box.height)
    if any(other.box.height >= _LIKE_SIZE * first.box.height for other in others):
        return "several faces"
    return models.read(image, first)


_SURE = 2.0
"""Times the margin by which a match beyond doubt leaves the second best behind."""
_BANK = 24
"""Tracks of the film that may stand for one person: the surest."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whose one track is.

    ``person`` is the id of whoever it is, the nameless of the cast too; ``member`` the same where they may be
    named. ``likeness`` is that to the best match, ``runner_up`` that to the second best (None: there is
    none). ``reason`` says why nobody is named, in words for people; empty where somebody is. ``looks`` has an
    id or None for each of the track's ``faces`` where each frame was decided for itself, else nothing.
    """

    person: str | None = None
    member: str | None = None
    likeness: float | None = None
    runner_up: float | None = None
    reason: str = ""
    looks: tuple[str | None, ...] = ()

    def at(self, look: int) -> str | None:
        """Who may be named at the track's ``faces[look]``."""
        return self.looks[look] if self.looks else self.member


def identify(
    tracks: Sequence[FaceTrack],
    gallery: Gallery,
    settings: CastSettings,
    models: FaceModels,
    names: Mapping[str, str] | None = None,
) -> list[Verdict]:
    """A verdict for each track; their order does not matter. ``names`` (by id) are for the reasons only."""
    if not len(gallery):
        return [Verdict(reason="nobody has a photo") for _ in tracks]
    set_here, same = settings.by_rules, max(models.same, models.threshold)
    borders = models.threshold, models.margin, same, set_here.smallest
    rules = _Rules(*borders, gallery.nameless, names or {})
    if set_here.decide == "frame":
        return _by_frame(tracks, gallery, rules)
    # The embeddings of those looks that are large enough: ``float32[k, d]``, k from 0
    looks = []
    for track in tracks:
        boxes = [track.faces[look].box for look in track.read]
        looks.append(track.embeddings[[k for k, box in enumerate(boxes) if box.height >= rules.smallest]])
    if set_here.from_film:
        gallery = _with_bank(tracks, looks, gallery, rules)
    verdicts = [_verdict(rows, gallery, rules) for rows in looks]
    return _one_place_at_a_time(tracks, looks, verdicts, rules)


@dataclass(frozen=True, slots=True)
class _Rules:
    threshold: float
    margin: float
    same: float
    smallest: float
    nameless: frozenset[str]
    names: Mapping[str, str]

    def label_of(self, person: str) -> str:
        return "somebody without a name" if person in self.nameless else self.names.get(person, person)

    def beyond_doubt(self, verdict: Verdict) -> bool:
        """Whether a match could stand for a photo."""
        if verdict.likeness is None or verdict.likeness < self.same:
            return False
        return verdict.runner_up is None or verdict.likeness - verdict.runner_up >= _SURE * self.margin


def _verdict(rows: Embeddings, gallery: Gallery, rules: _Rules) -> Verdict:
    """Whose a face is that was seen ``float32[k, d]``."""
    if len(rows) == 0:
        return Verdict(reason="too small")
    # The likest first; of equals, the first of the cast.
    (person, likeness), *others = sorted(gallery.likeness(rows).items(), key=lambda item: -item[1])
    rival, runner_up = others[0] if others else (None, None)
    verdict = Verdict(likeness=likeness, runner_up=runner_up)
    if likeness < rules.threshold:
        return replace(verdict, reason=f"not alike enough (best: {rules.label_of(person)}, {likeness:.2f})")
    if rival is not None and runner_up is not None and likeness - runner_up < rules.margin:
        return replace(verdict, reason=f"{rules.label_of(person)} is too near to {rules.label_of(rival)}")
    if person in rules.nameless:
        return replace(verdict, person=person, reason=rules.label_of(person))
    return replace(verdict, person=person, member=person)


def _with_bank(
    tracks: Sequence[FaceTrack], looks: Sequence[Embeddings], gallery: Gallery, rules: _Rules
) -> Gallery:
    """The gallery with the film's own sure matches, found in rounds until no more are.

    Who is beyond doubt by the photos comes first; with them in the gallery others may be. Each of these must
    be like the person's photos beyond the threshold too. The bank only grows, so that the rounds end.
    """
    by_photos = [gallery.likeness(rows) if len(rows) else {} for rows in looks]
    bank: dict[int, str] = {}
    while True:
        verdicts = _one_place_at_a_time(tracks, looks, [_verdict(r, gallery, rules) for r in looks], rules)
        found = {
            at: verdict.person
            for at, verdict in enumerate(verdicts)
            if verdict.person is not None
            and rules.beyond_doubt(verdict)
            and by_photos[at][verdict.person] >= rules.threshold
        }
        if found.keys() <= bank.keys():
            return gallery
        bank = found | bank
        # The faces of each person that are most like the photos, one row a track, in an order of their own
        film: dict[str, list[tuple[float, bytes, Embeddings]]] = {}
        for at, person in bank.items():
            face = mean_of(looks[at])
            film.setdefault(person, []).append((-by_photos[at][person], face.tobytes(), face))
        surest = {person: sorted(faces, key=lambda f: f[:2])[:_BANK] for person, faces in film.items()}
        gallery = gallery.with_film({p: np.stack([f for _, _, f in faces]) for p, faces in surest.items()})


def _one_place_at_a_time(
    tracks: Sequence[FaceTrack], looks: Sequence[Embeddings], verdicts: Sequence[Verdict], rules: _Rules
) -> list[Verdict]:
    """Take a person's name from the less alike of two faces that are in one picture.

    Both keep it where they are the same person beyond doubt, to the gallery and to one another: a mirror, a
    split screen, a portrait on the wall.
    """
    groups: dict[tuple[int, str], list[int]] = {}
    for at, (track, verdict) in enumerate(zip(tracks, verdicts, strict=True)):
        if verdict.person is not None:
            groups.setdefault((track.shot, verdict.person), []).append(at)
    moments = [{face.seconds for face in track.faces} for track in tracks]

    def is_same(one: int, other: int) -> bool:
        sure = rules.beyond_doubt(verdicts[one]) and rules.beyond_doubt(verdicts[other])
        return sure and float(mean_of(looks[one]) @ mean_of(looks[other])) >= rules.same

    judged = list(verdicts)
    for (_, person), group in groups.items():
        kept: list[int] = []
        for at in sorted(
            group, key=lambda i: (-(verdicts[i].likeness or 0.0), tracks[i].first, _corner(tracks[i]))
        ):
            if all(is_same(rival, at) for rival in kept if moments[rival] & moments[at]):
                kept.append(at)
            else:
                reason = f"the same moment as a face more like {rules.label_of(person)}"
                judged[at] = replace(verdicts[at], person=None, member=None, reason=reason)
    return judged


def _corner(track: FaceTrack) -> tuple[float, float]:
    return track.faces[0].box.left, track.faces[0].box.top


def _by_frame(tracks: Sequence[FaceTrack], gallery: Gallery, rules: _Rules) -> list[Verdict]:
    """As in AutoAD-Zero: each face of each frame is whom it is most like, from the threshold on; of two that
    would be one person in a frame, the better. There is no margin."""
    plain = replace(rules, margin=0.0)
    # Of each track, the looks that were read, and whose they are
    read = [
        {
            look: _verdict(track.embeddings[row : row + 1], gallery, plain)
            for row, look in enumerate(track.read)
            if track.faces[look].box.height >= rules.smallest
        }
        for track in tracks
    ]
    best: dict[tuple[int, float, str], tuple[int, int]] = {}
    found = [(at, look) for at, known in enumerate(read) for look in known]
    for at, look in sorted(found, key=lambda f: (-(read[f[0]][f[1]].likeness or 0.0), _corner(tracks[f[0]]))):
        person, track = read[at][look].person, tracks[at]
        if person is not None:
            best.setdefault((track.shot, track.faces[look].seconds, person), (at, look))
    verdicts = []
    for at, track in enumerate(tracks):
        own = sorted(look for t, look in best.values() if t == at)
        looks = tuple(read[at][k].member if k in own else None for k in range(len(track.faces)))
        if own:  # the most frequent is that of the track
            person = Counter(read[at][look].person for look in own).most_common(1)[0][0]
            mine = [read[at][look] for look in own if read[at][look].person == person]
            verdicts.append(replace(max(mine, key=lambda v: v.likeness or 0.0), looks=looks))
        elif read[at]:
            top = max(read[at].values(), key=lambda v: v.likeness or 0.0)
            reason = top.reason or f"the same moment as a face more like {top.person}"
            verdicts.append(replace(top, person=None, member=None, reason=reason, looks=looks))
        else:
            verdicts.append(Verdict(reason="too small", looks=looks))
    return verdicts
