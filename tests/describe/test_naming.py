"""Everybody is called what they are to be called, and models are told about names that are not."""

from __future__ import annotations

import pytest

from shotad.core import NOBODY, Character, Presence
from shotad.description import spoken
from shotad.description.checks import name_complaints, names_untold
from shotad.description.slotplan import Heard

CELIA = Character("celia", "Celia", "Celia Smith", ("Dr. Smith", "Sis"), pronoun="she")
THOM = Character("thom", "Thom", "Thomas van Beek", ("Tommy",), pronoun="he")
BO = Character("bo", "the man in grey", "the man in grey", (), ("Bo", "Bo Jones"), "he", named=False)
DEB = Character("deb", "", "", (), ("Deb",), named=False)
CAST = (CELIA, THOM, BO, DEB)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Dr. Celia Smith enters.", "Celia enters."),
        ("Celia Smith's hand, Smith’s hat.", "Celia's hand, Celia’s hat."),
        ("Tommy sees Thomas van Beek.", "Thom sees Thom."),
        ("Mr. van Beek waits.", "Thom waits."),
        ("Sis' hat.", "Celia's hat."),
        # Only these.
        ("Mary Smith waits on Smith Street.", "Mary Smith waits on Smith Street."),
        ("Mr. Smith waits.", "Mr. Smith waits."),
        ("A door reads “Dr. Smith”.", "A door reads “Dr. Smith”."),
        # Before the name is told.
        ("Bo smiles at Bo Jones's dog.", "The man in grey smiles at the man in grey's dog."),
        (
            "She waits. Captain Jones runs; Jones falls.",
            "She waits. The man in grey runs; the man in grey falls.",
        ),
        ("The young Bo runs. He sees old Bo.", "The man in grey runs. He sees the man in grey."),
        ("1. Main characters: Bo and Celia Smith", "1. Main characters: the man in grey and Celia"),
        ("Deb runs.", "Deb runs."),
        # In quotation marks too, and in small letters, unless the film shows the name.
        ("\"Bo\" smiles at 'Bo Jones'.", "The man in grey smiles at the man in grey."),
        ("“Come, Bo!” she calls.", "“Come, the man in grey!” she calls."),
        ("She gives bo jones a map.", "She gives the man in grey a map."),
        ("Words appear: “BO JONES”.", "Words appear: “BO JONES”."),
        ('"Bo" appears on a black ground. A ring is engraved "Bo".',) * 2,
        # Whoever's surname a model adds.
        ("Bo Finch runs.", "The man in grey runs."),
        ("A LONE BO waits.", "A LONE BO waits."),
        ("A LONE BO JONES waits.", "A LONE the man in grey waits."),
        # Nobody twice.
        ("Celia (Celia Smith) waves.", "Celia waves."),
        ("Celia (Celia) waves.", "Celia waves."),
        ("Celia, also known as Dr. Smith, waves.", "Celia waves."),
        ("The man in grey (Bo) waves to Celia, Dr. Smith.", "The man in grey waves to Celia."),
        ("The man in grey, Bo, waves.", "The man in grey waves."),
        ("Celia Smith and Celia wave.", "Celia and Celia wave."),
        ("", ""),
    ],
)
def test_spoken(text: str, said: str) -> None:
    assert spoken(text, CAST) == said
    assert spoken(said, CAST) == said


def test_accents_are_left_out_as_models_like() -> None:
    zoe, rene = (
        Character("z", "the girl", "the girl", (), ("Zoë",), "she", named=False),
        Character("r", "René", "René Ångström"),
    )
    assert spoken("Zoe and ZOË see Rene Angstrom.", (zoe, rene)) == "The girl and the girl see René."
    kana = Character("k", "the boy", "the boy", (), ("が",), "he", named=False)
    assert spoken("か", (kana,)) == "か"


def test_names_that_nobody_told_the_model() -> None:
    told = "In Shot 1 these may appear: Celia (red). Names spoken near: Max."
    text = "Celia sees Max. Thom runs to Boris Finch. A sign reads 'Eve'. The man in grey looks at Paris."
    assert names_untold(text, told, HERE) == ("Thom", "Boris Finch")
    assert names_untold(text, told, NOBODY) == ()
    assert names_untold("Bo Jones waits.", told, HERE) == ()


def test_without_a_cast_nothing_changes() -> None:
    assert spoken("Dr. Celia Smith (Celia) enters.", ()) == "Dr. Celia Smith (Celia) enters."


HERE = Presence(CAST)
DESCRIPTION = "1. Main characters: Celia and a boy. 2. Actions: Celia runs along Baker Street as snow falls."


def told(line: str, *, description: str = DESCRIPTION, **more: object) -> list[tuple[str, str]]:
    found = name_complaints(line, description, HERE, **more)  # type: ignore[arg-type]
    return [(complaint.rule, complaint.text) for complaint in found]


@pytest.mark.parametrize(
    "line",
    ["Celia runs.", "She runs along Baker Street.", "The man in grey waits.", "She flies to Paris.", "Rain falls.",
     'A sign reads "Boris".'],
)  # fmt: skip
def test_lines_without_fault(line: str) -> None:
    assert told(line) == []


def test_a_name_that_may_not_be_said() -> None:
    assert told("Bo Jones runs.") == [
        ("L7", '"Bo Jones" may not be named yet. Write "the man in grey" or "he" instead.')
    ]
    assert told("Deb runs.") == [("L7", '"Deb" may not be named yet. Write "he", "she" or "they" instead.')]


def test_somebody_of_the_cast_whom_the_description_does_not_name() -> None:
    assert told("Thom runs.") == [
        ("L7", 'The description does not say that "Thom" is there. Write "he" instead.')
    ]
    assert told("Thom runs.", description="Thomas van Beek runs.") == []


def test_a_word_that_is_a_name_too() -> None:
    here = Presence((Character("s", "Snow", "Snow"),))
    assert name_complaints("Snow falls.", "The snow falls.", here) == ()
    assert [c.rule for c in name_complaints("Snow falls.", "A man falls.", here)] == ["L7"]


def test_a_name_from_nowhere() -> None:
    ((rule, text),) = told("She looks at Boris.")
    assert rule == "L7"
    assert text.startswith('"Boris" is not in the description.')
    assert '"he", "she" or "they"' in text
    assert told("She looks at Boris.", description="Celia sees Boris.") == []
    assert told("She looks at Boris.", heard=[Heard("Boris", "spoken", 1.0)]) == []
    assert told("She looks at Boris.", told="The thief is called Boris.") == []
    assert told("Sie sieht Boris.", language="de") == []


def test_a_misspelt_name_is_told_with_the_right_one() -> None:
    ((_, text),) = told("He looks at Celiah.")
    assert 'If "Celia" is meant, write that' in text


def test_another_name_than_the_one_to_use() -> None:
    assert told("Dr. Smith runs.") == [("L8", 'Write "Celia" instead of "Dr. Smith".')]
    assert told("Celia looks back as Smith's hat flies.") == [("L8", 'Write "Celia" instead of "Smith".')]


def test_each_name_once() -> None:
    assert len(told("Thom runs and Thom falls.")) == 1


def test_without_a_cast_nobody_complains() -> None:
    assert name_complaints("Boris sees Bo.", "", NOBODY) == ()
