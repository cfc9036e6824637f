"""``shotad batch FILMS…``: on one machine in several worker processes, or with ``--ray`` on a cluster."""

from __future__ import annotations

import atexit
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli import describe as describing
from shotad.cli.options import (
    PATH,
    Console,
    FiniteRange,
    SectionedCommand,
    console_options,
    explicit_settings,
    parse_time_option,
    report_failures,
    settings,
    strict_option,
)
from shotad.core import Config
from shotad.core.errors import (
    CastError,
    EngineError,
    FilmError,
    UsageError,
    WorkFolderError,
)
from shotad.core.system import SAFE_PATH, interrupt, interrupt_self, start_apart

if TYPE_CHECKING:
    from shotad.batch import (
        BatchProgress,
        BatchReport,
        FilmJob,
        FilmResult,
        FilmRow,
        PlannedFilm,
        Planner,
        PrivacyNotices,
        StoredObject,
        Watch,
    )


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """What was asked for. ``planner`` gives each film its job, by ``config``. ``look`` looks for films, and
    downloads those on pages of the web; ``gathered`` are those that it has found, none before it was called;
    ``before`` are the rows of the last report, where only films that failed are wanted."""

    options: Mapping[str, Any]
    config: Config
    planner: Planner
    report: Path
    before: Sequence[Mapping[str, Any]]
    look: Callable[[], tuple[StoredObject, ...]]
    gathered: tuple[StoredObject, ...] = ()

    @property
    def is_something(self) -> bool:
        """Whether there is a film, or may be one later."""
        return bool(self.gathered or self.options["watch"])

    @staticmethod
    def of(films: Sequence[str], options: Mapping[str, Any], console: Console) -> BatchRequest:
        """What these words mean; no film is looked for. Raises ShotadError for what cannot be meant."""
        from shotad.batch import (
            REPORT_FILE,
            STDIN,
            Planner,
            failed_in,
            films_named,
            find_films,
            is_local,
            local_path,
            read_list,
            read_report,
            read_text,
        )

        shared = shared_job(options)
        if options["report_file"] is not None:
            report = Path(options["report_file"])
        else:
            out = options["out"]
            report = (local_path(out) if out is not None and is_local(out) else Path()) / REPORT_FILE
        before = read_report(report) if options["only_failed"] else []
        if not films and not options["lists"] and not before:
            hint, address = "Name films or folders, or a list of them with --list.", options["address"]
            if address:
                hint = f"The word after --ray is its address: write the films before it ({address})."
            raise UsageError("No films are named.", hint)
        if options["only_failed"] and options["watch"]:
            raise UsageError("--watch waits for films that are new.", "Leave --only-failed or --watch away.")
        if options["download"] and options["watch"]:
            raise UsageError("--watch downloads no films.", "Leave --download or --watch away.")
        if options["download"] and options["only_failed"] and (films or options["lists"]):
            # A film that is downloaded has another name than its page, under which it failed.
            raise UsageError(
                "--only-failed with --download takes its films from the report.",
                "Leave films and lists away.",
            )
        typed = sys.stdin.read() if STDIN in options["lists"] else ""
        failed = failed_in(before)
        download = partial(film_of_page, options, shared.config, console) if options["download"] else None

        def look() -> tuple[StoredObject, ...]:
            lists = [(name, typed if name == STDIN else read_text(name)) for name in options["lists"]]
            listed = [line for name, text in lists for line in read_list(name, text)]
            if options["only_failed"] and not films and not listed:
                return find_films((), failed, download=download)
            entries = find_films(films, listed, options["frame_rate"], download)
            return films_named(entries, failed) if options["only_failed"] else entries

        explicit = explicit_settings(options, **describing.flags_of(options))
        planner = Planner(shared, options["out"], alone=options["no_beside"], explicit=explicit)
        return BatchRequest(options, shared.config, planner, report, before, look)


def shared_job(options: Mapping[str, Any]) -> FilmJob:
    """What the command line asks of all films. Raises UsageError."""
    from shotad.batch import STDIN, FilmJob

    start = parse_time_option(options["start"]) if options["start"] else 0.0
    end = parse_time_option(options["end"]) if options["end"] else None
    for name in ("cast", "cast_photos"):
        if options[name] is not None and not options[name].exists():
            raise CastError(f"There is no {options[name]} (--{name.replace('_', '-')}).", "Check the path.")
    return FilmJob(
        STDIN,
        STDIN,
        config=settings(options, **describing.flags_of(options)),
        configs=options["config"],
        assignments=options["assignments"],
        cast=None if options["cast"] is None else str(options["cast"].absolute()),
        cast_photos=None if options["cast_photos"] is None else str(options["cast_photos"].absolute()),
        start=start,
        end=end,
        rate=options["frame_rate"],
        makes=describing.makes_of(options),
        sheet=not options["no_sheet"],
        force=options["force"],
        discard_edits=options["discard_edits"],
        timed=options["timed"],
        scratch=options["scratch"],
    )


