"""What stands in a cast folder beside ``cast.yaml``: face pictures, facts of each film, the last merge, and
``overview.html``, the page that shows everybody by their pictures.

``discovered.json`` says which pictures discovery put there, from which moment of which film, and of each
person what was seen of them in each film. It holds no face data. By the pictures' hashes a later run tells
what a person has changed: a picture that was deleted does not come back, one that was moved says whose it is.

``merged.json`` keeps what the cast file said before two of its people were merged: a merge moves no picture,
so that is all that undoing it needs.
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
    CastError,
    Member,
    WorkFolder,
    WorkFolderError,
    append,
    file_sha256,
    inner_folder,
    lock_file,
    plural,
    quoted,
    read_file,
    read_record,
    readable_json,
    write_bytes,
    write_text,
)
from shotad.film import page_environment
from shotad.script import timecode
from shotad.sight.castfile import CastFile, names_of

FACTS = "discovered.json"
USED = ".used-in"
"""File of a cast folder: the work folders made with it, one a line, so that faces kept there are found."""
VERSION = 1
_ABOUT = "Written by shotad cast discover: which pictures it put here, and who was seen in which film."


@dataclass(frozen=True, slots=True)
class Found:
    """What was seen of somebody in one film; ``film`` is its fingerprint, ``first`` the second of the first
    look, ``seconds`` how long the face was in view, about, ``like`` the id of somebody they may be."""

    id: str
    film: str
    name: str
    shots: int
    seconds: float
    first: float
    like: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that discovery put there: whose (``id``), its name in the folder, what it was cut from."""

    id: str
    file: str
    sha256: str
    film: str
    second: float
    box: Box


@dataclass(frozen=True, slots=True)
class Facts:
    """The content of ``discovered.json``."""

    found: tuple[Found, ...] = ()
    pictures: tuple[Picture, ...] = ()

    @staticmethod
    def read(folder: Path) -> Facts:
        """The facts of a cast folder; none where there is no file. Raises CastError where it is damaged."""
        path = folder / FACTS
        if not path.exists():
            return Facts()
        try:
            value = read_record(path) or {}
            if value["version"] != VERSION:
                raise CastError(
                    f"{path} is of version {value['version']}, and this shotad reads {VERSION}.",
                    "Use the shotad that wrote it, or a newer one.",
                )
            pictures = tuple(Picture(**{**row, "box": Box(*row["box"])}) for row in value["pictures"])
            return Facts(tuple(Found(**row) for row in value["found"]), pictures)
        except (KeyError, TypeError, ValueError, WorkFolderError) as error:
            what = (
                error.what if isinstance(error, WorkFolderError) else f"{path} is damaged: {quoted(error)}."
            )
            raise CastError(
                what,
                "Delete it: names and pictures stay, but all pictures then count as your own.",
            ) from None

    def write(self, folder: Path) -> None:
        """Replace the file, where it changes."""
        rows = []
        for p in self.pictures:
            edges = [round(edge, 6) for edge in (p.box.left, p.box.top, p.box.right, p.box.bottom)]
            rows.append({**asdict(p), "box": edges, "second": round(p.second, 6)})
        found = [
            {**asdict(f), "seconds": round(f.seconds, 3), "first": round(f.first, 6)} for f in self.found
        ]
        value = {"about": _ABOUT, "version": VERSION, "found": found, "pictures": rows}
        if WorkFolder(folder).read_json(FACTS) != value:
            WorkFolder(folder).write_json(FACTS, value)

    def of_film(self, film: str) -> tuple[Picture, ...]:
        """The pictures cut from one film."""
        return tuple(picture for picture in self.pictures if picture.film == film)

    def like(self, person: str) -> str:
        """The id of somebody a person may be; empty where there is nobody."""
        return next((one.like for one in self.in_films(person) if one.like not in ("", person)), "")

    def in_films(self, person: str) -> tuple[Found, ...]:
        """What was seen of somebody, film by film."""
        return tuple(found for found in self.found if found.id == person)


