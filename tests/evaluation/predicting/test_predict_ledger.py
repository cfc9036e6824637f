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


@pytest.mark.parametrize(("text", "failure"), [(None, ""), ("She runs.", "broken")])
def test_a_line_has_a_text_or_a_failure(text: str | None, failure: str) -> None:
    with pytest.raises(ValueError, match="text or a failure"):
        replace(line("a"), text=text, failure=failure)


def test_lines_are_there_at_once_and_end_in_order(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    ledger = Ledger(path, IDS, "t")
    ledger.add([line("c"), line("a")])
    assert rows(path) == [("c", "She runs."), ("a", "She runs.")]
    ledger.finish()
    assert rows(path) == [("a", "She runs."), ("c", "She runs.")]


def test_what_is_there_is_known_by_its_key_only(tmp_path: Path) -> None:
    Ledger(tmp_path / "p.jsonl", IDS, "t").add([line("a")])
    again = Ledger(tmp_path / "p.jsonl", IDS, "t")
    assert again.known("a", "t-a") == line("a")
    assert again.known("a", "other") is None
    assert again.known("b", "t-a") is None
    assert again.at("a") == line("a")


def test_a_failed_line_that_may_do_better_is_made_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "p.jsonl", IDS, "t")
    ledger.add([line("a", None, again=True), line("b", None)])
    assert ledger.known("a", "t-a") is None
    assert ledger.at("a") is None
    assert ledger.known("b", "t-b") == line("b", None)
    assert [one.id for one in ledger.lines] == ["a", "b"]
    assert rows(tmp_path / "p.jsonl") == [("a", None), ("b", None)]
    assert [one.id for one in Ledger(tmp_path / "p.jsonl", IDS, "t").lines] == ["b"]


def test_a_new_line_takes_the_place_of_the_old_at_once(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    ledger = Ledger(path, IDS, "t")
    ledger.add([line("a", None, again=True), line("b")])
    ledger.add([line("a", "He sits.", key="k")])
    assert rows(path) == [("a", "He sits."), ("b", "She runs.")]


def test_lines_of_other_settings_go_aside_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    Ledger(path, IDS, "t").add([line("a"), line("b", None)])
    other = Ledger(path, IDS, "u")
    assert other.lines == ()
    assert rows(path) == []
    other.add([line("a", "He sits.", "u")])
    assert rows(path) == [("a", "He sits.")]
    back = Ledger(path, IDS, "t")
    assert back.known("a", "t-a") == line("a")
    assert rows(path) == [("a", "She runs."), ("b", None)]


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
