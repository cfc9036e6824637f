"""Which shots and frames are shown: against the published rows and totals of CMD-AD and TV-AD, on small cases, and out of a film,
whatever its container does to time; and which of a shot are looked at."""

from __future__ import annotations

import hashlib
import itertools
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import (
    ContextShot,
    FramePlan,
    Image,
    Interval,
    Shot,
    load_config,
)
from shotad.core.config.film import ContextSettings, FrameSettings
from shotad.core.types import Role, Seconds
from shotad.film import (
    Picture,
    clips,
    context_shots,
    moments_of,
    open_film,
    plan_frames,
)
from shotad.film.sampling import ShotMoments, margin_share, published_moments_of, reference_moments, snap
from tests.cmdad import Golden, cmdad, tvad
from tests.media import FilmSpec, make_film, read_number

CINEMA = Fraction(24000, 1001)
DEFAULT = FrameSettings()


@dataclass(frozen=True)
class Shown:
    """One AD's clip as planned. ``frames`` are numbers of film frames, ``inside`` marks those in the slot."""

    slot: Interval
    context: tuple[ContextShot, ...]
    plans: tuple[FramePlan, ...]
    rate: Fraction

    @property
    def moments(self) -> Seconds:
        return np.concatenate([p.seconds for p in self.plans])

    @property
    def frames(self) -> Seconds:
        """Number of the frame that is on the screen at each moment."""
        return np.floor(self.moments * float(self.rate) + 1e-9)

    @property
    def inside(self) -> np.ndarray:
        return (self.moments >= self.slot.start) & (self.moments < self.slot.end)

    @property
    def lost(self) -> list[Role]:
        shown = Counter(p.role for p in self.plans)
        return list((Counter(c.role for c in self.context) - shown).elements())


def film(*cuts: float) -> list[Shot]:
    return [Shot(i, Interval(a, b)) for i, (a, b) in enumerate(itertools.pairwise(cuts))]


def show(
    slot: Interval,
    shots: Sequence[Shot],
    frames: FrameSettings = DEFAULT,
    rate: Fraction = Fraction(24),
    *,
    context: ContextSettings | None = None,
    stamps: Seconds | None = None,
) -> Shown:
    pieces = context_shots(slot, shots, context or ContextSettings())
    return Shown(slot, pieces, plan_frames(slot, pieces, frames, rate, stamps=stamps), rate)


def show_cmdad(frames: FrameSettings, context: ContextSettings | None = None) -> list[Shown]:
    return [show(g.slot, g.shots, frames, CINEMA, context=context) for g in cmdad()]


@pytest.fixture(scope="module")
def by_default() -> list[Shown]:
    """All ADs of CMD-AD with the default settings."""
    return show_cmdad(DEFAULT)


def assert_in_order_and_in_shots(shown: Shown, slack: float = 0.0) -> None:
    """Numbers count from 0, moments ascend from shot to shot, and each lies inside a piece, in no hole."""
    assert [p.number for p in shown.plans] == list(range(len(shown.plans)))
    assert np.all(np.diff(shown.moments) >= 0)
    starts = np.array([c.clipped.start for c in shown.context]) - slack
    ends = np.array([c.clipped.end for c in shown.context]) + slack
    owner = np.searchsorted(starts, shown.moments, side="right") - 1
    assert np.all(owner >= 0)
    assert np.all(shown.moments < ends[owner])
    assert [shown.context[i].role for i in np.unique(owner)] == [p.role for p in shown.plans]


def test_default_reaches_its_targets_on_cmdad(by_default: list[Shown]) -> None:
    distinct = []
    for shown in by_default:
        assert_in_order_and_in_shots(shown)
        assert len(shown.moments) == 32
        assert shown.lost == []
        alone = all(
            shown.slot.start <= c.clipped.start and c.clipped.end <= shown.slot.end for c in shown.context
        )
        assert shown.inside.sum() == (32 if alone else 16)
        distinct.append(min(len(set(shown.frames[shown.inside])), 16))
    assert np.mean(distinct) >= 15.9
    assert np.mean(np.array(distinct) == 16) > 0.98


def test_default_spreads_the_outer_frames_over_current_shots_and_context(by_default: list[Shown]) -> None:
    """About six of sixteen frames show how the current shots go on, as in the published code (6.5)."""
    counts: Counter[Role] = Counter()
    both_sides = 0
    for shown in by_default:
        for plan in shown.plans:
            outside = (plan.seconds < shown.slot.start) | (plan.seconds >= shown.slot.end)
            counts[plan.role] += int(outside.sum())
        both_sides += {Role.PAST, Role.FUTURE} <= {p.role for p in shown.plans}
    assert counts[Role.CURRENT] / len(by_default) == pytest.approx(5.9, abs=0.1)
    assert 0.8 < counts[Role.PAST] / counts[Role.FUTURE] < 1.25
    assert both_sides == sum({Role.PAST, Role.FUTURE} <= {c.role for c in s.context} for s in by_default)


