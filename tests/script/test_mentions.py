"""Names of a cast are found in a text, and nobody else's are taken for them."""

from __future__ import annotations

import pytest

from shotad.core import Character
from shotad.script import cast_mentions

CAST = (
    Character("celia", "Celia", "Celia Smith", ("Dr. Smith", "the Doc"), pronoun="she"),
    Character("thom", "Thom", "Thomas Q. van Beek", pronoun="he"),
    Character("louis", "Louis", "Louis Roy", pronoun="he"),
    Character("maria", "Maria", "Maria Roy", pronoun="she"),
    Character("jones", "Jones", "Indiana Jones"),
    Character("will", "Will", "Will Brown", ("Black",)),
    Character("dude", "the Dude", "Jeff Lebowski"),
    Character("bo", "the man in grey", "the man in grey", (), ("Bo", "Captain Bo Hill"), named=False),
)


def found(text: str) -> list[tuple[str, str]]:
    return [(mention.id, mention.text) for mention in cast_mentions(text, CAST)]


@pytest.mark.parametrize(("text", "names"), [
    ("He sees Celia Smith's hat.", [("celia", "Celia Smith")]),
    ("CELIA SMITH runs.", [("celia", "CELIA SMITH")]),
    ("Dr. Smith, Dr Celia Smith and Dr. Celia wait.",
     [("celia", "Dr. Smith"), ("celia", "Dr Celia Smith"), ("celia", "Dr. Celia")]),
    ("Smith runs. Behind Smith a door opens.", [("celia", "Smith"), ("celia", "Smith")]),
    ("Hey Celia! Watching Smith, he waits.", [("celia", "Celia"), ("celia", "Smith")]),
    ("The Doc looks at the Doc.", [("celia", "The Doc"), ("celia", "the Doc")]),
    ("Thomas van Beek, Mr. van Beek and Beek sit.",
     [("thom", "Thomas van Beek"), ("thom", "Mr. van Beek"), ("thom", "Beek")]),
    ("She meets Captain Hill and Bo.", [("bo", "Captain Hill"), ("bo", "Bo")]),
    ("The man in grey runs.", []),
    # Two of one name: a title tells them apart, nothing else does.
    ("Mr. Roy kisses Mrs. Roy. Roy nods.", [("louis", "Mr. Roy"), ("maria", "Mrs. Roy")]),
    # Whose spouse it may be.
    ("Mr. Smith waits for Mrs. Jones and Mr. Jones.", []),
    ("Professor Jones waits.", [("jones", "Professor Jones")]),
    # Another's name, or something else's.
    ("Mary Smith waits on Smith Street.", []),
    ("He sees Smith-Jones and the Smiths.", []),
    ("He reads 'Celia Smith' on the door.", []),
    # A word of the language where a sentence begins.
    ("Brown leaves fall. Black smoke rises.", []),
    ("He hits Brown and Black.", [("will", "Brown"), ("will", "Black")]),
])  # fmt: skip
def test_mentions(text: str, names: list[tuple[str, str]]) -> None:
    assert found(text) == names


def test_spans_are_those_of_the_text_and_names_that_may_not_be_said_are_marked() -> None:
    text = "Then Dr. Celia Smith’s bag falls."
    (mention,) = cast_mentions(text, CAST)
    assert text[mention.start : mention.end] == "Dr. Celia Smith"
    assert [mention.hidden for mention in cast_mentions("Bo sees Celia.", CAST)] == [True, False]
    # Also where it may be a word.
    rose = Character("r", "the woman in red", "the woman in red", (), ("Rose",), "she", named=False)
    assert [mention.id for mention in cast_mentions("Rose walks in.", [rose])] == ["r"]
