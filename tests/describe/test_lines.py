"""From answers to cues: the choice, the status, the reason, the second, and the doubt: a line is never silently missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from shotad.core import (
    Box,
    Character,
    Interval,
    Reply,
    Sighting,
)
from shotad.core.cast import FrameMark, Presence
from shotad.core.engine import Facts, TextFact
from shotad.core.types import Role
from shotad.description.slotplan import NearbyName
from shotad.script import Cue, CueStatus, Doubt
from tests.describe.slot_run import (
    AS_THEY_COME,
    SEEN,
    Answer,
    ScriptedSlot,
    last_slot,
    lines_json,
    run_slots,
)

DRAWER, GUN = "Ann opens a drawer.", "She takes out a gun."
LONG = "Ann opens a very old and heavy wooden drawer"


def cue_of(*candidates: str, how: Sequence[str] = (), **more: Any) -> Cue:
    """The cue of a slot of four seconds and eight words for which the engine writes these lines."""
    settings = (*AS_THEY_COME, f"stage2.candidates={len(candidates)}", *how)
    return run_slots(last_slot(*candidates, **({"max_words": 8} | more)), how=settings).cue


def test_a_line_too_long_is_shortened_or_its_slot_dropped_with_the_reason() -> None:
    cue = cue_of("Ann opens a drawer. She takes out a gun and looks at it.")
    assert (cue.text, cue.status, cue.fit_steps) == (DRAWER, CueStatus.SHORTENED, ("dropped sentences",))
    assert cue.reason.startswith("dropped sentences")
    lines = (f"{LONG} in the big kitchen.", "Bob slowly pulls at the dusty old iron handle.")
    cue = cue_of(*lines)
    assert (cue.status, cue.text, cue.chosen) == (CueStatus.DROPPED, "", None)
    assert "9 words where 8 fit" in cue.reason
    assert cue.candidates == lines
    assert cue_of(LONG, how=("stage2.fit=none",)).status is CueStatus.PLACED


@pytest.mark.parametrize(("looks", "writes", "reason"), [
    ([Reply("", "error", error="no frame")], [], "Stage I failed: the engine reports 'no frame'"),
    ([SEEN], [Reply("", "error", error="it\nrefused")], "Stage II failed: the engine reports 'it refused'"),
    ([SEEN], [lines_json("The image shows Ann.")], "no clean line: "),
    ([SEEN], [lines_json("\u200b\x07")], "Stage II failed: no line could be read"),
])  # fmt: skip
def test_a_failure_keeps_its_reason(looks: list[Answer], writes: list[Answer], reason: str) -> None:
    cue = run_slots(ScriptedSlot(writes, looks), how=AS_THEY_COME).cue
    assert (cue.status, cue.text) == (CueStatus.FAILED, "")
    assert cue.reason.startswith(reason)


def test_an_engine_that_finds_nothing_worth_saying_leaves_the_slot_empty() -> None:
    for notes, reason in (
        ({}, "nothing worth saying was found"),
        ({"reason": "credits roll"}, "credits roll"),
    ):
        cue = run_slots(ScriptedSlot([Reply("", "silent", notes=notes)]), how=AS_THEY_COME).cue
        assert (cue.status, cue.text, cue.reason) == (CueStatus.SILENT, "", reason)


def test_what_speaks_against_a_line_is_weighed_and_stands_in_its_reason() -> None:
    cue = cue_of("The image shows Ann.", "A close-up of Bob.")
    assert (cue.text, cue.status) == ("A close-up of Bob.", CueStatus.PLACED)
    assert cue.reason.startswith("error L3: ")
    verify = ("verify.on=true",)
    cue = cue_of("Bob waits.", GUN, verdicts='{"1": "yes", "2": "no"}', how=verify)
    assert (cue.text, cue.reason) == ("Bob waits.", "")
    cue = cue_of("She takes out a gun and cries.", verdicts='{"1": "no", "2": "no"}', how=verify)
    assert cue.reason == "not seen in the frames: She takes out a gun.; She cries."
    failed = Reply("", "error", error="it\nis gone")
    assert (
        cue_of(GUN, verdicts=failed, how=verify).reason
        == "the second look at the frames failed: the engine reports 'it is gone'"
    )
    named = "Description:\n1. Main characters: Boris Finch and Eve Moe.\n2. Actions: Ann looks at Boris Finch and Eve Moe."
    cast = Presence((Character("ann", "Ann", "Ann Lee"),), ("ann",), (), {"ann": FrameMark("red")})
    cue = cue_of("Finch sits.", looks=(named,), how=("stage1.attempts=1",), presence=cast)
    assert cue.reason == "named by the model alone: Boris Finch"


# A line starts when what it tells is seen: by the narrator's notes, by shots and by faces.

SHOTS = ((Role.PAST, Interval(6, 9)), (Role.CURRENT, Interval(9, 13)), (Role.CURRENT, Interval(13, 17)))
EARLY, LATE = "Ann opens the red drawer.", "Bob lifts a heavy suitcase."
BOTH = f"Description:\n1. Actions: In Shot 1, {EARLY} In [Shot 2], {LATE}"
SECOND = f"Description:\n1. Actions: In Shot 2, {LATE}"
UNKNOWN = "Description:\n1. Actions: Somebody does something somewhere."
CAST = (Character("ann", "Ann", "Ann Lee"), Character("bob", "Bob", "Bob Ray"))


def placed(
    line: str, description: str = UNKNOWN, *, end: float = 16, max_words: int = 16, notes: Any = None,
    how: Sequence[str] = (), **more: Any,
) -> Cue:  # fmt: skip
    """The cue of a slot from second 10 with three shots; ``notes`` are the narrator's of the line."""
    writes = [Reply(lines_json(line), notes=notes or {})]
    slot = ScriptedSlot(writes, (description,), Interval(10, end), max_words, SHOTS, **more)
    return run_slots(slot, how=(*AS_THEY_COME, "stage1.attempts=1", *how)).cue


