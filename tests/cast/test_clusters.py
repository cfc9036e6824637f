"""Which faces are one person's: linkage, who cannot be one, and who is left out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings, strategies as st

from shotad.sight.found_people import Appearance, agglomerate, group

Rows = npt.NDArray[np.float32]


def unit(*values: float) -> npt.NDArray[np.float32]:
    row = np.array(values, np.float32)
    return np.asarray(row / np.linalg.norm(row), np.float32)


def at(degrees: float) -> npt.NDArray[np.float32]:
    """A face in a plane: two are as alike as the cosine of the angle between them."""
    return unit(np.cos(np.radians(degrees)), np.sin(np.radians(degrees)))


def seen(degrees: float, *moments: float, firm: bool = True) -> Appearance:
    return Appearance(at(degrees), moments, firm)


def by_the_book(rows: Rows, apart: Sequence[set[int]], join: float) -> list[list[int]]:
    """The rules as they are told, all pairs anew at each step."""
    groups = [[k] for k in range(len(rows))]
    apart = [set(others) for others in apart]

    def mean(one: list[int], other: list[int]) -> float:
        return float(np.mean(rows[one].astype(float) @ rows[other].astype(float).T))

    def within(one: list[int]) -> float:
        if len(one) < 3:
            return -1.0
        return float(np.mean([rows[a].astype(float) @ rows[b] for a, b in combinations(one, 2)]))

    while True:
        best, pair = join, None
        for one, other in combinations(range(len(groups)), 2):
            if any(b in apart[a] for a in groups[one] for b in groups[other]):
                continue
            alike = mean(groups[one], groups[other])
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


def as_sets(groups: Sequence[Sequence[int]]) -> set[frozenset[int]]:
    return {frozenset(members) for members in groups}


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
    assert as_sets(agglomerate(rows, apart, join)) == as_sets(by_the_book(rows, apart, join))


def test_who_is_two_and_who_is_one() -> None:
    assert group([seen(0, 1.0, 2.0), seen(1, 2.0, 3.0)], 0.5) == ((0,), (1,))
    assert group([seen(0, 1.0, 2.0), seen(1, 2.5, 3.0)], 0.5) == ((0, 1),)
    # Twins stay apart also when each has been joined to others.
    twins = [seen(0, 1.0), seen(2, 1.0), seen(0.4, 5.0), seen(2.4, 6.0), seen(0.8, 7.0)]
    groups = group(twins, 0.5)
    assert not any({0, 1} <= set(members) for members in groups)
    assert sorted(number for members in groups for number in members) == [0, 1, 2, 3, 4]
    # Two look alikes who are seen often stay two.
    one = [seen(degrees, float(degrees)) for degrees in (0, 1, 2, 3)]
    other = [seen(degrees, float(degrees)) for degrees in (40, 41, 42, 43)]
    assert group([*one, *other], 0.5) == ((0, 1, 2, 3), (4, 5, 6, 7)), "cosine of 40 degrees is 0.77"
    assert group([one[0], other[0]], 0.5) == ((0, 1),), "of two looks nothing is known"
    # Somebody with many looks is one.
    fan = [seen(degrees, float(degrees)) for degrees in (0, 15, 30, 45, 60)]
    assert group(fan, 0.5) == ((0, 1, 2, 3, 4),)


def test_who_is_nobody() -> None:
    assert group([seen(0, 1.0, firm=False), seen(0, 2.0, firm=False)], 0.5) == ()
    assert group([seen(0, 1.0), seen(10, 2.0, firm=False)], 0.5) == ((0, 1),)
    people = [seen(0, 1.0), seen(60, 2.0), seen(29, 3.0, firm=False), seen(10, 4.0, firm=False)]
    assert group(people, 0.8, margin=0.1) == ((0, 3), (1,))
