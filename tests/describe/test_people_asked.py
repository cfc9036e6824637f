"""People of a clip in what is asked, shown, kept and judged: prompts, names heard near it, keys, painted frames, records,
complaints."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Character,
    Description,
    Interval,
    Utterance,
    load_config,
)
from shotad.core.cast import (
    EMPTY_PRESENCE,
    FrameMark,
    Presence,
)
from shotad.core.config.words import PromptSettings
from shotad.description.prompts import stage1_messages, stage2_messages
from shotad.description.slotplan import NearbyName, as_called, nearby_names
from shotad.description.stage1 import clip_key, stage1_as_seen
from shotad.film import read_subtitles
from tests.describe.prompting import (
    ANN,
    CAST,
    CLIP,
    MARKS,
    NORA,
    SHARED,
    Model,
    bare,
    config_of,
    look,
    people,
    plan,
    plan_of,
    stage1,
    text_of,
    write,
)
from tests.describe.slot_run import complaints_about, last_slot, lines_json, run_slots, spoken_before

MEASURES = Model(wants_overlay=False, converses=False)


GOOD = "Description:\n1. Main characters: Ann (red).\n2. Actions: Ann opens a gate."


MODEL = Model()


class Film:
    """What a clip's key depends on beside its plan: the film and how it is read."""

    def __init__(self, *how: str) -> None:
        self.film_key, self.frames, self.config = ["film"], SimpleNamespace(key=[]), load_config(None, how)


def key(presence: Presence, *how: str, engine: Model = MODEL) -> str:
    """What stands for the clip and the question about it."""
    film: Any = Film(*how)
    asked = plan(presence)
    messages, _ = stage1_messages(asked, film.config)
    return f"{clip_key(asked, film, engine)} {messages}"


