"""Files of predictions as systems write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shotad.core import DatasetError, EvaluationError
from shotad.evaluation.predictions import NO_TEXT, Prediction, read_predictions


def write(folder: Path, text: str, name: str = "preds") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def lines(folder: Path, *records: dict[str, Any]) -> Path:
    return write(folder, "".join(json.dumps(record) + "\n" for record in records))


def said(*paths: Path, **options: str) -> list[Prediction]:
    return [row.prediction for row in read_predictions(*paths, **options).rows]


def test_all_that_a_line_may_hold(tmp_path: Path) -> None:
    record = {
        "id": 7,
        "text": " She runs. ",
        "candidates": ["She runs.", "She is off."],
        "description": "1. Main characters: a woman",
        "scale": 2.5,
        "threaded": True,
        "film": "tt01",
    }
    assert said(lines(tmp_path, record)) == [
        Prediction(
            "7", "She runs.", "", ("She runs.", "She is off."), "1. Main characters: a woman", 2.5, True
        )
    ]


@pytest.mark.parametrize(
    ("record", "text", "failure"),
    [
        ({"text": None, "failure": "no video"}, None, "no video"),
        ({"text": None}, None, NO_TEXT),
        ({}, None, NO_TEXT),
        ({"text": float("nan")}, None, NO_TEXT),
        ({"text": ""}, "", ""),
        ({"text": "", "failure": "said nothing"}, "", ""),
        ({"text": "nan"}, "nan", ""),
    ],
)
def test_null_has_failed_and_the_empty_text_is_a_text(
    tmp_path: Path, record: dict[str, Any], text: str | None, failure: str
) -> None:
    path = lines(tmp_path, {"id": "0", "text": "x"}, {"id": "1", **record})
    assert said(path)[1] == Prediction("1", text, failure)


@pytest.mark.parametrize("cell", ["", " ", "nan", "NaN", "None"])
def test_an_empty_cell_of_csv_has_failed(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path, f"anno_idx,text_gen\n0,He runs.\n1,{cell}\n")
    assert said(path) == [Prediction("0", "He runs."), Prediction("1", None, NO_TEXT)]


def test_published_columns_of_stage_two(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'imdbid,start,end,text_gt,text_gen,anno_idx\ntt01,1.5,3.25,Ann runs.,"He runs, and falls.",12\n',
    )
    read = read_predictions(path)
    (row,) = read.rows
    assert row.prediction == Prediction("12", "He runs, and falls.")
    assert (row.film, row.start, row.end, row.reference, row.where) == (
        "tt01",
        1.5,
        3.25,
        "Ann runs.",
        "preds, line 2",
    )
    assert (read.columns["id"], read.columns["text"]) == ("anno_idx", "text_gen")


def test_autoads_columns(tmp_path: Path) -> None:
    (row,) = read_predictions(write(tmp_path, "vid,text_gt,text_gen\n2014/ab,Ann runs.,He runs.\n")).rows
    assert (row.clip, row.reference, row.prediction) == ("2014/ab", "Ann runs.", Prediction("", "He runs."))


@pytest.mark.parametrize(
    "text",
    [
        "anno_idx,text_gen\n3,\"['He runs.', 'He is off.']\"\n",
        'anno_idx,text_gen\n3,"[""He runs."", ""He is off.""]"\n',
        "anno_idx,text_gen_1,text_gen_2\n3,He runs.,He is off.\n",
        "anno_idx,summarized_AD_2,summarized_AD_1\n3,He is off.,He runs.\n",
        '{"id": 3, "candidates": ["He runs.", null, "He is off."]}\n',
        '{"id": 3, "text_gen": ["He runs.", "He is off."]}\n',
    ],
)
def test_candidates_however_they_are_written(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    assert said(path) == [Prediction("3", "He runs.", candidates=("He runs.", "He is off."))]
    assert any("first of which is the prediction: 1." in one.what for one in read_predictions(path).findings)


def test_candidates_beside_a_chosen_text(tmp_path: Path) -> None:
    path = write(tmp_path, "id,text,candidates\n3,He is off.,\"['He runs.', 'He is off.']\"\n4,,[]\n")
    assert said(path) == [
        Prediction("3", "He is off.", candidates=("He runs.", "He is off.")),
        Prediction("4", None, NO_TEXT),
    ]
    assert not read_predictions(path).findings


def test_no_candidate_at_all_has_failed(tmp_path: Path) -> None:
    assert said(write(tmp_path, "id,text_gen\n3,[]\n")) == [Prediction("3", None, NO_TEXT)]


def test_ids_that_another_program_made_floats_of(tmp_path: Path) -> None:
    path = write(tmp_path, "anno_idx,text_gen\n12.0,He runs.\ns01.0,He is off.\n")
    assert [one.id for one in said(path)] == ["12", "s01.0"]
    assert said(lines(tmp_path, {"id": 12.0, "text": "a"}))[0].id == "12"


def test_brackets_in_a_sentence_are_no_list(tmp_path: Path) -> None:
    path = write(tmp_path, "id,text\n3,[Shot 1] He runs.\n4,['a\n")
    assert [one.text for one in said(path)] == ["[Shot 1] He runs.", "['a"]


def test_columns_may_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "nr,text,stage1\n5,He runs.,1. Main characters\n")
    assert said(path, id_column="nr", text_column="stage1")[0].text == "1. Main characters"
    with pytest.raises(EvaluationError, match=r"no column 'line' for the text\. It has: nr, text, stage1"):
        read_predictions(path, text_column="line")


def test_shards_are_read_together(tmp_path: Path) -> None:
    one = write(tmp_path, '{"id": 0, "text": "a"}\n', "one.jsonl")
    two = write(tmp_path, "id,text_gen\n1,b\n", "two.csv")
    read = read_predictions(one, two)
    assert [(row.prediction.id, row.prediction.text, row.where) for row in read.rows] == [
        ("0", "a", "one.jsonl, line 1"),
        ("1", "b", "two.csv, line 2"),
    ]
    assert read.name == "one.jsonl, two.csv"


def test_a_list_of_objects_is_read_too(tmp_path: Path) -> None:
    assert said(write(tmp_path, '[{"id": "a", "text": "b"}]'))[0] == Prediction("a", "b")


def test_a_torn_last_line_is_told_and_left_out(tmp_path: Path) -> None:
    read = read_predictions(write(tmp_path, '{"id": 0, "text": "a"}\n{"id": 1, "te'))
    assert len(read.rows) == 1
    assert [(one.level, one.where) for one in read.findings] == [("malformed", "preds, line 2")]


def test_bytes_that_are_not_utf8_are_told(tmp_path: Path) -> None:
    path = tmp_path / "preds.csv"
    path.write_bytes(b"id,text\n0,caf\xe9\n")
    read = read_predictions(path)
    assert read.rows[0].prediction.text == "café"
    assert [one.where for one in read.findings] == ["preds.csv, line 2"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("id,line\n1,a\n", r"no column of predictions.*It has: id, line\. .*--text-column"),
        ('{"id": 0, "text": "a"}\n{"id": 1, "te\n{"id": 2}\n', "preds, line 2, is no JSON"),
        ('{"id": 0, "text": "a"}\n[1]\n', r"line 2, is \[1\]"),
        ('{"id": 0, "text": {"a": 1}}\n', "line 1: text is {'a': 1}, and must be a text"),
        ('{"id": true, "text": "a"}\n', "id is True"),
        ('{"id": 0, "text": "a", "scale": "wide"}\n', "scale is 'wide', and must be a number"),
        ('{"id": 0, "text": "a", "threaded": "perhaps"}\n', "must be true or false"),
        ('{"id": 0, "text": "a", "candidates": [1]}\n', "line 1: candidates: '1' in the list is no text"),
        ("id,text\n0,a,b\n", "preds, line 2: 3 cells for 2 columns"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises((DatasetError, EvaluationError), match=says):
        read_predictions(write(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read: No such file"):
        read_predictions(tmp_path / "nothing.jsonl")
