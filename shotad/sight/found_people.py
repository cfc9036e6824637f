"""The people of a film, found by their faces alone, and whether the cast knows them already. Pure logic.

Faces come as appearances: one face followed through one shot. They are joined bottom-up by average linkage
on the cosine, the most alike first, as long as the mean likeness of all pairs between two groups is above
``join``. A chain of look-alikes does not hold two people together, for all pairs count; and two who are on
the screen at one moment are never joined, nor any groups that hold two such (the self-supervised constraint
of video face clustering, as in Cinbis, Verbeek and Schmid 2011 and in C1C, Kalogeiton and Zisserman 2021).

A person who is split in two is put right by merging them; two people in one cannot be named. So two groups
of some size that each hold together much better than with the other stay two, for look-alikes are like that;
only appearances that are firm found groups, and the rest are given to groups that exist, where there is no
doubt.

Whose somebody is (`match_people`): what a person has done with the pictures of an earlier run over the same
film counts first, then the faces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.core import Box
from shotad.sight.castfolder import Holdings, is_blank
from shotad.sight.faces import Embedding, Embeddings
from shotad.sight.facetracks import FaceTrack
from shotad.sight.gallery import mean_of

_SOLID = 3
"""Appearances from which it is known how well a group holds together."""
_GAP = 0.15
"""Likeness by which two solid groups must each be more alike within than with the other to stay two. On ten
people made by one image model purity rose from 0.80 to 0.99; of 40 real people six more were split."""


def group(
    firm: Sequence[FaceTrack], loose: Sequence[FaceTrack], join: float, margin: float = 0.0
) -> list[list[FaceTrack]]:
    """The people among faces that are ``firm``: seen often and well enough to found a group.

    A ``loose`` one joins the group that it is most like, if the mean likeness is above ``join`` and the next
    best group's is less by ``margin``; else it is in none. For n firm ones n² likenesses are kept: 36 MB for
    3,000.
    """
    if not firm:
        return []
    tracks, first = [*firm, *loose], len(firm)
    seen_at: dict[float, set[int]] = defaultdict(set)
    for number, track in enumerate(tracks):
        for face in track.faces:
            seen_at[face.seconds].add(number)
    apart = [
        set[int]().union(*(seen_at[face.seconds] for face in track.faces)) - {number}
        for number, track in enumerate(tracks)
    ]
    vectors = np.stack([mean_of(track.embeddings) for track in tracks])
    within = [{other for other in others if other < first} for others in apart[:first]]
    groups = agglomerate(vectors[:first], within, join)
    # The surest first; the groups' means are those of the firm ones.
    likeness = vectors[first:] @ np.stack([vectors[members].mean(axis=0) for members in groups]).T
    for k in sorted(range(len(loose)), key=lambda k: -float(likeness[k].max())):
        ranked = np.argsort(-likeness[k], kind="stable")[:2]
        best = int(ranked[0])
        second = float(likeness[k, ranked[1]]) if len(ranked) > 1 else -1.0
        sure = likeness[k, best] > join and likeness[k, best] - second >= margin
        if sure and apart[first + k].isdisjoint(groups[best]):
            groups[best].append(first + k)
    return [[tracks[number] for number in numbers] for numbers in groups]


def agglomerate(vectors: Embeddings, apart: Sequence[set[int]], join: float) -> list[list[int]]:
    """Groups of row numbers by average linkage, two at a time, the most alike first, look-alikes apart.

    ``apart[i]`` are the rows that may not be in one group with row ``i``. Each group knows its nearest: as
    the likeness to a joined group is at most the better of its parts', only who was nearest to a part looks
    again.
    """
    members = [[k] for k in range(len(vectors))]
    # The mean likeness of each two groups; minus infinity, which stays so in every mean, of two who are apart
    alike = np.array(vectors @ vectors.T, np.float32)
    for row, others in enumerate(apart):
        alike[row, [row, *others]] = -np.inf
    nearest, within = alike.argmax(axis=1), np.zeros(len(vectors))

    def cohesion(one: int) -> float:
        """The mean likeness of all pairs within a group; minus infinity for one that is not solid."""
        n = len(members[one])
        return float(within[one]) / (n * (n - 1) / 2) if n >= _SOLID else -np.inf

    while True:
        likeness = alike[np.arange(len(members)), nearest]
        first = int(likeness.argmax())
        one, other = sorted((first, int(nearest[first])))
        if not alike[one, other] > join:
            break
        if alike[one, other] < min(cohesion(one), cohesion(other)) - _GAP:
            alike[one, other] = alike[other, one] = -np.inf
            changed = [one, other]
        else:
            changed = [one, *np.flatnonzero((nearest == one) | (nearest == other))]
            n, m = len(members[one]), len(members[other])
            within[one] += within[other] + n * m * alike[one, other]
            alike[one] = alike[:, one] = (n * alike[one] + m * alike[other]) / (n + m)
            alike[other] = alike[:, other] = -np.inf
            members[one] += members[other]
            members[other] = []
        nearest[changed] = alike[changed].argmax(axis=1)
    return [found for found in members if found]


_FIRM_LOOKS = 2
_FIRM_HEIGHT = 40.0
"""Pixels of a face that may found a person; smaller ones look alike, whosever they are."""
_LEAST_HEIGHT = 24.0
"""Pixels of a face that says anything."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundPerson:
    """Somebody seen in a film: their ``tracks``, oldest first, and ``centre``, what they look like on average
    (``float32[d]`` of length 1)."""

    tracks: tuple[FaceTrack, ...]
    centre: Embedding

    @property
    def first(self) -> float:
        """Second of the first look."""
        return min(track.first for track in self.tracks)

    @property
    def shots(self) -> int:
        """In how many shots they were seen."""
        return len({track.shot for track in self.tracks})

    @property
    def looks(self) -> int:
        """How often they were seen."""
        return sum(len(track.faces) for track in self.tracks)

    @property
    def order(self) -> tuple[float, ...]:
        """What people are sorted by: who is seen most, and first, and farther left."""
        box = self.tracks[0].faces[0].box
        return -self.looks, self.first, box.left, box.top

    @property
    def rows(self) -> npt.NDArray[np.float32]:
        """What they look like in each track, ``float32[n, d]``."""
        return np.stack([mean_of(track.embeddings) for track in self.tracks])

    def is_seen_at(self, second: float, box: Box) -> bool:
        """Whether one of the faces is there then."""
        return any(
            abs(face.seconds - second) < 2e-3 and face.box.iou(box) > 0.5
            for track in self.tracks
            if track.first - 1 < second < track.last + 1
            for face in track.faces
        )

    def meets(self, other: FoundPerson) -> bool:
        """Whether both are on the screen at one moment."""
        mine = {face.seconds for track in self.tracks for face in track.faces}
        return any(face.seconds in mine for track in other.tracks for face in track.faces)


