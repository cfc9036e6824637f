"""Circles, colours, shot numbers and camera talk in descriptions: what goes, what stays, what is asked again."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Description
from shotad.description.leaks import clean, restated

SHARED = Path(__file__).parents[3] / "shared" / "data"
COLOURS = ("red", "green", "blue", "yellow", "magenta")
NAMES = ("John", "Mary", "Ann")


def cleaned(
    text: str, colours: tuple[str, ...] = COLOURS, names: tuple[str, ...] = NAMES
) -> tuple[str, tuple[str, ...]]:
    given_ = Description("s1", {"Actions": text}, "Shot 0 and Shot 2 look alike.", "raw", "vlm", {"a": 1})
    found, remains = clean(given_, shots=(0, 1, 2, 3), colours=colours, names=names)
    assert (found.explanation, found.raw, found.engine, found.notes) == (
        "Shot 0 and Shot 2 look alike.", "raw", "vlm", {"a": 1},
    )  # fmt: skip
    return found.steps["Actions"], remains


TAKEN_OUT = (
    ('The woman circled in green picks up the phone.', 'The woman picks up the phone.'),
    ('The character in the red circle is sitting at the desk, while the character in the blue circle stands.', 'The character is sitting at the desk, while the other character stands.'),
    ('The man in the red circle nods. The woman in the green circle smiles at the man in the red circle.', 'The man nods. The woman smiles at the man.'),
    ('A man, highlighted with a red circle, enters the room.', 'A man enters the room.'),
    ("John (circled in red) hands John's gun to Mary (circled in green).", "John hands John's gun to Mary."),
    ('John (marked by a red ellipse), Mary (green ellipse).', 'John, Mary.'),
    ('The main characters are John, marked with a red circle, and Mary, marked with a green circle.', 'The main characters are John and Mary.'),
    ('The main characters are John (red) and Mary (green).', 'The main characters are John and Mary.'),
    ('The man with the red circle around his face looks down.', 'The man looks down.'),
    ('The person marked in yellow runs.', 'The person runs.'),
    ('John is in the red circle. Mary is in the green circle. They dance.', 'John is there. Mary is there. They dance.'),
    ('John, in the red circle, dances with Mary, in the green circle.', 'John dances with Mary.'),
    ('John, who is circled in red, kneels.', 'John kneels.'),
    ('John is highlighted with a red circle, and he kneels.', 'John kneels.'),
    ('In Shot 1, John is seen walking. In Shot 2, Mary sits.', 'John is seen walking. Mary sits.'),
    ('In [Shot 1, Shot 2], a man walks to a door and opens it.', 'A man walks to a door and opens it.'),
    ('In shots 1 and 2 a man walks to a door.', 'A man walks to a door.'),
    ('In Shots 1-3, a man walks.', 'A man walks.'),
    ('In both Shot 1 and Shot 2, Ann is crying.', 'Ann is crying.'),
    ('Throughout the shots, Ann is crying.', 'Ann is crying.'),
    ('During Shot 3, Ann cries.', 'Ann cries.'),
    ("Shot 2 shows a close-up of Ann's hand.", "Ann's hand can be seen."),
    ('Shot 0: A man stands at a window. [Shot 1]: He turns.', 'A man stands at a window. He turns.'),
    ('A man stands at a window (Shot 0) and turns (Shot 1).', 'A man stands at a window and turns.'),
    ('A man stands at a window in Shot 0, and in Shot 1, he turns.', 'A man stands at a window and he turns.'),
    ('Between Shot 1 and Shot 2, the man stands up.', 'The man stands up.'),
    ('The man from Shot 0 returns.', 'The man returns.'),
    ('Ann, as seen in Shot 2, weeps.', 'Ann weeps.'),
    ('The video shows two men fighting in a bar.', 'Two men are fighting in a bar.'),
    ('The video clip depicts a man and a woman sitting at a table.', 'A man and a woman are sitting at a table.'),
    ('The video starts with a man running down a street.', 'A man is running down a street.'),
    ('The clip begins with Ann, who opens a letter.', 'Ann opens a letter.'),
    ('The clip opens on a deserted beach.', 'There is a deserted beach.'),
    ('The scene shows a crowd gathering outside the church.', 'There is a crowd gathering outside the church.'),
    ('The scene takes place in a dark forest.', 'The setting is a dark forest.'),
    ('The scene shifts to a kitchen where Ann is cooking.', 'There is a kitchen where Ann is cooking.'),
    ('In the video, a man is running. In the clip, a dog barks.', 'A man is running. A dog barks.'),
    ('In this scene, Ann opens a letter.', 'Ann opens a letter.'),
    ('In the first frame, Ann opens a letter. In the second frame, she reads it.', 'Ann opens a letter. She reads it.'),
    ('In the next shot, Ann opens a letter.', 'Ann opens a letter.'),
    ('As the clip progresses, Ann becomes angry.', 'Ann becomes angry.'),
    ('As the camera pans left, Ann walks away.', 'Ann walks away.'),
    ("The camera zooms in on Ann's face.", "Ann's face can be seen."),
    ('The camera pans across the city.', 'The city can be seen.'),
    ('The camera follows Ann as she walks down the hall.', 'Ann walks down the hall.'),
    ('The camera focuses on a ring on her finger.', 'There is a ring on her finger.'),
    ('The camera is focused on Ann.', 'Ann can be seen.'),
    ('Ann walks into frame from the left.', 'Ann walks in from the left.'),
    ('A dog enters the frame.', 'A dog enters.'),
    ('Ann is on the left side of the frame.', 'Ann is on the left side.'),
    ('Ann stands in the center of the frame holding a cup.', 'Ann stands in the center holding a cup.'),
    ('Ann walks out of frame.', 'Ann walks away.'),
    ('We see a man with a gun.', 'There is a man with a gun.'),
    ('The frame shows a knife.', 'There is a knife.'),
    ('The image shows Ann and Bo smiling.', 'Ann and Bo are smiling.'),
    ('Throughout the video, Ann holds the gun.', 'Ann holds the gun.'),
    ('Ann holds the gun throughout the clip.', 'Ann holds the gun.'),
    ('By the end of the clip, the house is burning.', 'The house is burning.'),
    ('At the beginning of the video, Ann opens the gate.', 'Ann opens the gate.'),
    ('The final shot shows Ann alone.', 'Ann alone can be seen.'),
    ('The last frame shows Ann alone.', 'Ann alone can be seen.'),
    ('Shots 1 and 3 feature two soldiers.', 'There are two soldiers.'),
    ('Shot 1 takes place in a kitchen.', 'The setting is a kitchen.'),
    ('In Shot 1 the camera shows a man who opens a door.', 'A man opens a door.'),
    ('The man is labeled as red.', 'The man is there.'),
    ('The man in red circle opens the gate.', 'The man opens the gate.'),
    ('The two characters in red and green circles hug.', 'The two characters hug.'),
    ('The circled man kneels.', 'The man kneels.'),
    ('The man in the red ellipse and the woman in the green ellipse hug.', 'The man and the woman hug.'),
    ('John [red] kneels.', 'John kneels.'),
    ('Red circle: John. Green circle: Mary.', 'John. Mary.'),
    ('John: red circle', 'John.'),
    ("Ann in the red circle opens the gate.", "Ann opens the gate."),
    ("Ann is circled in red and opens the gate.", "Ann opens the gate."),
    ("A woman labelled by a green ellipse smiles.", "A woman smiles."),
    ("A woman is marked with a green circle.", "There is a woman."),
    ("[Shot 0, Shot 1] Ann runs.", "Ann runs."),
    ("Shots 1 and 2 show Ann opening the gate.", "Ann is opening the gate."),
    ("From Shot 1 to Shot 3, Ann walks down the hall.", "Ann walks down the hall."),
    ("The camera pans to a gun on the table.", "There is a gun on the table."),
    ("Ann walks away as the camera zooms out.", "Ann walks away."),
    ("A wide shot shows the river.", "The river can be seen."),
    ("A close-up of Ann's hand holding a key.", "Ann's hand is holding a key."),
    ("Ann runs. The shot label is in the top left corner.", "Ann runs."),
    ("The red circle marks Ann. She runs.", "She runs."),
    ("There is a green circle around her head. She runs.", "She runs."),
    ("The camera slowly pans left. She runs.", "She runs."),
    ("The coloured circles tell who is who. She runs.", "She runs."),
)  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TAKEN_OUT)
def test_what_leaked_is_taken_out_and_the_sentence_stays_whole(text: str, expected: str) -> None:
    assert cleaned(text) == (expected, ())


@pytest.mark.parametrize(("text", "expected"), TAKEN_OUT)
def test_a_clean_text_is_clean(text: str, expected: str) -> None:
    assert cleaned(expected) == (expected, ())


STAYS = (
    "She shoots. A gunshot is heard. He takes a shot at the target.",
    "A shot glass stands on the bar. He downs a shot of whiskey.",
    "A shot rings out. The shot hits the wall.",
    "He shot 2 men.",
    "He fires 3 shots at the car.",
    "A red circle is painted on the target.",
    "He draws a red circle on the map.",
    "A date is circled in red on the calendar.",
    "The red car stops at the red light.",
    "A woman in a red dress sits beside a man in a blue shirt.",
    "The man in red bows.",
    "Blue lights flash. Red curtains hang from the ceiling.",
    "They sit in a circle around the fire.",
    "The children hold hands in a circle.",
    "He lifts the camera to his eye and takes a picture.",
    "Ann holds a camera in her hands.",
    "A security camera hangs above the door.",
    "He leans on the door frame. A picture frame falls.",
    "The boy in the picture frame smiles.",
    "On a television screen, a video shows two men fighting.",
    "He watches the video on his phone.",
    "He steps inside, takes in the scene and closes the door.",
    "They live in Red Square and on Green Street.",
    "A video tape lies on the floor.",
    "She loads a clip into the gun.",
    "A hair clip falls to the ground.",
    "She wears a gold ring.",
    'A sign reads "Shot 2 is on the house".',
    "A blue box stands on the table.",
    "He climbs through the window frame.",
    "The blonde woman, who is tall, waves.",
    "1. He runs. 2. She waits.",
    "...and then he falls",
)


@pytest.mark.parametrize("text", STAYS)
def test_what_belongs_to_the_story_stays(text: str) -> None:
    assert cleaned(text) == (text, ())


@pytest.mark.parametrize(
    "text", ["The man in the red circle kneels.", "Red looks at Green.", "Ann (red) kneels."]
)
def test_without_circles_colours_stay(text: str) -> None:
    assert cleaned(text, colours=()) == (text, ())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Red looks at Green.", ("Red", "Green")),
        ("He kneels. Red and Green walk in.", ("Red", "Green")),
        ("The red character pushes the green character.", ("The red character", "the green character")),
        ("John looks at the red one.", ("the red one",)),
        ("John looks at the red circle.", ("the red circle",)),
        ("Ann remembers Shot 2.", ("Shot 2",)),
        ("He comes into frame.", ()),
        ("The woman turns, and the clip ends with her.", ("the clip ends with",)),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_out_is_named(text: str, named: tuple[str, ...]) -> None:
    found, remains = cleaned(text)
    assert remains == named
    assert not named or found == text


def test_a_name_that_is_a_colour_stays_and_its_circle_goes() -> None:
    assert cleaned("Red looks at Ann.", names=("Red", "Ann")) == ("Red looks at Ann.", ())
    assert cleaned("The man in the red circle looks at Ann.", names=("Red",)) == ("The man looks at Ann.", ())


def test_people_told_apart_by_colour_stay_two() -> None:
    assert cleaned("The man in the red circle hits the man in the green circle.") == (
        "The man hits the other man.", ()
    )  # fmt: skip
    assert (
        cleaned("A man in a red circle and a man in a blue circle fight.")[0]
        == "A man and another man fight."
    )
    third, remains = cleaned(
        "The man in the red circle, the man in the green circle and the man in the blue circle sit. They eat."
    )
    assert "the other man" in third
    assert remains == ("the blue circle",)


def test_the_same_colour_is_the_same_man() -> None:
    text = "The man in the red circle sits. The man in the red circle eats."
    assert cleaned(text) == ("The man sits. The man eats.", ())


def test_a_step_of_nothing_else_falls_out_but_not_the_last() -> None:
    steps = {"Main characters": "The red circle marks Ann.", "Actions": "Ann runs."}
    found, remains = clean(Description("s1", steps, "", "", "v"), shots=(0,), colours=COLOURS)
    assert (dict(found.steps), remains) == ({"Actions": "Ann runs."}, ())
    only = Description("s1", {"Actions": "The red circle marks Ann."}, "", "", "v")
    assert clean(only, shots=(0,), colours=COLOURS) == (only, ("The red circle marks Ann",))


@pytest.mark.parametrize(
    ("rest", "sentence"),
    [
        ("a man who runs.", "A man runs."),
        ("two men running.", "Two men are running."),
        ("a man with flowers standing at a door.", "A man with flowers is standing at a door."),
        ("Ann and Bo dancing, while Cy sings.", "Ann and Bo are dancing, while Cy sings."),
        ("a burning building.", "There is a burning building."),
        ("several people.", "There are several people."),
        ("the gun in his hand.", "The gun in his hand can be seen."),
        ("that Ann runs.", "Ann runs."),
        ("a large painting of a ship.", "There is a large painting of a ship."),
        ("a house that is burning.", "There is a house that is burning."),
    ],
)
def test_what_a_picture_shows_is_said_as_a_sentence(rest: str, sentence: str) -> None:
    assert restated(rest) == sentence


PIECES = st.sampled_from(
    [
        "Shot 1",
        "Shots 0 and 1",
        "[",
        "]",
        "(",
        ")",
        ",",
        ".",
        ":",
        "the man",
        " in the red circle",
        "circled in green",
        "The clip shows",
        "The camera",
        "Red",
        "Green",
        '"',
        "'",
        "…",
        " who ",
        "runs",
        "ing",
        "the frame",
        "\n",
        "“",
        "”",
        "Ann",
        "as the camera pans",
    ]
)


@settings(deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map(" ".join)))
def test_any_text_can_be_cleaned_and_again_gives_the_same(text: str) -> None:
    given_ = Description("s1", {"Actions": text}, "", "", "v")
    found, remains = clean(given_, shots=(0, 1), colours=COLOURS)
    assert (found, remains) == clean(given_, shots=(0, 1), colours=COLOURS)
    assert not any(sign in found.text for sign in "\ue001\ue002")
    assert all(remains)


@pytest.mark.parametrize(
    "noise", ["Shot 1 ", "[Shot 1, ", "the man in the red circle ", "in the clip, ", "(red) "]
)
def test_a_long_text_is_cleaned_in_good_time(noise: str) -> None:
    clean(Description("s1", {"Actions": noise * 300}, "", "", "v"), shots=(0, 1), colours=COLOURS)


@pytest.mark.skipif(not (SHARED / "cmd-ad").is_dir(), reason="needs ../shared/data/cmd-ad")
def test_human_ad_is_left_as_it_is() -> None:
    with (SHARED / "cmd-ad/cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)][::4]
    changed = [text for text in texts if cleaned(text, names=()) != (text, ())]
    # What is changed speaks of the film's making: "An aerial view shows …".
    assert len(changed) <= 4
