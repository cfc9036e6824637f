"""Whether people found in a film are known to the cast already. Pure logic.

What a person has done with the pictures of an earlier run over the same film counts first, then the faces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from shotad.sight.cast.found.castfolder import Holdings, is_blank
from shotad.sight.cast.found.people import FoundPerson

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


@dataclass(frozen=True, slots=True)
class Borders:
    """Likeness from which somebody is a member, and by how much the second best must be less."""

    threshold: float
    margin: float


@dataclass(frozen=True, slots=True)
class _Claims:
    """What became of the pictures that were cut from a person's faces before, as ids.

    ``moved`` are those to whom they were given, ``kept`` whom they still belong to or were deleted from,
    ``lost`` counts those that went with their person.
    """

    moved: tuple[str, ...]
    kept: tuple[str, ...]
    lost: int


def match_people(
    people: Sequence[FoundPerson],
    film: str,
    holdings: Holdings,
    likeness: Callable[[FoundPerson], Likeness],
    borders: Borders,
) -> list[Match]:
    """For each of ``people``, the most seen first, whose they are.

    ``likeness`` must not count pictures that an earlier run cut from the same film, for these follow from
    what is to be decided. Several may be the same member, unless they are on the screen together.
    """
    claims = [_claims(person, film, holdings) for person in people]
    owners = _owners(claims)
    named = {member.id for member in holdings.members if not is_blank(member)}
    matches: list[Match] = []
    taken: dict[str, list[FoundPerson]] = {}
    for number, person in enumerate(people):
        alike = likeness(person)
        found = _matched(claims[number], owners.get(number), named, alike, borders)
        met = found.member is not None and any(map(person.meets, taken.get(found.member, ())))
        if met and not _is_moved(claims[number]):
            found = Match(like=found.member)
        if found.member is not None:
            taken.setdefault(found.member, []).append(person)
        matches.append(found)
    return matches


def _claims(person: FoundPerson, film: str, holdings: Holdings) -> _Claims:
    moved, kept, lost = [], [], 0
    for picture in holdings.facts.of_film(film):
        if not person.is_seen_at(picture.second, picture.box):
            continue
        holder = holdings.holder(picture)
        if holder is not None and holder != picture.id:
            moved.append(holder)
        elif holdings.is_member(picture.id):
            kept.append(picture.id)
        else:
            lost += 1
    return _Claims(tuple(moved), tuple(kept), lost)


def _owners(claims: Sequence[_Claims]) -> dict[int, str]:
    """Which person found goes on as which member: of several with pictures of one, that with the most."""
    best: dict[str, tuple[int, int]] = {}
    for number, claim in enumerate(claims):
        for member in sorted(set(claim.kept)):
            best[member] = min(best.get(member, (0, 0)), (-claim.kept.count(member), number))
    owned: dict[int, list[tuple[int, str]]] = {}
    for member, (votes, number) in best.items():
        owned.setdefault(number, []).append((votes, member))
    return {number: min(members)[1] for number, members in owned.items()}


def _matched(
    claims: _Claims, owner: str | None, named: Iterable[str], alike: Likeness, borders: Borders
) -> Match:
    if _is_moved(claims):
        return Match(_most(claims.moved))
    if owner is not None and owner in named:
        return Match(owner)
    sure, like = _by_face(alike, borders)
    if sure is not None:
        return Match(sure)
    if owner is not None:
        return Match(owner, like if like != owner else None)
    if claims.lost > len(claims.kept):
        return Match(dismissed=True)
    return Match(like=_most(claims.kept) if claims.kept else like)


def _is_moved(claims: _Claims) -> bool:
    """Whether a person has given most of the pictures to somebody else."""
    return bool(claims.moved) and len(claims.moved) >= len(claims.kept)


def _by_face(alike: Likeness, borders: Borders) -> tuple[str | None, str | None]:
    """The member beyond doubt, or one whom somebody may be."""
    ranked = sorted(alike, key=lambda name: -alike[name])
    if not ranked or alike[ranked[0]] < borders.threshold - borders.margin:
        return None, None
    best = ranked[0]
    ahead = len(ranked) == 1 or alike[best] - alike[ranked[1]] >= borders.margin
    return (best, None) if alike[best] >= borders.threshold and ahead else (None, best)


def _most(names: Sequence[str]) -> str:
    return max(sorted(set(names)), key=names.count)
