"""Reports: their files, that they are read back whole and equal runs are equal; what is said in words, tables, plots
and on the page, with the paper's numbers beside it."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from shotad.core import Config, ShotadError
from shotad.core.config.measures import EmbeddingSettings, MeasureSettings
from shotad.core.errors import EvaluationError
from shotad.evaluation import Corpus, Report, Row, merge, read_report, terminal_text, write_report
from shotad.evaluation.evaluation_run import NotMeasured
from tests.evaluation.report.fakes import made_corpus, made_item, made_result, made_run, shard
from tests.htmlpage import Page, check_readable

FILES = ("report.json", "report.html", "report.md", "items.csv", "speed.json", "items.jsonl")


def with_trouble() -> Report:
    """Predictions that are missing, failed, odd; a metric that says nothing of some."""
    odd = {
        3: {"prediction": None, "failure": "no prediction"},
        4: {"prediction": None, "failure": "the video is damaged"}, 5: {"prediction": "=1+1"},
        6: {"prediction": "<script>alert(1)</script> | *bold*"}, 7: {"prediction": "東京へ行く\nneu"},
    }  # fmt: skip
    items = tuple(made_item(k, f"tt{k % 3}", **odd.get(k, {})) for k in range(30))
    corpus = Corpus(items, dataset="cmd-ad")
    critic = made_result(corpus, "critic", seed=4, title="CRITIC")
    mute = {"value": None, "sums": (0.0, 0.0)}
    changes: dict[str, dict[str, Any]] = {"1": mute, "2": mute, "9": {"failure": "the resolver failed"}}
    rows = tuple(replace(row, **changes.get(row.id, {})) for row in critic.rows)
    told = {"titles": {"tt0": "Die Brücke & Co"}, "extra": 2, "doubled": 1, "title": "CMD-AD"}
    left = (NotMeasured("spice", "Java is missing."),)
    results = (made_result(corpus, title="CIDEr"), replace(critic, rows=rows))
    return made_run(corpus, results, not_measured=left, configs=("paper",), **told)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with troubles of all kinds."""
    place = tmp_path_factory.mktemp("report")
    write_report(place, with_trouble(), plots=False)
    return place


def test_a_report_written_from_what_was_read_is_the_same_to_the_byte(folder: Path, tmp_path: Path) -> None:
    write_report(tmp_path, merge([read_report(folder)]), plots=False)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_the_record_and_table_say_what_they_were_made_of(folder: Path) -> None:
    head = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert head["n"] == {
        "ads": 30, "in_this_report": 30, "missing": 1, "failed": 1, "skipped": 0, "extra": 2, "doubled": 1,
    }  # fmt: skip
    assert head["dataset"]["name"] == "cmd-ad"
    assert re.fullmatch(r"[0-9a-f]{64}", head["dataset"]["texts"])
    assert head["config"]["named"] == ["paper"]
    assert head["config"]["seed"] == 42
    assert head["config"]["measures"]["recall"]["neighbours"] == 5
    assert "numpy" in head["made_with"]["libraries"]
    assert head["left_out"] == [{"metric": "spice", "reason": "Java is missing."}]
    cider, critic = head["metrics"]
    assert (cider["n"], cider["failed"]) == (30, 2)
    assert (critic["scored"], critic["not_scored"]) == (28, 2)
    assert cider["value"] == pytest.approx(100 * cider["sums"][0] / cider["sums"][1])
    assert cider["interval"]["low"] < cider["value"] < cider["interval"]["high"]
    assert all(row["from_the_paper"] for row in head["paper"])
    # The table opens in a spreadsheet.
    text = (folder / "items.csv").read_bytes().decode("utf-8")
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert len(rows) == 30
    for name, column, cell in (
        ("5", "prediction", "'=1+1"), ("7", "prediction", "東京へ行く\nneu"), ("3", "notes", "no prediction"),
        ("4", "notes", "the video is damaged"), ("1", "critic", ""), ("0", "title", "Die Brücke & Co"),
    ):  # fmt: skip
        assert [row[column] for row in rows if row["id"] == name] == [cell]
    assert [float(row["cider"]) for row in rows if row["id"] == "3"] == [0]


def test_no_folder_of_this_machine_stands_in_it_and_times_alone_differ(tmp_path: Path) -> None:
    model = tmp_path / "models" / "mine"
    measures = MeasureSettings(embedding=EmbeddingSettings(model=str(model)))
    corpus = made_corpus(5)
    result = made_result(corpus, identity={"model": str(model), "deep": [{"at": str(tmp_path / "x")}]})
    write_report(tmp_path / "r", made_run(corpus, (result,), config=Config(measures=measures)), plots=False)
    for name in FILES:
        assert str(tmp_path) not in (tmp_path / "r" / name).read_text(encoding="utf-8"), name
    head = read_report(tmp_path / "r").head
    assert head["metrics"][0]["identity"] == {"model": "mine", "deep": [{"at": "x"}]}
    # Two runs that took different times write the same but for the times.
    run = made_run()
    slow = replace(run, results=tuple(replace(r, seconds=99.5, fresh=len(r.rows)) for r in run.results))
    write_report(tmp_path / "a", run, plots=False)
    write_report(tmp_path / "b", slow, plots=False)
    differing = [n for n in FILES if (tmp_path / "a" / n).read_bytes() != (tmp_path / "b" / n).read_bytes()]
    assert differing == ["speed.json"]
    speed = json.loads((tmp_path / "b" / "speed.json").read_text())["metrics"][0]
    assert speed == {"name": "cider", "seconds": 99.5, "rows": 60, "fresh": 60}


