"""The time that each line of a track may use, and what the track says became of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from shotad.core import FitSettings, Interval
from shotad.script import Cue, CueStatus, Edit, EditField, FilmId, Track
from shotad.sound.fitting import fit
from shotad.sound.kinds import Fitting, LineToSpeak
from shotad.sound.placing import NO_ROOM, lines_of
from shotad.sound.voicing import UNTRIED, apply
from tests.sound.speaking import Slow

SETTINGS = FitSettings()
Times = tuple[float, float]


def cue(start: float, end: float, text: str = "He walks to the door.", name: str = "", **more: object) -> Cue:
    own = name or f"s{round(start * 1000):08d}"
    return Cue(own, own if own.startswith("s") else None, Interval(start, end), text, **more)  # type: ignore[arg-type]


def track(*cues: Cue, duration: float = 100.0) -> Track:
    return Track(FilmId("film.mp4", "abc", duration), "en", (), "1", ()).with_cues(cues)


def only(one: Cue, *speech: Times, slots: dict[str, Interval] | None = None) -> LineToSpeak:
    heard = [Interval(*times) for times in speech]
    (found,) = lines_of(track(one), heard, slots or {}, SETTINGS, margin=0.25)
    return found


@pytest.mark.parametrize(("one", "speech", "room"), [
    # The whole gap, with a margin at both sides and a little more before speech; a second too early at most.
    (cue(20, 23), [(5, 10), (30, 40)], (19.0, 29.65)),
    (cue(10.5, 13), [(5, 10), (30, 40)], (10.25, 29.65)),
    # The film begins and ends.
    (cue(0.02, 3), [], (0.1, 100)),
    # At the edge of speech it waits for its end.
    (cue(10, 13), [(5, 10.1)], (10.35, 100)),
    # Over speech it goes where it is free and near: after it, or where that is far, before it.
    (cue(10, 13), [(9.5, 10.5)], (10.75, 100)),
    (cue(10, 13), [(9.9, 10.5)], (10.75, 100)),
    (cue(10, 10.5), [(9.9, 40)], (9.0, 9.55)),
    # What a person put over long speech waits within its own time.
    (cue(10, 16, name="h00010000"), [(9, 12)], (12.25, 100)),
    # Half a line in time is better than a whole one late.
    (cue(10, 13.5), [(5, 9), (12.4, 13)], (9.25, 12.05)),
])  # fmt: skip
def test_the_room_of_a_line(one: Cue, speech: list[Times], room: Times) -> None:
    found = only(one, *speech).room
    assert (round(found.start, 3), round(found.end, 3)) == room


def test_the_slot_is_the_part_that_was_planned_unless_a_person_moved_the_line_out_of_it() -> None:
    assert only(cue(20, 23), (5, 10)).slot == Interval(20, 23)
    assert only(cue(20, 23), (5, 10), slots={"s00020000": Interval(20, 26)}).slot == Interval(20, 26)
    found = only(cue(20, 23), (5, 10), (40, 41), slots={"s00020000": Interval(26, 32)})
    assert found.slot == Interval(20, 23)
    assert fit([found], Slow(), SETTINGS).spoken[0].start == 20


def test_where_speech_is_not_known_a_line_keeps_to_the_slot_it_was_given() -> None:
    slots = {"s00020000": Interval(19.5, 26)}
    for one, given_slots, room in (
        (cue(20, 23), slots, Interval(19.5, 26)),
        (cue(20, 23), {}, Interval(20, 23)),
        (cue(30, 33, name="s00020000"), slots, Interval(30, 33)),
    ):
        (found,) = lines_of(track(one), None, given_slots, SETTINGS, margin=0.25)
        assert found.room == room


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


def test_a_machines_line_never_begins_more_than_a_second_before_it_is_seen() -> None:
    for seen_from, floor in ((None, 19.0), (20.5, 19.5), (21, 20.0), (19, 19.0)):
        one = cue(20, 23, seen_from=seen_from)
        lines = lines_of(track(cue(16, 19), one, cue(22.2, 25.2)), [], {}, SETTINGS, margin=0.25)
        said = {spoken.id: spoken.start for spoken in fit(lines, Slow(), SETTINGS).spoken}
        assert said[one.id] >= floor
    assert not fit([only(cue(20, 23, seen_from=20.5), (21.2, 60))], Slow(), SETTINGS).spoken
    moved = cue(20, 23, seen_from=25.0, edited=Edit((EditField.TIME,), "track.json", None))
    (said_first,) = fit([only(moved, (21.2, 60))], Slow(), SETTINGS).spoken
    assert said_first.start < 20


SPEECH = [Interval(0, 9), Interval(15.5, 19), Interval(21, 30)]
TRACK = track(
    cue(10, 15, "He walks to the door, opens it and looks out into the dark street. A dog barks."),
    cue(19.3, 20, "Ann and Bo and Cid climb the old stairs."),
    cue(31, 33, "Ann sits."),
    cue(40, 44, "", status=CueStatus.DROPPED),
)


def fitted(of: Track) -> Fitting:
    return fit(lines_of(of, SPEECH, {}, SETTINGS, margin=0.25), Slow(), SETTINGS)


def test_the_track_says_how_each_line_was_spoken_and_fitting_twice_is_fitting_once() -> None:
    fitting = fitted(TRACK)
    made = apply(TRACK, fitting, "fake:slow")
    long, short, plain, dropped = made.cues
    assert long.spoken is not None
    assert long.spoken.interval is not None
    assert long.spoken.text == fitting.spoken[0].text
    assert long.spoken.interval.end <= 15.15
    assert long.spoken.speed > 1
    assert long.spoken_length == round(fitting.spoken[0].take.seconds, 3)
    assert short.spoken is not None
    assert short.spoken.interval is None
    assert short.spoken.steps[-1].startswith("not spoken: it takes")
    assert plain.spoken is not None
    assert plain.spoken.steps == ()
    assert dropped.voiced is None
    assert apply(made, fitted(made), "fake:slow") == made
    untried = apply(TRACK, Fitting(()), "fake:slow")
    assert [one.voiced.steps for one in untried.heard if one.voiced] == [(UNTRIED,)] * 3
    assert replace(untried, cues=()) == replace(TRACK, cues=())