def film_of_page(options: Mapping[str, Any], config: Config, console: Console, address: str) -> Path | None:
    """The file of the film on a page of the web, in ``--out`` or the current folder, downloaded unless it was
    before. With ``--dry-run`` it is only named. Raises FilmError."""
    from shotad.batch import is_local, local_path
    from shotad.film.web_film import download_film, downloaded_film, look_up

    out = options["out"]
    folder = local_path(out).absolute() if out is not None and is_local(out) else Path.cwd()
    path = downloaded_film(address, folder)
    if path is not None:
        return path
    film = look_up(address)
    console.note(f"To be downloaded into {folder}: {film}.")
    if options["dry_run"]:
        return None
    path = download_film(film, folder, config.language, console)
    console.note(f"Downloaded: {path}")
    return path


OFF = "off"
AUTO = "auto"


def as_many_as_go(config: Config, films: int | None) -> int:
    """How many of so many films to work on at once (None: there may come any number)."""
    from shotad.batch import auto_jobs
    from shotad.core.system import memory_free, processors
    from shotad.engines import ENGINES, stage_engines

    stages = (stage_engines(config).stage1, stage_engines(config).stage2)
    is_local = any(ENGINES.get(name, name).startswith("shotad.engines.local") for name in stages)
    number = processors() if films is None else films
    return auto_jobs(number, processors(), memory_free(), loads_models=is_local)


def limits_of(options: Mapping[str, Any]) -> tuple[int | None, int | None, int | None]:
    """Films at once (None: as many as go), bytes that stay free on disk, and those of memory that a film may
    take (None: no limit). Raises UsageError for what cannot be meant."""
    jobs, keep, memory = options["jobs"], options["min_free"], options["memory"]
    free = None if keep == OFF else _size("--min-free", keep)
    most = None if memory is None else _size("--memory", memory)
    if most == 0:
        raise UsageError(f"--memory {memory} leaves nothing to a film.", "Write how much each may take: 4GB.")
    if jobs != AUTO and not (re.fullmatch(r"[0-9]{1,4}", jobs) and int(jobs) > 0):
        raise UsageError(f"--jobs {jobs[:80]} is no number of films.", "Write 1, 2, … or auto.")
    return None if jobs == AUTO else int(jobs), free, most


def _size(option: str, text: str) -> int:
    from shotad.batch import parse_size

    try:
        return parse_size(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.what}", error.hint) from None


def open_with(console: Console, request: BatchRequest) -> None:
    """Refuse what no film could be described with, and say once what holds for all of them."""
    from shotad.batch import check_report, is_local, local_path
    from shotad.description import Engines
    from shotad.description.inputs import check_setting_files

    options, config = request.options, request.config
    limits_of(options)
    if (out := options["out"]) is not None and is_local(out):
        # Refuse a place for the work folders in which there can be none
        place = local_path(out).absolute()
        existing = next(folder for folder in (place, *place.parents) if folder.exists())
        if not existing.is_dir():
            message = f"--out {out}: {existing} is a file."
            raise WorkFolderError(message, "Name a folder, or one that can be made.")
        if not os.access(existing, os.W_OK | os.X_OK):
            message = f"--out {out}: nothing can be written in {existing}."
            raise WorkFolderError(message, "Name another folder.")
    check_report(request.report)
    check_setting_files(config)
    describing.check_voice(config, describing.makes_of(options))
    engines = Engines.of(config)
    if options["address"] is None and not options["dry_run"]:
        # On a cluster it is its nodes that look and write.
        engines.check_machine(config)


def foresee(console: Console, request: BatchRequest, leaving: PrivacyNotices) -> None:
    """Say what a run would do."""
    from shotad.batch import (
        FilmRow,
        dry_run_json,
        dry_run_lines,
        earlier_result,
        film_labels,
        foreseen_by_existing,
    )

    planned = request.planner.plan(request.gathered)
    for line in (*leaving.engines_of(planned), *leaving.of(planned)):
        console.note(line)
    rows: list[FilmRow] = []
    for name, film in zip(film_labels(planned), planned, strict=True):
        result, notes = film.trouble or earlier_result(film.job), film.job.notes
        if result is None:
            result, notes_on_existing = foreseen_by_existing(film.job)
            notes = (*notes, *notes_on_existing)
        rows.append(FilmRow(name, film, result, notes=notes))
    console.result("\n".join(dry_run_lines(rows)), dry_run_json(rows))


