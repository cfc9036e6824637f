"""``shotad evaluate cml``: screenplays by CML-Bench."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.options import PATH, Console, SectionedCommand, console_options, settings_options, text_of
from shotad.core import UsageError, load_config, readable_json, write_text


@click.command(name="cml", cls=SectionedCommand)
@click.argument("scripts", nargs=-1, type=PATH)
@click.option("--judge", metavar="ENGINE[:MODEL]", help="Engine that finds features, such as openai:gpt-4o.")
@click.option(
    "--analyst", metavar="ENGINE[:MODEL]", help="Engine for events and analyses (default: --judge)."
)
@click.option("--instruction", type=PATH, metavar="FILE", help="Print a prompt for the summary in FILE.")
@click.option("--out", type=PATH, help="Folder for cml.json.")
@click.option("--cache", type=PATH, help="File that keeps answers and vectors.")
@click.option("--force", is_flag=True, help="Compute everything again.")
@settings_options
@console_options
def command(console: Console, scripts: tuple[Path, ...], **options: Any) -> None:
    """Score screenplays by CML-Bench: dialogue, characters, plot.

    SCRIPTS are files in CML tags or plain screenplays (.xml, .cml, .txt), JSON files of many as in the
    published dataset (movie_name, imdb_id, response or script_segment), or folders of these. The metrics are
    those of the paper, and those of its published code, which differ.

    --instruction prints a prompt that asks a language model for a screenplay in CML; FILE holds the summary,
    its name is the title.

    Run the same command again to continue where it stopped. Exit code 1 if an engine's answer failed.
    """
    from shotad.evaluation import MetricContext, Store, cml_instruction, evaluate_cml, kept_file, read_scripts

    if options["instruction"]:
        file: Path = options["instruction"]
        prompt = cml_instruction(
            file.stem, text_of("--instruction", file, "Write the film's summary into it.")
        )
        console.result(prompt, {"title": file.stem, "prompt": prompt})
        return
    if not scripts or not options["judge"]:
        missing = "No engine is named." if scripts else "No screenplay is named."
        raise UsageError(missing, "Write shotad evaluate cml FOLDER --judge openai:gpt-4o, say.")
    config, texts = load_config(options["config"], options["assignments"]), read_scripts(scripts)
    with Store(options["cache"] or kept_file(), forget=options["force"]) as store:
        context = MetricContext(config, store, console)
        report = evaluate_cml(texts, options["judge"], options["analyst"] or options["judge"], context)
    if options["out"]:
        write_text(options["out"] / "cml.json", readable_json(report.record()))
        console.note(f"Written: {options['out'] / 'cml.json'}")
    console.result(report.text, report.record())
    if report.failed:
        click.get_current_context().exit(1)