def test_what_comes_too_late_is_left_out_of_the_line_or_drops_it() -> None:
    cue = placed(f"{EARLY} {LATE}", BOTH, end=13.2, max_words=8)
    assert (cue.text, cue.status, cue.interval.start) == (EARLY, CueStatus.SHORTENED, 10)
    cue = placed(LATE, SECOND, end=13.5, max_words=9)
    assert cue.status is CueStatus.DROPPED
    assert "fit after it is seen, at 13.0 s" in cue.reason
    assert LATE in cue.reason
    # One that fits only a little earlier is so, but never more than a second.
    start = placed(LATE, SECOND, end=14.2, max_words=11).interval.start
    assert start == pytest.approx(14.2 - 5 * 0.375)
    assert start >= 13 - 1
    cue = placed(LATE, SECOND, end=12, max_words=5, how=("stage2.fit=none",))
    assert cue.heard, "lines that are taken as they come are never dropped"
    assert 10 <= cue.interval.start < cue.interval.end <= 12


def test_a_name_is_not_told_before_the_face_is_there() -> None:
    faces = ("bob", 14.0, 14), ("bob", 9.5, 10), ("bob", 7.0, 10), ("ann", 14.0, 10)
    for member_id, second, start in faces:
        face = Sighting(member_id, Box(0.4, 0.1, 0.6, 0.4), second, 0.9)
        presence = Presence(CAST, (member_id,), (), {member_id: FrameMark("red")}, (face,))
        assert placed(LATE, presence=presence).interval.start == start, (member_id, second)


def noted(kind: str, shot: int, since: float, until: float, after: int = 0) -> dict[str, Any]:
    """What the narrator notes on a part of its line; ``after`` so many words."""
    return {"what": kind, "shot": shot, "sure": 0.9, "since": since, "until": until, "after": after}


def test_the_narrator_says_itself_when_it_is_seen() -> None:
    cue = placed("A person appears.", notes={"said": [[noted("person", 2, 13.5, 15.0)]]})
    assert (cue.interval.start, cue.seen_from) == (13.5, 13.5)
    # The first is gone at 12, the second comes at 14: told before the second, not when the first is long gone.
    statements = [noted("person", 1, 10.0, 12.0), noted("face", 2, 14.0, 16.0, after=3)]
    cue = placed("A person appears, then a face appears.", notes={"said": [statements]})
    assert cue.seen_from == pytest.approx(14 - 3 * 0.375)
    assert cue.interval.start == 12.0


STREET = TextFact(0, "HARBOUR STREET", "scene", 10.0, 12.0, 0.95, fills=True)
MEASURED = Facts((0,), texts=(STREET,))
LAMP = "Description:\n1. Actions: A woman lights a lamp in the hall. She smiles at a sign on the street, by the harbour."


