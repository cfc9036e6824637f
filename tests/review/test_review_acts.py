"""What acts do to lines: what a person wants, marked as theirs, in time that is free."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval, Shot, Slot, WorkFolder
from shotad.core.types import slot_id
from shotad.film.slots import subtract
from shotad.script import (
    Cue,
    CueStatus,
    EditField,
    LineState,
    save_track,
)
from shotad.script.cue import MAX_TEXT_LENGTH
from shotad.script.edits import is_by_hand
from shotad.script.track import REMOVED
from tests.handmade import shots_record, slots_record, speech_record
from tests.rendering.described import track_of, write_folder
from tests.review.reviewed import Page, reviewed

SETTINGS = ("lint.parse=words",)
SPEECH = Interval(6.25, 7.75)
"""With its margins, lines are free up to second 6 and from second 8 on; the film has 20 seconds."""


def line(start: float, text: str, end: float | None = None, **more: Any) -> Cue:
    """A line of a slot that has its start and four seconds."""
    name = slot_id(start)
    return Cue(name, name, Interval(start, end or start + 2), text, **more)


class Bench:
    """The page of a folder with lines of a test's own, and the track on its disk."""

    def __init__(self, place: Path, page: Page) -> None:
        self.place, self.page = place, page

    def do(self, name: str, line: str = "", **args: Any) -> Any:
        """What an act changed, as the page is told."""
        return self.page.do(name, line, **args)

    def line_after(self, name: str, line: str, **args: Any) -> Any:
        """The line as an act leaves it."""
        self.page.do(name, line, **args)
        return self.cue(line)

    def refused(self, name: str, line: str = "", **args: Any) -> str:
        return self.page.refused(name, line, **args)

    def cue(self, line: str) -> Any:
        return next(cue for cue in track_of(self.place).cues if cue.id == line)

    def is_unchanged_by(self, name: str, line: str, **args: Any) -> bool:
        before = (self.place / "track.json").read_bytes()
        self.page.do(name, line, **args)
        return (self.place / "track.json").read_bytes() == before


OpenBench = Callable[..., Bench]


@pytest.fixture
def open_bench(tmp_path: Path) -> Iterator[OpenBench]:
    """Opens the page of a film with these lines."""
    with ExitStack() as stack:

        def open_one(*cues: Cue, speech: Interval = SPEECH, reviewer: str = "Ann") -> Bench:
            place = tmp_path / f"film{len(list(tmp_path.iterdir()))}.shotad"
            write_folder(place, speech=(speech,), settings=SETTINGS)
            slots = [
                Slot(cue.id, Interval(cue.interval.start, cue.interval.start + 4), 10)
                for cue in cues
                if cue.slot_id
            ]
            with WorkFolder(place) as folder:
                folder.write_json("slots.json", slots_record(slots))
            track = track_of(place)
            save_track(track.with_cues(cues), place, track.film.name)
            _, page = stack.enter_context(reviewed(place, gone=True, reviewer=reviewer))
            return Bench(place, page)

        yield open_one


TWO = line(1.0, "A cat sleeps.", candidates=("A cat sleeps.", "A cat naps by the window."), chosen=0)


def test_choosing_takes_the_candidates_words_and_their_length(open_bench: OpenBench) -> None:
    bench = open_bench(TWO)
    assert bench.do("choose", TWO.id, number=2)["said"]["text"] == "Candidate 2 chosen."
    cue = bench.cue(TWO.id)
    assert (cue.text, cue.chosen, cue.interval) == ("A cat naps by the window.", 1, Interval(1.0, 3.25))
    assert (cue.edited.fields, cue.edited.source) == ((EditField.TEXT,), "review page")
    assert cue.machine.text == "A cat sleeps."
    assert is_by_hand(cue)
    assert bench.is_unchanged_by("choose", TWO.id, number=2), "it is the line already"