def show_results(
    console: Console, report: BatchReport, rows: Sequence[FilmRow], seconds: float, halted: str | None = None
) -> None:
    """Write the report to its end, and say what became of the films; ``halted``: why no other was begun."""
    from shotad.batch import as_lines, as_table

    report.write(lambda: rows, seconds, ended=True)
    wide = console.mode == "bars" and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns
    text = as_table(rows, seconds, width) if wide else as_lines(rows, seconds)
    last = f"Report: {report.path}" if report.trouble is None else f"No report: {report.trouble}"
    content = {**report.content(rows, seconds, ended=True), "halted": halted}
    console.result("\n".join([text, *([halted] if halted else []), last]), content)


def finish(
    console: Console,
    request: BatchRequest,
    report: BatchReport,
    rows: Sequence[FilmRow],
    seconds: float,
    *,
    stopped: bool,
    halted: str | None = None,
) -> None:
    """Say what became of the films, at the end.

    Exit code 1 where one failed or was not begun; where only slots failed, 3 with --strict.
    """
    show_results(console, report, rows, seconds, halted)
    if stopped:
        raise click.Abort
    if halted or any(row.result is None or row.result.state == "failed" for row in rows):
        raise click.exceptions.Exit(1)
    results = [row.result for row in rows if row.result is not None]
    reasons = [f"a slot of {row.label}" for row in rows if row.result for _ in range(row.result.amiss)]
    total = sum(result.slots for result in results)
    report_failures(reasons, total, "slots", all_failed=False, strict=request.options["strict"])


_CREWS = "preparing, looking and writing in --ray-config say how many work at once."
OF_ONE_MACHINE = {
    "watch": ("--watch", "Leave --ray or --watch away."),
    "jobs": ("--jobs", _CREWS),
    "retries": ("--retries", "attempts in --ray-config says how often a film is begun whose worker is lost."),
    "min_free": ("--min-free", "Nobody looks at the disks of nodes: leave it away."),
    "memory": ("--memory", "Ray ends workers that take too much of a node: leave it away."),
    "timed": ("--profile", "The steps of a film are spread over workers: profile one film, on one machine."),
}
"""Options that have no effect on a cluster, and what to do instead."""


_LINE = "SHOTAD_RAY_LINE"
"""Names the file descriptor on which the process that runs the batch sends its news."""

_WAIT = 0.5
"""Seconds between two looks whether that process has ended."""
_LAST_NEWS = 10.0
"""Seconds for what it sent before it ended to be read."""

_GONE = "The Ray cluster has ended, or cannot be reached any more, and the run with it."
_AGAIN = "What is done is kept: when there is a cluster again, run the same command again."


@dataclass(slots=True)
class RayRun:
    """What is known of a run on a cluster: its films by their names, what came of them, where it reports.

    The process that runs the batch has one, and sends it, then each result, to the process that began it.
    """

    films: Mapping[str, tuple[str, PlannedFilm]]
    """Label and plan, by film."""
    results: dict[str, FilmResult | None]
    report: Path

    def rows(self, *, begun: bool = False) -> list[FilmRow]:
        """The films and what came of them; ``begun``: those without a result were at work."""
        from shotad.batch import FilmRow

        return [FilmRow(*self.films[film], result, begun=begun) for film, result in self.results.items()]


@dataclass(slots=True)
class RayNews:
    """What the process that runs the batch has sent; ``ended``: it came to its end by itself."""

    run: RayRun | None = None
    ended: bool = False

    def listen(self, line: socket.socket) -> None:
        """Take what comes, until the other side is gone."""
        with line.makefile("rb") as stream, suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                news = pickle.load(stream)
                if isinstance(news, RayRun):
                    self.run = news
                elif news is None:
                    self.ended = True
                elif self.run is not None:
                    self.run.results[news.film] = news


Send = Callable[[object], None]


def nobody(news: object) -> None:
    """Send news to nobody."""


