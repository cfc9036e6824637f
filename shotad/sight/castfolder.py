"""The files of a cast folder beside ``cast.yaml``: face pictures, the record of discovery, the last merge,
and ``overview.html``, the page that shows everybody by their pictures.

``discovered.json`` lists the pictures that discovery put there, with their film and second, and for each
person their shots and screen time in each film. It holds no face data. By the pictures' hashes a later run
knows what the user has changed: a picture that was deleted does not come back, one that was moved shows to
whom it belongs.

``merged.json`` keeps the cast file as it was before two of its people were merged: a merge moves no picture,
so that undoing it needs nothing else.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
import urllib.parse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from filelock import Timeout
from PIL import Image as Pictures

from shotad.core import (
    Box,
    Member,
    WorkFolder,
)
from shotad.core.errors import (
    CastError,
    WorkFolderError,
    quoted,
)
from shotad.core.files import (
    append_to_file,
    inner_folder,
    lock_file,
    read_file,
    remove_file,
    write_bytes,
    write_text,
)
from shotad.core.progress import plural
from shotad.core.system import can_be_named
from shotad.core.weight_store import file_sha256
from shotad.core.workfolder import read_record, readable_json
from shotad.film.palette import page_environment
from shotad.script.cue import timecode
from shotad.sight.castfile import CastFile, names_of

DISCOVERY_FILE = "discovered.json"
USE_LIST = ".used-in"
"""File of a cast folder: the work folders made with it, one a line, so that faces there can be deleted."""
VERSION = 1
"""Of ``discovered.json``."""
_ABOUT = "Written by shotad cast discover: which pictures it put here, and who was seen in which film."


@dataclass(frozen=True, slots=True)
class Appearance:
    """One person in one film: ``id`` is the person's, ``film`` the film's fingerprint, ``name`` its file.

    ``seconds`` is about how long the face was in view, ``first`` the second of its first appearance, ``like``
    the id of a member whom the person may be.
    """

    id: str
    film: str
    name: str
    shots: int
    seconds: float
    first: float
    like: str = ""


@dataclass(frozen=True, slots=True)
class CastPicture:
    """A picture that discovery put there: of whom (``id``), its path in the folder (``file``), and the film,
    second and box from which it was cut."""

    id: str
    file: str
    sha256: str
    film: str
    second: float
    box: Box


@dataclass(frozen=True, slots=True)
class DiscoveryRecord:
    """The content of ``discovered.json``."""

    found: tuple[Appearance, ...] = ()
    pictures: tuple[CastPicture, ...] = ()

    @staticmethod
    def read(folder: Path) -> DiscoveryRecord:
        """The facts of a cast folder; empty where there is no file. Raises CastError where it is damaged."""
        path = folder / DISCOVERY_FILE
        if not path.exists():
            return DiscoveryRecord()
        try:
            record = read_record(path) or {}
            if record["version"] != VERSION:
                raise CastError(
                    f"{path} is of version {record['version']}, and this shotad reads {VERSION}.",
                    "Use the shotad that wrote it, or a newer one.",
                )
            pictures = tuple(CastPicture(**{**row, "box": Box(*row["box"])}) for row in record["pictures"])
            return DiscoveryRecord(tuple(Appearance(**row) for row in record["found"]), pictures)
        except (KeyError, TypeError, ValueError, WorkFolderError) as error:
            problem = f"{path} is damaged: {quoted(error)}."
            if isinstance(error, WorkFolderError):
                problem = error.what
            hint = "Delete it: names and pictures stay, but all pictures then count as your own."
            raise CastError(problem, hint) from None

    def write(self, folder: Path) -> None:
        """Write the facts into a cast folder, unless its file has the same. Raises WorkFolderError."""
        pictures = []
        for picture in self.pictures:
            box = picture.box
            edges = [round(edge, 6) for edge in (box.left, box.top, box.right, box.bottom)]
            pictures.append({**asdict(picture), "box": edges, "second": round(picture.second, 6)})
        rows = []
        for appearance in self.found:
            seconds, first = round(appearance.seconds, 3), round(appearance.first, 6)
            rows.append({**asdict(appearance), "seconds": seconds, "first": first})
        record = {"about": _ABOUT, "version": VERSION, "found": rows, "pictures": pictures}
        if WorkFolder(folder).read_json(DISCOVERY_FILE) != record:
            WorkFolder(folder).write_json(DISCOVERY_FILE, record)

    def of_film(self, film: str) -> tuple[CastPicture, ...]:
        """The pictures cut from the film with this fingerprint."""
        return tuple(picture for picture in self.pictures if picture.film == film)

    def like(self, person: str) -> str:
        """The id of another member whom the person with this id may be; empty where there is none."""
        for appearance in self.in_films(person):
            if appearance.like not in ("", person):
                return appearance.like
        return ""

    def in_films(self, person: str) -> tuple[Appearance, ...]:
        """The appearances of the person with this id, one for each film."""
        return tuple(appearance for appearance in self.found if appearance.id == person)


@dataclass(frozen=True)
class CastPictures:
    """The pictures that lie in a cast folder now, as its members have them.

    Compared to ``facts``, the pictures of discovery, they show what the user has moved, added and deleted.
    """

    folder: Path
    members: tuple[Member, ...]
    facts: DiscoveryRecord

    @cached_property
    def hashes(self) -> Mapping[str, tuple[str, ...]]:
        """The sha256 of each member's photos, by id. Raises CastError where one cannot be read."""
        return {member.id: tuple(map(sha256_of, member.photos)) for member in self.members}

    @cached_property
    def _holder_of_hash(self) -> Mapping[str, str]:
        """The id of the first member who has a photo with this sha256."""
        holders: dict[str, str] = {}
        for member_id, hashes in self.hashes.items():
            for sha256 in hashes:
                holders.setdefault(sha256, member_id)
        return holders

    def holder(self, picture: CastPicture) -> str | None:
        """The id of the member who has the picture now; None where it was deleted or changed."""
        if picture.sha256 in self.hashes.get(picture.id, ()):
            return picture.id
        return self._holder_of_hash.get(picture.sha256)

    def is_member(self, person: str) -> bool:
        """Whether the cast still has a member with that id."""
        return person in self.hashes

    def successor(self, person: str) -> str | None:
        """The id that an earlier id stands for now: itself, or the member with most of its pictures; None
        where nobody has any."""
        if self.is_member(person):
            return person
        holders: list[str] = []
        for picture in self.facts.pictures:
            holder = self.holder(picture) if picture.id == person else None
            if holder is not None:
                holders.append(holder)
        return max(sorted(set(holders)), key=holders.count) if holders else None

    def is_edited(self, person: str, film: str) -> bool:
        """Whether the user has added to the person's pictures, or removed one of those of the film."""
        for picture in self.facts.pictures:
            if picture.id != person and self.holder(picture) == person:
                return True
        for picture in self.facts.of_film(film):
            if picture.id == person and self.holder(picture) != person:
                return True
        discovered = {picture.sha256 for picture in self.facts.pictures}
        return not discovered.issuperset(self.hashes.get(person, ()))