def test_an_emptied_line_is_dropped_and_comes_back_with_its_words(open_bench: OpenBench) -> None:
    bench = open_bench(TWO)
    empty = bench.line_after("write", TWO.id, text=" \n ")
    assert (empty.status, empty.text) == (CueStatus.DROPPED, "")
    assert empty.reason
    restored = bench.line_after("restore", TWO.id)
    assert (restored.heard, restored.text, restored.reason) == (True, "A cat sleeps.", "")
    bench.do("undo")
    rewritten = bench.line_after("write", TWO.id, text="A bird sings.")
    assert rewritten.heard
    assert rewritten.edited.fields == (EditField.TEXT, EditField.STATUS)


def test_what_is_done_already_is_said_and_not_done_again(open_bench: OpenBench) -> None:
    bench = open_bench(TWO)
    bench.do("drop", TWO.id)
    assert bench.is_unchanged_by("drop", TWO.id)
    assert bench.do("drop", TWO.id)["said"]["text"] == "It is left out already."


def test_a_note_changes_nothing_else_of_its_line(open_bench: OpenBench) -> None:
    bench = open_bench(TWO)
    accepted = bench.line_after("accept", TWO.id)
    noted = bench.line_after("note", TWO.id, text=" Whose cat? \n\n ")
    assert (noted.note.text, noted.note.by) == ("Whose cat?", "Ann")
    assert replace(noted, note=None) == accepted
    assert bench.is_unchanged_by("note", TWO.id, text="Whose cat?")
    assert bench.line_after("note", TWO.id, text="") == accepted
    assert "2000 are the most" in bench.refused("note", TWO.id, text="a" * 2001)


def test_a_line_does_not_come_back_over_another(open_bench: OpenBench) -> None:
    dropped = line(1.0, "A dog.", status=CueStatus.DROPPED, reason="x")
    other = replace(line(0.9, "Rain falls."), id="h00000900", slot_id=None, interval=Interval(0.9, 3.2))
    assert other.id in open_bench(dropped, other).refused("restore", dropped.id)
    bench = open_bench(TWO)
    bench.do("shift", TWO.id, by=2.5)
    sun = bench.do("add", start=1.5, end=3.5, text="Sun.")["focus"]
    assert sun in bench.refused("machine", TWO.id)
    half = replace(other, interval=Interval(0.9, 2.0))
    restored = open_bench(dropped, half).line_after("restore", dropped.id)
    assert restored.interval == Interval(2.0, 3.0)


def test_acceptance_goes_by_itself_when_the_line_changes(open_bench: OpenBench) -> None:
    bench = open_bench(TWO)
    accepted = bench.line_after("accept", TWO.id)
    assert (accepted.state, accepted.review.by) == (LineState.ACCEPTED, "Ann")
    for name, args in (
        ("choose", {"number": 2}), ("move", {"end": 2.5}), ("drop", {}), ("shift", {"by": 0.5}),
    ):  # fmt: skip
        changed = bench.line_after(name, TWO.id, **args)
        assert (changed.state, changed.accepted) == (LineState.EDITED, None)
        bench.do("undo")
    assert bench.is_unchanged_by("accept", TWO.id)
    assert bench.line_after("unaccept", TWO.id) == TWO
    other = open_bench(accepted, reviewer="Bob")
    assert other.line_after("accept", TWO.id).review.by == "Bob"


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
def test_moving_stays_within_the_gap_and_off_other_lines(open_bench, name, args, start, end):
    bench = open_bench(TWO)
    assert bench.line_after(name, TWO.id, **args).interval == Interval(start, end)
    bench.do("undo")
    bench.do("add", start=4.0, end=5.0, text="Rain.")
    assert bench.line_after("move", TWO.id, end=9.0).interval.end == 4.0


def test_a_line_is_not_moved_into_speech(open_bench: OpenBench) -> None:
    talkative = open_bench(TWO, speech=Interval(6.25, 8.75))
    assert "Somebody speaks at 0:06.500" in talkative.refused("move", TWO.id, start=6.5)
    bench = open_bench(TWO)
    added = bench.do("add", text="Rain.", start=2.0, end=4.0)
    assert added["said"]["text"].startswith(
        "Line added at 0:03.000: at 0:02.000 somebody speaks, or a line is spoken"
    )
    bench.do("undo")
    moved = bench.do("move", TWO.id, start=5.0)
    assert moved["said"]["text"].endswith(", as far as speech and other lines leave room.")


