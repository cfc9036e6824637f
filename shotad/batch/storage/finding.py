"""The films of a place: one file, a folder with all below it, or a pattern with ``*`` and ``?``.

Work folders and what stands in them are no films, nor is anything that begins with a dot.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from shotad.batch.storage.places import is_local, local_path, scheme_of
from shotad.core import FilmError

if TYPE_CHECKING:
    from shotad.batch.storage.entries import Entry
    from shotad.batch.storage.store import Store

ENDINGS = frozenset(
    {
        *(".3g2", ".3gp", ".asf", ".avi", ".dv", ".f4v", ".flv", ".gxf", ".ivf", ".m1v", ".m2t", ".m2ts"),
        *(".m2v", ".m4v", ".mj2", ".mkv", ".mov", ".mp4", ".mpe", ".mpeg", ".mpg", ".mts", ".mxf", ".nut"),
        *(
            ".obu",
            ".ogm",
            ".ogv",
            ".qt",
            ".rm",
            ".rmvb",
            ".tod",
            ".ts",
            ".vob",
            ".webm",
            ".wmv",
            ".wtv",
            ".y4m",
        ),
    }
)
"""How names of films end: containers of pictures that shotad opens. A film that is named by itself may end
in any way."""

_RECORDS = frozenset({"shots.json", "settings.json", "track.json"})
"""By which a folder is known to be a work folder, whatever it is called."""
_WORK = ".shotad"
_MAGIC = re.compile(r"[*?]|\[[^\]]+\]")


@dataclass(frozen=True, slots=True)
class Found:
    """A film: its path or address, size in bytes, and when it was last changed (None: not told)."""

    place: str
    size: int | None
    changed: datetime | None


def films_in(place: str | os.PathLike[str]) -> Iterator[Found]:
    """The films of a place, sorted by name. Raises FilmError where there is nothing at all by that name,
    StorageError for a store that cannot be asked.

    A name that is there is taken as it is, also where it looks like a pattern. ``**`` stands for any depth.
    """
    text = os.fspath(place)
    yield from _local(local_path(text)) if is_local(text) else _remote(text)


def _local(place: Path) -> Iterator[Found]:
    if place.is_dir():
        files = _walk(place)
    elif place.exists():
        files = [place]
    elif _MAGIC.search(str(place)):
        named = [Path(name) for name in glob.glob(str(place), recursive=True)]
        files = [
            path for path in named if path.is_file() and _is_film(path.name) and not _in_work_folder(path)
        ]
    else:
        raise FilmError(f"There is no {place}.", "Check the path.")
    for path in sorted(set(files)):
        try:
            state = path.stat()
        except OSError:
            continue  # gone since the folder was read
        yield Found(str(path), state.st_size, datetime.fromtimestamp(state.st_mtime, UTC))


def _walk(top: Path) -> list[Path]:
    found: list[Path] = []
    for folder, below, names in os.walk(top, followlinks=False):
        if _is_work_folder(folder, names) and Path(folder) != top:
            below.clear()
            continue
        below[:] = [name for name in below if not name.startswith(".") and not name.endswith(_WORK)]
        found += [Path(folder, name) for name in names if _is_film(name)]
    return found


def _in_work_folder(path: Path) -> bool:
    return path.parent.name.endswith(_WORK) or any((path.parent / name).is_file() for name in _RECORDS)


def _remote(place: str) -> Iterator[Found]:
    from shotad.batch.storage.store import Store

    store = Store(place)
    alone = None if place.endswith("/") else store.find(place)
    if alone is not None:
        entries = [alone]
    elif scheme_of(place) in ("http", "https"):
        # A page that lists files is no folder: films on the web are named one by one.
        raise store.missing(place)
    elif (magic := _MAGIC.search(place)) is not None:
        top = place[: place.rindex("/", 0, magic.start())]
        wanted = re.compile(_pattern(place))
        entries = [one for one in _films_below(store, top) if wanted.fullmatch(one.place)]
    else:
        entries = list(_films_below(store, place))
    for one in entries:
        yield Found(one.place, one.size, one.changed)


def _films_below(store: Store, top: str) -> Iterator[Entry]:
    entries = store.entries(top)
    if not entries:
        raise store.missing(top)
    start = len(top.rstrip("/")) + 1
    work = _work_folders(one.place[start:] for one in entries)
    for one in entries:
        *folders, name = one.place[start:].split("/")
        if _is_film(name) and not any(part.startswith(".") or part.endswith(_WORK) for part in folders):
            inside = ("/".join(folders[:depth]) for depth in range(1, len(folders) + 1))
            if work.isdisjoint(inside):
                yield one


def _work_folders(names: Iterable[str]) -> set[str]:
    pairs = (name.rpartition("/") for name in names)
    return {folder for folder, _, name in pairs if name in _RECORDS and folder}


def _is_work_folder(folder: str, names: Iterable[str]) -> bool:
    return folder.endswith(_WORK) or not _RECORDS.isdisjoint(names)


def _is_film(name: str) -> bool:
    return not name.startswith(".") and Path(name).suffix.lower() in ENDINGS


def _pattern(place: str) -> str:
    """A pattern as a regular expression: ``*`` and ``?`` stay within a folder, ``**/`` is any number."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", place)
    known = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(known.get(part) or _letters(part) for part in parts)


def _letters(part: str) -> str:
    if part.startswith("[") and part.endswith("]") and len(part) > 2:
        inner = part[1:-1].replace("\\", r"\\")
        return f"[^{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
    return re.escape(part)