def is_blank(member: Member) -> bool:
    """Whether a member has an id and photos alone: nothing has been filled in."""
    return replace(member, photos=()) == Member(member.id)


def merge_appearances(appearances: Iterable[Appearance]) -> tuple[Appearance, ...]:
    """``appearances`` with one record for each person and film, where several have become one.

    The records stay in the order of the first of each.
    """
    by_person_and_film: dict[tuple[str, str], Appearance] = {}
    for appearance in appearances:
        key = appearance.id, appearance.film
        earlier = by_person_and_film.get(key)
        if earlier is None:
            by_person_and_film[key] = appearance
        else:
            by_person_and_film[key] = replace(
                earlier,
                shots=earlier.shots + appearance.shots,
                seconds=round(earlier.seconds + appearance.seconds, 3),
                first=min(earlier.first, appearance.first),
            )
    return tuple(by_person_and_film.values())


def put_pictures(
    folder: Path, subfolder: str, stem: str, pictures: Iterable[tuple[float, bytes]]
) -> list[tuple[str, str]]:
    """Write the JPEGs of a person, given with their seconds, to a subfolder of ``folder``.

    Returns the path in ``folder`` and the sha256 of each. A file that exists with the same content is left
    alone, one with other content keeps its name. Raises WorkFolderError where they cannot be written.
    """
    written = []
    inner_folder(folder, *PurePosixPath(subfolder).parts)
    for second, jpeg in pictures:
        sha256, ms = hashlib.sha256(jpeg).hexdigest(), round(second * 1000)
        hours, minutes, seconds = ms // 3600000, ms // 60000 % 60, ms // 1000 % 60
        name = f"{subfolder}/{stem}-{hours:02d}h{minutes:02d}m{seconds:02d}s{ms % 1000:03d}"
        for suffix in ("", *(f"-{number}" for number in range(2, 1000))):
            path = folder / f"{name}{suffix}.jpg"
            if path.exists() and sha256_of(path) == sha256:
                break
            if not path.exists():
                write_bytes(path, [jpeg])
                break
        written.append((path.relative_to(folder).as_posix(), sha256))
    return written


