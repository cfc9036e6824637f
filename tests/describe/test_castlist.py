"""People in the prompts: whom each stage is told of, how, and that nobody leaves no trace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shotad.core import NOBODY, Description, Grammar, Interval, Mark, Presence, PromptSettings, Slot
from shotad.description.castlist import Marks, as_called, enumerated, told_of
from shotad.description.prompts import stage1_messages, stage2_messages
from shotad.description.slotplan import Heard
from shotad.description.story import names_in_use, story_text
from shotad.description.verify import verify_messages
from tests.describe.prompting import ANN, NORA, bare, people, plans, stage1, stage2_text, text_of

HEARD = (
    Heard("Annie", "spoken", 9.0),
    Heard("Max", "spoken", 9.5),
    Heard("Bo", "speaker", 10.0),
    Heard("Nora", "speaker", 12.0),
)
MARKED = ("ellipses", "boxes")


def first_step(presence: Presence, **how: object) -> str:
    """The instruction of Stage I's first step."""
    return text_of(stage1(presence=presence, **how)).split("\n1. ")[1].split("\n")[0]


# Stage I


def test_those_of_the_current_shots_come_first_and_the_others_after() -> None:
    step = first_step(people("ann nora", "cy"))
    assert "In [Shot 1, Shot 2] these may appear: Ann (red), the woman in red (yellow)." in step
    assert step.index("yellow") < step.index("The other shots may also show: Cy (blue).")
    assert "Nora" not in step


def test_words_fit_where_one_of_the_groups_is_empty() -> None:
    here = first_step(people("ann"))
    assert "In [Shot 1, Shot 2] these may appear: Ann (red)." in here
    assert "other shots" not in here
    there = first_step(people("", "cy"))
    assert (
        "In [Shot 1, Shot 2] nobody was recognised; in the other shots these may appear: Cy (blue)." in there
    )


def test_all_stand_in_one_list_as_published() -> None:
    step = first_step(people("bo", "ann"), characters="clip")
    assert step.endswith("it tells who that is (these may appear: Bo (green), Ann (red)).")


def test_those_of_the_current_shots_alone() -> None:
    assert "Cy" not in first_step(people("ann", "cy"), characters="current")
    alone = stage1(presence=people("", "cy"), characters="current")
    assert alone == stage1(presence=people())


def test_nobody_of_whom_stage_1_is_not_told_has_a_mark() -> None:
    presence = people("ann", "cy")
    told = told_of(presence, PromptSettings(characters="current"))
    assert [sighting.name for sighting in told.sightings] == ["ann"]
    assert told.seen == (ANN,)
    assert told_of(presence, PromptSettings()) is presence


@pytest.mark.parametrize("order", ["apart", "clip", "current"])
@pytest.mark.parametrize("rules", ["ours", "paper"])
def test_a_cast_of_which_nobody_is_seen_changes_nothing(order: str, rules: str) -> None:
    how = {"characters": order, "rules": rules}
    assert stage1(presence=people(), **how) == stage1(presence=NOBODY, **how)


def test_names_in_full_are_a_rule_of_the_paper() -> None:
    assert "Ann Lee (red), the woman in red (yellow)" in first_step(people("ann nora"), rules="paper")


@pytest.mark.parametrize(
    ("marks", "one", "many"), [("ellipses", "circle", "circles"), ("boxes", "box", "boxes")]
)
def test_marks_are_called_what_they_are(marks: Marks, one: str, many: str) -> None:
    text = text_of(stage1(presence=people("ann"), marks=marks))
    assert f"where a coloured {one} is drawn around a face" in text
    assert f"who has its {one}" in text
    assert f"The coloured {many} serve only" in text
    assert ("circle" in text) == (one == "circle")


@pytest.mark.parametrize("order", ["apart", "clip"])
def test_without_marks_people_are_told_of_without_colours(order: str) -> None:
    text = text_of(stage1(presence=people("ann bo", "cy"), marks="none", characters=order, rules="paper"))
    for word in ("circle", "red", "green", "blue", "coloured"):
        assert word not in text
    assert "these may appear: Ann Lee, Bo" in text


