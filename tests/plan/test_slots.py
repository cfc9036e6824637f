"""Slots lie in the gaps, are long enough to be used and short enough to be heard, and start with shots. Free time is
what no utterance covers; end credits are told from titles, signs and subtitles. Slots by hand: what a plan keeps to, what is
refused, and that a change can be taken back."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import example, given, settings, strategies as st

from shotad.core import (
    Box,
    Interval,
    Shot,
    Sighting,
    Slot,
    Utterance,
)
from shotad.core.config.film import SlotSettings, SpeechSettings
from shotad.core.errors import ReviewError
from shotad.core.types import SpeechKind, slot_id
from shotad.film import (
    HandSlots,
    SlotChange,
    free_time,
    plan_slots,
    word_budget,
)
from shotad.film.slot_records import apply_change, apply_hand_slots, changed_slots, hand_slot, new_slot
from shotad.film.slots import (
    BREATH,
    EARLIEST,
    MAXIMUM,
    credits_interval,
    fixed_slots,
)

DETAILS = ("brief", "normal", "rich")


def shots_at(*cuts: float, end: float = 1e5) -> list[Shot]:
    return [Shot(i, Interval(a, b)) for i, (a, b) in enumerate(itertools.pairwise([0.0, *cuts, end]))]


def plan(
    *gaps: tuple[float, float], cuts: tuple[float, ...] = (), film: float = 1e4, **changes: object
) -> list[Slot]:
    intervals = [Interval(start, end) for start, end in gaps]
    chosen = SlotSettings.model_validate({"detail": "rich", **changes})
    return list(plan_slots(intervals, shots_at(*cuts), chosen, film=Interval(0, film)))


def spans(slots: list[Slot]) -> list[tuple[float, float]]:
    return [(slot.interval.start, slot.interval.end) for slot in slots]


@pytest.mark.parametrize(("gap", "settings", "slots"), [
    ((10, 13.9), {"detail": "brief"}, []),
    ((10, 13.9), {"detail": "normal"}, [(10, 13.9)]),
    ((10, 13.9), {"minimum": 4}, []),
    ((10, 12), {}, [(10, 12)]),
    # Two seconds are the floor whatever the minimum says.
    ((10, 11.9), {"minimum": 1}, []),
    ((10, 12), {"minimum": 1}, [(10, 12)]),
    ((0, 2), {"minimum": 1}, []),
    ((0, 2.2), {"minimum": 1}, [(0.2, 2.2)]),
    # A slot waits for a shot that starts soon; a gap that one slot cannot fill is not overfilled.
    ((10, 16), {"cuts": (10.6,)}, [(10.6, 16)]),
    ((10, 21.4), {"minimum": 6}, [(10, 19)]),
    # Short slots come from short gaps alone: 7 s are one slot, though 2 s are enough for one.
    ((10, 17), {"cuts": (12.2, 14.8)}, [(10, 17)]),
])  # fmt: skip
def test_slots_of_a_gap(gap, settings, slots):
    assert spans(plan(gap, **settings)) == slots


@pytest.mark.parametrize(("duration", "rate", "rule", "words"), [
    (5.9, 0.375, "fit", 15),
    (0.2, 0.375, "fit", 1),
    (2.0, 0.275, "paper", 8),
    (2.0, 0.275, "paper+3", 11),
    (1.8, 0.3, "fit", 6),
])  # fmt: skip
def test_the_word_budget(duration: float, rate: float, rule: str, words: int) -> None:
    chosen = SlotSettings.model_validate({"seconds_per_word": rate, "budget": rule})
    assert word_budget(duration, chosen) == words


def test_credits_get_one_short_slot_at_any_detail() -> None:
    film = Interval(0, 300)
    for detail in DETAILS:
        slots = plan_slots(
            [Interval(200, 300)], [], SlotSettings(detail=detail), credits=Interval(240, 290), film=film
        )
        rolls = [slot for slot in slots if slot.credits]
        assert [slot.interval for slot in rolls] == [Interval(240, 245)]
        assert slots[-1] is rolls[0]
        assert all(slot.interval.end <= 239.5 for slot in slots[:-1])
        assert len(slots) > 2


def test_credits_under_a_song_wait_for_it_to_end_and_have_no_slot_without_free_time() -> None:
    roll, film = Interval(240, 300), Interval(0, 300)
    song = [Interval(260, 261.9), Interval(270, 300)]
    slots = plan_slots(song, [], SlotSettings(), credits=roll, film=film)
    assert [(slot.interval.start, slot.credits) for slot in slots] == [(270, True)]
    slots = plan_slots([Interval(10, 20)], [], SlotSettings(), credits=roll, film=film)
    assert not any(slot.credits for slot in slots)


GAPS = st.lists(st.tuples(st.floats(0, 290), st.floats(0.01, 60)), max_size=8).map(
    lambda pairs: [Interval(start, start + length) for start, length in pairs]
)
CUTS = st.lists(st.floats(0.01, 299, allow_subnormal=False), max_size=40)


@settings(max_examples=150)
@given(GAPS, CUTS, st.sampled_from(DETAILS), st.sampled_from([1.0, 2.0, 4.0, 6.5]))
@example(gaps=[Interval(0, 2)], cuts=[], detail="brief", minimum=1.0)
@example(gaps=[Interval(0, 4.1)], cuts=[], detail="normal", minimum=4.0)
@example(gaps=[Interval(0.15, 4.1)], cuts=[], detail="normal", minimum=4.0)
def test_slots_keep_all_their_promises(gaps, cuts, detail, minimum):
    film = Interval(0, 300)
    chosen = SlotSettings.model_validate({"detail": detail, "minimum": minimum})
    shots = shots_at(*sorted(set(cuts)))
    slots = plan_slots(gaps, shots, chosen, film=film)
    assert slots == plan_slots(gaps[::-1], shots[::-1], chosen, film=film)
    shortest = max(4.0 if detail == "brief" else 2.0, minimum)
    for slot in slots:
        (gap,) = (g for g in join(gaps) if g.start <= slot.interval.start and slot.interval.end <= g.end)
        # Free time that no slot may use, because players fire a cue at 0.000 before they play.
        kept_free = EARLIEST - gap.start if slot.interval.start == EARLIEST else 0.0
        assert slot.interval.start >= EARLIEST
        assert slot.interval.end <= film.end
        assert slot.interval.duration >= max(2.0, shortest - kept_free) - 1e-9
        assert slot.interval.duration <= max(MAXIMUM, minimum) + 1e-9
        # In a gap for more than one slot each is long enough for a whole sentence.
        if gap.duration >= 4.0 + EARLIEST + 1e-3:
            assert slot.interval.duration >= max(4.0, minimum) - 1e-3
        assert slot.max_words >= 1
    for before, after in itertools.pairwise(slots):
        together = any(
            gap.start <= before.interval.start and after.interval.end <= gap.end for gap in join(gaps)
        )
        rest = after.interval.start - before.interval.end
        assert rest > -1e-9
        assert not together or rest >= BREATH - 1e-9


@settings(max_examples=80)
@given(GAPS, CUTS)
def test_more_detail_keeps_every_slot_of_less(gaps: list[Interval], cuts: list[float]) -> None:
    film, shots = Interval(0, 300), shots_at(*sorted(set(cuts)))
    brief, normal, rich = (
        set(plan_slots(gaps, shots, SlotSettings(detail=detail), film=film)) for detail in DETAILS
    )
    assert brief <= normal <= rich


def join(gaps: list[Interval]) -> list[Interval]:
    joined: list[Interval] = []
    for gap in sorted(gaps):
        if joined and gap.start <= joined[-1].end:
            joined[-1] = Interval(joined[-1].start, max(joined[-1].end, gap.end))
        else:
            joined.append(gap)
    return joined


FILM = Interval(0, 100)


def test_fixed_slots_are_taken_as_they_are_clipped_to_the_film_and_never_share_an_id() -> None:
    cues = [
        ("b", Interval(50, 50.12)), (None, Interval(10.5, 12)), ("a", Interval(11, 13)), ("a", Interval(30, 31)),
        (None, Interval(10.5, 11)), ("c", Interval(-2, 3)), ("d", Interval(98, 104)),
    ]  # fmt: skip
    slots, warnings, failed = fixed_slots(cues, FILM, SlotSettings(seconds_per_word=0.275, budget="paper"))
    assert [(slot.id, slot.label, slot.interval, slot.max_words) for slot in slots] == [
        ("s00000000", "c", Interval(0, 3), 11), ("s00010500", "", Interval(10.5, 11), 2),
        ("s00010501", "", Interval(10.5, 12), 6), ("s00011000", "a", Interval(11, 13), 8),
        ("s00030000", "a", Interval(30, 31), 4), ("s00050000", "b", Interval(50, 50.12), 1),
        ("s00098000", "d", Interval(98, 100), 8),
    ]  # fmt: skip
    assert failed == []
    assert len(warnings) == 2
    assert "c" in warnings[0]
    assert warnings[1] == "Slot d (1:38 to 1:44) reaches outside the film and is cut to 1:38.000 to 1:40.000."


def spoken(*bounds: tuple[float, float], kind: SpeechKind = SpeechKind.SPEECH) -> list[Utterance]:
    return [Utterance(Interval(start, end), kind=kind) for start, end in bounds]


def test_lyrics_are_kept_free_unless_allowed() -> None:
    song = spoken((5, 7), kind=SpeechKind.LYRICS) + spoken((12, 13))
    quiet = SpeechSettings(margin=0.5)
    assert [gap.start for gap in free_time(song, 20, quiet)] == [0, 7.5, 13.5]
    over = SpeechSettings(margin=0.5, over_lyrics=True)
    assert [gap.start for gap in free_time(song, 20, over)] == [0, 13.5]


BOUNDS = st.tuples(st.integers(-20, 1300), st.integers(1, 200)).map(
    lambda pair: (pair[0] / 10, (pair[0] + pair[1]) / 10)
)


@given(st.lists(BOUNDS, max_size=30), st.integers(1, 1200), st.sampled_from([0.0, 0.25, 1.0]))
def test_every_moment_is_free_or_near_speech_and_never_both(bounds, tenths, margin):
    duration = tenths / 10
    found = free_time(spoken(*bounds), duration, SpeechSettings(margin=margin))
    assert list(found) == sorted(found)
    assert all(a.end < b.start for a, b in itertools.pairwise(found))
    for moment in (k * duration / 97 + 0.003 for k in range(97)):
        if moment >= duration:
            continue
        taken = any(start - margin <= moment < end + margin for start, end in bounds)
        assert taken != any(gap.contains(moment) for gap in found)


def text(second: float, lines: int) -> list[Sighting]:
    boxes = [Box(0.2, 0.1 + 0.1 * k, 0.8, 0.15 + 0.1 * k) for k in range(lines)]
    return [Sighting("name", box, second, 0.95) for box in boxes]


def test_credits_are_the_text_at_the_end() -> None:
    moments = [2.0 * k for k in range(150)]
    seen = [s for m in moments if m >= 250 and m not in (262, 280) for s in text(m, 4)] + text(30, 3)
    roll = credits_interval(seen, moments, Interval(0, 300))
    assert roll == Interval(250, 300)


def test_titles_and_subtitles_are_no_credits() -> None:
    moments = [2.0 * k for k in range(150)]
    subtitles = [Sighting("said", Box(0.2, y, 0.8, y + 0.05), m, 0.95) for m in moments for y in (0.85, 0.92)]
    title = [s for m in moments if 10 <= m < 40 for s in text(m, 4)]
    for seen, looked in ((subtitles, moments), (title, moments), ([], [])):
        assert credits_interval(seen, looked, Interval(0, 300)) is None


@pytest.mark.parametrize(("rows", "found"), [(6, True), (3, False)])
def test_a_short_roll_counts_at_the_very_end_if_it_shows_many_lines(rows: int, found: bool) -> None:
    film = Interval(0, 44.5)
    moments = [22.25 + i for i in range(22)]
    seen = [
        Sighting(f"Name {i}", Box(0.3, 0.1 + i / 10, 0.7, 0.15 + i / 10), moment, 0.99)
        for moment in moments
        if moment >= 39
        for i in range(rows)
    ]
    assert credits_interval(seen, moments, film) == (Interval(39.25, 44.5) if found else None)


def test_large_words_on_several_lines_are_titles_of_a_trailer() -> None:
    moments = [26.0 + k for k in range(26)]
    large = [
        Sighting("SPACE", Box(0.2, y, 0.8, y + 0.16), m, 0.99)
        for m in moments
        if m < 44
        for y in (0.2, 0.4, 0.6)
    ]
    assert credits_interval(large, moments, Interval(0, 52)) is None
    small = [replace(s, box=Box(0.2, s.box.top, 0.8, s.box.top + 0.1)) for s in large]
    assert credits_interval(small, moments, Interval(0, 52)) is not None


# Slots by hand
SETTINGS = SlotSettings()


def slot(start: float, end: float, words: int = 10) -> Slot:
    return Slot(slot_id(start), Interval(start, end), words)


PLANNED = (slot(1, 5), slot(10, 15), slot(20, 26))


def ask(start: float, end: float, **known: object) -> Slot:
    more = {"free": (Interval(0, 30),), "slots": PLANNED, "lines": (), "film": 40.0, **known}
    return new_slot(start, end, settings=SETTINGS, **more)  # type: ignore[arg-type]


def test_a_slot_added_comes_with_the_words_of_the_planner():
    kept, yielded = apply_hand_slots(PLANNED, HandSlots(added=(Interval(6, 9),)), SETTINGS)
    assert [one.id for one in kept] == ["s00001000", "s00006000", "s00010000", "s00020000"]
    assert kept[1].max_words == 8  # 3 s at 0.375 s a word
    assert not yielded


def test_a_slot_removed_stays_away_under_another_id_and_a_planned_one_yields_to_one_that_was_added():
    other = (slot(11, 16), slot(13.0, 19.0))  # half of its time is enough
    assert apply_hand_slots(other, HandSlots(removed=(slot(10, 15),)), SETTINGS)[0] == (other[1],)
    assert apply_hand_slots(PLANNED[:1], HandSlots(removed=(PLANNED[2],)), SETTINGS)[0] == PLANNED[:1]
    kept, yielded = apply_hand_slots(PLANNED, HandSlots(added=(Interval(14.5, 18),)), SETTINGS)
    assert yielded == (PLANNED[1],)
    assert [one.id for one in kept] == ["s00001000", "s00014500", "s00020000"]


@pytest.mark.parametrize(("start", "end", "says"), [
    (6.0, 6.99, "too short"),
    (7.0, 7.0, "cannot reach"),
    (50.0, 60.0, "cannot reach"),
    (14.0, 17.0, "a slot already, from 0:10.00 to 0:15.00"),
])  # fmt: skip
def test_a_slot_that_cannot_be_is_refused_with_the_reason(start, end, says):
    with pytest.raises(ReviewError, match=says):
        ask(start, end)


def test_where_somebody_speaks_the_free_time_there_is_told():
    free = (Interval(0, 7), Interval(9, 18.5))
    with pytest.raises(ReviewError, match=r"Somebody speaks from 0:06\.00 to 0:08\.00") as caught:
        ask(6, 8, free=free)
    assert caught.value.hint == "Nobody does from 0:06.00 to 0:07.00: take that time."
    with pytest.raises(ReviewError) as caught:
        ask(7, 9, free=free)
    assert caught.value.hint == "Take a time where nobody speaks."


def test_a_line_of_a_person_holds_its_time():
    assert ask(6, 8, free=None).interval == Interval(6, 8)
    with pytest.raises(ReviewError, match="h00006500"):
        ask(6, 8, lines=[("h00006500", Interval(6.5, 7.5))])


def test_a_slot_of_a_person_at_the_start_of_one_they_removed_is_theirs():
    hand = apply_change(HandSlots(), SlotChange(removed=(PLANNED[1],)))
    own = hand_slot(Interval(10, 12), SETTINGS)
    hand = apply_change(hand, SlotChange(added=(own,)))
    assert apply_hand_slots(PLANNED, hand, SETTINGS)[0] == (PLANNED[0], own, PLANNED[2])
    hand = apply_change(hand, SlotChange(removed=(own,)))
    assert hand == HandSlots(removed=(PLANNED[1],))


@st.composite
def histories(draw: st.DrawFn) -> list[SlotChange]:
    """What a person does one after the other: each adds where nothing is, or removes what is there."""
    there = {one.id: one for one in PLANNED}
    done: list[SlotChange] = []
    for _ in range(draw(st.integers(0, 8))):
        at = draw(st.integers(0, 30)) * 2.0
        at += draw(st.sampled_from((0.0, 0.5)))
        new = hand_slot(Interval(at, at + 1.0), SETTINGS)
        taken = any(one.interval.overlaps(new.interval) for one in there.values())
        if not taken and draw(st.booleans()):
            done.append(SlotChange(added=(new,)))
            there[new.id] = new
        elif there:
            gone = draw(st.sampled_from(sorted(there.values(), key=lambda one: one.id)))
            done.append(SlotChange(removed=(gone,)))
            del there[gone.id]
    return done


@given(histories())
def test_what_the_page_shows_is_what_the_next_plan_keeps_to_and_everything_can_be_taken_back(done):
    hand, shown = HandSlots(), PLANNED
    states = []
    for change in done:
        states.append((hand, shown))
        hand, shown = apply_change(hand, change), changed_slots(shown, change)
    assert apply_hand_slots(PLANNED, hand, SETTINGS)[0] == shown
    for change, (before, was) in zip(reversed(done), reversed(states), strict=True):
        hand, shown = apply_change(hand, change.inverse), changed_slots(shown, change.inverse)
        assert shown == was
        assert apply_hand_slots(PLANNED, hand, SETTINGS)[0] == apply_hand_slots(PLANNED, before, SETTINGS)[0]