@pytest.mark.parametrize("engine", [MODEL, MEASURES])
def test_key_knows_all_that_is_shown_of_people(engine: Model) -> None:
    seen = people("ann", "cy")
    moved = replace(seen.sightings[0], seconds=11.0)
    every = [
        people(),
        seen,
        people("ann cy"),
        replace(seen, marks={**MARKS, "ann": FrameMark("blue", "dashed")}),
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

    bare_frames, marked = seen_by(MODEL, people()), seen_by(MODEL, people("ann", "cy"))
    differs = [bool((one != other).any()) for one, other in zip(bare_frames, marked, strict=True)]
    assert differs == [True, False, True, False]
    assert bare_frames.shape != CLIP.images.shape
    assert (seen_by(MODEL, people("ann", "cy"), "prompt.characters=current")[0] == bare_frames[0]).all()
    assert (seen_by(MODEL, people("ann"), "overlay.characters=none") == bare_frames).all()
    assert (seen_by(MEASURES, people("ann")) == CLIP.images).all()
    # Where nothing is painted, shots are told in words.
    assert (seen_by(MODEL, people(), "overlay.label=text") == bare_frames).all()
    told = look(GOOD, how=("overlay.label=text",), presence=people()).asked[0].messages[0].text
    assert "Shot 0 is frames 1 to 2; Shot 1 is frames 3 to 4" in told
    assert look(GOOD, how=("overlay.label=text",)).record["overlay"] == "text"


def test_a_name_that_the_question_does_not_give_is_asked_again() -> None:
    wrong = GOOD.replace("Ann opens", "Ann looks at Boris Finch and opens")
    record = look(wrong, GOOD, presence=people("ann")).record
    assert record["steps"]["Actions"] == "Ann opens a gate."
    assert record["invented"] == []
    assert ['"Boris Finch"' in text for one in record["tries"] for text in one["complaints"]] == [True]


def test_the_note_of_the_user_tells_no_name_too_early() -> None:
    note = "prompt.note=Nora Falk hides from Ann."
    seen = people("ann nora")
    talks = look(GOOD, how=(note,), presence=seen), write(lines_json("She runs."), how=(note,), presence=seen)
    for talk in talks:
        text = " ".join(message.text for message in talk.asked[0].messages)
        assert "The woman in red hides from Ann." in text
        assert "Nora" not in text


def test_marks_are_taken_out_of_what_a_model_says_and_descriptors_stay() -> None:
    story = GOOD.replace("a gate", "a red door")
    steps = look(story, presence=people("ann")).record["steps"]
    assert steps == {"Main characters": "Ann.", "Actions": "Ann opens a red door."}
    marks = {**MARKS, "nora": FrameMark("red")}
    said = "Description:\n1. Main characters: The woman in red (red).\n2. Actions: The woman in red sits."
    steps = look(said, presence=people("nora", marks=marks)).record["steps"]
    assert steps == {"Main characters": "The woman in red.", "Actions": "The woman in red sits."}


# Stage II


def test_a_name_that_is_not_told_yet_is_asked_away_and_never_said() -> None:
    told = lines_json("The woman in red opens the gate.")
    talk = write(
        lines_json("Nora opens the gate."), told, presence=people("nora"), text="Nora opens the gate."
    )
    assert "may not be named yet" in talk.asked[1].messages[-1].text
    assert (talk.lines[0], talk.record["complaints"]) == ("The woman in red opens the gate.", {})
    for repair, answers in (("all", 2), ("none", 1)):
        how = (f"stage2.repair={repair}", "prompt.note=Nora is a spy.")
        falls = [lines_json("The gate falls on Nora Moe.")] * answers
        talk = write(*falls, how=how, presence=people("nora"), text="She sits.")
        assert talk.lines == ("The gate falls on the woman in red.",)
        assert "Nora Moe" in talk.record["raw"]
    rose = Presence((replace(NORA, hidden=("Rose",)),), ("nora",), (), MARKS)
    talk = write(*[lines_json("Rose sits.")] * 2, presence=rose, text="She sits.")
    assert talk.lines == ("The woman in red sits.",)


# What a line is judged by

LEE = Presence(
    (Character("lee", "Mr. Lee", "Mr. John Lee", pronoun="he"),), ("lee",), (), {"lee": FrameMark("red")}
)
SITS = "Mr. Lee and a woman sit."


@pytest.mark.parametrize(("line", "presence", "described", "complaint"), [
    ("Mr. Lee sits.", LEE, SITS, ""),
    ("Mr. Lee sits.", EMPTY_PRESENCE, SITS, "without a title"),
    ("Mr. Lee sits by Dr. Moe.", LEE, "Mr. Lee and Dr. Moe sit.", "without a title"),
    ("Mr. Lee opens the old iron gate of the garden.", LEE, SITS, "It has 10 words; at most 9 may be used."),
    ("The woman in red sits.", people("nora"), SITS, ""),
    ("The woman sits.", people("nora"), SITS, 'Write "she" instead of "The woman"'),
    ("Nora sits.", people("nora"), SITS, "may not be named yet"),
    ("Bo sits.", people("ann"), SITS, 'does not say that "Bo" is there'),
    ("Ann Lee sits.", people("ann"), "Ann sits.", ""),
    ("Rex follows her.", people("ann"), SITS, ""),
])  # fmt: skip
def test_names_are_judged_by_the_cast_and_what_the_cast_wants_is_no_fault(
    line, presence, described, complaint
):
    asked_again = complaints_about(line, described, presence, how=("prompt.note=Rex is her dog.",))
    assert complaint in asked_again
    assert bool(complaint) == bool(asked_again)


# In prompts, and names that were heard


def names_in_prompt(*lines: str, presence: Presence = EMPTY_PRESENCE) -> str:
    """The names of which Stage II is told that they are in use, after these lines."""
    how = ("story.on=true", "stage2.repair=none", "stage1.attempts=1")
    run = run_slots(*spoken_before(*lines), last_slot("She runs.", presence=presence), how=how)
    names = re.search(r"^Names in use: (.*?)\. Use one", bare(run.writes.questions()[-1]), re.MULTILINE)
    return names[1] if names else ""


HEARD = (NearbyName("Annie", "spoken", 9.0), NearbyName("Max", "spoken", 9.5), NearbyName("Bo", "speaker", 10.0),
         NearbyName("Nora", "speaker", 12.0))  # fmt: skip


@pytest.mark.parametrize(("mark", "listed", "words"), [
    (FrameMark("red"), "Ann (red)", ()),
    (FrameMark("red", "double"), "Ann (double red)", ("two lines",)),
    (FrameMark("red", "dashed", "22"), "Ann (dashed red, tagged 22)", ("has gaps", "number beside the circle")),
])  # fmt: skip
def test_marks_that_need_a_word_get_one(mark: FrameMark, listed: str, words: tuple[str, ...]) -> None:
    for order in ("apart", "clip"):
        prompt = text_of(stage1(presence=people("ann", marks={"ann": mark}), characters=order))
        step = prompt.split("\n1. ")[1].split("\n")[0]
        assert listed in step
        told = [word for word in ("has gaps", "two lines", "number beside the circle") if word in step]
        assert told == list(words)


# Names that were heard


def test_names_near_the_clip_are_hints_that_give_nothing_away() -> None:
    text = text_of(stage1(heard=HEARD))
    assert "\n- somebody says: Annie, Max\n- by the subtitles, these speak: Bo, Nora\n" in text
    assert text.index("Max") < text.index("Tell briefly")
    text = text_of(stage1(heard=HEARD, presence=people("ann")))
    assert "somebody says: Ann, Max\n" in text
    assert "these speak: Bo\n" in text
    assert "Nora" not in text
    # Nor does a hint that is a word as well.
    rose = Presence((replace(NORA, hidden=("Rose", "Rose Moe")),))
    assert stage1(heard=(NearbyName("Rose", "spoken", 9.0),), presence=rose) == stage1()
    assert names_in_prompt("He sees Rose.", presence=rose) == ""


# Stage II

STEPS = {"Main characters": "Ann Lee and Nora.", "Actions": "Annie hands Nora a cup. Nora Moe drinks."}
SEEN = Description("s00010000", STEPS, "", "", "vlm")


def stage2_asked(presence: Presence, **how: object) -> str:
    settings = PromptSettings.model_validate({"example_count": 0, **how})
    called = as_called(SEEN, presence, settings)
    return bare(stage2_messages(called, plan_of("pc", presence=presence), config_of(settings))[1].text)


def test_stage_2_is_told_what_to_call_whom_or_only_what_may_not_be_said_goes() -> None:
    text = stage2_asked(people("ann nora"))
    head = "\n\nWhat the people of this clip are called:\n"
    assert f"{head}- Ann (she)\n- the woman in red (she), not named yet\n" in text
    assert "Invent no names." in text
    assert text.index("Invent no names") < text.index("\n\nDescription:\n")
    assert "Ann and the woman in red." in text
    assert "Ann hands the woman in red a cup. The woman in red drinks." in text
    for name in ("Nora", "Annie", "Lee", "Moe"):
        assert name not in text
    text = stage2_asked(people("ann nora"), rules="paper")
    assert "What the people" not in text
    assert "Ann Lee and the woman in red." in text
    assert "Annie hands the woman in red a cup. The woman in red drinks." in text


def test_a_name_that_may_not_be_said_is_gone_without_a_descriptor_too() -> None:
    for pronoun, said in (("she", "The woman"), ("he", "The man"), ("", "Somebody")):
        hidden = Presence((replace(NORA, called="", full="", pronoun=pronoun),))
        called = as_called(replace(SEEN, steps={"Actions": "Nora sits."}), hidden, PromptSettings())
        assert called.steps["Actions"] == f"{said} sits."


def test_names_of_the_clip_come_first_and_hidden_ones_not_at_all() -> None:
    lines = ["He looks at Max.", "Here comes Nora.", "She sees Bo Ek."]
    assert names_in_prompt(*lines, presence=people("ann nora")) == "Ann, Bo, Max"
    assert names_in_prompt(*lines) == "Bo Ek, Nora, Max"


FAMILY = (
    Character("celia", "Celia", "Celia Smith", ("Sis",)),
    Character("thom", "Thom", "Thom Lee"),
    Character("bo", "the man in grey", "the man in grey", (), ("Bo",), named=False),
)
NEAR = Interval(100, 110)


def said_at(start: float, text: str, speaker: str = "") -> Utterance:
    return Utterance(Interval(start, start + 2), text, speaker=speaker)


@pytest.mark.parametrize(("speech", "names"), [
    ((said_at(85, "Thom!"), said_at(95, "Where is Thom?"), said_at(104, "Sis, wait!"), said_at(106, "Celia!")),
     (NearbyName("Celia", "spoken", 104.0), NearbyName("Thom", "spoken", 95.0))),
    ((said_at(102, "Go!", "Celia Smith"), said_at(106, "Thom!", "Thom and Boris")),
     (NearbyName("Thom", "speaker", 106.0), NearbyName("Celia", "speaker", 102.0))),
    ((said_at(104, "Bo! Bo!", "Bo"),), ()),
], ids=["each once", "who speaks", "who may not be named yet"])  # fmt: skip
def test_the_nearest_go_first(speech, names) -> None:
    assert nearby_names(speech, NEAR, FAMILY) == names


def test_without_a_cast_labels_and_who_is_called() -> None:
    speech = [
        said_at(10, "Ann! Come here."),
        said_at(14, "What do you want of me, Ann?"),
        said_at(101, "Ann! The door is open."),
        said_at(103, "Hello! Stop! We have to go now. Hello!", "Cy"),
        said_at(106, "I saw Bo there, and he looked at Mrs. Lee."),
    ]
    assert {(h.name, h.how) for h in nearby_names(speech, NEAR, ())} == {
        ("Ann", "spoken"), ("Cy", "speaker"), ("Bo", "spoken"), ("Mrs. Lee", "spoken"),
    }  # fmt: skip


@pytest.mark.skipif(not SHARED.exists(), reason="the supplied captions are not beside the repository")
def test_supplied_captions() -> None:
    speech = read_subtitles(SHARED / "ad-text" / "elephants-dream" / "captions.en.vtt").utterances
    names = {h.name for at in range(0, 600, 10) for h in nearby_names(speech, Interval(at, at + 10), ())}
    assert names == {"Emo", "Proog"}
