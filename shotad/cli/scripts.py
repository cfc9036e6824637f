"""``shotad export`` and ``shotad import``: a track in script formats, and edited scripts back into it."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.lazy import HerePath
from shotad.cli.options import PATH, Console, confirm, console_options, track_file
from shotad.core.errors import (
    MissingLines,
    ScriptError,
    UsageError,
    quoted,
)
from shotad.core.progress import plural

if TYPE_CHECKING:
    from shotad.script import Cue, Track, Worksheet
    from shotad.script.edits import ImportPlan


@click.command(name="export")
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option(
    "--format",
    "formats",
    multiple=True,
    metavar="NAME",
    help="vtt, srt, dapt, csv, json, frazier (or frazier@24: 24 frames per second), reaper, docx, xlsx, edl, "
    "fcpxml (or edl@29.97df+01:00:00;00), hls, dash or txt; repeatable.",
)
@click.option("--out", type=HerePath(), metavar="DIR|FILE", help="Folder (DIR/), or file for one format.")
@click.option("--check", is_flag=True, help="Check script files instead of writing.")
@click.option("--overwrite", is_flag=True, help="Write over scripts that somebody changed, too.")
@console_options
def export_command(
    console: Console,
    paths: tuple[Path, ...],
    formats: tuple[str, ...],
    out: str | None,
    check: bool,
    overwrite: bool,
) -> None:
    """Write a track as scripts, or check scripts.

    PATH is a film, a work folder, or the file of a translation. Without --format it writes the first five
    formats next to the track. docx and xlsx show the material of each slot beside its line (docx with
    pictures). edl and fcpxml are markers for editing programs, at the film's frame rate and time code. hls
    and dash are lines for a playlist or manifest, which tell players about the description. txt is the
    description to read, with a screen reader or in braille; it cannot be imported.

    With --check, PATHS are script files from any program; exit code 1 if one breaks the rules of its format.
    """
    if check:
        _check(console, paths)
        return
    if len(paths) != 1:
        raise UsageError(
            f"Give one film or work folder, not {len(paths)}.", "Only --check takes several files."
        )
    from shotad.script import (
        FORMATS,
        load_track,
        script_format,
        write_format,
    )
    from shotad.script.formats import check_unchanged, script_file
    from shotad.script.track_files import (
        TRACK,
        exported_hashes,
        is_translation,
        note_exports,
        read_versions,
        refuse_older,
        scripts_record,
        translation_file_name,
    )

    file = track_file(paths[0])
    track = load_track(file)
    chosen = [script_format(name) for name in formats or FORMATS]
    if any(form.needs_frames for form in chosen):
        from shotad.description.film_frames import frames_of_folder

        frames = frames_of_folder(file.parent)
        if frames is None:
            console.note(
                "Note: the film is not at hand, so markers count 25 frames a second from 00:00:00:00. Name "
                "the film's own count: --format edl@24+01:00:00:00."
            )
        chosen = [form.counting(frames) for form in chosen]
    target = None if out is None else Path(out)
    is_folder = target is not None and ((out or "").endswith(("/", os.sep)) or target.is_dir())
    if target is not None and len(chosen) == 1 and not is_folder:
        places = [target]
    else:
        beside = is_translation(file, track)
        places = [script_file(track, form, target or file.parent, is_translation=beside) for form in chosen]
    if not overwrite:
        # All before the first is written.
        name = TRACK if file.name == TRACK else translation_file_name(track.language)
        if file.name == name:
            refuse_older(track, file.parent, track_file_name=name)
        versions = read_versions(file.parent, scripts_record(track, file.name))
        exported = exported_hashes(track, file)
        for form, place in zip(chosen, places, strict=True):
            check_unchanged(track, form, place, exported=exported, versions=versions)
    worksheet = _worksheet_of(file, track.language) if any(form.has_material for form in chosen) else None
    written = [
        write_format(track, form, place, worksheet=worksheet, overwrite=True)
        for form, place in zip(chosen, places, strict=True)
    ]
    note_exports(track, file, written)
    if worksheet is not None and worksheet.no_pictures:
        console.note(f"Note: {worksheet.no_pictures}")
    names = [str(path) for path in written]
    console.result("\n".join(names), {"files": names})


def _worksheet_of(file: Path, language: str) -> Worksheet | None:
    """The material of the work folder in which a track lies; None where it has no records of the film."""
    from shotad.description.worksheet.page import worksheet_with_pictures

    if not (file.parent / "shots.json").is_file():
        return None
    return worksheet_with_pictures(file.parent, language)


_MOST_SHOWN = 100
"""Faults of a file that are printed; ``--json`` has all."""


def _check(console: Console, paths: tuple[Path, ...]) -> None:
    from shotad.script import check_script

    violations_by_file = {str(path): check_script(path) for path in paths}
    lines = []
    for name, violations in violations_by_file.items():
        lines += [f"{name}: {violation}" for violation in violations[:_MOST_SHOWN]] or [f"{name}: valid"]
        if len(violations) > _MOST_SHOWN:
            lines.append(f"{name}: and {plural(len(violations) - _MOST_SHOWN, 'other')}")
    value = {
        name: [{"clause": v.clause, "message": v.message, "line": v.line} for v in violations]
        for name, violations in violations_by_file.items()
    }
    console.result("\n".join(lines), value)
    bad = [name for name, violations in violations_by_file.items() if violations]
    if bad:
        raise ScriptError(
            f"Scripts that break the rules of their format: {len(bad)} of {len(violations_by_file)}.",
            "See the lines above.",
        )


@click.command(name="import")
@click.argument("path", metavar="FILM|WORKFOLDER", type=PATH)
@click.argument("script", type=PATH)
@click.option(
    "--format",
    "form",
    metavar="NAME",
    help="Format, if the name does not show it: vtt, srt, dapt, csv, json, frazier (or frazier@24), reaper, "
    "docx, xlsx, edl (or edl@24+01:00:00:00) or fcpxml.",
)
@click.option("--reviewer", "reviewers", multiple=True, metavar="NAME", help="Reviewer's name; repeatable.")
@click.option("--overwrite", is_flag=True, help="If the track was edited too, take the script's text.")
@click.option(
    "--remove-missing", is_flag=True, help="Remove the lines that the script lacks, without asking."
)
@click.option(
    "--encoding", metavar="NAME", help="Encoding of a script that is not in Unicode, such as cp1252."
)
@click.option("--dry-run", is_flag=True, help="Show what would change, line by line, and change nothing.")
@console_options
def import_command(
    console: Console,
    path: Path,
    script: Path,
    form: str | None,
    reviewers: tuple[str, ...],
    overwrite: bool,
    remove_missing: bool,
    encoding: str | None,
    dry_run: bool,
) -> None:
    """Bring an edited SCRIPT (VTT, SRT, TTML, DAPT, CSV, JSON, Frazier, Reaper, DOCX, XLSX, EDL, FCPXML) back
    into the track.

    It matches lines by their ids; in a script from another program, by times or texts. Each difference
    becomes an edit, which later runs keep. If script and track were both edited, it changes nothing and
    shows both texts. If the track is gone, or older than a script beside it, that script's lines take its
    place. For a translation, name its track (track.de.json) instead of the WORKFOLDER.

    Lines that the script lacks are removed only with --remove-missing, or when you say yes on a terminal.
    --dry-run shows first what would change.
    """
    from shotad.script import import_into, plan_import_into
    from shotad.script.track_files import TRACK, translation_of

    lost = _lost_track(path, script)
    if lost is None:
        file = track_file(path)
        file = (translation_of(script, file.parent) or file) if file.name == TRACK else file
    else:
        file = lost[0]
    place = file.parent if file.name == TRACK else file
    into = "" if file.name == TRACK else f" into {file.name}"
    if dry_run:
        lost_track = None if lost is None else lost[1]
        plan = plan_import_into(place, script, form, overwrite=overwrite, lost=lost_track, encoding=encoding)
        _show_plan(console, plan, f"{script}{into}", remove_missing=remove_missing)
        return
    bring_in = partial(
        import_into,
        place,
        script,
        form,
        reviewers=reviewers,
        overwrite=overwrite,
        lost=None if lost is None else lost[1],
        encoding=encoding,
    )
    try:
        done = bring_in(remove_missing=remove_missing)
    except MissingLines as error:
        if not sys.stdin.isatty():
            raise
        question = error.what.removesuffix(" Nothing was imported.")
        confirm("Remove them?", "Nothing was imported", error.hint, plan=question)
        done = bring_in(remove_missing=True)
    counts = {
        "changed": len(done.changed),
        "added": len(done.added),
        "removed": len(done.removed),
        "kept": len(done.kept),
        **({"noted": len(done.noted)} if done.noted else {}),
    }
    words = ", ".join(f"{number} {kind}" for kind, number in counts.items())
    ids = {name: list(getattr(done, name)) for name in counts}
    console.result(f"{script}{into}: {words}.", {**ids, "reviewed_by": list(done.track.reviewed_by)})


def _show_plan(console: Console, plan: ImportPlan, title: str, *, remove_missing: bool) -> None:
    """Print what an import would do; ``title`` names the script."""
    from shotad.script.edits import PlannedKind

    words = {
        PlannedKind.MISSING: "removed" if remove_missing else "not in the script, stays",
        PlannedKind.CONFLICT: "changed on both sides",
        PlannedKind.NOTED: "new note",
        PlannedKind.KEPT: "stays as the track has it",
    }
    differing = plural(len(plan.lines), "line differs", "lines differ")
    lines = [f"{title}: {differing}, {plan.unchanged} unchanged."]
    rows = []
    for line in plan.lines:
        before, after = _version(line.before), _version(line.after)
        lines.append(f"{line.after.id}  {words.get(line.kind, line.kind.value)}")
        if before is not None:
            lines.append(f"  now   {_version_text(before)}")
        stays = line.kind is PlannedKind.KEPT or (line.kind is PlannedKind.MISSING and not remove_missing)
        if after != before and not stays:
            lines.append(f"  then  {_version_text(after)}")
        rows.append({"id": line.id, "kind": line.kind.value, "before": before, "after": after})
    console.result("\n".join(lines), {"lines": rows, "unchanged": plan.unchanged})


def _version(cue: Cue | None) -> dict[str, Any] | None:
    """A line as the plan shows it; None where it is not spoken and has no note."""
    if cue is None or not (cue.heard or cue.note):
        return None
    values: dict[str, Any] = {"start": round(cue.start, 3), "end": round(cue.end, 3)}
    values["text"] = cue.text if cue.heard else ""
    if cue.note is not None:
        values["note"] = cue.note.text
    return values


def _version_text(version: dict[str, Any] | None) -> str:
    from shotad.script.cue import timecode

    if version is None:
        return "(no line)"
    note = f" [note: {quoted(version['note'])}]" if "note" in version else ""
    return f"{timecode(version['start'])} to {timecode(version['end'])}  {quoted(version['text'])}{note}"


def _lost_track(path: Path, script: Path) -> tuple[Path, Track] | None:
    """Where the track of a described film should be, and one without lines, if it is not there any more; or
    the translation that ``script`` is of.

    Raises FilmError where the film is not there either.
    """
    from shotad import __version__
    from shotad.core.files import refuse_special
    from shotad.core.runsettings import read_settings
    from shotad.core.workfolder import (
        SETTINGS_FILE,
        read_record,
        work_folder_of,
    )
    from shotad.film import open_film
    from shotad.film.slot_records import work_folder_film
    from shotad.script import Track, load_track
    from shotad.script.track import FilmId
    from shotad.script.track_files import (
        TRACK,
        lost_translation,
        translation_file_name,
    )

    if path.suffix.lower() == ".json":
        source = path.parent / TRACK
        if path.exists() or not source.is_file():
            return None
        translation = lost_translation(load_track(source), path.parent, script)
        is_meant = translation is not None and path.name == translation_file_name(translation.language)
        return (path, translation) if translation is not None and is_meant else None
    for folder in (path, work_folder_of(path)):
        refuse_special(folder / TRACK)
        if (folder / TRACK).exists():
            translation = lost_translation(load_track(folder / TRACK), folder, script)
            return (
                None
                if translation is None
                else (folder / translation_file_name(translation.language), translation)
            )
        if not (folder / SETTINGS_FILE).is_file():
            continue
        run, shots = read_settings(folder), read_record(folder / "shots.json") or {}
        source = work_folder_film(folder, run, str(shots.get("film", ""))) if path == folder else path
        with open_film(source, reader=run.config.film.reader, frame_rate=run.frame_rate) as film:
            end = float(shots.get("end", film.info.duration))
            named = FilmId(film.info.name, film.info.fingerprint, end)
        return folder / TRACK, Track(named, run.config.language, (), __version__, ())
    return None
