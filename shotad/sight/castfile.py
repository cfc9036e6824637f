"""``cast.yaml``: read with the line of every mistake, and changed without touching what people wrote.

A change is made in the text itself, in the lines of the person concerned; comments, order and spelling of all
else stay to the letter. What is written is read back before it takes the file's place.

Here too: which photos are meant (`photos_of`, and casts that are nothing but a folder of photos), and which
person (`chosen`).
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad.core import Cast, CastError, Member, did_you_mean, is_inside, is_trusted, quoted, write_text
from shotad.sight.cast_entries import (
    Entry,
    called,
    compose,
    distinct_ids,
    entries_of,
    people_of,
    read_text,
    warnings,
    wrong,
)
from shotad.sight.cast_writing import MARK, with_comment, with_person, with_values, without_person
from shotad.sight.photos import how_to_read, is_photo, is_unread_photo, named_in, photo_endings

NAME = "cast.yaml"
_OTHER_NAME = "cast.yml"

HEAD = f"""\
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
    """The cast file of a folder, open for changes.

    Changes are in memory until `save`. ``path`` is the file, which need not exist yet.
    """

    def __init__(self, path: Path, text: str | None) -> None:
        self.path, self.folder = path, path.parent
        self.before = text
        """What the file said when it was opened or last saved; None where there was none."""
        self.text = HEAD if text is None else text
        """The file as `save` writes it."""
        self._entries = entries_of(self.text, path)
        self._edits: list[Callable[[], str]] = []

    @classmethod
    def open(cls, folder: Path) -> CastFile:
        """The cast file of a folder, empty where there is none; a path to the file itself does as well.

        The people of a folder that holds nothing but photos are taken over when it is saved. Raises CastError
        for a file that cannot be read, with the line. A photo that is missing is no error here.
        """
        path = cast_path(folder)
        found = cls(path, read_text(path) if path.exists() else None)
        if found.before is None and path.parent.is_dir():
            try:
                members, _ = members_of_folder(path.parent)
            except CastError:
                return found
            for member in members:
                # Subfolders stand for the photos in them, so that those put there later count too.
                inside = (photo.relative_to(path.parent).parts[0] for photo in member.photos)
                found.add(replace(member, photos=tuple(path.parent / top for top in dict.fromkeys(inside))))
        return found

    @property
    def members(self) -> tuple[Member, ...]:
        """The people in their order, with the photos that are there, in other folders too: no photo is read
        for it."""
        found = []
        for entry in self._entries:
            photos: dict[Path, None] = {}
            for spec in entry.photos:
                with suppress(OSError, ValueError):
                    photos |= dict.fromkeys(_named_photos(spec, self.folder))
            found.append(replace(entry.member, photos=tuple(photos)))
        return tuple(found)

    @property
    def exists(self) -> bool:
        """Whether there was a file when it was opened, or it was saved since."""
        return self.before is not None

    def member(self, id: str) -> Member:  # noqa: A002  the word of the file
        """Who has this id. Raises CastError."""
        return self.members[self._index(id)]

    def photo_specs(self, id: str) -> tuple[str, ...]:  # noqa: A002
        """The files, folders and patterns that stand for a person's photos, as written."""
        return self._entries[self._index(id)].photos

    def add(self, member: Member, comment: str = "") -> None:
        """Add a person at the end. ``photos`` may be folders; those inside the cast's folder are written as
        seen from it. Raises CastError where the id or a name is taken."""
        self._edit(lambda: with_person(self.text, self.path, member, comment))

    def update(self, id: str, *, comment: str | None = None, **values: Any) -> None:  # noqa: A002
        """Change fields of a person, named as in `Member`; ``photos`` may be folders or texts as written.

        ``comment`` replaces what an earlier one said. Raises CastError for an id that is not there or a name
        that is taken, and TypeError for an unknown field.
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
        now = read_text(self.path) if self.path.exists() else None
        if now != self.before:
            self.text = HEAD if now is None else now
            self._entries = entries_of(self.text, self.path)
            for edit in self._edits:
                self._make(edit)
        write_text(self.path.resolve(), self.text)
        self.before, self._edits = self.text, []

    def _edit(self, edit: Callable[[], str]) -> None:
        self._make(edit)
        self._edits.append(edit)

    def _make(self, edit: Callable[[], str]) -> None:
        """Make a changed text the state, if it can be read back and holds all others as they were."""
        people = people_of(self.text, self.path)
        if people is not None and people.flow_style and people.value:
            raise CastError(
                f"The people of {self.path} stand in brackets.",
                "Write each person as '- name: …' in lines of their own, then run again.",
            )
        text, unfit = edit(), CastError(f"{self.path} cannot be changed by a program.", "Change it by hand.")
        try:
            compose(text, self.path)
        except CastError:
            raise unfit from None
        entries = entries_of(text, self.path)
        before, after = (
            [(replace(e.member, id=""), e.photos) for e in es] for es in (self._entries, entries)
        )
        if max(sum(one not in after for one in before), sum(one not in before for one in after)) > 1:
            raise unfit
        self.text, self._entries = text, entries

    def _index(self, id: str) -> int:  # noqa: A002
        ids = [entry.member.id for entry in self._entries]
        if id not in ids:
            raise CastError(
                f"{self.path} has nobody with the id {quoted(id)}.", f"There are: {', '.join(ids)}."
            )
        return ids.index(id)


def cast_path(path: Path) -> Path:
    """The cast file meant by a folder or by the file itself; it need not exist."""
    if path.suffix.lower() in (".yaml", ".yml") and not path.is_dir():
        return path
    if path.is_file():
        raise CastError(f"{path} is no cast folder and no cast file.", "Name the folder, or its cast.yaml.")
    other = path / _OTHER_NAME
    return other if other.exists() and not (path / NAME).exists() else path / NAME


def read_cast(path: Path) -> Cast:
    """The cast of a cast file. Raises CastError with the file and the line of a mistake."""
    folder = path.parent
    entries = entries_of(read_text(path), path)
    shown: list[tuple[Entry, int, Path]] = []
    members, notes = [], []
    for entry in entries:
        photos: dict[Path, None] = {}
        for i, spec in enumerate(entry.photos):
            line = entry.lines.get(f"photos {i}", entry.line)
            try:
                found = photos_of(spec, folder)
            except OutsideFolder:
                what = f"the photo {quoted(spec)} lies outside of the cast's folder."
                hint = f"Put it into {folder}. If the cast is your own: shotad doctor --trust {folder}"
                raise wrong(path, line, what, hint) from None
            except FileNotFoundError as error:
                what = f"the photo {quoted(spec)} is missing: {error}."
                hint = f"Photos are looked for from {folder}; name a file, a folder, or a pattern such as"
                raise wrong(path, line, what, f"{hint} anna-*.jpg.") from None
            except OSError as error:
                raise wrong(
                    path, line, f"the photo {quoted(spec)} cannot be read: {error.strerror}."
                ) from None
            except ValueError as error:
                raise wrong(path, line, f"{error}", how_to_read([Path(spec)])) from None
            shown += [(entry, line, photo) for photo in found]
            photos |= dict.fromkeys(found)
            unread = unread_in(folder / spec) if (folder / spec).is_dir() else ()
            if unread:
                notes.append(_left_out(unread, folder / spec, f"{spec}: "))
            elif not found:
                notes.append(f"There is no picture in {spec} ({path.name}).")
        members.append(replace(entry.member, photos=tuple(photos)))
    owners: dict[Path, Entry] = {}
    for entry, line, photo in shown:
        other = owners.setdefault(photo.resolve(), entry)
        if other is not entry:
            what = f"the photo {photo.name} is also that of {called(other.member)} (line {other.line})."
            raise wrong(path, line, what, "A photo shows one person: leave it to one.")
    return Cast(tuple(members), path, (*notes, *warnings(members)))


_BRACKETS = re.compile(r"(?:(?<![\s_])[\s_]+)?\((\d+)\)$")
_NUMBER = re.compile(r"(?<![\s_-])[\s_-]+(\d+)$")
_UNFILLED = re.compile(r"person[-_ ]\d+", re.IGNORECASE)
"""What discovery calls somebody without a name."""


def photos_in(folder: Path) -> tuple[Path, ...]:
    """All pictures in a folder and the folders in it; ``2.jpg`` stands before ``10.jpg``."""
    inside = (path for path in folder.rglob("*") if path.is_file() and is_photo(path))
    return natural(path for path in inside if not _hidden(path.relative_to(folder)))


def unread_in(folder: Path) -> tuple[Path, ...]:
    """Pictures in a folder and the folders in it that are in no format that is read here."""
    inside = (path for path in folder.rglob("*") if is_unread_photo(path) and path.is_file())
    return natural(path for path in inside if not _hidden(path.relative_to(folder)))


def natural(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Sorted as people count."""

    def counted(path: Path) -> list[tuple[int, int, str]]:
        parts = re.split(r"(\d+)", str(path).casefold())
        return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]

    return tuple(sorted(paths, key=counted))


