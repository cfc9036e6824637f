"""Clustering of a film's face tracks into people, and matching of these people to the cast. Pure logic.

Tracks are clustered bottom-up by average linkage on the cosine, the most alike first, as long as the mean
cosine of all pairs between two groups is above ``join``. A chain of look-alikes does not hold two people
together, for all pairs count; and two tracks on the screen at one moment are never joined, nor any groups
that hold two such (the self-supervised constraint of video face clustering, as in Cinbis, Verbeek and Schmid
2011 and in C1C, Kalogeiton and Zisserman 2021).

A person who is split in two is put right by merging them; two people in one cannot be named. So two groups
of some size that each hold together much better than with the other stay two, for look-alikes are like that;
only tracks of clear faces found groups, and the rest are added to groups that exist, where there is no doubt.

Which cast member a person of the film is (`match_people`): what the user has done with the pictures of an
earlier run over the same film counts first, then the faces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.core import Box
from shotad.sight.castfolder import CastPictures, is_blank
from shotad.sight.faces import Embedding, Embeddings
from shotad.sight.facetracks import FaceTrack
from shotad.sight.gallery import mean_of

_MIN_TRACKS_FOR_COHESION = 3
"""Tracks from which it is known how well a group holds together."""
_COHESION_GAP = 0.15
"""Cosine by which two such groups must each be more alike within than with the other to stay two. On ten
people made by one image model purity rose from 0.80 to 0.99; of 40 real people six more were split."""


def group(
    clear: Sequence[FaceTrack], unclear: Sequence[FaceTrack], join: float, margin: float = 0.0
) -> list[list[FaceTrack]]:
    """The tracks of each person among ``clear`` ones: long and large enough to found a group.

    An ``unclear`` one joins the group that it is most like, if the mean cosine is above ``join`` and the next
    best group's is less by ``margin``; else it is in none. For n clear ones n² cosines are kept: 36 MB for
    3,000.
    """
    if not clear:
        return []
    tracks, clear_count = [*clear, *unclear], len(clear)
    tracks_at: dict[float, set[int]] = defaultdict(set)
    for number, track in enumerate(tracks):
        for face in track.faces:
            tracks_at[face.seconds].add(number)
    # Nobody is on the screen twice at one moment: such tracks are of two people.
    incompatible: list[set[int]] = []
    for number, track in enumerate(tracks):
        simultaneous = set[int]()
        for face in track.faces:
            simultaneous |= tracks_at[face.seconds]
        incompatible.append(simultaneous - {number})
    vectors = np.stack([mean_of(track.embeddings) for track in tracks])
    incompatible_clear = [
        {number for number in numbers if number < clear_count} for numbers in incompatible[:clear_count]
    ]
    groups = agglomerate(vectors[:clear_count], incompatible_clear, join)
    # Compared to the groups as they are now, so that an unclear track changes no mean; the surest first.
    centres = np.stack([vectors[numbers].mean(axis=0) for numbers in groups])
    cosines = vectors[clear_count:] @ centres.T
    for index in sorted(range(len(unclear)), key=lambda index: -float(cosines[index].max())):
        ranked = np.argsort(-cosines[index], kind="stable")[:2]
        best = int(ranked[0])
        runner_up = float(cosines[index, ranked[1]]) if len(ranked) > 1 else -1.0
        is_sure = cosines[index, best] > join and cosines[index, best] - runner_up >= margin
        number = clear_count + index
        if is_sure and incompatible[number].isdisjoint(groups[best]):
            groups[best].append(number)
    return [[tracks[number] for number in numbers] for numbers in groups]


def agglomerate(vectors: Embeddings, incompatible: Sequence[set[int]], join: float) -> list[list[int]]:
    """Groups of row numbers of ``vectors`` (``float32[n, d]``) by average linkage, the most alike first.

    Two groups are joined while their mean cosine is above ``join``, unless both hold together much better
    than with each other. ``incompatible[i]`` are the rows that may not be in one group with row ``i``.
    """
    members = [[row] for row in range(len(vectors))]
    # The mean cosine of each two groups; minus infinity, which stays so in every mean, of incompatible ones
    cosines = np.array(vectors @ vectors.T, np.float32)
    for row, others in enumerate(incompatible):
        cosines[row, [row, *others]] = -np.inf
    nearest = cosines.argmax(axis=1)
    inner_sums = np.zeros(len(vectors))  # of the cosines of all pairs within each group

    def cohesion(index: int) -> float:
        """The mean cosine of all pairs within a group; minus infinity for one that is too small to say."""
        size = len(members[index])
        if size < _MIN_TRACKS_FOR_COHESION:
            return -np.inf
        return float(inner_sums[index]) / (size * (size - 1) / 2)

    while True:
        best_cosines = cosines[np.arange(len(members)), nearest]
        first = int(best_cosines.argmax())
        kept, absorbed = sorted((first, int(nearest[first])))
        if not cosines[kept, absorbed] > join:
            break
        if cosines[kept, absorbed] < min(cohesion(kept), cohesion(absorbed)) - _COHESION_GAP:
            # Look-alikes: never to be joined, also not as parts of larger groups
            cosines[kept, absorbed] = cosines[absorbed, kept] = -np.inf
            changed = [kept, absorbed]
        else:
            # The cosine to a joined group is at most the better of its parts': only groups whose nearest was
            # one of the parts have to search again.
            changed = [kept, *np.flatnonzero((nearest == kept) | (nearest == absorbed))]
            size, other_size = len(members[kept]), len(members[absorbed])
            inner_sums[kept] += inner_sums[absorbed] + size * other_size * cosines[kept, absorbed]
            mean_cosines = (size * cosines[kept] + other_size * cosines[absorbed]) / (size + other_size)
            cosines[kept] = cosines[:, kept] = mean_cosines
            cosines[absorbed] = cosines[:, absorbed] = -np.inf
            members[kept] += members[absorbed]
            members[absorbed] = []
        nearest[changed] = cosines[changed].argmax(axis=1)
    return [rows for rows in members if rows]


_MIN_FACES_OF_CLEAR = 2
_MIN_HEIGHT_OF_CLEAR = 40.0
"""Pixels of a face that may found a person; smaller ones look alike, whosever they are."""
_MIN_HEIGHT = 24.0
"""Pixels of a face that can be compared at all."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundPerson:
    """A person of a film: their ``tracks``, oldest first, and ``centre``, what they look like on average
    (``float32[d]`` of length 1)."""

    tracks: tuple[FaceTrack, ...]
    centre: Embedding

    @property
    def first(self) -> float:
        """Second of the first face."""
        return min(track.first for track in self.tracks)

    @property
    def shots(self) -> int:
        """Number of shots with a track of theirs."""
        return len({track.shot for track in self.tracks})

    @property
    def looks(self) -> int:
        """Number of faces in all tracks."""
        return sum(len(track.faces) for track in self.tracks)

    @property
    def order(self) -> tuple[float, ...]:
        """Key to sort people by: with most faces, then earliest, then farthest left and highest."""
        box = self.tracks[0].faces[0].box
        return -self.looks, self.first, box.left, box.top

    @property
    def rows(self) -> npt.NDArray[np.float32]:
        """The mean embedding of each track, ``float32[n, d]``."""
        return np.stack([mean_of(track.embeddings) for track in self.tracks])

    def is_seen_at(self, second: float, box: Box) -> bool:
        """Whether one of the faces is at ``box`` at ``second`` of the film."""
        for track in self.tracks:
            # A film has thousands of faces: tracks elsewhere are passed over.
            if not track.first - 1 < second < track.last + 1:
                continue
            for face in track.faces:
                if abs(face.seconds - second) < 2e-3 and face.box.iou(box) > 0.5:
                    return True
        return False

    def meets(self, other: FoundPerson) -> bool:
        """Whether both are on the screen at one moment."""
        return not self._seconds().isdisjoint(other._seconds())

    def _seconds(self) -> set[float]:
        """The seconds at which a face of theirs was detected."""
        return {face.seconds for track in self.tracks for face in track.faces}