def test_reference_reproduces_the_published_totals_and_losses() -> None:
    settings = load_config("reference-code")
    all_shown = show_cmdad(settings.frames, context=settings.context)
    assert Counter(len(s.moments) for s in all_shown) == {32: 7209, 24: 76, 22: 1, 20: 1, 16: 29}
    lost = [s.lost for s in all_shown if s.lost]
    assert len(lost) == 1559
    assert sum(len(roles) for roles in lost) == 1664
    assert sum(roles.count(Role.CURRENT) for roles in lost) == 21
    for shown in all_shown:
        assert_in_order_and_in_shots(shown, slack=0.0005)  # its times are whole milliseconds


def test_reference_reproduces_the_published_snapping() -> None:
    """13.58 of the 16 inner frames are distinct on average, in half of the ADs one lies beyond the AD."""
    settings = load_config("reference-code")
    distinct, plain, margins, beyond = [], [], [], []
    for golden in cmdad():
        context = context_shots(golden.slot, golden.shots, settings.context)
        current = [c.clipped for c in context if c.role is Role.CURRENT]
        slot = golden.slot.clip(Interval(current[0].start, current[-1].end))
        assert slot is not None
        wanted = reference_moments(golden.slot, context, 16)
        inner = wanted[(wanted >= slot.start) & (wanted < slot.end - 1e-9)]
        _, snapped = snap(inner, context)
        distinct.append(len(set(np.floor(snapped * float(CINEMA)))))
        plain.append(len(set(np.floor(inner * float(CINEMA)))))
        beyond.append(bool(np.any((snapped < slot.start - 1e-9) | (snapped > slot.end + 1e-9))))
        margins.append(
            margin_share(slot.start - current[0].start, current[-1].end - slot.end, slot.duration, 16)
        )
    assert np.mean(distinct) == pytest.approx(13.58, abs=0.01)
    assert np.mean(np.array(distinct) == 16) == pytest.approx(0.533, abs=0.002)
    assert np.mean(plain) == pytest.approx(15.96, abs=0.01)
    assert np.mean(beyond) == pytest.approx(0.507, abs=0.005)
    assert np.mean(margins) == pytest.approx(6.51, abs=0.005)
    assert margins.count(8) == 4905


def test_reference_reproduces_the_published_frames_of_tvad() -> None:
    """16 over the current shots, of which 14.73 are distinct and 6.70 in the slot, and 16 around them."""
    config = load_config(["reference-code", "tv-ad"])
    totals: Counter[int] = Counter()
    distinct, inside, lost = [], [], 0
    for golden in tvad():
        shown = show(golden.slot, golden.shots, config.frames, Fraction(3), context=config.context)
        totals[len(shown.moments)] += 1
        lost += bool(shown.lost)
        current = np.concatenate([p.seconds for p in shown.plans if p.role is Role.CURRENT])
        assert len(current) >= 16
        if not shown.lost and len(current) == 16:
            distinct.append(len(set(np.floor(current * 3))))
            inside.append(np.sum((current >= golden.slot.start) & (current < golden.slot.end)))
    assert totals == {32: 2980, 16: 3}
    assert lost == 15
    assert np.mean(distinct) == pytest.approx(14.73, abs=0.01)
    assert np.mean(inside) == pytest.approx(6.70, abs=0.01)


def test_reference_never_samples_where_there_is_no_shot() -> None:
    """With no future shot the code's rounding can leave a moment for it, which it takes from 0 s."""
    pieces = context_shots(Interval(40, 42), film(20, 30.1, 39.7, 45), ContextSettings())
    for plan in plan_frames(Interval(40, 42), pieces, FrameSettings(sampling="reference"), Fraction(24)):
        assert plan.seconds.min() >= 20


@pytest.mark.parametrize("known", [True, False])
def test_reference_spreads_whole_frames_over_the_current_shots(known: bool) -> None:
    """Frames 1 to 4 before, 5 to 8 current, 9 to 20 after: of 16, a quarter less one is for those before."""
    shots = film(0, 4 / 3, 8 / 3, 20 / 3)
    frames, stamps = FrameSettings(sampling="reference"), np.arange(20) / 3 if known else None
    shown = show(Interval(2, 8 / 3), shots, frames, Fraction(3), stamps=stamps)
    numbers = [(np.floor(p.seconds * 3 + 1e-9) + 1).astype(int).tolist() for p in shown.plans]
    assert numbers == [
        [1, 2, 4],
        [5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8],
        [9, 10, 11, 12, 13, 14, 14, 15, 16, 17, 18, 19, 20],
    ]
    alone = show(Interval(2, 8 / 3), shots[1:2], frames, Fraction(3), stamps=stamps)
    assert [(p.role, len(p.seconds)) for p in alone.plans] == [(Role.CURRENT, 16)], "nothing is around it"