def test_all_lines_from_one_on_are_shifted(open_bench: OpenBench) -> None:
    rain, sun = line(8.5, "Rain."), line(12.0, "Sun.")
    bench = open_bench(TWO, rain, sun)
    assert bench.do("shift_from", rain.id, by=1.5)["said"]["text"] == "2 lines moved 1.5 s later."
    shifted = [bench.cue(rain.id), bench.cue(sun.id)]
    assert [cue.interval for cue in shifted] == [Interval(10.0, 12.0), Interval(13.5, 15.5)]
    assert all(cue.edited.fields == (EditField.TIME,) for cue in shifted)
    bench.do("undo")
    assert "2 of 3 not as far" in bench.do("shift_from", TWO.id, by=-2.0)["said"]["text"]
    assert {cue.id: cue.interval for cue in track_of(bench.place).cues} == {
        TWO.id: Interval(0.1, 2.1), rain.id: Interval(8.0, 10.0), sun.id: Interval(10.0, 12.0),
    }  # fmt: skip
    late = open_bench(line(18.0, "Rain."))
    assert "None of these lines can move so" in late.refused("shift_from", slot_id(18.0), by=1.0)


def test_words_are_replaced_in_all_lines_that_are_heard(open_bench: OpenBench) -> None:
    cats = line(9.0, "A Cat and a cat, concatenated.")
    bench = open_bench(TWO, cats, line(14.0, "A cat.", status=CueStatus.DROPPED, reason="x"))

    def texts() -> list[str]:
        return [cue.text for cue in track_of(bench.place).cues]

    message = bench.do("replace", find="cat", text="dog", whole_words=True)["said"]["text"]
    assert message == "Replaced 3 times in 2 lines."
    assert texts() == ["A dog sleeps.", "A dog and a dog, concatenated.", "A cat."]
    bench.do("undo")
    bench.do("replace", find="Cat", text="\\1", match_case=True)
    assert texts() == ["A cat sleeps.", "A \\1 and a cat, concatenated.", "A cat."]
    assert "'zebra' stands in no line" in bench.refused("replace", find="zebra", text="dog")
    assert "nothing to find" in bench.refused("replace", find=" ", text="dog")


def test_a_frame_earlier_is_said_so(open_bench: OpenBench) -> None:
    bench = open_bench(TWO)
    assert bench.do("move", TWO.id, start=0.92)["said"]["text"] == "Start at 0:00.920, 2 frames earlier."
    assert bench.do("shift", TWO.id, by=0.1)["said"]["text"] == "Moved to 0:01.020, 0.1 s later."


AT_SPEECH, BEFORE, FIRST = line(2.0, "Rain.", 6.0), line(0.5, "Sun.", 2.0), line(0.1, "Black.", 1.0)
UNHEARD = line(1.0, "A cat sleeps.", status=CueStatus.DROPPED, reason="x", candidates=(" \n ",))
EMPTY = line(1.0, "", status=CueStatus.DROPPED, reason="x")


@pytest.mark.parametrize(("cue", "name", "args", "why"), [
    (UNHEARD, "choose", {"number": 1}, "Candidate 1 has no words."),
    (TWO, "choose", {"number": 3}, "This line has no candidate 3: it has 2."),
    (EMPTY, "restore", {}, "This line has no words."),
    (UNHEARD, "split", {"at": 5}, "A line that is not heard cannot be split."),
    (UNHEARD, "accept", {}, "A line that is not heard cannot be accepted."),
    (UNHEARD, "join", {}, "A line that is not heard cannot be joined."),
    (TWO, "join", {}, "There is no line after this one."),
    (line(1.0, "A cat.", 1.06), "split", {"at": 2}, "The line is too short to be split."),
    (TWO, "move", {}, "Neither a start nor an end was given."),
    (line(1.0, "A cat.", 1.04), "move", {"end": 1.02}, "The line cannot be shorter: it lasts a frame"),
    (AT_SPEECH, "shift", {"by": 0.04}, "Speech begins there"),
    (FIRST, "move", {"start": 0.0}, "The film begins there"),
])  # fmt: skip
def test_what_cannot_be_done_to_a_line_says_why(open_bench, cue, name, args, why):
    assert why in open_bench(cue).refused(name, cue.id, **args)


