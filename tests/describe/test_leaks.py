"""Circles, colours, shot numbers and camera talk in descriptions: what goes, what stays, what is asked again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from shotad.core import Character, load_config
from shotad.core.cast import Presence
from shotad.description import Stage1Answer, describe_clip
from shotad.engines import AskingPool, ClipOnDemand
from shotad.film.overlays import marks_for
from tests.describe.prompting import CLIP, Model, human_ad, plan_of

IDS = [str(number) for number in range(25)]
NAMES = ("John", "Mary", "Ann", "Thom", "Celia", "Ann White")
ALIKE = "Explanation: Shot 0 and Shot 2 share the same camera angle."


def look_at(reply: str, *, names: tuple[str, ...] = NAMES, characters: str = "ellipses") -> Stage1Answer:
    """Stage I's answer about four shots with 25 people, of whom the first have these ``names``."""
    cast = [
        Character(
            member_id,
            *([names[number]] * 2 if number < len(names) else ["the guest"] * 2),
            named=number < len(names),
        )
        for number, member_id in enumerate(IDS)
    ]
    presence = Presence(tuple(cast), tuple(IDS), (), marks_for(IDS))
    engine = Model(reply)
    config = load_config(None, (f"overlay.characters={characters}", "stage1.attempts=1"))
    with AskingPool({"stage1": engine}) as pool:
        return describe_clip(
            pool, plan_of("pccf", presence=presence), config, ClipOnDemand("clip", lambda: CLIP)
        )


def cleaned(text: str, **people: Any) -> tuple[str, tuple[str, ...]]:
    """What is left of a description's actions, and what in it could not be taken out."""
    answer = look_at(f"Description:\n1. Actions: {text}\n\n{ALIKE}", **people)
    assert answer.error is None
    return answer.description.steps["Actions"], answer.leaks


TAKEN_OUT = (
    ('The woman circled in green picks up the phone.', 'The woman picks up the phone.'),
    ('The main characters are John, marked with a red circle, and Mary, marked with a green circle.', 'The main characters are John and Mary.'),
    ('The man in the red circle nods. The woman in the green circle smiles at him.', 'The man nods. The woman smiles at him.'),
    ('In Shot 1, John is seen walking. In Shot 2, Mary sits.', 'John is seen walking. Mary sits.'),
    ("Shot 2 shows a close-up of Ann's hand.", "Ann's hand."),
    ('Shot 0: A man stands at a window. [Shot 1]: He turns.', 'A man stands at a window. He turns.'),
    ('A man stands at a window in Shot 0, and in Shot 1, he turns.', 'A man stands at a window and he turns.'),
    ('Ann, as seen in Shot 2, weeps.', 'Ann weeps.'),
    ('The video shows two men fighting in a bar.', 'Two men fighting in a bar.'),
    ('The scene takes place in a dark forest.', 'In a dark forest.'),
    ("The camera zooms in on Ann's face.", "Ann's face."),
    ('Ann walks into frame from the left.', 'Ann walks in from the left.'),
    ('We see a man with a gun.', 'A man with a gun.'),
    ('The man is labeled as red.', 'The man.'),
    ('John [red] kneels.', 'John kneels.'),
    ('[Shot 0, Shot 1] Ann runs.', 'Ann runs.'),
    ('Ann runs. The shot label is in the top left corner.', 'Ann runs.'),
    ('There is a green circle around her head. She runs.', 'She runs.'),
    ('Thom (red, tagged 22) kneels beside Celia (green, 23).', 'Thom kneels beside Celia.'),
    ('Thom, marked with a red ellipse and the tag 22, sits down.', 'Thom sits down.'),
    ('The tag "23" marks Celia. She runs.', 'She runs.'),
)  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TAKEN_OUT)
def test_what_leaked_is_taken_out_and_nothing_of_a_clean_text(text: str, expected: str) -> None:
    assert cleaned(text) == (expected, ())
    assert cleaned(expected) == (expected, ())


