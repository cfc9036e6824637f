"""``shotad evaluate convert``: predictions in the published CSV form, and back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from shotad.evaluation import load_dataset, read_inputs
from tests.cli.program import Said, Shotad
from tests.evaluation.datasets.datasetfiles import CMD_ROWS, TV_COLUMNS, TV_ROWS, cmd_ad, table

STAGE2 = ["imdbid", "start", "end", "text_gt", "text_gen", "anno_idx"]
"""As stage2/main_llama3.py writes them."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return cmd_ad(tmp_path / "cmd-ad")


def convert(
    shotad: Shotad, root: Path, predictions: Path, out: Path, *words: object, name: str = "cmd-ad"
) -> Said:
    said = shotad(
        "evaluate", "convert", name, "--root", root, "--predictions", predictions, "--out", out, *words
    )
    assert said.code == 0, said.err
    return said


def rows_of(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write_lines(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


OURS: tuple[dict[str, Any], ...] = (
    # Not in the dataset's order, one that failed, one missing.
    {"id": "3", "text": 'He says "Café, now", and waves.', "description": "1. Main characters: Bob.\n2. Actions: He waves."},
    {"id": "0", "text": "Ann opens a door.", "candidates": ["Ann opens a door."], "description": "2. Actions: opens"},
    {"id": "1", "text": None, "failure": "no line was found in the answer"},
)  # fmt: skip


def test_ours_become_a_row_for_each_ad_in_order(shotad: Shotad, root: Path, tmp_path: Path) -> None:
    out = tmp_path / "stage2_llama3_single.csv"
    said = convert(shotad, root, write_lines(tmp_path / "p.jsonl", *OURS), out)
    assert "2 of 4 ADs have a prediction" in said.out
    assert rows_of(out) == [
        STAGE2,
        ["tt01", "10.0", "11.0", "Ann opens the door.", "Ann opens a door.", "0"],
        ["tt01", "13.0", "16.0", "She runs, and falls.", "", "1"],
        ["tt02", "0.2", "1.2", "Bob sits down.", "", "2"],
        ["tt02", "2.65", "4.15", "He waves.", 'He says "Café, now", and waves.', "3"],
    ]
    out = tmp_path / "stage1_qwen2vl.csv"
    convert(shotad, root, tmp_path / "p.jsonl", out, "--stage", 1)
    head, first, *_, last = rows_of(out)
    assert head == ["anno_idx", "imdbid", "start", "end", "text_gt", "text_gen"]
    assert first[-1] == "2. Actions: opens"
    assert last[-1] == "1. Main characters: Bob.\n2. Actions: He waves."


def test_candidates_stand_in_one_cell_as_the_assistant_mode_writes_them(
    shotad: Shotad, root: Path, tmp_path: Path
) -> None:
    lines = ["Ann opens a door.", 'She says "Hi".', "It's Ann's."]
    ours = write_lines(tmp_path / "p.jsonl", {"id": "0", "text": lines[1], "candidates": lines})
    out = tmp_path / "stage2_llama3_assistant.csv"
    convert(shotad, root, ours, out)
    assert rows_of(out)[1][4] == repr(lines)
    back = tmp_path / "back.jsonl"
    convert(shotad, root, out, back)
    (line, *failed) = map(json.loads, back.read_text(encoding="utf-8").splitlines())
    assert line["candidates"] == lines
    assert [row["text"] for row in failed] == [None] * 3


def test_times_of_a_series_are_those_of_the_episode(shotad: Shotad, tmp_path: Path) -> None:
    root = tmp_path / "tv-ad"
    table(root / "tvad_anno.csv", TV_COLUMNS, TV_ROWS)
    ours = write_lines(tmp_path / "p.jsonl", {"id": "0", "text": "It opens."})
    out = tmp_path / "stage2.csv"
    convert(shotad, root, ours, out, name="tv-ad")
    assert rows_of(out)[1][:3] == ["tt0583459", "240.25", "241.75"]


PUBLISHED = """imdbid,start,end,text_gt,text_gen,anno_idx
tt02,2.65,4.15,He waves.,"He looks up, and waves.",3
tt01,10.0,11.0,Ann opens the door.,Ann opens the door slowly.,0
tt01,13.0,16.0,"She runs, and falls.",,1
"""
"""As published: pandas' to_csv without an index; an AD whose video was missing has no row."""


def test_theirs_become_lines_like_ours(shotad: Shotad, root: Path, tmp_path: Path) -> None:
    theirs, out = tmp_path / "stage2_llama3_single.csv", tmp_path / "theirs.jsonl"
    theirs.write_text(PUBLISHED, encoding="utf-8")
    convert(shotad, root, theirs, out)
    lines = list(map(json.loads, out.read_text(encoding="utf-8").splitlines()))
    assert [(line["id"], line["film"], line["clip"], line["start"], line["text"]) for line in lines] == [
        ("0", "tt01", "2014/ab", 10.0, "Ann opens the door slowly."),
        ("1", "tt01", "2014/ab", 13.0, None),
        ("3", "tt02", "2015/cd", 2.65, "He looks up, and waves."),
    ]
    # Both files are evaluated alike, and the way back gives the same texts.
    one, two = (read_inputs("cmd-ad", [path], root=root, metrics=["cider"]) for path in (theirs, out))
    assert [item.prediction for item in one.items] == [item.prediction for item in two.items]
    assert len(one.items) == len(CMD_ROWS) == len(load_dataset("cmd-ad", root).ads)
    back = tmp_path / "back.csv"
    convert(shotad, root, out, back)
    assert {row[-1]: row[4] for row in rows_of(back)[1:] if row[4]} == {
        "0": "Ann opens the door slowly.", "3": "He looks up, and waves.",
    }  # fmt: skip


def test_the_ending_says_the_form(shotad: Shotad, root: Path, tmp_path: Path) -> None:
    ours = write_lines(tmp_path / "p.jsonl", *OURS)
    out = tmp_path / "p.txt"
    refused = shotad("evaluate", "convert", "cmd-ad", "--root", root, "--predictions", ours, "--out", out)
    assert refused.code == 2
    assert "neither .csv nor .jsonl" in refused.err
    assert not out.exists()
