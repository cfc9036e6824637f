"""The context rule, against the published rows for CMD-AD and TV-AD and on small cases."""

from __future__ import annotations

import hashlib

import pytest

from shotad.core import ContextSettings, ContextShot, Interval, Role, Shot, load_config
from shotad.film import context_shots
from tests.cmdad import Golden, cmdad, tvad

DEFAULT = ContextSettings()
LABELS = {Role.PAST: "l", Role.CURRENT: "m", Role.FUTURE: "r"}


def labelled(golden: Golden, context: tuple[ContextShot, ...]) -> list[tuple[str, float, float]]:
    """Rows with the published labels: l-1 is the shot just before the slot, m-0 the first that overlaps."""
    slot = golden.slot
    over = [k for k, s in enumerate(golden.shots) if s.interval.overlaps(slot)]
    over = over or [c.shot.index for c in context if c.role is Role.CURRENT]
    first, last = over[0], over[-1]
    offset = {Role.PAST: 2 - first, Role.CURRENT: -first, Role.FUTURE: -last - 1}
    return [
        (f"{LABELS[c.role]}-{c.shot.index + offset[c.role]}", round(c.clipped.start, 9), round(c.clipped.end, 9))
        for c in context
    ]  # fmt: skip


def test_published_rows_are_all_equal_with_the_published_settings() -> None:
    settings = load_config("reference-code").context
    rows = [(g, labelled(g, context_shots(g.slot, g.shots, settings))) for g in cmdad()]
    assert [r for _, r in rows] == [list(g.rows) for g, _ in rows]
    assert sum(len(r) for _, r in rows) == 39_607
    lines = (f"{g.index},{label},{a:.3f},{b:.3f}" for g, r in rows for label, a, b in r)
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] == "d12c37b4bba7e316"


@pytest.mark.parametrize("names", [["reference-code", "tv-ad"], ["tv-ad", "reference-code"]])
def test_published_rows_of_numbered_frames_are_all_equal_with_the_published_settings(names):
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


def apart(*pairs: tuple[float, float]) -> list[Shot]:
    return [Shot(i, Interval(*pair)) for i, pair in enumerate(pairs)]


GAPS = apart((0.01, 1.99), (2.01, 3.99), (4.01, 5.99))
"""As the published lists are: cuts at 2 and 4."""


@pytest.mark.parametrize(("slot", "rules", "current"), [
    (Interval(2, 4), "code", [1]),
    (Interval(1.99, 4), "code", [0, 1]),
    (Interval(2, 4.01), "code", [1, 2]),
    (Interval(1.99, 4.01), "code", [0, 1, 2]),
    (Interval(1.99, 4.01), "paper", [1]),
    (Interval(5.99, 7), "code", [2]),
])  # fmt: skip
def test_touching_is_overlapping_at_a_gap_where_set(slot, rules, current):
    found = context_shots(slot, GAPS, ContextSettings(rules=rules))
    assert [c.shot.index for c in found if c.role is Role.CURRENT] == current


@pytest.mark.parametrize("slot", [Interval(12, 14), Interval(4.2, 4.4), Interval(0, 1)])
def test_slot_outside_all_shots_is_its_own_shot(slot: Interval) -> None:
    shots = [Shot(0, Interval(2, 4)), Shot(1, Interval(5, 12))]
    (only,) = context_shots(slot, shots, DEFAULT)
    assert (only.clipped, only.shot.interval, only.role) == (slot, slot, Role.CURRENT)
    assert only.shot.index == 2