def supervised(console: Console) -> Send:
    """Run this command in a process of its own, to its end; in that process, which has to do the work, return
    how news is sent to the first.

    Ray's library ends the process that it lives in where its cluster ends, at once and from outside Python:
    whoever is to say so, and to write the report, must be another. Raises EngineError where that happened,
    else Exit with its code.
    """
    if click.get_current_context().find_root().obj is None:
        return nobody  # within another program, which lives and dies with Ray by its own choice
    if _LINE in os.environ:
        line = socket.socket(fileno=int(os.environ.pop(_LINE)))
        line.set_inheritable(False)
        threading.Thread(target=_follow, args=(line,), name="supervisor", daemon=True).start()

        def send(news: object) -> None:
            with suppress(OSError):  # who began this is gone, and so is this process in a moment
                line.sendall(pickle.dumps(news))

        atexit.register(send, None)
        # From now on only what Python says goes to standard error: Ray's library writes past it when it ends
        sys.stderr.flush()
        sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, errors="backslashreplace")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        return send
    began, news = time.monotonic(), RayNews()
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "shotad.cli.main", *sys.argv[1:]]
    # It takes no module from the folder that the command runs in, which may be one of films from anywhere; so
    # it has to be told where shotad is.
    package = str(Path(__file__).resolve().parents[2])
    paths = [path for path in (os.environ.get("PYTHONPATH"), package) if path]
    environment = {**os.environ, _LINE: str(theirs.fileno()), "PYTHONPATH": os.pathsep.join(paths)}
    environment[SAFE_PATH] = "1"
    with ours:
        with theirs:
            # Apart, so that Ctrl-C comes once: from here.
            run = start_apart(command, passed=[theirs], env=environment)
        listener = threading.Thread(target=news.listen, args=(ours,), name="listener", daemon=True)
        listener.start()
        while run.returncode is None:
            try:
                # Again and again, for on Windows no Ctrl-C ends a wait without an end.
                with suppress(subprocess.TimeoutExpired):
                    run.wait(_WAIT)
            except KeyboardInterrupt:
                interrupt(run)
        listener.join(_LAST_NEWS)
    if news.ended:
        raise click.exceptions.Exit(run.returncode)
    if news.run is not None:
        show_lost_run(console, news.run, time.monotonic() - began)
    raise EngineError(_GONE, _AGAIN)


def _follow(line: socket.socket) -> None:
    """End this process once the one that began it is gone, however it went."""
    with suppress(OSError):
        line.recv(1)
    interrupt_self()


def show_lost_run(console: Console, run: RayRun, seconds: float) -> None:
    """Write the report of a run whose cluster has ended, and say what became of its films.

    A film of which no result came is done where its work folder says so; else it has failed, so that
    --only-failed takes it.
    """
    from shotad.batch import BatchReport, earlier_result, failure

    for film, result in run.results.items():
        if result is None:
            job = run.films[film][1].job
            finished = earlier_result(job)
            if finished is not None:
                run.results[film] = replace(finished, state="done", attempts=1)
            else:
                run.results[film] = failure(job, "The run ended before the film was done.", kind="stopped")
    show_results(console, BatchReport(run.report, on_note=console.note), run.rows(), seconds, _GONE)


def on_ray(console: Console, request: BatchRequest, leaving: PrivacyNotices, send: Send) -> None:
    """Describe the films on a cluster. What is known of the run is sent to ``send`` as it comes."""
    from shotad.batch import (
        BatchProgress,
        BatchReport,
        FilmRow,
        describe_on_ray,
        earlier_result,
        film_labels,
        load_ray_settings,
        servers_asked,
    )

    settings = load_ray_settings(request.options["ray_files"])
    planned = request.planner.plan(request.gathered)
    for line in (*leaving.engines_of(planned), *leaving.of(servers_asked(planned, settings))):
        console.note(line)
    labels = film_labels(planned)
    run = RayRun(
        films={film.job.film: (label, film) for label, film in zip(labels, planned, strict=True)},
        results={film.job.film: film.trouble or earlier_result(film.job) for film in planned},
        report=request.report.absolute(),
    )
    jobs = [film.job for film in planned if run.results[film.job.film] is None]
    began, stopped = time.monotonic(), False
    board = BatchProgress(console, console.mode == "bars")
    report = BatchReport(request.report, on_note=board.note)
    send(run)

    def film_ended(result: FilmResult) -> None:
        run.results[result.film] = result
        send(result)
        board.ended(FilmRow(*run.films[result.film], result))
        report.write(run.rows, time.monotonic() - began)

    board.start(len(jobs))
    try:
        address = request.options["address"] or None
        describe_on_ray(jobs, address=address, settings=settings, progress=console, on_result=film_ended)
    except KeyboardInterrupt:
        stopped = True
    finally:
        board.stop()
    finish(console, request, report, run.rows(begun=stopped), time.monotonic() - began, stopped=stopped)


