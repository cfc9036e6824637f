"""A comparison for people: in the terminal, as text and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shotad.core import readable_json, write_text
from shotad.evaluation.report.columns import aligned
from shotad.evaluation.report.comparing import LISTED_IDS, Changed, Comparison, MetricComparison
from shotad.evaluation.report.intervals import basis_words
from shotad.evaluation.report.markdown import md_table, md_text
from shotad.evaluation.report.pages import page
from shotad.evaluation.report.wording import (
    chance_words,
    clock,
    count,
    number,
    percent,
    signed,
    span_words,
)

LINE_HEADS = ("AD", "A", "B", "B − A", "Human AD", "Line of A", "Line of B", "Film", "When, how long")

FILES = ("compare.json", "compare.md", "compare.html")


def comparison_text(comparison: Comparison) -> str:
    """All but the lines, for a terminal."""
    table = aligned(heads(comparison), metric_rows(comparison), range(1, 8))
    return "\n".join([*opening(comparison), "", *table, "", *explanation(comparison)])


def comparison_markdown(comparison: Comparison) -> str:
    """All of it, with the lines that gained and lost most."""
    lines = [
        f"# {md_text(title(comparison))}",
        "",
        *(f"- {md_text(said)}" for said in opening(comparison)),
        "",
    ]
    lines += [*md_table(heads(comparison), metric_rows(comparison), range(1, 8)), ""]
    lines += [f"- {md_text(said)}" for said in explanation(comparison)]
    for metric in comparison.metrics:
        for name, found in line_lists(metric):
            if found:
                lines += [
                    "",
                    f"## {md_text(name)}",
                    "",
                    *md_table(LINE_HEADS, line_rows(metric, found), [1, 2, 3]),
                ]
    return "\n".join(lines) + "\n"


def write_comparison(folder: Path, comparison: Comparison) -> list[Path]:
    """Write ``compare.json``, ``compare.md`` and ``compare.html``. Raises WorkFolderError."""
    texts = (
        readable_json(comparison.record()),
        comparison_markdown(comparison),
        comparison_page(comparison),
    )
    for name, text in zip(FILES, texts, strict=True):
        write_text(folder / name, text)
    return [folder / name for name in FILES]


def comparison_page(comparison: Comparison) -> str:
    """As one HTML file."""
    lists = [
        (name, line_rows(metric, found))
        for metric in comparison.metrics
        for name, found in line_lists(metric)
        if found
    ]
    return page(
        "compare",
        title=title(comparison),
        opening=opening(comparison),
        heads=heads(comparison),
        rows=metric_rows(comparison),
        explanation=explanation(comparison),
        lists=lists,
        line_heads=LINE_HEADS,
    )


def title(comparison: Comparison) -> str:
    """What is compared."""
    return f"{comparison.b} (B) against {comparison.a} (A)"


def heads(comparison: Comparison) -> tuple[str, ...]:
    """The columns of the table of metrics."""
    interval = f"{percent(comparison.settings.level)} interval"
    return ("Metric", "A", "B", "B − A", interval, "p, B is better", "p, two-sided", "ADs", "Better")


def opening(comparison: Comparison) -> list[str]:
    """Who is who, and on what they were compared, a sentence each."""
    lines = [f"A: {comparison.a}.", f"B: {comparison.b}."]
    common = f"Compared on {count(comparison.common, 'AD')} of {comparison.dataset} that both scored"
    if not comparison.only_a and not comparison.only_b:
        return [*lines, f"{common}: the same in both."]
    lines.append(f"{common}. The others are in no number below.")
    for side, names in (("A", comparison.only_a), ("B", comparison.only_b)):
        if names:
            shown = ", ".join(names[:LISTED_IDS]) + (", …" if len(names) > LISTED_IDS else "")
            lines.append(f"Only {side} has {count(len(names), 'AD')}: {shown}.")
    return lines


def metric_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """A row of cells for each metric."""
    rows: list[tuple[str, ...]] = []
    for metric in comparison.metrics:
        figures, name = metric.figures, metric.name
        rows.append(
            (
                metric.title if metric.higher_is_better else f"{metric.title} (lower is better)",
                number(name, figures.a),
                number(name, figures.b),
                signed(name, figures.difference),
                span_words(name, figures.interval),
                chance_words(figures.not_better),
                chance_words(figures.p),
                f"{figures.n:,}",
                metric.verdict(comparison.settings.level),
            )
        )
    return rows


def explanation(comparison: Comparison) -> list[str]:
    """How to read it."""
    settings = comparison.settings
    basis = basis_words([metric.figures.interval for metric in comparison.metrics], settings.unit)
    lines = []
    if basis:
        lines = [
            f"{basis} They are of B − A: A and B are left out together.",
            "p, two-sided: how often two equal systems come out so far apart by chance. p, B is better: how "
            "often B comes out so far ahead.",
            f"Better: the system that is ahead with p, two-sided, at most {1 - settings.level:.2g}; open "
            "where none is. Of many metrics one may come out so by chance.",
        ]
    lines += [f"Not compared: {one.title}, because {one.reason}." for one in comparison.not_compared]
    return lines


def line_lists(metric: MetricComparison) -> list[tuple[str, Sequence[Changed]]]:
    """The lines that gained and lost most, each list with its heading."""
    return [
        (f"{metric.title}: gained most ({count(metric.n_better, 'line')} better in B)", metric.better),
        (f"{metric.title}: lost most ({count(metric.n_worse, 'line')} worse in B)", metric.worse),
    ]


def line_rows(metric: MetricComparison, lines: Sequence[Changed]) -> list[tuple[str, ...]]:
    """A row of cells for each line."""
    return [
        (
            line.item.id,
            number(metric.name, line.value_a),
            number(metric.name, line.value_b),
            signed(metric.name, line.gain),
            line.item.reference,
            line.prediction_a or "nothing",
            line.prediction_b or "nothing",
            line.film,
            clock(line.item.interval),
        )
        for line in lines
    ]
