"""Files of datasets and predictions: tables in every encoding, casts, descriptions, ones of one's own, what damage does; and
predictions joined with the human ADs by id, never by row, and nothing left out unsaid."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from shotad.evaluation import Dataset, Report, check_dataset, check_text, load_dataset, read_inputs
from shotad.evaluation.datasets.dataset import read_description
from shotad.evaluation.datasets.dataset_loader import casts_of, load_references, read_casts
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
    rows = [(row.line, row.values, row.mended) for row in table.rows[:2]]
    assert rows[0] == (2, {"text": "two\nlines", "id": "0"}, False)
    assert rows[1] == (5, {"text": "bad €", "id": "1"}, True)
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
        outcome = tried(root)
        if isinstance(outcome, str):
            assert folder in outcome
        else:
            assert len({ad.id for ad in outcome.ads}) == len(outcome.ads)


def test_csv_and_json_lines_are_one(tmp_path: Path) -> None:
    record = {"id": "a", "text": "Zoë runs.", "film": "f", "start": 1.5, "end": 3, "actions": ["She runs."]}
    lines, cast = tmp_path / "mine.jsonl", tmp_path / "cast.json"
    lines.write_text(json.dumps(record) + "\n")
    table = files.table(tmp_path / "mine.csv", list(record), [[*list(record.values())[:-1], '["She runs."]']])
    cast.write_text('{"f": ["Zoë"], "other": ["Al"]}', encoding="utf-8")
    from_lines, from_table = (load_references(path, casts=cast) for path in (lines, table))
    assert from_lines.ads == from_table.ads
    assert from_lines.ads[0].interval == from_lines.ads[0].slot == Interval(1.5, 3.0)
    assert from_lines.ads[0].actions == ("She runs.",)
    assert from_lines.casts == {"f": ("Zoë",)}
    assert not from_lines.findings


def test_human_ads_of_ones_own_files(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": 1, "text": "a", "references": ["a", "b", "c"]}\n{"id": 2, "references": ["d"]}\n')
    dataset = load_references(file)
    assert [(ad.text, ad.others) for ad in dataset.ads] == [("a", ("b", "c")), ("d", ())]
    # What is not said is a finding.
    dataset = load_references(files.table(tmp_path / "mine.csv", ["id", "text"], [["x", "a"], ["y", "b"]]))
    assert [ad.interval for ad in dataset.ads] == [Interval(0, 1), Interval(1, 2)], "in the file's order"
    assert {ad.film for ad in dataset.ads} == {"mine"}
    words = " ".join(finding.what for finding in dataset.findings)
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


def human_file(folder: Path, *texts: str, starts: Sequence[float] = (), ids: Sequence[str] = ()) -> Path:
    """A file of human ADs with these texts, ten seconds apart; by default of five."""
    texts = texts or TEXTS
    rows = []
    for place, text in enumerate(texts):
        start = starts[place] if starts else 10.0 * place
        name = ids[place] if ids else str(place)
        times = {"start": start, "end": start + 2}
        rows.append({"id": name, "text": text, "film": "tt01", "clip": "2014/ab", **times, "actions": [text]})
    folder.mkdir(exist_ok=True)
    (folder / "cast.json").write_text('{"tt01": ["Ann", "Bob"]}', encoding="utf-8")
    return write_lines(folder / "CMD-AD.jsonl", rows)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


TEXTS = ("Ann opens the door.", "She runs, and falls.", "Bob sits down.", "He waves.", "He waves.")
NO_TEXT = "the file has no text for it"
IDS = ("0", "1", "3", "4", "5", "12", "s01.0")
"""The ids that the files of predictions below have."""


def joined(*files: Path, human: Path | None = None, **options: Any) -> Report:
    """Human ADs with the predictions in these files; by default some of each of `IDS`."""
    folder = files[0].parent / "human"
    human = human or human_file(folder, *(f"Text {name}." for name in IDS), ids=IDS)
    return read_inputs(str(human), files, casts=human.parent / "cast.json", **options)


def predictions(report: Report) -> dict[str, str | None]:
    """The predictions by id, without those of which the file says nothing."""
    return {item.id: item.prediction for item in report.items if item.failure != "no prediction"}


@pytest.mark.parametrize(
    ("fields", "text", "failure"),
    [
        ('"text": null, "failure": "no video"', None, "no video"),
        ('"text": null', None, NO_TEXT),
        ('"other": 1', None, NO_TEXT),
        ('"text": NaN', None, NO_TEXT),
        ('"text": "", "failure": "said nothing"', "", ""),
        ('"text": "nan"', "nan", ""),
    ],
)
def test_null_has_failed_empty_has_not(tmp_path: Path, fields: str, text: str | None, failure: str) -> None:
    path = write(tmp_path, f'{{"id": "0", "text": "x"}}\n{{"id": "1", {fields}}}\n')
    item = joined(path).items[1]
    assert (item.prediction, item.failure) == (text, failure)


@pytest.mark.parametrize("cell", ["", " ", "nan", "None"])
def test_an_empty_cell_of_csv_has_failed(tmp_path: Path, cell: str) -> None:
    first, second, *_ = joined(write(tmp_path, f"anno_idx,text_gen\n0,He runs.\n1,{cell}\n")).items
    assert (first.prediction, first.failure) == ("He runs.", "")
    assert (second.prediction, second.failure) == (None, NO_TEXT)


def test_published_columns_and_columns_by_name(tmp_path: Path) -> None:
    columns = "imdbid,start,end,text_gt,text_gen,anno_idx"
    path = write(tmp_path, f'{columns}\ntt01,1.5,3.25,Text 12.,"He runs, and falls.",12\n')
    assert predictions(joined(path)) == {"12": "He runs, and falls."}
    # Columns may be named.
    path = write(tmp_path, "nr,text,stage1\n5,He runs.,1. Main characters\n")
    report = joined(path, id_column="nr", text_column="stage1")
    assert predictions(report) == {"5": "1. Main characters"}
    with pytest.raises(EvaluationError, match=r"no column 'line' for the text\. It has: nr, text, stage1"):
        joined(path, text_column="line")


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
    report = joined(write(tmp_path, text))
    item = report.items[IDS.index("3")]
    assert (item.prediction, item.candidates) == ("He runs.", ("He runs.", "He is off."))
    assert any("first of which is the prediction: 1." in finding for finding in report.findings)


def test_ids_that_another_program_made_floats_of_and_brackets_in_a_sentence(tmp_path: Path) -> None:
    path = write(tmp_path, "anno_idx,text_gen\n12.0,He runs.\ns01.0,He is off.\n")
    assert predictions(joined(path)) == {"12": "He runs.", "s01.0": "He is off."}
    assert predictions(joined(write(tmp_path, '{"id": 12.0, "text": "a"}'))) == {"12": "a"}
    path = write(tmp_path, "id,text\n3,[Shot 1] He runs.\n4,['a\n")
    assert predictions(joined(path)) == {"3": "[Shot 1] He runs.", "4": "['a"}


def test_texts_that_still_hold_thoughts_or_entities_are_noted_and_stay(tmp_path: Path) -> None:
    texts = ("<think>A man?</think>He runs.", "Ann &amp; Bo run.", "[THINK]", "He runs, I think.")
    rows = (
        json.dumps({"id": name, "text": text}) for name, text in zip(("0", "1", "3", "4"), texts, strict=True)
    )
    report = joined(write(tmp_path, "\n".join(rows)))
    assert tuple(predictions(report).values()) == texts
    (finding,) = [finding for finding in report.findings if "a model's thoughts" in finding]
    assert finding.endswith(": 3. They are measured as they are.")


def test_shards_are_read_together_and_torn_lines_left_out(tmp_path: Path) -> None:
    jsonl = write(tmp_path, '{"id": 0, "text": "a"}\n', "one.jsonl")
    csv = write(tmp_path, "id,text_gen\n1,b\n", "two.csv")
    report = joined(jsonl, csv)
    assert predictions(report) == {"0": "a", "1": "b"}
    assert report.predictions["name"] == "one.jsonl + two.csv"
    assert any(finding.startswith("one.jsonl, two.csv: ADs without") for finding in report.findings)
    report = joined(write(tmp_path, '{"id": 0, "text": "a"}\n{"id": 1, "te'))
    assert predictions(report) == {"0": "a"}
    assert [note for note in report.notes if note.startswith("preds, line 2: ")]


def test_half_a_character_in_a_file_is_none(tmp_path: Path) -> None:
    """Which no tokenizer takes and no file: a program has cut a text in the middle of an emoji."""
    line = '{"id": "1", "text": "Ann \\ud83d opens \\ud83d\\ude00.", "candidates": ["\\ude00 a"]}'
    for name, text in (("a.jsonl", f"{line}\n"), ("a.json", f"[{line}]")):
        item = joined(write(tmp_path, text, name)).items[1]
        assert item.prediction == "Ann \ufffd opens 😀."
        assert item.candidates == ("\ufffd a",)


def test_scale_thread_and_description_stand_beside_the_prediction(tmp_path: Path) -> None:
    line = '{"id": "1", "text": "a", "scale": 2.5, "threaded": true, "description": "1. Main"}\n'
    item = joined(write(tmp_path, line)).items[1]
    assert (item.scale, item.threaded, item.description) == (2.5, True, "1. Main")


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_what_cannot_be_read_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((DatasetError, EvaluationError), match=message):
        joined(write(tmp_path, text))


# --- joining
@pytest.fixture
def join(tmp_path: Path) -> Callable[..., Report]:
    """Joins rows of predictions with the human ADs, by default those with `TEXTS`: ``join(*rows, human=file)``."""

    def join(*rows: Mapping[str, Any], human: Path | None = None, **options: Any) -> Report:
        human = human or human_file(tmp_path / "human")
        return joined(write_lines(tmp_path / "p.jsonl", rows), human=human, **options)

    return join


Join = Callable[..., Report]


def row(name: str, text: str | None, **more: Any) -> dict[str, Any]:
    """A row of predictions; without an id where ``name`` is empty."""
    failure = {} if text is not None else {"failure": "no video"}
    return {**({"anno_idx": name} if name else {}), "text": text, **failure, **more}


ALL = [row(str(place), f"text {place}") for place in range(5)]


def test_equal_doubles_are_counted_and_different_ones_refused(join: Join) -> None:
    report = join(*ALL, row("0", "text 0"))
    assert report.doubled == 1
    assert predictions(report)["0"] == "text 0"
    both = r"0: 'text 0' \(p.jsonl, line 1\) and 'other' \(p.jsonl, line 6\).*Keep one"
    with pytest.raises(EvaluationError, match=both):
        join(*ALL, row("0", "other"))
    # A text goes before a failure of the same AD: a run that was taken up again.
    for rows in ([row("0", None), row("0", "a")], [row("0", "a"), row("0", None)]):
        report = join(*rows)
        assert predictions(report) == {"0": "a"}
        assert report.doubled == 1
        assert not any("failed (" in finding for finding in report.findings)
    assert any("predictions that failed (no video): 1 (0)" in text for text in join(row("0", None)).findings)


def test_rows_of_no_ad_are_counted_and_left_out(join: Join) -> None:
    report = join(*ALL, row("99", "text"))
    assert report.extra == 1
    assert report.findings == (
        "p.jsonl: rows that belong to no AD of the dataset, and are left out: 1 (99).",
    )
    assert report.notes == report.findings
    with pytest.raises(EvaluationError, match="Nothing in p.jsonl belongs to CMD-AD: by id .*first 99 in"):
        join(row("99", "text"))


def test_rows_shifted_against_the_ids_are_refused(join: Join, tmp_path: Path) -> None:
    """What row-wise joins do to published files."""
    texts = [f"Person {place} does deed number{place}." for place in range(10)]
    human = human_file(tmp_path / "ten", *texts)
    shifted = [row(str(place), "x", text_gt=texts[(place + 1) % 10]) for place in range(10)]
    right = [row(str(place), "x", text_gt=text) for place, text in enumerate(texts)]
    with pytest.raises(EvaluationError, match=r"is not of CMD-AD: 10 of 10 rows repeat another human AD"):
        join(*shifted, human=human)
    assert not join(*right, human=human).findings
    assert join(*right[:9], shifted[9], human=human).findings == (
        "p.jsonl: rows that repeat another human AD than the dataset's: 1 (9).",
    )


def test_predictions_of_another_dataset_with_the_same_numbers_are_refused(join: Join, tmp_path: Path) -> None:
    """CMD-AD, TV-AD and MAD-Eval count from 0; what `predict` writes repeats no human AD."""
    human = human_file(tmp_path / "ten", *(f"Text {place}." for place in range(10)))
    own = [
        {"id": ad["id"], "text": "x", "film": ad["film"], "start": ad["start"], "end": ad["end"]}
        for ad in map(json.loads, human.read_text(encoding="utf-8").splitlines())
    ]
    other = [{**ad, "film": "friends_s01e01", "start": 5000 + ad["start"]} for ad in own]
    with pytest.raises(
        EvaluationError, match=r"10 of 10 rows are of another film .*'friends_s01e01' under 0"
    ):
        join(*other, human=human)
    assert join(*own[:9], other[9], human=human).findings == (
        "p.jsonl: rows of another film and time than the dataset's AD: 1 (9).",
    )
    # A film that is written in another way, or the clip's seconds for the film's, is no other place.
    for same in ({"film": "Dial M"}, {"start": 0.2}, {"film": "Dial M", "start": None}):
        assert not join(*({**ad, **same} for ad in own), human=human).findings


def by_times(order: Iterable[int], starts: Sequence[float]) -> list[dict[str, Any]]:
    """Rows that give the times of their ADs, in this order."""
    return [
        row("", f"text {place}", imdbid="tt01", start=starts[place], end=starts[place] + 2) for place in order
    ]


def test_ads_are_joined_by_film_and_times_or_by_order(join: Join, tmp_path: Path) -> None:
    order = list(range(5))
    random.Random(3).shuffle(order)
    report = join(*by_times(order, [10.0 * place for place in range(5)]))
    assert predictions(report) == {str(place): f"text {place}" for place in range(5)}
    assert report.findings == ("p.jsonl: there are no ids; joined by film, start and end.",)
    # ADs that are alike get theirs in order and one too few leaves one missing.
    # ADs 3 and 4 have one text: their scores add up to the same either way.
    rows = [row("", text, clip="ab", text_gt="He waves.") for text in ("a", "b")]
    report = join(*rows)
    assert predictions(report) == {"3": "a", "4": "b"}
    alike = "p.jsonl: ADs that are alike in clip and the human AD's text, and get theirs in order: 2."
    assert alike in report.findings
    assert predictions(join(rows[0])) == {"3": "a"}
    with pytest.raises(EvaluationError, match="several predictions that differ"):
        join(*rows, row("", "c", clip="ab", text_gt="He waves."))
    # Rows that do not say which AD they are for are refused.
    human = human_file(tmp_path / "two", "Ann runs.", "Bob runs.", starts=[5.0, 5.0])
    either = r"may be for AD 0 \('Ann runs.'\) or 1 \('Bob runs.'\).*column id"
    with pytest.raises(EvaluationError, match=either):
        join(*by_times([0, 1], [5.0, 5.0]), human=human)
    with pytest.raises(EvaluationError, match=r"does not say which AD each of its 5 rows is for.*column id"):
        join(*(row("", f"text {place}") for place in range(5)))


@pytest.mark.parametrize("clip", ["2014/ab", "ab"])
def test_without_times_clip_and_human_text_are_compared(clip: str, join: Join) -> None:
    report = join(*(row("", f"text {place}", clip=clip, text_gt=TEXTS[place]) for place in (2, 0, 1)))
    assert predictions(report) == {"0": "text 0", "1": "text 1", "2": "text 2"}
    assert "p.jsonl: there are no ids; joined by clip and the human AD's text." in report.findings


def test_descriptions_of_a_file_of_their_own(join: Join, tmp_path: Path) -> None:
    """Published Stage I texts have their own file."""
    rows = [row(str(place), f"1. Main characters: {place}", text_gt=TEXTS[place]) for place in (2, 0)]
    stage1 = write_lines(tmp_path / "stage1.jsonl", rows)
    report = join(*ALL, descriptions=stage1)
    described = [item.description for item in report.items[:3]]
    assert described == ["1. Main characters: 0", None, "1. Main characters: 2"]
    assert predictions(report) == predictions(join(*ALL))
    assert report.findings == ("stage1.jsonl: ADs without a description: 3 (1, 3, 4).",)
