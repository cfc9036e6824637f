"""From records to cues: the choice, the status, the reason, the second, and the doubt: a line is never silently missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from shotad.core import (
    Box,
    Character,
    Interval,
    Sighting,
    Slot,
    load_config,
)
from shotad.core.cast import (
    EMPTY_PRESENCE,
    FrameMark,
    Presence,
)
from shotad.core.engine import Facts, TextFact
from shotad.description import (
    Stage1Answer,
    Stage2Answer,
    Statement,
)
from shotad.description.choice import Situation
from shotad.description.cues import cue_of
from shotad.description.doubt import doubt_signals, estimate_doubt as doubt_by
from shotad.script import Cue, CueStatus, Doubt
from tests import handmade

Record = Mapping[str, Any]
SLOT = Slot("s00010000", Interval(10, 14), 8)
ONE, TWO = "Ann opens a drawer.", "She takes out a gun."
LONG = "Ann opens a very old and heavy wooden drawer"


def look(**changes: Any) -> dict[str, Any]:
    steps = {"Main characters": "Ann.", "Actions": "Ann opens a drawer. She takes out a gun."}
    return handmade.look(SLOT.id, **({"steps": steps, "seed": 7} | changes))


def record(*candidates: str, **changes: Any) -> dict[str, Any]:
    return handmade.line(
        SLOT.id, candidates=list(candidates), finish="stop", seed=7, **({"unseen": {}} | changes)
    )


def cue(
    stage2: Record | None, *, stage1: Record | None = None, slot: Slot = SLOT, how: tuple[str, ...] = (),
    presence: Presence = EMPTY_PRESENCE,
) -> Cue:  # fmt: skip
    seen = Stage1Answer.from_json(stage1 or look())
    line = None if stage2 is None else Stage2Answer.from_json(stage2)
    return cue_of(Situation(slot, presence=presence), seen, line, load_config(None, how))


def test_a_line_too_long_is_shortened_or_its_slot_dropped_with_the_reason() -> None:
    made = cue(record("Ann opens a drawer. She takes out a gun and looks at it."))
    assert (made.text, made.status, made.fit_steps) == (ONE, CueStatus.SHORTENED, ("dropped sentences",))
    assert made.reason.startswith("dropped sentences")
    made = cue(record(f"{LONG} in the big kitchen", LONG))
    assert (made.status, made.text, made.chosen) == (CueStatus.DROPPED, "", None)
    assert "9 words where 8 fit" in made.reason
    assert made.candidates == (f"{LONG} in the big kitchen", LONG)
    assert cue(record(LONG), how=("stage2.fit=none",)).status is CueStatus.PLACED


@pytest.mark.parametrize(("stage1", "stage2", "reason"), [
    (look(error="no frame"), None, "Stage I failed: no frame"),
    (look(), record(error="it refused"), "Stage II failed: it refused"),
    (look(), None, "Stage II failed: no record"),
    (look(), record("\u200b\x07", "…"), "Stage II failed: its answer holds no line that can be spoken"),
    (look(), record("The image shows Ann."), "no clean line: "),
])  # fmt: skip
def test_a_failure_keeps_its_reason(stage1, stage2, reason):
    made = cue(stage2, stage1=stage1)
    assert (made.status, made.text) == (CueStatus.FAILED, "")
    assert made.reason.startswith(reason)


@pytest.mark.parametrize(("stage1", "stage2", "text", "reason"), [
    (look(), record("The image shows Ann.", "A close-up of Bob."), "A close-up of Bob.", "error L3: "),
    (look(), record("", "Bob waits.", TWO, unseen={"2": ["a gun"]}), "Bob waits.", ""),
    (look(), record(TWO, unseen={"0": ["A gun.", "It\nis out."]}), TWO, "not seen in the frames: A gun.; It is out."),
    (look(), record(TWO, unlooked="it\nis gone"), TWO, "the second look at the frames failed: it is gone"),
    (look(invented=["Boris Finch", "Eve"]), record("Finch sits."), "Finch sits.", "named by the model alone: Boris Finch"),
])  # fmt: skip
def test_what_speaks_against_a_line_is_weighed_and_stands_in_its_reason(stage1, stage2, text, reason):
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
    # One that fits only a little earlier is so, but never more than a second.
    start = placed(LATE, SECOND, end=14.2, words=11).interval.start
    assert start == pytest.approx(14.2 - 5 * 0.375)
    assert start >= 13 - 1
    made = placed(LATE, SECOND, end=12, words=5, how=("stage2.fit=none",))
    assert made.heard, "lines that are taken as they come are never dropped"
    assert 10 <= made.interval.start < made.interval.end <= 12


def test_a_name_is_not_told_before_the_face_is_there() -> None:
    for who, second, start in (("bob", 14.0, 14), ("bob", 9.5, 10), ("bob", 7.0, 10), ("ann", 14.0, 10)):
        face = Sighting(who, Box(0.4, 0.1, 0.6, 0.4), second, 0.9)
        seen = Presence(CAST, (who,), (), {who: FrameMark("red")}, (face,))
        assert placed(LATE, presence=seen).interval.start == start, (who, second)


def noted(what: str, shot: int, since: float, until: float, after: int = 0) -> dict[str, Any]:
    """What the narrator says of a part of its line; ``after`` so many words."""
    return {"what": what, "shot": shot, "sure": 0.9, "since": since, "until": until, "after": after}


def test_the_narrator_says_itself_when_it_is_seen() -> None:
    made = placed("A person appears.", notes={"said": [[noted("person", 2, 13.5, 15.0)]]})
    assert (made.interval.start, made.seen_from) == (13.5, 13.5)
    # The first is gone at 12, the second comes at 14: told before the second, not when the first is long gone.
    said = [noted("person", 1, 10.0, 12.0), noted("face", 2, 14.0, 16.0, after=3)]
    made = placed("A person appears, then a face appears.", notes={"said": [said]})
    assert made.seen_from == pytest.approx(14 - 3 * 0.375)
    assert made.interval.start == 12.0


STREET = TextFact(0, "HARBOUR STREET", "scene", 10.0, 12.0, 0.95, fills=True)
SEEN = Facts((0,), texts=(STREET,))


def measured(facts: Facts = SEEN, **more: Any) -> Record:
    """Stage I's record where the embedded observer looked."""
    return {"raw": "", "notes": facts.to_json(), **more}


