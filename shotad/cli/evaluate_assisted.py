"""``shotad evaluate assisted DATASET --predictions FILE``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.console import Console
from shotad.cli.datasets_options import dataset_of, dataset_options, joined_of, prediction_options
from shotad.cli.options import console_options, settings_options
from shotad.config import Config, load_config

if TYPE_CHECKING:
    from shotad.evaluation.assisted.protocol import Assisted
    from shotad.evaluation.datasets.ads import Dataset
    from shotad.evaluation.measure.rows import Result
    from shotad.evaluation.predictions.joining import Joined


@click.command(name="assisted")
@dataset_options
@prediction_options
@click.option(
    "--metrics", default="all", metavar="NAME,…", help="What the choice is measured by; see evaluate ad."
)
@click.option(
    "--expert", default="cider,action", metavar="NAME,…", help="Metrics whose mean the expert goes by."
)
@click.option(
    "--judge", multiple=True, metavar="ENGINE[:MODEL]", help="An engine that judges; see evaluate ad."
)
@click.option(
    "--missing",
    type=click.Choice(["zero", "skip"]),
    help="An AD without candidates counts as 0 (the default), or is left out.",
)
@click.option("--system", metavar="NAME", default="", help="What the report calls the predictions.")
@click.option("--out", type=click.Path(path_type=Path), help="The report's folder (default: FILE.assisted).")
@click.option(
    "--cache", type=click.Path(path_type=Path), help="The file that keeps what is computed of texts."
)
@click.option("--force", is_flag=True, help="Compute everything again.")
@settings_options
@console_options
def command(console: Console, **options: Any) -> None:
    """Let an expert choose among the candidates of each AD, and measure the choice.

    The expert is the rule of the Shot-by-Shot paper: the candidate with the highest mean of CIDEr and action
    score. Beside the choice stand the first candidate, a random one on average, and the best possible by
    each metric. Metrics that ask an engine are counted of the choice alone.

    The folder gets assisted.json, choices.jsonl with each AD's choice, and the report of the chosen lines.
    """
    from shotad.evaluation.assisted.protocol import assist
    from shotad.evaluation.assisted.table import as_json, render
    from shotad.evaluation.datasets.findings import NOTE
    from shotad.evaluation.measure.bench import Bench
    from shotad.evaluation.measure.store import Store, kept_file
    from shotad.workfolder import write_text

    dataset = dataset_of(options)
    config = _config(options, dataset)
    joined = joined_of(dataset, options)
    told = [finding for finding in dataset.findings if finding.level != NOTE]
    for finding in (*told, *joined.findings):
        console.note(f"{finding.where}: {finding.what}")

    def tell(role: str, result: Result) -> None:
        value = "not defined" if result.value is None else f"{result.value:.2f}"
        console.note(f"{result.title}, {role}: {value} ({result.seconds:.1f} s).")

    with Store(options["cache"] or kept_file(), forget=options["force"]) as store:
        bench = Bench(config, store, console)
        done = assist(
            joined.corpus, _names(options["metrics"]), bench, expert=_names(options["expert"]), done=tell
        )
    predictions: Path = options["predictions"][0]
    folder = options["out"] or predictions.with_name(predictions.stem + ".assisted")
    files = _written(folder, dataset, joined, done, config, options)
    write_text(folder / "assisted.json", json.dumps(as_json(done), ensure_ascii=False, indent=1) + "\n")
    rows = (json.dumps(choice.record(), ensure_ascii=False) + "\n" for choice in done.choices)
    write_text(folder / "choices.jsonl", "".join(rows))
    shown = [folder / "assisted.json", folder / "choices.jsonl", *(f for f in files if f.suffix != ".png")]
    text = render(done, options["system"] or predictions.name)
    console.result("\n".join([text, "", "Files:", *(f"  {path}" for path in shown)]), as_json(done))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _config(options: dict[str, Any], dataset: Dataset) -> Config:
    own = [dataset.config] if dataset.config and dataset.config not in options["config"] else []
    return load_config(
        [*options["config"], *own],
        options["assignments"],
        measures__missing=options["missing"],
        measures__judge__engines=options["judge"] or None,
    )


def _written(
    folder: Path, dataset: Dataset, joined: Joined, done: Assisted, config: Config, options: dict[str, Any]
) -> list[Path]:
    """The report of the chosen lines."""
    from shotad.evaluation.assisted.table import expert_words
    from shotad.evaluation.report.inputs import Joined as Counts
    from shotad.evaluation.report.inputs import LeftOut, Predictions, ReportInput
    from shotad.evaluation.report.writing import write_report

    run = ReportInput(
        corpus=done.corpus,
        results=done.measured.results,
        config=config,
        predictions=Predictions.of(*options["predictions"], system=options["system"]),
        joined=Counts(len(joined.extra), len(joined.doubled)),
        left_out=tuple(LeftOut(name, reason) for name, reason in done.measured.left_out),
        configs=tuple(options["config"]),
        assignments=tuple(options["assignments"]),
        title=dataset.title,
        films=dataset.films,
        protocol="assisted",
        notes=(f"The line of each AD is the candidate with the highest mean of {expert_words(done)}.",),
    )
    return write_report(folder, run)
