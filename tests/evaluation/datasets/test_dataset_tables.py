"""CSV files as they are published: encodings, lines, cells."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import DatasetError
from shotad.evaluation.datasets.tables import decoded, number, numbers, pairs, read_table, texts


def test_utf8_is_left_as_it_is_and_a_mark_before_it_goes() -> None:
    assert decoded("Zoë rennt – “so”\n".encode()) == ("Zoë rennt – “so”\n", frozenset())
    assert decoded(b"\xef\xbb\xbftext\nab\n") == ("text\nab\n", frozenset())


def test_utf16_of_spreadsheets() -> None:
    assert decoded("text\nZoë\n".encode("utf-16")) == ("text\nZoë\n", frozenset())


def test_only_the_bad_bytes_of_a_line_are_taken_for_windows_1252() -> None:
    text, mended = decoded("Zoë\n".encode() + "caf\u00e9 ".encode() + b"caf\xe9 5 \x80\n" + b"end\n")
    assert text == "Zoë\ncafé café 5 €\nend\n"
    assert mended == {2}


@given(st.binary(max_size=200).map(lambda data: b"x" + data))
def test_any_bytes_are_read_and_plain_ones_stay(data: bytes) -> None:
    text, mended = decoded(data)
    assert text.startswith("x")
    assert all(1 <= line <= data.count(b"\n") + data.count(b"\r") + 1 for line in mended)
    assert [c for c in text if c.isascii()] == [chr(b) for b in data if b < 128]


def test_rows_know_the_line_they_begin_in(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b'text,id\r\n"two\nlines",0\r\n\r\nbad \x80,1\r\nshort\r\n')
    table = read_table(file)
    assert [(row.line, row.values, row.mended) for row in table.rows[:2]] == [
        (2, {"text": "two\nlines", "id": "0"}, False),
        (5, {"text": "bad €", "id": "1"}, True),
    ]
    assert table.rows[2].wrong == "1 cells for 2 columns"
    assert table.where(table.rows[1]) == "a.csv, line 5"


@pytest.mark.parametrize("mark", [";", "\t"])
def test_tables_of_spreadsheets(tmp_path: Path, mark: str) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b"\xef\xbb\xbf" + f"id{mark}text\r\n0{mark}He runs, and falls.\r\n".encode())
    table = read_table(file)
    assert table.columns == ("id", "text")
    assert table.rows[0].values == {"id": "0", "text": "He runs, and falls."}


def test_long_cells_are_read_and_the_limit_of_others_stays(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    file = tmp_path / "a.csv"
    file.write_text('shots\n"' + "(1, 2), " * 40_000 + '"\n')
    assert len(read_table(file).rows[0].values["shots"]) == 8 * 40_000
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"a,b,a\n1,2,3\n", "several columns called a"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is no text"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, data: bytes, says: str) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(data)
    with pytest.raises(DatasetError, match=says):
        read_table(file)


def test_a_missing_column_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("imdb_id,text\n")
    with pytest.raises(
        DatasetError, match=r"imdbid or imdb \(imdb_id looks like it\).*It has: imdb_id, text"
    ):
        read_table(file).needed(("imdbid", "imdb"), "the film")


@given(st.lists(st.text(min_size=1).filter(lambda text: text == text.strip() != "")))
def test_lists_of_texts_come_back_from_python_and_json(values: list[str]) -> None:
    assert texts(repr(values)) == tuple(values)
    assert texts(json.dumps(values)) == tuple(values)


def test_lists_of_numbers_and_pairs() -> None:
    assert numbers("[9, 9, 10, 14]") == (9, 9, 10, 14)
    assert pairs("[(0.01, 7.539000000000001), (7.559, 9.833)]") == ((0.01, 7.539000000000001), (7.559, 9.833))
    assert pairs("[]") == ()
    assert pairs("[[1, 4]]") == ((1, 4),)
    assert texts("['  He runs. ', '']") == ("He runs.",)


@pytest.mark.parametrize(
    "cell", ["0", "", "nan", "[1, 2", "['a', 2]", "{'a': 1}", "__import__('os')", "['a'] + ['b']"]
)
def test_what_is_no_list_of_texts_is_refused(cell: str) -> None:
    with pytest.raises(ValueError, match=r"is no|empty cell"):
        texts(cell)


@pytest.mark.parametrize(
    "cell",
    ["[(1, 2, 3)]", "[(1,)]", "[('a', 2)]", "[(1, float('inf'))]", "[1, 2]", "[(True, 2)]", "[(1, 1e999)]"],
)
def test_what_is_no_list_of_pairs_is_refused(cell: str) -> None:
    with pytest.raises(ValueError):
        pairs(cell)


@pytest.mark.parametrize("cell", ["", " ", "a", "nan", "inf", "1,5", None])
def test_what_is_no_number_is_refused(cell: str | None) -> None:
    with pytest.raises(ValueError, match=r"number"):
        number(cell)
