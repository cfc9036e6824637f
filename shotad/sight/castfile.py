"""``cast.yaml``: read with the line of every mistake, and changed without touching what people wrote.

A change is made in the text itself, in the lines of the person concerned; comments, order and spelling of all
else stay to the letter. What is written is read back before it takes the file's place.

Here too: the photos that an entry names (`photos_of`), casts that are nothing but a folder of photos
(`members_of_folder`), and the member that a word of a command line means (`find_member`).
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad.core import Cast, Member
from shotad.core.errors import (
    CastError,
    did_you_mean,
    quoted,
)
from shotad.core.files import write_text
from shotad.core.trust import is_inside, is_trusted
from shotad.sight.cast_entries import (
    CastEntry,
    compose,
    distinct_ids,
    entries_of,
    error_at,
    label_of,
    people_of,
    read_text,
    warnings,
)
from shotad.sight.cast_text import MARK, with_comment, with_person, with_values, without_person
from shotad.sight.photos import how_to_read, is_photo, is_unread_photo, named_in, photo_endings

NAME = "cast.yaml"
_OTHER_NAME = "cast.yml"

CAST_FILE_HEADER = f"""\
# The people of the film. For each:
#   name         as in the credits. Leave it empty for who is not to be named yet.
#   speak        what AD says, where it is not the whole name: Anna
#   say_as       how a voice is to say that, where it would not by itself: AH-na
#   aliases      other names for the same person: [Doctor Lee, Annie]
#   pronoun      she, he, they or it
#   descriptor   for moments when the name may not be said: the woman in red
#   reveal_at    when the name becomes known: 00:12:30, or never; before it the descriptor is said
#   photos       pictures or folders of them, seen from this file
#   nameless     true for extras that nobody needs to name
# Only the name is needed. Lines that begin with {MARK.strip()} are written anew by shotad.

