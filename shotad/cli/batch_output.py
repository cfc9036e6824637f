"""What ``shotad batch`` says before the films and after them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from shotad.cli import describe as describing
from shotad.cli.batch_limits import check_limits
from shotad.cli.batch_options import Asked
from shotad.cli.console import Console
from shotad.cli.options import tell_failures
from shotad.core import WorkFolderError

if TYPE_CHECKING:
    from shotad.batch import Leaving, Report, Row


def open_with(console: Console, asked: Asked) -> None:
    """Refuse what no film could be described with, and say once what holds for all of them."""
    from shotad.description import Engines, remarks

    options, config = asked.options, asked.wishes.config
    check_limits(options)
    _check_out(options["out"])
    if options["voice"] or options["makes"]:
        describing.check_voice(config, options["makes"])
    engines = Engines.of(config)
    if options["address"] is None and not options["dry_run"]:
        # On a cluster it is its nodes that look and write.
        engines.check_machine(config)
    for line in remarks(config, engines):
        console.note(line)


def _check_out(out: str | None) -> None:
    """Refuse a place for the work folders in which there can be none."""
    from shotad.batch import is_local, local_path

    if out is None or not is_local(out):
        return
    place = local_path(out).absolute()
    there = next(one for one in (place, *place.parents) if one.exists())
    if not there.is_dir():
        raise WorkFolderError(f"--out {out}: {there} is a file.", "Name a folder, or one that can be made.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise WorkFolderError(f"--out {out}: nothing can be written in {there}.", "Name another folder.")


def foresee(console: Console, asked: Asked, leaving: Leaving) -> None:
    """Say what a run would do."""
    from shotad.batch import Planner, done_before, foreseen_json, foreseen_lines, labels

    planned = asked.gathered.planned(Planner(asked.wishes))
    for line in leaving.of(planned):
        console.note(line)
    results = [film.trouble or done_before(film.job) for film in planned]
    names = labels(planned)
    console.result(
        "\n".join(foreseen_lines(names, planned, results)), foreseen_json(names, planned, results)
    )  # fmt: skip


def tell(
    console: Console, rows: Sequence[Row], seconds: float, report: Report, halted: str | None = None
) -> None:
    """Say what became of the films, at the end."""
    from shotad.batch import as_lines, as_table

    wide = console.mode == "bars" and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns
    text = as_table(rows, seconds, width) if wide else as_lines(rows, seconds)
    last = f"Report: {report.path}" if report.trouble is None else f"No report: {report.trouble}"
    found = {**report.content(rows, seconds, ended=True), "halted": halted}
    console.result("\n".join([text, *([halted] if halted else []), last]), found)


def end(rows: Sequence[Row], *, strict: bool) -> None:
    """Exit code 1 where a film failed; where only slots did, say so, with 3 if ``strict``."""
    ended = [(row.label, row.result) for row in rows if row.result is not None]
    if any(result.state == "failed" for _, result in ended):
        raise click.exceptions.Exit(1)
    reasons = [f"a slot of {label}" for label, result in ended for _ in range(result.amiss)]
    of = sum(result.slots for _, result in ended)
    tell_failures(reasons, of, "slots", all_failed=False, strict=strict)
