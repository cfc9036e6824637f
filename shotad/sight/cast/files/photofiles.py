"""Photos of the cast: which files are meant, and casts that are nothing but a folder of them."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from shotad.core import CastError, Member
from shotad.sight.cast.files.ids import distinct_ids

FORMATS = (".bmp", ".jfif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
"""Endings of the picture files that are read, in lower case."""

_FOREIGN = (".avif", ".gif", ".heic", ".heif", ".jp2", ".raw", ".cr2", ".dng", ".nef", ".svg")
"""Pictures too, but not read: people are told, where other files are passed over in silence."""

_BRACKETS = re.compile(r"(?:(?<![\s_])[\s_]+)?\((\d+)\)$")
_NUMBER = re.compile(r"(?<![\s_-])[\s_-]+(\d+)$")
_UNFILLED = re.compile(r"person[-_ ]\d+", re.IGNORECASE)
"""What discovery calls somebody without a name."""


def is_photo(path: Path) -> bool:
    """Whether the file's name is that of a picture that can be read."""
    return path.suffix.lower() in FORMATS and not path.name.startswith(".")


def formats() -> str:
    """The endings, for messages."""
    return ", ".join(FORMATS)


def photos_in(folder: Path) -> tuple[Path, ...]:
    """All pictures in a folder and the folders in it; ``2.jpg`` stands before ``10.jpg``."""
    inside = (path for path in folder.rglob("*") if path.is_file() and is_photo(path))
    return natural(path for path in inside if not _hidden(path.relative_to(folder)))


def unread_in(folder: Path) -> tuple[Path, ...]:
    """Pictures in a folder that are in no format that is read."""
    return natural(
        path for path in folder.rglob("*") if path.suffix.lower() in _FOREIGN and path.name[0] != "."
    )


def natural(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Sorted as people count."""
    return tuple(sorted(paths, key=_counted))


def photos_of(spec: str, folder: Path) -> tuple[Path, ...]:
    """The files that a file, folder or pattern means, seen from ``folder``.

    Raises FileNotFoundError where there is nothing, and ValueError for a file of another format. A folder may
    hold none.
    """
    named = Path(spec).expanduser()
    path = folder / named
    if path.is_dir():
        return photos_in(path)
    if path.exists():
        if not is_photo(path):
            raise ValueError(f"{spec!r} is no picture that can be read ({formats()}).")
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
    for name, photos in (*_by_subfolder(folder), *_by_file(folder)):
        found.setdefault(name.casefold(), (name, []))[1].extend(photos)
    people = [one for _, one in sorted(found.items()) if one[1]]
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
    return members, _left_out(folder)


def _by_subfolder(folder: Path) -> list[tuple[str, Sequence[Path]]]:
    inside = (path for path in sorted(folder.iterdir()) if path.is_dir() and not _hidden(Path(path.name)))
    return [(spaced(path.name), photos_in(path)) for path in inside if path.suffix != ".shotad"]


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


def _left_out(folder: Path) -> tuple[str, ...]:
    unread = unread_in(folder)
    if not unread:
        return ()
    names = ", ".join(str(path.relative_to(folder)) for path in unread[:3]) + (", …" if unread[3:] else "")
    return (f"Pictures of formats that are not read were left out: {names}. Save them as JPEG or PNG.",)


def _hidden(inside: Path) -> bool:
    return any(part.startswith((".", "__")) for part in inside.parts)


def _counted(path: Path) -> list[tuple[int, int, str]]:
    parts = re.split(r"(\d+)", str(path).casefold())
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