STAYS = (
    "She shoots. A gunshot is heard. He takes a shot at the target.",
    "A red circle is painted on the target.",
    "He lifts the camera to his eye and takes a picture.",
    "He leans on the door frame. A picture frame falls.",
    "He steps inside, takes in the scene and closes the door.",
    'A sign reads "Shot 2 is on the house".',
    "Thom in red bows.",
    "The road is marked with a double yellow line.",
    "The man with the number 23 on his back runs.",
    "Ann White laughs.",
)


@pytest.mark.parametrize("text", STAYS)
def test_what_belongs_to_the_story_stays(text: str) -> None:
    assert cleaned(text) == (text, ())


@pytest.mark.parametrize(("text", "named"), [
    ("Red looks at Green.", ("Red", "Green")),
    ("The red character pushes the green character.", ("The red character", "the green character")),
    ("Double red looks at Celia.", ("Double red",)),
    ("John looks at the red circle.", ("the red circle",)),
    ("Tag 23 sits down.", ("Tag 23",)),
    ("The woman turns, and the clip ends with her.", ("the clip ends with",)),
])  # fmt: skip
def test_what_cannot_be_taken_out_is_named(text: str, named: tuple[str, ...]) -> None:
    assert cleaned(text) == (text, named)


def test_people_told_apart_by_marks_stay_two_and_a_third_keeps_the_mark() -> None:
    for one, other in (("in the red ellipse", "in the dashed red ellipse"), ("tagged 22", "tagged 23"),
                       ("in the red ellipse tagged 22", "in the red ellipse")):  # fmt: skip
        assert cleaned(f"The man {one} shoves the man {other}.") == ("The man shoves the other man.", ())
    men = ", ".join(f"the man in the {colour} circle" for colour in ("red", "green", "blue"))
    assert cleaned(f"Here sit {men}.") == (
        "Here sit the man, the other man, the man in the blue circle.", ("the blue circle",)
    )  # fmt: skip
    text = "The man in the red circle sits. The man in the red circle eats."
    assert cleaned(text) == ("The man sits. The man eats.", ())


def test_colours_stay_without_marks_and_boxes_go_where_people_are_marked_by_boxes_alone() -> None:
    for text in ("The man in the red circle kneels.", "Red looks at Green.", "Ann (red) kneels."):
        assert cleaned(text, characters="none") == (text, ())
    text = "The man in the red box nods."
    assert cleaned(text) == (text, ())
    assert cleaned(text, characters="boxes") == ("The man nods.", ())


def test_a_step_of_nothing_else_falls_out_but_not_the_last() -> None:
    answer = look_at(
        "Description:\n1. Main characters: The red circle marks Ann.\n2. Actions: Ann runs to a door."
    )
    assert (dict(answer.description.steps), answer.leaks) == ({"Actions": "Ann runs to a door."}, ())
    answer = look_at("Description:\n1. Actions: The red circle marks Ann.")
    assert dict(answer.description.steps) == {"Actions": "The red circle marks Ann."}
    assert answer.leaks == ("The red circle marks Ann",)


PIECES = (
    "Shot 1", "Shots 0 and 1", "[", "]", "(", ")", ",", ".", ":", "the man", " in the red circle", "dashed",
    "circled in green", "The clip shows", "The camera", "Red", '"', "“", " who ", "runs", "the frame", "\n",
    "tagged", "23", "Ann", "as the camera pans",
)  # fmt: skip


@example("[Shot 1, " * 300)
@example("the man in the dashed red circle " * 300)
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)))
def test_any_text_can_be_cleaned_in_good_time(text: str) -> None:
    answer = look_at(f"Description:\n1. Actions: {text}")
    steps = "".join(answer.description.steps.values())
    assert not any("\ue000" <= sign <= "\uf8ff" for sign in {*steps} - {*text})
    assert all(answer.leaks)


def test_human_ad_is_left_as_it_is() -> None:
    changed = [text for text in human_ad(40) if cleaned(text, names=()) != (text, ())]
    # What is changed speaks of the film's making: "An aerial view shows …".
    assert len(changed) <= 1