def on_this_machine(console: Console, request: BatchRequest, leaving: PrivacyNotices) -> None:
    """Describe the films in processes of their own."""
    from shotad.batch import Batch, BatchProgress, BatchReport, Watch

    planner, board = request.planner, BatchProgress(console, console.mode == "bars")
    settle = request.options["settle"]
    watch = Watch(request.look, settle, time.monotonic) if request.options["watch"] else None
    if watch is None:
        planned = planner.plan(request.gathered)
    else:
        # The films that are there when the watch begins and have not been written to for a while
        settled = datetime.now(UTC) - timedelta(seconds=settle)
        ready = [f for f in request.gathered if not f.lost and (not f.changed or f.changed <= settled)]
        watch.take(ready)
        planned = planner.plan(ready)
    for line in (*leaving.engines_of(planned), *leaving.of(planned)):
        console.note(line)
    if watch is not None:
        for error in (film.lost for film in request.gathered if film.lost):
            board.note(f"{error.what} It will be taken when it is there.")
        board.note("Waiting for new films. Ctrl-C ends it.")
    report = BatchReport(request.report, on_note=board.note)
    count, keep, memory = limits_of(request.options)
    if count is None:
        count = as_many_as_go(request.config, len(planned) if watch is None else None)
    more = None if watch is None else _later(watch, planner, board, leaving)
    batch = Batch(board, more, count, request.options["retries"], keep, memory)
    batch.on_change = lambda: report.write(lambda: batch.rows, batch.seconds)
    stopped = False
    try:
        batch.run(planned)
    except KeyboardInterrupt:
        stopped = watch is None or any(row.begun and row.result is None for row in batch.rows)
    finish(console, request, report, batch.rows, batch.seconds, stopped=stopped, halted=batch.halted)


def _later(
    watch: Watch, planner: Planner, board: BatchProgress, leaving: PrivacyNotices
) -> Callable[[], list[PlannedFilm]]:
    last_trouble: list[str | None] = [None]

    def more() -> list[PlannedFilm]:
        films = planner.plan(watch.settled())
        for line in (*leaving.engines_of(films), *leaving.of(films)):
            board.note(line)
        if watch.trouble not in (None, last_trouble[0]):
            board.note(f"New films cannot be looked for: {watch.trouble} Trying again.")
        last_trouble[0] = watch.trouble
        return films

    return more


OF_DESCRIBE = (
    *("engine", "existing", "detail", "language", "note", "cast", "cast_photos", "config", "assignments"),
    *("start", "end"),
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
    type=FiniteRange(min=0, max=86_400),
    metavar="S",
    help="Wait until a new file has not changed for S seconds (default: 10).",
)
@click.option(
    "--retries",
    default=1,
    type=click.IntRange(min=0, max=1000),
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
@click.option(
    "--no-beside", is_flag=True, help="Ignore settings, subtitles, casts and descriptions next to the films."
)
@click.option("--scratch", metavar="DIR", help="Folder for temporary copies of remote films.")
@click.option("--download", is_flag=True, help="Download films on web pages (https://…) by yt-dlp.")
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

    Films that have an audio description already are listed and not described; --existing says otherwise.

    Files next to a film apply to it: movie.srt, movie.cast, movie.yaml (settings) and movie.note.txt;
    shotad.yaml and cast apply to all films of their folder. Options go before settings files. Such a file may
    not choose a server, a key or a program, unless you trust its folder: shotad doctor --trust FOLDER.
    """
    from shotad.batch import PrivacyNotices

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
    runs_on_ray = options["address"] is not None and not options["dry_run"]
    send = supervised(console) if runs_on_ray else nobody
    request, leaving = BatchRequest.of(films, options, console), PrivacyNotices()
    # Before films are looked for: those of web pages are downloaded then.
    open_with(console, request)
    request = replace(request, gathered=request.look())
    if request.before and not request.is_something:
        console.result("No film has failed.", {"films": []})
        return
    is_foreseen = options["dry_run"] and options["download"]  # films of pages were named already
    if not request.is_something and not is_foreseen:
        raise FilmError(
            f"There are no films in {', '.join(films) or 'the list'}.",
            "Name film files, folders of films, or a --list.",
        )
    if options["dry_run"]:
        foresee(console, request, leaving)
    elif options["address"] is not None:
        on_ray(console, request, leaving, send)
    else:
        on_this_machine(console, request, leaving)


command.params[-3:-3] = [param for param in describing.command.params if param.name in OF_DESCRIBE]