def remove_pictures(folder: Path, pictures: Iterable[CastPicture]) -> int:
    """Delete those of ``pictures`` that are as discovery wrote them; returns their number.

    A subfolder that is left empty is deleted too.
    """
    removed = 0
    for picture in pictures:
        *parts, name = PurePosixPath(picture.file).parts
        # A record may come from elsewhere: it must not name files outside of the cast's folder.
        if ".." in parts or not all(can_be_named(part) for part in (*parts, name)):
            continue
        path = inner_folder(folder, *parts) / name
        if path.is_file() and not path.is_symlink() and sha256_of(path) == picture.sha256:
            remove_file(path)
            removed += 1
            if path.parent != folder and not any(path.parent.iterdir()):
                path.parent.rmdir()
    return removed


def free_ids(taken: Iterable[str], folder: Path) -> Iterator[str]:
    """``person-01``, ``person-02`` … without end: after the highest number in ``taken``, the ids ever given,
    and without those for which ``folder`` has a subfolder with files."""
    number = 0
    for id_ in taken:
        match = re.fullmatch(r"person-(\d+)", id_)
        if match:
            number = max(number, int(match[1]))
    while True:
        number += 1
        subfolder = folder / f"person-{number:02d}"
        if not subfolder.exists() or not any(subfolder.iterdir()):
            yield subfolder.name


def file_stem(film: str) -> str:
    """The name of a film as part of a file name: ``Ep. 2 (final).mkv → Ep-2-final``."""
    composed = unicodedata.normalize("NFC", Path(film).stem)
    return re.sub(r"[^\w]+", "-", composed).strip("-_")[:40] or "film"


def sha256_of(path: Path) -> str:
    """The hash of a file's content. Raises CastError where it cannot be read."""
    try:
        return file_sha256(path)
    except OSError as error:
        raise CastError(f"{path} cannot be read: {error.strerror}.") from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a cast folder, which is made where it is missing.

    Raises CastError where another process holds it for two minutes, and where the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = lock_file(folder / ".lock", timeout=_LOCK_TIMEOUT).acquire()
    except Timeout:
        raise CastError(f"The cast {folder} is in use by another shotad.", "Run again after it.") from None
    except OSError as error:
        raise CastError(
            f"The cast folder {folder} cannot be written: {error.strerror}.", "Name another with --cast."
        ) from None
    with lock:
        yield


def note_use(cast: Path, work: Path) -> None:
    """Write into the folder of ``cast`` that the work folder ``work`` was made with it.

    Nothing is written for a character bank (JSON), and where the folder cannot be written.
    """
    # Banks are data sets, which nobody wants changed.
    if cast.suffix.lower() == ".json":
        return
    path, line = _used_file(cast), f"{work.absolute()}\n"
    with suppress(OSError, WorkFolderError):
        text = read_file(path).decode("utf-8", "replace") if path.exists() else ""
        if line not in text.splitlines(keepends=True):
            append_to_file(path, line.encode())


