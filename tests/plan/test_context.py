"""The context rule, against the published rows for CMD-AD and on small cases."""

from __future__ import annotations

import hashlib
import itertools

import pytest

from shotad.config import ContextSettings, load_config
from shotad.plan.context import context_shots
from shotad.types import ContextShot, Interval, Role, Shot
from tests.cmdad import Golden, cmdad

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
    over = [
        k
        for k, s in enumerate(golden.shots)
        if max(s.interval.start, slot.start) <= min(s.interval.end, slot.end)
    ]
    first, last = (over[0], over[-1]) if over else (context[0].shot.index, 0)
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
    shots = film(0, 8, 9.6, 10, 14)
    assert spans(context_shots(Interval(11, 13), shots, DEFAULT)) == [
        (1, "past", 8, 9.6),
        (3, "current", 10, 14),
    ]


def test_piece_of_exactly_the_shortest_length_is_dropped_and_current_kept() -> None:
    shots = film(0, 4, 4.5, 4.75, 9)
    settings = ContextSettings(shortest=0.5)
    assert spans(context_shots(Interval(4.5, 4.75), shots, settings)) == [
        (0, "past", 0, 4),
        (2, "current", 4.5, 4.75),
        (3, "future", 4.75, 9),
    ]
    assert [r for _, r, _, _ in spans(context_shots(Interval(4.5, 4.75), shots, settings.model_copy(
        update={"keep_current": False}
    )))] == ["past", "future"]  # fmt: skip


def test_touching_is_not_overlapping_unless_set() -> None:
    shots = film(0, 2, 4, 6)
    assert [r for _, r, _, _ in spans(context_shots(Interval(2, 4), shots, DEFAULT))] == [
        "past",
        "current",
        "future",
    ]
    inclusive = ContextSettings(inclusive=True)
    assert [r for _, r, _, _ in spans(context_shots(Interval(2, 4), shots, inclusive))] == ["current"] * 3


def test_touching_shot_with_no_reach_leaves_nothing_to_show() -> None:
    settings = ContextSettings(inclusive=True, internal_range=0)
    assert spans(context_shots(Interval(2, 4), film(0, 2, 4, 6), settings)) == [(1, "current", 2, 4)]


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
