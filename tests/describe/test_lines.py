"""From records to cues: the choice, the status, the reason, and the second: a line is never silently missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from shotad.core import NOBODY, Box, Character, Interval, Mark, Presence, Sighting, Slot, load_config
from shotad.description.choice import FittedLine, Situation
from shotad.description.slot_writer import cue_of
from shotad.script import Cue, CueStatus

SLOT = Slot("s00010000", Interval(10, 14), 8)
MAKER = {"engine": "fake", "model": "m", "revision": "1"}
ONE, TWO = "Ann opens a drawer.", "She takes out a gun."
LONG = "Ann opens a very old and heavy wooden drawer"


def look(**changes: Any) -> dict[str, Any]:
    return {
        "steps": {"Main characters": "Ann.", "Actions": "Ann opens a drawer. She takes out a gun."},
        "explanation": "", "raw": "", "engine": "fake", "notes": {}, "maker": MAKER, "prompt": [], "seed": 7,
        "error": None, **changes,
    }  # fmt: skip


def record(*candidates: str, **changes: Any) -> dict[str, Any]:
    return {
        "candidates": list(candidates), "error": None, "finish": "stop", "notes": {}, "maker": MAKER,
        "prompt": [], "seed": 7, "complaints": {}, "unseen": {}, **changes,
    }  # fmt: skip


def cue(
    stage2: Mapping[str, Any] | None, *, stage1: Mapping[str, Any] | None = None, slot: Slot = SLOT,
    how: tuple[str, ...] = (), presence: Presence = NOBODY,
) -> Cue:  # fmt: skip
    situation = Situation(slot, presence=presence)
    return cue_of(situation, stage1 or look(), stage2, load_config(None, how))


class Last:
    """Takes the last line and remembers what it was told."""

    def choose(self, lines: Sequence[FittedLine], situation: Situation) -> int:
        self.lines, self.situation = lines, situation
        return len(lines) - 1


def test_a_line_too_long_is_shortened_or_its_slot_dropped_with_the_reason() -> None:
    made = cue(record("Ann opens a drawer. She takes out a gun and looks at it."))
    assert (made.text, made.status, made.fit_steps) == (ONE, CueStatus.SHORTENED, ("dropped sentences",))
    assert made.reason.startswith("dropped sentences")
    made = cue(record(f"{LONG} in the big kitchen", LONG))
    assert (made.status, made.text, made.chosen) == (CueStatus.DROPPED, "", None)
    assert "9 words where 8 fit" in made.reason
    assert made.candidates == (f"{LONG} in the big kitchen", LONG)
    assert cue(record(LONG), how=("stage2.fit=none",)).status is CueStatus.PLACED


@pytest.mark.parametrize(
    ("stage1", "stage2", "reason"),
    [
        (look(error="no frame"), None, "Stage I failed: no frame"),
        (look(), record(error="it refused", finish="error"), "Stage II failed: it refused"),
        (look(), None, "Stage II failed: no record"),
        (look(), record("\u200b\x07", "…"), "Stage II failed: its answer holds no line that can be spoken"),
        (look(), record("The image shows Ann."), "no clean line: "),
    ],
)
def test_a_failure_keeps_its_reason(
    stage1: dict[str, Any], stage2: dict[str, Any] | None, reason: str
) -> None:
    made = cue(stage2, stage1=stage1)
    assert (made.status, made.text) == (CueStatus.FAILED, "")
    assert made.reason.startswith(reason)


@pytest.mark.parametrize(
    ("stage1", "stage2", "text", "reason"),
    [
        (look(), record("The image shows Ann.", "A close-up of Bob."), "A close-up of Bob.", "error L3: "),
        (look(), record("", "Bob waits.", TWO, unseen={"2": ["a gun"]}), "Bob waits.", ""),
        (look(), record(TWO, unseen={"0": ["A gun.", "It\nis out."]}), TWO, "not seen in the frames: A gun.; It is out."),
        (look(), record(TWO, unlooked="it\nis gone"), TWO, "the second look at the frames failed: it is gone"),
        (look(invented=["Boris Finch", "Eve"]), record("Finch sits."), "Finch sits.", "named by the model alone: Boris Finch"),
    ],
)  # fmt: skip
def test_what_speaks_against_a_line_is_weighed_and_stands_in_its_reason(
    stage1: dict[str, Any], stage2: dict[str, Any], text: str, reason: str
) -> None:
    made = cue(stage2, stage1=stage1)
    assert (made.text, made.status) == (text, CueStatus.PLACED)
    assert made.reason.startswith(reason)
    assert bool(made.reason) == bool(reason)


# A line starts when what it tells is seen: by the narrator's notes, by shots and by faces.

SHOTS = [
    {"number": 0, "shot": 4, "role": "past", "start": 6.0, "end": 9.0, "seconds": [7.0]},
    {"number": 1, "shot": 5, "role": "current", "start": 9.0, "end": 13.0, "seconds": [11.0]},
    {"number": 2, "shot": 6, "role": "current", "start": 13.0, "end": 17.0, "seconds": [14.0]},
]
EARLY, LATE = "Ann opens the red drawer.", "Bob lifts a heavy suitcase."
BOTH, SECOND = f"1. Actions: In Shot 1, {EARLY} In [Shot 2], {LATE}", f"1. Actions: In Shot 2, {LATE}"
CAST = (Character("ann", "Ann", "Ann Lee"), Character("bob", "Bob", "Bob Ray"))


def placed(
    text: str, raw: str = "", *, end: float = 16, words: int = 16, notes: Any = None, **more: Any
) -> Cue:
    slot = Slot("s00010000", Interval(10, end), words)
    return cue(record(text, notes=notes or {}), stage1=look(raw=raw, shots=SHOTS), slot=slot, **more)


def test_what_comes_too_late_is_left_out_of_the_line_or_drops_it() -> None:
    made = placed(f"{EARLY} {LATE}", BOTH, end=13.2, words=8)
    assert (made.text, made.status, made.interval.start) == (EARLY, CueStatus.SHORTENED, 10)
    made = placed(LATE, SECOND, end=13.5, words=9)
    assert made.status is CueStatus.DROPPED
    assert "fit after it is seen, at 13.0 s" in made.reason
    assert LATE in made.reason


def test_a_line_that_fits_only_a_little_earlier_is_so_but_never_more_than_a_second() -> None:
    start = placed(LATE, SECOND, end=14.2, words=11).interval.start
    assert start == pytest.approx(14.2 - 5 * 0.375)
    assert start >= 13 - 1
    made = placed(LATE, SECOND, end=12, words=5, how=("stage2.fit=none",))
    assert made.heard, "lines that are taken as they come are never dropped"
    assert 10 <= made.interval.start < made.interval.end <= 12


@pytest.mark.parametrize(
    ("who", "second", "start"), [("bob", 14.0, 14), ("bob", 9.5, 10), ("bob", 7.0, 10), ("ann", 14.0, 10)]
)
def test_a_name_is_not_told_before_the_face_is_there(who: str, second: float, start: float) -> None:
    face = Sighting(who, Box(0.4, 0.1, 0.6, 0.4), second, 0.9)
    assert (
        placed(LATE, presence=Presence(CAST, (who,), (), {who: Mark("red")}, (face,))).interval.start == start
    )


def test_the_narrator_says_itself_when_it_is_seen() -> None:
    said = [{"what": "person", "shot": 2, "sure": 0.9, "since": 13.5, "until": 15.0, "after": 0}]
    made = placed("A person appears.", notes={"said": [said]})
    assert (made.interval.start, made.seen_from) == (13.5, 13.5)
    # The first is gone at 12, the second comes at 14: told before the second, not when the first is long gone.
    said = [
        {"what": "person", "shot": 1, "sure": 0.9, "since": 10.0, "until": 12.0, "after": 0},
        {"what": "face", "shot": 2, "sure": 0.9, "since": 14.0, "until": 16.0, "after": 3},
    ]
    made = placed("A person appears, then a face appears.", notes={"said": [said]})
    assert made.seen_from == pytest.approx(14 - 3 * 0.375)
    assert made.interval.start == 12.0
