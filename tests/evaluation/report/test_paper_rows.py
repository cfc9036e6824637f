"""The paper's numbers: each is compared with the paper's own text, where that is at hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shotad.evaluation.metric import METRICS
from shotad.evaluation.report.table import (
    AGREEMENT,
    CEILINGS,
    PAPER,
    PaperRow,
    paper_rows,
    paper_values,
)
from tests.evaluation.report.fakes import made_corpus, made_result

TEXT = Path(__file__).resolve().parents[3].parent / "shared" / "seeds" / "shot-by-shot-paper.txt"


@pytest.fixture(scope="module")
def lines() -> list[str]:
    if not TEXT.is_file():
        pytest.skip(f"needs the paper's text, {TEXT}")
    text = TEXT.read_text(encoding="utf-8")
    return [re.sub(r"[^\S\n]+", " ", line) for line in text.splitlines()]


def printed(value: float, line: str) -> bool:
    """Whether a line has the number: formulas came out of the paper with each number three times or more."""
    shown = {f"{value:.1f}", f"{value:.2f}", f"{value:.3f}"}
    return any(
        f"{one}{one}" in line or re.search(rf"(?<![\d.]){re.escape(one)}\s*\|", line) for one in shown
    ) or any(re.search(rf"\|\s*{re.escape(one)}(?!\d)", line) for one in shown)


METHODS = {
    "Shot-by-Shot": "Ours",
    "Shot-by-Shot, five in one answer": "Ours Joint",
    "Shot-by-Shot, five runs, top-p 0.95, temperature 1.5": "Ours Indep. output (p\N{MATHEMATICAL ITALIC SMALL P}pitalic_p = 0.95",
    "Shot-by-Shot, five runs, top-p 0.9, temperature 0.6": "Ours Indep. output (p\N{MATHEMATICAL ITALIC SMALL P}pitalic_p = 0.90",
    "AutoAD-Zero, five in one answer": "AutoAD-Zero [90] Joint",
}


def line_of(row: PaperRow, lines: list[str]) -> list[str]:
    """The lines of the text that may be the row's: those of its table that begin with its method."""
    ends = [k for k, line in enumerate(lines) if line.startswith(f"{row.table}:")]
    assert ends, row.table
    heads = [
        k
        for k, line in enumerate(lines[: ends[0]])
        if line.startswith(("Method ", "Stage I VideoLLM", "tIoU"))
    ]
    table = [line.removeprefix("\\hdashline ") for line in lines[heads[-1] + 1 : ends[0]]]
    begins = row.models.split(" ")[0] if row.table == "Table A1" else METHODS.get(row.method, row.method)
    found = [line for line in table if re.match(re.escape(begins) + r"(?![\w-])", line)]
    if row.table == "Table A5":
        found = [line for line in table if line.startswith("0.80.8")]
    if row.method in ("Shot-by-Shot", "AutoAD-Zero", "MM-Narrator") and row.table in ("Table 7", "Table 8"):
        parts = re.split(r" \+ |, ", row.models)
        found = [line for line in found if all(part in line for part in parts)]
        if row.models == "Azure API + CLIP-L14, GPT-4":
            found = [line for line in found if "GPT-4V" not in line]
    return found


@pytest.mark.parametrize("row", PAPER, ids=lambda row: f"{row.dataset} {row.method} {row.models} {row.table}")
def test_every_number_of_a_row_is_printed_in_the_paper(row: PaperRow, lines: list[str]) -> None:
    (line,) = line_of(row, lines)
    for name, values in row.values.items():
        for value in values:
            assert printed(value, line), f"{name} {value} is not in: {line}"


def numbers(line: str) -> list[float]:
    """The numbers of a garbled line, each once, in order: ``26.326.3\\mathbf{26.3}bold_26.3 47.8…`` → 26.3, 47.8."""
    return [float(one) for one in re.findall(r"(?:(?<=[\s|(])|^)(\d+\.\d{1,3}?)(?=\1)", line)]


ORDERS = {
    "Table 7": ("cider", "critic", "action", "recall"),
    "Table 8": ("cider", "recall", "rouge-l", "spice", "meteor", "bleu-1"),
    "Table 9": ("cider", "critic", "action"),
}
"""The columns of each table, without those of judges."""


@pytest.mark.parametrize(
    "row",
    [r for r in PAPER if r.table in ORDERS],
    ids=lambda r: f"{r.dataset} {r.method} {r.models} {r.table}",
)
def test_the_numbers_stand_in_their_columns(row: PaperRow, lines: list[str]) -> None:
    """In the paper's order of columns; the left half is CMD-AD's, the right half TV-AD's."""
    (line,) = line_of(row, lines)
    wanted = [row.values[name][0] for name in ORDERS[row.table] if name in row.values]
    found = numbers(line[line.find("output") :] if row.table == "Table 9" else line)
    if row.table == "Table 9":
        found = found[-6:]
    n = len(wanted)
    assert len(found) in (n, 2 * n)
    assert wanted == (found[-n:] if row.dataset == "tv-ad" else found[:n])


def test_agreement_and_ceilings_are_printed_too(lines: list[str]) -> None:
    (start,) = [k for k, line in enumerate(lines) if line.startswith("Metric Paragraph Sentence")]
    table = lines[start + 2 : start + 2 + len(AGREEMENT)]
    for row, line in zip(AGREEMENT, table, strict=True):
        wanted = [*row.paragraphs, *row.sentences]
        assert numbers(line) == wanted
    tiou = [line for line in lines if re.match(r"0\.(8|9|95)0\.", line)]
    for ceiling in CEILINGS:
        (line,) = [one for one in tiou if one.startswith(f"{ceiling.tiou}{ceiling.tiou}")]
        assert f"{ceiling.pairs}{ceiling.pairs}" in line
        assert f"{ceiling.films}{ceiling.films}" in line
        assert all(printed(value, line) for values in ceiling.values.values() for value in values)


def test_columns_are_metrics_of_ours() -> None:
    assert {name for row in PAPER for name in row.values} <= set(METRICS)
    assert all(row.record()["from_the_paper"] for row in PAPER)


def test_the_ceiling_stands_beside_results_on_cmd_ad_alone() -> None:
    (ceiling,) = [row for row in paper_rows("cmd-ad") if row.ceiling]
    assert ceiling.values["llm-ad-eval"] == (3.04, 3.24)
    assert not any(row.ceiling for row in (*paper_rows("tv-ad"), *paper_rows("mad-eval")))
    assert paper_rows("my own films") == ()


def test_assisted_rows_stand_beside_assisted_results_first() -> None:
    assert not any(row.protocol == "assisted" for row in paper_rows("cmd-ad"))
    rows = paper_rows("cmd-ad", "assisted")
    assert [row.protocol for row in rows[:4]] == ["assisted"] * 4
    assert rows[4].protocol == "single"


def test_a_recall_of_other_windows_is_another_metric() -> None:
    corpus = made_corpus(4)
    cmd, mad = paper_rows("cmd-ad")[0], paper_rows("mad-eval")[0]
    small = made_result(corpus, "recall", identity={"k": 1, "neighbours": 5})
    large = made_result(corpus, "recall", identity={"k": 5, "neighbours": 16})
    assert paper_values(cmd, small) == (33.0,)
    assert paper_values(cmd, large) == ()
    assert paper_values(mad, small) == ()
    assert paper_values(mad, large) == (50.6,)


def test_a_judge_is_found_under_its_metric() -> None:
    corpus = made_corpus(4)
    assert paper_values(paper_rows("cmd-ad")[0], made_result(corpus, "llm-ad-eval@llama3:model")) == (
        3.15,
        2.42,
    )
