"""``shotad batch --ray``: the films on a cluster."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.batch_asked import Asked
from shotad.cli.batch_told import tell
from shotad.cli.console import Console

if TYPE_CHECKING:
    from shotad.catalogue.leaving import Leaving


def on_ray(console: Console, asked: Asked, leaving: Leaving) -> None:
    """Describe the films on a cluster."""
    from shotad.catalogue.finding import Planner
    from shotad.catalogue.marks import done_before
    from shotad.catalogue.ray import load_ray_settings, run
    from shotad.catalogue.report import Report
    from shotad.catalogue.table import Row, labels

    planned = asked.gathered.planned(Planner(asked.wishes))
    for line in leaving.of(planned):
        console.note(line)
    known = {film.job.film: film.trouble or done_before(film.job) for film in planned}
    jobs = [film.job for film in planned if known[film.job.film] is None]
    began = time.monotonic()
    report = Report(asked.report, asked.before)
    names = labels(planned)

    def rows() -> list[Row]:
        return [Row(name, film, known[film.job.film]) for name, film in zip(names, planned, strict=True)]

    def told(result: Any) -> None:
        known[result.film] = result
        report.write(rows, time.monotonic() - began)

    found = run(
        jobs,
        address=asked.options["address"] or None,
        settings=load_ray_settings(asked.options["ray_files"]),
        progress=console,
        told=told,
    )
    known.update((result.film, result) for result in found)
    report.write(rows, time.monotonic() - began, ended=True)
    tell(console, rows(), time.monotonic() - began, report)
    if any(row.result is None or row.result.state == "failed" for row in rows()):
        raise click.exceptions.Exit(1)
