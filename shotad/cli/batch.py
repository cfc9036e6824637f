"""``shotad batch FILMS…``."""

from __future__ import annotations

import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from shotad.cli import describe as describing
from shotad.cli.console import Console, asked_time
from shotad.cli.options import console_options, settings
from shotad.config import Config
from shotad.errors import UsageError

if TYPE_CHECKING:
    from shotad.catalogue.batch import Terms
    from shotad.catalogue.board import Board
    from shotad.catalogue.finding import Gathered, Planned, Planner, Wishes
    from shotad.catalogue.report import Report
    from shotad.catalogue.storage.finding import Found
    from shotad.catalogue.table import Row
    from shotad.catalogue.watching import Watch

OF_DESCRIBE = (
    *("engine", "detail", "language", "note", "cast", "cast_photos", "config", "assignments", "start", "end"),
    *("candidates", "sampling", "select", "context", "verify", "audio_track", "frame_rate"),
    *("voice", "makes", "loudness", "extended", "no_sheet", "force", "discard_edits", "timed"),
)
"""Options of ``shotad describe`` that hold for many films."""

OFF = "off"
AUTO = "auto"


@click.command(name="batch")
@click.argument("films", nargs=-1, metavar="FILMS...")
@click.option(
    "--list", "lists", multiple=True, metavar="FILE", help="More films, one a line; - is standard input."
)
@click.option("--out", metavar="DIR", help="Where the work folders go; else each goes beside its film.")
@click.option(
    "--jobs",
    default=AUTO,
    metavar="N",
    show_default=True,
    help="Films at once; auto: as many as the machine carries.",
)
@click.option("--watch", is_flag=True, help="Go on: take new films when they have settled, until Ctrl-C.")
@click.option(
    "--settle",
    default=10.0,
    type=click.FloatRange(min=0),
    metavar="S",
    show_default=True,
    help="Seconds for which a new film must stay as it is.",
)
@click.option(
    "--retries",
    default=1,
    type=click.IntRange(min=0),
    metavar="N",
    show_default=True,
    help="Further tries of a film that may have failed by chance: killed, or no server.",
)
@click.option(
    "--min-free",
    default="2GB",
    metavar="SIZE",
    show_default=True,
    help="What is to stay free on the disk; off: nobody looks.",
)
@click.option("--memory", metavar="SIZE", help="What one film may take of memory (4GB); beyond, it is ended.")
@click.option(
    "--report",
    "report_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where the report goes; else shotad-batch.json in --out, or here.",
)
@click.option("--only-failed", is_flag=True, help="Only films that failed by the report of the last batch.")
@click.option("--dry-run", is_flag=True, help="Say which films, into which folders, with what; do nothing.")
@click.option("--no-beside", is_flag=True, help="Use no settings, subtitles or cast that lie beside films.")
@click.option(
    "--scratch", metavar="DIR", help="Where films from elsewhere are put for the time of their run."
)
@click.option(
    "--ray",
    "address",
    is_flag=False,
    flag_value="",
    metavar="[ADDRESS]",
    help="On a Ray cluster: auto, host:6379, or (no address) processes of this machine.",
)
@click.option("--ray-config", "ray_files", multiple=True, metavar="FILE", help="Settings of a cluster run.")
@console_options
def command(console: Console, films: tuple[str, ...], **options: Any) -> None:
    """Describe many films: files, folders with all below them, patterns, addresses (s3://bucket/films).

    Each film gets a work folder of its own. A film that fails, even one that kills its process, never stops
    the others; at the end a table tells what became of each. The same command again leaves alone what is
    done, and goes on with the rest.

    What lies beside a film is used for it: movie.srt, movie.cast, movie.yaml (settings), movie.note.txt; for
    all films of a folder: shotad.yaml, cast. It goes before what the command line says of all films.
    """
    from shotad.catalogue.report import read_report

    wishes = wishes_of(options)
    report = _report_file(options)
    before = read_report(report) if options["only_failed"] else []
    look = _look(films, options, before)
    gathered = look()
    if not (gathered.found or gathered.lost or options["watch"]):
        nothing = (
            "No film has failed." if before else f"There are no films in {', '.join(films) or 'the list'}."
        )
        raise UsageError(nothing, "" if before else "shotad batch --help says what is taken for a film.")
    _check(console, wishes.config, options)
    if options["dry_run"]:
        _foresee(console, gathered, wishes)
    elif options["address"] is not None:
        _on_ray(console, gathered, wishes, report, before, options)
    else:
        _here(console, gathered, wishes, report, before, look, options)


command.params[-3:-3] = [param for param in describing.command.params if param.name in OF_DESCRIBE]