class OutsideFolder(ValueError):  # noqa: N818  the caller makes an error with a line of it
    """A photo is named that does not lie in the folder of its cast."""


def photos_of(spec: str, folder: Path) -> tuple[Path, ...]:
    """The files that a file, folder or pattern means, seen from ``folder``.

    Raises FileNotFoundError where there is nothing, and ValueError for a file of another format. A folder may
    hold none. A cast may have come with a film: raises OutsideFolder for what lies elsewhere, unless the user
    trusts ``folder``.
    """
    photos = _named_photos(spec, folder)
    if not all(is_inside(photo, folder) for photo in photos) and not is_trusted(folder):
        raise OutsideFolder(spec)
    return photos


def _named_photos(spec: str, folder: Path) -> tuple[Path, ...]:
    named = Path(spec).expanduser()
    path = folder / named
    if path.is_dir():
        return photos_in(path)
    if path.exists():
        if not is_photo(path):
            raise ValueError(f"{quoted(spec)} is no picture that can be read ({', '.join(photo_endings())}).")
        return (path,)
    matches = glob.glob(str(named), root_dir=folder, recursive=True) if glob.has_magic(spec) else []
    found = [folder / match for match in matches]
    photos = natural({*filter(is_photo, found), *(p for f in found if f.is_dir() for p in photos_in(f))})
    if not photos:
        raise FileNotFoundError(f"there is no {path}")
    return photos


