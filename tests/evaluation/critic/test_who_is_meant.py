"""Whom names and pronouns in lines of AD mean, by the plain resolver: each case is plain to a reader."""

from __future__ import annotations

import pytest

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, Item, MetricContext, Store, make_metric, score
from shotad.script.cast_members import parse_member

THRILLER = ("Tony Wendice", "Margot Wendice", "Mark Halliday", "Chief Inspector Hubbard", "The Storyteller")
FILM = (
    "Will Brennan", "Rose Dawson", "Doc Erwin Riedenschneider", "Dix Handley", "Dr. Emmett Brown",
    "Mark 'Rat' Ratner", "Anne-Marie McCoy", "Jerry O'Neill", "T.J. McCabe", "Zoë Ortiz",
    "Douglas Quaid / Hauser", "Harold Dobbs - Hal", "Ben Newman at 7 Years Old", "Otis the Cow",
    "Captain Georg von Trapp", "Bus Driver", "First Detective", "CIA Man", "The Sundance Kid", "Fox",
    "Mr. Humberfloob / Voice of the Fish",
)  # fmt: skip


def meant(*sentences: str, cast: tuple[str, ...], starts: tuple[float, ...] = ()) -> list[list[str]]:
    """The characters that each sentence means; a second lies between their ``starts`` unless these are given."""
    times = starts or tuple(map(float, range(len(sentences))))
    items = tuple(
        Item(str(number), "film", Interval(start, start + 1.0), (sentence,))
        for number, (start, sentence) in enumerate(zip(times, sentences, strict=True))
    )
    context = MetricContext(Config(), Store())
    rows = score(make_metric("critic", context), Corpus(items, {"film": cast}), context).rows
    return [row.notes["human"] for row in rows]


@pytest.mark.parametrize(
    ("sentence", "cast", "people"),
    [
        ("Tony opens the door.", THRILLER, ["Tony Wendice"]),
        ("Mark hands them to the Inspector.", THRILLER, ["Chief Inspector Hubbard", "Mark Halliday"]),
        ("An inspector steps out of a car.", THRILLER, []),
        ("The storyteller turns a page.", THRILLER, ["The Storyteller"]),
        ("Mark points at the inspector", THRILLER, ["Chief Inspector Hubbard", "Mark Halliday"]),
        ("Mark and Margot stand facing Tony.", THRILLER, ["Margot Wendice", "Mark Halliday", "Tony Wendice"]),
        ("Surprised Margot turns.", THRILLER, ["Margot Wendice"]),
        ("Mrs. Wendice looks up.", THRILLER, ["Margot Wendice"]),
        ("Wendice looks up.", THRILLER, []),
        ("Mary Halliday waves from a car.", THRILLER, []),
        ("A car turns into Halliday Street.", THRILLER, []),
        ("The man looks up.", THRILLER, []),
        ("A sign reads 'Tony Wendice'.", THRILLER, []),
        ("She leaves a mark on the wall.", THRILLER, []),
        ("", THRILLER, []),
        ("Will steps back.", FILM, ["Will Brennan"]),
        ("Doc runs to the car.", FILM, []),
        ("Dr. Brown climbs the clock tower.", FILM, ["Dr. Emmett Brown"]),
        ("Rat waits at the till.", FILM, ["Mark 'Rat' Ratner"]),
        ("Anne Marie screams.", FILM, ["Anne-Marie McCoy"]),
        ("O’Neill salutes.", FILM, ["Jerry O'Neill"]),
        ("T.J. jumps down.", FILM, ["T.J. McCabe"]),
        ("Zoe sits down.", FILM, ["Zoë Ortiz"]),
        ("Hal smiles.", FILM, ["Harold Dobbs - Hal"]),
        ("Otis yanks the wheel.", FILM, ["Otis the Cow"]),
        ("Von Trapp blows a whistle.", FILM, ["Captain Georg von Trapp"]),
        ("The first detective kneels.", FILM, ["First Detective"]),
        ("Sundance looks around.", FILM, ["The Sundance Kid"]),
        ("The fish looks out of the bowl.", FILM, []),
        # A whole name is not a part of another; a child is not the grown person of that name.
        ("Jack runs.", ("Young Jack", "Jack"), ["Jack"]),
        ("Young Jack runs.", ("Young Jack", "Jack"), ["Young Jack"]),
        ("William rides on.", ("Young William",), []),
        # The man is somebody where the cast says so.
        ("The man and boy hide.", ("Man", "Boy", "Old Man", "Thief"), ["Boy", "Man"]),
        ("The man in the hat turns.", ("Man", "Boy", "Old Man", "Thief"), []),
        ("The old man sits by the fire.", ("Man", "Boy", "Old Man", "Thief"), ["Old Man"]),
        ("The falcon circles.", ("The Falcon",), ["The Falcon"]),
        # By ear.
        ("Margo shakes her head.", ("Margot Wendice",), ["Margot Wendice"]),
        ("Bob waves.", ("Robert Langdon",), ["Robert Langdon"]),
        ("Marty waves.", ("Mary Smith",), []),
        # An entry twice is one person, and one without a word is nobody.
        ("Lily waves.", ("Lily", "Lily", "Harry"), ["Lily"]),
        ("Tony waves.", ("#2", "", "Tony"), ["Tony"]),
    ],
)
def test_names(sentence: str, cast: tuple[str, ...], people: list[str]) -> None:
    assert meant(sentence, cast=cast) == [people]