@dataclass(frozen=True)
class Holdings:
    """The pictures that lie in a cast folder now, as its members have them."""

    folder: Path
    members: tuple[Member, ...]
    facts: Facts

    @cached_property
    def hashes(self) -> Mapping[str, tuple[str, ...]]:
        """The sha256 of each member's photos, by id."""
        return {m.id: tuple(sha256_of(path) for path in m.photos) for m in self.members}

    @cached_property
    def _holder(self) -> Mapping[str, str]:
        return {sha: name for name, hashes in reversed(tuple(self.hashes.items())) for sha in hashes}

    def holder(self, picture: Picture) -> str | None:
        """The id of whoever has the picture now; None where it was deleted or changed."""
        if picture.sha256 in self.hashes.get(picture.id, ()):
            return picture.id
        return self._holder.get(picture.sha256)

    def is_member(self, person: str) -> bool:
        """Whether there is still somebody with that id."""
        return person in self.hashes

    def successor(self, person: str) -> str | None:
        """Who stands for an id of earlier: the same, or whoever has most of their pictures now."""
        if self.is_member(person):
            return person
        holders = [self.holder(p) for p in self.facts.pictures if p.id == person]
        kept = [holder for holder in holders if holder is not None]
        return max(sorted(set(kept)), key=kept.count) if kept else None

    def is_edited(self, person: str, film: str) -> bool:
        """Whether somebody has added to the person's pictures, or taken away of those of the film."""
        given = any(self.holder(p) == person != p.id for p in self.facts.pictures)
        taken = any(p.id == person and self.holder(p) != person for p in self.facts.of_film(film))
        ours = {picture.sha256 for picture in self.facts.pictures}
        return given or taken or not ours.issuperset(self.hashes.get(person, ()))


def is_blank(member: Member) -> bool:
    """Whether nothing has been filled in."""
    return replace(member, photos=()) == Member(member.id)


def joined(found: Iterable[Found]) -> tuple[Found, ...]:
    """One record for each person and film, where several have become one; the order of the first stays."""
    whole: dict[tuple[str, str], Found] = {}
    for one in found:
        other = whole.get((one.id, one.film))
        if other is not None:
            one = replace(  # noqa: PLW2901
                other,
                shots=other.shots + one.shots,
                seconds=round(other.seconds + one.seconds, 3),
                first=min(other.first, one.first),
            )
        whole[one.id, one.film] = one
    return tuple(whole.values())


def put_pictures(
    folder: Path, place: str, stem: str, pictures: Iterable[tuple[float, bytes]]
) -> list[tuple[str, str]]:
    """Write the JPEGs of a person, given with their seconds, to the subfolder ``place``.

    Returns the name in ``folder`` and the sha256 of each. A file that is there with the same content is left
    alone, one with other content keeps its name.
    """
    put = []
    inner_folder(folder, *PurePosixPath(place).parts)
    for second, jpeg in pictures:
        sha, ms = hashlib.sha256(jpeg).hexdigest(), round(second * 1000)
        hours, minutes, seconds = ms // 3600000, ms // 60000 % 60, ms // 1000 % 60
        name = f"{place}/{stem}-{hours:02d}h{minutes:02d}m{seconds:02d}s{ms % 1000:03d}"
        for ending in ("", *(f"-{n}" for n in range(2, 1000))):
            path = folder / f"{name}{ending}.jpg"
            if path.exists() and sha256_of(path) == sha:
                break
            if not path.exists():
                write_bytes(path, [jpeg])
                break
        put.append((path.relative_to(folder).as_posix(), sha))
    return put


def remove_pictures(folder: Path, pictures: Iterable[Picture]) -> int:
    """Delete those that are as they were written; how many they were. A folder left empty goes too."""
    removed = 0
    for picture in pictures:
        *parts, name = PurePosixPath(picture.file).parts
        if ".." in parts or PurePosixPath(picture.file).is_absolute():
            continue  # pictures of ours lie in the cast's folder
        path = inner_folder(folder, *parts) / name
        if path.is_file() and not path.is_symlink() and sha256_of(path) == picture.sha256:
            path.unlink()
            removed += 1
            if path.parent != folder and not any(path.parent.iterdir()):
                path.parent.rmdir()
    return removed


