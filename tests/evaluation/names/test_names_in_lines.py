"""Names in lines of AD, by the plain resolver: each case is plain to a reader."""

from __future__ import annotations

import pytest

from shotad.evaluation.metrics.critic import Document
from shotad.evaluation.metrics.pronouns import resolved
from shotad.script.cast_members import member

THRILLER = ("Tony Wendice", "Margot Wendice", "Mark Halliday", "Chief Inspector Hubbard", "The Storyteller")
FILM = (
    "Will Brennan",
    "Rose Dawson",
    "Doc Erwin Riedenschneider",
    "Dix Handley",
    "Dr. Emmett Brown",
    "Mark 'Rat' Ratner",
    "Anne-Marie McCoy",
    "Jerry O'Neill",
    "T.J. McCabe",
    "Zoë Ortiz",
    "Douglas Quaid / Hauser",
    "Harold Dobbs - Hal",
    "Ben Newman at 7 Years Old",
    "Otis the Cow",
    "Captain Georg von Trapp",
    "Bus Driver",
    "First Detective",
    "CIA Man",
    "The Sundance Kid",
    "Fox",
    "Mr. Humberfloob / Voice of the Fish",
)


def meant(*sentences: str, cast: tuple[str, ...] = FILM) -> list[list[str]]:
    """Whom each sentence means, by the first word of the entry that tells them apart."""
    return [list(people) for people in resolved(Document(sentences, cast))]


@pytest.mark.parametrize(
    ("sentence", "people"),
    [
        ("Tony opens the door.", ["Tony Wendice"]),
        ("The letter drops out of Tony's pocketbook.", ["Tony Wendice"]),
        ("Mark hands them to the Inspector.", ["Chief Inspector Hubbard", "Mark Halliday"]),
        ("The inspector combs his moustache.", ["Chief Inspector Hubbard"]),
        ("An inspector steps out of a car.", []),
        ("The storyteller turns a page.", ["The Storyteller"]),
        ("Mark and Margot stand facing Tony.", ["Margot Wendice", "Mark Halliday", "Tony Wendice"]),
        ("Behind Tony, the door opens.", ["Tony Wendice"]),
        ("Surprised Margot turns.", ["Margot Wendice"]),
        ("Mrs. Wendice looks up.", ["Margot Wendice"]),
        ("Mr. Wendice looks up.", ["Tony Wendice"]),
        ("Wendice looks up.", []),
        ("Mary Halliday waves from a car.", []),
        ("A car turns into Halliday Street.", []),
        ("The man looks up.", []),
        ("A sign reads 'Tony Wendice'.", []),
        ("She leaves a mark on the wall.", []),
        ("", []),
    ],
)
def test_names_of_a_small_cast(sentence: str, people: list[str]) -> None:
    assert meant(sentence, cast=THRILLER) == [people]


@pytest.mark.parametrize(
    ("sentence", "person"),
    [
        ("Will steps back.", "Will Brennan"),
        ("They hand the key to Rose.", "Rose Dawson"),
        ("Doc runs to the car.", None),
        ("Riedenschneider lights a cigar.", "Doc Erwin Riedenschneider"),
        ("Dr. Brown climbs the clock tower.", "Dr. Emmett Brown"),
        ("Doctor Brown climbs the clock tower.", "Dr. Emmett Brown"),
        ("Rat waits at the till.", "Mark 'Rat' Ratner"),
        ("Anne Marie screams.", "Anne-Marie McCoy"),
        ("ANNE-MARIE screams.", "Anne-Marie McCoy"),
        ("O’Neill salutes.", "Jerry O'Neill"),
        ("T.J. jumps down.", "T.J. McCabe"),
        ("Zoe sits down.", "Zoë Ortiz"),
        ("Hauser fires.", "Douglas Quaid / Hauser"),
        ("Hal smiles.", "Harold Dobbs - Hal"),
        ("Ben climbs the tree.", "Ben Newman at 7 Years Old"),
        ("Otis yanks the wheel.", "Otis the Cow"),
        ("A cow yanks the wheel.", None),
        ("The captain blows his whistle.", "Captain Georg von Trapp"),
        ("Von Trapp blows a whistle.", "Captain Georg von Trapp"),
        ("The bus driver brakes.", "Bus Driver"),
        ("The driver brakes.", "Bus Driver"),
        ("The first detective kneels.", "First Detective"),
        ("The man kneels.", None),
        ("Sundance looks around.", "The Sundance Kid"),
        ("A fox crosses the road.", None),
        ("The fish looks out of the bowl.", None),
        ("Roses fall on the stage.", None),
        ("The doorman will step back.", None),
        ("A rose lies on the table.", None),
        ("Brown eyes stare at the door.", None),
    ],
)
def test_names_of_all_kinds(sentence: str, person: str | None) -> None:
    assert meant(sentence) == [[person] if person else []]


