"""Names along a film: kept, introduced in full, or changed."""

from __future__ import annotations

import pytest

from shotad.evaluation.metrics.sequences import namings

CAST = ("Tony Wendice", "Margot Wendice", "Chief Inspector Hubbard", "Dr. Emmett Brown")


def labels(*lines: str | None) -> list[list[tuple[str, bool]]]:
    return [[(n.label, n.kept) for n in line] for line in namings(lines, CAST)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(
            ("Tony smiles.", None, "Tony sits.", "He waits."),
            [[("tony", True)], [], [("tony", True)], []],
            id="kept",
        ),
        pytest.param(
            ("Tony Wendice smiles.", "Tony sits.", "Tony Wendice sits."),
            [[("tony wendice", True)], [("tony", True)], [("tony wendice", False)]],
            id="first mention may be longer",
        ),
        pytest.param(
            ("Hubbard waits.", "The inspector nods.", "Hubbard leaves."),
            [[("hubbard", True)], [("inspector", False)], [("hubbard", False)]],
            id="changes and changes back",
        ),
        pytest.param(
            ("Inspector Hubbard waits.", "Hubbard nods.", "Chief Inspector Hubbard leaves."),
            [[("hubbard", True)], [("hubbard", True)], [("hubbard", True)]],
            id="titles make no other name",
        ),
        pytest.param(
            ("Tony smiles.", "Wendice sits.", "Tony stands."),
            [[("tony", True)], [], [("tony", True)]],
            id="what two people are called does not count",
        ),
    ],
)
def test_names_along_lines(lines: tuple[str | None, ...], expected: list[list[tuple[str, bool]]]) -> None:
    assert labels(*lines) == expected


def test_everybody_has_a_last_name_of_their_own() -> None:
    found = labels("Tony looks at Margot.", "Margot looks at Tony and Brown.", "Emmett looks at Tony.")
    assert found[1] == [("margot", True), ("tony", True), ("brown", True)]
    assert found[2] == [("emmett", False), ("tony", True)]


def test_nobody_is_named_without_a_cast() -> None:
    assert namings(["Tony sits."], ()) == [()]
    assert labels("A man sits.", "") == [[], []]
