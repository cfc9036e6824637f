"""``shotad evaluate agreement REPORT --scores FILE``."""

from __future__ import annotations

from pathlib import Path

import click

from shotad.cli.console import Console
from shotad.cli.evaluating import unit_option
from shotad.cli.options import console_options, settings_options


@click.command(name="agreement")
@click.argument("report", type=click.Path(path_type=Path))
@click.option("--scores", type=click.Path(path_type=Path), required=True, help="Human scores: CSV or JSONL.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="One of the report's; repeatable.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for agreement.json.")
@unit_option
@settings_options
@console_options
def command(
    console: Console,
    report: Path,
    scores: Path,
    metrics: tuple[str, ...],
    out: Path | None,
    unit: str | None,
    config: tuple[str, ...],
    assignments: tuple[str, ...],
) -> None:
    """Do metrics agree with people?

    REPORT is a folder that shotad evaluate ad has written. FILE has a line for each AD, or for each action of
    it: id, action where an AD has several, and score or a column for each annotator. Annotators are averaged,
    then actions. Correlations are over ADs: Pearson, Spearman, and Kendall's tau-b.
    """
    from shotad.core import load_config, readable_json, write_text
    from shotad.evaluation import agreement, read_report, read_scores

    settings = load_config(config, assignments, measures__report__unit=unit)
    found = agreement(
        read_report(report),
        read_scores(scores),
        settings.measures.report,
        names=metrics,
    )
    if out is not None:
        write_text(out / "agreement.json", readable_json(found.record()))
        console.note(f"Written: {out / 'agreement.json'}")
    console.result(found.text, found.record())
