"""Names along a film: kept, introduced in full, or changed."""

from __future__ import annotations

from shotad.evaluation.metrics.sequences import namings

CAST = ("Tony Wendice", "Margot Wendice", "Chief Inspector Hubbard", "Dr. Emmett Brown")


def labels(*lines: str | None) -> list[list[tuple[str, bool]]]:
    return [[(n.label, n.kept) for n in line] for line in namings(lines, CAST)]


def test_a_name_that_is_kept() -> None:
    assert labels("Tony smiles.", None, "Tony sits.", "He waits.") == [
        [("tony", True)],
        [],
        [("tony", True)],
        [],
    ]


def test_a_first_mention_may_be_longer() -> None:
    assert labels("Tony Wendice smiles.", "Tony sits.", "Tony Wendice sits.") == [
        [("tony wendice", True)],
        [("tony", True)],
        [("tony wendice", False)],
    ]


def test_names_that_change_and_change_back() -> None:
    assert labels("Hubbard waits.", "The inspector nods.", "Hubbard leaves.") == [
        [("hubbard", True)],
        [("inspector", False)],
        [("hubbard", False)],
    ]


def test_titles_make_no_other_name() -> None:
    assert labels("Inspector Hubbard waits.", "Hubbard nods.", "Chief Inspector Hubbard leaves.") == [
        [("hubbard", True)],
        [("hubbard", True)],
        [("hubbard", True)],
    ]


def test_names_that_two_people_have_are_not_counted() -> None:
    assert labels("Tony smiles.", "Wendice sits.", "Tony stands.") == [
        [("tony", True)],
        [],
        [("tony", True)],
    ]


def test_everybody_has_a_last_name_of_their_own() -> None:
    found = labels("Tony looks at Margot.", "Margot looks at Tony and Brown.", "Emmett looks at Tony.")
    assert found[1] == [("margot", True), ("tony", True), ("brown", True)]
    assert found[2] == [("emmett", False), ("tony", True)]


def test_nobody_is_named_without_a_cast() -> None:
    assert namings(["Tony sits."], ()) == [()]
    assert labels("A man sits.", "") == [[], []]
