"""``shotad export WORKFOLDER`` and ``shotad export --check FILE …``."""

from __future__ import annotations

from pathlib import Path

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options, track_file
from shotad.core import ScriptError, UsageError


@click.command(name="export")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "formats",
    multiple=True,
    metavar="NAME",
    help="vtt, srt, dapt, csv, json; frazier (or frazier@24: frames a second), reaper, docx, xlsx; hls, "
    "dash. Repeatable.",
)
@click.option("--out", type=click.Path(), metavar="DIR|FILE", help="Folder (DIR/), or file for one format.")
@click.option("--check", is_flag=True, help="Check script files instead of writing any.")
@console_options
def command(
    console: Console, paths: tuple[Path, ...], formats: tuple[str, ...], out: str | None, check: bool
) -> None:
    """Write the track of a film (or work folder, or a translation's own file) in script formats, or check
    scripts.

    Without --format the first five formats are written, beside the track unless --out says where; docx
    and xlsx need the extra shotad[documents]. hls and dash are lines for a playlist or manifest by which
    players find the description. With --check PATHS are files of any make; exit code 1 if one of them
    breaks the rules of its format.
    """
    if check:
        _check(console, paths)
        return
    if len(paths) != 1:
        raise UsageError(
            f"Give one film or work folder, not {len(paths)}.", "With --check several files may be given."
        )
    _write(console, paths[0], formats, out)


def _write(console: Console, path: Path, formats: tuple[str, ...], out: str | None) -> None:
    from shotad.script import FORMATS, is_translation, load_track, script_file, script_format, write_format

    file = track_file(path)
    track = load_track(file)
    chosen = [script_format(name) for name in formats or FORMATS]
    target = None if out is None else Path(out)
    if target is not None and len(chosen) == 1 and not (out or "").endswith("/") and not target.is_dir():
        places = [target]
    else:
        beside = is_translation(file, track)
        places = [script_file(track, form, target or file.parent, is_translation=beside) for form in chosen]
    written = [str(write_format(track, form, place)) for form, place in zip(chosen, places, strict=True)]
    console.result("\n".join(written), {"files": written})


def _check(console: Console, paths: tuple[Path, ...]) -> None:
    from shotad.script import check_script

    found = {str(path): check_script(path) for path in paths}
    lines = []
    for name, violations in found.items():
        lines += [f"{name}: {violation}" for violation in violations] or [f"{name}: valid"]
    value = {
        name: [{"clause": v.clause, "message": v.message, "line": v.line} for v in violations]
        for name, violations in found.items()
    }
    console.result("\n".join(lines), value)
    bad = [name for name, violations in found.items() if violations]
    if bad:
        raise ScriptError(
            f"{len(bad)} of {len(found)} scripts break the rules of their format.", "See the lines above."
        )
