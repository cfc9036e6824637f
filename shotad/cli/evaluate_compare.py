"""``shotad evaluate compare A B``."""

from __future__ import annotations

from pathlib import Path

import click

from shotad.cli.console import Console
from shotad.cli.evaluating import unit_option
from shotad.cli.options import console_options, settings_options


@click.command(name="compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Folder for compare.json, .md and .html.")
@unit_option
@settings_options
@console_options
def command(
    console: Console,
    a: Path,
    b: Path,
    out: Path | None,
    unit: str | None,
    config: tuple[str, ...],
    assignments: tuple[str, ...],
) -> None:
    """Is B better than A? Both are folders that shotad evaluate ad has written.

    Nothing is scored again. ADs are joined by id; those that only one of the two has are named and left out.
    Differences are taken film by film. --out writes the lines that gained and lost most, too.
    """
    from shotad.core import load_config
    from shotad.evaluation import compare, comparison_text, read_report, write_comparison

    settings = load_config(config, assignments, measures__report__unit=unit)
    comparison = compare(read_report(a), read_report(b), settings.measures.report)
    if out is not None:
        for path in write_comparison(out, comparison):
            console.note(f"Written: {path}")
    console.result(comparison_text(comparison), comparison.record())
