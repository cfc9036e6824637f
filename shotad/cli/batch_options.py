"""What the command line of ``shotad batch`` means, and what is said before the films and after them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli import describe as describing
from shotad.cli.options import Console, asked_time, settings, tell_failures
from shotad.core import CastError, Config, UsageError, WorkFolderError

if TYPE_CHECKING:
    from shotad.batch import FilmRow, Gathered, Leaving, Report, Terms, Wishes


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """What was asked for. ``gathered`` are the films that are there now; ``look`` looks for them again;
    ``before`` are the rows of the last report, where only films that failed are wanted."""

    options: Mapping[str, Any]
    wishes: Wishes
    report: Path
    before: Sequence[Mapping[str, Any]]
    look: Callable[[], Gathered]
    gathered: Gathered

    @property
    def is_something(self) -> bool:
        """Whether there is a film, or may be one later."""
        return bool(self.gathered.found or self.gathered.lost or self.options["watch"])

    @staticmethod
    def of(films: Sequence[str], options: Mapping[str, Any]) -> BatchRequest:
        """What these words mean. Raises ShotadError for what cannot be meant."""
        from shotad.batch import (
            NAME,
            STDIN,
            failed_in,
            gather,
            is_local,
            local_path,
            read_list,
            read_report,
            read_text,
        )

        wishes = wishes_of(options)
        if options["report_file"] is not None:
            report = Path(options["report_file"])
        else:
            out = options["out"]
            report = (local_path(out) if out is not None and is_local(out) else Path()) / NAME
        before = read_report(report) if options["only_failed"] else []
        if not films and not options["lists"] and not before:
            hint, address = "Name films or folders, or a list of them with --list.", options["address"]
            if address:
                hint = f"The word after --ray is its address: write the films before it ({address})."
            raise UsageError("No films are named.", hint)
        if options["only_failed"] and options["watch"]:
            raise UsageError("--watch waits for films that are new.", "Leave --only-failed or --watch away.")
        typed = sys.stdin.read() if STDIN in options["lists"] else ""
        failed = failed_in(before)

        def look() -> Gathered:
            lists = [(name, typed if name == STDIN else read_text(name)) for name in options["lists"]]
            listed = [line for name, text in lists for line in read_list(name, text)]
            if options["only_failed"] and not films and not listed:
                return gather((), failed)
            found = gather(films, listed, options["frame_rate"])
            return found.only(failed) if options["only_failed"] else found

        return BatchRequest(options, wishes, report, before, look, look())


def wishes_of(options: Mapping[str, Any]) -> Wishes:
    """What the command line asks of all films. Raises UsageError."""
    from shotad.batch import Wishes

    start = asked_time(options["start"]) if options["start"] else 0.0
    end = asked_time(options["end"]) if options["end"] else None
    for name in ("cast", "cast_photos"):
        if options[name] is not None and not options[name].exists():
            raise CastError(f"There is no {options[name]} (--{name.replace('_', '-')}).", "Check the path.")
    return Wishes(
        config=settings(options, **describing.flags_of(options)),
        configs=options["config"],
        assignments=options["assignments"],
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


OFF = "off"
AUTO = "auto"


def terms_of(options: Mapping[str, Any], config: Config, films: int) -> Terms:
    """The terms of a batch of so many films (with ``--watch``: to begin with)."""
    from shotad.batch import Terms, how_many
    from shotad.core import memory_free, processors
    from shotad.engines import ENGINES, stage_engines

    count, keep, memory = limits_of(options)
    if count is None:
        stages = (stage_engines(config).stage1, stage_engines(config).stage2)
        local = any(ENGINES.get(one, one).startswith("shotad.engines.local") for one in stages)
        number = processors() if options["watch"] else films
        count = how_many(number, processors(), memory_free(), loads_models=local)
    return Terms(count, options["retries"], keep, memory)


def limits_of(options: Mapping[str, Any]) -> tuple[int | None, int | None, int | None]:
    """Films at once (None: as many as go), bytes that stay free on disk, and those of memory that a film may
    take (None: no limit). Raises UsageError for what cannot be meant."""
    jobs, keep, memory = options["jobs"], options["min_free"], options["memory"]
    free = None if keep == OFF else _size("--min-free", keep)
    most = None if memory is None else _size("--memory", memory)
    if most == 0:
        raise UsageError(f"--memory {memory} leaves nothing to a film.", "Write how much each may take: 4GB.")
    if jobs != AUTO and (not (jobs.isascii() and jobs.isdigit()) or int(jobs) < 1):
        raise UsageError(f"--jobs {jobs} is no number of films.", "Write 1, 2, … or auto.")
    return None if jobs == AUTO else int(jobs), free, most


def _size(option: str, text: str) -> int:
    from shotad.batch import parse_size

    try:
        return parse_size(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.what}", error.hint) from None


def open_with(console: Console, asked: BatchRequest) -> None:
    """Refuse what no film could be described with, and say once what holds for all of them."""
    from shotad.batch import is_local, local_path
    from shotad.description import Engines, remarks

    options, config = asked.options, asked.wishes.config
    limits_of(options)
    if (out := options["out"]) is not None and is_local(out):
        # Refuse a place for the work folders in which there can be none
        place = local_path(out).absolute()
        there = next(one for one in (place, *place.parents) if one.exists())
        if not there.is_dir():
            what = f"--out {out}: {there} is a file."
            raise WorkFolderError(what, "Name a folder, or one that can be made.")
        if not os.access(there, os.W_OK | os.X_OK):
            raise WorkFolderError(f"--out {out}: nothing can be written in {there}.", "Name another folder.")
    if options["voice"] or options["makes"]:
        describing.check_voice(config, options["makes"])
    engines = Engines.of(config)
    if options["address"] is None and not options["dry_run"]:
        # On a cluster it is its nodes that look and write.
        engines.check_machine(config)
    for line in remarks(config, engines):
        console.note(line)


def foresee(console: Console, asked: BatchRequest, leaving: Leaving) -> None:
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


def finish(
    console: Console,
    asked: BatchRequest,
    report: Report,
    rows: Sequence[FilmRow],
    seconds: float,
    *,
    stopped: bool,
    halted: str | None = None,
) -> None:
    """Say what became of the films, at the end.

    Exit code 1 where one failed or was not begun; where only slots failed, 3 with --strict.
    """
    from shotad.batch import as_lines, as_table

    report.write(lambda: rows, seconds, ended=True)
    wide = console.mode == "bars" and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns
    text = as_table(rows, seconds, width) if wide else as_lines(rows, seconds)
    last = f"Report: {report.path}" if report.trouble is None else f"No report: {report.trouble}"
    found = {**report.content(rows, seconds, ended=True), "halted": halted}
    console.result("\n".join([text, *([halted] if halted else []), last]), found)
    if stopped:
        raise click.Abort
    if halted or any(row.result is None or row.result.state == "failed" for row in rows):
        raise click.exceptions.Exit(1)
    results = [row.result for row in rows if row.result is not None]
    reasons = [f"a slot of {row.label}" for row in rows if row.result for _ in range(row.result.amiss)]
    of = sum(result.slots for result in results)
    tell_failures(reasons, of, "slots", all_failed=False, strict=asked.options["strict"])
