"""Repetition and kept names: by hand, what is left out, what the human ADs have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import Config
from shotad.evaluation import MetricContext, Result, Store, make_metric, score
from shotad.evaluation.metric import Json
from tests.evaluation.allmetrics import corpus_of

NAMES = ("repetition", "repetition-meaning", "names-kept")
CAST = ("Tony Wendice", "Margot Smith")


class Letters:
    """Vectors of letter counts: lines of the same letters are alike."""

    identity: ClassVar[Json] = {"model": "letters"}

    def of(self, texts: Sequence[str], *, prompt: str = "") -> npt.NDArray[np.float32]:
        counts = [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts]
        rows = np.array(counts, np.float32).reshape(len(texts), 26)
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def scored(name: str, *lines: str | None, cast: tuple[str, ...] = CAST) -> Result:
    bench = MetricContext(Config(), Store())
    bench.once("vectors", Letters)
    pairs = [(f"Reference {i}", line) for i, line in enumerate(lines)]
    return score(make_metric(name, bench), corpus_of(pairs, casts={"film": cast}), bench)


@pytest.mark.parametrize(
    ("line", "before", "runs", "total"),
    [
        ("She smiles at Bob.", "Ann smiles at Bob again.", ["smiles at bob"], 2),
        ("She smiles at Bob.", "SHE SMILES, at Bob!", ["she smiles at", "smiles at bob"], 2),
        ("Later.", "Much later.", ["later"], 1),
        ("She steps out of the house.", "He runs out of the fog.", [], 3),
        ("Out of the", "out of the", [], 0),
        ("", "He turns.", [], 0),
        ("red red red red", "red red red", ["red red red", "red red red"], 2),
    ],
)
def test_runs_that_come_again(line: str, before: str, runs: list[str], total: int) -> None:
    _, row = scored("repetition", before, line).rows
    assert row.sums == (len(runs), total)
    assert row.notes.get("repeated", []) == runs


PEOPLE = ("Tony Wendice", "Margot Wendice", "Chief Inspector Hubbard", "Dr. Emmett Brown")


@pytest.mark.parametrize(
    ("lines", "sums", "changes"),
    [
        (("Tony smiles.", None, "Tony sits.", "He waits."), [(0, 0), (0, 0), (1, 1), (0, 0)], []),
        # A first mention may be longer.
        (("Tony Wendice smiles.", "Tony sits.", "Tony Wendice sits."), [(0, 0), (1, 1), (0, 1)],
         ["tony → tony wendice"]),
        # Changes and changes back.
        (("Hubbard waits.", "The inspector nods.", "Hubbard leaves."), [(0, 0), (0, 1), (0, 1)],
         ["hubbard → inspector", "inspector → hubbard"]),
        # Titles make no other name.
        (("Inspector Hubbard waits.", "Hubbard nods.", "Chief Inspector Hubbard leaves."),
         [(0, 0), (1, 1), (1, 1)], []),
        # What two people are called does not count.
        (("Tony smiles.", "Wendice sits.", "Tony stands."), [(0, 0), (0, 0), (1, 1)], []),
    ],
)  # fmt: skip
def test_names_along_lines(
    lines: tuple[str | None, ...], sums: list[tuple[int, int]], changes: list[str]
) -> None:
    rows = scored("names-kept", *lines, cast=PEOPLE).rows
    assert [row.sums for row in rows] == sums
    assert [change for row in rows for change in row.notes.get("changed", ())] == changes


def test_repetition_and_names_kept_by_hand() -> None:
    result = scored("repetition", "Tony opens the door.", "Tony opens the window.", "Margot sits.")
    assert [row.sums for row in result.rows] == [(0, 0), (1, 2), (0, 1)]
    assert [row.value for row in result.rows] == [None, 50, 0]
    assert result.value == pytest.approx(100 / 3)
    assert result.rows[1].notes == {"repeated": ["tony opens the"]}
    # It reaches back so many lines.
    between = ["Margot sits.", "Rain falls.", "Snow melts.", "Dogs bark."]
    lines = ["Tony opens the door.", *between, "Tony opens the door."]
    assert scored("repetition", *lines).value == pytest.approx(100 * 2 / 6)
    assert scored("repetition", lines[0], *between, "Cats sleep.", lines[0]).value == 0
    result = scored("repetition-meaning", "ab", "cd", "ac", "ba")
    assert [row.value for row in result.rows] == [None, 0, pytest.approx(50, abs=1e-4), pytest.approx(100)]
    assert result.value == pytest.approx(50, abs=1e-4)
    assert result.rows[3].notes == {"like": "ab"}
    lines = ["Tony waits.", "Tony looks at Margot.", "Wendice nods to Margot.", "Rain falls."]
    result = scored("names-kept", *lines)
    assert [row.sums for row in result.rows] == [(0, 0), (1, 1), (1, 2), (0, 0)]
    assert [row.value for row in result.rows] == [None, 100, 50, None]
    assert result.value == pytest.approx(100 * 2 / 3)
    assert result.rows[2].notes == {"changed": ["tony → wendice"]}


@pytest.mark.parametrize("name", NAMES)
def test_silence_is_neither_gain_nor_loss(name: str) -> None:
    lines = ["Tony opens the door.", "Tony opens the door.", "Wendice opens the door."]
    whole = scored(name, *lines)
    gaps = scored(name, lines[0], None, lines[1], "…", lines[2])
    assert gaps.value == pytest.approx(whole.value)
    assert [row.value for row in gaps.rows][1::2] == [None, None]
    assert [row.failure for row in gaps.rows] == ["", "no prediction", "", "", ""]
    assert "2 ADs with nothing said are left out; silence repeats and renames nothing." in gaps.remarks
    nothing = scored(name, None, None)
    assert nothing.value is None
    assert nothing.failed == 2
