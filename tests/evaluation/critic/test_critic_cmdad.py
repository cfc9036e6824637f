"""CRITIC on the test annotation of CMD-AD: what it must be for predictions whose score is known."""

from __future__ import annotations

import csv
import json
import random
from functools import lru_cache
from pathlib import Path

import pytest

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, MetricContext, Result, Store
from shotad.evaluation.metric import Item, make_metric, score

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "cmd-ad"
FEW = 12
"""Films of the fast tests."""

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"needs the CMD-AD annotation in {FOLDER}")


@lru_cache(maxsize=1)
def annotation() -> tuple[list[dict[str, str]], dict[str, tuple[str, ...]]]:
    with (FOLDER / "cmdad_anno.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with (FOLDER / "cmdad_gt_action.csv").open(encoding="utf-8", newline="") as stream:
        for row, actions in zip(rows, csv.DictReader(stream), strict=True):
            row["bare"] = actions["text_gt_wo_char"]
    casts = json.loads((FOLDER / "cast.json").read_text(encoding="utf-8"))
    return rows, {film: tuple(names) for film, names in casts.items()}


def corpus(kind: str, films: int | None = FEW) -> Corpus:
    rows, casts = annotation()
    wanted = set(sorted(casts)[:films])
    rows = [row for row in rows if row["imdbid"] in wanted]
    said = {"human": "text", "bare": "bare", "shuffled": "text"}[kind]
    predicted = [row[said] for row in rows]
    if kind == "shuffled":
        random.Random(0).shuffle(predicted)
    return Corpus(
        tuple(
            Item(
                str(n), row["imdbid"], Interval(float(row["start"]), float(row["end"])), (row["text"],), text
            )
            for n, (row, text) in enumerate(zip(rows, predicted, strict=True))
        ),
        casts,
    )


def scored(where: Corpus, rules: str = "paper") -> Result:
    on = MetricContext(Config.model_validate({"measures": {"critic": {"rules": rules}}}), Store())
    return score(make_metric("critic", on), where, on)


@pytest.mark.parametrize("rules", ["paper", "code", "all"])
def test_the_human_ads_have_all_points(rules: str) -> None:
    assert scored(corpus("human"), rules).value == 100.0


def test_others_have_few() -> None:
    assert (scored(corpus("bare")).value or 0) < 10
    assert (scored(corpus("shuffled")).value or 0) < 10


@pytest.mark.slow
def test_the_whole_annotation() -> None:
    human = scored(corpus("human", None))
    assert human.value == 100.0
    assert len(human.rows) == 7316
    assert 4300 < human.scored < 5000, "with pronouns; names alone are in about 3,500"
    assert (scored(corpus("bare", None)).value or 0) < 8
    assert (scored(corpus("shuffled", None)).value or 0) < 3