def _here(
    console: Console,
    gathered: Gathered,
    wishes: Wishes,
    report_file: Path,
    before: Sequence[Mapping[str, Any]],
    look: Callable[[], Gathered],
    options: Mapping[str, Any],
) -> None:
    """The films on this machine, in processes of their own."""
    from shotad.catalogue.batch import Batch
    from shotad.catalogue.board import Board
    from shotad.catalogue.finding import Planner
    from shotad.catalogue.report import Report

    planner, board = Planner(wishes), Board(console, console.mode == "bars")
    watch = _watch(look, gathered, options) if options["watch"] else None
    planned = gathered.planned(planner) if watch is None else planner.plan(_ready(watch, gathered, options))
    report = Report(report_file, before)
    terms = _terms(options, wishes.config, len(planned), watching=watch is not None)
    batch = Batch(terms, board, None if watch is None else _later(watch, planner, board))
    batch.on_change = lambda: report.write(lambda: batch.rows, batch.seconds)
    stopped = False
    with _stoppable():
        try:
            batch.run(planned)
        except KeyboardInterrupt:
            stopped = watch is None or any(row.begun and row.result is None for row in batch.rows)
    report.write(lambda: batch.rows, batch.seconds, ended=True)
    _tell(console, batch.rows, batch.seconds, report, batch.halted)
    if stopped:
        raise click.Abort
    if batch.halted or any(row.result and row.result.state == "failed" for row in batch.rows):
        raise click.exceptions.Exit(1)


def _on_ray(
    console: Console,
    gathered: Gathered,
    wishes: Wishes,
    report_file: Path,
    before: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
) -> None:
    """The films on a cluster."""
    from shotad.catalogue.finding import Planner
    from shotad.catalogue.marks import done_before
    from shotad.catalogue.ray import load_ray_settings, run
    from shotad.catalogue.report import Report
    from shotad.catalogue.table import Row, labels

    if options["watch"]:
        raise UsageError("--watch waits for films on one machine.", "Leave --ray or --watch away.")
    planned = gathered.planned(Planner(wishes))
    known = {film.job.film: film.trouble or done_before(film.job) for film in planned}
    jobs = [film.job for film in planned if known[film.job.film] is None]
    began = time.monotonic()
    report = Report(report_file, before)
    names = labels(planned)

    def rows() -> list[Row]:
        return [Row(name, film, known[film.job.film]) for name, film in zip(names, planned, strict=True)]

    def told(result: Any) -> None:
        known[result.film] = result
        report.write(rows, time.monotonic() - began)

    found = run(
        jobs,
        address=options["address"] or None,
        settings=load_ray_settings(options["ray_files"]),
        progress=console,
        told=told,
    )
    known.update((result.film, result) for result in found)
    report.write(rows, time.monotonic() - began, ended=True)
    _tell(console, rows(), time.monotonic() - began, report)
    if any(row.result is None or row.result.state == "failed" for row in rows()):
        raise click.exceptions.Exit(1)


def wishes_of(options: Mapping[str, Any]) -> Wishes:
    """What the command line asks of all films. Raises UsageError."""
    from shotad.catalogue.finding import Wishes

    start = asked_time(options["start"]) if options["start"] else 0.0
    end = asked_time(options["end"]) if options["end"] else None
    for name in ("cast", "cast_photos"):
        if options[name] is not None and not options[name].exists():
            raise UsageError(f"There is no {options[name]} (--{name.replace('_', '-')}).", "Check the path.")
    return Wishes(
        settings(options, **describing.flags_of(options)),
        options["config"],
        options["assignments"],
        out=options["out"],
        cast=None if options["cast"] is None else str(options["cast"].absolute()),
        cast_photos=None if options["cast_photos"] is None else str(options["cast_photos"].absolute()),
        start=start,
        end=end,
        rate=options["frame_rate"],
        makes=options["makes"] or (("film",) if options["voice"] else ()),
        sheet=not options["no_sheet"],
        force=options["force"],
        discard_edits=options["discard_edits"],
        timed=options["timed"],
        scratch=options["scratch"],
        alone=options["no_beside"],
    )