def test_an_unfinished_report_is_none(tmp_path: Path) -> None:
    """A run that ends while it replaces an older report leaves none, not a mixture."""
    write_report(tmp_path, made_run(), plots=False)
    (tmp_path / "report.html").unlink()
    (tmp_path / "report.html").mkdir()
    with pytest.raises(ShotadError, match=r"report\.html"):
        write_report(tmp_path, with_trouble(), plots=False)
    with pytest.raises(EvaluationError, match=r"holds no report\.json"):
        read_report(tmp_path)


def test_damaged_and_newer_reports_are_refused(folder: Path, tmp_path: Path) -> None:
    head = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    lines = (folder / "items.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)

    for record, kept, why in (
        ({**head, "schema": 99}, lines, "schema 99"),
        (head, lines[:-1], "30 rows of cider were written, 29 are there"),
        (head, [*lines[:-1], lines[-1][:40]], "is damaged"),
        ([1], lines, "is no report"),
    ):
        (tmp_path / "report.json").write_text(json.dumps(record), encoding="utf-8")
        (tmp_path / "items.jsonl").write_text("".join(kept), encoding="utf-8")
        with pytest.raises(EvaluationError, match=why):
            read_report(tmp_path)


def test_without_matplotlib_a_report_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    write_report(tmp_path, made_run())
    for name in ("report.md", "report.html"):
        assert "There are no plots." in (tmp_path / name).read_text(encoding="utf-8")
    assert not (tmp_path / "plots").exists()
    # An empty run breaks nothing.
    run = made_run(made_corpus(3), ())
    write_report(tmp_path / "none", run)
    assert read_report(tmp_path / "none").results == ()
    assert "speaks of 0 of them" in terminal_text(run)


# --- words
def test_a_failure_that_no_number_counts_is_not_told_as_0(tmp_path: Path) -> None:
    """Repetition says nothing of silence: the AD that failed is not among those that it speaks of."""
    corpus = Corpus(tuple(made_item(k, "tt0", prediction="x" if k else None) for k in range(10)))
    result = made_result(corpus, "repetition")
    silent = replace(result.rows[0], value=None, sums=(0.0, 0.0))
    result = replace(result, rows=(silent, *result.rows[1:]))
    write_report(tmp_path / "r", made_run(corpus, (result, made_result(corpus))), plots=False)
    metrics = read_report(tmp_path / "r").head["metrics"]
    assert [(m["failed"], m["counted_as_0"], m["scored"]) for m in metrics] == [(1, 0, 9), (1, 1, 10)]
    text = (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith("| REPETITION | ")][:1]
    assert row.endswith("| 10 | 9 | 0 | lower |")
    assert "Scored: ADs that the metric speaks of." in text


def test_numbers_that_are_not_comparable_have_their_reasons() -> None:
    run = made_run()
    text = terminal_text(run)
    assert "Not comparable with the numbers below it, for the reasons in the notes: ACTION." in text
    assert "ADs, the paper's rows are of all" not in text
    part = terminal_text(shard(run, 0, 20))
    assert "The first row is of 20 of 60 ADs, the paper's rows are of all." in part
    corpus, remarks = made_corpus(), ("Names are guessed.", "The scale is short.")
    run = made_run(corpus, (made_result(corpus, "action", comparable=False, remarks=remarks),))
    said = "ACTION: not comparable with the paper's number. Names are guessed. The scale is short."
    assert said in terminal_text(run)


def test_the_papers_rows_are_below_ones_own_and_marked() -> None:
    lines = terminal_text(with_trouble()).splitlines()
    own = next(k for k, line in enumerate(lines) if "measured here" in line)
    assert lines[own].startswith("Test system ")
    assert "Shot-by-Shot, Qwen2-VL-7B + LLaMA3-8B" in lines[own + 1]
    assert "from the paper, Table 7" in lines[own + 1]
    assert lines[own + 1].split()[-2:] == ["26.3", "47.8"]
    other = [line for line in lines if line.startswith("Another human AD") and "Table A5" in line]
    assert any("61.5" in line for line in other)


def test_the_page_can_be_read_by_ear_and_needs_no_other_file(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    parsed = Page(page)
    check_readable(parsed)
    assert len(parsed.all("table")) >= 6
    assert len(parsed.all("main")) == len(parsed.all("nav")) == 1
    assert "&lt;script&gt;alert(1)" in page
    assert "Die Brücke &amp; Co" in page
    assert not re.search(r"(src|href)=\"(?!data:image/png;base64,|#)", page)
    # Text of lines cannot break the markdown.
    lines = (folder / "report.md").read_text(encoding="utf-8").splitlines()
    widths = [len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0 for line in lines]
    assert all(a == b for a, b in itertools.pairwise(widths) if a and b)
    assert any("\\<script\\>alert(1)\\</script\\> \\| \\*bold\\*" in line for line in lines)
    assert any("東京へ行く neu" in line for line in lines)


PLOTS = ("distributions", "duration", "scale", "thread", "films")


@pytest.fixture(scope="module")
def plotted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with all plots."""
    pytest.importorskip("matplotlib")
    corpus = made_corpus(90, 5)
    recall = made_result(corpus, "recall", title="Recall@1/5")
    rows = tuple(Row(row.id, (k % 2, 1.0), 100.0 * (k % 2)) for k, row in enumerate(recall.rows))
    results = (made_result(corpus, title="CIDEr"), replace(recall, rows=rows))
    place = tmp_path_factory.mktemp("plots")
    write_report(place, made_run(corpus, results))
    return place


@pytest.mark.parametrize("name", PLOTS)
def test_each_is_a_picture_that_is_not_empty(plotted: Path, name: str) -> None:
    with Image.open(plotted / "plots" / f"{name}.png") as picture:
        pixels = np.asarray(picture.convert("RGB"))
        assert picture.format == "PNG"
        assert picture.width >= 600
        assert "Software" not in picture.info
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert (border == 255).all(), "nothing reaches the edge"
    assert 0.005 < (pixels < 250).any(axis=-1).mean() < 0.6


def test_the_words_have_the_numbers(plotted: Path) -> None:
    text = (plotted / "report.md").read_text(encoding="utf-8")
    (section,) = [part for part in text.split("\n### ") if "(plots/thread.png)" in part]
    alt, *lines = section[section.index("![") :].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    numbers = [row for row in rows if row[0] in ("CIDEr", "Recall@1/5")]
    assert len(numbers) == 4
    for _, label, count, score, _ in numbers:
        assert f"{label} {score} ({count} ADs)" in alt
    assert sum(int(row[2]) for row in numbers) == 180


def test_plots_of_an_earlier_report_do_not_stay(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_report(tmp_path, made_run())
    (tmp_path / "plots" / "mine.png").write_bytes(b"mine")
    assert {path.stem for path in (tmp_path / "plots").iterdir()} == {*PLOTS, "mine"}
    items = tuple(replace(i, scale=None) for i in made_corpus(20).items)
    corpus = Corpus(items, dataset="cmd-ad")
    write_report(tmp_path, made_run(corpus, (made_result(corpus),)))
    assert {path.stem for path in (tmp_path / "plots").iterdir()} == {*PLOTS, "mine"} - {"scale"}


def papers_rows(tmp_path: Path, dataset: str) -> list[dict[str, Any]]:
    """The paper's rows in a report on this dataset."""
    corpus = made_corpus(4, dataset=dataset)
    write_report(tmp_path / dataset, made_run(corpus), plots=False)
    rows: list[dict[str, Any]] = read_report(tmp_path / dataset).head["paper"]
    return rows


def test_the_paper_has_a_ceiling_of_one_dataset(tmp_path: Path) -> None:
    (ceiling,) = [row for row in papers_rows(tmp_path, "cmd-ad") if row["protocol"] == "inter-rater"]
    assert ceiling["values"]["llm-ad-eval"] == [3.04, 3.24]
    for dataset in ("tv-ad", "mad-eval"):
        assert {row["protocol"] for row in papers_rows(tmp_path, dataset)} == {"single"}
    assert papers_rows(tmp_path, "my own films") == []


def test_a_recall_of_other_windows_is_another_metric() -> None:
    def beside(dataset: str, k: int, neighbours: int) -> str:
        corpus = made_corpus(4, dataset=dataset)
        recall = made_result(corpus, "recall", identity={"k": k, "neighbours": neighbours})
        text = terminal_text(made_run(corpus, (recall, made_result(corpus))))
        return "\n".join(line for line in text.splitlines() if "from the paper, " in line)

    for dataset, value, own, other in (
        ("cmd-ad", "33.0", (1, 5), (5, 16)),
        ("mad-eval", "50.6", (5, 16), (1, 5)),
    ):
        assert value in beside(dataset, *own)
        assert value not in beside(dataset, *other)


def test_a_metric_that_says_nothing_is_not_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    corpus = made_corpus(12, 2)
    mute = replace(made_result(corpus), rows=tuple(Row(i.id, (0.0, 0.0), None) for i in corpus.items))
    write_report(tmp_path, made_run(corpus, (mute,)))
    assert not (tmp_path / "plots" / "distributions.png").exists()
