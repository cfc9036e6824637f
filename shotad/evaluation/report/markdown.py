"""``report.md``: the report as text that is readable as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shotad.evaluation.report.content import Content
from shotad.evaluation.report.lines import Listing
from shotad.evaluation.report.table import Beside
from shotad.evaluation.report.wording import count

PLOTS = "plots"
"""The folder of pictures, beside the text."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown(content: Content) -> str:
    """All of the report."""
    lines = [f"# {md_text(content.title)}", "", md_text(content.lead), ""]
    lines += [f"- {md_text(said)}" for said in content.counts]
    lines += ["", "## Metrics", "", *_metrics(content)]
    if content.beside is not None:
        lines += ["", "## Beside the paper", "", *_beside(content.beside), ""]
        lines += [f"- {md_text(note)}" for note in content.paper_notes]
    if content.footnotes:
        lines += ["", "## Notes", ""]
        lines += [f"- {md_text(note.mark)} {md_text(note.text)}" for note in content.footnotes]
    if content.left_out:
        lines += ["", "## Not counted", ""]
        lines += [f"- {md_text(left.metric)}: {md_text(left.reason)}" for left in content.left_out]
    for listing in content.listings:
        lines += _listing(listing)
    lines += _plots(content)
    lines += ["", "## How it was made", ""]
    lines += [f"- {md_text(term)}: {md_text(said)}" for term, said in content.made]
    return "\n".join(lines) + "\n"


def md_table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> list[str]:
    """A table; columns whose places are in ``numbers`` are set to the right."""
    rule = ["---:" if place in numbers else "---" for place in range(len(heads))]
    lines = [[md_text(head) for head in heads], rule, *([md_text(cell) for cell in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _metrics(content: Content) -> list[str]:
    heads = ("Metric", "Value", f"{content.level} interval", "ADs", "Scored", "Failed", "Better")
    rows = [
        (
            f"{m.title} {m.mark}".strip(),
            m.value,
            m.interval,
            *map(_count, (m.n, m.scored, m.failed)),
            m.better,
        )
        for m in content.metrics
    ]
    return [*md_table(heads, rows, range(1, 6)), "", content.columns]


def _listing(listing: Listing) -> list[str]:
    """The worst and best lines by one metric; the page has all that are listed."""
    heads = ("AD", "Score", "Human AD", "Prediction", "Film", "When, how long", "Notes of the metric")
    lines: list[str] = []
    for name, found in (("Worst", listing.worst), ("Best", listing.best)):
        rows = [(ln.id, ln.value, ln.reference, ln.prediction, ln.film, ln.when, ln.notes) for ln in found]
        lines += ["", f"## {name} lines by {md_text(listing.title)}", "", *md_table(heads, rows, [1])]
    if listing.silent:
        lines += ["", f"{count(listing.silent, 'AD')} for which nothing was said not listed."]
    return lines


def _plots(content: Content) -> list[str]:
    lines = ["", "## Plots", ""] if content.plots or content.no_plots else []
    lines += [md_text(content.no_plots)] if content.no_plots else []
    for plot in content.plots:
        rows = md_table(plot.table.heads, plot.table.rows, range(plot.table.texts, len(plot.table.heads)))
        lines += [f"### {md_text(plot.title)}", "", f"![{md_text(plot.alt)}]({PLOTS}/{plot.name}.png)", ""]
        lines += [md_text(plot.caption), "", *rows, ""]
    return lines


def _count(n: int) -> str:
    return f"{n:,}"


def _beside(beside: Beside) -> list[str]:
    heads = ("System", "Models", "Source", *beside.heads)
    rows = [(line.system, line.made_with, line.source, *line.cells) for line in beside.lines]
    return md_table(heads, rows, range(3, len(heads)))


def md_text(text: str) -> str:
    """Text on one line in which nothing is taken for a sign of Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
