"""``shotad batch FILMS…``: on one machine in several worker processes, or with ``--ray`` on a cluster."""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from shotad.cli import describe as describing
from shotad.cli.batch_options import AUTO, BatchRequest, finish, foresee, open_with, terms_of
from shotad.cli.options import PATH, Console, SectionedCommand, console_options, strict_option
from shotad.core import EngineError, FilmError, UsageError

if TYPE_CHECKING:
    from shotad.batch import BatchProgress, Leaving, Planned, Planner, Watch

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


_LINE = "SHOTAD_RAY_LINE"
"""Names the file descriptor on which the process that runs the batch says that it has come to its end."""

_GONE = "The Ray cluster has ended, or cannot be reached any more, and the run with it."
_AGAIN = "What is done is kept: when there is a cluster again, run the same command again."


def supervised() -> bool:
    """Run this command in a process of its own, to its end; False in that process, which has to do the work.

    Ray's library ends the process that it lives in where its cluster ends, at once and from outside Python:
    whoever is to say so must be another. Raises EngineError where that happened, else Exit with its code.
    """
    if click.get_current_context().find_root().obj is None:
        return False  # within another program, which lives and dies with Ray by its own choice
    if _LINE in os.environ:
        line = socket.socket(fileno=int(os.environ.pop(_LINE)))
        line.set_inheritable(False)
        threading.Thread(target=_follow, args=(line,), name="supervisor", daemon=True).start()
        atexit.register(line.sendall, b".")
        # From now on only what Python says goes to standard error: Ray's library writes past it when it ends
        sys.stderr.flush()
        sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, errors="backslashreplace")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        return False
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "shotad.cli.main", *sys.argv[1:]]
    environment = {**os.environ, _LINE: str(theirs.fileno())}
    with ours:
        with theirs:
            # In a session of its own, so that Ctrl-C comes once: from here.
            run = subprocess.Popen(
                command, env=environment, pass_fds=(theirs.fileno(),), start_new_session=True
            )
        while run.returncode is None:
            try:
                run.wait()
            except KeyboardInterrupt:
                run.send_signal(signal.SIGINT)
        ours.settimeout(0)
        try:
            ended = ours.recv(1) == b"."
        except OSError:
            ended = False
    if not ended:
        raise EngineError(_GONE, _AGAIN)
    raise click.exceptions.Exit(run.returncode)


def _follow(line: socket.socket) -> None:
    """End this process once the one that began it is gone, however it went."""
    with suppress(OSError):
        line.recv(1)
    os.kill(os.getpid(), signal.SIGINT)


def on_ray(console: Console, asked: BatchRequest, leaving: Leaving) -> None:
    """Describe the films on a cluster."""
    from shotad.batch import (
        BatchProgress,
        FilmRow,
        Planner,
        Report,
        describe_on_ray,
        done_before,
        labels,
        load_ray_settings,
        sent_to,
    )

    settings = load_ray_settings(asked.options["ray_files"])
    planned = asked.gathered.planned(Planner(asked.wishes))
    for line in leaving.of(sent_to(planned, settings)):
        console.note(line)
    known = {film.job.film: film.trouble or done_before(film.job) for film in planned}
    jobs = [film.job for film in planned if known[film.job.film] is None]
    began, stopped = time.monotonic(), False
    board = BatchProgress(console, console.mode == "bars")
    report = Report(asked.report, asked.before, told=board.note)
    named = {film.job.film: (name, film) for name, film in zip(labels(planned), planned, strict=True)}

    def rows() -> list[FilmRow]:
        return [FilmRow(*named[film], result, begun=stopped) for film, result in known.items()]

    def told(result: Any) -> None:
        known[result.film] = result
        board.ended(FilmRow(*named[result.film], result))
        report.write(rows, time.monotonic() - began)

    board.start(len(jobs))
    try:
        address = asked.options["address"] or None
        describe_on_ray(jobs, address=address, settings=settings, progress=console, told=told)
    except KeyboardInterrupt:
        stopped = True
    finally:
        board.stop()
    finish(console, asked, report, rows(), time.monotonic() - began, stopped=stopped)


def on_this_machine(console: Console, asked: BatchRequest, leaving: Leaving) -> None:
    """Describe the films in processes of their own."""
    from shotad.batch import Batch, BatchProgress, Planner, Report, Watch

    planner, board = Planner(asked.wishes), BatchProgress(console, console.mode == "bars")
    settle = asked.options["settle"]
    watch = Watch(lambda: asked.look().found, settle, time.monotonic) if asked.options["watch"] else None
    if watch is None:
        planned = asked.gathered.planned(planner)
    else:
        # The films that are there when the watch begins and have not been written to for a while
        settled = datetime.now(UTC) - timedelta(seconds=settle)
        ready = [f for f in asked.gathered.found if f.changed is None or f.changed <= settled]
        watch.take(ready)
        planned = planner.plan(ready)
    for line in leaving.of(planned):
        console.note(line)
    if watch is not None:
        for _, error in asked.gathered.lost:
            board.note(f"{error.what} It will be taken when it is there.")
        board.note("Waiting for new films. Ctrl-C ends it.")
    report = Report(asked.report, asked.before, told=board.note)
    terms = terms_of(asked.options, asked.wishes.config, len(planned))
    batch = Batch(terms, board, None if watch is None else _later(watch, planner, board, leaving))
    batch.on_change = lambda: report.write(lambda: batch.rows, batch.seconds)
    stopped = False
    try:
        batch.run(planned)
    except KeyboardInterrupt:
        stopped = watch is None or any(row.begun and row.result is None for row in batch.rows)
    finish(console, asked, report, batch.rows, batch.seconds, stopped=stopped, halted=batch.halted)


