"""Places: paths of this machine and addresses such as ``s3://bucket/films/movie.mp4``, both as text.

An address is never a ``Path``: that would take one of its slashes away. A run on a copy names addresses in
its records and errors.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from shotad.core import ShotadError
from shotad.core.errors import StorageError, UsageError
from shotad.core.progress import address_without_secrets
from shotad.core.records import map_texts
from shotad.core.system import path_of_url
from shotad.core.workfolder import film_stem, work_folder_of

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+)://")
S3 = ("s3", "s3a")
WEB = ("http", "https")
"""Schemes of stores that have ways of their own."""
_LONGEST_NAME = 255
"""Bytes of a file's name that most disks take; names on object storage may be longer."""


def is_address(text: str | os.PathLike[str]) -> bool:
    """Whether it names a place by scheme: ``s3://bucket/x → True``, ``C:/x → False``, ``/x → False``."""
    return isinstance(text, str) and _SCHEME.match(text) is not None


def scheme_of(place: str) -> str:
    """``s3://bucket/x → s3``; of a path ``file``."""
    match = _SCHEME.match(place)
    return match[1].lower() if match else "file"


def is_local(place: str | os.PathLike[str]) -> bool:
    """Whether it is on this machine: a path, or ``file://…``."""
    return scheme_of(os.fspath(place)) in ("file", "local")


def local_path(place: str | os.PathLike[str]) -> Path:
    """The path of a place on this machine: ``file:///films/a%20b.mp4 → /films/a b.mp4``.

    Raises UsageError for a place elsewhere.
    """
    text = os.fspath(place)
    if not is_local(text):
        raise UsageError(f"{shown(text)} is not on this machine.", "Name a path.")
    if not is_address(text):
        return Path(text)
    path = path_of_url(text.partition("://")[2])
    return Path(path) if Path(path).exists() else Path(unquote(path))


def join(place: str, name: str) -> str:
    """What is called ``name`` in the folder ``place``: ``s3://b/ad, x.shotad → s3://b/ad/x.shotad``."""
    if not is_address(place):
        return str(Path(place) / name)
    body, query = _parted(place)
    folder = body if body.endswith("://") else f"{body.rstrip('/')}/"
    return f"{folder}{name.lstrip('/')}{query}"


def parent_of(place: str) -> str:
    """The folder that a place is in: ``s3://b/films/x.mp4 → s3://b/films``; of a bucket the bucket."""
    if not is_address(place):
        return str(Path(place).parent)
    body, query = _parted(place)
    scheme, rest = body.split("://", 1)
    folder, _, name = rest.rstrip("/").rpartition("/")
    return f"{scheme}://{folder or name}{query}"


def name_of(place: str) -> str:
    """The last part of a place, fit to be a file's name here; that of a web address is decoded.

    ``s3://b/films/a b.mp4 → a b.mp4``; ``https://host/a%20b.mp4?x=1 → a b.mp4``.
    """
    if not is_address(place):
        return Path(place).name
    body, _ = _parted(place)
    name = body.split("://", 1)[1].rstrip("/").rpartition("/")[2]
    if scheme_of(place) in WEB:
        name = unquote(name).replace("/", "_")
    name = name.replace("\0", "_")
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    ending = Path(name).suffix if len(Path(name).suffix.encode()) <= 16 else ""
    return f"{film_stem(name)}{ending}"


def work_place_of(film: str, parent: str | None = None) -> str:
    """The work folder of a film: beside it, or in the folder ``parent``.

    ``s3://b/films/movie.mp4 → s3://b/films/movie.shotad``.
    """
    if not is_address(film):
        beside = work_folder_of(film)
        return str(beside) if parent is None else join(parent, beside.name)
    return join(parent_of(film) if parent is None else parent, f"{film_stem(name_of(film))}.shotad")


def shown(place: str) -> str:
    """A place as it may be printed and kept: without user, password and keys."""
    return address_without_secrets(place) if is_address(place) else place


def without_query(film: str) -> str:
    """A film as records and labels name it; of a web address without what changes with each signature."""
    return shown(film).partition("?")[0] if scheme_of(film) in WEB else shown(film)


def _parted(place: str) -> tuple[str, str]:
    """A web address and its query; elsewhere a question mark is a letter of the name like others."""
    if scheme_of(place) not in WEB:
        return place, ""
    query = urlsplit(place).query
    return (place[: -len(query) - 1], f"?{query}") if query else (place, "")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Paths of this machine with the addresses that they stand for."""

    by_path: Mapping[str, str]

    def out(self, data: bytes) -> bytes:
        """A JSON file for the store: addresses, without their keys, in place of paths."""
        return _replaced(data, {path: shown(place) for path, place in self.by_path.items()}, os.sep, "/")

    def back(self, data: bytes) -> bytes:
        """A JSON file from the store: paths of this machine in place of addresses."""
        return _replaced(data, {shown(place): path for path, place in self.by_path.items()}, "/", os.sep)

    @contextmanager
    def in_errors(self) -> Iterator[None]:
        """Errors of the block name addresses too: paths of the scratch disk are gone when they are read."""
        try:
            yield
        except StorageError:
            raise
        except ShotadError as error:
            for path, place in self.by_path.items():
                error.what = error.what.replace(path, shown(place))
                error.hint = error.hint.replace(path, shown(place))
            error.args = (f"{error.what} {error.hint}".strip(),)
            raise


def _replaced(data: bytes, other: Mapping[str, str], separator: str, new_separator: str) -> bytes:
    """A JSON file with its texts that are a key of ``other``, or a place below one, at the other place.
    ``separator``: what parts the names of a place before, and after."""
    try:
        tree = json.loads(data)
    except ValueError:
        return data

    def change(text: str) -> str:
        for before, after in other.items():
            if text == before or text.startswith(f"{before}{separator}"):
                return after + text[len(before) :].replace(separator, new_separator)
        return text

    return (json.dumps(map_texts(tree, change), ensure_ascii=False, indent=1) + "\n").encode()
