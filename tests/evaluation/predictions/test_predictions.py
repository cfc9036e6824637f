"""Predictions: files as systems write them, joined with the human ADs by id, never by row, and nothing left out unsaid."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import DatasetError, EvaluationError, Interval
from shotad.evaluation import Dataset
from shotad.evaluation.datasets.dataset import Ad
from shotad.evaluation.predictions import (
    NO_TEXT,
    Joined,
    PredictionRow,
    Predictions,
    join,
    read_predictions,
)


def write(folder: Path, text: str, name: str = "preds") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def predicted(*told: Any, **more: Any) -> PredictionRow:
    return PredictionRow("", *told, **more)


def alone(row: PredictionRow) -> PredictionRow:
    """What is predicted, without where it stands and what the file tells of its AD."""
    return replace(row, where="", film="", clip="", start=None, end=None, reference="")


def rows_of(path: Path, **options: str) -> list[PredictionRow]:
    return [alone(row) for row in read_predictions(path, **options).rows]


@pytest.mark.parametrize(
    ("told", "text", "failure"),
    [
        ('"text": null, "failure": "no video"', None, "no video"),
        ('"text": null', None, NO_TEXT),
        ('"other": 1', None, NO_TEXT),
        ('"text": NaN', None, NO_TEXT),
        ('"text": "", "failure": "said nothing"', "", ""),
        ('"text": "nan"', "nan", ""),
    ],
)
def test_null_has_failed_empty_has_not(tmp_path: Path, told: str, text: str | None, failure: str) -> None:
    path = write(tmp_path, f'{{"id": "0", "text": "x"}}\n{{"id": "1", {told}}}\n')
    assert rows_of(path)[1] == predicted("1", text, failure)
    # An empty cell of CSV has failed.
    for cell in ("", " ", "nan", "None"):
        path = write(tmp_path, f"anno_idx,text_gen\n0,He runs.\n1,{cell}\n")
        assert rows_of(path) == [predicted("0", "He runs."), predicted("1", None, NO_TEXT)]


def test_published_columns_and_columns_by_name(tmp_path: Path) -> None:
    columns = "imdbid,start,end,text_gt,text_gen,anno_idx"
    path = write(tmp_path, f'{columns}\ntt01,1.5,3.25,Ann runs.,"He runs, and falls.",12\n')
    read = read_predictions(path)
    (row,) = read.rows
    assert alone(row) == predicted("12", "He runs, and falls.")
    assert (row.film, row.start, row.end, row.reference) == ("tt01", 1.5, 3.25, "Ann runs.")
    assert row.where == "preds, line 2"
    assert (read.columns["id"], read.columns["text"]) == ("anno_idx", "text_gen")
    # Columns may be named.
    path = write(tmp_path, "nr,text,stage1\n5,He runs.,1. Main characters\n")
    assert rows_of(path, id_column="nr", text_column="stage1")[0].text == "1. Main characters"
    with pytest.raises(EvaluationError, match=r"no column 'line' for the text\. It has: nr, text, stage1"):
        read_predictions(path, text_column="line")


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
    assert rows_of(path) == [predicted("3", "He runs.", candidates=("He runs.", "He is off."))]
    assert any("first of which is the prediction: 1." in one.what for one in read_predictions(path).findings)


def test_ids_that_another_program_made_floats_of_and_brackets_in_a_sentence(tmp_path: Path) -> None:
    path = write(tmp_path, "anno_idx,text_gen\n12.0,He runs.\ns01.0,He is off.\n")
    assert [one.id for one in rows_of(path)] == ["12", "s01.0"]
    assert rows_of(write(tmp_path, '{"id": 12.0, "text": "a"}'))[0].id == "12"
    path = write(tmp_path, "id,text\n3,[Shot 1] He runs.\n4,['a\n")
    assert [one.text for one in rows_of(path)] == ["[Shot 1] He runs.", "['a"]


def test_shards_are_read_together_and_torn_lines_left_out(tmp_path: Path) -> None:
    one = write(tmp_path, '{"id": 0, "text": "a"}\n', "one.jsonl")
    two = write(tmp_path, "id,text_gen\n1,b\n", "two.csv")
    read = read_predictions(one, two)
    assert [(row.id, row.text) for row in read.rows] == [("0", "a"), ("1", "b")]
    assert [row.where for row in read.rows] == ["one.jsonl, line 1", "two.csv, line 2"]
    assert read.name == "one.jsonl, two.csv"
    read = read_predictions(write(tmp_path, '{"id": 0, "text": "a"}\n{"id": 1, "te'))
    assert len(read.rows) == 1
    assert [(one.level, one.where) for one in read.findings] == [("malformed", "preds, line 2")]


def test_half_a_character_in_a_file_is_none(tmp_path: Path) -> None:
    """Which no tokenizer takes and no file: a program has cut a text in the middle of an emoji."""
    line = '{"id": "1", "text": "Ann \\ud83d opens \\ud83d\\ude00.", "candidates": ["\\ude00 a"]}'
    for name, text in (("a.jsonl", f"{line}\n"), ("a.json", f"[{line}]")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (row,) = read_predictions(tmp_path / name).rows
        assert row.text == "Ann \ufffd opens 😀."
        assert row.candidates == ("\ufffd a",)


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


TEXTS = ("Ann opens the door.", "She runs, and falls.", "Bob sits down.", "He waves.", "He waves.")


def ad(place: int, text: str, start: float | None = None) -> Ad:
    begin = 10.0 * place if start is None else start
    time = Interval(begin, begin + 2)
    return Ad(
        str(place), "tt01", "2014/ab", time, Interval(begin / 2, begin / 2 + 2), text, actions=(f"{text}!",)
    )


def dataset(ads: Iterable[Ad] = ()) -> Dataset:
    found = tuple(ads) or tuple(ad(i, text) for i, text in enumerate(TEXTS))
    return Dataset("cmd-ad", "CMD-AD", Path(), found, {"tt01": ("Ann", "Bob")})


def row(line: int, name: str, text: str | None, **more: Any) -> PredictionRow:
    return PredictionRow(f"p.csv, line {line}", name, text, "" if text is not None else "no video", **more)


def joined(*rows: PredictionRow, over: Dataset | None = None, stage1: Predictions | None = None) -> Joined:
    return join(over or dataset(), Predictions((Path("p.csv"),), rows, {"id": "anno_idx"}), stage1)


def said(result: Joined) -> dict[str, str | None]:
    return {item.id: item.prediction for item in result.corpus.items}


def notes(result: Joined) -> list[str]:
    return [f"{one.level}: {one.what}" for one in result.findings]


ALL = [row(i + 2, str(i), f"text {i}") for i in range(5)]


def test_equal_doubles_are_told_and_different_ones_refused() -> None:
    result = joined(*ALL, row(9, "0", "text 0"))
    assert result.doubled == ("0",)
    assert said(result)["0"] == "text 0"
    both = r"0: 'text 0' \(p.csv, line 2\) and 'other' \(p.csv, line 9\).*Keep one"
    with pytest.raises(EvaluationError, match=both):
        joined(*ALL, row(9, "0", "other"))
    # A text goes before a failure of the same AD: a run that was taken up again.
    for rows in ([row(2, "0", None), row(3, "0", "a")], [row(2, "0", "a"), row(3, "0", None)]):
        result = joined(*rows)
        assert said(result)["0"] == "a"
        assert result.doubled == ("0",)
        assert not any("failed (" in note for note in notes(result))


def test_rows_shifted_against_the_ids_are_refused() -> None:
    """What row-wise joins do to published files."""
    ads = [ad(i, f"Person {i} does deed number{i}.") for i in range(10)]
    shifted = [row(i, str(i), "x", reference=ads[(i + 1) % 10].text) for i in range(10)]
    right = [row(i, str(i), "x", reference=ads[i].text) for i in range(10)]
    with pytest.raises(EvaluationError, match=r"is not of CMD-AD: 10 of 10 rows repeat another human AD"):
        joined(*shifted, over=dataset(ads))
    assert not notes(joined(*right, over=dataset(ads)))
    one = joined(*right[:9], shifted[9], over=dataset(ads))
    assert notes(one) == ["malformed: rows that repeat another human AD than the dataset's: 1 (9)."]


def by_times(order: Iterable[int], ads: list[Ad]) -> list[PredictionRow]:
    places = [(i, ads[i].film, ads[i].interval) for i in order]
    return [row(i, "", f"text {i}", film=film, start=time.start, end=time.end) for i, film, time in places]


def test_ads_are_told_by_film_and_times_or_by_order() -> None:
    ads = list(dataset().ads)
    order = list(range(5))
    random.Random(3).shuffle(order)
    result = joined(*by_times(order, ads))
    assert said(result) == {str(i): f"text {i}" for i in range(5)}
    assert notes(result) == ["note: there are no ids; joined by film, start and end."]
    # ADs that are alike get theirs in order and one too few leaves one missing.
    # ADs 3 and 4 have one text: their scores add up to the same either way.
    rows = [row(n, "", text, clip="ab", reference="He waves.") for n, text in enumerate(("a", "b"))]
    assert said(joined(*rows)) == {"0": None, "1": None, "2": None, "3": "a", "4": "b"}
    alike = "note: ADs that are alike in clip and the human AD's text, and get theirs in order: 2."
    assert alike in notes(joined(*rows))
    assert [name for name, text in said(joined(rows[0])).items() if text is None] == ["0", "1", "2", "4"]
    with pytest.raises(EvaluationError, match="several predictions that differ"):
        joined(*rows, row(9, "", "c", clip="ab", reference="He waves."))
    # Rows that do not tell their AD are refused.
    ads = [ad(0, "Ann runs.", start=5.0), ad(1, "Bob runs.", start=5.0)]
    either = r"may be for AD 0 \('Ann runs.'\) or 1 \('Bob runs.'\).*column id"
    with pytest.raises(EvaluationError, match=either):
        joined(*by_times([0, 1], ads), over=dataset(ads))
    with pytest.raises(EvaluationError, match=r"does not say which AD each of its 5 rows is for.*column id"):
        joined(*(row(i, "", f"text {i}") for i in range(5)))


def test_without_times_clip_and_human_text_tell() -> None:
    for clip in ("2014/ab", "ab"):
        result = joined(*(row(i, "", f"text {i}", clip=clip, reference=TEXTS[i]) for i in (2, 0, 1)))
        assert said(result) == {"0": "text 0", "1": "text 1", "2": "text 2", "3": None, "4": None}
        assert "note: there are no ids; joined by clip and the human AD's text." in notes(result)


def test_descriptions_of_a_file_of_their_own() -> None:
    """Published Stage I texts have their own file."""
    rows = [row(i, str(i), f"1. Main characters: {i}", reference=TEXTS[i]) for i in (2, 0)]
    stage1 = Predictions((Path("stage1.csv"),), tuple(rows), {"id": "anno_idx"})
    result = joined(*ALL, stage1=stage1)
    described = [item.description for item in result.corpus.items[:3]]
    assert described == ["1. Main characters: 0", None, "1. Main characters: 2"]
    assert said(result) == said(joined(*ALL))
    assert notes(result) == ["missing: ADs without a description: 3 (1, 3, 4)."]
