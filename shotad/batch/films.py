"""The films of a place: one file, a folder with all below it, or a pattern with ``*`` and ``?``.

Work folders and what stands in them are no films, nor is anything that begins with a dot. What lies beside a
film and is meant for it are settings, subtitles, a cast and a note:

| of ``movie.mp4`` | of every film in the folder |
|---|---|
| ``movie.yaml`` | ``shotad.yaml`` |
| ``movie.srt``, ``movie.en.vtt`` … | |
| ``movie.cast/``, ``movie.cast.yaml`` | ``cast/``, ``cast.yaml`` |
| ``movie.note.txt`` | |
| ``movie.ad.vtt``, ``movie.en.ad.m4a`` …: a description that it has | |

A folder may also be watched for films that are new or have changed.
"""

from __future__ import annotations

import bisect
import glob
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from shotad.batch.places import WEB, is_local, join, local_path, name_of, parent_of, scheme_of
from shotad.batch.store import Store, StoredObject
from shotad.core import ShotadError
from shotad.core.arguments import refuse_too_long
from shotad.core.errors import FilmError, StorageError
from shotad.film.beside import (
    HEAD_BYTES,
    RECORDS_OF_WORK,
    SUBTITLE_ENDINGS,
    choose_cast,
    choose_note,
    choose_subtitles,
    comparable,
    descriptions_named,
    first_named,
    is_dialogue_beside,
    is_film_name,
    is_inner_folder,
    language_order,
    names_in_inner_folders,
    passed_over_files,
    passed_over_note,
    read_head_beside,
    stem_of,
)
from shotad.film.container import spoken_language

_WORK = ".shotad"
_MAGIC = re.compile(r"[*?]|\[[^\]]+\]")


def films_in(place: str | os.PathLike[str]) -> Iterator[StoredObject]:
    """The films of a place, sorted by name. Raises FilmError where there is nothing at all by that name,
    StorageError for a store that cannot be asked.

    A name that is there is taken as it is, also where it looks like a pattern. ``**`` stands for any depth.
    """
    text = os.fspath(place)
    yield from _local(local_path(text)) if is_local(text) else _remote(text)


def _local(place: Path) -> Iterator[StoredObject]:
    refuse_too_long(place)
    if place.is_dir():
        files = []
        for folder, below, names in os.walk(place, followlinks=False):
            if (folder.endswith(_WORK) or not RECORDS_OF_WORK.isdisjoint(names)) and Path(folder) != place:
                below.clear()
                continue
            below[:] = [name for name in below if not name.startswith(".") and not name.endswith(_WORK)]
            files += [Path(folder, name) for name in names if is_film_name(name)]
    elif place.exists():
        files = [place]
    elif _MAGIC.search(str(place)):
        named = [Path(name) for name in glob.glob(str(place), recursive=True)]
        films = [path for path in named if path.is_file() and is_film_name(path.name)]
        inside = {
            path.parent for path in films if any((path.parent / name).is_file() for name in RECORDS_OF_WORK)
        }
        files = [path for path in films if not path.parent.name.endswith(_WORK) and path.parent not in inside]
    else:
        raise FilmError(f"There is no {place}.", "Check the path.")
    for path in sorted(set(files)):
        try:
            state = path.stat()
        except OSError:
            continue  # gone since the folder was read
        yield StoredObject(str(path), state.st_size, datetime.fromtimestamp(state.st_mtime, UTC))


def _remote(place: str) -> Iterator[StoredObject]:
    store = Store(place)
    alone = None if place.endswith("/") else store.find(place)
    if alone is not None:
        entries = [alone]
    elif scheme_of(place) in WEB:
        # A page that lists files is no folder: films on the web are named one by one.
        raise store.missing(place)
    elif (magic := _MAGIC.search(place)) is not None:
        top = place[: place.rindex("/", 0, magic.start())]
        # A pattern as a regular expression: ``*`` and ``?`` stay within a folder, ``**/`` is any number.
        wildcards = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        written = ""
        for part in re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", place):
            if part.startswith("[") and part.endswith("]") and len(part) > 2:
                inner = part[1:-1].replace("\\", r"\\")
                written += f"[^{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
            else:
                written += wildcards.get(part) or re.escape(part)
        pattern = re.compile(written)
        entries = [film for film in _films_below(store, top) if pattern.fullmatch(film.place)]
    else:
        entries = list(_films_below(store, place))
    yield from entries


