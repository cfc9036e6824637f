"""``cast.yaml``: read with the line of every mistake, and changed without touching what people wrote.

A change is made in the text itself, in the lines of the person concerned; comments, order and spelling of all
else stay to the letter. What is written is read back before it takes the file's place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core import Cast, CastError, Member, write_text
from shotad.sight.cast.files.checks import check_apart, check_photos, warnings
from shotad.sight.cast.files.entries import Entry, entry_of, with_ids
from shotad.sight.cast.files.layout import MARK, Layout, Piece, divided, people_of
from shotad.sight.cast.files.photofiles import formats, members_of_folder, photos_of
from shotad.sight.cast.files.writing import changed_piece, new_piece, with_comment
from shotad.sight.cast.files.yamltext import NEWLINE, Source, compose, newline_of, read_text

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
#   nameless     true for extras whom nobody needs to name
# Only the name is needed. Lines that begin with {MARK.strip()} are written anew by shotad.

people:
"""


@dataclass(frozen=True, slots=True)
class _State:
    """A text and what it says; ``entries`` are those of the layout's pieces, in their order."""

    layout: Layout
    entries: tuple[Entry, ...]


class CastFile:
    """The cast file of a folder, open for changes.

    Changes are in memory until `save`. ``path`` is the file, which need not exist yet.
    """

    def __init__(self, path: Path, text: str | None) -> None:
        self.path, self.folder = path, path.parent
        self._before = text
        self._state = _read(text if text is not None else HEAD, path)
        self._edits: list[Callable[[CastFile], None]] = []

    @classmethod
    def open(cls, folder: Path) -> CastFile:
        """The cast file of a folder, empty where there is none; a path to the file itself does as well.

        The people of a folder that holds nothing but photos are taken over when it is saved. Raises CastError
        for a file that cannot be read, with the line. A photo that is missing is no error here.
        """
        path = cast_path(folder)
        found = cls(path, read_text(path) if path.exists() else None)
        if found._before is None:
            for member in _photographed(path.parent):
                found.add(member)
        return found

    @property
    def members(self) -> tuple[Member, ...]:
        """The people in their order, with the photos that are there."""
        return tuple(_with_photos(entry, self.folder) for entry in self._state.entries)

    @property
    def exists(self) -> bool:
        """Whether there was a file when it was opened, or it was saved since."""
        return self._before is not None

    @property
    def before(self) -> str | None:
        """What the file said when it was opened or last saved; None where there was none."""
        return self._before

    @property
    def text(self) -> str:
        """The file as `save` writes it."""
        return self._state.layout.text

    def member(self, id: str) -> Member:  # noqa: A002  the word of the file
        """Who has this id. Raises CastError."""
        return self.members[self._index(id)]

    def photo_specs(self, id: str) -> tuple[str, ...]:  # noqa: A002
        """The files, folders and patterns that stand for a person's photos, as written."""
        return self._state.entries[self._index(id)].photos

    def add(self, member: Member, comment: str = "") -> None:
        """Add a person at the end. ``photos`` may be folders; those inside the cast's folder are written as
        seen from it. Raises CastError where the id or a name is taken."""
        piece = new_piece(member, comment, self.folder, self._state.layout.indent, self._newline)
        self._apply(lambda file: file._added(piece))

    def update(self, id: str, *, comment: str | None = None, **values: Any) -> None:  # noqa: A002
        """Change fields of a person, named as in `Member`; ``photos`` may be folders or texts as written.

        ``comment`` replaces what an earlier one said. Raises CastError for an id that is not there or a name
        that is taken, and TypeError for an unknown field.
        """
        self._apply(lambda file: file._updated(id, values, comment))

    def remove(self, id: str) -> None:  # noqa: A002
        """Take a person out, with the comments right above. Raises CastError for an id that is not there."""
        self._apply(lambda file: file._removed(id))

    def save(self) -> None:
        """Write the file, by a temporary file and a rename.

        Where somebody else has changed it since it was opened, the changes are made to what is there now.
        Raises CastError, or WorkFolderError where the folder cannot be written.
        """
        now = read_text(self.path) if self.path.exists() else None
        if now != self._before:
            self._state = _read(now if now is not None else HEAD, self.path)
            for edit in self._edits:
                edit(self)
        text = self.text
        if _members(_read(text, self.path).entries) != _members(self._state.entries):
            raise CastError(f"{self.path} cannot be changed by a program.", "Change it by hand.")
        write_text(self.path.resolve(), text)
        self._before, self._edits = text, []

    @property
    def _newline(self) -> str:
        return newline_of(self.text)

    def _apply(self, edit: Callable[[CastFile], None]) -> None:
        if self._state.layout.closed:
            raise CastError(
                f"The people of {self.path} stand in brackets.",
                "Write each person as '- name: …' in lines of their own, then run again.",
            )
        edit(self)
        self._edits.append(edit)

    def _index(self, id: str) -> int:  # noqa: A002
        ids = [entry.member.id for entry in self._state.entries]
        if id not in ids:
            raise CastError(f"{self.path} has nobody with the id {id!r}.", f"There are: {', '.join(ids)}.")
        return ids.index(id)

    def _added(self, text: str) -> None:
        layout, pieces = self._state.layout, list(self._state.layout.pieces)
        head = layout.head
        if pieces:
            last = pieces[-1].text
            ended = last if last.endswith(("\n", "\r")) else last + self._newline
            airy = _ends_blank(head) if len(pieces) == 1 else any(piece.gap for piece in pieces[:-1])
            pieces[-1] = Piece(ended, pieces[-1].gap or (self._newline if airy else ""))
        elif not _ends_blank(head):
            head += self._newline
        self._take(replace(layout, head=head, pieces=(*pieces, Piece(text))))

    def _updated(self, id: str, values: Mapping[str, Any], comment: str | None) -> None:  # noqa: A002
        index = self._index(id)
        pieces = list(self._state.layout.pieces)
        text = pieces[index].text
        if comment is not None:
            text = with_comment(text, comment, self._state.layout.indent, self._newline)
        if values:
            text = changed_piece(text, id, values, self.folder, self.path)
        pieces[index] = replace(pieces[index], text=text)
        self._take(replace(self._state.layout, pieces=tuple(pieces)))

    def _removed(self, id: str) -> None:  # noqa: A002
        index = self._index(id)
        pieces = list(self._state.layout.pieces)
        gap = pieces.pop(index).gap
        layout = replace(self._state.layout, pieces=tuple(pieces))
        if gap.strip():
            layout = _after(layout, index, gap)
        self._take(layout)

    def _take(self, layout: Layout) -> None:
        """Make a changed layout the state, if it holds."""
        line, entries = layout.head.count("\n"), []
        for piece in layout.pieces:
            source = Source(self.path, line)
            people = people_of(compose(piece.text, source), source)
            entries.append(entry_of(people.value[0], source) if people else Entry(Member("")))
            line += (piece.text + piece.gap).count("\n")
        known = with_ids(tuple(entries))
        check_apart(known, Source(self.path).error)
        self._state = _State(layout, known)


