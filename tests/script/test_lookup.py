"""Lines by what people call them; names of a cast found in a text; names that are nobody's, come too early, or are two for one person."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from shotad.core import Cast, Character, Interval, Member, Reveal, UsageError
from shotad.script import Cue, CueStatus, FilmId, Track, cast_mentions, check_names, find_lines, people_named


def cue(start: float, end: float, status: CueStatus = CueStatus.PLACED) -> Cue:
    name = f"s{round(start * 1000):08d}"
    return Cue(name, name, Interval(start, end), "A line." if status.heard else "", status=status)


CUES = (
    cue(2.0, 5.0),
    cue(10.0, 14.0, CueStatus.SILENT),
    cue(83.12, 88.0),
    cue(120.2, 120.4),
    cue(120.6, 121.5),
)
TRACK = Track(FilmId("film.mp4", "abc", 200.0), "en", (), "0.1.0", CUES)


@pytest.mark.parametrize(("name", "start"), [
    ("s00083120", 83.12),
    ("1:23", 83.12),
    ("1:23.12", 83.12),
    ("0:01:25", 83.12),
    ("87.9", 83.12),
    ("0:12", 10.0),
    ("1", 2.0),
    ("2", 83.12),
    ("120.3", 120.2),
    ("2:00.7", 120.6),
])  # fmt: skip
def test_a_line_is_found(name: str, start: float) -> None:
    assert [cue.interval.start for cue in find_lines(TRACK, [name])] == [start]


@pytest.mark.parametrize(("name", "words"), [
    ("s00083121", "no line s00083121. The nearest is s00083120, at 00:01:23.120"),
    ("s1", "The nearest is s00002000"),
    ("1:28", "no line at 1:28. The nearest is s00083120"),
    ("5", "no line 5: 4 lines are heard"),
    ("2:00", "more than one line: s00120200 (00:02:00.200) and s00120600"),
    ("first", "'first' is neither an id nor a time nor a number"),
    ("1:99", "'1:99' is neither"),
])  # fmt: skip
def test_what_is_no_line_is_refused_with_the_nearest(name: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_lines(TRACK, [name])
    assert words in str(caught.value)


def test_several_come_in_the_order_of_the_film_each_once() -> None:
    found = find_lines(TRACK, ["1:23", "1", "s00083120"])
    assert [line.interval.start for line in found] == [2.0, 83.12]
    with pytest.raises(UsageError, match="no lines"):
        find_lines(TRACK.with_cues([]), ["s00000001"])


CAST = Cast(
    (
        Member("ann", "Ann Lee", "Ann", ("Annie",), "she"),
        Member("bo", "Bo Hill", "Bo", (), "he", "the man in grey", (Reveal(100.0),)),
        Member("cy", nameless=True),
    )
)


def cast(at: float) -> Sequence[Character]:
    return CAST.characters("film", at)


def test_a_name_before_the_film_reveals_it_is_an_error() -> None:
    early, late = check_names([(99.9, "Ann sees Bo Hill."), (100.0, "Ann sees Bo Hill.")], cast)
    (finding,) = early
    assert (finding.rule, str(finding.level)) == ("L7", "error")
    assert finding.span == (9, 16)
    assert "'Bo Hill'" in finding.message
    assert late == ()


@pytest.mark.parametrize(("lines", "found"), [
    (["Ann runs.", "Annie falls.", "Ann and Lee wait.", "Ann sits."], [[], ["L8"], ["L8"], []]),
    # A track may use another name throughout, a full name may introduce somebody, a title is none.
    (["Lee runs.", "Lee falls.", "Ann sits."], [[], [], ["L8"]]),
    (["Ann Lee runs.", "Ann falls.", "Ann Lee sits.", "Ann hides."], [[], [], ["L8"], []]),
    (["Ann runs.", "Dr. Ann falls.", "Ann sits."], [[], [], []]),
    ([], []),
])  # fmt: skip
def test_two_names_for_one_person_are_a_warning(lines: list[str], found: list[list[str]]) -> None:
    told = check_names(list(enumerate(lines, 1)), cast, people_named)
    assert [[f.rule for f in one] for one in told] == found
    assert {str(f.level) for one in told for f in one} <= {"warning"}
    assert all("'Ann'" in f.message or "'Lee'" in f.message for one in told for f in one)
    assert check_names([(1, text) for text in lines], lambda at: (), people_named) == tuple(() for _ in lines)


PEOPLE = (
    Character("celia", "Celia", "Celia Smith", ("Dr. Smith", "the Doc"), pronoun="she"),
    Character("thom", "Thom", "Thomas Q. van Beek", pronoun="he"),
    Character("louis", "Louis", "Louis Roy", pronoun="he"),
    Character("maria", "Maria", "Maria Roy", pronoun="she"),
    Character("jones", "Jones", "Indiana Jones"),
    Character("will", "Will", "Will Brown", ("Black",)),
    Character("dude", "the Dude", "Jeff Lebowski"),
    Character("bo", "the man in grey", "the man in grey", (), ("Bo", "Captain Bo Hill"), named=False),
)


def mentioned(text: str) -> list[tuple[str, str]]:
    return [(mention.id, mention.text) for mention in cast_mentions(text, PEOPLE)]


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
    assert mentioned(text) == names


def test_spans_are_those_of_the_text_and_names_that_may_not_be_said_are_marked() -> None:
    text = "Then Dr. Celia Smith’s bag falls."
    (mention,) = cast_mentions(text, PEOPLE)
    assert text[mention.start : mention.end] == "Dr. Celia Smith"
    assert [mention.hidden for mention in cast_mentions("Bo sees Celia.", PEOPLE)] == [True, False]
    # Also where it may be a word.
    rose = Character("r", "the woman in red", "the woman in red", (), ("Rose",), "she", named=False)
    assert [mention.id for mention in cast_mentions("Rose walks in.", [rose])] == ["r"]
