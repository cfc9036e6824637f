"""``shotad import WORKFOLDER FILE``."""

from __future__ import annotations

from pathlib import Path

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options, track_file


@click.command(name="import")
@click.argument("path", metavar="FILM|WORKFOLDER", type=click.Path(path_type=Path))
@click.argument("script", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    metavar="NAME",
    help="vtt, srt, dapt, csv, json, frazier (or frazier@24: frames a second), reaper, docx or xlsx, where "
    "it cannot be told.",
)
@click.option(
    "--reviewer", "reviewers", multiple=True, metavar="NAME", help="Who has reviewed the script; repeatable."
)
@click.option("--overwrite", is_flag=True, help="Where the track was edited otherwise, the script wins.")
@console_options
def command(
    console: Console, path: Path, script: Path, form: str | None, reviewers: tuple[str, ...], overwrite: bool
) -> None:
    """Bring an edited SCRIPT (VTT, SRT, DAPT, CSV, JSON, Frazier, Reaper, DOCX, XLSX) back into the track.

    Lines are known by their ids; in a script of another program, by their times or texts.
    A script of a translation, by its name or where its track (track.de.json) is named as the WORKFOLDER,
    goes into that one. What differs becomes an edit, which every later run keeps. Where script and
    track were both edited, nothing is written and both texts are shown.
    """
    from shotad.script import TRACK, import_into, import_translation, translation_of

    file = track_file(path)
    file = (translation_of(script, file.parent) or file) if file.name == TRACK else file
    if file.name == TRACK:
        done = import_into(file.parent, script, form, reviewers=reviewers, overwrite=overwrite)
    else:
        done = import_translation(file, script, form, reviewers=reviewers, overwrite=overwrite)
    counts = {
        "changed": len(done.changed),
        "added": len(done.added),
        "removed": len(done.removed),
        "kept": len(done.kept),
    }
    words = ", ".join(f"{number} {what}" for what, number in counts.items())
    ids = {name: list(getattr(done, name)) for name in counts}
    into = "" if file.name == TRACK else f" into {file.name}"
    console.result(f"{script}{into}: {words}.", {**ids, "reviewed_by": list(done.track.reviewed_by)})