def doubt_of(
    *candidates: str, facts: Facts | None = MEASURED, statements: Sequence[Any] = (), description: str = LAMP,
    how: Sequence[str] = (), **more: Any,
) -> Doubt:  # fmt: skip
    """The doubt about the first line, where the engine of Stage I measured ``facts`` and the narrator noted
    ``statements``; without facts it is a model that sees."""
    notes: Mapping[str, Any] = {} if facts is None else facts.to_json()
    writes = [Reply(lines_json(*candidates), notes={"said": [list(statements)]} if statements else {})]
    verdicts = more.pop("verdicts", ())
    slot = ScriptedSlot(writes, (Reply(description, notes=notes), *verdicts), Interval(10, 40), 60, **more)
    settings = (*AS_THEY_COME, f"stage2.candidates={len(candidates)}", "stage1.attempts=1", *how)
    cue = run_slots(slot, how=settings, sees={"wants_overlay": facts is None}).cue
    assert cue.text == candidates[0]
    assert cue.doubt is not None
    return cue.doubt


def reasons(*candidates: str, **more: Any) -> str:
    return "; ".join(doubt_of(*candidates, **more).reasons)


@pytest.mark.parametrize(("right", "wrong", "why"), [
    ('A sign reads: "Harbour Street."', 'A sign reads: "Market Lane."', 'not read on the screen: "Market'),
    ("She smiles.", "Martha smiles.", "nobody is known to be called Martha"),
])  # fmt: skip
def test_an_error_that_was_measured_is_doubted(right: str, wrong: str, why: str) -> None:
    doubt = doubt_of(wrong)
    assert doubt.value > doubt_of(right).value
    assert why in "; ".join(doubt.reasons)
    assert why not in reasons(right)


def test_a_text_read_badly_is_told() -> None:
    faint = Facts((0,), texts=(replace(STREET, sure=0.71),))
    assert "text read at 0.71" in reasons('A sign reads: "Harbour Street."', facts=faint)


def test_a_name_is_believed_where_the_face_was_recognised_or_somebody_was_called_so() -> None:
    ann, ben = (Character(name.lower(), name, name) for name in ("Ann", "Ben"))
    presence = Presence((ann, ben), current=("ann",), marks={"ann": FrameMark("red")})
    seen, unseen = (doubt_of(f"{name} smiles.", presence=presence) for name in ("Ann", "Ben"))
    assert seen.value < unseen.value
    assert "Ben was not recognised on the frames" in "; ".join(unseen.reasons)
    spoken = [NearbyName("Martha", "spoken", 3.0)]
    assert "Martha" in reasons("Martha smiles.")
    assert "called Martha" not in reasons("Martha smiles.", nearby_names=spoken)


def test_the_narrators_own_lines_are_as_doubtful_as_what_they_rest_on() -> None:
    sure, unsure = (
        doubt_of("A man waits.", statements=[{"what": "people", "sure": value}]) for value in (0.95, 0.55)
    )
    assert sure.value < unsure.value
    assert sure.reasons == ()
    assert "people measured at 0.55" in unsure.reasons


def test_what_models_answer_counts_too() -> None:
    line, horse = "She lights a lamp.", "A horse gallops off."
    plain = doubt_of(line, facts=None)
    agreed = (
        "She lights the lamp in the hall.",
        "A lamp is lit: she lights it.",
        "In the hall she has a light.",
    )
    torn = (line, horse, "Rain beats on the roof.")
    assert doubt_of(*agreed, facts=None) == doubt_of(agreed[0], facts=None)
    assert "different things" in reasons(*torn, facts=None)
    look_again = {"how": ("verify.on=true",), "facts": None}
    unseen = reasons(line, verdicts=['{"1": "no"}'], **look_again)
    assert f"did not find: {line}" in unseen
    assert "second look at the frames failed" in reasons(
        line, verdicts=[Reply("", "error", error="gone")], **look_again
    )
    assert "Stage I does not say: horse" in reasons(horse, facts=None)
    cast = Presence((Character("ann", "Ann", "Ann"),), ("ann",), (), {"ann": FrameMark("red")})
    nora = LAMP.replace("She smiles", "She smiles at Nora Finch")
    assert "by the model alone: Nora Finch" in reasons(
        "Nora lights a lamp.", facts=None, description=nora, presence=cast
    )
    assert "30 words" in reasons(" ".join(["She lights a lamp"] * 7 + ["at last."]), facts=None)
    both = doubt_of(horse, verdicts=['{"1": "no"}'], **look_again)
    assert plain.value < doubt_of(horse, facts=None).value < both.value <= 1