def doubt_of(line: str, stage1: Record, stage2: Record | None = None, **more: Any) -> Doubt:
    seen = Stage1Answer.from_json(look(**stage1))
    lines = None if stage2 is None else Stage2Answer.from_json(handmade.line(SLOT.id, **stage2))
    return doubt_by(line, doubt_signals(line, seen, lines, **more))


def reasons(line: str, *records: Record, **more: Any) -> str:
    return "; ".join(doubt_of(line, *records, **more).reasons)


@pytest.mark.parametrize(("right", "wrong", "why"), [
    ('A sign reads: "Harbour Street."', 'A sign reads: "Market Lane."', 'not read on the screen: "Market'),
    ("She smiles.", "Martha smiles.", "nobody is known to be called Martha"),
])  # fmt: skip
def test_an_error_that_was_measured_is_doubted(right: str, wrong: str, why: str) -> None:
    doubted = doubt_of(wrong, measured())
    assert doubted.value > doubt_of(right, measured()).value
    assert why in "; ".join(doubted.reasons)
    assert why not in reasons(right, measured())


def test_a_text_read_badly_is_told() -> None:
    faint = Facts((0,), texts=(replace(STREET, sure=0.71),))
    assert "text read at 0.71" in reasons('A sign reads: "Harbour Street."', measured(faint))


def test_a_name_is_believed_where_the_face_was_recognised_or_somebody_was_called_so() -> None:
    ann, ben = (Character(name.lower(), name, name) for name in ("Ann", "Ben"))
    seen = Presence((ann, ben), current=("ann",), marks={"ann": FrameMark("red")})
    known, unknown = (doubt_of(f"{name} smiles.", measured(), presence=seen) for name in ("Ann", "Ben"))
    assert known.value < unknown.value
    assert "Ben was not recognised on the frames" in "; ".join(unknown.reasons)
    heard = measured(heard=[{"name": "Martha", "how": "spoken", "seconds": 3.0}])
    assert "Martha" not in reasons("Martha smiles.", heard)


def test_the_narrators_own_lines_are_as_doubtful_as_what_they_rest_on() -> None:
    sure, unsure = ((Statement("people", value),) for value in (0.95, 0.55))
    one, other = (doubt_of("A man waits.", measured(), statements=own) for own in (sure, unsure))
    assert one.value < other.value
    assert one.reasons == ()
    assert "people measured at 0.55" in other.reasons


def test_what_models_answer_counts_too() -> None:
    looked: Record = {"raw": "1. Actions: A woman lights a lamp in the hall.", "notes": {}}
    line = "She lights a lamp."
    plain = doubt_of(line, looked)
    agreed = {"candidates": [line, "She lights the lamp.", "A lamp is lit by her: she lights it."]}
    torn = {"candidates": [line, "A horse gallops off.", "Rain beats on the roof."]}
    assert doubt_of(line, looked, agreed) == plain
    assert "different things" in reasons(line, looked, torn)
    assert "did not find: she lights a lamp" in reasons(line, looked, unseen=["she lights a lamp"])
    assert "Stage I does not say: horse" in reasons("A horse gallops off.", looked)
    assert "by the model alone: Nora" in reasons("Nora lights a lamp.", {**looked, "invented": ["Nora"]})
    assert "30 words" in reasons(" ".join(["She lights a lamp"] * 7 + ["at last."]), looked)
    both = doubt_of("A horse gallops off.", looked, torn, unseen=["a horse gallops off"])
    assert plain.value < doubt_of("A horse gallops off.", looked).value < both.value <= 1
