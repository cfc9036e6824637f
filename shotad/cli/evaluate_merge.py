"""``shotad evaluate merge SHARD …``."""

from __future__ import annotations

from pathlib import Path

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options


@click.command(name="merge")
@click.argument("shards", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder of the one report.")
@console_options
def command(console: Console, shards: tuple[Path, ...], out: Path) -> None:
    """Make one report of those of shards.

    SHARDS are folders that shotad evaluate ad --shard K/N has written, each once. Numbers are those of a run
    over all of it at once; nothing is scored again.
    """
    from shotad.evaluation import merge, read_report, terminal_text, write_report

    run = merge([read_report(shard) for shard in shards])
    for path in write_report(out, run):
        console.note(f"Written: {path}")
    console.result(terminal_text(run), read_report(out).head)
