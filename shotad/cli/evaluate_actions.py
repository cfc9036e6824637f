"""``shotad evaluate actions SOURCE``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options, settings_options


@click.command(name="actions")
@click.argument("source", metavar="DATASET|FILE")
@click.option("--root", type=click.Path(path_type=Path), help="The dataset's folder.")
@click.option("--annotation", type=click.Path(path_type=Path), help="Its table of ADs, if it lies elsewhere.")
@click.option(
    "--engine",
    required=True,
    metavar="NAME",
    help="openai:MODEL, llama3:MODEL, or rules for none: by a dependency parse, less exact.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("gt_action.csv"), show_default=True,
    help="The CSV file; beside it the same as .jsonl, and .about.json.",
)  # fmt: skip
@click.option("--cache", type=click.Path(path_type=Path), help="What was answered; default: beside --out.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N ADs.")
@click.option("--against", type=click.Path(path_type=Path), help="Compare with these actions of others.")
@click.option("--force", is_flag=True, help="Ask everything again.")
@settings_options
@console_options
def command(console: Console, **options: Any) -> None:
    """Make the human ADs' actions, by which the action score counts, for data that has none.

    An engine puts a pronoun for every person, and then takes each AD apart into sentences of one verb phrase.
    DATASET is cmd-ad, tv-ad, mad-eval or a file that describes yours; FILE is CSV or JSONL with "id" and
    "text".

    Answers are kept: the same command goes on where it stopped. Exit code 1 if an AD was left without
    actions.
    """
    from shotad.core import load_config
    from shotad.evaluation import (
        MetricContext,
        Store,
        actions_in,
        ads_of,
        compare_actions,
        make_actions,
        make_maker,
        write_actions,
    )

    config = load_config(options["config"], options["assignments"])
    out: Path = options["out"]
    ads = ads_of(options["source"], options["root"], options["annotation"])[: options["limit"]]
    others = actions_in(options["against"]) if options["against"] else None
    with Store(options["cache"] or out.with_suffix(".answers.sqlite"), forget=options["force"]) as store:
        maker = make_maker(options["engine"], MetricContext(config, store, console))
        made = make_actions(ads, maker, console)
    console.note(f"Actions: {', '.join(map(str, write_actions(made, out)))}")
    text, record = made.text, made.record()
    if others is not None:
        mine = {ad.id: one.actions for ad, one in zip(made.ads, made.made, strict=True)}
        found = compare_actions(mine, {name: actions for name, actions in others.items() if name in mine})
        text, record = f"{text}\n\n{found.text}", {**record, "against": found.record()}
    console.result(text, record)
    if made.failed:
        click.get_current_context().exit(1)
