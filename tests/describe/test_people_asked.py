"""People of a clip in what is asked, shown, kept and judged: keys, painted frames, records, complaints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shotad.core import NOBODY, Character, Mark, Presence, load_config
from shotad.description.stage1 import stage1_as_seen
from tests.describe.prompting import ANN, CAST, MARKS, NORA, Model, people
from tests.describe.talking import CLIP, ENGINE, asked1, asked2, line, look, plan, write

MEASURES = Model(wants_overlay=False, converses=False)


def key(presence: Presence, *how: str, engine: Model = ENGINE) -> str:
    return asked1(presence, *how, engine=engine).key


@pytest.mark.parametrize("engine", [ENGINE, MEASURES])
def test_key_knows_all_that_is_shown_of_people(engine: Model) -> None:
    seen = people("ann", "cy")
    moved = replace(seen.sightings[0], seconds=11.0)
    every = [
        people(),
        seen,
        people("ann cy"),
        replace(seen, marks={**MARKS, "ann": Mark("blue", "dashed")}),
        replace(seen, cast=(replace(ANN, called="Annie"), *CAST[1:])),
        replace(seen, sightings=(moved, *seen.sightings[1:])),
        replace(seen, sightings=seen.sightings[1:]),
    ]
    # Marks are nothing to an engine that measures.
    least = len(every) - (engine is MEASURES)
    assert len({key(presence, engine=engine) for presence in every}) >= least
    assert key(people("ann"), "overlay.characters=boxes") != key(people("ann"))
    assert key(people("ann", "cy"), "prompt.characters=clip") != key(people("ann", "cy"))


def test_frames_are_marked_for_a_model_where_the_faces_are() -> None:
    def seen_by(engine: Model, presence: Presence, *how: str) -> np.ndarray[Any, Any]:
        config = load_config(None, ("overlay.label=none", *how))
        return stage1_as_seen(CLIP, plan(presence), engine, config).images

    bare, marked = seen_by(ENGINE, people()), seen_by(ENGINE, people("ann", "cy"))
    differs = [bool((one != other).any()) for one, other in zip(bare, marked, strict=True)]
    assert differs == [True, False, True, False]
    assert bare.shape != CLIP.images.shape
    assert (seen_by(ENGINE, people("ann", "cy"), "prompt.characters=current")[0] == bare[0]).all()
    assert (seen_by(ENGINE, people("ann"), "overlay.characters=none") == bare).all()
    assert (seen_by(MEASURES, people("ann")) == CLIP.images).all()


GOOD = "Description:\n1. Main characters: Ann (red).\n2. Actions: Ann opens a gate."


def test_a_name_that_the_question_does_not_give_is_asked_again() -> None:
    wrong = GOOD.replace("Ann opens", "Ann looks at Boris Finch and opens")
    record = look(wrong, GOOD, presence=people("ann")).record
    assert record["steps"]["Actions"] == "Ann opens a gate."
    assert record["invented"] == []
    assert ['"Boris Finch"' in text for one in record["tries"] for text in one["complaints"]] == [True]


def test_the_note_of_the_user_tells_no_name_too_early() -> None:
    note = "prompt.note=Nora Falk hides from Ann."
    seen = people("ann nora")
    for asked in (asked1(seen, note), asked2(seen, "Ann opens a gate.", note)):
        text = " ".join(message.text for message in asked.request.messages)
        assert "the woman in red hides from Ann." in text
        assert "Nora" not in text


def test_marks_are_taken_out_of_what_a_model_says_and_descriptors_stay() -> None:
    story = GOOD.replace("a gate", "a red door")
    assert look(story, presence=people("ann")).record["steps"] == {
        "Main characters": "Ann.",
        "Actions": "Ann opens a red door.",
    }
    marks = {**MARKS, "nora": Mark("red")}
    said = "Description:\n1. Main characters: The woman in red (red).\n2. Actions: The woman in red sits."
    steps = look(said, presence=people("nora", marks=marks)).record["steps"]
    assert steps == {"Main characters": "The woman in red.", "Actions": "The woman in red sits."}


# Stage II


def test_a_name_that_is_not_told_yet_is_asked_away_and_never_said() -> None:
    told = line("The woman in red opens the gate.")
    talk = write(line("Nora opens the gate."), told, presence=people("nora"), text="Nora opens the gate.")
    assert "may not be named yet" in talk.asked[1].messages[-1].text
    assert (talk.lines[0], talk.record["complaints"]) == ("The woman in red opens the gate.", {})
    for repair, answers in (("all", 2), ("none", 1)):
        how = (f"stage2.repair={repair}", "prompt.note=Nora is a spy.")
        falls = [line("The gate falls on Nora Moe.")] * answers
        talk = write(*falls, how=how, presence=people("nora"), text="She sits.")
        assert talk.lines == ("The gate falls on the woman in red.",)
        assert "Nora Moe" in talk.record["raw"]
    rose = Presence((replace(NORA, hidden=("Rose",)),), ("nora",), (), MARKS)
    assert write(*[line("Rose sits.")] * 2, presence=rose, text="She sits.").lines == (
        "The woman in red sits.",
    )


# What a line is judged by

LEE = Presence(
    (Character("lee", "Mr. Lee", "Mr. John Lee", pronoun="he"),), ("lee",), (), {"lee": Mark("red")}
)
SITS = "Mr. Lee and a woman sit."


@pytest.mark.parametrize(("text", "presence", "described", "rules"), [
    ("Mr. Lee sits.", LEE, SITS, set()),
    ("Mr. Lee sits.", NOBODY, SITS, {"L13"}),
    ("Mr. Lee sits by Dr. Moe.", LEE, "Mr. Lee and Dr. Moe sit.", {"L13"}),
    ("Mr. Lee opens the old iron gate of the garden.", LEE, SITS, {"budget"}),
    ("The woman in red sits.", people("nora"), SITS, set()),
    ("The woman in red sits.", NOBODY, SITS, {"pronoun"}),
    ("The woman sits.", people("nora"), SITS, {"pronoun"}),
    ("Nora sits.", people("nora"), SITS, {"L7"}),
    ("Bo sits.", people("ann"), SITS, {"L7"}),
    ("Bo sits.", NOBODY, SITS, set()),
    ("Ann Lee sits.", people("ann"), "Ann sits.", {"L8"}),
    ("Rex follows her.", people("ann"), SITS, set()),
])  # fmt: skip
def test_names_are_judged_by_the_cast_and_what_the_cast_wants_is_no_fault(text, presence, described, rules):
    asked = replace(asked2(presence, described, "prompt.note=Rex is her dog."), description=described)
    assert {complaint.rule for complaint in asked.complaints(text)} == rules
