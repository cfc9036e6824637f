"""People of a clip in what is asked, shown, kept and judged: keys, painted frames, records, complaints."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    NOBODY,
    Character,
    Clip,
    Config,
    ContextShot,
    Description,
    Engine,
    FramePlan,
    Grammar,
    Interval,
    Mark,
    Presence,
    Reply,
    Role,
    Shot,
    Slot,
    SpeechKind,
    Utterance,
    load_config,
    utterance_rows,
    utterances_of,
)
from shotad.description import Inquiry, SlotPlan, stage2
from shotad.description.slotplan import Heard
from shotad.description.stage1 import stage1_as_seen, stage1_inquiry, stage1_question
from shotad.description.stage2 import Judge
from tests.describe.prompting import ANN, BO, CAST, MARKS, NORA, Model, bare, people

SLOT = Slot("s00010000", Interval(10.0, 14.0), 9)
PLAN = SlotPlan(
    SLOT,
    (
        ContextShot(Shot(3, Interval(6, 9)), Role.PAST, Interval(6, 9)),
        ContextShot(Shot(4, Interval(9, 15)), Role.CURRENT, Interval(9, 15)),
    ),
    (
        FramePlan(0, Role.PAST, np.array([7.0, 8.0])),
        FramePlan(1, Role.CURRENT, np.array([10.0, 11.0])),
    ),
    Grammar(),
)
CLIP = Clip(np.full((4, 144, 256, 3), 90, np.uint8), np.array([7.0, 8, 10, 11]), np.array([0, 0, 1, 1]))


PAINTS, MEASURES = Model(), Model(wants_overlay=False, converses=False)


def config(*assignments: str) -> Config:
    return load_config(None, assignments)


def plan(presence: Presence = NOBODY, *heard: Heard) -> SlotPlan:
    return replace(PLAN, presence=presence, heard=heard)


def key(presence: Presence, *settings: str, engine: Engine = PAINTS) -> str:
    return stage1_question(plan(presence), engine, config(*settings), "pixels").key


# Keys of Stage I


@pytest.mark.parametrize("engine", [PAINTS, MEASURES])
def test_a_cast_makes_no_clip_stale_in_which_nobody_is_recognised(engine: Engine) -> None:
    assert key(NOBODY, engine=engine) == key(people(), engine=engine)
    assert key(people(), "overlay.characters=boxes", engine=engine) == key(NOBODY, engine=engine)
    rules = "prompt.rules=paper"
    assert key(people(), rules, engine=engine) == key(NOBODY, rules, engine=engine)


def changed() -> dict[str, Presence]:
    """Changes of what is known of a clip, each alone."""
    seen = people("ann", "cy")
    moved = replace(seen.sightings[0], seconds=11.0)
    blue = {**MARKS, "ann": Mark("blue", "dashed")}
    renamed = (replace(ANN, called="Annie"), *CAST[1:])
    return {
        "nobody": people(),
        "as it is": seen,
        "another place in the clip": people("ann cy"),
        "another mark": replace(seen, marks=blue),
        "another name": replace(seen, cast=renamed),
        "another moment": replace(seen, sightings=(moved, *seen.sightings[1:])),
        "a face less": replace(seen, sightings=seen.sightings[1:]),
    }


@pytest.mark.parametrize("engine", [PAINTS, MEASURES])
def test_key_knows_all_that_is_shown_of_people(engine: Engine) -> None:
    keys = {name: key(presence, engine=engine) for name, presence in changed().items()}
    if engine is MEASURES:
        assert len(set(keys.values())) >= len(keys) - 1, "marks are nothing to an engine that measures"
    else:
        assert len(set(keys.values())) == len(keys)
    assert key(people("ann"), "overlay.characters=boxes") != key(people("ann"))
    assert key(people("ann", "cy"), "prompt.characters=clip") != key(people("ann", "cy"))


def test_faces_are_nothing_to_a_model_that_sees_no_marks() -> None:
    seen = people("ann")
    elsewhere = replace(seen, sightings=())
    assert key(seen, "overlay.characters=none") == key(elsewhere, "overlay.characters=none")
    assert key(seen, "overlay.characters=none") != key(people(), "overlay.characters=none")


def test_names_that_were_heard_change_the_question_only_where_they_are_told() -> None:
    hinted = plan(NOBODY, Heard("Max", "spoken", 9.0))
    asked = [
        stage1_question(p, PAINTS, config(*s), "pixels").key
        for p, s in (
            (PLAN, ()),
            (hinted, ()),
            (PLAN, ("prompt.rules=paper",)),
            (hinted, ("prompt.rules=paper",)),
        )
    ]
    assert asked[0] != asked[1]
    assert asked[2] == asked[3]


# Frames and records of Stage I


def seen_by(engine: Engine, presence: Presence, *settings: str) -> np.ndarray[Any, Any]:
    return stage1_as_seen(CLIP, plan(presence), engine, config("overlay.label=none", *settings)).images


def test_frames_are_marked_for_a_model_where_the_faces_are() -> None:
    bare, marked = seen_by(PAINTS, people()), seen_by(PAINTS, people("ann", "cy"))
    differs = [bool((one != other).any()) for one, other in zip(bare, marked, strict=True)]
    assert differs == [True, False, True, False]
    assert (seen_by(PAINTS, people("ann", "cy"), "prompt.characters=current")[0] == bare[0]).all()
    assert (seen_by(PAINTS, people("ann"), "overlay.characters=none") == bare).all()
    assert (seen_by(MEASURES, people("ann")) == CLIP.images).all()


def answered(inquiry: Inquiry, *answers: str) -> dict[str, Any]:
    """The record of an inquiry, one answer to a turn."""
    try:
        next(inquiry)
        for answer in answers:
            inquiry.send((Reply(answer),))
    except StopIteration as end:
        record: dict[str, Any] = end.value
        return record
    raise AssertionError("more was asked than there are answers")


def looked(presence: Presence, answer: str, *settings: str, engine: Engine = PAINTS) -> dict[str, Any]:
    asked = stage1_question(plan(presence, Heard("Max", "spoken", 9.25)), engine, config(*settings), "pixels")
    seen = stage1_as_seen(CLIP, asked.plan, engine, config(*settings))
    return answered(stage1_inquiry(asked, seen, engine, config(*settings)), answer)


GOOD = "Description:\n1. Main characters: Ann (red).\n2. Actions: Ann opens a gate."


def test_record_says_who_was_recognised_and_what_was_heard() -> None:
    record = looked(people("ann nora", "cy"), GOOD)
    assert record["characters"] == [
        {"id": "ann", "called": "Ann", "mark": "red", "current": True},
        {"id": "nora", "called": "the woman in red", "mark": "yellow", "current": True},
        {"id": "cy", "called": "Cy", "mark": "blue", "current": False},
    ]
    assert record["heard"] == [{"name": "Max", "how": "spoken", "seconds": 9.25}]
    assert json.loads(json.dumps(record)) == record
    unmarked = looked(people("ann"), GOOD, "overlay.characters=none")
    assert unmarked["characters"] == [{"id": "ann", "called": "Ann", "mark": "", "current": True}]
    assert looked(people(), GOOD.replace("Ann", "A girl"))["characters"] == []


def test_a_name_that_the_question_does_not_give_is_asked_again() -> None:
    asked = stage1_question(plan(people("ann")), PAINTS, config(), "pixels")
    seen = stage1_as_seen(CLIP, asked.plan, PAINTS, config())
    wrong = GOOD.replace("Ann opens", "Ann looks at Boris Finch and opens")
    record = answered(stage1_inquiry(asked, seen, PAINTS, config()), wrong, GOOD)
    assert record["steps"]["Actions"] == "Ann opens a gate."
    assert record["invented"] == []
    assert ['"Boris Finch"' in text for one in record["tries"] for text in one["complaints"]] == [True]


@pytest.mark.parametrize("stage", [1, 2])
def test_the_note_of_the_user_tells_no_name_too_early(stage: int) -> None:
    note = ('prompt.note="Nora Falk hides from Ann."',)
    asked = (
        asked2(people("ann nora"), "Ann opens a gate.", *note)
        if stage == 2
        else stage1_question(plan(people("ann nora")), PAINTS, config(*note), "pixels")
    )
    text = " ".join(message.text for message in asked.request.messages)
    assert "the woman in red hides from Ann." in text
    assert "Nora" not in text


def test_marks_are_taken_out_of_what_a_model_says() -> None:
    record = looked(people("ann"), GOOD)
    assert record["steps"] == {"Main characters": "Ann.", "Actions": "Ann opens a gate."}
    story = GOOD.replace("a gate", "a red door")
    assert looked(people("ann"), story)["steps"]["Actions"] == "Ann opens a red door."


def test_a_descriptor_with_the_colour_of_a_mark_stays() -> None:
    marks = {**MARKS, "nora": Mark("red")}
    said = "Description:\n1. Main characters: The woman in red (red).\n2. Actions: The woman in red sits."
    steps = looked(people("nora", marks=marks), said)["steps"]
    assert steps == {"Main characters": "The woman in red.", "Actions": "The woman in red sits."}


# Stage II


def described(text: str) -> Description:
    return Description(SLOT.id, {"Actions": text}, "", "", "model")


def asked2(presence: Presence, text: str, *settings: str, story: str = "") -> stage2.Question:
    return stage2.question(plan(presence), described(text), (), PAINTS, config(*settings), story=story)


def test_a_cast_makes_no_line_stale_that_it_does_not_touch() -> None:
    assert asked2(people(), "A man sits.").key == asked2(NOBODY, "A man sits.").key
    assert asked2(people(), "Ann sits.").key != asked2(NOBODY, "Ann sits.").key
    assert asked2(people("ann"), "A man sits.").key != asked2(NOBODY, "A man sits.").key
    renamed = replace(people("ann"), cast=(replace(ANN, others=("Nan",)), *CAST[1:]))
    assert asked2(renamed, "Ann sits.").key != asked2(people("ann"), "Ann sits.").key
    other = replace(people("ann"), cast=(ANN, replace(BO, others=("Bob",)), *CAST[2:]))
    assert asked2(other, "Ann sits.").key == asked2(people("ann"), "Ann sits.").key


def test_what_a_name_in_the_story_may_be_counts_too() -> None:
    told = [asked2(presence, "She sits.", story="Nora came.").key for presence in (people(), NOBODY)]
    assert told[0] != told[1]


def line(text: str) -> str:
    return json.dumps({"summarized_AD": text})


def test_a_name_that_is_not_told_yet_is_asked_away() -> None:
    asked = asked2(people("nora"), "Nora opens the gate.")
    inquiry = stage2.inquiry(asked, PAINTS, config())
    next(inquiry)
    (turn,) = inquiry.send((Reply(line("Nora opens the gate.")),))
    assert "may not be named yet" in turn.request.messages[-1].text
    with pytest.raises(StopIteration) as end:
        inquiry.send((Reply(line("The woman in red opens the gate.")),))
    assert end.value.value["candidates"][0] == "The woman in red opens the gate."
    assert end.value.value["complaints"] == {}


@pytest.mark.parametrize("repair", ["all", "none"])
def test_a_name_that_is_not_told_yet_is_never_said(repair: str) -> None:
    settings = config(f"stage2.repair={repair}", "prompt.note=Nora is a spy.")
    asked = stage2.question(plan(people("nora")), described("She sits."), (), PAINTS, settings)
    answers = [line("The gate falls on Nora Moe.")] * (2 if repair == "all" else 1)
    record = answered(stage2.inquiry(asked, PAINTS, settings), *answers)
    assert record["candidates"] == ["The gate falls on the woman in red."]
    assert "Nora Moe" in record["raw"]


def test_a_hidden_name_that_is_a_word_as_well_is_never_said() -> None:
    rose = (replace(NORA, hidden=("Rose",)),)
    seen = Presence(rose, ("nora",), (), MARKS)
    asked = asked2(seen, "She sits.")
    answers = [line("Rose sits.")] * 2
    assert answered(stage2.inquiry(asked, PAINTS, config()), *answers)["candidates"] == [
        "The woman in red sits."
    ]


def test_the_second_look_finds_the_answer_of_a_line_whose_name_is_gone() -> None:
    settings = config("verify.on=true", "stage2.attempts=1")
    asked = stage2.question(
        plan(people("nora")), described("She sits."), (), PAINTS, settings, looks=PAINTS.identity
    )
    record = answered(
        stage2.inquiry(asked, PAINTS, settings),
        line("She sits by Nora."),
        '{"1": "no"}',
        line("Nora waves."),
        '{"1": "yes"}',
    )
    assert record["candidates"] == ["The woman in red waves."]


def test_other_names_of_somebody_are_put_right_without_asking() -> None:
    asked = asked2(people("ann"), "Annie Lee sits.")
    record = answered(stage2.inquiry(asked, PAINTS, config()), line("Ann Lee sits."))
    assert record["candidates"] == ["Ann sits."]
    plain = config("prompt.rules=paper", "stage2.repair=none")
    asked = stage2.question(plan(people("ann")), described("Ann Lee sits."), (), PAINTS, plain)
    assert answered(stage2.inquiry(asked, PAINTS, plain), line("Ann Lee sits."))["candidates"] == [
        "Ann Lee sits."
    ]


def test_second_look_is_asked_with_the_marks() -> None:
    settings = config("verify.on=true")
    asked = stage2.question(
        plan(people("ann")), described("Ann opens the gate."), (), PAINTS, settings, looks=PAINTS.identity
    )
    inquiry = stage2.inquiry(asked, PAINTS, settings)
    next(inquiry)
    (turn,) = inquiry.send((Reply(line("Ann opens the gate.")),))
    assert turn.with_clip
    assert "circle around a face tells who that is: Ann (red)." in bare(turn.request.messages[-1].text)


# What a line is judged by

LEE = Character("lee", "Mr. Lee", "Mr. John Lee", pronoun="he")


def rules(
    text: str, presence: Presence, *settings: str, description: str = "Mr. Lee and a woman sit."
) -> set[str]:
    judge = Judge(plan(presence), config(*settings), description)
    return {complaint.rule for complaint in judge.complaints(text)}


def test_what_the_cast_wants_is_no_fault() -> None:
    lee = Presence((LEE,), ("lee",), (), {"lee": Mark("red")})
    assert rules("Mr. Lee sits.", lee) == set()
    assert rules("Mr. Lee sits.", NOBODY) == {"L13"}
    assert rules("Mr. Lee sits by Dr. Moe.", lee, description="Mr. Lee and Dr. Moe sit.") == {"L13"}
    assert rules("The woman in red sits.", people("nora")) == set()
    assert rules("The woman in red sits.", NOBODY) == {"pronoun"}
    assert rules("The woman sits.", people("nora")) == {"pronoun"}


def test_names_are_judged_where_there_is_a_cast() -> None:
    assert rules("Nora sits.", people("nora")) == {"L7"}
    assert rules("Bo sits.", people("ann")) == {"L7"}
    assert rules("Bo sits.", NOBODY) == set()
    assert rules("Ann Lee sits.", people("ann"), description="Ann sits.") == {"L8"}
    full = rules("Ann Lee sits.", people("ann"), "prompt.rules=paper", description="Ann Lee sits.")
    assert full == set()


def test_who_is_known_from_the_note_may_be_named() -> None:
    line = "Rex follows her."
    assert rules(line, people("ann"), "prompt.note=Rex is her dog.") == set()


def test_words_over_the_budget_are_counted_as_they_are_spoken() -> None:
    lee = Presence((LEE,), ("lee",), (), {"lee": Mark("red")})
    assert rules("Mr. Lee opens the old iron gate of the garden.", lee) == {"budget"}


# Records of speech


def test_speakers_come_back_from_the_record() -> None:
    said = (
        Utterance(Interval(1, 2), "Hello.", SpeechKind.SPEECH, "Ann"),
        Utterance(Interval(3, 4), "La.", SpeechKind.LYRICS),
    )
    rows = utterance_rows(said)
    assert utterances_of(rows) == said
    assert "speaker" not in rows[1], "records of subtitles without speakers are as they were"