def _ends_blank(text: str) -> bool:
    lines = NEWLINE.split(text)
    return len(lines) > 1 and not lines[-2].strip()


def _after(layout: Layout, index: int, gap: str) -> Layout:
    """The layout with the words between two people kept, when the first of them goes."""
    if index == 0:
        return replace(layout, head=layout.head + gap)
    pieces = list(layout.pieces)
    pieces[index - 1] = replace(pieces[index - 1], gap=pieces[index - 1].gap + gap)
    return replace(layout, pieces=tuple(pieces))


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
    state, folder, source = _read(read_text(path), path), path.parent, Source(path)
    photos, notes = [], []
    for entry in state.entries:
        for i, spec in enumerate(entry.photos):
            key = f"photos {i}"
            found = _found(spec, folder, source, entry.lines.get(key, entry.line))
            photos += [(entry, key, photo) for photo in found]
            notes += [] if found else [f"There is no picture in {spec} ({source.path.name})."]
    check_photos(photos, source.error)
    members = tuple(_with_photos(entry, folder) for entry in state.entries)
    return Cast(members, path, (*notes, *warnings(members)))


def _found(spec: str, folder: Path, source: Source, line: int) -> tuple[Path, ...]:
    try:
        return photos_of(spec, folder)
    except FileNotFoundError as error:
        hint = f"Photos are looked for from {folder}; name a file, a folder, or a pattern such as anna-*.jpg."
        raise source.error(line, f"the photo {spec!r} is missing: {error}.", hint) from None
    except OSError as error:
        raise source.error(line, f"the photo {spec!r} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise source.error(line, f"{error}", f"Formats: {formats()}.") from None


def _with_photos(entry: Entry, folder: Path) -> Member:
    """The person with those of the photos that are there."""
    photos: dict[Path, None] = {}
    for spec in entry.photos:
        try:
            photos |= dict.fromkeys(photos_of(spec, folder))
        except (OSError, ValueError):
            continue
    return replace(entry.member, photos=tuple(photos))


def _read(text: str, path: Path) -> _State:
    source = Source(path)
    node = compose(text, source)
    people = people_of(node, source)
    entries = with_ids(tuple(entry_of(item, source) for item in (people.value if people else ())))
    check_apart(entries, source.error)
    return _State(divided(text, node, source), entries)


def _members(entries: Iterable[Entry]) -> list[tuple[Member, Sequence[str]]]:
    return [(entry.member, entry.photos) for entry in entries]


def _photographed(folder: Path) -> tuple[Member, ...]:
    """The people of a folder that holds only photos; nobody where it holds none or does not exist.

    Their subfolders stand for the photos in them, so that those put there later count too.
    """
    try:
        members = members_of_folder(folder)[0] if folder.is_dir() else ()
    except CastError:
        return ()
    return tuple(replace(m, photos=tuple(dict.fromkeys(_top(p, folder) for p in m.photos))) for m in members)


def _top(photo: Path, folder: Path) -> Path:
    return folder / photo.relative_to(folder).parts[0]