def test_a_line_that_is_in_the_way_is_named(open_bench: OpenBench) -> None:
    bench = open_bench(BEFORE, AT_SPEECH)
    assert f"{BEFORE.id} ends there" in bench.refused("move", AT_SPEECH.id, start=1.9)


@pytest.mark.parametrize("at", [0, 5, 99])
def test_splitting_cuts_between_words(open_bench: OpenBench, at: int) -> None:
    whole = line(1.0, "She opens the door and leaves.", 4.0)
    bench = open_bench(whole)
    assert bench.do("split", whole.id, at=at)["focus"] == whole.id
    first, second = track_of(bench.place).cues
    assert f"{first.text} {second.text}" == whole.text
    assert (first.id, first.interval.start, second.interval.end) == (whole.id, 1.0, 4.0)
    assert first.interval.end == second.interval.start
    assert (second.id[0], second.slot_id) == ("h", whole.slot_id)
    share = len(first.text.split()) / 6
    assert first.interval.duration == pytest.approx(3 * share, abs=0.001)


def test_a_letter_is_not_parted_from_its_marks(open_bench: OpenBench) -> None:
    """か and the mark that makes が of it, as some keyboards write it."""
    cue = line(1.0, "\u96e8\u304b\u3099\u964d\u308b", 5.0, language="ja")
    bench = open_bench(cue)
    for at in (1, 2):
        bench.do("split", cue.id, at=at)
        assert [half.text for half in track_of(bench.place).cues] == ["\u96e8", "\u304b\u3099\u964d\u308b"]
        bench.do("undo")
    assert "no words" in bench.refused("split", cue.id, at=-1)


def test_joining_keeps_both_lines_words(open_bench: OpenBench) -> None:
    rain = line(5.0, "Rain falls.", 5.9)  # two seconds without speech are not too far
    bench = open_bench(TWO, rain)
    both = bench.line_after("join", TWO.id)
    assert (both.text, both.interval) == ("A cat sleeps. Rain falls.", Interval(1.0, 5.9))
    assert (both.candidates, both.chosen) == (TWO.candidates, None)
    left = bench.cue(rain.id)
    assert (left.status, left.reason, left.text) == (CueStatus.DROPPED, REMOVED, rain.text)
    assert EditField.REMOVED in left.edited.fields
    bench.do("undo")
    bench.do("write", TWO.id, text="A dog barks.")
    bench.do("move", TWO.id, end=4.0)
    assert bench.line_after("join", TWO.id).candidates == (*TWO.candidates, "A dog barks.")


@pytest.mark.parametrize(("start", "why"), [
    (8.5, "Somebody speaks between 0:03.000 and 0:08.500"),
    (5.5, "2.5 s after this one ends"),
])  # fmt: skip
def test_lines_that_do_not_belong_together_are_not_joined(open_bench, start, why):
    bench = open_bench(TWO, line(start, "Rain falls.", start + 0.4))
    refusal = bench.refused("join", TWO.id)
    assert why in refusal
    apart = bench.page.line(TWO.id)["apart"]
    assert f"{apart['what']} {apart['hint']}" == refusal, "the page knows it before"


def test_no_line_is_longer_than_a_line_may_be(open_bench: OpenBench) -> None:
    bench = open_bench(TWO, line(5.0, "Rain falls.", 5.9))
    assert "5001 characters" in bench.refused("write", TWO.id, text="a" * (MAX_TEXT_LENGTH + 1))
    assert bench.line_after("write", TWO.id, text="a" * MAX_TEXT_LENGTH).text
    bench.do("move", TWO.id, end=4.5)
    assert str(MAX_TEXT_LENGTH) in bench.refused("join", TWO.id)


