"""``shotad evaluate assisted DATASET --predictions FILE``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.console import Console
from shotad.cli.datasets_options import dataset_options, prediction_options
from shotad.cli.evaluating import beside, given, listed, measuring_options
from shotad.cli.options import console_options, settings_options

if TYPE_CHECKING:
    from shotad.evaluation import Result


@click.command(name="assisted")
@dataset_options
@prediction_options
@click.option(
    "--metrics", default="all", metavar="NAME,…", help="What the choice is measured by; see evaluate ad."
)
@click.option(
    "--expert", default="cider,action", metavar="NAME,…", help="Metrics whose mean the expert goes by."
)
@measuring_options
@click.option("--out", type=click.Path(path_type=Path), help="The report's folder (default: FILE.assisted).")
@settings_options
@console_options
def command(console: Console, **options: Any) -> None:
    """Let an expert choose among the candidates of each AD, and measure the choice.

    The expert is the rule of the Shot-by-Shot paper: the candidate with the highest mean of CIDEr and action
    score. Beside the choice stand the first candidate, a random one on average, and the best possible by
    each metric. Metrics that ask an engine are counted of the choice alone.

    The folder gets assisted.json, choices.jsonl with each AD's choice, and the report of the chosen lines.
    """
    from shotad.core import write_text
    from shotad.evaluation import (
        MetricContext,
        Store,
        as_json,
        assist,
        check_folder,
        expert_words,
        kept_file,
        render,
        report_input,
        write_report,
    )

    names, expert = listed(options["metrics"]), listed(options["expert"])
    predictions: Path = options["predictions"][0]
    folder = options["out"] or beside(predictions, "assisted")
    check_folder(folder)
    inputs = given(options)
    for finding in inputs.findings:
        console.note(finding)

    def tell(role: str, result: Result) -> None:
        value = "not defined" if result.value is None else f"{result.value:.2f}"
        console.note(f"{result.title}, {role}: {value} ({result.seconds:.1f} s).")

    with Store(options["cache"] or kept_file(), forget=options["force"]) as store:
        bench = MetricContext(inputs.config, store, console)
        done = assist(inputs.joined.corpus, names, bench, expert=expert, done=tell)
    said = f"The line of each AD is the candidate with the highest mean of {expert_words(done)}."
    run = report_input(inputs, done.corpus, done.measured, protocol="assisted", notes=(said,))
    written = write_report(folder, run)
    write_text(folder / "assisted.json", json.dumps(as_json(done), ensure_ascii=False, indent=1) + "\n")
    rows = (json.dumps(choice.record(), ensure_ascii=False) + "\n" for choice in done.choices)
    write_text(folder / "choices.jsonl", "".join(rows))
    shown = [folder / "assisted.json", folder / "choices.jsonl", *(f for f in written if f.suffix != ".png")]
    text = render(done, options["system"] or predictions.name)
    console.result("\n".join([text, "", "Files:", *(f"  {path}" for path in shown)]), as_json(done))