def people_in(tracks: Sequence[FaceTrack], height: int, join: float, margin: float) -> list[FoundPerson]:
    """Who is who: the people among the faces of a film, the most seen first.

    ``height`` is that of the pictures, in pixels; ``join`` and ``margin`` as in
    `shotad.sight.found_people.group`.
    Faces too small to tell are left out, and so is who was never seen twice in a shot.
    """
    firm: list[FaceTrack] = []
    loose: list[FaceTrack] = []
    for track in tracks:
        pixels = max(face.box.height for face in track.faces) * height
        if pixels >= _LEAST_HEIGHT:
            is_firm = len(track.faces) >= _FIRM_LOOKS and pixels >= _FIRM_HEIGHT
            (firm if is_firm else loose).append(track)
    people = map(person_of, group(firm, loose, join, margin))
    return sorted(people, key=lambda person: person.order)


def person_of(tracks: Iterable[FaceTrack]) -> FoundPerson:
    """Somebody to whom all of these tracks belong."""
    ordered = tuple(sorted(tracks, key=lambda t: (t.first, t.faces[0].box.left, t.faces[0].box.top)))
    return FoundPerson(ordered, mean_of(np.stack([mean_of(track.embeddings) for track in ordered])))


Likeness = Mapping[str, float]
"""How much somebody looks like each member, by id."""


