"""Room on the scratch disk: asked before anything is fetched, made where films of ended runs still lie."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from shotad.batch.storage.places import shown
from shotad.batch.storage.scratch import benches_in
from shotad.core import StorageError

SPARE = 512 << 20
"""Bytes that stay free: the run keeps frames and records, and others use the disk too."""

HALF = ".fetched"
"""Ending of files that are being fetched. They have their full length from the start, but not the room."""

Room = Callable[[Path, str], None]
"""Refuses a file that has been given its length and does not fit, by where it is here and in the store."""


def check_room(folder: Path, wanted: int, place: str) -> None:
    """Refuse to fetch ``wanted`` bytes where they do not fit. Raises StorageError."""
    free = shutil.disk_usage(folder).free
    if free < wanted + SPARE:
        raise _too_small(folder, wanted, free, place)


def room_for(half: Path, place: str) -> None:
    """As `check_room`, for a file that has been given its length already."""
    check_room(half.parent, _coming(half), place)


def room_in(scratch: Path) -> Room:
    """As `room_for`, for films: what other runs are fetching to ``scratch`` counts too. Before anything is
    refused, films that are left there from runs that have ended go, those first that were left first."""

    def check(half: Path, place: str) -> None:
        while True:
            others = [one for bench in benches_in(scratch, held=True) for one in bench.glob(f"film/.*{HALF}")]
            wanted = sum(_coming(one) for one in {half, *others})
            free = shutil.disk_usage(scratch).free
            if free >= wanted + SPARE:
                return
            left = [bench / "film" for bench in benches_in(scratch, held=False)]
            films = sorted((path.stat().st_mtime, path) for path in left if path.is_dir())
            if not films:
                raise _too_small(scratch, wanted, free, place)
            shutil.rmtree(films[0][1])

    return check


def _coming(half: Path) -> int:
    """Bytes of a file that are still to be fetched: its length less what it takes on the disk."""
    try:
        found = half.stat()
    except OSError:
        return 0
    return max(0, found.st_size - getattr(found, "st_blocks", 0) * 512)


def _too_small(folder: Path, wanted: int, free: int, place: str) -> StorageError:
    return StorageError(
        f"{shown(place)} does not fit on the disk of {folder}: {_size(wanted)} are to be fetched, "
        f"{_size(free)} are free, of which {_size(SPARE)} stay so.",
        "Make room, name another scratch folder, or let fewer films be described at a time.",
        again=True,
    )


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