def test_a_line_of_ones_own(open_bench: OpenBench) -> None:
    bench = open_bench(TWO)
    added = bench.do("add", start=9.0, end=10.5, text="Smoke rises.")
    assert (added["focus"], added["said"]["text"]) == ("h00009000", "Line added at 0:09.000.")
    cue = bench.cue("h00009000")
    assert (cue.slot_id, cue.interval, cue.machine) == (None, Interval(9.0, 10.5), None)
    assert "No machine wrote" in bench.refused("machine", cue.id)
    gone = bench.do("remove", cue.id)
    assert (gone["gone"], gone["focus"]) == ([cue.id], TWO.id)
    assert [left.id for left in track_of(bench.place).cues] == [TWO.id]


LONG = line(10.0, "A dog runs.", 11.0)
"""A line at the beginning of a slot of four seconds."""


def test_a_second_line_in_a_slot_begins_where_the_film_stands_and_ends_with_its_words(
    open_bench: OpenBench,
) -> None:
    bench = open_bench(LONG)
    added = bench.do("insert", start=12.0)
    assert added["said"]["text"] == "New line in this slot at 0:12.000: 2.0 s."
    name = added["focus"]
    cue = bench.cue(name)
    assert (cue.slot_id, cue.interval, cue.text, cue.heard) == (LONG.id, Interval(12.0, 14.0), "", False)
    shown = bench.page.line(name)
    assert (shown["state"], shown["room_seconds"]) == ("edited", 8.0)
    lengths = [bench.line_after("write", name, text=text).interval.duration for text in ("He", "He is", "He")]
    assert lengths[0] == lengths[2] < lengths[1] < 2.0
    bench.do("move", name, end=13.9)
    assert bench.line_after("write", name, text="He is gone.").end == 13.9, "a person's end stays"
    bench.do("remove", name)
    assert [left.id for left in track_of(bench.place).cues] == [LONG.id]


def test_a_second_line_waits_for_the_one_that_is_spoken_and_says_when_none_fits(
    open_bench: OpenBench,
) -> None:
    bench = open_bench(LONG)
    added = bench.do("insert", start=10.5)
    assert "at 0:11.250, after the line that is spoken before" in added["said"]["text"]
    assert bench.cue(added["focus"]).start == 11.25
    bench.do("write", added["focus"], text="He sits down at last.")
    assert "No time is left for another line in this slot" in bench.refused("insert", start=10.0)
    assert "There is no slot" in bench.refused("insert", start=17.0)
    bench.do("undo")
    bench.do("undo")
    assert [left.id for left in track_of(bench.place).cues] == [LONG.id]


@pytest.mark.parametrize(("args", "why"), [
    ({"start": 6.5, "end": 7.5, "text": "Smoke."}, "Somebody speaks"),
    ({"start": 1.5, "end": 2.5, "text": "Smoke."}, "s00001000 is spoken there"),
    ({"start": 9.0, "end": 10.0, "text": " "}, "needs words"),
    ({"start": -1.0, "end": 1.0, "text": "Smoke."}, "cannot start at -1 s"),
    ({"start": 25.0, "end": 26.0, "text": "Smoke."}, "after the film's end"),
    ({"start": 9.0, "end": 9.0, "text": "Smoke."}, "cannot end"),
    ({"start": "9", "end": 9.0, "text": "Smoke."}, "must be a number"),
    ({"start": 9.0, "end": 10.0}, "must be a text"),
])  # fmt: skip
def test_a_line_goes_only_where_it_can_be_heard(open_bench, args, why):
    assert why in open_bench(TWO).refused("add", **args)


def test_a_line_goes_back_to_the_machine_and_one_that_was_removed_stays_in_the_track(open_bench):
    bench = open_bench(TWO)
    bench.do("choose", TWO.id, number=2)
    bench.do("shift", TWO.id, by=0.5)
    back = bench.line_after("machine", TWO.id)
    assert (back.interval, back.text, back.chosen, back.edited) == (TWO.interval, TWO.text, 0, None)
    gone = bench.line_after("remove", TWO.id)
    assert (gone.heard, gone.reason, gone.text) == (False, REMOVED, TWO.text)
    restored = bench.line_after("restore", TWO.id)
    assert restored.heard
    assert EditField.REMOVED not in restored.edited.fields


