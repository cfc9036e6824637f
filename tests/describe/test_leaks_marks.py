"""Marks in descriptions, dashed, double and tagged ones too: what goes, what stays, what is asked again."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Description, Mark
from shotad.description.leaks import clean
from shotad.description.leakwords import HOLD, mark_words, parted
from shotad.film import marks_for

SHARED = Path(__file__).parents[3] / "shared" / "data"
MARKS = tuple(marks_for([str(number) for number in range(25)]).values())
NAMES = ("Thom", "Celia", "Barley", "Ann White")


def cleaned(
    text: str, marks: tuple[Mark, ...] = MARKS, names: tuple[str, ...] = NAMES, *, boxes: bool = False
) -> tuple[str, tuple[str, ...]]:
    asked = Description("s1", {"Actions": text}, "", "raw", "vlm")
    found, remains = clean(asked, shots=(0, 1), marks=marks, names=names, boxes=boxes)
    return found.steps["Actions"], remains


TAKEN_OUT = (
    ("Thom (red) runs.", "Thom runs."),
    ("Thom (dashed red) runs to Celia (double blue).", "Thom runs to Celia."),
    ("Thom (red dashed) and Celia (blue, double) wave.", "Thom and Celia wave."),
    ("Thom (red, dashed ellipse) waves.", "Thom waves."),
    ("Thom (red, tagged 22) kneels beside Celia (green, 23).", "Thom kneels beside Celia."),
    ("Thom (23) sits down.", "Thom sits down."),
    ("Thom in the dashed red circle opens the door.", "Thom opens the door."),
    ("Thom, in the red dashed ellipse, opens the door.", "Thom opens the door."),
    ("The character circled in double green picks up a gun.", "The character picks up a gun."),
    ("The man with a double-lined blue ellipse around his face nods.", "The man nods."),
    ("The woman in the dotted magenta ellipse laughs.", "The woman laughs."),
    ("The woman in the dashed circle laughs.", "The woman laughs."),
    ("The person in the purple outline smiles.", "The person smiles."),
    ("Thom is circled in dashed red and kneels.", "Thom kneels."),
    ("Thom is marked by the double cyan ellipse.", "Thom is there."),
    ("Thom, identified by the dashed red ellipse around his face, runs.", "Thom runs."),
    ("Celia, whose face is circled in double white, cries.", "Celia cries."),
    ("Thom, marked with a red ellipse and the tag 22, sits down.", "Thom sits down."),
    ('Celia, labelled "23", runs.', "Celia runs."),
    ('The man in the "red" circle runs.', "The man runs."),
    ("The man with tag 23 nods to Thom (tag 22).", "The man nods to Thom."),
    ("The dashed red ellipse marks Thom. He runs.", "He runs."),
    ('The tag "23" marks Celia. She runs.', "She runs."),
    ("In the dashed red ellipse, Thom runs.", "Thom runs."),
    ("Thom: dashed red ellipse", "Thom."),
    ("A woman in a red dress (circled in green) dances.", "A woman in a red dress dances."),
    (
        "The main characters are Thom (red), Celia (dashed green) and Barley (double turquoise ellipse).",
        "The main characters are Thom, Celia and Barley.",
    ),
)


@pytest.mark.parametrize(("text", "expected"), TAKEN_OUT)
def test_marks_are_taken_out_and_the_sentence_stays_whole(text: str, expected: str) -> None:
    assert cleaned(text) == (expected, ())


@pytest.mark.parametrize(("text", "expected"), TAKEN_OUT)
def test_a_clean_text_is_clean(text: str, expected: str) -> None:
    assert cleaned(expected) == (expected, ())


@pytest.mark.parametrize("mark", MARKS, ids=str)
@pytest.mark.parametrize(
    ("text", "expected"), [("Thom ({mark}) nods.", "Thom nods."), ("Thom [{mark}] nods.", "Thom nods.")]
)
def test_every_mark_goes_as_the_prompt_writes_it(mark: Mark, text: str, expected: str) -> None:
    assert cleaned(text.format(mark=mark), (mark,)) == (expected, ())


@pytest.mark.parametrize("mark", [mark for mark in MARKS if not mark.tag], ids=str)
def test_every_colour_and_style_goes_with_its_ellipse(mark: Mark) -> None:
    assert cleaned(f"The man in the {mark} ellipse nods.", (mark,)) == ("The man nods.", ())
    assert cleaned(f"Thom, circled in {mark}, nods.", (mark,)) == ("Thom nods.", ())


@pytest.mark.parametrize(
    "text",
    [
        "A woman in a red dress waits.",
        "The white house burns.",
        "Thom in red bows.",
        "A white figure stands in the fog.",
        "The figure in white turns.",
        "Thom looks at the white one.",
        "A dashed white line runs along the road.",
        "The road is marked with a double yellow line.",
        "Double white doors swing open.",
        "A double red brick house stands in the snow.",
        "A broken blue ring lies on the sand.",
        "He orders a double whiskey.",
        "He paints a double red circle on the wall.",
        "A man with a white ring on his finger waves.",
        "A man with white markings on his face dances.",
        "A man with a red circle tattoo waves.",
        "A woman with a red halo of hair sings.",
        "A man in a green outline of light appears.",
        "She hides him in the red box.",
        "Thom wears the number 23 on his jersey.",
        "The man with the number 23 on his back runs.",
        "The door numbered 23 opens.",
        "A price tag hangs from it.",
        "Ann White laughs.",
    ],
)
def test_colours_and_numbers_of_the_story_stay(text: str) -> None:
    assert cleaned(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Double red looks at Celia.", "Double red"),
        ("The dashed red character runs.", "The dashed red character"),
        ("Tag 23 sits down.", "Tag 23"),
        ("The line of the dashed ellipse has gaps.", "the dashed ellipse"),
    ],
)
def test_what_cannot_be_taken_out_is_named_in_its_own_words(text: str, named: str) -> None:
    assert cleaned(text) == (text, (named,))


@pytest.mark.parametrize(
    "text",
    [
        "The man in the red ellipse shoves the man in the dashed red ellipse.",
        "The man in the red ellipse tagged 22 shoves the man in the red ellipse.",
        "The man tagged 22 shoves the man tagged 23.",
    ],
)
def test_people_of_one_colour_stay_two(text: str) -> None:
    assert cleaned(text) == ("The man shoves the other man.", ())


def test_the_third_keeps_the_mark_by_which_he_was_told() -> None:
    men = [f"the man in the {mark} ellipse" for mark in MARKS[6:9]]
    found, remains = cleaned(f"Here {men[0]}, {men[1]} and {men[2]} sit. They eat.")
    assert found == "Here the man, the other man and the man in the dashed green circle sit. They eat."
    assert remains == ("the dashed green circle",)


def test_boxes_go_where_people_are_marked_by_boxes_alone() -> None:
    text = "The man in the red box nods."
    assert cleaned(text) == (text, ())
    assert cleaned(text, boxes=True) == ("The man nods.", ())


def test_a_circle_of_another_colour_goes_too() -> None:
    red = (Mark("red"),)
    assert cleaned("Thom, in the blue circle, waves.", red) == ("Thom waves.", ())
    assert cleaned("Thom (yellow circle) waves.", red) == ("Thom waves.", ())
    assert cleaned("Blue waves break.", red) == ("Blue waves break.", ())


def test_without_marks_nothing_of_colour_is_touched() -> None:
    for text in ("Thom (dashed red) nods.", "Thom (23) nods.", "The man in the red ellipse nods."):
        assert cleaned(text, ()) == (text, ())


def test_a_tag_that_nobody_bears_is_a_number() -> None:
    assert cleaned("Thom (23) nods.", MARKS[:7]) == ("Thom (23) nods.", ())


PIECES = (
    "the man", "in the", "dashed", "double", "red", "green", "white", "ellipse", "circle", "(", ")", ",", ".",
    "tagged", "23", "Thom", "circled in", '"', "runs", "and", "marks", "the map",
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_any_text_can_be_cleaned_and_bears_no_private_sign(text: str) -> None:
    found, remains = cleaned(text)
    assert not any("\ue000" <= sign <= "\uf8ff" for sign in found + "".join(remains))
    assert (found, remains) == cleaned(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["Dashed red", "double White", "red", "a", "dashed", "line"]), max_size=9))
def test_styles_that_are_held_to_a_colour_are_parted_again(pieces: list[str]) -> None:
    text = " ".join(pieces)
    assert parted(mark_words(MARKS).join(text)) == text


def test_styles_are_held_to_colours() -> None:
    words = mark_words([Mark("red", "dashed")])
    assert words.join("a red dashed ellipse, a dashed circle") == (
        f"a dashed{HOLD}red ellipse, a dashed{HOLD} circle"
    )


@pytest.mark.parametrize(
    "noise", ["Thom (dashed red) ", "the man in the double blue ellipse ", "tagged 23 ", "dashed "]
)
def test_a_long_text_is_cleaned_in_good_time(noise: str) -> None:
    cleaned(noise * 300)


@pytest.mark.skipif(not (SHARED / "cmd-ad").is_dir(), reason="needs ../shared/data/cmd-ad")
def test_human_ad_is_changed_no_more_than_without_marks() -> None:
    with (SHARED / "cmd-ad/cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)][::4]
    differs = [text for text in texts if cleaned(text, names=()) != cleaned(text, (), ())]
    assert differs == []