def _films_below(store: Store, top: str) -> Iterator[StoredObject]:
    entries = store.entries(top)
    if not entries:
        raise store.missing(top)
    start = len(top.rstrip("/")) + 1
    names = (entry.place[start:].rpartition("/") for entry in entries)
    work_folders = {folder for folder, _, name in names if name in RECORDS_OF_WORK and folder}
    for entry in entries:
        *folders, name = entry.place[start:].split("/")
        if not is_film_name(name) or any(part.startswith(".") or part.endswith(_WORK) for part in folders):
            continue
        parents = ["/".join(folders[:depth]) for depth in range(1, len(folders) + 1)]
        if work_folders.isdisjoint(parents):
            yield entry


ALL = "shotad"
"""Of ``shotad.yaml``: the settings of all films in a folder."""

_YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Beside:
    """Places of what is meant for a film. ``settings``: those nearer to the film stand later."""

    settings: tuple[str, ...] = ()
    subtitles: str | None = None
    cast: str | None = None
    note: str | None = None
    descriptions: tuple[str, ...] = ()
    """Audio description that the film has: no input of a run that stops for it."""
    passed_over: str = ""
    """A note on files that look as if they were meant for the film and are not used; empty for none."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all that is used."""
        places = (*self.settings, self.subtitles, self.cast, self.note)
        return tuple(name_of(place) for place in places if place is not None)


_SIDE_BY_SIDE = 16
"""Folders elsewhere that are read at a time."""

_MOST = 1000
"""Names that one film's may begin, beyond which no more are looked at."""


class FilesBeside:
    """Names of files and folders by the folder that they are in; each folder is read once."""

    def __init__(self) -> None:
        self._read: dict[str, frozenset[str] | StorageError] = {}
        self._sorted: dict[str, list[str]] = {}
        self._films: dict[str, list[str]] = {}
        self._inner_folders: dict[str, list[str]] = {}

    def read(self, folders: Iterable[str]) -> None:
        """Read folders elsewhere, many at a time: each costs a request or more."""
        unread = [
            folder for folder in dict.fromkeys(folders) if folder not in self._read and not is_local(folder)
        ]
        with ThreadPoolExecutor(_SIDE_BY_SIDE, "beside") as pool:
            self._read.update(zip(unread, pool.map(_names_in, unread), strict=True))

    def of(self, folder: str) -> frozenset[str]:
        """The names in a folder; none where it cannot be read. Raises StorageError for one elsewhere."""
        if folder not in self._read:
            self._read[folder] = _names_in(folder)
        names = self._read[folder]
        if isinstance(names, StorageError):
            raise names
        return names

    def films_in(self, folder: str) -> list[str]:
        """The names of films in a folder, in the order of letters."""
        if folder not in self._films:
            self._films[folder] = sorted(filter(is_film_name, self.of(folder)))
        return self._films[folder]

    def has_one_film(self, folder: str) -> bool:
        """Whether no more than one film lies in a folder."""
        return len(self.films_in(folder)) < 2

    def inner_folders(self, folder: str) -> list[str]:
        """The names of folders of subtitles and of descriptions in a folder; work folders are none."""
        if folder not in self._inner_folders:
            self._inner_folders[folder] = [
                name
                for name in sorted(filter(is_inner_folder, self.of(folder)))
                if RECORDS_OF_WORK.isdisjoint(self.of(join(folder, name)))
            ]
        return self._inner_folders[folder]

    def beginning(self, folder: str, start: str) -> list[str]:
        """The names in a folder that begin so; it may be a folder of very many films."""
        if folder not in self._sorted:
            self._sorted[folder] = sorted(self.of(folder), key=comparable)
        names, start = self._sorted[folder], comparable(start)
        first = bisect.bisect_left(names, start, key=comparable)
        candidates = names[first : first + _MOST]
        return list(itertools.takewhile(lambda name: comparable(name).startswith(start), candidates))


