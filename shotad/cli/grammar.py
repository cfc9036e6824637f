"""``shotad grammar FILM``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options, film_options, opened, settings
from shotad.core import Shot
from shotad.script import timecode


@click.command(name="grammar")
@film_options
@click.option("--shots", type=click.Path(path_type=Path), help="Shots that are given: CSV or JSON.")
@click.option("--force", is_flag=True, help="Read it again.")
@console_options
def command(console: Console, **options: Any) -> None:
    """Read the film grammar of FILM: which shots share a camera set-up, and how close they are.

    Every shot is read, also those that no slot's clip shows.
    """
    from shotad.core import shots_of
    from shotad.description import Bench, study

    config = settings(options)
    with opened(options, config) as (film, folder, given):
        bench = Bench.of(film, folder, config, given, console)
        warnings = study(bench)
        bench.frames.release()
        found = folder.read_json("grammar.json") or {}
        shots = shots_of((folder.read_json("shots.json") or {})["shots"])
    lines = [f"{'shot':>5}  {'start':>13}  {'end':>13}  {'thread':>6}  scale"]
    lines += [_line(row, shots[row["index"]]) for row in found["shots"]]
    lines.append(summary(found, len(shots)))
    lines += [f"Note: {warning}" for warning in warnings]
    told = {name: value for name, value in found.items() if name != "key"}
    console.result("\n".join(lines), {"film": film.info.name, **told})


def _line(row: dict[str, Any], shot: Shot) -> str:
    start, end = (timecode(second) for second in (shot.interval.start, shot.interval.end))
    return f"{shot.index:>5}  {start:>13}  {end:>13}  {row['thread'] or '-':>6}  {row['scale'] or '-'}"


def summary(found: dict[str, Any], shots: int) -> str:
    """How much was read, and by what."""
    rows = found["shots"]
    threads = len({row["thread"] for row in rows if row["thread"]})
    known = sum(row["scale"] is not None for row in rows)
    return (
        f"{len(rows)} of {shots} shots read: {threads} threads ({found['features'] or 'not looked for'}), "
        f"{known} scales ({found['scale_method'] or 'not read'})."
    )