def _later(
    watch: Watch, planner: Planner, board: BatchProgress, leaving: Leaving
) -> Callable[[], list[Planned]]:
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


OF_DESCRIBE = (
    *("engine", "detail", "language", "note", "cast", "cast_photos", "config", "assignments", "start", "end"),
    *("candidates", "sampling", "select", "context", "verify", "audio_track", "frame_rate"),
    *("voice", "makes", "loudness", "extended", "no_sheet", "force", "discard_edits", "timed"),
)
"""Options of ``shotad describe`` that hold for many films."""


@click.command(name="batch", cls=SectionedCommand)
@click.argument("films", nargs=-1, metavar="FILMS...")
@click.option(
    "--list", "lists", multiple=True, metavar="FILE", help="File with one film per line (-: stdin)."
)
@click.option("--out", metavar="DIR", help="Folder for the output folders (default: next to each film).")
@click.option("--jobs", default=AUTO, metavar="N", help="Films at once (default: as many as fit).")
@click.option("--watch", is_flag=True, help="Keep looking for new films, until Ctrl-C.")
@click.option(
    "--settle",
    default=10.0,
    type=click.FloatRange(min=0),
    metavar="S",
    help="Wait until a new file has not changed for S seconds (default: 10).",
)
@click.option(
    "--retries",
    default=1,
    type=click.IntRange(min=0),
    metavar="N",
    help="Try a film again N times if it crashed or lost its server (default: 1).",
)
@click.option(
    "--min-free",
    default="2GB",
    metavar="SIZE",
    help="Free disk space to keep (default: 2GB; off disables the check).",
)
@click.option("--memory", metavar="SIZE", help="Memory limit per film, as in 4GB; a film over it is stopped.")
@click.option(
    "--report",
    "report_file",
    type=PATH,
    metavar="FILE",
    help="Report file (default: shotad-batch.json in --out or the current folder).",
)
@click.option("--only-failed", is_flag=True, help="Only films that failed in the last report.")
@click.option("--dry-run", is_flag=True, help="List films, output folders and settings; do nothing else.")
@click.option("--no-beside", is_flag=True, help="Ignore settings, subtitles and casts next to the films.")
@click.option("--scratch", metavar="DIR", help="Folder for temporary copies of remote films.")
@click.option(
    "--ray",
    "address",
    is_flag=False,
    flag_value="",
    metavar="[ADDRESS]",
    help="Run on a Ray cluster: auto, host:6379, or no address for a local one.",
)
@click.option("--ray-config", "ray_files", multiple=True, metavar="FILE", help="Cluster settings (YAML).")
@strict_option
@console_options
def command(console: Console, films: tuple[str, ...], **options: Any) -> None:
    """Describe many films: files, folders with their subfolders, patterns, addresses (s3://bucket/films).

    Each film gets its own output folder. A film that fails, even by a crash, never stops the others; a table
    at the end shows the result of each. Run the same command again to skip finished films and continue.

    Files next to a film apply to it, before the command line: movie.srt, movie.cast, movie.yaml (settings)
    and movie.note.txt; shotad.yaml and cast apply to all films of their folder.
    """
    from shotad.batch import Leaving

    # What was asked for and would be passed over is refused
    if options["address"] is None:
        if options["ray_files"]:
            raise UsageError("--ray-config is for runs on a cluster.", "Add --ray, or leave it away.")
    else:
        context = click.get_current_context()
        for name, (option, hint) in OF_ONE_MACHINE.items():
            source = context.get_parameter_source(name)
            if source is not click.core.ParameterSource.DEFAULT and source is not None:
                raise UsageError(f"{option} holds for one machine, not with --ray.", hint)
    if options["address"] is not None and not options["dry_run"] and supervised():
        return
    asked, leaving = BatchRequest.of(films, options), Leaving()
    if asked.before and not asked.is_something:
        console.result("No film has failed.", {"films": []})
        return
    if not asked.is_something:
        raise FilmError(
            f"There are no films in {', '.join(films) or 'the list'}.",
            "Name film files, folders of films, or a --list.",
        )
    open_with(console, asked)
    if options["dry_run"]:
        foresee(console, asked, leaving)
    elif options["address"] is not None:
        on_ray(console, asked, leaving)
    else:
        on_this_machine(console, asked, leaving)


command.params[-3:-3] = [param for param in describing.command.params if param.name in OF_DESCRIBE]
