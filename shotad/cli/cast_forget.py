"""``shotad cast forget CAST PERSON|--all``."""

from __future__ import annotations

import re
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
    console: Console, path: Path, person: str | None, everybody: bool, runs: tuple[Path, ...], yes: bool
) -> None:
    """Delete a person's photos, entry and face data.

    PERSON is an id, a name, or a number from shotad cast show. It deletes only photos inside the cast
    folder, and lists others. In work folders, --all deletes all face data; for one person it deletes the
    shots in which they, or somebody a little like them, were seen. Lines that say the name stay: edit them
    yourself. It never changes a character bank.
    """
    from shotad.description import clear_all, clear_person, delete_photos, photos_to_forget, run_folder
    from shotad.sight import FACTS, PAGE, UNDO, chosen, forget_use, held, renew_overview

    def ask(plan: str) -> None:
        if not yes:
            confirm("This cannot be undone. Go on?", "Nothing was deleted", "Add --yes.", plan=plan)

    if everybody == bool(person):
        raise UsageError("There is nobody to forget.", "Give an id or a name, or --all for everybody.")
    folders = [run_folder(run) for run in runs]
    if path.suffix.lower() == ".json" and path.is_file():
        # Of a character bank, which is only read, what work folders know of faces
        if not everybody or not folders:
            raise UsageError(
                f"{path} is a character bank, which is only read.",
                "To delete the face data of a work folder: --all --film-folder WORKFOLDER.",
            )
        ask(f"The face data in {', '.join(map(str, folders))} will be deleted.")
        notes = [f"The bank and its pictures are unchanged: {path}."]
        _tell(console, [clear_all(folder) for folder in folders], notes)
        return
    file = cast_file(path)
    members = file.members
    gone = list(members) if everybody else [chosen(members, person or "")]
    photos = photos_to_forget(gone, [m for m in members if m not in gone], file.folder)
    who = f"everybody ({len(gone)})" if everybody else _called(gone[0])
    also = f", and the face data in {', '.join(map(str, folders))}" if folders else ""
    ask(f"To forget {who}: {_count(photos.going, 'photo')} and the entry will be deleted{also}.")
    with held(file.folder):
        cleared = [
            clear_all(folder) if everybody else clear_person(folder, gone[0], photos.keys)
            for folder in folders
        ]
        delete_photos(photos.going, file.folder)
        if file.exists:  # a folder of photos alone has no entries
            for member in reversed(gone):
                file.remove(member.id)
            file.save()
        # Of one person discovery keeps the moments at which they were seen, so as not to bring them back.
        for name in (UNDO, PAGE, FACTS) if everybody else (UNDO,):
            (file.folder / name).unlink(missing_ok=True)
        if not everybody:
            renew_overview(file.folder)
        forget_use(file.folder, folders if everybody else ())
    head = [f"Forgotten: {', '.join(map(_called, gone)) or 'nobody'}."]
    head.append(f"{_count(photos.going, 'photo')} deleted.")
    notes = _notes(file, gone, photos, folders, everybody)
    _tell(console, cleared, notes, head, gone, photos)


def _notes(
    file: CastFile, gone: Sequence[Member], photos: Photos, folders: Sequence[Path], everybody: bool
) -> list[str]:
    """What stays, plainly."""
    from shotad.description import folders_with_faces, still_named
    from shotad.sight import HEAD

    notes = [f"Not deleted (outside the cast folder, or another person's too): {photo}"
             for photo in photos.staying]  # fmt: skip
    # Names that are still in the file, in comments or others' entries
    lines = list(enumerate(file.text.splitlines(), 1)) if file.exists else []
    for name in sorted({member.name for member in gone if member.name}):
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for number, line in lines:
            if line not in HEAD.splitlines() and word.search(line):
                notes.append(f"The name {name} is still in {file.path}, line {number}.")
    known = {folder.resolve() for folder in folders}
    others = [str(run) for run in folders_with_faces(file.folder) if run.resolve() not in known]
    if others:
        some = ", ".join(others)
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
    lines = list(head)
    for one in cleared:
        parts = [f"{name} removed" for name in one.removed] + [f"{name} changed" for name in one.changed]
        if one.records:
            parts.append(f"{one.records} record{'' if one.records == 1 else 's'} of faces removed")
        lines.append(f"{one.folder}: {', '.join(parts) or 'it held no face data'}.")
    lines += [f"Note: {note}" for note in notes]
    console.result("\n".join(lines), value)


def _called(member: Member) -> str:
    return f"{member.id} ({member.name})" if member.name else member.id


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things) or 'no'} {word}{'' if len(things) == 1 else 's'}"
