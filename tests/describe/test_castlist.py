"""People in the prompts: whom each stage is told of, how, and that nobody leaves no trace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shotad.core import NOBODY, Description, Mark, Presence, PromptSettings
from shotad.description.castlist import Marks, as_called, enumerated
from shotad.description.prompts import stage2_messages
from shotad.description.slotplan import Heard
from shotad.description.story import names_in_use
from shotad.description.verify import verify_messages
from tests.describe.prompting import ANN, NORA, bare, people, stage1, text_of

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


def test_people_are_told_of_as_it_is_set() -> None:
    step = first_step(people("ann nora", "cy"))
    assert "In [Shot 1, Shot 2] these may appear: Ann (red), the woman in red (yellow)." in step
    assert step.index("yellow") < step.index("The other shots may also show: Cy (blue).")
    assert "Nora" not in step
    others = first_step(people("", "cy"))
    assert "nobody was recognised; in the other shots these may appear: Cy (blue)." in others
    step = first_step(people("bo", "ann"), characters="clip")
    assert step.endswith("it tells who that is (these may appear: Bo (green), Ann (red)).")
    assert "Cy" not in first_step(people("ann", "cy"), characters="current")
    assert stage1(presence=people("", "cy"), characters="current") == stage1(presence=people())


@pytest.mark.parametrize("order", ["apart", "clip", "current"])
@pytest.mark.parametrize("rules", ["ours", "paper"])
def test_a_cast_of_which_nobody_is_seen_changes_nothing(order: str, rules: str) -> None:
    how = {"characters": order, "rules": rules}
    assert stage1(presence=people(), **how) == stage1(presence=NOBODY, **how)


@pytest.mark.parametrize("order", ["apart", "clip"])
def test_marks_are_called_what_they_are(order: str) -> None:
    for marks, one in (("ellipses", "circle"), ("boxes", "box")):
        text = text_of(stage1(presence=people("ann"), marks=marks))
        assert f"where a coloured {one} is drawn around a face" in text
        assert f"who has its {one}" in text
        assert ("circle" in text) == (one == "circle")
    text = text_of(stage1(presence=people("ann bo", "cy"), marks="none", characters=order, rules="paper"))
    for word in ("circle", "red", "green", "blue", "coloured"):
        assert word not in text
    assert "these may appear: Ann Lee, Bo" in text


@pytest.mark.parametrize(
    ("mark", "listed", "words"),
    [
        (Mark("red"), "Ann (red)", ()),
        (Mark("red", "dashed"), "Ann (dashed red)", ("has gaps",)),
        (Mark("red", "double"), "Ann (double red)", ("two lines",)),
        (
            Mark("red", "dashed", "22"),
            "Ann (dashed red, tagged 22)",
            ("has gaps", "number beside the circle"),
        ),
    ],
)
@pytest.mark.parametrize("order", ["apart", "clip"])
def test_marks_that_need_a_word_get_one(mark: Mark, listed: str, words: tuple[str, ...], order: str) -> None:
    step = first_step(people("ann", marks={"ann": mark}), characters=order)
    assert listed in step
    told = [word for word in ("has gaps", "two lines", "number beside the circle") if word in step]
    assert told == list(words)


def test_names_with_commas_do_not_run_together() -> None:
    assert enumerated(["Ann (red, tagged 2)", "Bo"]) == "Ann (red, tagged 2), Bo"
    assert (
        enumerated(["the man in hat, scarf and coat (red)", "Bo"])
        == "the man in hat, scarf and coat (red); Bo"
    )


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
    return bare(stage2_messages(called, 9, settings, seed=1, presence=presence).messages[1].text)


def test_stage_2_is_told_what_to_call_whom() -> None:
    text = asked(people("ann nora"))
    assert (
        "\n\nWhat the people of this clip are called:\n- Ann (she)\n- the woman in red (she), not named yet\n"
        in text
    )
    assert "Invent no names." in text
    assert text.index("Invent no names") < text.index("\n\nDescription:\n")
    assert "Ann and the woman in red." in text
    assert "Ann hands the woman in red a cup. The woman in red drinks." in text
    for name in ("Nora", "Annie", "Lee", "Moe"):
        assert name not in text


def test_who_is_not_in_the_description_is_told_of_where_they_may_not_be_named() -> None:
    plain = replace(SEEN, steps={"Actions": "She opens a gate."})
    assert asked(people("ann bo"), plain) == asked(NOBODY, plain)
    assert "- the woman in red (she)" in asked(people("nora"), plain)
    unknown = Presence((replace(ANN, pronoun=""),), ("ann",), (), {"ann": Mark("red")})
    assert "\n- Ann\n" in asked(unknown)


def test_without_names_for_stage_2_only_what_may_not_be_said_goes() -> None:
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


def look(presence: Presence, marks: Marks = "ellipses", **how: object) -> str:
    settings = PromptSettings.model_validate(how)
    return bare(verify_messages(["Ann sits."], [1], settings, presence=presence, marks=marks)[0][1].text)


def test_second_look_is_told_whose_the_marks_are() -> None:
    text = look(people("ann nora", "cy"), rules="paper")
    who = "Ann (red), the woman in red (yellow), Cy (blue)"
    assert f"onwards. A coloured circle around a face tells who that is: {who}.\n" in text
    assert "A coloured box around" in look(people("ann"), "boxes")
    assert "Cy" not in look(people("ann", "cy"), characters="current")
    assert look(people("ann"), "none") == look(people()) == look(NOBODY)
