"""Slots by hand: what a plan keeps to, what is refused, and that a change can be taken back."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval, ReviewError, Slot, SlotSettings, slot_id
from shotad.film import HandSlots, SlotChange, keep_to, new_slot
from shotad.film.slot_records import apply_change, changed_slots, hand_slot

SETTINGS = SlotSettings()


def slot(start: float, end: float, words: int = 10) -> Slot:
    return Slot(slot_id(start), Interval(start, end), words)


PLANNED = (slot(1, 5), slot(10, 15), slot(20, 26))


def ask(start: float, end: float, **known: object) -> Slot:
    more = {"free": (Interval(0, 30),), "slots": PLANNED, "lines": (), "film": 40.0, **known}
    return new_slot(start, end, settings=SETTINGS, **more)  # type: ignore[arg-type]


def test_a_slot_added_comes_with_the_words_of_the_planner():
    kept = keep_to(PLANNED, HandSlots(added=(Interval(6, 9),)), SETTINGS)
    assert [one.id for one in kept.slots] == ["s00001000", "s00006000", "s00010000", "s00020000"]
    assert kept.slots[1].max_words == 8  # 3 s at 0.375 s a word
    assert not kept.yielded


def test_a_slot_removed_stays_away_under_another_id_and_a_planned_one_yields_to_one_that_was_added():
    other = (slot(11, 16), slot(13.0, 19.0))  # half of its time is enough
    assert keep_to(other, HandSlots(removed=(slot(10, 15),)), SETTINGS).slots == (other[1],)
    gone = keep_to(PLANNED[:1], HandSlots(removed=(PLANNED[2],)), SETTINGS)
    assert (gone.slots, gone.missing) == (PLANNED[:1], (PLANNED[2],))
    kept = keep_to(PLANNED, HandSlots(added=(Interval(14.5, 18),)), SETTINGS)
    assert kept.yielded == (PLANNED[1],)
    assert [one.id for one in kept.slots] == ["s00001000", "s00014500", "s00020000"]


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
    assert keep_to(PLANNED, hand, SETTINGS).slots == (PLANNED[0], own, PLANNED[2])
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
    assert keep_to(PLANNED, hand, SETTINGS).slots == shown
    for change, (before, was) in zip(reversed(done), reversed(states), strict=True):
        hand, shown = apply_change(hand, change.inverse), changed_slots(shown, change.inverse)
        assert shown == was
        assert keep_to(PLANNED, hand, SETTINGS).slots == keep_to(PLANNED, before, SETTINGS).slots