def _look(
    films: Sequence[str], options: Mapping[str, Any], before: Sequence[Mapping[str, Any]]
) -> Callable[[], Gathered]:
    """How the films are looked for, now and (with --watch) later."""
    from shotad.catalogue.finding import STDIN, gather, read_list
    from shotad.catalogue.report import failed_in
    from shotad.catalogue.storage.fetching import read_text

    if not films and not options["lists"] and not before:
        hint = "Name films or folders, or a list of them with --list."
        if options["address"]:
            hint = (
                f"What stands behind --ray is its address: write the films before it ({options['address']})."
            )
        raise UsageError("No films are named.", hint)
    if options["only_failed"] and options["watch"]:
        raise UsageError("--watch waits for films that are new.", "Leave --only-failed or --watch away.")
    typed = sys.stdin.read() if STDIN in options["lists"] else ""
    failed = failed_in(before)

    def look() -> Gathered:
        lists = [(name, typed if name == STDIN else read_text(name)) for name in options["lists"]]
        listed = [line for name, text in lists for line in read_list(name, text)]
        if not options["only_failed"]:
            return gather(films, listed, options["frame_rate"])
        named = films or listed
        return gather(films, listed, options["frame_rate"]).only(failed) if named else gather((), failed)

    return look


def _watch(look: Callable[[], Gathered], first: Gathered, options: Mapping[str, Any]) -> Watch:
    from shotad.catalogue.watching import Watch

    return Watch(lambda: look().found, options["settle"], time.monotonic)


def _ready(watch: Watch, first: Gathered, options: Mapping[str, Any]) -> list[Found]:
    """The films that are there when the watch begins and have not been written to for a while."""
    settled = datetime.now(UTC) - timedelta(seconds=options["settle"])
    ready = [film for film in first.found if film.changed is None or film.changed <= settled]
    watch.take(ready)
    return ready


def _later(watch: Watch, planner: Planner, board: Board) -> Callable[[], list[Planned]]:
    told: list[str | None] = [None]

    def more() -> list[Planned]:
        films = planner.plan(watch.settled())
        if watch.trouble not in (None, told[0]):
            board.note(f"New films cannot be looked for: {watch.trouble} Trying again.")
        told[0] = watch.trouble
        return films

    return more


def _terms(options: Mapping[str, Any], config: Config, films: int, *, watching: bool) -> Terms:
    from shotad.catalogue.batch import Terms
    from shotad.catalogue.limits import how_many, parse_size
    from shotad.engines import ENGINES, stage_engines
    from shotad.system import memory_free, processors

    stages = stage_engines(config)
    local = any(
        ENGINES.get(one, one).startswith("shotad.engines.local") for one in (stages.stage1, stages.stage2)
    )
    if options["jobs"] == AUTO:
        number = processors() if watching else films
        count = how_many(number, processors(), memory_free(), loads_models=local)
    else:
        count = _count(options["jobs"])
    return Terms(
        count,
        options["retries"],
        None if options["min_free"] == OFF else parse_size(options["min_free"]),
        None if options["memory"] is None else parse_size(options["memory"]),
    )


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise UsageError(f"--jobs {text} is no number of films.", "Write 1, 2, … or auto.")
    return int(text)


def _report_file(options: Mapping[str, Any]) -> Path:
    from shotad.catalogue.report import NAME
    from shotad.catalogue.storage.places import is_local, local_path

    if options["report_file"] is not None:
        return Path(options["report_file"])
    out = options["out"]
    return (local_path(out) if out is not None and is_local(out) else Path()) / NAME


def _check(console: Console, config: Config, options: Mapping[str, Any]) -> None:
    """Refuse what no film could be described with, and say once what holds for all of them."""
    from shotad.catalogue.limits import parse_size
    from shotad.writing import Engines

    for name in ("min_free", "memory"):
        if options[name] not in (None, OFF):
            parse_size(options[name])
    if options["jobs"] != AUTO:
        _count(options["jobs"])
    if options["voice"] or options["makes"]:
        describing.check_voice(config, options["makes"])
    for line in describing.opening(config, Path(), Engines.of(config))[1:]:
        console.note(line)


def _foresee(console: Console, gathered: Gathered, wishes: Wishes) -> None:
    """Say what a run would do."""
    from shotad.catalogue.finding import Planner
    from shotad.catalogue.marks import done_before
    from shotad.catalogue.table import foreseen_json, foreseen_lines, labels

    planned = gathered.planned(Planner(wishes))
    results = [film.trouble or done_before(film.job) for film in planned]
    names = labels(planned)
    console.result(
        "\n".join(foreseen_lines(names, planned, results)), foreseen_json(names, planned, results)
    )  # fmt: skip


def _tell(
    console: Console, rows: Sequence[Row], seconds: float, report: Report, halted: str | None = None
) -> None:
    from shotad.catalogue.table import as_lines, as_table

    wide = console.mode == "bars" and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns
    text = as_table(rows, seconds, width) if wide else as_lines(rows, seconds)
    last = f"Report: {report.path}" if report.trouble is None else f"No report: {report.trouble}"
    found = {**report.content(rows, seconds, ended=True), "halted": halted}
    console.result("\n".join([text, *([halted] if halted else []), last]), found)


@contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM, as machines are told to stop, ends the batch like Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
