"""People in the prompts: whom each stage is told of, how, that nobody leaves no trace; and names heard near a clip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Character, Description, Interval, Mark, Presence, PromptSettings, Utterance
from shotad.description.prompts import stage2_messages
from shotad.description.slotplan import Heard, as_called, heard_names
from shotad.description.story import names_in_use
from shotad.film import read_subtitles
from tests.describe.prompting import NORA, bare, config_of, people, plan_of, stage1, text_of

HEARD = (
    Heard("Annie", "spoken", 9.0),
    Heard("Max", "spoken", 9.5),
    Heard("Bo", "speaker", 10.0),
    Heard("Nora", "speaker", 12.0),
)


def first_step(presence: Presence, **how: object) -> str:
    """The instruction of Stage I's first step."""
    return text_of(stage1(presence=presence, **how)).split("\n1. ")[1].split("\n")[0]


# Stage I


@pytest.mark.parametrize(("mark", "listed", "words"), [
    (Mark("red"), "Ann (red)", ()),
    (Mark("red", "dashed"), "Ann (dashed red)", ("has gaps",)),
    (Mark("red", "double"), "Ann (double red)", ("two lines",)),
    (Mark("red", "dashed", "22"), "Ann (dashed red, tagged 22)", ("has gaps", "number beside the circle")),
])  # fmt: skip
@pytest.mark.parametrize("order", ["apart", "clip"])
def test_marks_that_need_a_word_get_one(mark: Mark, listed: str, words: tuple[str, ...], order: str) -> None:
    step = first_step(people("ann", marks={"ann": mark}), characters=order)
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


def test_a_hint_that_is_a_word_as_well_gives_nothing_away() -> None:
    rose = Presence((replace(NORA, hidden=("Rose", "Rose Moe")),))
    assert stage1(heard=(Heard("Rose", "spoken", 9.0),), presence=rose) == stage1()
    assert names_in_use(["He sees Rose."], "", rose) == ()


# Stage II

SEEN = Description(
    "s00010000",
    {"Main characters": "Ann Lee and Nora.", "Actions": "Annie hands Nora a cup. Nora Moe drinks."},
    "",
    "",
    "vlm",
)


def asked(presence: Presence, description: Description = SEEN, **how: object) -> str:
    settings = PromptSettings.model_validate({"example_count": 0, **how})
    called = as_called(description, presence, settings)
    return bare(stage2_messages(called, plan_of("pc", presence=presence), config_of(settings))[1].text)


def test_stage_2_is_told_what_to_call_whom_or_only_what_may_not_be_said_goes() -> None:
    text = asked(people("ann nora"))
    head = "\n\nWhat the people of this clip are called:\n"
    assert f"{head}- Ann (she)\n- the woman in red (she), not named yet\n" in text
    assert "Invent no names." in text
    assert text.index("Invent no names") < text.index("\n\nDescription:\n")
    assert "Ann and the woman in red." in text
    assert "Ann hands the woman in red a cup. The woman in red drinks." in text
    for name in ("Nora", "Annie", "Lee", "Moe"):
        assert name not in text
    text = asked(people("ann nora"), rules="paper")
    assert "What the people" not in text
    assert "Ann Lee and the woman in red." in text
    assert "Annie hands the woman in red a cup. The woman in red drinks." in text


@pytest.mark.parametrize(
    ("pronoun", "said"), [("she", "The woman"), ("he", "The man"), ("they", "Somebody"), ("", "Somebody")]
)
def test_a_name_that_may_not_be_said_is_gone_without_a_descriptor_too(pronoun: str, said: str) -> None:
    hidden = replace(NORA, called="", full="", pronoun=pronoun)
    called = as_called(replace(SEEN, steps={"Actions": "Nora sits."}), Presence((hidden,)), PromptSettings())
    assert called.steps["Actions"] == f"{said} sits."


# The story, and the second look


def test_names_of_the_clip_come_first_and_hidden_ones_not_at_all() -> None:
    lines = ["He looks at Max.", "Here comes Nora.", "She sees Bo Ek."]
    assert names_in_use(lines, "", people("ann nora")) == ("Ann", "Bo", "Max")
    assert names_in_use(lines, "") == ("Bo Ek", "Nora", "Max")


SHARED = Path(__file__).parents[3] / "shared" / "data"
CAST = (
    Character("celia", "Celia", "Celia Smith", ("Sis",)),
    Character("thom", "Thom", "Thom Lee"),
    Character("bo", "the man in grey", "the man in grey", (), ("Bo",), named=False),
)
CLIP = Interval(100, 110)


def said_at(start: float, text: str, speaker: str = "") -> Utterance:
    return Utterance(Interval(start, start + 2), text, speaker=speaker)


@pytest.mark.parametrize(("speech", "names"), [
    ((said_at(85, "Thom!"), said_at(95, "Where is Thom?"), said_at(104, "Sis, wait!"), said_at(106, "Celia!")),
     (Heard("Celia", "spoken", 104.0), Heard("Thom", "spoken", 95.0))),
    ((said_at(102, "Go!", "Celia Smith"), said_at(106, "Thom!", "Thom and Boris")),
     (Heard("Thom", "speaker", 106.0), Heard("Celia", "speaker", 102.0))),
    ((said_at(104, "Bo! Bo!", "Bo"),), ()),
], ids=["each once", "who speaks", "who may not be named yet"])  # fmt: skip
def test_the_nearest_go_first(speech, names) -> None:
    assert heard_names(speech, CLIP, CAST) == names


def test_without_a_cast_labels_and_who_is_called() -> None:
    speech = [
        said_at(10, "Ann! Come here."),
        said_at(14, "What do you want of me, Ann?"),
        said_at(101, "Ann! The door is open."),
        said_at(103, "Hello! Stop! We have to go now. Hello!", "Cy"),
        said_at(106, "I saw Bo there, and he looked at Mrs. Lee."),
    ]
    assert {(h.name, h.how) for h in heard_names(speech, CLIP, ())} == {
        ("Ann", "spoken"), ("Cy", "speaker"), ("Bo", "spoken"), ("Mrs. Lee", "spoken"),
    }  # fmt: skip


@pytest.mark.skipif(not SHARED.exists(), reason="the supplied captions are not beside the repository")
def test_supplied_captions() -> None:
    speech = read_subtitles(SHARED / "ad-text" / "elephants-dream" / "captions.en.vtt")
    names = {h.name for at in range(0, 600, 10) for h in heard_names(speech, Interval(at, at + 10), ())}
    assert names == {"Emo", "Proog"}