def test_an_unknown_line(open_bench: OpenBench) -> None:
    bench = open_bench(TWO)
    names = bench.refused("nothing").partition("There are ")[2].removesuffix(".").split(", ")
    without_line = {"add", "add_slot", "insert", "remove_slot", "replace"}
    assert len(names) > 20
    for name in set(names) - without_line:
        refusal = bench.refused(name, "s00009999", number=1, text="x", at=1, start=1.0, by=1.0)
        assert "no line 's00009999'" in refusal, name


# The room of a line


def _room_by_hand(heard: tuple[Cue, ...], cue: Cue, hull: Interval) -> Interval | None:
    """The room of a line where nobody speaks: of all pieces the one that holds most of it, else the nearest."""
    own = cue.interval

    def rank(piece: Interval) -> tuple[int, int, float]:
        ends = (piece.end - own.start, own.end - piece.start, own.duration, piece.duration)
        shared, far = max(0.0, min(ends)), max(0.0, piece.start - own.end, own.start - piece.end)
        return round(10 * shared), -round(10 * far), -piece.start

    others = [other.interval for other in heard if other.id != cue.id]
    return max(subtract(hull, others), key=rank, default=None)


def write_silent_film(place: Path, duration: float) -> Path:
    """A folder as of a film of this length in which nobody speaks."""
    write_folder(place, settings=SETTINGS)
    with WorkFolder(place) as folder:
        folder.write_json("shots.json", shots_record((Shot(0, Interval(0, duration)),), [], duration))
        folder.write_json("speech.json", speech_record())
        folder.write_json("slots.json", slots_record(()))
    return set_lines(place, [], duration)


def set_lines(place: Path, cues: list[Cue], duration: float = 60.0) -> Path:
    """The folder, with these lines."""
    track = track_of(place)
    film = replace(track.film, duration=duration)
    save_track(replace(track, film=film).with_cues(cues), place, film.name)
    return place


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    place = write_silent_film(tmp_path_factory.mktemp("silent") / "film.shotad", 60.0)
    with reviewed(place, gone=True) as (_, page):
        yield Bench(place, page)


@given(st.lists(st.tuples(st.integers(1, 590), st.integers(1, 200)), min_size=1, max_size=25))
@settings(max_examples=60, deadline=None)
def test_the_room_of_a_line_is_that_of_the_whole_gap(silent: Bench, times: list[tuple[int, int]]) -> None:
    cues = [
        Cue(f"s{n:08d}", None, Interval(start / 10, min(60.0, (start + length) / 10)), "A cat.")
        for n, (start, length) in enumerate(times)
    ]
    set_lines(silent.place, cues)
    rooms = {row["id"]: row["room"] for row in silent.page.film()["lines"]}
    track = track_of(silent.place)
    assert rooms.keys() == {cue.id for cue in track.cues}
    for cue in track.cues:
        room = _room_by_hand(track.heard, cue, Interval(0.1, 60.0))
        assert rooms[cue.id] == (None if room is None else pytest.approx([room.start, room.end]))


def test_a_film_of_many_lines_in_one_gap_is_soon_shown(tmp_path: Path) -> None:
    """A film of 2,000 lines in one gap took a minute to open."""
    place = write_silent_film(tmp_path / "film.shotad", 8000.0)
    cues = [Cue(f"s{n:08d}", None, Interval(n * 4 + 1, n * 4 + 3), "A cat.") for n in range(2000)]
    with reviewed(set_lines(place, cues, 8000.0), gone=True) as (_, page):
        begun = time.process_time()
        lines = page.film()["lines"]
        assert time.process_time() - begun < 10, "seconds of the processor"
        assert page.do("shift", "s00000940", by=0.1)["said"]["text"] == "Moved to 1:02:41.100, 0.1 s later."
    assert len(lines) == 2000
    assert all(line["room"] is not None for line in lines)