def test_each_moment_means_its_frame_for_every_way_of_reading() -> None:
    """A quarter of a frame behind the stamp: the last frame before it, and the nearest, are the same."""
    shown = show(
        Interval(10.013, 13.97), film(0, 8.5, 20), rate=CINEMA, stamps=np.arange(600) / float(CINEMA)
    )
    behind = shown.moments * float(CINEMA) - shown.frames
    assert behind == pytest.approx(0.25, abs=1e-6)
    stamps = shown.frames[shown.inside] / float(CINEMA)
    assert np.all(stamps >= 10.013)


def test_current_shots_are_shown_twice_as_densely_as_context() -> None:
    shown = show(Interval(20, 22), film(0, 10, 18, 24, 30, 40), FrameSettings(outside=160))
    count = {role: sum(len(p.seconds) for p in shown.plans if p.role is role) for role in Role}
    margin = count[Role.CURRENT] - 16
    seconds = {role: sum(c.clipped.duration for c in shown.context if c.role is role) for role in Role}
    rest = (count[Role.PAST] + count[Role.FUTURE]) / (seconds[Role.PAST] + seconds[Role.FUTURE])
    assert margin / (seconds[Role.CURRENT] - 2) == pytest.approx(2 * rest, rel=0.1)


def test_variable_frame_rate_is_even_in_time_not_in_frames() -> None:
    """Ten seconds at 5 frames a second, then ten at 50: each half gets half of the moments."""
    stamps = np.concatenate([np.arange(0, 10, 0.2), np.arange(10, 20, 0.02)])
    shown = show(Interval(0, 20), film(0, 20), rate=Fraction(27), stamps=stamps)
    assert abs(int((shown.moments < 10).sum()) - 16) <= 1
    assert len(set(np.searchsorted(stamps, shown.moments, side="right"))) == 32


def test_empty_context_is_refused_with_the_slot() -> None:
    with pytest.raises(ValueError, match=r"slot \[1.000, 2.000\) has no shots"):
        plan_frames(Interval(1, 2), (), DEFAULT, Fraction(24))


@settings(deadline=None, max_examples=150)
@given(
    start=st.floats(0, 60),
    length=st.floats(0.05, 25),
    lengths=st.lists(st.floats(0.05, 12), min_size=1, max_size=40),
    rate=st.sampled_from([Fraction(3), CINEMA, Fraction(25), Fraction(60)]),
    frames=st.sampled_from([DEFAULT, FrameSettings(sampling="uniform")]),
)
def test_any_clip_has_thirty_two_frames_in_its_shots(start, length, lengths, rate, frames):
    shots = film(0, *np.cumsum(lengths).tolist())
    shown = show(Interval(start, start + length), shots, frames, rate)
    assert_in_order_and_in_shots(shown)
    assert len(shown.moments) == 32
    current = sum(c.role is Role.CURRENT for c in shown.context)
    if current <= 32:
        assert Role.CURRENT not in shown.lost
    again = show(Interval(start, start + length), shots, frames, rate)
    assert np.array_equal(again.moments, shown.moments)


def test_no_outer_frames_shows_the_slot_alone() -> None:
    shown = show(Interval(10, 12), film(0, 8, 11, 20), FrameSettings(outside=0))
    assert len(shown.moments) == 16
    assert shown.inside.all()


def frame_at(second: float, start: float, rate: Fraction) -> int:
    """Number of the frame on the screen, counted from the shot's start."""
    return int(np.floor((second - start) * float(rate) + 1e-6))