def used_in(cast: Path) -> tuple[Path, ...]:
    """The work folders that were made with a cast, as `note_use` wrote them; they need not exist."""
    try:
        lines = read_file(_used_file(cast)).decode("utf-8", "replace").splitlines()
    except (OSError, WorkFolderError):
        return ()
    return tuple(Path(line) for line in dict.fromkeys(lines) if line)


def forget_use(cast: Path, works: Collection[Path]) -> None:
    """Take ``works`` off the list of `used_in`: work folders that hold nothing of the cast any more.

    Work folders that do not exist go too.
    """
    forgotten = {work.resolve() for work in works}
    remaining = [work for work in used_in(cast) if work.resolve() not in forgotten and work.exists()]
    if remaining:
        write_bytes(_used_file(cast), [f"{work}\n".encode() for work in remaining])
    else:
        remove_file(_used_file(cast))


def _used_file(cast: Path) -> Path:
    """The list of work folders of a cast, which is a folder or a file in one."""
    return (cast if cast.is_dir() else cast.parent) / USE_LIST


_LOCK_TIMEOUT = 120.0
"""Seconds in which another process is done with the files of a cast."""


UNDO_FILE = "merged.json"
_ABOUT_UNDO = "The cast file as it was before the last merge; shotad cast merge CAST --undo brings it back."


def keep_for_undo(file: CastFile) -> None:
    """Write ``merged.json`` from a file with the unsaved changes of a merge: its text as it was opened, and
    the hash of the new one."""
    record = {"about": _ABOUT_UNDO, "before": file.before, "after": _hash(file.text)}
    write_text(file.folder / UNDO_FILE, readable_json(record))


def undo_merge(file: CastFile) -> None:
    """Write the cast file as it was before the last merge.

    Raises CastError where there was none, or the file was changed since.
    """
    path = file.folder / UNDO_FILE
    record = read_record(path)
    if record is None:
        raise CastError(f"No merge of {file.path} can be undone.", f"There is no {path}.")
    if file.before is None or _hash(file.before) != record["after"]:
        raise CastError(
            f"{file.path} was changed since the merge, so that it cannot be undone as a whole.",
            f"What the file said before stands in {path}: bring back by hand what you need.",
        )
    if record["before"] is None:
        remove_file(file.path)
    else:
        write_text(file.path.resolve(), record["before"])
    remove_file(path)


