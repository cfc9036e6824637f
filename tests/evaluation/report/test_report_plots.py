"""The pictures: which there are, that they are pictures, and that the same numbers draw the same."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from shotad.evaluation import Corpus, write_report
from shotad.evaluation.metric import Row
from shotad.evaluation.report.plots import PLOT_NAMES, Plot, plots_of
from tests.evaluation.report.fakes import made_corpus, made_result, made_run

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def plots() -> dict[str, Plot]:
    corpus = made_corpus(90, 5)
    recall = made_result(corpus, "recall", title="Recall@1/5")
    rows = tuple(Row(row.id, (k % 2, 1.0), 100.0 * (k % 2)) for k, row in enumerate(recall.rows))
    results = (made_result(corpus, title="CIDEr"), replace(recall, rows=rows))
    return {plot.name: plot for plot in plots_of(made_run(corpus, results))}


def test_all_of_them(plots: dict[str, Plot]) -> None:
    assert tuple(plots) == PLOT_NAMES


@pytest.mark.parametrize("name", PLOT_NAMES)
def test_each_is_a_picture_that_is_not_empty(plots: dict[str, Plot], name: str) -> None:
    with Image.open(io.BytesIO(plots[name].png)) as picture:
        pixels = np.asarray(picture.convert("RGB"))
        assert picture.format == "PNG"
        assert picture.width >= 600
        assert "Software" not in picture.info
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert (border == 255).all(), "nothing reaches the edge"
    assert 0.005 < (pixels < 250).any(axis=-1).mean() < 0.6


def test_the_words_have_the_numbers(plots: dict[str, Plot]) -> None:
    table = plots["thread"].table
    for _, label, n, score, _ in table.rows:
        assert f"{label} {score} ({n} ADs)" in plots["thread"].alt
    assert sum(int(row[2]) for row in table.rows) == 180


def test_films_at_either_end_are_named(plots: dict[str, Plot]) -> None:
    rows = [row for row in plots["films"].table.rows if row[0] == "CIDEr"]
    assert [row[1] for row in rows] == ["1", "2", "3", "4", "5"]
    scores = [float(row[4]) for row in rows]
    assert scores == sorted(scores)


def test_without_scales_and_threads_there_are_no_such_plots() -> None:
    items = tuple(replace(i, scale=None, threaded=None) for i in made_corpus(20, 1).items)
    corpus = Corpus(items, dataset="cmd-ad")
    assert [plot.name for plot in plots_of(made_run(corpus, (made_result(corpus),)))] == [
        "distributions",
        "duration",
    ]


@pytest.mark.parametrize("value", [0.0, 5.0, -3.0])
def test_a_metric_of_one_value_is_drawn(value: float) -> None:
    corpus = made_corpus(12, 2)
    flat = replace(
        made_result(corpus), rows=tuple(Row(i.id, (value / 100, 1.0), value) for i in corpus.items)
    )
    assert len(plots_of(made_run(corpus, (flat,)))) == 5


def test_a_metric_that_says_nothing_is_not_drawn() -> None:
    corpus = made_corpus(12, 2)
    mute = replace(made_result(corpus), rows=tuple(Row(i.id, (0.0, 0.0), None) for i in corpus.items))
    assert "distributions" not in {plot.name for plot in plots_of(made_run(corpus, (mute,)))}


def test_titles_in_other_scripts_do_not_stop_it() -> None:
    corpus = made_corpus(12, 2)
    assert plots_of(made_run(corpus, (made_result(corpus, title="動作の点数 Ω"),)))


def test_plots_of_an_earlier_report_do_not_stay(tmp_path: Path) -> None:
    write_report(tmp_path, made_run())
    (tmp_path / "plots" / "mine.png").write_bytes(b"mine")
    assert {path.stem for path in (tmp_path / "plots").iterdir()} == {*PLOT_NAMES, "mine"}
    items = tuple(replace(i, scale=None) for i in made_corpus(20).items)
    corpus = Corpus(items, dataset="cmd-ad")
    write_report(tmp_path, made_run(corpus, (made_result(corpus),)))
    assert {path.stem for path in (tmp_path / "plots").iterdir()} == {*PLOT_NAMES, "mine"} - {"scale"}
