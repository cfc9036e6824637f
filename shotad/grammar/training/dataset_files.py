"""Where the files of a data set of shots are: a folder for each film, wherever it stands."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path

from shotad.grammar.training.data import CLIP_SUFFIXES, PICTURE_SUFFIXES, ClipFile, Stills

KINDS = ("trailer", "movie")

DEPTH = 3
"""Folders between the data set's and those of the films, at most."""

_FILE = re.compile(r"(?:shot_)?(\d+)(?:_img_(\d+))?", re.IGNORECASE)
_FILM = re.compile(r"tt\d+")


class Shelves:
    """The shots of every folder below ``root`` that is named after one of ``films``.

    A shot is ``shot_0012.mp4``, or pictures ``shot_0012_img_0.jpg`` in the order of their number, or a folder
    ``shot_0012`` with pictures in the order of their names; ``shot_`` may be left out, the number may have
    any zeros in front. Empty files are none.
    """

    def __init__(self, root: Path, films: set[str]) -> None:
        self._root, self._films = root, films
        self._folders: dict[str, list[Path]] = defaultdict(list)
        self._shots: dict[Path, dict[int, ClipFile | Stills]] = {}
        self._walk(root, DEPTH)

    def _walk(self, folder: Path, depth: int) -> None:
        for entry in _entries(folder):
            if entry.name in self._films and entry.is_dir():
                self._folders[entry.name].append(folder / entry.name)
            elif depth and not _FILM.fullmatch(entry.name) and entry.is_dir():
                self._walk(folder / entry.name, depth - 1)

    def source(self, kind: str, film: str, shot: int) -> ClipFile | Stills | None:
        """The shot's pictures, or its clip where there are none; None where there is neither.

        Folders below one that is named after ``kind`` (trailer or movie) come first; those below the other
        kind's hold another film of the same id.
        """
        other = KINDS[1 - KINDS.index(kind)]
        folders = [path for path in self._folders.get(film, ()) if not self._below(path, other)]
        folders.sort(key=lambda path: (not self._below(path, kind), path))
        found = [source for path in folders if (source := self._in(path).get(shot)) is not None]
        return min(found, key=lambda source: isinstance(source, ClipFile), default=None)

    def _below(self, path: Path, kind: str) -> bool:
        return any(part.lower().startswith(kind) for part in path.relative_to(self._root).parts[:-1])

    def _in(self, folder: Path) -> dict[int, ClipFile | Stills]:
        if folder not in self._shots:
            self._shots[folder] = _shots_in(folder)
        return self._shots[folder]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name)


def _shots_in(folder: Path) -> dict[int, ClipFile | Stills]:
    clips: dict[int, Path] = {}
    stills: dict[int, list[tuple[int, Path]]] = defaultdict(list)
    for entry in _entries(folder):
        path = folder / entry.name
        match = _FILE.fullmatch(path.name if entry.is_dir() else path.stem)
        if match is None:
            continue
        shot, suffix = int(match[1]), path.suffix.lower()
        if entry.is_dir():
            stills[shot] += list(enumerate(_pictures(path)))
        elif suffix in PICTURE_SUFFIXES and entry.stat().st_size:
            stills[shot].append((int(match[2] or 0), path))
        elif suffix in CLIP_SUFFIXES and match[2] is None and entry.stat().st_size:
            clips.setdefault(shot, path)
    found: dict[int, ClipFile | Stills] = {shot: ClipFile(path) for shot, path in clips.items()}
    found |= {shot: Stills(tuple(path for _, path in sorted(rows))) for shot, rows in stills.items() if rows}
    return found


def _pictures(folder: Path) -> list[Path]:
    names = [e.name for e in _entries(folder) if e.is_file() and e.stat().st_size]
    return [folder / name for name in names if Path(name).suffix.lower() in PICTURE_SUFFIXES]
