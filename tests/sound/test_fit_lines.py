"""The time that each line of a track may use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from shotad.core import FitSettings, Interval
from shotad.script import Cue, CueStatus, Edit, EditField, FilmId, Track, accept, mark_edit
from shotad.sound.fitting import fit
from shotad.sound.kinds import Line
from shotad.sound.placing import NO_ROOM, lines_of
from tests.sound.speaking import Slow

SETTINGS = FitSettings()


def cue(start: float, end: float, text: str = "He walks to the door.", name: str = "") -> Cue:
    own = name or f"s{round(start * 1000):08d}"
    return Cue(own, own if own.startswith("s") else None, Interval(start, end), text)


def track(*cues: Cue, duration: float = 100.0) -> Track:
    return Track(FilmId("film.mp4", "abc", duration), "en", (), "1", ()).with_cues(cues)


def only(one: Cue, *speech: tuple[float, float], slots: dict[str, Interval] | None = None) -> Line:
    heard = [Interval(*times) for times in speech]
    (found,) = lines_of(track(one), heard, slots or {}, SETTINGS, margin=0.25)
    return found


def rounded(interval: Interval) -> tuple[float, float]:
    return round(interval.start, 3), round(interval.end, 3)


def test_a_lines_room_is_its_whole_gap_but_for_what_is_too_early() -> None:
    found = only(cue(20, 23), (5, 10), (30, 40))
    # A margin at both sides and a little more before speech; a second before its start at most.
    assert rounded(found.room) == (19.0, 29.65)
    assert found.start == 20
    assert rounded(only(cue(10.5, 13), (5, 10), (30, 40)).room) == (10.25, 29.65)


def test_whose_a_line_is_comes_with_it() -> None:
    machines = cue(20, 23)
    assert not only(machines).by_person
    assert only(accept(machines, "Ada", "review")).by_person
    assert only(mark_edit(machines, machines, (EditField.TEXT,), "track.json")).by_person


def test_the_slot_is_the_part_that_was_planned_for_it() -> None:
    slots = {"s00020000": Interval(20, 26)}
    assert only(cue(20, 23), (5, 10), (30, 40), slots=slots).slot == Interval(20, 26)
    assert only(cue(20, 23), (5, 10), (30, 40)).slot == Interval(20, 23)


def test_a_line_that_a_person_moved_out_of_its_slot_stays_where_it_was_put() -> None:
    slots = {"s00020000": Interval(26, 32)}
    found = only(cue(20, 23), (5, 10), (40, 41), slots=slots)
    assert found.slot == Interval(20, 23)
    (said,) = fit([found], Slow(), SETTINGS).spoken
    assert said.start == 20


def test_the_film_has_a_beginning_and_an_end() -> None:
    assert only(cue(0.1, 3)).room == Interval(0.1, 100)
    found = lines_of(track(cue(0.02, 3), duration=5), [], {}, SETTINGS, margin=0.25)
    assert found[0].room == Interval(0.1, 5)


def test_a_line_at_the_edge_of_speech_waits_for_its_end() -> None:
    found = only(cue(10, 13), (5, 10.1))
    assert rounded(found.room) == (10.35, 100.0)
    assert found.start == 10


def test_a_line_over_speech_goes_where_it_is_free_and_near() -> None:
    # Before it there is nothing in reach; after it there is.
    assert rounded(only(cue(10, 13), (9.5, 10.5)).room) == (10.75, 100.0)
    # A free moment before it, too short; a long one after it.
    assert rounded(only(cue(10, 13), (9.9, 10.5)).room) == (10.75, 100.0)
    # Nothing after it for long: what is free before it.
    assert rounded(only(cue(10, 10.5), (9.9, 40)).room) == (9.0, 9.55)


def test_a_line_that_a_person_put_over_long_speech_waits_within_its_own_time() -> None:
    assert rounded(only(cue(10, 16, name="h00010000"), (9, 12)).room) == (12.25, 100.0)


def test_half_a_line_in_time_is_better_than_a_whole_one_late() -> None:
    # 2.05 s at its place, or the whole line after somebody has spoken.
    found = only(cue(10, 13.5), (5, 9), (12.4, 13))
    assert rounded(found.room) == (9.25, 12.05)


def test_where_nothing_is_free_nothing_can_be_said() -> None:
    found = only(cue(10, 13), (0, 100))
    assert found.room.duration == pytest.approx(NO_ROOM)
    fitting = fit([found], Slow(), SETTINGS)
    assert fitting.spoken == ()
    assert "no free time is in reach" in fitting.unspoken[0].reason


def test_far_free_time_is_no_place() -> None:
    assert only(cue(10, 13), (5, 40)).room.duration == pytest.approx(NO_ROOM)


def test_where_speech_is_not_known_a_line_keeps_to_the_slot_it_was_given() -> None:
    given_slot = {"s00020000": Interval(19.5, 26)}
    (found,) = lines_of(track(cue(20, 23)), None, given_slot, SETTINGS, margin=0.25)
    assert found.room == found.slot == Interval(19.5, 26)
    (found,) = lines_of(track(cue(20, 23)), None, {}, SETTINGS, margin=0.25)
    assert found.room == Interval(20, 23)
    (found,) = lines_of(track(cue(30, 33, name="s00020000")), None, given_slot, SETTINGS, margin=0.25)
    assert found.room == Interval(30, 33)


def test_only_what_is_heard_is_a_line_and_line_ends_are_blanks() -> None:
    silent = Cue("s00001000", "s00001000", Interval(1, 2), "Ann.", status=CueStatus.DROPPED)
    found = lines_of(track(silent, cue(20, 23, "Ann\nsits.")), [], {}, SETTINGS, margin=0.25)
    assert [(one.id, one.text) for one in found] == [("s00020000", "Ann sits.")]


TIMES = st.tuples(st.integers(0, 950), st.integers(1, 60)).map(
    lambda pair: Interval(pair[0] / 10, (pair[0] + pair[1]) / 10)
)


@given(st.lists(TIMES, max_size=12), TIMES)
def test_no_room_has_speech_in_it(speech: list[Interval], own: Interval) -> None:
    (found,) = lines_of(track(cue(own.start, own.end)), speech, {}, SETTINGS, margin=0.25)
    if found.room.duration > 2 * NO_ROOM:
        assert all(
            one.start - 0.35 >= found.room.end - 1e-9 or one.end + 0.25 <= found.room.start + 1e-9
            for one in speech
        )
        assert found.room.start >= min(own.start - 1.0, 0.1) - 1e-9
    assert found.room.start <= found.slot.start
    assert found.slot.end <= found.room.end


def seen(start: float, seen_from: float, **more: object) -> Cue:
    return replace(cue(start, start + 3), seen_from=seen_from, **more)  # type: ignore[arg-type]


def test_a_machines_line_never_begins_more_than_a_second_before_it_is_seen() -> None:
    before = cue(16, 19)
    crowded = cue(22.2, 25.2)
    for one, floor in (
        (cue(20, 23), 19.0),
        (seen(20, 20.5), 19.5),
        (seen(20, 21), 20.0),
        (seen(20, 19), 19.0),
    ):
        lines = lines_of(track(before, one, crowded), [], {}, SETTINGS, margin=0.25)
        said = {spoken.id: spoken.start for spoken in fit(lines, Slow(), SETTINGS).spoken}
        assert said[one.id] >= floor
    alone = lines_of(track(seen(20, 20.5)), [Interval(21.2, 60)], {}, SETTINGS, margin=0.25)
    assert not fit(alone, Slow(), SETTINGS).spoken


def test_a_line_that_a_person_moved_goes_by_its_own_time() -> None:
    moved = seen(20, 25.0, edited=Edit((EditField.TIME,), "track.json", None))
    found = only(moved, (21.2, 60))
    (said,) = fit([found], Slow(), SETTINGS).spoken
    assert said.start < 20
