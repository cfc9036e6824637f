"""The file of predictions: what is taken up again, what is laid aside, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Interval, WorkFolderError
from shotad.evaluation.predicting.lines import PredictedLine, line_of
from shotad.evaluation.predicting.run import Ledger

IDS = ["a", "b", "c", "d"]


def line(name: str, text: str | None = "She runs.", terms: str = "t", **more: Any) -> PredictedLine:
    failure = "" if text is not None else "broken"
    status = "placed" if text is not None else "failed"
    made = PredictedLine(
        name, "film", "clip", Interval(1.0, 2.5), text, status, terms, f"{terms}-{name}", failure
    )
    return replace(made, **more)


def rows(path: Path) -> list[tuple[str, str | None]]:
    return [(row["id"], row["text"]) for row in map(json.loads, path.read_text().splitlines())]


def test_a_line_reads_back_as_it_was() -> None:
    full = line(
        "a", reason="so",
        words=7, candidates=("x", "y"), description="1. Actions: runs", scale=2.5,
        threaded=True, shots="published", engines={"stage1": {"engine": "fake"}},
    )  # fmt: skip
    assert line_of({"key": full.key, **full.to_json()}) == full


def test_a_new_line_takes_the_place_of_the_old_at_once(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    ledger = Ledger(path, IDS, "t")
    ledger.add([line("a", None, again=True), line("b")])
    ledger.add([line("a", "He sits.", key="k")])
    assert rows(path) == [("a", "He sits."), ("b", "She runs.")]


def test_a_half_written_last_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    Ledger(path, IDS, "t").add([line("a"), line("b")])
    whole = path.read_bytes()
    for cut in (1, 2, 40, len(whole) - whole.index(b"\n") - 1):
        path.write_bytes(whole[:-cut])
        assert [one.id for one in Ledger(path, IDS, "t").lines] == ["a"]
    path.write_bytes(whole[:30])
    ledger = Ledger(path, IDS, "t")
    assert ledger.lines == ()
    ledger.add([line("b")])
    assert rows(path) == [("b", "She runs.")]


@pytest.mark.parametrize("content", ["id,text\n1,She runs.\n", '{"id": "1", "text": "x"}\n', "notes"])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text(content)
    with pytest.raises(WorkFolderError, match="something else"):
        Ledger(path, IDS, "t")
    assert path.read_text() == content


def test_an_empty_file_will_do(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.touch()
    Ledger(path, IDS, "t").add([line("a")])
    assert rows(path) == [("a", "She runs.")]


def test_ids_that_the_dataset_has_not_go(tmp_path: Path) -> None:
    Ledger(tmp_path / "p.jsonl", IDS, "t").add([line("a"), line("d")])
    assert [one.id for one in Ledger(tmp_path / "p.jsonl", ["d"], "t").lines] == ["d"]