@dataclass(frozen=True, slots=True)
class Match:
    """Whose a person found is: ``member`` by id; ``like`` is somebody they may be, but not for sure.

    ``dismissed``: a person has taken them out of the cast.
    """

    member: str | None = None
    like: str | None = None
    dismissed: bool = False


def match_people(
    people: Sequence[FoundPerson],
    film: str,
    holdings: Holdings,
    likeness: Callable[[FoundPerson], Likeness],
    threshold: float,
    margin: float,
) -> list[Match]:
    """For each of ``people``, the most seen first, whose they are.

    From ``threshold`` on somebody is a member, if the second best is less alike by ``margin``.
    ``likeness`` must not count pictures that an earlier run cut from the same film, for these follow from
    what is to be decided. Several may be the same member, unless they are on the screen together.
    """
    claims = [_claims(person, film, holdings) for person in people]
    # Which person found goes on as which member: of several with pictures of one, that with the most
    best: dict[str, tuple[int, int]] = {}
    for number, (_, kept, _) in enumerate(claims):
        for member in sorted(set(kept)):
            best[member] = min(best.get(member, (0, 0)), (-kept.count(member), number))
    owners: dict[int, str] = {}
    for (_, number), name in sorted(((place, name) for name, place in best.items()), reverse=True):
        owners[number] = name
    named = {member.id for member in holdings.members if not is_blank(member)}
    matches: list[Match] = []
    taken: dict[str, list[FoundPerson]] = {}
    for number, person in enumerate(people):
        moved, kept, lost = claims[number]
        if moved and len(moved) >= len(kept):  # a person has given most of the pictures to somebody else
            found = Match(_most(moved))
        else:
            found = _matched(owners.get(number), named, likeness(person), kept, lost, threshold, margin)
            if found.member is not None and any(map(person.meets, taken.get(found.member, ()))):
                found = Match(like=found.member)
        if found.member is not None:
            taken.setdefault(found.member, []).append(person)
        matches.append(found)
    return matches


def _claims(person: FoundPerson, film: str, holdings: Holdings) -> tuple[list[str], list[str], int]:
    """Of the pictures that were cut from a person's faces before: the ids of those to whom they were given,
    and of those whom they still belong to or were deleted from; how many went with their person."""
    pictures = [p for p in holdings.facts.of_film(film) if person.is_seen_at(p.second, p.box)]
    holders = [(p.id, holdings.holder(p) or p.id) for p in pictures]
    moved = [holder for own, holder in holders if holder != own]
    kept = [own for own, holder in holders if holder == own and holdings.is_member(own)]
    return moved, kept, len(pictures) - len(moved) - len(kept)


def _matched(
    owner: str | None,
    named: Iterable[str],
    alike: Likeness,
    kept: Sequence[str],
    lost: int,
    threshold: float,
    margin: float,
) -> Match:
    if owner is not None and owner in named:
        return Match(owner)
    ranked = sorted(alike, key=lambda name: -alike[name])
    like = ranked[0] if ranked and alike[ranked[0]] >= threshold - margin else None
    ahead = len(ranked) < 2 or alike[ranked[0]] - alike[ranked[1]] >= margin
    if like is not None and alike[like] >= threshold and ahead:
        return Match(like)
    if owner is not None:
        return Match(owner, like if like != owner else None)
    if lost > len(kept):
        return Match(dismissed=True)
    return Match(like=_most(kept) if kept else like)


def _most(names: Sequence[str]) -> str:
    return max(sorted(set(names)), key=names.count)
