"""``shotad evaluate thread-labels``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.options import PATH, Console, console_options
from shotad.core.errors import UsageError
from shotad.core.types import frame_rate_of
from shotad.evaluation import thread_annotations
from shotad.evaluation.thread_labels import read_thread_labels


@click.command(name="thread-labels")
@click.argument("annotation", metavar="FILE", type=PATH)
@click.option("--films", type=PATH, required=True, help="Folder of the clips.")
@click.option("--out", type=PATH, required=True, help="Folder for the labels.")
@click.option(
    "--units",
    type=click.Choice(["seconds", "frames"]),
    default="seconds",
    show_default=True,
    help="Unit of the times.",
)
@click.option("--fps", metavar="RATE", help="Frames a second, 25 or 24000/1001 (default: the clip's own).")
@click.option("--first-frame", type=click.Choice(["0", "1"]), default="0", help="Number of the first frame.")
@click.option("--last-included", is_flag=True, help="The end of a shot is its last frame.")
@click.option("--variable", metavar="NAME", help="Variable of a MATLAB file that has several.")
@click.option("--field", "fields", multiple=True, metavar="FIELD=NAME", help="Name of a field; repeatable.")
@console_options
def command(console: Console, annotation: Path, films: Path, out: Path, **options: Any) -> None:
    """Turn an annotation of threads into labels for shotad evaluate threads.

    FILE is a table (CSV, TSV) with the columns clip, start, end and thread, or a MATLAB file with a struct
    array of the fields clip, shots and threads. Exit code 1 if a clip is not in the folder.
    """
    clock = thread_annotations.Clock(
        frames=options["units"] == "frames",
        fps=frame_rate_of(options["fps"]),
        first=int(options["first_frame"]),
        last_included=options["last_included"],
    )
    rows = thread_annotations.read_annotation(
        annotation, options["variable"], _field_names(options["fields"])
    )
    missing = thread_annotations.write_labels(rows, clock, films, out)
    clips, _ = read_thread_labels(out)
    shots = sum(len(clip.shots) for clip in clips)
    threads = sum(len(clip.clusters) for clip in clips)
    for path in missing:
        console.note(f"Not there: {path}")
    text = f"{len(clips)} clips, {shots} shots, {threads} threads of two or more: {out}"
    console.result(text, {"clips": len(clips), "shots": shots, "threads": threads, "missing": missing})
    if missing:
        click.get_current_context().exit(1)


def _field_names(assignments: tuple[str, ...]) -> dict[str, str]:
    """The names of fields by what they hold: ``clip=video`` → ``{"clip": "video"}``. Raises UsageError."""
    names: dict[str, str] = {}
    for assignment in assignments:
        field, _, name = assignment.partition("=")
        if field not in thread_annotations.FIELDS or not name:
            fields = ", ".join(f"{field}=NAME" for field in thread_annotations.FIELDS)
            raise UsageError(f"--field {assignment} names no field.", f"Write one of {fields}.")
        names[field] = name
    return names
