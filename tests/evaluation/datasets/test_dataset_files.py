"""Files of datasets: tables in every encoding, casts, descriptions, files of one's own, and what damage does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import ConfigError, DatasetError, Interval, NoProgress, ShotadError
from shotad.evaluation import Dataset, check_dataset, check_text, load_dataset
from shotad.evaluation.datasets.dataset import read_description
from shotad.evaluation.datasets.loading import casts_of, load_references, read_casts
from shotad.evaluation.datasets.tables import decoded, number, numbers, pairs, read_table, texts
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
        (described, "annotation: {files: [a.csv]}\nvideos: {frames_per_second: 0}\n", "greater than 0"),
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
