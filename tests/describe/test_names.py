"""Names in use are found by their capital letters, rather one too few than one too many."""

from __future__ import annotations

import pytest

from shotad.script import names_in


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("She looks at Ann and Bo.", ("Ann", "Bo")),
        ("Ann's hand shakes.", ("Ann",)),
        ("She takes Ann’s hand.", ("Ann",)),
        ("She meets Captain Ann Lee.", ("Ann Lee",)),
        ("Mrs. O'Hara-Smith waits.", ("O'Hara-Smith",)),
        ("Captain Lee waits.", ("Lee",)),
        # Not in the middle of a sentence.
        ("Rain falls. Ann runs.", ()),
        ("She stops. “Run” is all he says.", ()),
        # No names of people or places.
        ("She reads a French book at Christmas.", ()),
        ("Then He And She go.", ()),
        ("A poster of Tears of Steel hangs there.", ()),
        # Read from the screen.
        ('A sign reads "Turn Left At Smith Road".', ()),
    ],
)
def test_names_of_a_line(line: str, names: tuple[str, ...]) -> None:
    assert names_in([line]) == names


def test_who_only_begins_sentences_is_named_where_two_lines_have_it_act() -> None:
    assert names_in(["Ann runs."]) == ()
    assert names_in(["Ann runs.", "Ann falls."]) == ("Ann",)
    assert names_in(["Ann runs.", "He watches. Ann slowly falls."]) == ("Ann",)
    assert names_in(["Rain falls.", "Rain runs down the pane.", "Nothing moves.", "Nothing stirs."]) == ()
    assert names_in(["Dogs run.", "Dogs bark."]) == ()


def test_first_name_of_somebody_known_is_not_repeated() -> None:
    assert names_in(["He sees Ann.", "He sees Bo."], "The thief is Ann Lee.") == ("Ann Lee", "Bo")


def test_names_of_the_note_go_first_in_its_order() -> None:
    note = """Tone: dry. Place: a mill.
    - Cy: young, red hair
    - Ann Lee (her mother)
    * Bo – the dog
    Eve, a nurse
    Max is her brother. He lives with Ida.
    This is a sad film: avoid its end.
    """
    assert names_in(["He sees Zoë."], note) == ("Cy", "Ann Lee", "Bo", "Eve", "Max", "Ida", "Zoë")
