"""What was made for a film: its scripts, sounds and films one by one, or its whole work folder.

A work folder may have come from anybody: links in it are not followed.
"""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from shotad.core import ShotadError
from shotad.core.files import open_file, own_files
from shotad.core.progress import is_text
from shotad.core.workfolder import file_stem
from shotad.review.messages import refusal

_PIECE = 1 << 20
"""Bytes that are read of a file at a time."""
_SMALL = frozenset({".csv", ".html", ".json", ".jsonl", ".srt", ".txt", ".vtt", ".xml", ".wav", ".yaml"})
"""Endings of files that become smaller when they are packed."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""ZIP knows no dates before 1980. All files get this one, so that equal work folders give equal archives."""

_OF_THE_SERVER = "review"
"""The folder within a work folder that holds copies for the browser and the secret that lets it in."""


def product_names(work_folder: Path, film_name: str) -> list[str]:
    """The files that were made for people: scripts, sounds and films are named after the film, sorted."""
    pattern = re.compile(re.escape(file_stem(film_name)) + r"\..+")
    return [path.name for path in own_files(work_folder, pattern) if is_text(path.name)]


def product_file(work_folder: Path, film_name: str, name: str) -> Path:
    """One of these files. Raises ReviewError for any other name."""
    if name not in product_names(work_folder, film_name):
        raise refusal("server.no_file")
    return work_folder / name


def archive_parts(work_folder: Path) -> Iterator[bytes]:
    """A work folder as a ZIP archive, made while it is sent; it is never on the disk or whole in memory.

    Locks, links, and what only the server needs are left out.
    """
    written = _Written()
    with zipfile.ZipFile(written, "w") as archive:
        for path in _files_below(work_folder):
            name = f"{work_folder.name}/{path.relative_to(work_folder).as_posix()}"
            entry = zipfile.ZipInfo(_in_utf8(name), _EARLIEST)
            is_small = path.suffix.lower() in _SMALL
            entry.compress_type = zipfile.ZIP_DEFLATED if is_small else zipfile.ZIP_STORED
            entry.external_attr = 0o644 << 16
            # One that has gone or cannot be read meanwhile is left out.
            with (
                suppress(FileNotFoundError, ShotadError),
                open_file(path) as source,
                archive.open(entry, "w", force_zip64=True) as target,
            ):
                while piece := source.read(_PIECE):
                    target.write(piece)
                    yield written.taken()
            yield written.taken()
    yield written.taken()


def _files_below(folder: Path) -> Iterator[Path]:
    """The plain files in a work folder, sorted."""
    for place, folders, names in os.walk(folder, followlinks=False):
        is_top = Path(place) == folder
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and not (is_top and name == _OF_THE_SERVER)
        )
        for name in sorted(names):
            path = Path(place, name)
            if name.startswith("."):  # locks, and files that are being written
                continue
            with suppress(OSError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield path


def _in_utf8(name: str) -> str:
    """A name that an archive can hold: what is no UTF-8 in it is replaced."""
    return os.fsencode(name).decode("utf-8", "replace")


class _Written(io.RawIOBase):
    """Takes what is written to it until that is `taken`. It cannot seek, so each size follows its file."""

    def __init__(self) -> None:
        super().__init__()
        self._data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._data += data
        return len(data)

    def taken(self) -> bytes:
        """What was written since the last call."""
        data = bytes(self._data)
        self._data.clear()
        return data