def free_ids(taken: Iterable[str], folder: Path) -> Iterator[str]:
    """``person-01``, ``person-02`` …: after the highest number ever given, and where no files lie."""
    numbers = [int(match[1]) for name in taken if (match := re.fullmatch(r"person-(\d+)", name))]
    number = max(numbers, default=0)
    while True:
        number += 1
        place = folder / f"person-{number:02d}"
        if not place.exists() or not any(place.iterdir()):
            yield place.name


def stem_of(film: str) -> str:
    """The name of a film as part of a file name: ``Ep. 2 (final).mkv → Ep-2-final``."""
    plain = unicodedata.normalize("NFC", Path(film).stem)
    return re.sub(r"[^\w]+", "-", plain).strip("-_")[:40] or "film"


def sha256_of(path: Path) -> str:
    """The hash of a file's content. Raises CastError where it cannot be read."""
    try:
        return file_sha256(path)
    except OSError as error:
        raise CastError(f"{path} cannot be read: {error.strerror}.") from None


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """The cast folder for one process at a time; it is made where it is missing. Raises CastError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = lock_file(folder / ".lock", timeout=_PATIENCE).acquire()
    except Timeout:
        raise CastError(f"The cast {folder} is in use by another shotad.", "Run again after it.") from None
    except OSError as error:
        raise CastError(
            f"The cast folder {folder} cannot be written: {error.strerror}.", "Name another with --cast."
        ) from None
    with lock:
        yield


def note_use(cast: Path, work: Path) -> None:
    """Write into the cast's folder that ``work`` is a work folder made with it. Of a bank, which is only
    read, and in a folder that cannot be written, nothing is noted."""
    if cast.suffix.lower() == ".json":
        return
    place, line = _used_file(cast), f"{work.absolute()}\n"
    with suppress(OSError, WorkFolderError):
        known = read_file(place).decode("utf-8", "replace") if place.exists() else ""
        if line not in known.splitlines(keepends=True):
            append(place, line.encode())


def used_in(cast: Path) -> tuple[Path, ...]:
    """The work folders that were made with a cast, as `note_use` wrote them; there or not."""
    try:
        lines = read_file(_used_file(cast)).decode("utf-8", "replace").splitlines()
    except (OSError, WorkFolderError):
        return ()
    return tuple(Path(line) for line in dict.fromkeys(lines) if line)


def forget_use(cast: Path, works: Collection[Path]) -> None:
    """Leave out ``works``, which hold nothing of the cast any more."""
    gone = {work.resolve() for work in works}
    left = [work for work in used_in(cast) if work.resolve() not in gone and work.exists()]
    if left:
        write_bytes(_used_file(cast), [f"{work}\n".encode() for work in left])
    else:
        _used_file(cast).unlink(missing_ok=True)


def _used_file(cast: Path) -> Path:
    return (cast if cast.is_dir() else cast.parent) / USED


_PATIENCE = 120.0
"""Seconds in which another film's discovery is through with the same cast."""


UNDO = "merged.json"
_ABOUT_UNDO = "The cast file as it was before the last merge; shotad cast merge CAST --undo brings it back."


def keep_for_undo(file: CastFile) -> None:
    """Write down what the file said when it was opened, before changes of a merge are saved."""
    note = {"about": _ABOUT_UNDO, "before": file.before, "after": _hash(file.text)}
    write_text(file.folder / UNDO, readable_json(note))


