"""``shotad evaluate ad DATASET --predictions FILE``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.console import Console
from shotad.cli.datasets_options import dataset_options, prediction_options
from shotad.cli.evaluating import beside, given, listed, measuring_options
from shotad.cli.options import console_options, settings_options

if TYPE_CHECKING:
    from shotad.evaluation import Corpus, Report, ReportInput


@click.command(name="ad")
@dataset_options
@prediction_options
@click.option(
    "--metrics",
    default="all",
    metavar="NAME,…",
    help="all (what can be measured here), or cider, cider-plain, bleu-1 to bleu-4, rouge-l, meteor, spice, "
    "action, action-description, critic, recall, llm-ad-eval, llm-action, story-recall, repetition, "
    "repetition-meaning, names-kept.",
)
@measuring_options
@click.option(
    "--shard", metavar="K/N", help="Only the K-th of N parts of the films; evaluate merge joins them."
)
@click.option("--out", type=click.Path(path_type=Path), help="The report's folder (default: FILE.eval).")
@click.option(
    "--compare", type=click.Path(path_type=Path), help="An earlier report to hold this one against."
)
@settings_options
@console_options
def command(console: Console, **options: Any) -> None:
    """Measure predicted ADs against the human ones of DATASET.

    DATASET is cmd-ad, mad-eval or tv-ad, a file (YAML) that describes another, or a file with human ADs of
    your own (CSV or JSON Lines: id, text or references, film, start, end, actions). Predictions are joined
    by id; what is missing or failed counts as 0.

    The report goes to FILE.eval beside the predictions, or --out: report.html, report.md, report.json, and
    items.csv with each AD's values. What is computed is kept: a second run computes what has changed.
    """
    from shotad.evaluation import WHOLE, Shard, check_folder, evaluate, write_report

    names = listed(options["metrics"])
    shard = Shard.parse(options["shard"]) if options["shard"] else WHOLE
    folder = options["out"] or beside(options["predictions"][0], "eval")
    check_folder(folder)
    inputs = given(options)
    earlier = _earlier(options["compare"], inputs.joined.corpus)
    run = evaluate(inputs, names, console, shard=shard, cache=options["cache"], force=options["force"])
    if options["judge"] and not any("@" in name for name in _all_names(run)):
        console.note("No metric that was asked for needs a judge: --judge was not used.")
    _tell(console, run, write_report(folder, run), earlier)


def _earlier(path: Path | None, corpus: Corpus) -> Report | None:
    """The report to compare with: read before anything is scored, and before it may be written over."""
    from shotad.evaluation import check_same_dataset, read_report

    if path is None:
        return None
    report = read_report(path)
    check_same_dataset(report, corpus.items, "these predictions")
    return report


def _all_names(run: ReportInput) -> list[str]:
    return [*(result.name for result in run.results), *(left.metric for left in run.left_out)]


def _tell(console: Console, run: ReportInput, files: Sequence[Path], earlier: Report | None) -> None:
    from shotad.evaluation import compare, comparison_text, read_report, terminal_text, write_comparison

    folder = files[0].parent
    report = read_report(folder)
    text, value = terminal_text(run), dict(report.head)
    if earlier is not None:
        comparison = compare(earlier, report, run.config.measures.report)
        files = [*files, *write_comparison(folder, comparison)]
        text = f"{text}\n\n{comparison_text(comparison)}"
        value["comparison"] = comparison.record()
    shown = [str(path) for path in files if path.suffix != ".png"]
    console.result("\n".join([text, "", "Files:", *(f"  {name}" for name in shown)]), value)
