"""A work folder for each film, and never one for two.

A film keeps the folder that an earlier run gave it, whatever films come beside it later: the folder's own
``settings.json`` says whose it is.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shotad.batch.storage.places import (
    is_local,
    join,
    local_path,
    name_of,
    parent_of,
    scheme_of,
    shown,
    work_place_of,
)
from shotad.core import SETTINGS, parse_json, stem_of

_ENDING = ".shotad"
_WEB = ("http", "https")
_SIDE_BY_SIDE = 16
"""Folders elsewhere that are asked for at a time."""


class Folders:
    """Gives out work folders: beside the films, or all in the folder ``out``."""

    def __init__(self, out: str | None = None) -> None:
        self._out = out
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()
        self._known: set[str] = set()
        self._owners: dict[str, str | None] = {}

    def of(self, films: Sequence[str]) -> list[str]:
        """The folder of each film, in order; a film that comes again gets the one that it has."""
        new = [film for film in films if film not in self._given]
        self._known.update(new)
        here = Counter((parent_of(film), _stem(film)) for film in [*self._given, *new])
        names = {film: list(self._names(film, here[parent_of(film), _stem(film)] > 1)) for film in new}
        self._look_up(names.values())
        # Who was here before is served first.
        for film in sorted(new, key=lambda film: not any(self._is_own(one, film) for one in names[film])):
            self._give(film, names[film])
        return [self._given[film] for film in films]

    def _give(self, film: str, names: Sequence[str]) -> None:
        free = [name for name in names if name not in self._taken and self._is_free(name, film)]
        own = [name for name in free if self._is_own(name, film)]
        self._given[film] = folder = (own or free or names[-1:])[0]
        self._taken.add(folder)

    def _look_up(self, names: Iterable[Sequence[str]]) -> None:
        """Ask whose the folders elsewhere are, many at a time: only those that are there, by a list."""
        some = dict.fromkeys(one for folders in names for one in folders)
        asked = [one for one in some if one not in self._owners and not is_local(one)]
        parents = dict.fromkeys(parent_of(one) for one in asked)
        with ThreadPoolExecutor(_SIDE_BY_SIDE, "owners") as pool:
            there = dict(zip(parents, pool.map(_names_in, parents), strict=True))
            self._owners.update(dict.fromkeys(asked))
            found = [one for one in asked if name_of(one) in there[parent_of(one)]]
            owners = pool.map(lambda one: _owner(one, self._known), found)
            self._owners.update(zip(found, owners, strict=True))

    def _is_own(self, folder: str, film: str) -> bool:
        return self._owner(folder) == _plain(film)

    def _owner(self, folder: str) -> str | None:
        if folder not in self._owners:
            self._owners[folder] = _owner(folder, self._known)
        return self._owners[folder]

    def _is_free(self, folder: str, film: str) -> bool:
        """Whether a folder is nobody's, or the film's: also that of a copy which lies elsewhere, as in a
        library that was copied with its work folders."""
        owner = self._owner(folder)
        if owner in (None, _plain(film)):
            return True
        return owner not in self._known and owner is not None and _is_copy(film, owner)

    def _names(self, film: str, has_twin: bool) -> Iterator[str]:
        """Folders that a film may have, the plainest first; no other film has the last one."""
        parent = parent_of(film) if self._out is None else self._out
        stem, name, above = _stem(film), name_of(film), name_of(parent_of(film))
        yield work_place_of(film, self._out)
        if has_twin or self._out is None:
            yield join(parent, f"{stem_of(f'{name}.x')}{_ENDING}")
        if self._out is not None:
            yield join(parent, f"{stem_of(f'{above}-{stem}.x')}{_ENDING}")
            yield join(parent, f"{stem_of(f'{above}-{name}.x')}{_ENDING}")
        yield join(parent, f"{stem}-{hashlib.sha256(os.fsencode(film)).hexdigest()[:8]}{_ENDING}")


def _stem(film: str) -> str:
    return stem_of(name_of(film))


def _is_copy(film: str, other: str) -> bool:
    """Whether two films seem to be one: they are of the same name and size."""
    if not is_local(film) or name_of(film) != name_of(other):
        return False
    try:
        return local_path(film).stat().st_size == Path(other).stat().st_size
    except OSError:
        return False


def _names_in(folder: str) -> frozenset[str]:
    """What there is in a folder elsewhere; nothing in one of the web, where no work folders are."""
    if scheme_of(folder) in _WEB:
        return frozenset()
    from shotad.batch.storage.store import Store

    return frozenset(Store(folder).names(folder))


def _owner(folder: str, known: Container[str]) -> str | None:
    """The film that a work folder is of; None: nobody's, or one of a film that has moved.

    Films that are ``known`` are there and not asked for. Raises StorageError where a store cannot be asked.
    """
    try:
        record = parse_json(_settings(folder))
        film = record["film"]["path"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return _plain(film) if isinstance(film, str) and (film in known or _exists(film)) else None


def _settings(folder: str) -> bytes:
    if is_local(folder):
        return (local_path(folder) / SETTINGS).read_bytes()
    from shotad.batch.storage.store import Store

    return Store(folder).read(join(folder, SETTINGS))


def _exists(film: str) -> bool:
    """Whether a film that was described is still there. The web is not asked: keys are gone."""
    if is_local(film):
        return local_path(film).exists()
    if scheme_of(film) in _WEB:
        return True
    from shotad.batch.storage.store import Store

    return Store(film).find(film) is not None


def _plain(film: str) -> str:
    """A film as ``settings.json`` names it; of a web address without what changes with each signature."""
    return shown(film).partition("?")[0] if scheme_of(film) in _WEB else shown(film)