def undo(file: CastFile) -> None:
    """Take the last merge back. Raises CastError where there was none, or the file was changed since."""
    path = file.folder / UNDO
    note = read_record(path)
    if note is None:
        raise CastError(f"No merge of {file.path} can be undone.", f"There is no {path}.")
    if file.before is None or _hash(file.before) != note["after"]:
        raise CastError(
            f"{file.path} was changed since the merge, so that it cannot be undone as a whole.",
            f"What the file said before stands in {path}: bring back by hand what you need.",
        )
    if note["before"] is None:
        file.path.unlink()
    else:
        write_text(file.path.resolve(), note["before"])
    path.unlink()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def merge(file: CastFile, person: Member, into: Member) -> Member:
    """Give all that is known of ``person`` to ``into``, and take ``person`` out; nothing is saved yet.

    Photos are joined. What both have stays as ``into`` has it; another name becomes an alias. Raises
    CastError where both are one entry already.
    """
    if person.id == into.id:
        raise CastError(f"{quoted(person.id)} cannot be merged into itself.", "Name two people.")
    photos = dict.fromkeys([*file.photo_specs(into.id), *file.photo_specs(person.id)])
    fields = ("name", "pronoun", "descriptor", "reveals")
    values: dict[str, Any] = {field: getattr(into, field) or getattr(person, field) for field in fields}
    values["spoken"] = into.spoken or ("" if into.name else person.spoken)
    says = values["spoken"] or values["name"]
    values["say_as"] = into.say_as or (person.say_as if says == (person.spoken or person.name) else "")
    called = {values["name"], values["spoken"]}
    aliases = dict.fromkeys([*into.aliases, *names_of(person)])
    values["aliases"] = tuple(alias for alias in aliases if alias not in called)
    values["nameless"] = not values["name"] and (into.nameless or person.nameless)
    file.update(into.id, photos=tuple(photos))
    file.remove(person.id)
    file.update(into.id, **{key: value for key, value in values.items() if value != getattr(into, key)})
    return file.member(into.id)


PAGE = "overview.html"

_TEMPLATES = Path(__file__).parent / "page"
_HEIGHT = 160
"""CSS pixels of a picture's height."""


def renew_overview(folder: Path) -> None:
    """Write the overview of a cast folder again after a change, where there is one. Raises CastError."""
    if (folder / PAGE).exists():
        write_overview(folder, CastFile.open(folder).members, Facts.read(folder))


def write_overview(folder: Path, members: Sequence[Member], facts: Facts) -> Path:
    """Write ``overview.html`` into a cast folder. Raises WorkFolderError where it cannot be
    written."""
    ids = {member.id for member in members}
    cards: list[dict[str, Any]] = []
    for member in members:
        found, called = facts.in_films(member.id), member.name or member.id
        summary = "Not seen in a film that was looked through."
        if found:
            seconds, films = sum(f.seconds for f in found), f" in {len(found)} films"
            shots = plural(sum(f.shots for f in found), "shot")
            summary = f"{shots}, {in_view(seconds)} in view{films if len(found) > 1 else ''}."
        like = "" if member.name else facts.like(member.id)
        cards.append(
            {
                "member": member,
                "called": f"{member.name} ({member.id})" if member.name else member.id,
                "summary": summary,
                "found": found,
                "pictures": [
                    _picture(path, folder, f"{called}, picture {number} of {len(member.photos)}")
                    for number, path in enumerate(member.photos, 1)
                ],
                "like": like if like in ids else "",
            }
        )
    films_seen = sorted({(found.name, found.film) for found in facts.found})
    # The cast in one sentence: "4 people, seen in ep1.mp4; 3 have no name yet."
    unnamed = [card for card in cards if not card["member"].name and not card["member"].nameless]
    lead = "There is nobody in this cast yet."
    if members:
        seen = f", seen in {', '.join(film for film, _ in films_seen)}" if films_seen else ""
        has = "has" if len(unnamed) == 1 else "have"
        names = f"{len(unnamed)} of them {has} no name yet" if unnamed else "all named"
        lead = f"{plural(len(members), 'person', 'people')}{seen}; {names}."
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
        films=films_seen,
        unnamed=unnamed,
        pictures=sum(len(member.photos) for member in members),
    )  # fmt: skip
    path = folder / PAGE
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != page:
        write_text(path, page)
    return path


def _picture(path: Path, folder: Path, words: str) -> dict[str, Any]:
    """A picture on the page: its address as seen from there, what it is, and its size in CSS pixels."""
    try:
        with Pictures.open(path) as opened:
            width, height = opened.size
    except OSError:
        width, height = 1, 1  # of one that cannot be read, those of a square
    address = urllib.parse.quote(Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix())
    return {"address": address, "words": words, "width": round(width * _HEIGHT / height), "height": _HEIGHT}


def in_view(seconds: float) -> str:
    """``3.4 → 3 s``, ``83.5 → 1 min 24 s``."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
