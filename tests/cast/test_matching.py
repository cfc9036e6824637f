"""Whether people found are known: by what was done with their pictures, then by their faces."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from shotad.core import Box, Member
from shotad.sight import (
    Face,
    FaceTrack,
    Facts,
    FoundPerson,
    Holdings,
    Match,
    Picture,
    match_people,
    people_in,
    person_of,
)
from shotad.sight.castfolder import sha256_of

BOX = Box(0.4, 0.3, 0.6, 0.7)


def face(second: float, box: Box = BOX) -> Face:
    return Face(box, second, 0.9, ((0.45, 0.4), (0.55, 0.4), (0.5, 0.5), (0.46, 0.6), (0.54, 0.6)), 0.0)


def track(shot: int, *seconds: float, who: int = 0, box: Box = BOX) -> FaceTrack:
    vector = np.eye(4, dtype=np.float32)[[who]]
    return FaceTrack(shot, tuple(face(second, box) for second in seconds), vector, (0,))


def person(*seconds: float, who: int = 0, box: Box = BOX) -> FoundPerson:
    return person_of([track(int(seconds[0]), *seconds, who=who, box=box)])


def cut(folder: Path, owner: str, second: float, *, deleted: bool = False, at: str = "") -> Picture:
    """A picture cut from the face at a second and given to ``owner``; it lies with ``at`` now."""
    path = folder / (at or owner) / f"{second}.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{owner} {second}")
    sha = sha256_of(path)
    if deleted:
        path.unlink()
    return Picture(owner, f"{owner}/{second}.jpg", sha, "film", second, BOX)


def cast(folder: Path, pictures: list[Picture], *members: Member) -> Holdings:
    placed = tuple(Member(m.id, m.name, photos=tuple(sorted((folder / m.id).glob("*.jpg")))) for m in members)
    return Holdings(folder, placed, Facts((), tuple(pictures)))


def matched(people: list[FoundPerson], there: Holdings, *likeness: Mapping[str, float]) -> list[Match]:
    given = {id(p): alike for p, alike in zip(people, likeness, strict=False)}
    return match_people(people, "film", there, lambda p: given.get(id(p), {}), 0.5, 0.1)


def test_faces_alone_tell_where_there_is_nothing_else(tmp_path: Path) -> None:
    there = cast(tmp_path, [], Member("anna"), Member("bo"))
    people = [person(1.0), person(2.0), person(3.0), person(4.0)]
    alike = [{"anna": 0.8, "bo": 0.2}, {"anna": 0.6, "bo": 0.55}, {"anna": 0.45, "bo": 0.0}, {"anna": 0.1}]
    assert matched(people, there, *alike) == [Match("anna"), Match(like="anna"), Match(like="anna"), Match()]
    # Several may be one member but not at one moment.
    there = cast(tmp_path, [], Member("anna"))
    people = [person(1.0, 2.0), person(5.0), person(2.0, box=Box(0.0, 0.3, 0.2, 0.7))]
    same = {"anna": 0.9}
    assert matched(people, there, same, same, same) == [Match("anna"), Match("anna"), Match(like="anna")]
    # One look alone is no person.
    assert people_in([track(0, 1.0)], 360, 0.5, 0.1) == []
    both = people_in([track(0, 1.0), track(1, 2.0, 2.3)], 360, 0.5, 0.1)
    assert [person.looks for person in both] == [3]


def test_what_a_person_did_counts_more_than_likeness(tmp_path: Path) -> None:
    pictures = [cut(tmp_path, "person-01", 1.0)]
    blank = cast(tmp_path, pictures, Member("person-01"), Member("anna"))
    assert matched([person(1.0)], blank, {"anna": 0.9}) == [Match("anna")]
    named = cast(tmp_path, pictures, Member("person-01", "Bo"), Member("anna"))
    assert matched([person(1.0)], named, {"anna": 0.9}) == [Match("person-01")]
    # Pictures that were moved say whose they are.
    moved = [cut(tmp_path, "person-02", second, at="person-01") for second in (5.0, 6.0)]
    there = cast(
        tmp_path, [cut(tmp_path, "person-01", 1.0), *moved], Member("person-01"), Member("person-02")
    )
    people = [person(1.0), person(5.0, 6.0)]
    assert matched(people, there) == [Match("person-01"), Match("person-01")]
