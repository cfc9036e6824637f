"""``shotad cast forget CAST PERSON|--all``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shotad.cli.cast import cast_file, confirm
from shotad.cli.options import PATH, Console, console_options
from shotad.core import UsageError

if TYPE_CHECKING:
    from shotad.core import Member
    from shotad.description import Cleared, Photos
    from shotad.sight import CastFile


@click.command(name="forget")
@click.argument("path", metavar="CAST", type=PATH)
@click.argument("person", metavar="[PERSON]", required=False)
@click.option("--all", "everybody", is_flag=True, help="Forget everybody in the cast.")
@click.option(
    "--film-folder",
    "runs",
    metavar="WORKFOLDER",
    multiple=True,
    type=PATH,
    help="Also delete the face data in this work folder; repeatable.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@console_options
def command(
    console: Console,
    path: Path,
    person: str | None,
    everybody: bool,
    runs: tuple[Path, ...],
    yes: bool,
) -> None:
    """Delete a person's photos, entry and face data.

    PERSON is an id, a name, or a number from shotad cast show. It deletes only photos inside the cast
    folder, and lists others. In work folders, --all deletes all face data; for one person it deletes the
    shots in which they, or somebody a little like them, were seen. Lines that say the name stay: edit them
    yourself. It never changes a character bank.
    """
    from shotad.description import clear_all, clear_person, delete_photos, photos_to_forget, run_folder
    from shotad.sight import chosen, forget_use, held

    if everybody == bool(person):
        raise UsageError("There is nobody to forget.", "Give an id or a name, or --all for everybody.")
    folders = [run_folder(run) for run in runs]
    if path.suffix.lower() == ".json" and path.is_file():
        _without_bank(console, path, folders, everybody=everybody, yes=yes)
        return
    file = cast_file(path)
    members = file.members
    gone = list(members) if everybody else [chosen(members, person or "")]
    photos = photos_to_forget(gone, [m for m in members if m not in gone], file.folder)
    who = f"everybody ({len(gone)})" if everybody else _called(gone[0])
    also = f", and the face data in {', '.join(map(str, folders))}" if folders else ""
    _ask(yes, f"To forget {who}: {_count(photos.going, 'photo')} and the entry will be deleted{also}.")
    with held(file.folder):
        cleared = [
            clear_all(folder) if everybody else clear_person(folder, gone[0], photos.keys)
            for folder in folders
        ]
        delete_photos(photos.going, file.folder)
        _strike(file, gone)
        _tidy(file, everybody)
        forget_use(file.folder, folders if everybody else ())
    head = [f"Forgotten: {', '.join(map(_called, gone)) or 'nobody'}."]
    head.append(f"{_count(photos.going, 'photo')} deleted.")
    notes = _notes(file, gone, photos, folders, everybody)
    _tell(console, cleared, notes, head, gone, photos)


def _without_bank(
    console: Console, bank: Path, folders: Sequence[Path], *, everybody: bool, yes: bool
) -> None:
    """Of a character bank, which is only read, what work folders know of faces."""
    from shotad.description import clear_all

    if not everybody or not folders:
        raise UsageError(
            f"{bank} is a character bank, which is only read.",
            "To delete the face data of a work folder: --all --film-folder WORKFOLDER.",
        )
    _ask(yes, f"The face data in {', '.join(map(str, folders))} will be deleted.")
    notes = [f"The bank and its pictures are unchanged: {bank}."]
    _tell(console, [clear_all(folder) for folder in folders], notes)


def _ask(yes: bool, plan: str) -> None:
    if not yes:
        confirm("This cannot be undone. Go on?", "Nothing was deleted", "Add --yes.", plan=plan)


def _strike(file: CastFile, gone: Sequence[Member]) -> None:
    """Take the entries out of the file; a folder of photos alone has none."""
    if file.exists:
        for member in reversed(gone):
            file.remove(member.id)
        file.save()


def _tidy(file: CastFile, everybody: bool) -> None:
    """Bring what discovery wrote beside the file up to date. Of one person it keeps the moments at which they
    were seen, so as not to bring them back."""
    from shotad.sight import FACTS, PAGE, UNDO, renew_overview

    (file.folder / UNDO).unlink(missing_ok=True)
    if everybody:
        for name in (PAGE, FACTS):
            (file.folder / name).unlink(missing_ok=True)
    else:
        renew_overview(file.folder)


def _notes(
    file: CastFile, gone: Sequence[Member], photos: Photos, folders: Sequence[Path], everybody: bool
) -> list[str]:
    """What stays, plainly."""
    from shotad.description import still_named

    notes = [f"Not deleted (outside the cast folder, or another person's too): {photo}"
             for photo in photos.staying]  # fmt: skip
    notes += [f"The name {name} is still in {file.path}, line {line}." for name, line in _left(file, gone)]
    others = _others(file.folder, folders)
    if others:
        some = ", ".join(map(str, others))
        notes.append(f"These work folders still hold face data: {some}. Name them with --film-folder.")
    if folders:
        notes.append("Lines that were written with the name stay in the tracks: edit or redo them.")
    notes += [
        f"{_called(member)} is still named in {', '.join(files)} of {folder}; "
        "delete that folder to remove that too."
        for folder in folders
        for member in gone
        if (files := still_named(folder, member))
    ]
    if folders and not everybody:
        notes.append("Face data too unclear to tell from strangers' may stay; --all deletes it too.")
    return notes


def _others(cast: Path, folders: Sequence[Path]) -> list[Path]:
    from shotad.description import folders_with_faces

    known = {folder.resolve() for folder in folders}
    return [run for run in folders_with_faces(cast) if run.resolve() not in known]


def _left(file: CastFile, gone: Sequence[Member]) -> list[tuple[str, int]]:
    """Names that are still in the file, in comments or others' entries, with the line."""
    import re

    from shotad.sight import HEAD

    names = {member.name for member in gone if member.name}
    lines = list(enumerate(file.text.splitlines(), 1)) if file.exists else []
    return [
        (name, number)
        for name in sorted(names)
        for number, line in lines
        if line not in HEAD.splitlines() and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line)
    ]


def _tell(
    console: Console,
    cleared: Sequence[Cleared],
    notes: Sequence[str],
    head: Sequence[str] = (),
    gone: Sequence[Member] = (),
    photos: Photos | None = None,
) -> None:
    """Say what was forgotten, in lines and for programs."""
    value = {
        "forgotten": [{"id": member.id, "name": member.name} for member in gone],
        "deleted": [] if photos is None else [str(photo) for photo in photos.going],
        "kept": [] if photos is None else [str(photo) for photo in photos.staying],
        "folders": [{**asdict(one), "folder": str(one.folder)} for one in cleared],
        "notes": list(notes),
    }
    lines = [*head, *map(_cleared, cleared), *(f"Note: {note}" for note in notes)]
    console.result("\n".join(lines), value)


def _cleared(one: Cleared) -> str:
    parts = [f"{name} removed" for name in one.removed] + [f"{name} changed" for name in one.changed]
    if one.records:
        parts.append(f"{one.records} record{'' if one.records == 1 else 's'} of faces removed")
    return f"{one.folder}: {', '.join(parts) or 'it held no face data'}."


def _called(member: Member) -> str:
    return f"{member.id} ({member.name})" if member.name else member.id


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things) or 'no'} {word}{'' if len(things) == 1 else 's'}"
