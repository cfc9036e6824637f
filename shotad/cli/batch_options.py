"""What the command line of ``shotad batch`` asks: which films, with what, and where the report goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.cli import describe as describing
from shotad.cli.console import asked_time
from shotad.cli.options import settings
from shotad.core import CastError, UsageError

if TYPE_CHECKING:
    from shotad.batch import Gathered, Wishes


@dataclass(frozen=True, slots=True)
class Asked:
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
    def of(films: Sequence[str], options: Mapping[str, Any]) -> Asked:
        """What these words mean. Raises ShotadError for what cannot be meant."""
        from shotad.batch import read_report

        wishes = wishes_of(options)
        report = _report_file(options)
        before = read_report(report) if options["only_failed"] else []
        look = _look(films, options, before)
        return Asked(options, wishes, report, before, look, look())


def wishes_of(options: Mapping[str, Any]) -> Wishes:
    """What the command line asks of all films. Raises UsageError."""
    from shotad.batch import Wishes

    start = asked_time(options["start"]) if options["start"] else 0.0
    end = asked_time(options["end"]) if options["end"] else None
    for name in ("cast", "cast_photos"):
        if options[name] is not None and not options[name].exists():
            raise CastError(f"There is no {options[name]} (--{name.replace('_', '-')}).", "Check the path.")
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
    from shotad.batch import STDIN, failed_in, gather, read_list, read_text

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


def _report_file(options: Mapping[str, Any]) -> Path:
    from shotad.batch import NAME, is_local, local_path

    if options["report_file"] is not None:
        return Path(options["report_file"])
    out = options["out"]
    return (local_path(out) if out is not None and is_local(out) else Path()) / NAME
