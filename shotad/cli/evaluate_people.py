"""``shotad evaluate agreement`` and ``inter-rater``: a metric, and two human ADs, against what people say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shotad.cli.evaluate import listed, unit_option
from shotad.cli.options import PATH, Console, console_options, settings_options
from shotad.core import UsageError, load_config, readable_json, write_text

if TYPE_CHECKING:
    from shotad.evaluation import Version


@click.command(name="agreement")
@click.argument("report", type=PATH)
@click.option("--scores", type=PATH, required=True, help="Human scores: CSV or JSONL.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="One of the report's; repeatable.")
@click.option("--out", type=PATH, help="Folder for agreement.json.")
@unit_option
@settings_options
@console_options
def agreement(
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


@click.command(name="inter-rater")
@click.argument("scripts", nargs=-1, required=True, type=PATH, metavar="A B | TABLE")
@click.option(
    "--tiou",
    default="0.5,0.8,0.9,0.95",
    show_default=True,
    metavar="X,…",
    help="Overlaps in time, each a row.",
)
@click.option(
    "--metrics", metavar="NAME,…", help="Default: cider, bleu-1, rouge-l, meteor, action and recall."
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="WPM",
    help="Reckon where lines end from their words, at so many a minute, not from their cues.",
)
@click.option("--out", type=PATH, help="Folder for inter-rater.json.")
@click.option("--cache", type=PATH, help="The file that keeps what is computed of texts.")
@settings_options
@console_options
def interrater(
    console: Console,
    scripts: tuple[Path, ...],
    tiou: str,
    metrics: str | None,
    rate: float | None,
    out: Path | None,
    cache: Path | None,
    config: tuple[str, ...],
    assignments: tuple[str, ...],
) -> None:
    """How well do two human ADs of the same film agree?

    A and B are scripts of one film (WebVTT, SRT, DAPT, CSV, JSON). TABLE is one CSV of both versions of many
    films: film, rater, start, end, text. Lines are paired by overlap in time (tIoU), one to one; then each
    version is scored as a prediction of the other: what a system can hope for.
    """
    from shotad.evaluation import (
        MetricContext,
        Store,
        at_rate,
        inter_rater,
        interrater_record,
        interrater_text,
        kept_file,
    )

    thresholds = _thresholds(tiou)
    names = listed(metrics or "")
    versions = _versions(scripts)
    if rate is not None:
        versions = [at_rate(version, rate) for version in versions]
    with Store(cache or kept_file()) as store:
        bench = MetricContext(load_config(config, assignments), store, console)
        found = inter_rater(versions[0], versions[1], thresholds, bench, names)
    if out is not None:
        write_text(out / "inter-rater.json", readable_json(interrater_record(found)))
        console.note(f"Written: {out / 'inter-rater.json'}")
    console.result(interrater_text(found), interrater_record(found))


def _thresholds(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--tiou {text} holds no numbers.", "Write 0.8 or 0.5,0.8.") from None


def _versions(scripts: tuple[Path, ...]) -> list[Version]:
    from shotad.evaluation import from_scripts, from_table

    if len(scripts) > 2:
        raise UsageError(f"{len(scripts)} files were given.", "Name two scripts, or one table.")
    return list(from_scripts(*scripts) if len(scripts) == 2 else from_table(scripts[0]))
