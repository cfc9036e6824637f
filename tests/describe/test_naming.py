"""Everybody is called what they are to be called, and models are told about names that are not."""

from __future__ import annotations

import pytest

from shotad.core import Character, Presence
from shotad.description import spoken
from shotad.description.checks import name_complaints
from shotad.description.slotplan import Heard

CELIA = Character("celia", "Celia", "Celia Smith", ("Dr. Smith", "Sis"), pronoun="she")
THOM = Character("thom", "Thom", "Thomas van Beek", ("Tommy",), pronoun="he")
BO = Character("bo", "the man in grey", "the man in grey", (), ("Bo", "Bo Jones"), "he", named=False)
DEB = Character("deb", "", "", (), ("Deb",), named=False)
CAST = (CELIA, THOM, BO, DEB)


@pytest.mark.parametrize(("text", "said"), [
    ("Dr. Celia Smith enters.", "Celia enters."),
    ("Celia Smith's hand, Smith’s hat.", "Celia's hand, Celia’s hat."),
    ("Mr. van Beek waits.", "Thom waits."),
    ("Sis' hat.", "Celia's hat."),
    # Only these.
    ("Mary Smith waits on Smith Street.", "Mary Smith waits on Smith Street."),
    ("A door reads “Dr. Smith”.", "A door reads “Dr. Smith”."),
    # Before the name is told.
    ("Bo smiles at Bo Jones's dog.", "The man in grey smiles at the man in grey's dog."),
    ("She waits. Captain Jones runs; Jones falls.", "She waits. The man in grey runs; the man in grey falls."),
    ("The young Bo runs. He sees old Bo.", "The man in grey runs. He sees the man in grey."),
    ("1. Main characters: Bo and Celia Smith", "1. Main characters: the man in grey and Celia"),
    # In quotation marks too, and in small letters, unless the film shows the name.
    ("\"Bo\" smiles at 'Bo Jones'.", "The man in grey smiles at the man in grey."),
    ("“Come, Bo!” she calls.", "“Come, the man in grey!” she calls."),
    ("She gives bo jones a map.", "She gives the man in grey a map."),
    ("Words appear: “BO JONES”.", "Words appear: “BO JONES”."),
    ('"Bo" appears on a black ground. A ring is engraved "Bo".',) * 2,
    # Whoever's surname a model adds.
    ("Bo Finch runs.", "The man in grey runs."),
    ("A LONE BO JONES waits.", "A LONE the man in grey waits."),
    # Nobody twice.
    ("Celia (Celia Smith) waves.", "Celia waves."),
    ("Celia, also known as Dr. Smith, waves.", "Celia waves."),
    ("The man in grey (Bo) waves to Celia, Dr. Smith.", "The man in grey waves to Celia."),
    ("", ""),
])  # fmt: skip
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


HERE = Presence(CAST)
DESCRIPTION = "1. Main characters: Celia and a boy. 2. Actions: Celia runs along Baker Street as snow falls."


def told(line: str, *, description: str = DESCRIPTION, **more: object) -> list[tuple[str, str]]:
    found = name_complaints(line, description, HERE, **more)  # type: ignore[arg-type]
    return [(complaint.rule, complaint.text) for complaint in found]


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
