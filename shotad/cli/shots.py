"""``shotad shots FILM``."""

from __future__ import annotations

from typing import Any

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options, film_options, opened, settings
from shotad.script import timecode


@click.command(name="shots")
@film_options
@click.option("--force", is_flag=True, help="Find them again.")
@console_options
def command(console: Console, **options: Any) -> None:
    """Find the shots of FILM and keep them in its work folder."""
    from shotad.description import Bench, shots_step

    config = settings(options)
    with opened(options, config) as (film, folder, given):
        found = shots_step(Bench.of(film, folder, config, given, console))
    rows = found["shots"]
    lines = [f"{'shot':>5}  {'start':>13}  {'end':>13}  {'seconds':>8}"]
    lines += [
        f"{i:>5}  {timecode(row['start']):>13}  {timecode(row['end']):>13}  {row['end'] - row['start']:>8.3f}"
        for i, row in enumerate(rows)
    ]
    lines.append(f"{len(rows)} shots, mean length {found['end'] / len(rows):.2f} s.")
    if found.get("damage"):
        lines.append(f"Note: {found['damage']}")
    console.result("\n".join(lines), {name: found.get(name) for name in ("film", "end", "damage", "shots")})