def test_an_entry_twice_is_one_person() -> None:
    assert meant("Lily waves.", cast=("Lily", "Lily", "Harry")) == [["Lily"]]


def test_a_whole_name_is_not_a_part_of_another() -> None:
    assert meant("Jack runs.", cast=("Young Jack", "Jack")) == [["Jack"]]
    assert meant("Young Jack runs.", cast=("Young Jack", "Jack")) == [["Young Jack"]]


def test_a_child_is_not_the_grown_person_of_that_name() -> None:
    assert meant("William rides on.", cast=("Young William",)) == [[]]


def test_a_shared_name_is_theirs_who_was_spoken_of_last() -> None:
    found = meant(
        "Louis Ciavelli kneels.", "Ciavelli opens the safe.", cast=("Louis Ciavelli", "Maria Ciavelli")
    )
    assert found[1] == ["Louis Ciavelli"]


def test_a_shared_name_is_theirs_whom_the_lines_make_he_or_she() -> None:
    cast = ("Staff Sergeant William Quarrel", "Connie Quarrel")
    lines = ("Quarrel lowers his rifle.", "Rain falls.", "Quarrel stands.")
    assert meant(*lines, cast=cast)[2] == ["Staff Sergeant William Quarrel"]


def test_the_man_is_somebody_where_the_cast_says_so() -> None:
    cast = ("Man", "Boy", "Old Man", "Thief")
    assert meant("The man and boy hide.", cast=cast) == [["Boy", "Man"]]
    assert meant("The man in the hat turns.", cast=cast) == [[]]
    assert meant("The old man sits by the fire.", cast=cast) == [["Old Man"]]


@pytest.mark.parametrize(
    ("sentence", "cast", "person"),
    [
        ("Margo shakes her head.", ("Margot Wendice",), "Margot Wendice"),
        ("Ronnie closes the gate.", ("Ronny",), "Ronny"),
        ("Lori stops.", ("Laurie Strode",), "Laurie Strode"),
        ("Manny lowers his head.", ("Manfred",), "Manfred"),
        ("Bob waves.", ("Robert Langdon",), "Robert Langdon"),
        ("Sarchi kneels beside Fauchet.", ("Fouchet",), "Fouchet"),
        ("Marty waves.", ("Mary Smith",), None),
        ("Jenny waves.", ("Johnny",), None),
        ("Carla waves.", ("Carl",), None),
    ],
)
def test_names_by_ear(sentence: str, cast: tuple[str, ...], person: str | None) -> None:
    assert meant(sentence, cast=cast) == [[person] if person else []]


def test_two_names_that_stand_side_by_side_are_two_people() -> None:
    assert meant("Jan looks at Jane.", "Jane laughs.", cast=("Jan Brady",)) == [["Jan Brady"], []]


@pytest.mark.parametrize(
    ("entry", "pronoun"),
    [("Mrs. Baker", "she"), ("Sir Kenneth Clark", "he"), ("Motherly Woman", "she"), ("Mathilda's Father", "he"),
     ("Agent Bilkins", ""), ("Lady Jane Clark", "she"), ("First Lady", "she"), ("Mall Santa", "he")],
)  # fmt: skip
def test_titles_and_roles_say_who_is_she(entry: str, pronoun: str) -> None:
    assert member(entry).pronoun == pronoun


def test_an_entry_without_a_word_is_nobody() -> None:
    assert resolved(Document(("Tony waves.",), ("#2", "", "Tony"))) == (("Tony",),)
