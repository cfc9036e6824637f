"""Files of datasets and predictions: tables in every encoding, casts, descriptions, ones of one's own, what damage does; and
predictions joined with the human ADs by id, never by row, and nothing left out unsaid."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import (
    Interval,
    NoProgress,
    ShotadError,
)
from shotad.core.errors import (
    ConfigError,
    DatasetError,
    EvaluationError,
)
from shotad.evaluation import Dataset, check_dataset, check_text, load_dataset
from shotad.evaluation.datasets.dataset import Ad, read_description
from shotad.evaluation.datasets.loading import casts_of, load_references, read_casts
from shotad.evaluation.datasets.tables import decoded, number, numbers, pairs, read_table, texts
from shotad.evaluation.predictions import NO_TEXT, Joined, PredictionRow, Predictions, join, read_predictions
from tests.evaluation.datasets import datasetfiles as files


def test_bad_bytes_and_lines_of_a_table(tmp_path: Path) -> None:
    text, mended = decoded("Zoë\n".encode() + "caf\u00e9 ".encode() + b"caf\xe9 5 \x80\n" + b"end\n")
    assert text == "Zoë\ncafé café 5 €\nend\n"
    assert mended == {2}
    # Unicode is left as it is, and a mark before it goes.
    text = "Zoë rennt – “so”\n"
    for code in ("utf-8", "utf-8-sig", "utf-16"):
        assert decoded(text.encode(code)) == (text, frozenset())
    # Rows know the line they begin in.
    file = tmp_path / "a.csv"
    file.write_bytes(b'text,id\r\n"two\nlines",0\r\n\r\nbad \x80,1\r\nshort\r\n')
    table = read_table(file)
    found = [(row.line, row.values, row.mended) for row in table.rows[:2]]
    assert found[0] == (2, {"text": "two\nlines", "id": "0"}, False)
    assert found[1] == (5, {"text": "bad €", "id": "1"}, True)
    assert table.rows[2].wrong == "1 cells for 2 columns"
    assert table.rows[1].where == "a.csv, line 5"


@given(st.binary(max_size=200).map(lambda data: b"x" + data))
def test_any_bytes_are_read_and_plain_ones_stay(data: bytes) -> None:
    text, mended = decoded(data)
    assert text.startswith("x")
    assert all(1 <= line <= data.count(b"\n") + data.count(b"\r") + 1 for line in mended)
    assert [c for c in text if c.isascii()] == [chr(b) for b in data if b < 128]


@given(st.lists(st.text(min_size=1).filter(lambda text: text == text.strip() != "")))
def test_lists_of_texts_come_back_from_python_and_json(values: list[str]) -> None:
    assert texts(repr(values)) == tuple(values)
    assert texts(json.dumps(values)) == tuple(values)


@pytest.mark.parametrize(
    ("read", "cells"),
    [
        (number, ["", " ", "a", "inf", None]),
        (numbers, ["5", "[]", "['9']", "[True]"]),
        (
            pairs,
            ["[(1, 2, 3)]", "[('a', 2)]", "[(1, float('inf'))]", "[1, 2]", "[(True, 2)]", "[(1, 1e999)]"],
        ),
    ],
)
def test_what_is_no_number_and_no_list_is_refused(read: Callable[[Any], Any], cells: list[Any]) -> None:
    for cell in cells:
        with pytest.raises(ValueError, match=r"number|is no list|no pair"):
            read(cell)


def test_names_and_roles(tmp_path: Path) -> None:
    # Remarks go, what belongs to the role stays.
    names = ["Zoë", "Cop", "Cop", "Mr. Quinn / Voice of the Fish", "Kate (young)", "Bob (uncredited)"]
    bank = [{"id": "nm1", "role": "Robert(as Alan  Marshall)"}, {"id": "nm2", "role": "", "name": "B"}]
    (tmp_path / "cast.json").write_text(json.dumps({"tt1": names, "1005_Signs": bank}), encoding="utf-8")
    read = read_casts(tmp_path / "cast.json")
    kept = ("Zoë", "Cop", "Mr. Quinn / Voice of the Fish", "Kate (young)", "Bob")
    assert read == {"tt1": kept, "1005_Signs": ("Robert",)}
    named = casts_of({"tt5": "1005_Signs", "tt1": "Other", "tt9": ""}, read)
    assert named == {"tt5": ("Robert",), "tt1": kept}


PIECES = st.sampled_from(
    [b"", b"\x80", b'"', b",", b"\n", b"\r", b"[", b"]", b"nan", b"-1e999", b"'", b"0", b"\xff\xfe", b"{"]
)
NAMES = ("cmdad_anno.csv", "cmdad_gt_action.csv", "cmdad_shot_info.csv", "cast.json")


def tried(root: Path) -> Dataset | str:
    try:
        dataset = load_dataset("cmd-ad", root, strict=False)
        assert check_text(check_dataset(dataset, NoProgress()))
        return dataset
    except ShotadError as error:
        return str(error)


@settings(max_examples=60)
@given(st.sampled_from(NAMES), st.floats(0, 1), st.integers(0, 12), PIECES)
def test_damaged_datasets(name: str, place: float, cut: int, piece: bytes) -> None:
    with TemporaryDirectory() as folder:
        root = files.cmd_ad(Path(folder))
        data = (root / name).read_bytes()
        at = round(place * len(data))
        (root / name).write_bytes(data[:at] + piece + data[at + cut :])
        found = tried(root)
        if isinstance(found, str):
            assert folder in found
        else:
            assert len({ad.id for ad in found.ads}) == len(found.ads)


def test_csv_and_json_lines_are_one(tmp_path: Path) -> None:
    record = {"id": "a", "text": "Zoë runs.", "film": "f", "start": 1.5, "end": 3, "actions": ["She runs."]}
    lines, cast = tmp_path / "mine.jsonl", tmp_path / "cast.json"
    lines.write_text(json.dumps(record) + "\n")
    table = files.table(tmp_path / "mine.csv", list(record), [[*list(record.values())[:-1], '["She runs."]']])
    cast.write_text('{"f": ["Zoë"], "other": ["Al"]}', encoding="utf-8")
    one, two = (load_references(path, casts=cast) for path in (lines, table))
    assert one.ads == two.ads
    assert one.ads[0].interval == one.ads[0].slot == Interval(1.5, 3.0)
    assert one.ads[0].actions == ("She runs.",)
    assert one.casts == {"f": ("Zoë",)}
    assert not one.findings


def test_human_ads_of_ones_own_files(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": 1, "text": "a", "references": ["a", "b", "c"]}\n{"id": 2, "references": ["d"]}\n')
    dataset = load_references(file)
    assert [(ad.text, ad.others) for ad in dataset.ads] == [("a", ("b", "c")), ("d", ())]
    # What is not said is a finding.
    dataset = load_references(files.table(tmp_path / "mine.csv", ["id", "text"], [["x", "a"], ["y", "b"]]))
    assert [ad.interval for ad in dataset.ads] == [Interval(0, 1), Interval(1, 2)], "in the file's order"
    assert {ad.film for ad in dataset.ads} == {"mine"}
    words = " ".join(one.what for one in dataset.findings)
    assert all(word in words for word in ("no column film", "no times", "no actions", "--casts"))


def described(path: Path) -> object:
    return read_description(str(path))


@pytest.mark.parametrize(
    ("read", "content", "says"),
    [
        (read_table, "", "is empty"),
        (read_table, "a,b,a\n1,2,3\n", "several columns called a"),
        (read_table, "PNG\r\n\0\0", "is no text"),
        (read_casts, "[1]", "has no films"),
        (read_casts, '{"a": "Bob"}', "film 'a': 'Bob' is no list"),
        (read_casts, '{"a": [{"name": "Bob"}]}', "is no name"),
        (read_casts, "{", "cannot be read"),
        (load_references, "text\na\n", "needs a column id"),
        (load_references, "id\na\n", "and text or references"),
        (load_references, "id,text\na,b\na,c\n", "line 3: the id 'a' stands twice"),
        (load_references, "id,text\na,\n", "line 2: there is no text"),
        (load_references, "id,text\n,a\n", "line 2: there is no id"),
        (load_references, "id,text,start,end\na,b,3,1\n", "line 2: start 3.0 and end 1.0 are no stretch"),
        (load_references, "id,text,start,end\na,b,3,\n", "end None"),
        (load_references, "id,text\n", "has no ADs"),
        (described, "title: A\n", "names no annotation.files"),
        (described, "annotation: {files: [a.csv], txt: [b]}\n", r"annotation\.txt.*annotation\.text"),
        (described, "annotation: {files: [a.csv]}\nslot: {kind: frames}\n", r"needs slot\.frames"),
        (described, "annotation: {files: [a]}\nslot: {kind: centred, start: [a]}\n", r"needs slot\.end"),
        (described, "annotation: {files: [a]}\nvideos: {films: ['{name}']}\n",
         r"'\{name\}' cannot be filled.*\{clip\}"),
        (described, "annotation: {files: [a.csv]}\nvideos: {frames_per_second: 0}\n", "greater than or equal to 0.001"),
        (described, "- a\n", "not a mapping"),
        (described, "a: [\n", "cannot be read"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_meant(
    tmp_path: Path, read: Callable[[Path], object], content: str, says: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises((DatasetError, ConfigError), match=says):
        read(file)


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
