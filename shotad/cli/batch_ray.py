"""``shotad batch --ray``: the films on a cluster."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.batch_asked import Asked
from shotad.cli.batch_told import end, tell
from shotad.cli.console import Console
from shotad.errors import UsageError

if TYPE_CHECKING:
    from shotad.catalogue.leaving import Leaving

_CREWS = "preparing, looking and writing in --ray-config say how many work at once."
OF_ONE_MACHINE = {
    "watch": ("--watch", "Leave --ray or --watch away."),
    "jobs": ("--jobs", _CREWS),
    "retries": ("--retries", "attempts in --ray-config says how often a film is begun whose worker is lost."),
    "min_free": ("--min-free", "Nobody looks at the disks of nodes: leave it away."),
    "memory": ("--memory", "Ray ends workers that take too much of a node: leave it away."),
    "timed": ("--profile", "The rooms of a film are spread over workers: profile one film, on one machine."),
}
"""Options that have no effect on a cluster, and what to do instead."""


def check_cluster(options: Mapping[str, Any]) -> None:
    """Raises UsageError for what was asked for and would be passed over."""
    if options["address"] is None:
        if options["ray_files"]:
            raise UsageError("--ray-config is for runs on a cluster.", "Add --ray, or leave it away.")
        return
    context = click.get_current_context()
    for name, (option, hint) in OF_ONE_MACHINE.items():
        source = context.get_parameter_source(name)
        if source is not click.core.ParameterSource.DEFAULT and source is not None:
            raise UsageError(f"{option} holds for one machine, not with --ray.", hint)


def on_ray(console: Console, asked: Asked, leaving: Leaving) -> None:
    """Describe the films on a cluster."""
    from shotad.catalogue.board import Board
    from shotad.catalogue.finding import Planner
    from shotad.catalogue.marks import done_before
    from shotad.catalogue.ray import load_ray_settings, run
    from shotad.catalogue.ray.sending import sent_to
    from shotad.catalogue.report import Report
    from shotad.catalogue.table import Row, labels

    settings = load_ray_settings(asked.options["ray_files"])
    planned = asked.gathered.planned(Planner(asked.wishes))
    for line in leaving.of(sent_to(planned, settings)):
        console.note(line)
    known = {film.job.film: film.trouble or done_before(film.job) for film in planned}
    jobs = [film.job for film in planned if known[film.job.film] is None]
    began, stopped = time.monotonic(), False
    board = Board(console, console.mode == "bars")
    report = Report(asked.report, asked.before, told=board.note)
    named = {film.job.film: (name, film) for name, film in zip(labels(planned), planned, strict=True)}

    def rows() -> list[Row]:
        return [Row(*named[film], result, begun=stopped) for film, result in known.items()]

    def told(result: Any) -> None:
        known[result.film] = result
        board.ended(Row(*named[result.film], result))
        report.write(rows, time.monotonic() - began)

    board.start(len(jobs))
    try:
        address = asked.options["address"] or None
        run(jobs, address=address, settings=settings, progress=console, told=told)
    except KeyboardInterrupt:
        stopped = True
    finally:
        board.stop()
    report.write(rows, time.monotonic() - began, ended=True)
    tell(console, rows(), time.monotonic() - began, report)
    if stopped:
        raise click.Abort
    if any(row.result is None for row in rows()):
        raise click.exceptions.Exit(1)
    end(rows(), strict=asked.options["strict"])
