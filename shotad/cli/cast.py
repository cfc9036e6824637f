"""``shotad cast …``: the people of a film, found, named and forgotten."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.lazy import LazyGroup
from shotad.cli.options import (
    PATH,
    Console,
    SectionedCommand,
    confirm,
    console_options,
    film_options,
    open_work,
    settings,
)
from shotad.core.errors import CastError, UsageError
from shotad.core.files import remove_file
from shotad.core.progress import plural
from shotad.core.system import quoted
from shotad.script.cue import timecode

if TYPE_CHECKING:
    from shotad.core import Member
    from shotad.core.cast import Reveal
    from shotad.description import Discovery
    from shotad.description.cast_removal import RemovedFaces
    from shotad.sight import CastFile

_COMMANDS = {
    "discover": ("shotad.cli.cast:discover_command", "Find the people of a film by their faces."),
    "forget": ("shotad.cli.cast:forget_command", "Delete a person's photos and face data."),
    "merge": ("shotad.cli.cast:merge", "Merge two entries that are one person."),
    "name": ("shotad.cli.cast:name_command", "Name a person of a cast."),
    "show": ("shotad.cli.cast:show", "List the people of a cast, and what is wrong with it."),
}


@click.group(name="cast", cls=LazyGroup, table=_COMMANDS)
def command() -> None:
    """Find, name and forget the people of a film.

    A cast is a folder with cast.yaml and photos of faces. Make one with shotad cast discover, name the
    people with shotad cast name, and use their names with shotad describe --cast.
    """


@click.command(name="show")
@click.argument("path", metavar="CAST", type=PATH)
@click.option("--cast-photos", type=PATH, help="Pictures of a character bank (JSON).")
@click.option("--cast-key", metavar="KEY", default="", help="The film's key in a character bank.")
@console_options
def show(console: Console, path: Path, cast_photos: Path | None, cast_key: str) -> None:
    """List the people of a cast, one per line, and what is wrong with it.

    CAST is a cast folder, a cast.yaml, a folder of photos, or a character bank. Other commands take the
    numbers and ids that it prints. For a mistake in the file it prints the line.
    """
    from shotad.sight import load_cast

    cast = load_cast(path, key=cast_key, photos=cast_photos)
    lines = [f"{cast.source}: {len(cast)} {'person' if len(cast) == 1 else 'people'}."]
    lines += [person_line(number, member) for number, member in enumerate(cast, 1)]
    lines += [f"Note: {warning}" for warning in cast.warnings]
    people = [person_row(number, member) for number, member in enumerate(cast, 1)]
    value = {"source": str(cast.source), "people": people, "warnings": list(cast.warnings)}
    console.result("\n".join(lines), value)


@click.command(name="name")
@click.argument("path", metavar="CAST", type=PATH)
@click.argument("person", metavar="PERSON")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--speak", "spoken", metavar="TEXT", help="Name that AD uses, if not the whole one.")
@click.option("--say-as", metavar="TEXT", help="Pronunciation of that name, such as Sin-TELL.")
@click.option("--alias", "aliases", metavar="TEXT", multiple=True, help="Another name; repeatable.")
@click.option("--pronoun", type=click.Choice(["she", "he", "they", "it"]), help="Pronoun that AD uses.")
@click.option("--descriptor", metavar="TEXT", help="Used instead of the name: the woman in red.")
@click.option(
    "--reveal-at",
    metavar="TIME|FILM=TIME",
    multiple=True,
    help="Do not use the name before: 00:12:30, or never; repeatable per film.",
)
@click.option("--nameless", is_flag=True, help="An extra, who needs no name.")
@console_options
def name_command(
    console: Console, path: Path, person: str, name: str | None, nameless: bool, **options: Any
) -> None:
    """Name a person of a cast.

    PERSON is an id or a number from shotad cast show. Texts replace what was there (an empty one clears it);
    --alias adds a name. Comments and everything else in cast.yaml stay.
    """
    from shotad.core.cast import Reveal
    from shotad.sight.cast_entries import film_name, seconds_of
    from shotad.sight.castfile import conflicting_name, find_member

    if nameless and name:
        raise UsageError(f"--nameless and the name {name!r} exclude each other.", "Give one of them.")
    file = cast_file(path)
    member = find_member(file.members, person)
    given_values = {
        "name": name,
        **{key: options[key] for key in ("spoken", "say_as", "pronoun", "descriptor")},
    }
    values: dict[str, Any] = {key: text for key, text in given_values.items() if text is not None}
    if options["aliases"]:
        values["aliases"] = tuple(dict.fromkeys([*member.aliases, *options["aliases"]]))
    reveals: dict[str, Reveal] = {}
    for text in options["reveal_at"]:
        film, sign, time = text.rpartition("=")
        try:
            reveals[film] = Reveal(seconds_of(time), film_name(film) if sign else "")
        except ValueError:
            hint = "Write 00:12:30, 12:30, seconds, or never; for one film FILM=00:12:30."
            raise UsageError(f"--reveal-at {text!r} is no time.", hint) from None
    if reveals:
        values["reveals"] = tuple(reveals.values())
    if nameless or (name and member.nameless):
        values["nameless"] = nameless
    if not values:
        raise UsageError(f"There is nothing to say of {member.id}.", "Give a name, or --nameless.")
    names = [name or "", options["spoken"] or "", *options["aliases"]]
    if (clash := conflicting_name(file.members, member, names)) is not None:
        # That is one person, or a mistake.
        other, taken = clash
        merging = f"If they are one person: shotad cast merge {path} {member.id} {other.id}."
        hint = f"{merging} Else give one of them a different name."
        raise CastError(f"{other.id} is called {taken!r} already.", hint)
    file.update(member.id, **values)
    save_cast(file, path)
    number = [member_of_cast.id for member_of_cast in file.members].index(member.id) + 1
    now = file.member(member.id)
    console.result(person_line(number, now), person_row(number, now))


@click.command(name="merge")
@click.argument("path", metavar="CAST", type=PATH)
@click.argument("person", metavar="[PERSON]", required=False)
@click.argument("into", metavar="[INTO]", required=False)
@click.option("--undo", is_flag=True, help="Undo the last merge.")
@click.option("--yes", is_flag=True, help="Do not ask, even if both have names.")
@console_options
def merge(console: Console, path: Path, person: str | None, into: str | None, undo: bool, yes: bool) -> None:
    """Merge two entries that are one person: PERSON's photos and names go to INTO.

    Both are ids, names, or numbers from shotad cast show. Where both have a value, INTO's stays. No file
    moves. If both have names, it asks first.
    """
    from shotad.sight import merge
    from shotad.sight.castfile import find_member
    from shotad.sight.castfolder import keep_for_undo, undo_merge as take_back

    if undo == bool(person or into) or bool(person) != bool(into):
        raise UsageError("There is nobody to merge.", "Name two people, or give --undo.")
    file = cast_file(path)
    if undo:
        take_back(file)
        renew(path)
        console.result(f"The last merge of {file.path} is undone.", {"undone": str(file.path)})
        return
    absorbed, remaining = find_member(file.members, person or ""), find_member(file.members, into or "")
    merge(file, absorbed, remaining)
    if absorbed.name and remaining.name and not yes:
        both = f"{absorbed.id} is called {absorbed.name}, and {remaining.id} is called {remaining.name}."
        hint = "If they are one person: add --yes."
        confirm("Are they one person?", "Nothing was merged", hint, plan=both)
    keep_for_undo(file)
    save_cast(file, path)
    number = [member.id for member in file.members].index(remaining.id) + 1
    now = file.member(remaining.id)
    console.result(person_line(number, now), person_row(number, now))


def cast_file(path: Path) -> CastFile:
    """The cast file of a cast folder that is there. Raises CastError."""
    from shotad.sight import CastFile

    if path.suffix.lower() == ".json":
        raise CastError(f"{path} is a character bank, which is only read.", "Change it by hand.")
    if not path.exists():
        raise CastError(f"There is no cast {path}.", "Make one with shotad cast discover.")
    return CastFile.open(path)


def save_cast(file: CastFile, path: Path) -> None:
    """Write the cast file, and again the overview of what was found, where there is one."""
    file.save()
    renew(path)


def renew(path: Path) -> None:
    """Write again the overview of what was found in a cast, where there is one."""
    from shotad.sight.castfolder import update_overview

    update_overview(path if path.is_dir() else path.parent)


def person_line(number: int, member: Member) -> str:
    """One person in words: number, id, name, and what else is known."""
    from shotad.sight.cast_entries import time_text

    named = member.name or "no name yet"
    parts = [f"extra, never named ({member.name})" if member.name else "extra, never named"]
    if not member.nameless:
        parts = [f"{named}, AD says {member.spoken}" if member.spoken else named]
    if member.say_as:
        parts.append(f"Said as {member.say_as}")
    if member.aliases:
        parts.append(f"Also {', '.join(member.aliases)}")
    if member.pronoun:
        parts.append(f"Pronoun {member.pronoun}")
    parts.append({0: "No photos", 1: "1 photo"}.get(len(member.photos), f"{len(member.photos)} photos"))
    for reveal in member.reveals:
        film = f" in {reveal.film}" if reveal.film else ""
        when = "Never named" if math.isinf(reveal.seconds) else f"Named from {time_text(reveal.seconds)}"
        parts.append(f"{when}{film}")
    if member.descriptor:
        parts.append(f"Without the name: {member.descriptor.rstrip('.')}")
    return f"{number}. {member.id}: " + " ".join(f"{part}." for part in parts)


def person_row(number: int, member: Member) -> dict[str, Any]:
    """The same for programs; a reveal at ``null`` seconds never comes."""
    reveals = [
        {"film": r.film or None, "seconds": None if math.isinf(r.seconds) else r.seconds}
        for r in member.reveals
    ]
    return {
        "number": number,
        "id": member.id,
        "name": member.name,
        "says": member.says,
        "say_as": member.say_as,
        "aliases": list(member.aliases),
        "pronoun": member.pronoun,
        "descriptor": member.descriptor,
        "reveal_at": reveals,
        "photos": [str(photo) for photo in member.photos],
        "nameless": member.nameless,
    }


@click.command(name="discover", cls=SectionedCommand)
@film_options
@click.option("--cast", "cast_folder", type=PATH, metavar="DIR", help="Cast folder (default: FILM.cast).")
@click.option("--from", "start", metavar="T", help="Look from this time: 90, 1:30 or 0:01:30.")
@click.option("--to", "end", metavar="T", help="Look up to this time.")
@click.option("--shots", type=PATH, help="Use these shots: CSV, JSON, EDL, a scene list of PySceneDetect.")
@click.option("--force", is_flag=True, help="Look at the film again.")
@console_options
def discover_command(console: Console, cast_folder: Path | None, **options: Any) -> None:
    """Find the people of FILM by their faces, and make a cast folder.

    The folder holds a few pictures of each person, cast.yaml for their names, and overview.html to look at.
    Run it again, or on the next episode with the same --cast: it finds known people again, adds new ones,
    and keeps the names and everything else that you changed.
    """
    from shotad.description import RunContext, discover
    from shotad.sight import get_face_models

    config = settings(options)
    place = cast_folder or cast_folder_of(options["film"])
    with open_work(options, config) as (film, folder, inputs):
        get_face_models(config.cast, console)
        discovery = discover(RunContext.of(film, folder, config, inputs, console), place)
    more = {"--frame-rate": options["frame_rate"], "--out": options["out"]}
    console.result(discovery_text(discovery, options["film"], more), discovery_json(discovery))


def cast_folder_of(film: Path) -> Path:
    """The folder beside the film: ``movie.mp4 → movie.cast``."""
    return film.with_name((film.stem if film.suffix and not film.is_dir() else film.name) + ".cast")


def discovery_text(discovery: Discovery, film: Path, options: Mapping[str, object]) -> str:
    """What a run found and what to do next, in words; ``options`` are those that describe needs too."""
    left = [
        (discovery.brief, "seen too briefly"),
        (discovery.unclear, "without a clear picture"),
        (discovery.dismissed, "removed by you before"),
    ]
    notes = [f"{number} {words}" for number, words in left if number]
    notes = [f"Left out: {'; '.join(notes)}."] if notes else []
    if discovery.gone:
        gone = ", ".join(discovery.gone)
        notes.append(f"Removed, because they are no longer one person in this film: {gone}.")
    if not discovery.people:
        nobody = f"Faces were found in {discovery.film}, but none long or clear enough to recognise."
        if not discovery.faces:
            nobody = f"No faces were found in {discovery.film}, so there is nobody to name."
        return "\n".join([nobody, *notes])
    width = max(len(person.id) for person in discovery.people)
    lines = [f"{'person':<{width}}  {'shots':>5}  {'in view':>8}  {'first at':>8}  pictures"]
    for person in discovery.people:
        figures = (
            f"{person.found.shots:>5}  {person.found.seconds:>6.1f} s  {timecode(person.found.first)[:8]:>8}"
        )
        counts = [f"{person.added} new"] if person.added or person.way == "new" else []
        counts += [f"{person.removed} removed"] if person.removed and person.way != "new" else []
        pictures = "left as you changed them" if person.way == "leave" else ", ".join(counts) or "as before"
        like = f"looks like {person.found.like}" if person.found.like else ""
        more = "".join(f"; {words}" for words in (person.name, like) if words)
        lines.append(f"{person.id:<{width}}  {figures}  {pictures}{more}")
    new = sum(person.way == "new" for person in discovery.people)
    counted = (
        f"{len(discovery.people) - new} known before, {new} new" if len(discovery.people) > new else f"{new}"
    )
    lines += [f"People in {discovery.film}: {counted}.", *notes]
    lines.append(f"The pictures are in {discovery.folder}; look at {discovery.folder / 'overview.html'}.")
    folder, word = quoted([str(discovery.folder)]), "Next"
    if unnamed := next((person.id for person in discovery.people if not person.name), None):
        lines.append(f'Next: shotad cast name {folder} {unnamed} "NAME"')
        word = "Then"
    describing = f"shotad describe {quoted([str(film)])} --cast {folder}"
    describing += "".join(f" {key} {quoted([str(value)])}" for key, value in options.items() if value)
    return "\n".join([*lines, f"{word}: {describing}"])


def discovery_json(discovery: Discovery) -> dict[str, Any]:
    """What a run found, for programs."""
    people = [
        {
            "id": person.id,
            "name": person.name,
            "pictures": person.way,
            "added": person.added,
            "removed": person.removed,
            "like": person.found.like,
            "shots": person.found.shots,
            "seconds": person.found.seconds,
            "first": person.found.first,
        }
        for person in discovery.people
    ]
    left_out = {"brief": discovery.brief, "unclear": discovery.unclear, "dismissed": discovery.dismissed}
    return {
        "cast": str(discovery.folder),
        "film": discovery.film,
        "faces": discovery.faces,
        "people": people,
        "gone": list(discovery.gone),
        "left_out": left_out,
    }


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
def forget_command(
    console: Console, path: Path, person: str | None, everybody: bool, runs: tuple[Path, ...], yes: bool
) -> None:
    """Delete a person's photos, entry and face data.

    PERSON is an id, a name, or a number from shotad cast show. It deletes only photos inside the cast
    folder, and lists others. In work folders, --all deletes all face data; for one person it deletes the
    shots in which they, or somebody a little like them, were seen. Lines that say the name stay: edit them
    yourself. It never changes a character bank.
    """
    from shotad.description.cast_removal import (
        clear_all,
        clear_person,
        delete_photos,
        photos_to_forget,
        run_folder,
    )
    from shotad.sight.castfile import find_member
    from shotad.sight.castfolder import (
        DISCOVERY_FILE,
        OVERVIEW_FILE,
        UNDO_FILE,
        forget_use,
        locked,
        update_overview,
    )
    from shotad.sight.gallery import photo_key

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
    gone = list(members) if everybody else [find_member(members, person or "")]
    going, staying = photos_to_forget(gone, [m for m in members if m not in gone], file.folder)
    people = f"everybody ({len(gone)})" if everybody else _called(gone[0])
    also = f", and the face data in {', '.join(map(str, folders))}" if folders else ""
    ask(f"To forget {people}: {_count(going, 'photo')} and the entry will be deleted{also}.")
    keys = {photo_key(photo) for member in gone for photo in member.photos}
    with locked(file.folder):
        cleared = [
            clear_all(folder) if everybody else clear_person(folder, gone[0], keys) for folder in folders
        ]
        delete_photos(going, file.folder)
        if file.exists:  # a folder of photos alone has no entries
            for member in reversed(gone):
                file.remove(member.id)
            file.save()
        # Of one person discovery keeps the moments at which they were seen, so as not to bring them back.
        for name in (UNDO_FILE, OVERVIEW_FILE, DISCOVERY_FILE) if everybody else (UNDO_FILE,):
            remove_file(file.folder / name)
        if not everybody:
            update_overview(file.folder)
        forget_use(file.folder, folders if everybody else ())
    head = [f"Forgotten: {', '.join(map(_called, gone)) or 'nobody'}."]
    head.append(f"{_count(going, 'photo')} deleted.")
    notes = _notes(file, gone, staying, folders, everybody)
    _tell(console, cleared, notes, head, gone, going, staying)


def _notes(
    file: CastFile, gone: Sequence[Member], staying: Sequence[Path], folders: Sequence[Path], everybody: bool
) -> list[str]:
    """What stays, plainly."""
    from shotad.description.cast_removal import folders_still_naming, folders_with_faces
    from shotad.sight.castfile import CAST_FILE_HEADER

    notes = [f"Not deleted (outside the cast folder, or another person's too): {photo}" for photo in staying]
    # Names that are still in the file, in comments or others' entries
    lines = list(enumerate(file.text.splitlines(), 1)) if file.exists else []
    for name in sorted({member.name for member in gone if member.name}):
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for number, line in lines:
            if line not in CAST_FILE_HEADER.splitlines() and word.search(line):
                notes.append(f"The name {name} is still in {file.path}, line {number}.")
    named_folders = {folder.resolve() for folder in folders}
    others = [str(run) for run in folders_with_faces(file.folder) if run.resolve() not in named_folders]
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
        if (files := folders_still_naming(folder, member))
    ]
    if folders and not everybody:
        notes.append("Face data too unclear to tell from strangers' may stay; --all deletes it too.")
    return notes


def _tell(
    console: Console,
    cleared: Sequence[RemovedFaces],
    notes: Sequence[str],
    head: Sequence[str] = (),
    gone: Sequence[Member] = (),
    going: Sequence[Path] = (),
    staying: Sequence[Path] = (),
) -> None:
    """Say what was forgotten, in lines and for programs."""
    value = {
        "forgotten": [{"id": member.id, "name": member.name} for member in gone],
        "deleted": [str(photo) for photo in going],
        "kept": [str(photo) for photo in staying],
        "folders": [
            {**asdict(folder_cleared), "folder": str(folder_cleared.folder)} for folder_cleared in cleared
        ],
        "notes": list(notes),
    }
    lines = list(head)
    for folder_cleared in cleared:
        parts = [f"{name} removed" for name in folder_cleared.removed] + [
            f"{name} changed" for name in folder_cleared.changed
        ]
        if folder_cleared.records:
            parts.append(f"{plural(folder_cleared.records, 'record')} of faces removed")
        lines.append(f"{folder_cleared.folder}: {', '.join(parts) or 'it held no face data'}.")
    lines += [f"Note: {note}" for note in notes]
    console.result("\n".join(lines), value)


def _called(member: Member) -> str:
    return f"{member.id} ({member.name})" if member.name else member.id


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things) or 'no'} {word}{'' if len(things) == 1 else 's'}"
