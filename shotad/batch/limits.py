"""What films take of disk and memory, and what there is of both.

Estimates are upper ones: a film that is let in must not fill the disk on which the others are written.
"""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from shotad.batch.jobs import FilmJob
from shotad.core import FilmInfo
from shotad.core.errors import DiskFull, UsageError
from shotad.core.progress import size_text
from shotad.film.framestore import TICKS
from shotad.sound import OutputFile

MB = 1_000_000

_RECORDS = 20 * MB
"""Bytes of records, scripts and worksheet, of any film."""
_RECORDS_PER_SECOND = 20_000
_JPEG = 0.15
"""Bytes a pixel of a kept frame at most: live action took 0.08 at the default quality."""
_SOUND_PER_SECOND = 48_000 * 2 * 4 * 3
"""Bytes of sound while it is mixed: stereo in float, takes, programme and mix."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a film is and will need: the seconds to describe, and bytes on the disk of its ``folder``."""

    film_seconds: float
    disk: int
    folder: Path


def need_of(job: FilmJob, info: FilmInfo, folder: Path, outputs: Sequence[OutputFile] = ()) -> Need:
    """What a run on a film needs at most, less what an earlier run has written already."""
    seconds = job.seconds_of(info.duration)
    width, lines = info.size_within(job.config.film.grid_height)
    frame_bytes = info.duration * TICKS * (width * lines) * _JPEG
    disk = _RECORDS + _RECORDS_PER_SECOND * seconds + frame_bytes
    if outputs:
        size = info.path.stat().st_size if info.path is not None and info.path.is_file() else 0
        films = sum(file.kind.is_film for file in outputs)
        disk += films * size + _SOUND_PER_SECOND * info.duration * (1 + len(outputs))
    return Need(seconds, max(int(disk) - size_of(folder), _RECORDS), folder)


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder; 0 where there is none."""
    total = 0
    for at, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(at, name)).st_size
    return total


def free_disk(folder: Path) -> int:
    """Free bytes on the disk where ``folder`` is, or will be."""
    return shutil.disk_usage(_there(folder)).free


def disk_of(folder: Path) -> int:
    """Which disk a folder is on, or will be."""
    return _there(folder).stat().st_dev


def _there(folder: Path) -> Path:
    folder = folder.absolute()
    return next(path for path in (folder, *folder.parents) if path.exists())


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"\s*+(\d++(?:[.,]\d++)?)\s*+([kmgt]?)i?b?\s*+", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Bytes: ``2GB → 2000000000``, ``500 MB``, ``1.5g``. Raises UsageError."""
    match = _SIZE.fullmatch(text)
    size = math.inf if match is None else float(match[1].replace(",", ".")) * _UNITS[match[2].lower()]
    if size > _LARGEST:
        raise UsageError(f"{text[:80]!r} is no size.", "Write 2GB, 500MB or 1.5GB.")
    return int(size)


_LARGEST = 1e18
"""Bytes, a million terabytes: more is a slip, or a number of hundreds of digits."""


class Room:
    """Lets films in by the room on the disks of their folders: so much stays free, whatever they write.

    ``keep``: bytes to keep free (None: no check). The other arguments are how disks are asked.
    """

    def __init__(
        self,
        keep: int | None,
        *,
        free: Callable[[Path], int] = free_disk,
        disk: Callable[[Path], int] = disk_of,
        size: Callable[[Path], int] = size_of,
    ) -> None:
        self._keep, self._free, self._disk, self._size = keep, free, disk, size
        self._inside: dict[str, tuple[Need, int]] = {}
        """Films that were let in, and how large their folders were then."""

    def let_in(self, film: str, need: Need) -> bool:
        """Whether there is room for a film now; then it is counted until `left`. False: wait for others.

        Raises DiskFull where nobody is left to wait for.
        """
        if self._keep is None:
            return True
        disk = self._disk(need.folder)
        others = [inside for inside in self._inside.values() if self._disk(inside[0].folder) == disk]
        # What films that were let in may still write.
        due = 0
        for other, size_before in others:
            written = max(self._size(other.folder) - size_before, 0)
            due += max(other.disk - written, 0)
        free = self._free(need.folder)
        if free - due - need.disk >= self._keep:
            self._inside[film] = need, self._size(need.folder)
            return True
        if others:
            return False
        raise DiskFull(
            f"There is too little room on the disk of {need.folder.parent}: the film may need "
            f"{size_text(need.disk)} and {size_text(self._keep)} must stay free (--min-free), "
            f"but {size_text(free)} are left.",
            "Make room there, name another place with --out, or keep less free.",
        )

    def left(self, film: str) -> None:
        """A film has ended, well or not."""
        self._inside.pop(film, None)


def auto_jobs(films: int, cores: int, memory: int | None, *, loads_models: bool) -> int:
    """How many films to work on at once where nobody says: as many as cores and memory (bytes) carry.

    Models that are loaded into a worker are loaded by each: then it is one film at a time, and so it is where
    the system does not tell how much memory is free.
    """
    if loads_models or memory is None:
        return 1
    return max(1, min(films, cores // _CORES_PER_FILM, memory // _MEMORY_PER_FILM))


_CORES_PER_FILM = 2
"""Decoding uses about so many."""
_MEMORY_PER_FILM = 2_000 * MB