@given(
    start=st.floats(0, 9000),
    frames=st.integers(1, 5000),
    rate=st.sampled_from([Fraction(3), Fraction(24000, 1001), Fraction(25), Fraction(60)]),
)
def test_the_first_the_middle_and_the_last_frame(start: float, frames: int, rate: Fraction) -> None:
    shot = Interval(start, start + frames / float(rate))
    found = moments_of(shot, rate)
    assert found is not None
    assert frame_at(found.first, start, rate) == 0
    assert frame_at(found.last, start, rate) == frames - 1
    assert abs(frame_at(found.middle, start, rate) - frames // 2) <= 1
    assert abs(frame_at(found.quarter, start, rate) - frames // 4) <= 1
    assert abs(frame_at(found.three_quarters, start, rate) - 3 * frames // 4) <= 1
    assert shot.contains(found.first)
    assert shot.contains(found.last)


@given(start=st.floats(0, 100), length=st.floats(0.01, 30), step=st.sampled_from([0.125, 1.0]))
def test_with_stamps_all_moments_are_stamps_inside_the_shot(start: float, length: float, step: float) -> None:
    shot, stamps = Interval(start, start + length), np.arange(0.0, 200, step)
    inside = [s for s in stamps if start - 1e-6 <= s < start + length - 1e-6]
    found = moments_of(shot, Fraction(24), stamps=stamps)
    if not inside:
        assert found is None
        return
    assert found is not None
    assert (found.first, found.last) == (inside[0], inside[-1])
    for part, moment in ((0.25, found.quarter), (0.5, found.middle), (0.75, found.three_quarters)):
        place = shot.start + part * shot.duration
        assert abs(moment - place) == min(abs(s - place) for s in inside)


def test_a_shot_that_begins_on_a_stamp_has_it_and_one_that_ends_there_has_it_not() -> None:
    stamps = np.arange(0.0, 9, 0.125)
    for shot in (Interval(1.0, 2.0), Interval(1.0000004, 2.0000004)):
        assert moments_of(shot, Fraction(24), stamps=stamps) == ShotMoments(1.0, 1.25, 1.5, 1.75, 1.875)
    assert published_moments_of(Interval(10.0, 42.0)) == ShotMoments(10.0, 18.0, 25.0, 34.0, 41.0)
    with pytest.raises(ValueError, match="ascend"):
        ShotMoments(1.0, 1.5, 3.0, 2.0, 4.0)


# Out of a film
SLOT = Interval(2.013, 4.987)
VARIABLE = FilmSpec(
    suffix=".mkv",
    times=(0.0, *np.cumsum(np.tile([0.04, 0.02, 0.1, 0.04], 45)).round(3).tolist()),
    time_base=Fraction(1, 1000),
)
FILMS = {
    "25 a second": FilmSpec(frames=200),
    "whole ms, late start": FilmSpec(suffix=".mkv", frames=200, rate=CINEMA, shift=7.3),
    "variable rate": VARIABLE,
}


@pytest.mark.parametrize("spec", FILMS.values(), ids=FILMS)
@pytest.mark.parametrize("known", [True, False], ids=["stamps", "rate alone"])
def test_planned_frames_are_those_that_the_reader_delivers(spec: FilmSpec, known: bool) -> None:
    made = make_film(spec)
    times = np.array(made.seconds)
    cuts = [times[0], times[60], times[110], times[-1] + 0.04]
    shots = [Shot(i, Interval(a, b)) for i, (a, b) in enumerate(itertools.pairwise(cuts))]
    context = context_shots(SLOT, shots, ContextSettings())
    with open_film(made.path) as film:
        rate = film.info.frame_rate
        assert rate is not None
        plans = plan_frames(SLOT, context, FrameSettings(), rate, stamps=times if known else None)
        ((_, clip),) = clips([("s", plans)], film.pictures)
    wanted = np.concatenate([p.seconds for p in plans])
    shown = np.array([read_number(image) for image in clip.images])
    assert shown.tolist() == [made.number_at(second) for second in wanted]
    assert clip.shot_numbers.tolist() == [p.number for p in plans for _ in p.seconds]
    if known or spec is not VARIABLE:
        inside = (times[shown] >= SLOT.start) & (times[shown] < SLOT.end)
        assert inside.sum() == 16
        assert len(set(shown.tolist())) == 32


def test_pictures_of_a_clip_are_let_go_before_it_is_handed_out() -> None:
    """Else each clip takes its room twice for as long as it is worked on."""
    read: list[weakref.ref[Image]] = []

    def pictures(seconds: Sequence[float]) -> Iterator[Picture]:
        for second in seconds:
            image = np.full((2, 2, 3), int(second), np.uint8)
            read.append(weakref.ref(image))
            yield Picture(second, second, image)

    moments = FramePlan(0, Role.CURRENT, np.arange(8.0))
    reading = clips([("s", (moments,))], pictures)
    _, clip = next(reading)
    assert clip.images[:, 0, 0, 0].tolist() == list(range(8))
    held = sum(image() is not None for image in read)
    assert held <= 1, "only the one that was read last may be held"


# The shots around a slot
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


def test_published_rows_of_numbered_frames_are_all_equal_with_the_published_settings() -> None:
    settings = load_config(["reference-code", "tv-ad"]).context
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


GAPS = [Shot(i, Interval(2 * i + 0.01, 2 * i + 1.99)) for i in range(3)]
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
    (only,) = context_shots(slot, shots, ContextSettings())
    assert (only.clipped, only.shot.interval, only.role) == (slot, slot, Role.CURRENT)
    assert only.shot.index == 2
