"""People that were found: which faces are one person's, whether they are known, by what was done with their pictures and by
their faces, and what is kept of them in a cast folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Box, Member
from shotad.core.errors import CastError
from shotad.sight import (
    Appearance,
    CastPicture,
    CastPictures,
    DiscoveryRecord,
    Face,
    FaceTrack,
    FoundPerson,
    Match,
    group_people,
    match_people,
)
from shotad.sight.castfolder import (
    DISCOVERY_FILE,
    locked,
    merge_appearances,
    put_pictures,
    remove_pictures,
    sha256_of,
)
from shotad.sight.found_people import agglomerate, group, person_from_tracks

Rows = npt.NDArray[np.float32]


Seen = tuple[FaceTrack, bool]
"""A face through one shot, and whether it is firm."""


def seen(degrees: float, *moments: float, firm: bool = True) -> Seen:
    """A face in a plane: two are as alike as the cosine of the angle between them."""
    angle = np.radians(degrees)
    faces = tuple(Face(Box(0.4, 0.3, 0.6, 0.7), second, 0.9, ((0.5, 0.5),) * 5, 0.0) for second in moments)
    return FaceTrack(0, faces, np.array([[np.cos(angle), np.sin(angle)]], np.float32), (0,)), firm


def grouped(appearances: Sequence[Seen], join: float, margin: float = 0.0) -> tuple[tuple[int, ...], ...]:
    """The groups as the places of what was seen."""
    place = {id(track): number for number, (track, _) in enumerate(appearances)}
    firm, loose = ([track for track, is_firm in appearances if is_firm is wanted] for wanted in (True, False))
    found = group(firm, loose, join, margin)
    return tuple(sorted(tuple(sorted(place[id(track)] for track in people)) for people in found))


def by_the_book(rows: Rows, apart: Sequence[set[int]], join: float) -> list[list[int]]:
    """The rules as they are told, all pairs anew at each step."""
    groups = [[k] for k in range(len(rows))]
    apart = [set(others) for others in apart]

    likeness = rows.astype(float) @ rows.astype(float).T

    def within(one: list[int]) -> float:
        return float(np.mean([likeness[pair] for pair in combinations(one, 2)])) if len(one) > 2 else -1.0

    while True:
        best, pair = join, None
        for one, other in combinations(range(len(groups)), 2):
            if any(b in apart[a] for a in groups[one] for b in groups[other]):
                continue
            alike = float(np.mean(likeness[np.ix_(groups[one], groups[other])]))
            if alike > best:
                best, pair = alike, (one, other)
        if pair is None:
            return groups
        first, second = (groups[k] for k in pair)
        if best < min(within(first), within(second)) - 0.15:
            for a in first:
                apart[a] |= set(second)
                for b in second:
                    apart[b].add(a)
        else:
            groups[pair[0]] += groups.pop(pair[1])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 24), st.floats(0.1, 0.8), st.integers(0, 12))
def test_groups_are_those_of_average_linkage(seed: int, n: int, join: float, pairs: int) -> None:
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(n, 5)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    apart: list[set[int]] = [set() for _ in range(n)]
    for one, other in draw.integers(0, n, size=(pairs, 2)).tolist():
        if one != other:
            apart[one].add(other)
            apart[other].add(one)
    found = agglomerate(rows, apart, join)
    assert {frozenset(one) for one in found} == {frozenset(one) for one in by_the_book(rows, apart, join)}


def test_who_is_two_and_who_is_one() -> None:
    assert grouped([seen(0, 1.0, 2.0), seen(1, 2.0, 3.0)], 0.5) == ((0,), (1,))
    assert grouped([seen(0, 1.0, 2.0), seen(1, 2.5, 3.0)], 0.5) == ((0, 1),)
    # Twins stay apart also when each has been joined to others.
    twins = [seen(0, 1.0), seen(2, 1.0), seen(0.4, 5.0), seen(2.4, 6.0), seen(0.8, 7.0)]
    groups = grouped(twins, 0.5)
    assert not any({0, 1} <= set(members) for members in groups)
    assert sorted(number for members in groups for number in members) == [0, 1, 2, 3, 4]
    # Two look alikes who are seen often stay two.
    one = [seen(degrees, float(degrees)) for degrees in (0, 1, 2, 3)]
    other = [seen(degrees, float(degrees)) for degrees in (40, 41, 42, 43)]
    assert grouped([*one, *other], 0.5) == ((0, 1, 2, 3), (4, 5, 6, 7)), "cosine of 40 degrees is 0.77"
    assert grouped([one[0], other[0]], 0.5) == ((0, 1),), "of two looks nothing is known"
    # Somebody with many looks is one.
    fan = [seen(degrees, float(degrees)) for degrees in (0, 15, 30, 45, 60)]
    assert grouped(fan, 0.5) == ((0, 1, 2, 3, 4),)


def test_who_is_nobody() -> None:
    assert grouped([seen(0, 1.0, firm=False), seen(0, 2.0, firm=False)], 0.5) == ()
    assert grouped([seen(0, 1.0), seen(10, 2.0, firm=False)], 0.5) == ((0, 1),)
    people = [seen(0, 1.0), seen(60, 2.0), seen(29, 3.0, firm=False), seen(10, 4.0, firm=False)]
    assert grouped(people, 0.8, margin=0.1) == ((0, 3), (1,))


BOX = Box(0.4, 0.3, 0.6, 0.7)


def picture(folder: Path, person: str, content: str, film: str = "f1") -> CastPicture:
    """A picture that discovery put there."""
    ((name, sha),) = put_pictures(folder, person, content, [(1.0, content.encode())])
    return CastPicture(person, name, sha, film, 1.0, BOX)


@pytest.mark.parametrize("text", ["{}", "no json", '{"version": 1, "found": [{}], "pictures": []}'])
def test_damaged_facts_are_an_error_that_says_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / DISCOVERY_FILE).write_text(text)
    with pytest.raises(CastError, match="damaged") as raised:
        DiscoveryRecord.read(tmp_path)
    assert "Delete it" in raised.value.hint


def test_the_same_picture_is_put_once_and_others_are_not_written_over(tmp_path: Path) -> None:
    first = put_pictures(tmp_path, "person-01", "ep", [(83.5, b"one")])
    again = put_pictures(tmp_path, "person-01", "ep", [(83.5, b"one")])
    other = put_pictures(tmp_path, "person-01", "ep", [(83.5, b"two")])
    assert first == again == [("person-01/ep-00h01m23s500.jpg", sha256_of(tmp_path / first[0][0]))]
    assert other[0][0] == "person-01/ep-00h01m23s500-2.jpg"
    assert (tmp_path / first[0][0]).read_bytes() == b"one"


def test_only_pictures_that_are_as_they_were_written_are_deleted(tmp_path: Path) -> None:
    one, two = picture(tmp_path, "person-01", "one"), picture(tmp_path, "person-02", "two")
    (tmp_path / two.file).write_bytes(b"retouched")
    assert remove_pictures(tmp_path, [one, two]) == 1
    assert not (tmp_path / "person-01").exists()
    assert (tmp_path / two.file).read_bytes() == b"retouched"


def test_two_do_not_change_a_cast_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shotad.sight.castfolder._LOCK_TIMEOUT", 0.0)
    place = tmp_path / "x.cast"
    with locked(place), pytest.raises(CastError, match="in use by another"), locked(place):
        pass
    with locked(place):
        pass


def test_a_cast_that_cannot_be_made_or_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CastError, match="cannot be written"), locked(tmp_path / "file" / "x.cast"):
        pass
    # Facts of another version are refused.
    (tmp_path / DISCOVERY_FILE).write_text('{"version": 99, "found": [], "pictures": []}')
    with pytest.raises(CastError, match="version 99"):
        DiscoveryRecord.read(tmp_path)


def test_two_records_of_one_person_and_film_become_one() -> None:
    rows = [
        Appearance("a", "f1", "ep", 2, 1.0, 9.0), Appearance("b", "f1", "ep", 1, 1.0, 1.0),
        Appearance("a", "f1", "ep", 1, 0.5, 4.0),
    ]  # fmt: skip
    assert merge_appearances(rows) == (Appearance("a", "f1", "ep", 3, 1.5, 4.0), rows[1])


MARKS = ((0.45, 0.4), (0.55, 0.4), (0.5, 0.5), (0.46, 0.6), (0.54, 0.6))


def track(shot: int, *seconds: float, box: Box = BOX) -> FaceTrack:
    faces = tuple(Face(box, second, 0.9, MARKS, 0.0) for second in seconds)
    return FaceTrack(shot, faces, np.eye(4, dtype=np.float32)[[0]], (0,))


def person(*seconds: float, box: Box = BOX) -> FoundPerson:
    return person_from_tracks([track(int(seconds[0]), *seconds, box=box)])


def cut(folder: Path, owner: str, second: float, at: str = "") -> CastPicture:
    """A picture cut from the face at a second and given to ``owner``; it lies with ``at`` now."""
    path = folder / (at or owner) / f"{second}.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{owner} {second}")
    return CastPicture(owner, f"{owner}/{second}.jpg", sha256_of(path), "film", second, BOX)


def cast(folder: Path, pictures: list[CastPicture], *members: Member) -> CastPictures:
    placed = tuple(Member(m.id, m.name, photos=tuple(sorted((folder / m.id).glob("*.jpg")))) for m in members)
    return CastPictures(folder, placed, DiscoveryRecord((), tuple(pictures)))


def matched(people: list[FoundPerson], there: CastPictures, *likeness: Mapping[str, float]) -> list[Match]:
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
    assert group_people([track(0, 1.0)], 360, 0.5, 0.1) == []
    both = group_people([track(0, 1.0), track(1, 2.0, 2.3)], 360, 0.5, 0.1)
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
