"""``shotad redo WORKFOLDER SLOT…``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import (
    PATH,
    Console,
    console_options,
    film_file_option,
    report_failures,
    set_option,
    strict_option,
    track_folder,
)
from shotad.script.cue import timecode
from shotad.script.reasons import reason_in

if TYPE_CHECKING:
    from shotad.description import RewrittenLine


@click.command(name="redo")
@click.argument("path", metavar="FILM|WORKFOLDER", type=PATH)
@click.argument("slots", metavar="SLOT...", nargs=-1, required=True)
@click.option("--engine", metavar="NAME", help="Other models: embedded, paper, openai or gpt-4o.")
@click.option("--note", default="", metavar="TEXT", help="Hint for these slots: who or what they show.")
@set_option
@film_file_option
@click.option("--cast", type=PATH, help="Another cast, or this one if it has moved.")
@click.option("--over-edits", is_flag=True, help="Also replace lines that people edited.")
@click.option("--no-sheet", is_flag=True, help="Do not draw the worksheet.")
@strict_option
@console_options
def command(console: Console, path: Path, slots: tuple[str, ...], **options: Any) -> None:
    """Describe single slots of a film again, and leave the rest.

    SLOT is an id (s00083120), a time (1:23), or the number of a line in the SRT script (12). It uses the
    settings of the run, unless you give others. The new line counts as yours: a later describe keeps it.
    The old line stays among its candidates in track.json, and stays the line if no better one comes.

    Exit code 1 if no slot got a new line; 0 if only some did not (3 with --strict).
    """
    from shotad.core import WorkFolder
    from shotad.core.runsettings import (
        read_settings,
        run_config_with_changes,
        with_cast,
    )
    from shotad.description import Engines, redo
    from shotad.engines import privacy_notice
    from shotad.film import open_film
    from shotad.film.slot_records import work_folder_film
    from shotad.script import load_track
    from shotad.script.track_files import TRACK

    place = track_folder(path)
    run = with_cast(read_settings(place), options["cast"])
    config = run_config_with_changes(run, engine=options["engine"], assignments=options["assignments"])
    if run.warning:
        console.note(run.warning)
    source = options["film_file"] or work_folder_film(place, run, load_track(place / TRACK).film.name)
    engines = Engines.of(config)
    engines.check_machine(config)
    with (
        open_film(source, reader=config.film.reader, frame_rate=run.frame_rate) as film,
        WorkFolder(place) as folder,
    ):
        for line in privacy_notice(engines.stage1, engines.stage2):
            console.note(line)
        done = redo(
            film,
            folder,
            run,
            slots,
            config=config,
            note=options["note"],
            over_edits=options["over_edits"],
            engines=engines,
            progress=console,
            sheet=not options["no_sheet"],
        )
        changes = ", ".join(
            f"{result.before.id} {'changed' if result.after else 'kept'}" for result in done.results
        )
        folder.note(f"described again: {changes}")
    console.result(_summary(done), _report(done))
    reasons = [result.reason for result in done.results if result.after is None and not result.same]
    total = len(done.results)
    all_failed = len(reasons) == total
    report_failures(reasons, total, "slots", all_failed=all_failed, strict=options["strict"], hint=_AGAIN)


SAME = "the engine wrote the same line again. Give it a hint with --note, or use another --engine."


_AGAIN = "Their lines stay as they were; run the command again with these slots alone."


def _summary(done: RewrittenLine) -> str:
    """Old and new line of each slot, or why there is no new one."""
    lines = []
    for result in done.results:
        before = result.before
        lines.append(f"{before.id}  {timecode(before.interval.start)}")
        why_empty = f"({before.status}: {reason_in(before.reason, 'en')})"
        lines.append(f"  old: {before.text or why_empty}")
        if result.after is not None:
            lines.append(f"  new: {result.after.text}")
        else:
            lines.append(f"  Nothing was changed: {result.reason or SAME}")
    lines += [f"Note: {warning}" for warning in done.warnings]
    lines += done.used.lines()
    if done.files:
        lines += ["Files:", *(f"  {path}" for path in done.files)]
    return "\n".join([*lines, f"Worksheet: {done.sheet}"] if done.sheet else lines)


def _report(done: RewrittenLine) -> dict[str, Any]:
    """The same for programs."""
    lines = []
    for result in done.results:
        now = result.after or result.before
        lines.append(
            {
                "id": now.id,
                "start": now.interval.start,
                "end": now.interval.end,
                "status": now.status.value,
                "changed": result.after is not None,
                "old": result.before.text,
                "new": None if result.after is None else result.after.text,
                "reason": SAME if result.same else result.reason,
            }
        )
    return {
        "lines": lines,
        "warnings": list(done.warnings),
        "used": done.used.as_json(),
        "files": [str(path) for path in done.files],
        "sheet": [str(done.sheet)] if done.sheet else [],
    }
