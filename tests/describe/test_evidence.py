"""A line starts when what it tells is seen: by the narrator's notes, by shots and by faces."""

from __future__ import annotations

from typing import Any

import pytest

from shotad.core import Box, Character, Interval, Mark, Presence, Sighting, Slot, load_config
from shotad.description.choice import Around
from shotad.description.slot_writer import cue_of
from shotad.script import Cue, CueStatus

SLOT = Slot("s00010000", Interval(10, 16), 16)
MAKER = {"engine": "fake", "model": "m", "revision": "1"}
SHOTS = [
    {"number": 0, "shot": 4, "role": "past", "start": 6.0, "end": 9.0, "seconds": [7.0]},
    {"number": 1, "shot": 5, "role": "current", "start": 9.0, "end": 13.0, "seconds": [11.0]},
    {"number": 2, "shot": 6, "role": "current", "start": 13.0, "end": 17.0, "seconds": [14.0]},
]
EARLY, LATE = "Ann opens the red drawer.", "Bob lifts a heavy suitcase."
CAST = (Character("ann", "Ann", "Ann Lee"), Character("bob", "Bob", "Bob Ray"))


def look(raw: str = "", notes: Any = None) -> dict[str, Any]:
    return {
        "steps": {"Actions": "x"}, "explanation": "", "raw": raw, "engine": "fake", "notes": notes or {},
        "maker": MAKER, "prompt": [], "seed": 7, "error": None, "shots": SHOTS,
    }  # fmt: skip


def cue(text: str, raw: str = "", *, slot: Slot = SLOT, **more: Any) -> Cue:
    record = {
        "candidates": [text], "error": None, "finish": "stop", "notes": more.pop("notes", {}),
        "maker": MAKER, "prompt": [], "seed": 7, "complaints": {}, "unseen": {},
    }  # fmt: skip
    config = load_config(None, more.pop("settings", []))
    return cue_of(slot, look(raw, more.pop("facts", None)), record, config, Around(), **more)


def seen(**seconds: float) -> Presence:
    faces = tuple(Sighting(name, Box(0.4, 0.1, 0.6, 0.4), at, 0.9) for name, at in seconds.items())
    return Presence(CAST, tuple(seconds), (), {name: Mark("red") for name in seconds}, faces)


def test_a_line_about_a_later_shot_waits_for_it() -> None:
    raw = f"1. Actions: In Shot 1, {EARLY} In [Shot 2], {LATE}"
    assert cue(EARLY, raw).interval.start == 10
    made = cue(LATE, raw)
    assert (made.interval.start, made.seen_from) == (13, 13)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        f"1. Actions: {LATE}",
        f"1. Actions: In [Shot 1, Shot 2], {LATE}",
        f"1. Actions: In Shot 2, {EARLY} In Shot 1, {LATE}",
        f"1. Actions: In Shot 2, {EARLY}\n2. More: {LATE}",
        "1. Actions: In Shot 2, somebody talks.",
        f"1. Actions: In Shot 9, {LATE}",
    ],
)
def test_where_nothing_tells_of_a_later_shot_the_slots_start_stays(raw: str) -> None:
    made = cue(LATE, raw)
    assert (made.interval.start, made.text) == (10, LATE)


def test_a_sentence_goes_on_with_the_shot_of_the_one_before() -> None:
    assert cue(LATE, f"1. Actions: In Shot 2 the door opens. {LATE}").interval.start == 13


def test_of_two_things_each_is_told_in_its_time() -> None:
    raw = f"1. Actions: In Shot 1, {EARLY} In Shot 2, {LATE}"
    made = cue(f"{EARLY} {LATE}", raw)
    # Five words, 1.875 s, come before the second.
    assert made.interval.start == pytest.approx(13 - 5 * 0.375)
    assert made.text == f"{EARLY} {LATE}"


def test_what_comes_too_late_is_left_out_of_the_line() -> None:
    raw = f"1. Actions: In Shot 1, {EARLY} In Shot 2, {LATE}"
    short = Slot("s00010000", Interval(10, 13.2), 8)
    made = cue(f"{EARLY} {LATE}", raw, slot=short)
    assert (made.text, made.status, made.interval.start) == (EARLY, CueStatus.SHORTENED, 10)


def test_a_line_that_fits_only_a_little_earlier_is_so_but_never_more_than_a_second() -> None:
    raw = f"1. Actions: In Shot 2, {LATE}"
    made = cue(LATE, raw, slot=Slot("s00010000", Interval(10, 14.2), 11))
    assert made.interval.start == pytest.approx(14.2 - 5 * 0.375)
    assert made.interval.start >= 13 - 1


def test_with_too_little_time_left_it_is_dropped_and_says_why() -> None:
    made = cue(LATE, f"1. Actions: In Shot 2, {LATE}", slot=Slot("s00010000", Interval(10, 13.5), 9))
    assert made.status is CueStatus.DROPPED
    assert "after what it tells is seen, at 13.0 s" in made.reason
    assert LATE in made.reason


def test_lines_that_are_taken_as_they_come_are_never_dropped() -> None:
    slot = Slot("s00010000", Interval(10, 12), 5)
    made = cue(LATE, f"1. Actions: In Shot 2, {LATE}", slot=slot, settings=["stage2.fit=none"])
    assert made.heard
    assert slot.interval.start <= made.interval.start < made.interval.end <= slot.interval.end


def test_a_name_is_not_told_before_the_face_is_there() -> None:
    assert cue(LATE, presence=seen(bob=14.0)).interval.start == 14
    # In the shot that is on when the slot begins, and in none of the slot's own.
    assert cue(LATE, presence=seen(bob=9.5)).interval.start == 10
    assert cue(LATE, presence=seen(bob=7.0)).interval.start == 10
    assert cue(LATE, presence=seen(ann=14.0)).interval.start == 10


def test_the_narrator_says_itself_when_it_is_seen() -> None:
    said = [{"what": "person", "shot": 2, "sure": 0.9, "since": 13.5, "until": 15.0, "after": 0}]
    made = cue("A person appears.", notes={"said": [said]})
    assert (made.interval.start, made.seen_from) == (13.5, 13.5)


def test_what_is_gone_soon_is_told_a_little_earlier() -> None:
    """The first thing is gone at 12, the second comes at 14: the line starts before the second, not after
    the first is long gone."""
    said = [
        {"what": "person", "shot": 1, "sure": 0.9, "since": 10.0, "until": 12.0, "after": 0},
        {"what": "face", "shot": 2, "sure": 0.9, "since": 14.0, "until": 16.0, "after": 3},
    ]
    made = cue("A person appears, then a face appears.", notes={"said": [said]})
    assert made.seen_from == pytest.approx(14 - 3 * 0.375)
    assert made.interval.start == 12.0