def names_elsewhere(folder: str) -> frozenset[str]:
    """The names in a folder on object storage. The web has none: a signed address says nothing of its
    neighbours, and no work folders are there."""
    if scheme_of(folder) in WEB:
        return frozenset()
    return frozenset(Store(folder).names(folder))


def _names_in(folder: str) -> frozenset[str] | StorageError:
    """The names in a folder; none where one of this machine cannot be read."""
    try:
        return frozenset(os.listdir(local_path(folder))) if is_local(folder) else names_elsewhere(folder)
    except StorageError as trouble:
        return trouble
    except OSError:
        return frozenset()


def beside_of(film: str, near: FilesBeside, language: str) -> Beside:
    """What lies beside a film; subtitles as `choose_subtitles`, for a description in ``language``."""
    folder, stem = parent_of(film), stem_of(name_of(film))
    # Only what can be meant: the folder may hold very many films.
    names = [name for start in (stem, "cast", ALL) for name in near.beginning(folder, start)]
    settings = [
        first_named(stem, (f"{beginning}{ending}" for ending in _YAML), names) for beginning in (ALL, stem)
    ]
    cast = choose_cast(stem, names)
    subtitles = _subtitles_of(film, near, language)
    note = choose_note(stem, names)
    descriptions = _descriptions_of(film, near)
    return Beside(
        settings=tuple(join(folder, file) for file in settings if file is not None),
        subtitles=None if subtitles is None else join(folder, subtitles),
        cast=None if cast is None else join(folder, cast),
        note=None if note is None else join(folder, note),
        descriptions=descriptions,
        passed_over=_passed_over(film, near, [subtitles] if subtitles else [], descriptions),
    )


def name_beside(film: str, place: str) -> str:
    """The name of a file by the folder of the film: ``AD/movie.wav`` of ``films/AD/movie.wav``."""
    names = [name_of(place)]
    parent, folder = parent_of(place), parent_of(film)
    while parent != folder and parent_of(parent) != parent:
        names.insert(0, name_of(parent))
        parent = parent_of(parent)
    return "/".join(names)


def _passed_over(film: str, near: FilesBeside, subtitles: Sequence[str], descriptions: Sequence[str]) -> str:
    """The note on files beside a film of this machine that are not used; empty for none."""
    if not is_local(film):
        return ""
    folder, stem = parent_of(film), stem_of(name_of(film))
    # Beside the only film of a folder any subtitles may be meant for it.
    has_one_film = near.has_one_film(folder)
    names = [*(near.of(folder) if has_one_film else near.beginning(folder, stem)), *_inner_names(film, near)]
    used = [*subtitles, *(name_beside(film, place) for place in descriptions)]
    read_head = partial(read_head_beside, local_path(film))
    return passed_over_note(stem, passed_over_files(stem, names, used, read_head))


def _inner_names(film: str, near: FilesBeside) -> list[str]:
    """What lies in the folders of subtitles and of descriptions beside a film, as far as it may be meant for
    it, and films beside it, for which it may be meant too; nothing where there are no such folders."""
    folder, stem = parent_of(film), stem_of(name_of(film))
    has_one_film = near.has_one_film(folder)

    def names_in(inner: str) -> Iterable[str]:
        place = join(folder, inner)
        # Beside several films, a file is of that whose name it has, or lies in the film's own folder.
        is_any_meant = has_one_film or "/" in inner
        return near.of(place) if is_any_meant else near.beginning(place, stem)

    names = names_in_inner_folders(stem, near.inner_folders(folder), names_in)
    if not names:
        return []
    films = near.films_in(folder)
    of_that_name = filter(is_film_name, near.beginning(folder, stem))
    # Of other films no more count than that there are some.
    return [*names, *of_that_name, *films[:2]]


