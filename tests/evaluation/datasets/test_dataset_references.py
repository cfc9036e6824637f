"""Human ADs of one's own, from a plain file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.core import DatasetError, Interval, UsageError
from shotad.evaluation import load_dataset
from shotad.evaluation.datasets.loading import load_references
from tests.evaluation.datasets import datasetfiles as files


def test_csv_and_json_lines_are_one(tmp_path: Path) -> None:
    record = {"id": "a", "text": "Zoë runs.", "film": "f", "start": 1.5, "end": 3, "actions": ["She runs."]}
    lines = tmp_path / "mine.jsonl"
    lines.write_text(json.dumps(record) + "\n")
    table = files.table(tmp_path / "mine.csv", list(record), [[*list(record.values())[:-1], '["She runs."]']])
    cast = tmp_path / "cast.json"
    cast.write_text('{"f": ["Zoë"], "other": ["Al"]}', encoding="utf-8")
    one, two = (load_references(path, casts=cast) for path in (lines, table))
    assert one.ads == two.ads
    assert one.ads[0].interval == one.ads[0].slot == Interval(1.5, 3.0)
    assert one.ads[0].actions == ("She runs.",)
    assert one.casts == {"f": ("Zoë",)}
    assert not one.findings


def test_several_human_ads_of_one_moment(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": 1, "text": "a", "references": ["a", "b", "c"]}\n{"id": 2, "references": ["d"]}\n')
    dataset = load_references(file)
    assert [(ad.text, ad.others) for ad in dataset.ads] == [("a", ("b", "c")), ("d", ())]


def test_what_is_not_said_is_a_finding(tmp_path: Path) -> None:
    dataset = load_references(files.table(tmp_path / "mine.csv", ["id", "text"], [["x", "a"], ["y", "b"]]))
    assert [ad.interval for ad in dataset.ads] == [Interval(0, 1), Interval(1, 2)], "in the file's order"
    assert {ad.film for ad in dataset.ads} == {"mine"}
    words = " ".join(one.what for one in dataset.findings)
    assert all(word in words for word in ("no column film", "no times", "no actions", "--casts"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("text\na\n", "needs a column id"),
        ("id\na\n", "and text or references"),
        ("id,text\na,b\na,c\n", "line 3: the id 'a' stands twice"),
        ("id,text\na,\n", "line 2: there is no text"),
        ("id,text\n,a\n", "line 2: there is no id"),
        ("id,text,start,end\na,b,3,1\n", "line 2: start 3.0 and end 1.0 are no stretch"),
        ("id,text,start,end\na,b,3,\n", "end None"),
        ("id,text\n", "has no ADs"),
    ],
)
def test_what_is_no_ad_is_refused(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(text)
    with pytest.raises(DatasetError, match=says):
        load_references(file)


def test_open_dataset_takes_names_descriptions_and_plain_files(tmp_path: Path) -> None:
    root = files.cmd_ad(tmp_path / "cmd")
    plain = files.table(tmp_path / "mine.csv", ["id", "text"], [["x", "a"]])
    assert load_dataset("cmd-ad", root).title == "CMD-AD"
    assert load_dataset(str(plain)).name == "mine"
    with pytest.raises(UsageError, match=r"--actions .* belongs to a dataset"):
        load_dataset(str(plain), actions=root / "cmdad_gt_action.csv")