def group_people(tracks: Sequence[FaceTrack], height: int, join: float, margin: float) -> list[FoundPerson]:
    """The people among the face tracks of a film, those with most faces first.

    ``height`` is that of the pictures, in pixels; ``join`` and ``margin`` as in
    `shotad.sight.found_people.group`.
    Faces too small to compare are left out, and so are people who were never detected twice in a shot.
    """
    clear: list[FaceTrack] = []
    unclear: list[FaceTrack] = []
    for track in tracks:
        pixels = max(face.box.height for face in track.faces) * height
        if pixels < _MIN_HEIGHT:
            continue
        if len(track.faces) >= _MIN_FACES_OF_CLEAR and pixels >= _MIN_HEIGHT_OF_CLEAR:
            clear.append(track)
        else:
            unclear.append(track)
    people = [person_from_tracks(tracks_of_one) for tracks_of_one in group(clear, unclear, join, margin)]
    return sorted(people, key=lambda person: person.order)


def person_from_tracks(tracks: Iterable[FaceTrack]) -> FoundPerson:
    """The person to whom all of ``tracks`` belong."""
    ordered = sorted(tracks, key=lambda t: (t.first, t.faces[0].box.left, t.faces[0].box.top))
    track_means = np.stack([mean_of(track.embeddings) for track in ordered])
    return FoundPerson(tuple(ordered), mean_of(track_means))


Likeness = Mapping[str, float]
"""How much a person looks like each member, by id: cosines, -1 to 1."""


