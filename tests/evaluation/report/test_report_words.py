"""What a report says, in words, tables, plots and on its page, with the paper's numbers beside it."""

from __future__ import annotations

import io
import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from shotad.evaluation import Corpus, Row, read_report, terminal_text, write_report
from shotad.evaluation.report.plots import PLOT_NAMES, Plot, plots_of
from shotad.evaluation.report.table import COLUMNS, paper_rows, paper_values
from tests.evaluation.report.conftest import with_trouble
from tests.evaluation.report.fakes import made_corpus, made_item, made_result, made_run, shard


class Outline(HTMLParser):
    """What a screen reader meets, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.tables: list[dict[str, int]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.language = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.tags.append(tag)
        self.ids += [told["id"] or ""] if "id" in told else []
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        elif tag == "table":
            self.tables.append({"caption": 0, "th": 0, "scoped": 0})
        elif tag in ("caption", "th") and self.tables:
            self.tables[-1][tag] += 1
            self.tables[-1]["scoped"] += tag == "th" and told.get("scope") in ("row", "col")
        elif tag == "a":
            self.links.append(told["href"] or "")
        elif tag == "html":
            self.language = told.get("lang") or ""


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
    assert COLUMNS in text


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
    found = Outline()
    found.feed((folder / "report.html").read_text(encoding="utf-8"))
    assert found.language == "en"
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(found.headings))
    assert len(found.tables) >= 6
    for table in found.tables:
        assert table["caption"] == 1
        assert table["th"] == table["scoped"] > 0
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))
    assert "main" in found.tags
    assert "nav" in found.tags
    assert "script" not in found.tags
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "Die Brücke &amp; Co" in page
    assert not re.search(r"(src|href)=\"(?!data:image/png;base64,|#)", page)
    assert "@import" not in page
    # Text of lines cannot break the markdown.
    lines = (folder / "report.md").read_text(encoding="utf-8").splitlines()
    widths = [len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0 for line in lines]
    assert all(a == b for a, b in itertools.pairwise(widths) if a and b)
    assert any("\\<script\\>alert(1)\\</script\\> \\| \\*bold\\*" in line for line in lines)
    assert any("東京へ行く neu" in line for line in lines)


pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def plots() -> dict[str, Plot]:
    corpus = made_corpus(90, 5)
    recall = made_result(corpus, "recall", title="Recall@1/5")
    rows = tuple(Row(row.id, (k % 2, 1.0), 100.0 * (k % 2)) for k, row in enumerate(recall.rows))
    results = (made_result(corpus, title="CIDEr"), replace(recall, rows=rows))
    return {plot.name: plot for plot in plots_of(made_run(corpus, results))}


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
    table = plots["thread"]
    for _, label, n, score, _ in table.rows:
        assert f"{label} {score} ({n} ADs)" in plots["thread"].alt
    assert sum(int(row[2]) for row in table.rows) == 180


def test_plots_of_an_earlier_report_do_not_stay(tmp_path: Path) -> None:
    write_report(tmp_path, made_run())
    (tmp_path / "plots" / "mine.png").write_bytes(b"mine")
    assert {path.stem for path in (tmp_path / "plots").iterdir()} == {*PLOT_NAMES, "mine"}
    items = tuple(replace(i, scale=None) for i in made_corpus(20).items)
    corpus = Corpus(items, dataset="cmd-ad")
    write_report(tmp_path, made_run(corpus, (made_result(corpus),)))
    assert {path.stem for path in (tmp_path / "plots").iterdir()} == {*PLOT_NAMES, "mine"} - {"scale"}


def test_ceilings_recalls_and_silent_metrics() -> None:
    (ceiling,) = [row for row in paper_rows("cmd-ad") if row["protocol"] == "inter-rater"]
    assert ceiling["values"]["llm-ad-eval"] == (3.04, 3.24)
    others = (*paper_rows("tv-ad"), *paper_rows("mad-eval"))
    assert not any(row["protocol"] == "inter-rater" for row in others)
    assert paper_rows("my own films") == ()
    # A recall of other windows is another metric.
    corpus = made_corpus(4)
    cmd, mad = paper_rows("cmd-ad")[0], paper_rows("mad-eval")[0]
    small = made_result(corpus, "recall", identity={"k": 1, "neighbours": 5})
    large = made_result(corpus, "recall", identity={"k": 5, "neighbours": 16})
    assert paper_values(cmd, small) == (33.0,)
    assert paper_values(cmd, large) == ()
    assert paper_values(mad, small) == ()
    assert paper_values(mad, large) == (50.6,)
    # A metric that says nothing is not drawn.
    corpus = made_corpus(12, 2)
    mute = replace(made_result(corpus), rows=tuple(Row(i.id, (0.0, 0.0), None) for i in corpus.items))
    assert "distributions" not in {plot.name for plot in plots_of(made_run(corpus, (mute,)))}
