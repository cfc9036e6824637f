"""``shotad batch`` on one machine: several worker processes, which may wait for new films."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from shotad.cli.batch_limits import terms_of
from shotad.cli.batch_options import Asked
from shotad.cli.batch_output import end, tell
from shotad.cli.console import Console

if TYPE_CHECKING:
    from shotad.batch.board import Board
    from shotad.batch.finding import Planned, Planner
    from shotad.batch.privacy_notice import Leaving
    from shotad.batch.storage.finding import Found
    from shotad.batch.watching import Watch


def on_this_machine(console: Console, asked: Asked, leaving: Leaving) -> None:
    """Describe the films in processes of their own."""
    from shotad.batch.batch import Batch
    from shotad.batch.board import Board
    from shotad.batch.finding import Planner
    from shotad.batch.report import Report

    planner, board = Planner(asked.wishes), Board(console, console.mode == "bars")
    watch = _watch(asked) if asked.options["watch"] else None
    planned = asked.gathered.planned(planner) if watch is None else planner.plan(_ready(watch, asked))
    for line in leaving.of(planned):
        console.note(line)
    if watch is not None:
        _say_that_it_waits(board, asked)
    report = Report(asked.report, asked.before, told=board.note)
    terms = terms_of(asked.options, asked.wishes.config, len(planned))
    batch = Batch(terms, board, None if watch is None else _later(watch, planner, board, leaving))
    batch.on_change = lambda: report.write(lambda: batch.rows, batch.seconds)
    stopped = False
    try:
        batch.run(planned)
    except KeyboardInterrupt:
        stopped = watch is None or any(row.begun and row.result is None for row in batch.rows)
    report.write(lambda: batch.rows, batch.seconds, ended=True)
    tell(console, batch.rows, batch.seconds, report, batch.halted)
    if stopped:
        raise click.Abort
    if batch.halted:
        raise click.exceptions.Exit(1)
    end(batch.rows, strict=asked.options["strict"])


def _watch(asked: Asked) -> Watch:
    from shotad.batch.watching import Watch

    return Watch(lambda: asked.look().found, asked.options["settle"], time.monotonic)


def _say_that_it_waits(board: Board, asked: Asked) -> None:
    for _, error in asked.gathered.lost:
        board.note(f"{error.what} It will be taken when it is there.")
    board.note("Waiting for new films. Ctrl-C ends it.")


def _ready(watch: Watch, asked: Asked) -> list[Found]:
    """The films that are there when the watch begins and have not been written to for a while."""
    settled = datetime.now(UTC) - timedelta(seconds=asked.options["settle"])
    ready = [film for film in asked.gathered.found if film.changed is None or film.changed <= settled]
    watch.take(ready)
    return ready


def _later(watch: Watch, planner: Planner, board: Board, leaving: Leaving) -> Callable[[], list[Planned]]:
    told: list[str | None] = [None]

    def more() -> list[Planned]:
        films = planner.plan(watch.settled())
        for line in leaving.of(films):
            board.note(line)
        if watch.trouble not in (None, told[0]):
            board.note(f"New films cannot be looked for: {watch.trouble} Trying again.")
        told[0] = watch.trouble
        return films

    return more
