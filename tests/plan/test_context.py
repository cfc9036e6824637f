"""The context rule, against the published rows for CMD-AD and TV-AD and on small cases."""

from __future__ import annotations

import hashlib
import itertools
from typing import Literal

import pytest

from shotad.core import ContextSettings, ContextShot, Interval, Role, Shot, load_config
from shotad.film import context_shots, sampling
from tests.cmdad import Golden, cmdad, tvad

DEFAULT = ContextSettings()
LABELS = {Role.PAST: "l", Role.CURRENT: "m", Role.FUTURE: "r"}


def film(*cuts: float) -> list[Shot]:
    """Touching shots between the given moments."""
    return [Shot(i, Interval(a, b)) for i, (a, b) in enumerate(itertools.pairwise(cuts))]


def spans(context: tuple[ContextShot, ...]) -> list[tuple[int, str, float, float]]:
    return [(c.shot.index, c.role.value, c.clipped.start, c.clipped.end) for c in context]


def labelled(golden: Golden, context: tuple[ContextShot, ...]) -> list[tuple[str, float, float]]:
    """Rows with the published labels: l-1 is the shot just before the slot, m-0 the first that overlaps."""
    slot = golden.slot
    over = [k for k, s in enumerate(golden.shots) if s.interval.overlaps(slot)]
    over = over or [c.shot.index for c in context if c.role is Role.CURRENT]
    first, last = over[0], over[-1]
    offset = {Role.PAST: 2 - first, Role.CURRENT: -first, Role.FUTURE: -last - 1}
    return [
        (
            f"{LABELS[c.role]}-{c.shot.index + offset[c.role]}",
            round(c.clipped.start, 9),
            round(c.clipped.end, 9),
        )
        for c in context
    ]


def test_published_rows_are_all_equal_with_the_published_settings() -> None:
    settings = load_config("reference-code").context
    rows = [(g, labelled(g, context_shots(g.slot, g.shots, settings))) for g in cmdad()]
    assert [r for _, r in rows] == [list(g.rows) for g, _ in rows]
    assert sum(len(r) for _, r in rows) == 39_607
    lines = (f"{g.index},{label},{a:.3f},{b:.3f}" for g, r in rows for label, a, b in r)
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] == "d12c37b4bba7e316"


@pytest.mark.parametrize("names", [["reference-code", "tv-ad"], ["tv-ad", "reference-code"]])
def test_published_rows_of_numbered_frames_are_all_equal_with_the_published_settings(
    names: list[str],
) -> None:
    settings = load_config(names).context
    found = {g.index: labelled(g, context_shots(g.slot, g.shots, settings)) for g in tvad()}
    assert found == {g.index: list(g.rows) for g in tvad()}
    assert sum(len(rows) for rows in found.values()) == 15_460


def test_with_the_papers_settings_six_current_shots_of_one_frame_are_kept_besides() -> None:
    settings = load_config(["paper", "tv-ad"]).context
    extra = []
    for golden in tvad():
        found = labelled(golden, context_shots(golden.slot, golden.shots, settings))
        assert [row for row in found if row in golden.rows] == list(golden.rows)
        extra += [row for row in found if row not in golden.rows]
    assert len(extra) == 6
    assert all(label.startswith("m-") and end - start < 0.4 for label, start, end in extra)


def test_by_default_only_three_short_current_pieces_are_kept_besides() -> None:
    extra = []
    for golden in cmdad():
        found = labelled(golden, context_shots(golden.slot, golden.shots, DEFAULT))
        assert [row for row in found if row in golden.rows] == list(golden.rows)
        extra += [row for row in found if row not in golden.rows]
    assert len(extra) == 3
    assert all(label.startswith("m-") and end - start <= 0.4 for label, start, end in extra)


def test_first_and_last_current_shot_are_cut_to_three_seconds_around_the_slot() -> None:
    shots = film(0, 10, 11, 30)
    assert spans(context_shots(Interval(9, 13), shots, DEFAULT)) == [
        (0, "current", 6, 10),
        (1, "current", 10, 11),
        (2, "current", 11, 16),
    ]


def test_two_neighbours_a_side_reach_nineteen_seconds() -> None:
    shots = film(0, 5, 25, 35, 50, 75, 90)
    assert spans(context_shots(Interval(28, 32), shots, DEFAULT)) == [
        (1, "past", 9, 25),
        (2, "current", 25, 35),
        (3, "future", 35, 50),
        (4, "future", 50, 51),
    ]


def test_dropped_neighbours_are_not_replaced() -> None:
    shots = film(0, 8, 9.7, 10, 14)
    assert spans(context_shots(Interval(11, 13), shots, DEFAULT)) == [
        (1, "past", 8, 9.7),
        (3, "current", 10, 14),
    ]