people:
"""


class CastFile:
    """The cast file of a folder, open for changes, which are in memory until `save`."""

    def __init__(self, path: Path, text: str | None) -> None:
        """The file ``path``, which need not exist yet, with its content ``text``; None where there is none.

        Raises CastError, with the line, for a mistake in the text.
        """
        self.path, self.folder = path, path.parent
        self.before = text
        """What the file said when it was opened or last saved; None where there was none."""
        self.text = CAST_FILE_HEADER if text is None else text
        """The file as `save` writes it."""
        self._entries = entries_of(self.text, path)
        self._edits: list[Callable[[], str]] = []

    @classmethod
    def open(cls, folder: Path) -> CastFile:
        """The cast file of a folder, empty where there is none; a path to the file itself does as well.

        A folder that holds nothing but photos gives its people (`members_of_folder`), which `save` writes.
        Raises CastError for a file that cannot be read, with the line. A photo that is missing is no error
        here.
        """
        path = cast_path(folder)
        file = cls(path, read_text(path) if path.exists() else None)
        if file.before is None and path.parent.is_dir():
            try:
                members, _ = members_of_folder(path.parent)
            except CastError:
                return file
            for member in members:
                # Subfolders stand for the photos in them, so that those put there later count too.
                names = dict.fromkeys(photo.relative_to(path.parent).parts[0] for photo in member.photos)
                file.add(replace(member, photos=tuple(path.parent / name for name in names)))
        return file

    @property
    def members(self) -> tuple[Member, ...]:
        """The people in the order of the file, with the photos that exist, in other folders too.

        No photo is read for it: for that, a cast must be trusted (`read_cast`).
        """
        members = []
        for entry in self._entries:
            photos: dict[Path, None] = {}
            for spec in entry.photos:
                with suppress(OSError, ValueError):
                    photos |= dict.fromkeys(_matching_photos(spec, self.folder))
            members.append(replace(entry.member, photos=tuple(photos)))
        return tuple(members)

    @property
    def exists(self) -> bool:
        """Whether there was a file when it was opened, or it was saved since."""
        return self.before is not None

    def member(self, id: str) -> Member:  # noqa: A002  the word of the file
        """The member with this id. Raises CastError where there is none."""
        return self.members[self._index(id)]

    def photo_specs(self, id: str) -> tuple[str, ...]:  # noqa: A002
        """The files, folders and patterns that name a person's photos, as written. Raises CastError for an id
        that is not there."""
        return self._entries[self._index(id)].photos

    def add(self, member: Member, comment: str = "") -> None:
        """Add a person at the end. ``photos`` may be folders; those inside the cast's folder are written as
        seen from it. Raises CastError where the id or a name is taken."""
        self._edit(lambda: with_person(self.text, self.path, member, comment))

    def update(self, id: str, *, comment: str | None = None, **values: Any) -> None:  # noqa: A002
        """Change fields of a person, named as in `Member`; ``photos`` may be folders or texts as written.

        ``comment`` replaces the earlier one of a program. Raises CastError for an id that is not there or a
        name that is taken, and TypeError for an unknown field.
        """

        def edit() -> str:
            text, index = self.text, self._index(id)
            if comment is not None:
                text = with_comment(text, self.path, index, comment)
            return with_values(text, self.path, index, id, values) if values else text

        self._edit(edit)

    def remove(self, id: str) -> None:  # noqa: A002
        """Take a person out, with the comments right above. Raises CastError for an id that is not there."""
        self._edit(lambda: without_person(self.text, self.path, self._index(id)))

    def save(self) -> None:
        """Write the file, by a temporary file and a rename.

        Where somebody else has changed it since it was opened, the changes are made to what is there now.
        Raises CastError, or WorkFolderError where the folder cannot be written.
        """
        current = read_text(self.path) if self.path.exists() else None
        if current != self.before:
            self.text = CAST_FILE_HEADER if current is None else current
            self._entries = entries_of(self.text, self.path)
            for edit in self._edits:
                self._apply(edit)
        # Of a link, the file that it leads to
        write_text(self.path.resolve(), self.text)
        self.before, self._edits = self.text, []

    def _edit(self, edit: Callable[[], str]) -> None:
        """Apply ``edit``, which gives the changed text, and keep it: `save` may have to apply it again."""
        self._apply(edit)
        self._edits.append(edit)

    def _apply(self, edit: Callable[[], str]) -> None:
        """Take the text that ``edit`` gives, if it can be read back and holds all others as they were.

        Raises CastError where it does not.
        """
        people = people_of(self.text, self.path)
        if people is not None and people.flow_style and people.value:
            raise CastError(
                f"The people of {self.path} stand in brackets.",
                "Write each person as '- name: …' in lines of their own, then run again.",
            )
        text = edit()
        failure = CastError(f"{self.path} cannot be changed by a program.", "Change it by hand.")
        try:
            compose(text, self.path)
        except CastError:
            raise failure from None
        entries = entries_of(text, self.path)
        # Without ids: those that are made of names depend on the other people.
        before = [(replace(entry.member, id=""), entry.photos) for entry in self._entries]
        after = [(replace(entry.member, id=""), entry.photos) for entry in entries]
        lost = [person for person in before if person not in after]
        new = [person for person in after if person not in before]
        if max(len(lost), len(new)) > 1:
            raise failure
        self.text, self._entries = text, entries

    def _index(self, id: str) -> int:  # noqa: A002
        """Number of the person with this id, from 0. Raises CastError where there is none."""
        ids = [entry.member.id for entry in self._entries]
        if id not in ids:
            raise CastError(
                f"{self.path} has nobody with the id {quoted(id)}.", f"There are: {', '.join(ids)}."
            )
        return ids.index(id)


def cast_path(path: Path) -> Path:
    """The cast file of the folder ``path``, or ``path`` if it is a cast file; it need not exist.

    Raises CastError for another file.
    """
    if path.suffix.lower() in (".yaml", ".yml") and not path.is_dir():
        return path
    if path.is_file():
        raise CastError(f"{path} is no cast folder and no cast file.", "Name the folder, or its cast.yaml.")
    other = path / _OTHER_NAME
    return other if other.exists() and not (path / NAME).exists() else path / NAME


def read_cast(path: Path) -> Cast:
    """The cast of a cast file, and notes on photos that are left out.

    Raises CastError with the file and the line of a mistake, also for a photo that two people have.
    """
    folder = path.parent
    owners: dict[Path, CastEntry] = {}
    shared: list[tuple[int, Path, CastEntry]] = []
    members, notes = [], []
    for entry in entries_of(read_text(path), path):
        photos: dict[Path, None] = {}
        for number, spec in enumerate(entry.photos):
            line = entry.lines.get(f"photos {number}", entry.line)
            matches = _photos_at_line(spec, path, line)
            for photo in matches:
                photos[photo] = None
                owner = owners.setdefault(photo.resolve(), entry)
                if owner is not entry:
                    shared.append((line, photo, owner))
            unread = unreadable_photos(folder / spec) if (folder / spec).is_dir() else ()
            if unread:
                notes.append(_unread_note(unread, folder / spec, f"{spec}: "))
            elif not matches:
                notes.append(f"There is no picture in {spec} ({path.name}).")
        members.append(replace(entry.member, photos=tuple(photos)))
    # Raised last: a photo that is missing or cannot be read is to be fixed first.
    if shared:
        line, photo, owner = shared[0]
        problem = f"the photo {photo.name} is also that of {label_of(owner.member)} (line {owner.line})."
        raise error_at(path, line, problem, "A photo shows one person: leave it to one.")
    return Cast(tuple(members), path, (*notes, *warnings(members)))


def _photos_at_line(spec: str, path: Path, line: int) -> tuple[Path, ...]:
    """The photos that ``spec`` in a ``line`` of the cast file ``path`` names. Raises CastError."""
    folder = path.parent
    try:
        return photos_of(spec, folder)
    except OutsideFolder:
        problem = f"the photo {quoted(spec)} lies outside of the cast's folder."
        hint = f"Put it into {folder}. If the cast is your own: shotad doctor --trust {folder}"
        raise error_at(path, line, problem, hint) from None
    except FileNotFoundError as error:
        problem = f"the photo {quoted(spec)} is missing: {error}."
        hint = f"Photos are looked for from {folder}; name a file, a folder, or a pattern such as"
        raise error_at(path, line, problem, f"{hint} anna-*.jpg.") from None
    except OSError as error:
        problem = f"the photo {quoted(spec)} cannot be read: {error.strerror}."
        raise error_at(path, line, problem) from None
    except ValueError as error:
        raise error_at(path, line, f"{error}", how_to_read([Path(spec)])) from None


_BRACKETED_NUMBER = re.compile(r"(?:(?<![\s_])[\s_]+)?\((\d+)\)$")
_TRAILING_NUMBER = re.compile(r"(?<![\s_-])[\s_-]+(\d+)$")
_NO_NAME = re.compile(r"person[-_ ]\d+", re.IGNORECASE)
"""Folders that discovery makes for people without a name."""


def photos_in(folder: Path) -> tuple[Path, ...]:
    """All pictures in a folder and the folders in it; ``2.jpg`` stands before ``10.jpg``."""
    photos = [path for path in folder.rglob("*") if path.is_file() and is_photo(path)]
    return natural(path for path in photos if not _is_hidden(path.relative_to(folder)))


def unreadable_photos(folder: Path) -> tuple[Path, ...]:
    """Pictures in a folder and the folders in it that are in no format that is read here."""
    photos = [path for path in folder.rglob("*") if is_unread_photo(path) and path.is_file()]
    return natural(path for path in photos if not _is_hidden(path.relative_to(folder)))


def natural(paths: Iterable[Path]) -> tuple[Path, ...]:
    """``paths`` sorted with numbers by their value: ``2.jpg`` before ``10.jpg``."""

    def sort_key(path: Path) -> list[tuple[int, int, str]]:
        parts = re.split(r"(\d+)", str(path).casefold())
        return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]

    return tuple(sorted(paths, key=sort_key))


class OutsideFolder(ValueError):  # noqa: N818  the caller makes an error with a line of it
    """A photo is named that does not lie in the folder of its cast."""


def photos_of(spec: str, folder: Path) -> tuple[Path, ...]:
    """The files that a file, folder or pattern names, relative to ``folder``.

    Raises FileNotFoundError where there is nothing, and ValueError for a file of another format. A folder may
    hold none. A cast may have come with a film: raises OutsideFolder for what lies elsewhere, unless the user
    trusts ``folder``.
    """
    photos = _matching_photos(spec, folder)
    if not all(is_inside(photo, folder) for photo in photos) and not is_trusted(folder):
        raise OutsideFolder(spec)
    return photos


def _matching_photos(spec: str, folder: Path) -> tuple[Path, ...]:
    """As `photos_of`, in other folders too."""
    expanded = Path(spec).expanduser()
    path = folder / expanded
    if path.is_dir():
        return photos_in(path)
    if path.exists():
        if not is_photo(path):
            raise ValueError(f"{quoted(spec)} is no picture that can be read ({', '.join(photo_endings())}).")
        return (path,)
    photos: set[Path] = set()
    for match in glob.glob(str(expanded), root_dir=folder, recursive=True) if glob.has_magic(spec) else []:
        matched_path = folder / match
        if is_photo(matched_path):
            photos.add(matched_path)
        if matched_path.is_dir():
            photos.update(photos_in(matched_path))
    if not photos:
        if not glob.has_magic(spec):
            # From Python 3.14 on, `exists` answers no where the path cannot be looked at; this says why.
            with suppress(FileNotFoundError, NotADirectoryError, ValueError):
                path.stat()
        raise FileNotFoundError(f"there is no {path}")
    return natural(photos)


def members_of_folder(folder: Path) -> tuple[tuple[Member, ...], tuple[str, ...]]:
    """The people of a folder of photos, sorted by name, and a warning for photos that cannot be read.

    A subfolder is a person, and so is a file: ``Anna_Lee.jpg`` is Anna Lee. Numbers tell further photos of
    the same person apart: ``Thom (2).jpg``, ``Thom-2.jpg``. A number that only one file has, unless it is 1,
    belongs to the name (``BB-8.jpg``). Raises CastError where there are no photos.
    """
    named_photos: list[tuple[str, Sequence[Path]]] = []
    for path in sorted(folder.iterdir()):
        # Work folders of films may lie in the cast's folder.
        if path.is_dir() and not _is_hidden(Path(path.name)) and path.suffix != ".shotad":
            named_photos.append((spaced(path.name), photos_in(path)))
    named_photos += _photos_by_file_name(folder)
    photos_by_key: dict[str, tuple[str, list[Path]]] = {}
    for name, photos in named_photos:
        photos_by_key.setdefault(name.casefold(), (name, []))[1].extend(photos)
    people = [(name, photos) for _, (name, photos) in sorted(photos_by_key.items()) if photos]
    unread = unreadable_photos(folder)
    if not people and unread:
        names = named_in(unread, folder)
        raise CastError(f"{folder} has photos, but none that can be read: {names}.", how_to_read(unread))
    if not people:
        raise CastError(
            f"{folder} has no cast.yaml and no photos.",
            "Put a folder of photos or a picture file there for each person, named after them, "
            "or let shotad cast discover make a cast.",
        )
    ids = distinct_ids(name for name, _ in people)
    members = []
    for id_, (name, photos) in zip(ids, people, strict=True):
        members.append(Member(id_, "" if _NO_NAME.fullmatch(name) else name, photos=tuple(photos)))
    return tuple(members), (_unread_note(unread, folder),) if unread else ()


def _unread_note(unread: Sequence[Path], folder: Path, prefix: str = "") -> str:
    """A note on photos of ``folder`` that cannot be read, and what to do about it."""
    names = named_in(unread, folder)
    return f"{prefix}Pictures of formats that are not read were left out: {names}. {how_to_read(unread)}"


def _photos_by_file_name(folder: Path) -> list[tuple[str, Sequence[Path]]]:
    """The name of a person and the photo, for each picture file right in ``folder``."""
    files = natural(path for path in folder.iterdir() if path.is_file() and is_photo(path))
    split_stems = [_split_number(path.stem) for path in files]
    keys = [spaced(base).casefold() for base, _ in split_stems]
    subfolders = {path.name.casefold() for path in folder.iterdir() if path.is_dir()}
    named_photos: list[tuple[str, Sequence[Path]]] = []
    for path, (base, is_certain), key in zip(files, split_stems, keys, strict=True):
        # A number counts photos if there are others of the same person; else it may belong to the name.
        has_more_photos = key.casefold() in subfolders or keys.count(key) > 1
        stem = base if has_more_photos or is_certain else path.stem
        named_photos.append((spaced(stem), [path]))
    return named_photos


def _split_number(stem: str) -> tuple[str, bool]:
    """A file's stem without a number at its end, and whether that number counts photos beyond doubt: in
    brackets, or 1."""
    for pattern, is_certain in ((_BRACKETED_NUMBER, True), (_TRAILING_NUMBER, False)):
        match = pattern.search(stem)
        if match and match.start() > 0:
            return stem[: match.start()], is_certain or int(match[1]) == 1
    return stem, False


def spaced(name: str) -> str:
    """``Anna_Lee → Anna Lee``."""
    return " ".join(name.replace("_", " ").split())


def _is_hidden(relative: Path) -> bool:
    """Whether a part of a path begins with a dot, or with ``__`` as in ``__MACOSX`` of archives."""
    return any(part.startswith((".", "__")) for part in relative.parts)


def find_member(members: Sequence[Member], text: str) -> Member:
    """The member that ``text`` means: an id, a number as ``shotad cast show`` counts, or a name.

    Raises CastError where there is none, or several have the name.
    """
    lower = text.casefold()
    for member in members:
        if member.id.casefold() == lower:
            return member
    if text.isdecimal() and 1 <= int(text) <= len(members):
        return members[int(text) - 1]
    matches = [member for member in members if lower in (name.casefold() for name in names_of(member))]
    if len(matches) > 1:  # extras may share a name
        ids = ", ".join(member.id for member in matches)
        raise CastError(f"Several people of the cast are called {quoted(text)}.", f"Give the id: {ids}.")
    if matches:
        return matches[0]
    names: list[str] = []
    for member in members:
        names += [member.id, *names_of(member)]
    hint = "There is nobody in it."
    if members:
        ids = ", ".join(member.id for member in members[:10]) + (", …" if members[10:] else "")
        hint = f"{did_you_mean(text, dict.fromkeys(names))}There are: {ids}."
    raise CastError(f"The cast has nobody called {quoted(text)}.", hint)


def names_of(member: Member) -> tuple[str, ...]:
    """The distinct names of a member: name, spoken name, aliases."""
    return tuple(dict.fromkeys(name for name in (member.name, member.spoken, *member.aliases) if name))


def conflicting_name(
    members: Sequence[Member], member: Member, names: Sequence[str]
) -> tuple[Member, str] | None:
    """The first other member with one of ``names``, and that name as they have it; None where all are free.

    ``member`` is who shall get the names. Extras do not count: they may share a name.
    """
    new_names = {" ".join(name.split()).casefold() for name in names} - {""}
    for other in members:
        if other.id == member.id or other.nameless:
            continue
        for name in names_of(other):
            if name.casefold() in new_names:
                return other, name
    return None