def test_a_shared_name_is_theirs_who_was_spoken_of_last_or_whom_the_lines_make_he_or_she() -> None:
    people = meant(
        "Louis Ciavelli kneels.", "Ciavelli opens the safe.", cast=("Louis Ciavelli", "Maria Ciavelli")
    )
    assert people[1] == ["Louis Ciavelli"]
    cast = ("Staff Sergeant William Quarrel", "Connie Quarrel")
    lines = ("Quarrel lowers his rifle.", "Rain falls.", "Quarrel stands.")
    assert meant(*lines, cast=cast)[2] == ["Staff Sergeant William Quarrel"]


@pytest.mark.parametrize(
    ("entry", "pronoun"),
    [("Mrs. Baker", "she"), ("Sir Kenneth Clark", "he"), ("Motherly Woman", "she"), ("Mathilda's Father", "he"),
     ("Agent Bilkins", ""), ("Lady Jane Clark", "she"), ("First Lady", "she"), ("Mall Santa", "he")],
)  # fmt: skip
def test_titles_and_roles_say_who_is_she(entry: str, pronoun: str) -> None:
    assert parse_member(entry).pronoun == pronoun


CAST = ("Tony Wendice", "Margot Wendice", "Mark Halliday", "Charles Swann", "Celia Ross", "Quarrel", "Max")
T, M, H, S, C, X = "Tony Wendice", "Margot Wendice", "Mark Halliday", "Charles Swann", "Celia Ross", "Max"


def last(*sentences: str, starts: tuple[float, ...] = ()) -> set[str]:
    """The characters that the last sentence means."""
    return set(meant(*sentences, cast=CAST, starts=starts)[-1])


@pytest.mark.parametrize(
    ("text", "people"),
    [
        # A man and a woman.
        (["Tony opens the door.", "He steps inside."], {T}),
        (["Tony looks at Margot.", "She turns away."], {M}),
        (["Swann puts the scarf around Margot's neck.", "He pulls it tight as she gasps."], {M, S}),
        # Two women, two men.
        (["Margot meets Celia.", "Celia hugs her."], {M, C}),
        (["Margot meets Celia.", "She waves."], {M}),
        (["Tony glares.", "Mark hits him."], {T, H}),
        (["Mark follows Tony.", "He glares at Mark."], {T, H}),
        # In one sentence.
        (["Mark lies there.", "Tony pours himself a drink."], {T}),
        (["Mark leaves.", "Wiping his brow, Tony sits down."], {T}),
        (["Tony closes the door behind him."], {T}),
        (["Mark waits.", "Tony creeps up behind him."], {T, H}),
        (["Tony looks at Mark, who drops his cards."], {T, H}),
        (["Margot waits.", "Tony lets Mark kiss her."], {M, T, H}),
        (["Tony shoves Mark.", "And throws him to the ground."], {H}),
        # Somebody who is not in the cast.
        (["Tony waits.", "A man enters.", "He sits down."], set()),
        (["Tony waits.", "Her husband enters.", "He sits down."], set()),
        (["George waits.", "Tony enters.", "George shakes his head."], set()),
        # Possessives.
        (["Margot's hand trembles.", "She drops the glass."], {M}),
        (["Tony's wife looks up.", "She drops the glass."], set()),
        (["Margot's dog barks.", "Her eyes widen."], {M}),
        # Several.
        (["Tony looks at Margot.", "They kiss."], {T, M}),
        (["Tony, Mark and Celia enter.", "They sit down."], {T, H, C}),
        (["The police arrive.", "They search the flat."], set()),
        (["Tony and Mark enter.", "Two policemen stop them."], {T, H}),
        # It is nobody.
        (["Tony lifts the phone.", "It rings."], set()),
        (["Tony lifts the phone.", "Its cord swings."], set()),
        # Short forms.
        (["Tony waits.", "He's nervous."], {T}),
    ],
)  # fmt: skip
def test_pronouns(text: list[str], people: set[str]) -> None:
    assert last(*text) == people


def test_pronouns_do_not_reach_over_a_long_pause() -> None:
    text = ("Tony opens the door.", "He steps inside.")
    assert last(*text, starts=(10.0, 14.0)) == {T}
    assert last(*text, starts=(10.0, 900.0)) == set()
    assert last(*text) == {T}
    assert last(text[0], *["Rain falls."] * 10, text[1]) == set(), "nobody is in focus for ever"
    # A lead is meant where nobody is in focus.
    film = (*["Tony waits."] * 6, "Mark nods.", *["Rain falls."] * 10, "He steps inside.")
    assert last(*film) == {T}
    assert last(*film[:-1], "Tony looks at him.") == {T}, "the lead does not look at himself"


def test_every_sentence_has_its_answer() -> None:
    people = meant("Tony waits.", "", "He nods.", "…", cast=CAST)
    assert people == [["Tony Wendice"], [], ["Tony Wendice"], []]
    text = "The Inspector meets Tony's wife, Margot."
    assert meant(text, cast=(*CAST, "Inspector Hubbard")) == [["Inspector Hubbard", M, T]]
    # Two names that stand side by side are two people.
    assert meant("Jan looks at Jane.", "Jane laughs.", cast=("Jan Brady",)) == [["Jan Brady"], []]
    # What the film says of somebody tells who is she.
    film = ("Quarrel rubs her eyes.", "Quarrel lifts her gun.", "Tony meets Quarrel.", "She turns.")
    assert meant(*film, cast=CAST)[-1] == ["Quarrel"]