def _hash(text: str) -> str:
    """The sha256 of ``text`` in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def merge(file: CastFile, person: Member, into: Member) -> Member:
    """The member ``into`` with all that ``person`` has, who is taken out of ``file``; nothing is saved yet.

    Photos are joined. What both have stays as ``into`` has it; another name becomes an alias. Raises
    CastError where both are one entry already.
    """
    if person.id == into.id:
        raise CastError(f"{quoted(person.id)} cannot be merged into itself.", "Name two people.")
    photos = dict.fromkeys([*file.photo_specs(into.id), *file.photo_specs(person.id)])
    fields = ("name", "pronoun", "descriptor", "reveals")
    values: dict[str, Any] = {field: getattr(into, field) or getattr(person, field) for field in fields}
    values["spoken"] = into.spoken or ("" if into.name else person.spoken)
    # The pronunciation of person is of use only if it is of the name that is said now.
    spoken_name = values["spoken"] or values["name"]
    person_spoken_name = person.spoken or person.name
    values["say_as"] = into.say_as or (person.say_as if spoken_name == person_spoken_name else "")
    aliases = dict.fromkeys([*into.aliases, *names_of(person)])
    for name in (values["name"], values["spoken"]):
        aliases.pop(name, None)
    values["aliases"] = tuple(aliases)
    values["nameless"] = not values["name"] and (into.nameless or person.nameless)
    # In three steps, for each must leave a valid file: no two people with one name, no more than one person
    # changed at once.
    file.update(into.id, photos=tuple(photos))
    file.remove(person.id)
    changed = {field: value for field, value in values.items() if value != getattr(into, field)}
    file.update(into.id, **changed)
    return file.member(into.id)


OVERVIEW_FILE = "overview.html"

_TEMPLATES = Path(__file__).parent / "page"
_PICTURE_HEIGHT = 160
"""CSS pixels of a picture on the page."""


def update_overview(folder: Path) -> None:
    """Write the overview of a cast folder anew after a change, if it has one. Raises CastError."""
    if (folder / OVERVIEW_FILE).exists():
        write_overview(folder, CastFile.open(folder).members, DiscoveryRecord.read(folder))


def write_overview(folder: Path, members: Sequence[Member], facts: DiscoveryRecord) -> Path:
    """Write ``overview.html`` into a cast folder, unless it is the same; returns its path.

    Raises WorkFolderError where it cannot be written.
    """
    ids = {member.id for member in members}
    cards: list[dict[str, Any]] = []
    for member in members:
        appearances = facts.in_films(member.id)
        summary = "Not seen in a film that was looked through."
        if appearances:
            seconds = sum(appearance.seconds for appearance in appearances)
            shots = plural(sum(appearance.shots for appearance in appearances), "shot")
            in_films = f" in {len(appearances)} films" if len(appearances) > 1 else ""
            summary = f"{shots}, {in_view(seconds)} in view{in_films}."
        pictures = []
        for number, path in enumerate(member.photos, 1):
            words = f"{member.name or member.id}, picture {number} of {len(member.photos)}"
            pictures.append(_picture(path, folder, words))
        like = "" if member.name else facts.like(member.id)
        cards.append(
            {
                "member": member,
                "called": f"{member.name} ({member.id})" if member.name else member.id,
                "summary": summary,
                "found": appearances,
                "pictures": pictures,
                "like": like if like in ids else "",
            }
        )
    films = sorted({(appearance.name, appearance.film) for appearance in facts.found})
    # The cast in one sentence: "4 people, seen in ep1.mp4; 3 of them have no name yet."
    unnamed = [card for card in cards if not card["member"].name and not card["member"].nameless]
    lead = "There is nobody in this cast yet."
    if members:
        seen_in = f", seen in {', '.join(name for name, _ in films)}" if films else ""
        have = "has" if len(unnamed) == 1 else "have"
        naming = f"{len(unnamed)} of them {have} no name yet" if unnamed else "all named"
        lead = f"{plural(len(members), 'person', 'people')}{seen_in}; {naming}."
    environment = page_environment(
        _TEMPLATES, time=lambda second: timecode(second)[:8], in_view=in_view, plural=plural
    )
    name = folder.name or str(folder)
    page = environment.get_template("page.html.j2").render(
        cards=cards,
        title=folder.resolve().name,
        # As it is typed in a command line
        folder=f'"{name}"' if any(c in " '&()" for c in name) else name,
        lead=lead,
        films=films,
        unnamed=unnamed,
        pictures=sum(len(member.photos) for member in members),
    )  # fmt: skip
    path = folder / OVERVIEW_FILE
    # Where nothing changed, the file keeps its date.
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != page:
        write_text(path, page)
    return path


def _picture(path: Path, folder: Path, words: str) -> dict[str, Any]:
    """A picture for the page's template: its address relative to ``folder``, its alternative text ``words``,
    and its size in CSS pixels."""
    try:
        with Pictures.open(path) as opened:
            width, height = opened.size
    except OSError:
        width, height = 1, 1  # a square for a picture that cannot be read
    relative = os.path.relpath(path.absolute(), folder.absolute())
    return {
        "address": urllib.parse.quote(Path(relative).as_posix()),
        "words": words,
        "width": round(width * _PICTURE_HEIGHT / height),
        "height": _PICTURE_HEIGHT,
    }


def in_view(seconds: float) -> str:
    """``seconds`` for people: ``3.4 → 3 s``, ``83.5 → 1 min 24 s``."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