@pytest.mark.parametrize(
    ("mark", "listed", "words"),
    [
        (Mark("red"), "Ann (red)", ()),
        (Mark("red", "dashed"), "Ann (dashed red)", ("dashed circle has gaps",)),
        (Mark("red", "double"), "Ann (double red)", ("double circle has two lines",)),
        (Mark("red", tag="22"), "Ann (red, tagged 22)", ("number beside the circle",)),
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
    for word in ("has gaps", "two lines", "number beside the circle"):
        assert (word in step) == any(word in expected for expected in words)


def test_a_mark_of_somebody_who_is_not_told_of_is_not_explained() -> None:
    marks = {"ann": Mark("red"), "cy": Mark("red", "dashed")}
    assert "gaps" not in first_step(people("ann", "cy", marks), characters="current")


def test_names_with_commas_do_not_run_together() -> None:
    assert enumerated(["Ann (red, tagged 2)", "Bo"]) == "Ann (red, tagged 2), Bo"
    assert (
        enumerated(["the man in hat, scarf and coat (red)", "Bo"])
        == "the man in hat, scarf and coat (red); Bo"
    )


@pytest.mark.parametrize("order", ["apart", "clip", "current"])
@pytest.mark.parametrize("marks", [*MARKED, "none"])
def test_step_is_one_line_of_whole_sentences(order: str, marks: str) -> None:
    every = {"ann": Mark("red", "dashed"), "bo": Mark("blue", "double"), "cy": Mark("red", tag="9")}
    step = first_step(people("ann bo", "cy", every), characters=order, marks=marks)
    assert step.endswith(".")
    for bad in ("..", " .", "  ", "$", "..."):
        assert bad not in step


# Names that were heard


def test_names_near_the_clip_are_hints_by_how_they_were_heard() -> None:
    text = text_of(stage1(heard=HEARD))
    assert "\n- somebody says: Annie, Max\n- by the subtitles, these speak: Bo, Nora\n" in text
    assert text.index("Max") < text.index("Tell briefly")


def test_hints_stand_as_the_cast_is_called_and_give_nothing_away() -> None:
    text = text_of(stage1(heard=HEARD, presence=people("ann")))
    assert "somebody says: Ann, Max\n" in text
    assert "these speak: Bo\n" in text
    assert "Nora" not in text


def test_a_hint_that_gives_a_name_away_leaves_no_trace() -> None:
    only = (Heard("Nora", "spoken", 9.0),)
    assert stage1(heard=only, presence=people()) == stage1()


def test_a_hint_that_is_a_word_as_well_gives_nothing_away() -> None:
    rose = Presence((replace(NORA, hidden=("Rose", "Rose Moe")),))
    assert stage1(heard=(Heard("Rose", "spoken", 9.0),), presence=rose) == stage1()
    assert names_in_use(["He sees Rose."], "", rose) == ()


def test_without_hints_there_is_no_trace_of_them() -> None:
    assert stage1(heard=()) == stage1()
    assert stage1(rules="paper") == stage1(heard=HEARD, rules="paper")
    twice = stage1(heard=(*HEARD, *HEARD))
    assert twice == stage1(heard=HEARD)


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


def test_who_is_not_in_the_description_is_not_told_of() -> None:
    assert "- Bo" not in asked(people("ann bo nora"))
    plain = replace(SEEN, steps={"Actions": "A man opens a gate."})
    assert asked(people("ann bo"), plain) == asked(NOBODY, plain)


def test_who_may_not_be_named_is_told_of_in_any_case() -> None:
    assert "- the woman in red (she)" in asked(people("nora"), replace(SEEN, steps={"Actions": "She sits."}))


def test_nobody_on_the_frames_leaves_no_trace() -> None:
    plain = replace(SEEN, steps={"Actions": "A man opens a gate."})
    assert asked(people(), plain) == asked(NOBODY, plain)
    assert stage2_text(presence=people()) == stage2_text()


def test_pronouns_that_are_not_known_are_not_told() -> None:
    cast = (replace(ANN, pronoun=""),)
    presence = Presence(cast, ("ann",), (), {"ann": Mark("red")})
    assert "\n- Ann\n" in asked(presence)


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


def test_without_a_cast_the_description_is_the_same() -> None:
    assert as_called(SEEN, NOBODY, PromptSettings()) is SEEN


# The story, and the second look


def test_names_of_the_clip_come_first_and_hidden_ones_not_at_all() -> None:
    lines = ["He looks at Max.", "Here comes Nora.", "She sees Bo Ek."]
    assert names_in_use(lines, "", people("ann nora")) == ("Ann", "Bo", "Max")
    assert names_in_use(lines, "") == ("Bo Ek", "Nora", "Max")
    slot = Slot("s00010000", Interval(10, 14), 9)
    told = bare(story_text((), slot, (), names_in_use([], "", people("ann")), ""))
    assert "Names in use: Ann." in told


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


def test_every_cast_prompt_is_filled_in() -> None:
    for presence in (people("ann bo cy nora"), people("ann", "bo nora"), people("", "bo")):
        prompt = stage1_messages(plans(), Grammar(), PromptSettings(), presence=presence, heard=HEARD)
        assert "$" not in prompt.messages[0].text + asked(presence) + look(presence)