def _subtitles_of(film: str, near: FilesBeside, language: str) -> str | None:
    """The subtitles of a film, by their name in its folder or in a folder of subtitles there."""
    folder, stem = parent_of(film), stem_of(name_of(film))
    names = near.beginning(folder, stem)
    names += _inner_names(film, near)
    if not is_local(film):
        return choose_subtitles(stem, names, language_order(None, language))
    path = local_path(film)
    candidates = [name for name in names if name.lower().endswith(SUBTITLE_ENDINGS)]
    # Only a choice between several is worth a look into the film.
    spoken = spoken_language(path) if len(candidates) > 1 else None
    languages = language_order(spoken, language)
    return choose_subtitles(stem, names, languages, partial(is_dialogue_beside, path))


def _descriptions_of(film: str, near: FilesBeside) -> tuple[str, ...]:
    """Descriptions beside a film, text first. Of files elsewhere only those are read whose names say it."""
    folder, stem = parent_of(film), stem_of(name_of(film))
    names = [*near.beginning(folder, stem), *_inner_names(film, near)]
    if is_local(film):
        read_head = partial(read_head_beside, local_path(film))
    else:
        read_head = partial(_head_elsewhere, folder)
    named = descriptions_named(stem, names, read_head, opens_all=is_local(film))
    return tuple(join(folder, description.name) for description in named)


def _head_elsewhere(folder: str, name: str) -> str:
    """The text of a file on object storage; empty where it cannot be read."""
    place = join(folder, name)
    try:
        return Store(place).read(place)[:HEAD_BYTES].decode("utf-8", "replace")
    except (ShotadError, OSError):
        return ""


Look = Callable[[], Iterable[StoredObject]]

LEAST_PAUSE = 2.0
"""Seconds between two looks at least."""
_SHARE = 10
"""A look is taken no more often than every so many times the time that it takes itself."""

State = tuple[int | None, datetime | None]


class Watch:
    """Looks for films that are new or have changed. ``settle``: seconds for which size and date of a film
    must stay the same before it is taken. ``clock``: seconds that only go on; ``now``: the date."""

    def __init__(self, look: Look, settle: float, clock: Callable[[], float]) -> None:
        if settle < 0:
            raise ValueError(f"settle must be 0 or more, got {settle}")
        self._look, self._settle, self._clock = look, settle, clock
        self._seen: dict[str, tuple[State, float]] = {}
        self._taken: dict[str, State] = {}
        self._next = clock()
        self.trouble: str | None = None
        """Why the last look failed, if it did; the next one may not."""

    def take(self, films: Iterable[StoredObject]) -> None:
        """These are taken already."""
        self._taken.update((film.place, _state(film)) for film in films)

    def settled(self) -> list[StoredObject]:
        """The films that have settled since the last call, sorted; none before it is time to look again."""
        began = self._clock()
        if began < self._next:
            return []
        try:
            films = [film for film in self._look() if not film.lost]
            self.trouble = None
        except (ShotadError, OSError) as error:
            films, self.trouble = [], str(error)
        ended = self._clock()
        self._next = ended + max(LEAST_PAUSE, min(self._settle, 10.0) / 2, _SHARE * (ended - began))
        if self.trouble:
            return []
        before, self._seen = self._seen, {}
        ready = []
        for film in films:
            state = _state(film)
            if self._taken.get(film.place) == state:
                continue
            last_state, since = before.get(film.place, (state, began))
            since = since if last_state == state else began
            if began - since >= self._settle and film.size != 0:
                ready.append(film)
            else:
                self._seen[film.place] = state, since
        self.take(ready)
        return ready


def _state(film: StoredObject) -> State:
    return (film.size, film.changed)
