"""Room on the scratch disk: asked before a film is fetched, made where finished ones still lie there."""

from __future__ import annotations

import shutil
from pathlib import Path

from shotad.catalogue.storage.places import shown
from shotad.errors import StorageError

SPARE = 512 << 20
"""Bytes that stay free: the run keeps frames and records, and others use the disk too."""


def check_room(folder: Path, wanted: int, place: str) -> None:
    """Refuse to fetch ``wanted`` bytes where they do not fit. Raises StorageError."""
    free = shutil.disk_usage(folder).free
    if free < wanted + SPARE:
        raise StorageError(
            f"{shown(place)} does not fit on the disk of {folder}: {_size(wanted)} are to be fetched, "
            f"{_size(free)} are free, of which {_size(SPARE)} stay so.",
            "Make room, name another scratch folder, or let fewer films be described at a time.",
        )


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