@dataclass(frozen=True, slots=True)
class Match:
    """Which member a person of the film is: ``member`` by id; ``like`` is a member they may be, without
    certainty.

    ``dismissed``: the user has taken them out of the cast.
    """

    member: str | None = None
    like: str | None = None
    dismissed: bool = False


def match_people(
    people: Sequence[FoundPerson],
    film: str,
    holdings: CastPictures,
    likeness: Callable[[FoundPerson], Likeness],
    threshold: float,
    margin: float,
) -> list[Match]:
    """A match for each of ``people``, which come with those with most faces first.

    ``film`` is the fingerprint of the film, ``holdings`` what the cast folder holds. From ``threshold`` on a
    person is a member, if the second best is less alike by ``margin``. ``likeness`` must not count pictures
    that an earlier run cut from the same film, for these follow from what is to be decided. Several may be
    the same member, unless they are on the screen together.
    """
    past_pictures = [_past_pictures(person, film, holdings) for person in people]
    member_of = _members_by_pictures(past_pictures)
    filled_in = {member.id for member in holdings.members if not is_blank(member)}
    matches: list[Match] = []
    people_of_member: dict[str, list[FoundPerson]] = {}
    for number, person in enumerate(people):
        pictures = past_pictures[number]
        if pictures.moved_to and len(pictures.moved_to) >= len(pictures.kept_by):
            # The user has given most of the pictures to another member.
            match = Match(_most_frequent(pictures.moved_to))
        else:
            match = _match(member_of.get(number), filled_in, likeness(person), pictures, threshold, margin)
            others = people_of_member.get(match.member, []) if match.member is not None else []
            if any(person.meets(other) for other in others):
                match = Match(like=match.member)
        if match.member is not None:
            people_of_member.setdefault(match.member, []).append(person)
        matches.append(match)
    return matches


@dataclass(frozen=True, slots=True)
class _PastPictures:
    """The pictures that an earlier run cut from one person's faces, by what became of them since.

    ``moved_to`` and ``kept_by`` have the id of a member for each picture: to whom the user has moved it, or
    to whom it belonged all the time, though it may be deleted. ``dismissed`` counts those whose member was
    taken out of the cast.
    """

    moved_to: list[str]
    kept_by: list[str]
    dismissed: int


def _past_pictures(person: FoundPerson, film: str, holdings: CastPictures) -> _PastPictures:
    """What became of the pictures that were cut from ``person``'s faces."""
    moved_to: list[str] = []
    kept_by: list[str] = []
    dismissed = 0
    for picture in holdings.facts.of_film(film):
        if not person.is_seen_at(picture.second, picture.box):
            continue
        holder = holdings.holder(picture) or picture.id
        if holder != picture.id:
            moved_to.append(holder)
        elif holdings.is_member(picture.id):
            kept_by.append(picture.id)
        else:
            dismissed += 1
    return _PastPictures(moved_to, kept_by, dismissed)


def _members_by_pictures(past_pictures: Sequence[_PastPictures]) -> dict[int, str]:
    """The member as which a person goes on, by the person's number: of several people with pictures of one
    member, the person with most of them does."""
    # For each member the least (minus the pictures, number of the person)
    best: dict[str, tuple[int, int]] = {}
    for number, pictures in enumerate(past_pictures):
        for member_id in sorted(set(pictures.kept_by)):
            rank = (-pictures.kept_by.count(member_id), number)
            best[member_id] = min(best.get(member_id, (0, 0)), rank)
    # A person may be best for several members: the last one set, of the best rank, stays.
    ranked = sorted(((rank, member_id) for member_id, rank in best.items()), reverse=True)
    return {number: member_id for (_, number), member_id in ranked}


def _match(
    owner: str | None,
    filled_in: Iterable[str],
    likeness: Likeness,
    pictures: _PastPictures,
    threshold: float,
    margin: float,
) -> Match:
    """The match of one person: first by ``owner``, the member with most of their pictures, then by likeness.

    ``filled_in`` are the ids of members of whom the user has written more than photos.
    """
    if owner is not None and owner in filled_in:
        return Match(owner)
    ranked = sorted(likeness, key=lambda member_id: -likeness[member_id])
    like = ranked[0] if ranked and likeness[ranked[0]] >= threshold - margin else None
    is_plain = len(ranked) < 2 or likeness[ranked[0]] - likeness[ranked[1]] >= margin
    if like is not None and likeness[like] >= threshold and is_plain:
        return Match(like)
    if owner is not None:
        return Match(owner, like if like != owner else None)
    if pictures.dismissed > len(pictures.kept_by):
        return Match(dismissed=True)
    return Match(like=_most_frequent(pictures.kept_by) if pictures.kept_by else like)


def _most_frequent(ids: Sequence[str]) -> str:
    """The most frequent id; of several, the first by alphabet."""
    return max(sorted(set(ids)), key=ids.count)