def test_piece_of_exactly_the_shortest_length_is_dropped_and_current_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shots = film(0, 4, 4.5, 4.75, 9)
    monkeypatch.setattr(sampling, "SHORTEST", 0.5)
    assert spans(context_shots(Interval(4.5, 4.75), shots, DEFAULT)) == [
        (0, "past", 0, 4),
        (2, "current", 4.5, 4.75),
        (3, "future", 4.75, 9),
    ]


def test_short_current_shots_are_dropped_beside_longer_ones_where_set() -> None:
    shots, settings = film(0, 4, 4.25, 9), ContextSettings(rules="code")
    assert spans(context_shots(Interval(3, 5), shots, settings)) == [
        (0, "current", 0, 4),
        (2, "current", 4.25, 8),
    ]


def test_slot_in_a_short_shot_keeps_it_whatever_is_set() -> None:
    shots, settings = film(0, 4, 4.25, 9), ContextSettings(rules="code")
    assert [r for _, r, _, _ in spans(context_shots(Interval(4, 4.25), shots, settings))] == [
        "past",
        "current",
        "future",
    ]


@pytest.mark.parametrize("rules", ["paper", "code"])
def test_touching_is_not_overlapping_where_shots_meet(rules: Literal["paper", "code"]) -> None:
    settings = ContextSettings(rules=rules)
    assert [r for _, r, _, _ in spans(context_shots(Interval(2, 4), film(0, 2, 4, 6), settings))] == [
        "past",
        "current",
        "future",
    ]


def apart(*pairs: tuple[float, float]) -> list[Shot]:
    return [Shot(i, Interval(*pair)) for i, pair in enumerate(pairs)]


GAPS = apart((0.01, 1.99), (2.01, 3.99), (4.01, 5.99))
"""As the published lists are: cuts at 2 and 4."""


@pytest.mark.parametrize(
    ("slot", "rules", "current"),
    [
        (Interval(2, 4), "code", [1]),
        (Interval(1.99, 4), "code", [0, 1]),
        (Interval(2, 4.01), "code", [1, 2]),
        (Interval(1.99, 4.01), "code", [0, 1, 2]),
        (Interval(1.99, 4.01), "paper", [1]),
        (Interval(5.99, 7), "code", [2]),
    ],
)
def test_touching_is_overlapping_at_a_gap_where_set(
    slot: Interval, rules: Literal["paper", "code"], current: list[int]
) -> None:
    found = context_shots(slot, GAPS, ContextSettings(rules=rules))
    assert [c.shot.index for c in found if c.role is Role.CURRENT] == current


def test_touching_shot_with_no_reach_leaves_nothing_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ContextSettings(rules="code")
    monkeypatch.setattr(sampling, "CURRENT_REACH", 0.0)
    assert spans(context_shots(Interval(1.99, 3.99), GAPS, settings)) == [
        (1, "current", 2.01, 3.99),
        (2, "future", 4.01, 5.99),
    ]


@pytest.mark.parametrize(("past", "future"), [(0, 0), (1, 1), (2, 0), (0, 2), (9, 9)])
def test_number_of_neighbours_is_set(past: int, future: int) -> None:
    shots = film(*range(0, 21, 2))
    found = context_shots(Interval(10, 12), shots, ContextSettings(past=past, future=future))
    assert sum(c.role is Role.PAST for c in found) == min(past, 5)
    assert sum(c.role is Role.FUTURE for c in found) == min(future, 4)


@pytest.mark.parametrize("slot", [Interval(12, 14), Interval(4.2, 4.4), Interval(0, 1)])
def test_slot_outside_all_shots_is_its_own_shot(slot: Interval) -> None:
    shots = [Shot(0, Interval(2, 4)), Shot(1, Interval(5, 12))]
    (only,) = context_shots(slot, shots, DEFAULT)
    assert (only.clipped, only.shot.interval, only.role) == (slot, slot, Role.CURRENT)
    assert only.shot.index == 2


def test_film_without_shots_gives_the_slot_itself() -> None:
    (only,) = context_shots(Interval(3, 5), [], DEFAULT)
    assert only.shot == Shot(0, Interval(3, 5))


def test_slot_that_sticks_out_of_the_film_keeps_its_shots() -> None:
    assert spans(context_shots(Interval(8, 14), film(0, 5, 10), DEFAULT)) == [
        (0, "past", 0, 5),
        (1, "current", 5, 10),
    ]


class Counting(list[Shot]):
    """Shots that count how often one of them is looked at."""

    looks = 0

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        found = super().__getitem__(place)
        self.looks += len(found) if isinstance(place, slice) else 1
        return found

    def __iter__(self):  # type: ignore[no-untyped-def]
        self.looks += len(self)
        return super().__iter__()


def test_long_film_is_not_searched_shot_by_shot() -> None:
    shots = Counting(film(*range(3001)))
    context_shots(Interval(2500.2, 2503.4), shots, DEFAULT)
    assert 0 < shots.looks < 100
