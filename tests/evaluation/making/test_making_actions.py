"""Actions made by an engine: two steps, read strictly, kept, and written as published."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from shotad.core.errors import DatasetError
from shotad.evaluation import make_actions
from shotad.evaluation.datasets.dataset import ActionFile, read_actions
from shotad.evaluation.making_actions import AdText, ads_of, write_actions
from shotad.evaluation.metric import Json
from tests.evaluation.datasets.datasetfiles import cmd_ad
from tests.evaluation.judges.judging import bench_of, named, said_by
from tests.evaluation.making.makers import MAKER, Parrot, Rote, is_first, text_of

AGAIN = "Ada opens the door and sees Bo."
TEXTS = (AGAIN, "The guard sits.", "", AGAIN, "Rain falls.")
ADS = tuple(AdText(str(n), "tt1", text) for n, text in enumerate(TEXTS))


def made_by_rote() -> tuple[tuple[AdText, ...], Json]:
    return make_actions(ADS, MAKER, bench_of())


def test_people_become_pronouns_and_then_it_is_taken_apart() -> None:
    Rote.asked.clear()
    ads, record = made_by_rote()
    assert [ad.without_names for ad in ads] == [
        "She opens the door and sees he.", "He sits.", "", "She opens the door and sees he.", "Rain falls.",
    ]  # fmt: skip
    both = ("She opens the door.", "She sees he.")
    assert [ad.actions for ad in ads] == [both, ("He sits.",), None, both, ("Rain falls.",)]
    assert record["failed"] == [{"id": "2", "reason": "people could not be taken out: it has no words"}]
    assert len(Rote.asked) == 6, "each text once in each step, and none without words"
    assert next(text_of(r) for r in Rote.asked if not is_first(r)) == "She opens the door and sees he."
    assert record["made_by"] == "rote r1 7"
    assert record["n"]["actions"] == 6


def test_examples_given_back_are_no_answers() -> None:
    ads = (AdText("1", "", "Ada opens the door."), AdText("2", "", "Over the roof snow blows."))
    Parrot.asked.clear()
    with_actions, _ = make_actions(ads, "tests.evaluation.making.makers:Parrot", bench_of())
    assert [ad.actions for ad in with_actions] == [None, None]
    first, second = with_actions
    assert 'says "hands", and the text does not' in first.failure
    assert "could not be taken apart: The text does not say" in second.failure
    assert second.without_names == "Over the roof snow blows."
    assert len(Parrot.asked) == 5, "each that failed is asked about twice"


def made_of(text: str, *answers: dict[str, Any]) -> AdText:
    """What is made of a text by an engine that gives these answers, the last for ever."""
    engine = named(said_by(*map(json.dumps, answers)))
    (ad,), _ = make_actions([AdText("1", "", text)], engine, bench_of())
    return ad


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Mrs. Oduya hands the plumber a wrench.", "She hands him a wrench."),
        ("Ann, Ben and Cy leave.", "They leave."), ("Dr. Brandt's Jaguar stops.", "Her Jaguar stops."),
        ("Snow falls.", "Snow falls."),
    ],
)  # fmt: skip
def test_what_may_be_left_of_a_text(text: str, answer: str) -> None:
    ad = made_of(text, {"text": answer}, {"actions": [answer]})
    assert (ad.without_names, ad.actions) == (answer, (answer,))


@pytest.mark.parametrize(
    "wrong",
    [
        "Here is the sentence with all character information replaced, as you asked: Ada opens a door.",
        "He looks at the clock on the wall.", "", "…", None,
    ],
)  # fmt: skip
def test_what_may_not_be_left_of_a_text(wrong: str | None) -> None:
    ad = made_of("Ada opens a door.", {"text": wrong})
    assert ad.actions is None
    assert ad.failure.startswith("people could not be taken out: ")


def test_what_may_be_made_of_a_text() -> None:
    text = "Running past the barn, she waves; he sat."
    good = ("She runs past the barn.", "She waves.", "He sits.")
    assert made_of(text, {"text": text}, {"actions": good}).actions == good
    bad: Any
    for bad in ([], ["A dog barks loudly."], ["She waves.", 3], "She waves."):
        ad = made_of(text, {"text": text}, {"actions": bad})
        assert ad.actions is None
        assert ad.failure.startswith("the text could not be taken apart: ")


def test_the_file_is_as_the_published_ones(tmp_path: Path) -> None:
    ads, record = made_by_rote()
    paths = write_actions(ads, record, tmp_path / "out" / "gt_action.csv")
    assert [path.name for path in paths] == ["gt_action.csv", "gt_action.about.json"]
    rows = list(csv.DictReader(io.StringIO(paths[0].read_text(encoding="utf-8"))))
    assert list(rows[0]) == ["anno_idx", "imdbid", "text_gt", "text_gt_wo_char", "gt_action", "made_by"]
    assert rows[0]["gt_action"] == "['She opens the door.', 'She sees he.']"
    assert rows[2]["gt_action"] == "0"
    assert {row["made_by"] for row in rows} == {"rote r1 7"}
    read, _ = read_actions(paths[0], ActionFile())
    assert [read[ad.id].actions for ad in ADS] == [ad.actions for ad in ads]
    assert [read[ad.id].text for ad in ADS] == list(TEXTS)
    about = json.loads(paths[1].read_text(encoding="utf-8"))
    assert "no words" in about["failed"][0]["reason"]
    assert about["n"] == {"ads": 5, "failed": 1, "actions": 6}
    assert about["identity"]["revision"] == "7"
    assert len(about["identity"]["prompts"]) == 64


def test_rules_say_that_no_engine_made_it() -> None:
    pytest.importorskip("spacy")
    ads = AdText("1", "", "Tom opens the door and walks in."), AdText("2", "", "")
    with_actions, record = make_actions(ads, "rules", bench_of())
    assert record["made_by"] == "rules by en_core_web_sm, no engine"
    first, second = with_actions
    assert first.actions is not None
    assert len(first.actions) == 2
    assert "Tom" not in first.without_names
    assert second.failure == "the rules found no action"
    assert record["identity"]["engine"] == "rules"


@pytest.mark.parametrize(
    "body",
    [
        'id,text,film\n7,"He sits, tired.",tt1\nx,Rain falls.,\n',
        '{"id": 7, "text": "He sits, tired.", "film": "tt1"}\n{"id": "x", "text": "Rain falls."}\n',
        'anno_idx,imdbid,text_gt\n7,tt1,"He sits, tired."\nx,,Rain falls.\n',
    ],
)
def test_plain_files_are_read(tmp_path: Path, body: str) -> None:
    (tmp_path / "a.csv").write_text(body, encoding="utf-8")
    expected = (AdText("7", "tt1", "He sits, tired."), AdText("x", "", "Rain falls."))
    assert ads_of(str(tmp_path / "a.csv")) == expected


def test_files_that_are_refused_and_a_dataset_needs_its_folder(tmp_path: Path) -> None:
    for body, why in (
        ("id,words\n1,He sits.\n", "has no text_gt or text"),
        ("id,text\n1,He sits.\n1,He stands.\n", "several times: 1"),
        ("id,text\n,He sits.\n", "id is empty"),
    ):
        (tmp_path / "a.csv").write_text(body, encoding="utf-8")
        with pytest.raises(DatasetError, match=why):
            ads_of(str(tmp_path / "a.csv"))
    ads = ads_of("cmd-ad", cmd_ad(tmp_path))
    assert ads[0] == AdText("0", "tt01", "Ann opens the door.")
    with pytest.raises(DatasetError, match="is no file"):
        ads_of("cmd-ad")
