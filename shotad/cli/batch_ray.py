"""``shotad batch --ray``: the films on a cluster."""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.batch_options import Asked
from shotad.cli.batch_output import end, tell
from shotad.cli.console import Console
from shotad.core.errors import EngineError, UsageError

if TYPE_CHECKING:
    from shotad.batch.privacy_notice import Leaving

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
        _silence_libraries()
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


def _silence_libraries() -> None:
    """From now on only what Python says goes to standard error: Ray's library writes past it when it ends."""
    sys.stderr.flush()
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, errors="backslashreplace")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def on_ray(console: Console, asked: Asked, leaving: Leaving) -> None:
    """Describe the films on a cluster."""
    from shotad.batch.board import Board
    from shotad.batch.done_file import done_before
    from shotad.batch.finding import Planner
    from shotad.batch.ray import load_ray_settings, run
    from shotad.batch.ray.sending import sent_to
    from shotad.batch.report import Report
    from shotad.batch.table import Row, labels

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
