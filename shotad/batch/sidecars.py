"""What lies beside a film and is meant for it: settings, subtitles, a cast, a note.

| of ``movie.mp4`` | of every film in the folder |
|---|---|
| ``movie.yaml`` | ``shotad.yaml`` |
| ``movie.srt``, ``movie.en.vtt`` … | |
| ``movie.cast/``, ``movie.cast.yaml`` | ``cast/``, ``cast.yaml`` |
| ``movie.note.txt`` | |
"""

from __future__ import annotations

import bisect
import itertools
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePosixPath

from shotad.batch.storage.finding import ENDINGS
from shotad.batch.storage.places import is_local, join, local_path, name_of, parent_of, scheme_of
from shotad.core import StorageError

SUBTITLES = (".srt", ".vtt", ".ass", ".ssa")
"""Endings of subtitles, that taken first where there are several."""

ALL = "shotad"
"""Of ``shotad.yaml``: the settings of all films in a folder."""

_YAML = (".yaml", ".yml")
_NOT_SPEECH = frozenset(
    {"ad", "commentary", "comments", "description", "descriptions", "forced", "lyrics", "signs", "songs"}
)
"""Words in a name of subtitles that are no record of what is said."""
_FOR_DEAF = frozenset({"cc", "hi", "sdh"})
_WORDS = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*|cc|default|full|hi|sdh")
"""What may stand between a film's name and the ending of its subtitles: a language, or what kind they are."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Places of what is meant for a film. ``settings``: those nearer to the film stand later."""

    settings: tuple[str, ...] = ()
    subtitles: str | None = None
    cast: str | None = None
    note: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all that is used."""
        places = (*self.settings, self.subtitles, self.cast, self.note)
        return tuple(name_of(place) for place in places if place is not None)


_SIDE_BY_SIDE = 16
"""Folders elsewhere that are read at a time."""

_MOST = 1000
"""Names that one film's may begin, beyond which no more are looked at."""


class Neighbours:
    """Names of files and folders by the folder that they are in; each folder is read once."""

    def __init__(self) -> None:
        self._read: dict[str, frozenset[str] | StorageError] = {}
        self._sorted: dict[str, list[str]] = {}

    def read(self, folders: Iterable[str]) -> None:
        """Read folders elsewhere, many at a time: each costs a request or more."""
        new = [one for one in dict.fromkeys(folders) if one not in self._read and not is_local(one)]
        with ThreadPoolExecutor(_SIDE_BY_SIDE, "beside") as pool:
            self._read.update(zip(new, pool.map(_asked, new), strict=True))

    def of(self, folder: str) -> frozenset[str]:
        """The names in a folder; none where it cannot be read. Raises StorageError for one elsewhere."""
        if folder not in self._read:
            self._read[folder] = frozenset(_names(folder) if is_local(folder) else _elsewhere(folder))
        names = self._read[folder]
        if isinstance(names, StorageError):
            raise names
        return names

    def beginning(self, folder: str, start: str) -> list[str]:
        """The names in a folder that begin so; it may be a folder of very many films."""
        if folder not in self._sorted:
            self._sorted[folder] = sorted(self.of(folder))
        names = self._sorted[folder]
        first = bisect.bisect_left(names, start)
        return list(itertools.takewhile(lambda name: name.startswith(start), names[first : first + _MOST]))


def _names(folder: str) -> Iterable[str]:
    try:
        return os.listdir(local_path(folder))
    except OSError:
        return ()


def _elsewhere(folder: str) -> Iterable[str]:
    """Of a folder on object storage; the web has none: a signed address says nothing of its neighbours."""
    if scheme_of(folder) in ("http", "https"):
        return ()
    from shotad.batch.storage.store import Store

    return Store(folder).names(folder)


def _asked(folder: str) -> frozenset[str] | StorageError:
    try:
        return frozenset(_elsewhere(folder))
    except StorageError as trouble:
        return trouble


def beside_of(film: str, near: Neighbours, language: str) -> Beside:
    """What lies beside a film; of subtitles in several languages those in ``language``, else in English."""
    folder, name = parent_of(film), name_of(film)
    names, stem = near.of(folder), _stem(name)
    settings = [_first(names, (f"{whose}{ending}" for ending in _YAML)) for whose in (ALL, stem)]
    cast = _first(names, (f"{stem}.cast", f"{stem}.cast.yaml", f"{stem}.cast.yml",
                          "cast", "cast.yaml", "cast.yml"))  # fmt: skip
    found = (
        choose_subtitles(stem, near.beginning(folder, f"{stem}."), language),
        cast,
        _first(names, (f"{stem}.note.txt",)),
    )
    subtitles, cast, note = (None if one is None else join(folder, one) for one in found)
    return Beside(tuple(join(folder, one) for one in settings if one is not None), subtitles, cast, note)


def _stem(name: str) -> str:
    ending = PurePosixPath(name).suffix
    return name[: -len(ending)] if ending else name


def _first(names: frozenset[str], wanted: Iterable[str]) -> str | None:
    return next((name for name in wanted if name in names), None)


def choose_subtitles(stem: str, names: Iterable[str], language: str) -> str | None:
    """Of names in its folder the subtitles of the film ``stem``: ``movie.srt`` before ``movie.en.srt``.

    Of several languages ``language`` is taken, else English; of one language those for deaf people, which
    tell more. Forced lines, signs, songs, commentary and audio description are no record of what is said.
    """
    known = frozenset(names)
    films = {_stem(name) for name in known if PurePosixPath(name).suffix.lower() in ENDINGS}
    fit = [name for name in known if _is_of(name, stem, films)]
    return min(fit, key=lambda name: _rank(name, stem, language), default=None)


def _is_of(name: str, stem: str, films: set[str]) -> bool:
    ending = PurePosixPath(name).suffix
    if ending.lower() not in SUBTITLES or not name.startswith(f"{stem}."):
        return False
    words = _between(name, stem)
    # movie.part.srt is of movie.part.mp4 where there is such a film.
    of_another = bool(words) and _stem(name) in films
    apart = any(word.lower() in _NOT_SPEECH for word in words)
    return not of_another and not apart and all(_WORDS.fullmatch(word) for word in words)


def _between(name: str, stem: str) -> list[str]:
    middle = _stem(name)[len(stem) + 1 :]
    return middle.split(".") if middle else []


_LONG = {"eng": "en", "ger": "de", "deu": "de", "fre": "fr", "fra": "fr", "spa": "es", "ita": "it",
         "dut": "nl", "nld": "nl", "por": "pt"}  # fmt: skip


def _rank(name: str, stem: str, language: str) -> tuple[object, ...]:
    words = [word.lower() for word in _between(name, stem)]
    tongues = {_LONG.get(word, re.split("[-_]", word)[0]) for word in words}
    ours, english = language.lower().split("-")[0] in tongues, "en" in tongues
    ending = SUBTITLES.index(PurePosixPath(name).suffix.lower())
    return (bool(words), not ours, not english, not _FOR_DEAF & set(words), ending, name)