def members_of_folder(folder: Path) -> tuple[tuple[Member, ...], tuple[str, ...]]:
    """The people of a folder of photos, by name, and warnings.

    A subfolder is a person, and so is a file: ``Anna_Lee.jpg`` is Anna Lee. Numbers tell further photos of
    the same person apart: ``Thom (2).jpg``, ``Thom-2.jpg``. A number that only one file has, unless it is 1,
    belongs to the name (``BB-8.jpg``). Raises CastError where there are no photos.
    """
    found: dict[str, tuple[str, list[Path]]] = {}
    inside = (path for path in sorted(folder.iterdir()) if path.is_dir() and not _hidden(Path(path.name)))
    by_subfolder = [(spaced(path.name), photos_in(path)) for path in inside if path.suffix != ".shotad"]
    for name, photos in (*by_subfolder, *_by_file(folder)):
        found.setdefault(name.casefold(), (name, []))[1].extend(photos)
    people = [one for _, one in sorted(found.items()) if one[1]]
    unread = unread_in(folder)
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
    members = tuple(
        Member(one, "" if _UNFILLED.fullmatch(name) else name, photos=tuple(photos))
        for one, (name, photos) in zip(ids, people, strict=True)
    )
    return members, (_left_out(unread, folder),) if unread else ()


def _left_out(unread: Sequence[Path], folder: Path, where: str = "") -> str:
    """What a person should know of photos that cannot be read."""
    names = named_in(unread, folder)
    return f"{where}Pictures of formats that are not read were left out: {names}. {how_to_read(unread)}"


def _by_file(folder: Path) -> list[tuple[str, Sequence[Path]]]:
    files = natural(path for path in folder.iterdir() if path.is_file() and is_photo(path))
    bases = [_base(path.stem) for path in files]
    often = [spaced(base).casefold() for base, _ in bases]
    taken = {path.name.casefold() for path in folder.iterdir() if path.is_dir()}
    return [
        (spaced(base if one.casefold() in taken or often.count(one) > 1 or sure else path.stem), [path])
        for path, (base, sure), one in zip(files, bases, often, strict=True)
    ]


def _base(stem: str) -> tuple[str, bool]:
    """A file's name without the number that tells photos apart, and whether that is one beyond doubt."""
    for pattern, sure in ((_BRACKETS, True), (_NUMBER, False)):
        match = pattern.search(stem)
        if match and match.start() > 0:
            return stem[: match.start()], sure or int(match[1]) == 1
    return stem, False


def spaced(name: str) -> str:
    """``Anna_Lee → Anna Lee``."""
    return " ".join(name.replace("_", " ").split())


def _hidden(inside: Path) -> bool:
    return any(part.startswith((".", "__")) for part in inside.parts)


def chosen(members: Sequence[Member], text: str) -> Member:
    """Who is meant by an id, a number as ``shotad cast show`` counts, or a name. Raises CastError."""
    wanted = text.casefold()
    by_id = next((member for member in members if member.id.casefold() == wanted), None)
    if by_id is not None:
        return by_id
    if text.isdecimal() and 1 <= int(text) <= len(members):
        return members[int(text) - 1]
    found = [m for m in members if wanted in (name.casefold() for name in names_of(m))]
    if len(found) > 1:  # extras may share a name
        some = ", ".join(member.id for member in found)
        raise CastError(f"Several people of the cast are called {quoted(text)}.", f"Give the id: {some}.")
    if found:
        return found[0]
    words = {word: member for member in members for word in (member.id, *names_of(member))}
    some = ", ".join(member.id for member in members[:10]) + (", …" if members[10:] else "")
    raise CastError(
        f"The cast has nobody called {quoted(text)}.",
        f"{did_you_mean(text, words)}There are: {some}." if members else "There is nobody in it.",
    )


def names_of(member: Member) -> tuple[str, ...]:
    """All names of a person, in the order in which they stand."""
    return tuple(dict.fromkeys(n for n in (member.name, member.spoken, *member.aliases) if n))


def taken_name(members: Sequence[Member], member: Member, names: Sequence[str]) -> tuple[Member, str] | None:
    """Who else has one of the ``names`` that ``member`` shall have, and which; None: they are free.

    Extras do not count: they may share a name.
    """
    wanted = {" ".join(name.split()).casefold() for name in names} - {""}
    others = ((other, name) for other in members if other.id != member.id for name in names_of(other))
    return next(((o, name) for o, name in others if name.casefold() in wanted and not o.nameless), None)
