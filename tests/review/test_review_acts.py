"""What acts do to lines: what a person wants, marked as theirs, in time that is free."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval, Slot
from shotad.core.errors import ReviewError
from shotad.core.types import slot_id
from shotad.film.slots import subtract
from shotad.review.acts import ACTS, why_apart
from shotad.review.timeline import SOURCE, Change, LineTimeline, clock, free_interval_of
from shotad.script import (
    Cue,
    CueStatus,
    EditField,
    LineState,
    Track,
)
from shotad.script.cue import MAX_TEXT_LENGTH
from shotad.script.edits import is_by_hand
from shotad.script.track import REMOVED, FilmId

FRAME = 0.04
FREE = (Interval(0.0, 6.0), Interval(8.0, 20.0))


def line(start: float, text: str, end: float | None = None, **more: Any) -> Cue:
    name = slot_id(start)
    return Cue(name, name, Interval(start, end or start + 2), text, **more)


def timeline(*cues: Cue, free: tuple[Interval, ...] | None = FREE, **more: Any) -> LineTimeline:
    track = Track(FilmId("a.mp4", "f", 20.0), "en", (), "0.1", ()).with_cues(cues)
    slots = {
        c.id: Slot(c.id, Interval(c.interval.start, c.interval.start + 4), 10) for c in cues if c.slot_id
    }
    return LineTimeline(track, free, slots, FRAME, more.get("reviewer", "Ann"))


def act(where: LineTimeline, name: str, of: str, **args: object) -> Change:
    return ACTS[name](where, of, args)


def one(where: LineTimeline, name: str, of: str, **args: object) -> Any:
    """The only line that an act changes."""
    (cue,) = act(where, name, of, **args).cues
    return cue


TWO = line(1.0, "A cat sleeps.", candidates=("A cat sleeps.", "A cat naps by the window."), chosen=0)


def test_choosing_takes_the_candidates_words_and_their_length() -> None:
    assert act(timeline(TWO), "choose", TWO.id, number=2).message == "Candidate 2 chosen."
    cue = one(timeline(TWO), "choose", TWO.id, number=2)
    assert (cue.text, cue.chosen, cue.interval) == ("A cat naps by the window.", 1, Interval(1.0, 3.25))
    assert (cue.edited.fields, cue.edited.source) == ((EditField.TEXT,), SOURCE)
    assert cue.machine.text == "A cat sleeps."
    assert is_by_hand(cue)
    assert act(timeline(cue), "choose", TWO.id, number=2).cues == (), "it is the line already"


def test_an_emptied_line_is_dropped_and_comes_back_with_its_words() -> None:
    empty = one(timeline(TWO), "write", TWO.id, text=" \n ")
    assert (empty.status, empty.text) == (CueStatus.DROPPED, "")
    assert empty.reason
    back = one(timeline(empty), "restore", TWO.id)
    assert (back.heard, back.text, back.reason) == (True, "A cat sleeps.", "")
    again = one(timeline(empty), "write", TWO.id, text="A bird sings.")
    assert again.heard
    assert again.edited.fields == (EditField.TEXT, EditField.STATUS)


def test_a_note_changes_nothing_else_of_its_line() -> None:
    accepted = one(timeline(TWO), "accept", TWO.id)
    noted = one(timeline(accepted), "note", TWO.id, text=" Whose cat? \n\n ")
    assert (noted.note.text, noted.note.by) == ("Whose cat?", "Ann")
    assert replace(noted, note=None) == accepted
    assert act(timeline(noted), "note", TWO.id, text="Whose cat?").cues == ()
    assert one(timeline(noted), "note", TWO.id, text="") == accepted
    with pytest.raises(ReviewError, match="2000 are the most"):
        act(timeline(TWO), "note", TWO.id, text="a" * 2001)


def test_a_line_does_not_come_back_over_another() -> None:
    dropped = line(1.0, "A dog.", status=CueStatus.DROPPED, reason="x")
    other = replace(line(0.9, "Rain falls."), id="h00000900", slot_id=None, interval=Interval(0.9, 3.2))
    moved = one(timeline(TWO), "shift", TWO.id, by=2.5)
    sun = replace(line(1.5, "Sun."), id="h00001500", slot_id=None)
    for cue, over, name in ((dropped, other, "restore"), (moved, sun, "machine")):
        with pytest.raises(ReviewError, match=over.id):
            act(timeline(cue, over), name, cue.id)
    half = replace(other, interval=Interval(0.9, 2.0))
    assert one(timeline(dropped, half), "restore", dropped.id).interval == Interval(2.0, 3.0)


def test_acceptance_goes_by_itself_when_the_line_changes() -> None:
    accepted = one(timeline(TWO), "accept", TWO.id)
    assert (accepted.state, accepted.review.by) == (LineState.ACCEPTED, "Ann")
    for name, args in (
        ("choose", {"number": 2}), ("move", {"end": 2.5}), ("drop", {}), ("shift", {"by": 0.5}),
    ):  # fmt: skip
        changed = one(timeline(accepted), name, TWO.id, **args)
        assert (changed.state, changed.accepted) == (LineState.EDITED, None)
    assert one(timeline(accepted), "unaccept", TWO.id) == TWO
    assert act(timeline(accepted), "accept", TWO.id).cues == ()
    assert one(timeline(accepted, reviewer="Bob"), "accept", TWO.id).review.by == "Bob"


@pytest.mark.parametrize(("name", "args", "start", "end"), [
    ("move", {"end": 9.0}, 1.0, 6.0),
    pytest.param("move", {"end": 0.5}, 0.1, 2.1, id="an end before the start moves the line"),
    pytest.param("move", {"start": 3.5}, 3.5, 5.5, id="a start after the end moves the line"),
    pytest.param("move", {"start": 5.0}, 4.0, 6.0, id="as far as there is room"),
    pytest.param("move", {"start": 15.0}, 15.0, 17.0, id="beyond speech"),
    ("move", {"start": -3.0}, 0.1, 3.0),
    pytest.param("move", {"start": 2.999}, 2.96, 3.0, id="a frame"),
    ("move", {"start_by": 0.5, "end_by": 0.25}, 1.5, 3.25),
    ("shift", {"by": 100.0}, 4.0, 6.0),
])  # fmt: skip
def test_moving_stays_within_the_gap_and_off_other_lines(name, args, start, end):
    assert one(timeline(TWO), name, TWO.id, **args).interval == Interval(start, end)
    beside = timeline(TWO, line(4.0, "Rain.", 5.0))
    assert one(beside, "move", TWO.id, end=9.0).interval.end == 4.0


def test_a_line_is_not_moved_into_speech() -> None:
    with pytest.raises(ReviewError, match=r"Somebody speaks at 0:06\.500"):
        act(timeline(TWO, free=(Interval(0.0, 6.0), Interval(9.0, 20.0))), "move", TWO.id, start=6.5)
    change = act(timeline(TWO), "move", TWO.id, start=5.0)
    assert change.message.endswith(", as far as speech and other lines leave room.")
    added = act(timeline(TWO), "add", "", text="Rain.", start=2.0, end=4.0)
    assert added.message.startswith(
        "Line added at 0:03.000: at 0:02.000 somebody speaks, or a line is spoken"
    )


def test_all_lines_from_one_on_are_shifted() -> None:
    rain, sun = line(8.5, "Rain."), line(12.0, "Sun.")
    lines = timeline(TWO, rain, sun)
    change = act(lines, "shift_from", rain.id, by=1.5)
    assert [cue.interval for cue in sorted(change.cues, key=lambda cue: cue.start)] == [
        Interval(10.0, 12.0), Interval(13.5, 15.5),
    ]  # fmt: skip
    assert change.message == "2 lines moved by +1.5 s."
    assert all(cue.edited and cue.edited.fields == (EditField.TIME,) for cue in change.cues)
    change = act(lines, "shift_from", TWO.id, by=-2.0)
    assert [(cue.id, cue.interval) for cue in change.cues] == [
        (TWO.id, Interval(0.1, 2.1)), (rain.id, Interval(8.0, 10.0)), (sun.id, Interval(10.0, 12.0)),
    ]  # fmt: skip
    assert "2 of 3 not as far" in change.message
    with pytest.raises(ReviewError, match="None of these lines can move so"):
        act(timeline(line(18.0, "Rain.")), "shift_from", slot_id(18.0), by=1.0)


def test_words_are_replaced_in_all_lines_that_are_heard() -> None:
    dog = line(9.0, "A Cat and a cat, concatenated.")
    lines = timeline(TWO, dog, line(14.0, "A cat.", status=CueStatus.DROPPED, reason="x"))
    change = act(lines, "replace", "", find="cat", text="dog", whole_words=True)
    assert [cue.text for cue in change.cues] == ["A dog sleeps.", "A dog and a dog, concatenated."]
    assert change.message == "Replaced 3 times in 2 lines."
    change = act(lines, "replace", "", find="Cat", text="\\1", match_case=True)
    assert [cue.text for cue in change.cues] == ["A \\1 and a cat, concatenated."]
    with pytest.raises(ReviewError, match="'zebra' stands in no line"):
        act(lines, "replace", "", find="zebra", text="dog")
    with pytest.raises(ReviewError, match="nothing to find"):
        act(lines, "replace", "", find=" ", text="dog")


def test_a_frame_earlier_is_said_so() -> None:
    assert act(timeline(TWO), "move", TWO.id, start=0.92).message == "Start at 0:00.920, 2 frames earlier."
    assert act(timeline(TWO), "shift", TWO.id, by=0.1).message == "Moved to 0:01.100, 0.1 s later."
    assert clock(3762.48) == "1:02:42.480"


AT_SPEECH, BEFORE, FIRST = line(2.0, "Rain.", 6.0), line(0.5, "Sun.", 2.0), line(0.1, "Black.", 1.0)
UNHEARD = line(1.0, "A cat sleeps.", status=CueStatus.DROPPED, reason="x", candidates=(" \n ",))
EMPTY = line(1.0, "", status=CueStatus.DROPPED, reason="x")


@pytest.mark.parametrize(("cue", "name", "args", "why"), [
    (UNHEARD, "choose", {"number": 1}, "Candidate 1 has no words."),
    (TWO, "choose", {"number": 3}, "This line has no candidate 3: it has 2."),
    (EMPTY, "restore", {}, "This line has no words."),
    (UNHEARD, "split", {"at": 5}, "A line that is not heard cannot be split."),
    (line(1.0, "A cat.", 1.06), "split", {"at": 2}, "The line is too short to be split."),
    (TWO, "move", {}, "Neither a start nor an end was given."),
    (line(1.0, "A cat.", 1.04), "move", {"end": 1.02}, "The line cannot be shorter: it lasts a frame"),
    (AT_SPEECH, "shift", {"by": 0.04}, "Speech begins there"),
    (FIRST, "move", {"start": 0.0}, "The film begins there"),
])  # fmt: skip
def test_what_cannot_be_done_to_a_line_says_why(cue, name, args, why):
    with pytest.raises(ReviewError, match=re.escape(why)):
        act(timeline(cue), name, cue.id, **args)
    with pytest.raises(ReviewError, match=f"{BEFORE.id} ends there"):
        act(timeline(BEFORE, AT_SPEECH), "move", AT_SPEECH.id, start=1.9)


@pytest.mark.parametrize("at", [0, 5, 99])
def test_splitting_cuts_between_words(at: int) -> None:
    said = line(1.0, "She opens the door and leaves.", 4.0)
    change = act(timeline(said), "split", said.id, at=at)
    first, second = change.cues
    assert f"{first.text} {second.text}" == said.text
    assert (first.id, first.interval.start, second.interval.end) == (said.id, 1.0, 4.0)
    assert first.interval.end == second.interval.start
    assert (second.id[0], second.slot_id, change.focus) == ("h", said.slot_id, said.id)
    share = len(first.text.split()) / 6
    assert first.interval.duration == pytest.approx(3 * share, abs=0.001)


def test_a_letter_is_not_parted_from_its_marks() -> None:
    """か and the mark that makes が of it, as some keyboards write it."""
    cue = line(1.0, "\u96e8\u304b\u3099\u964d\u308b", 5.0, language="ja")
    for at in (1, 2):
        texts = [c.text for c in act(timeline(cue), "split", cue.id, at=at).cues]
        assert texts == ["\u96e8", "\u304b\u3099\u964d\u308b"]
    with pytest.raises(ReviewError, match="no words"):
        act(timeline(cue), "split", cue.id, at=-1)


def test_joining_keeps_both_lines_words() -> None:
    rain = line(5.0, "Rain falls.", 5.9)  # two seconds without speech are not too far
    both, left = act(timeline(TWO, rain), "join", TWO.id).cues
    assert (both.text, both.interval) == ("A cat sleeps. Rain falls.", Interval(1.0, 5.9))
    assert (both.candidates, both.chosen) == (TWO.candidates, None)
    assert (left.id, left.status, left.reason, left.text) == (rain.id, CueStatus.DROPPED, REMOVED, rain.text)
    assert left.edited is not None
    assert EditField.REMOVED in left.edited.fields


@pytest.mark.parametrize(("start", "free", "why"), [
    (8.5, FREE, "Somebody speaks between 0:03.000 and 0:08.500"),
    (5.5, FREE, r"2\.5 s after this one ends"),
    (4.5, None, "slot of this line ends"),
])  # fmt: skip
def test_lines_that_do_not_belong_together_are_not_joined(start, free, why):
    late = line(start, "Rain falls.", start + 1)
    where = timeline(TWO, late, free=free)
    slot = Slot(TWO.id, Interval(1.0, 3.5), 10)
    where = replace(where, slots={**where.slots, TWO.id: slot})
    with pytest.raises(ReviewError, match=why) as caught:
        act(where, "join", TWO.id)
    assert caught.value.hint
    assert why_apart(where, TWO) == (caught.value.what, caught.value.hint)


def test_no_line_is_longer_than_a_line_may_be() -> None:
    assert one(timeline(TWO), "write", TWO.id, text="a" * MAX_TEXT_LENGTH).text
    with pytest.raises(ReviewError, match="5001 characters"):
        act(timeline(TWO), "write", TWO.id, text="a" * (MAX_TEXT_LENGTH + 1))
    first, near = replace(TWO, text="a" * MAX_TEXT_LENGTH), line(5.0, "Rain falls.", 5.9)
    with pytest.raises(ReviewError, match=str(MAX_TEXT_LENGTH)):
        act(timeline(first, near), "join", first.id)


def test_a_line_of_ones_own() -> None:
    change = act(timeline(TWO), "add", "", start=9.0, end=10.5, text="Smoke rises.")
    (cue,) = change.cues
    assert (cue.id, cue.slot_id, cue.interval) == ("h00009000", None, Interval(9.0, 10.5))
    assert (cue.machine, change.focus, change.message) == (None, cue.id, "Line added at 0:09.000.")
    gone = act(timeline(TWO, cue), "remove", cue.id)
    assert (gone.removed_ids, gone.cues, gone.focus) == ((cue.id,), (), TWO.id)
    with pytest.raises(ReviewError, match="No machine wrote"):
        act(timeline(cue), "machine", cue.id)


@pytest.mark.parametrize(("args", "why"), [
    ({"start": 6.5, "end": 7.5, "text": "Smoke."}, "Somebody speaks"),
    ({"start": 1.5, "end": 2.5, "text": "Smoke."}, "s00001000 is spoken there"),
    ({"start": 9.0, "end": 10.0, "text": " "}, "needs words"),
    ({"start": -1.0, "end": 1.0, "text": "Smoke."}, r"cannot start at -1\.000 s"),
    ({"start": 25.0, "end": 26.0, "text": "Smoke."}, "after the film's end"),
    ({"start": 9.0, "end": 9.0, "text": "Smoke."}, "cannot end"),
    ({"start": float("nan"), "end": 9.0, "text": "Smoke."}, "must be a number"),
    ({"start": 9.0, "end": 10.0}, "must be a text"),
])  # fmt: skip
def test_a_line_goes_only_where_it_can_be_heard(args: dict[str, Any], why: str) -> None:
    with pytest.raises(ReviewError, match=why):
        act(timeline(TWO), "add", "", **args)


def test_a_line_goes_back_to_the_machine_and_one_that_was_removed_stays_in_the_track() -> None:
    changed = one(timeline(TWO), "choose", TWO.id, number=2)
    moved = one(timeline(changed), "shift", TWO.id, by=0.5)
    back = one(timeline(moved), "machine", TWO.id)
    assert (back.interval, back.text, back.chosen, back.edited) == (TWO.interval, TWO.text, 0, None)
    gone = one(timeline(TWO), "remove", TWO.id)
    assert (gone.heard, gone.reason, gone.text) == (False, REMOVED, TWO.text)
    again = one(timeline(gone), "restore", TWO.id)
    assert again.heard
    assert EditField.REMOVED not in again.edited.fields


def test_an_unknown_line() -> None:
    for name in ACTS.keys() - {"add", "add_slot", "remove_slot", "replace"}:
        with pytest.raises(ReviewError, match="no line 's00009999'"):
            act(timeline(TWO), name, "s00009999", number=1, text="x", at=1, start=1.0, by=1.0)


def _room_by_hand(where: LineTimeline, cue: Cue, hull: Interval) -> Interval | None:
    """The room of a line where nothing is known of speech: of all pieces the one that holds most of it, else the nearest."""
    own = cue.interval

    def rank(piece: Interval) -> tuple[int, int, float]:
        ends = (piece.end - own.start, own.end - piece.start, own.duration, piece.duration)
        shared, far = max(0.0, min(ends)), max(0.0, piece.start - own.end, own.start - piece.end)
        return round(10 * shared), -round(10 * far), -piece.start

    taken = [c.interval for c in where.track.heard if c.id != cue.id]
    return max(subtract(hull, taken), key=rank, default=None)


@given(st.lists(st.tuples(st.integers(1, 590), st.integers(1, 200)), min_size=1, max_size=25))
@settings(max_examples=60, deadline=None)
def test_the_room_of_a_line_is_that_of_the_whole_gap(times: list[tuple[int, int]]) -> None:
    cues = [
        Cue(f"s{n:08d}", None, Interval(start / 10, min(60.0, (start + length) / 10)), "A cat.")
        for n, (start, length) in enumerate(times)
    ]
    track = Track(FilmId("a.mp4", "f", 60.0), "en", (), "0.1", ()).with_cues(cues)
    hull = Interval(0.1, 60.0)
    where = LineTimeline(track, (hull,), {}, FRAME)
    for cue in track.cues:
        assert free_interval_of(where, cue) == _room_by_hand(where, cue, hull)


def test_the_room_of_a_line_looks_at_its_neighbours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A film of 2,000 lines in one gap took a minute to open."""
    looked, heard_in = [], LineTimeline.heard_in

    def counted(self: LineTimeline, span: tuple[int, int]) -> Iterator[tuple[int, int, str]]:
        for found in heard_in(self, span):
            looked.append(found)
            yield found

    monkeypatch.setattr(LineTimeline, "heard_in", counted)
    cues = [Cue(f"s{n:08d}", None, Interval(n * 4 + 1, n * 4 + 3), "A cat.") for n in range(2000)]
    track = Track(FilmId("a.mp4", "f", 8000.0), "en", (), "0.1", ()).with_cues(cues)
    where = LineTimeline(track, None, {}, FRAME)
    assert all(free_interval_of(where, cue) is not None for cue in track.cues)
    assert len(looked) <= 30 * len(cues)
