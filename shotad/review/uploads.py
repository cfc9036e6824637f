"""Films that a browser sends into the folder.

A film goes to the disk while it arrives, into the hidden folder beside the films. Only when all of it is
there and opens as a film does it get its name, which never replaces a file.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from shotad.batch import free_disk
from shotad.core import ShotadError
from shotad.core.errors import DiskFull, FilmError, ReviewError
from shotad.core.file_names import name_for_windows
from shotad.core.files import as_work_folder_errors, inner_folder, own_files, remove_file
from shotad.film import open_film
from shotad.film.beside import FILM_ENDINGS
from shotad.review.film_folder import FilmFolder
from shotad.review.film_queue import KEEP_FREE
from shotad.review.messages import Size, refusal, with_texts

UPLOADS_FOLDER = "uploads"
_PART_NAME = re.compile(r"[0-9a-f]{16}\.\w{2,5}")

_MAX_STEM_BYTES = 200
"""Bytes of a name without its ending: most disks take 255 for a whole name, and work folders have longer
endings."""


def clean_name(name: str) -> str:
    """A name for a film, from that of a file on somebody's computer.

    Folders and characters that are not seen are left out, those that Windows forbids are replaced. Raises
    ReviewError for a name that does not end as one of a film.

    >>> clean_name("C:\\\\Films\\\\My film.MP4")
    'My film.MP4'
    >>> clean_name("../.bashrc.mp4")
    'bashrc.mp4'
    """
    base = unicodedata.normalize("NFC", name.replace("\\", "/").rpartition("/")[2])
    printable_name = "".join(character if character.isprintable() else " " for character in base)
    plain = " ".join(printable_name.split()).lstrip(". ")
    stem, ending = os.path.splitext(plain)
    if ending.lower() not in FILM_ENDINGS:
        if not plain:
            raise refusal("upload.no_name")
        raise refusal("upload.no_film", file=plain[:80])
    stem = stem.encode()[:_MAX_STEM_BYTES].decode(errors="ignore").rstrip(". ") or "film"
    # The film may be copied to a computer with Windows later.
    return name_for_windows(f"{stem}{ending}")


class Upload:
    """A film that arrives. `write` its parts in order, then `finish` it; `discard` it in any case."""

    def __init__(self, uploads: Uploads, name: str, size: int) -> None:
        self.name, self.size, self.received = name, size, 0
        self._uploads = uploads
        ending = os.path.splitext(name)[1]
        self._part = uploads.folder / f"{secrets.token_hex(8)}{ending}"
        with as_work_folder_errors(self._part, "cannot be written"):
            self._file: BinaryIO | None = self._part.open("xb")

    def write(self, data: bytes) -> None:
        """Write the next part. Raises ReviewError for more than was announced, WorkFolderError for a disk
        that is full."""
        assert self._file is not None
        self.received += len(data)
        if self.received > self.size:
            raise refusal("upload.too_long", file=self.name)
        with as_work_folder_errors(self._part, "cannot be written"):
            self._file.write(data)

    def finish(self) -> Path:
        """Check the film and give it its name; its path.

        Raises FilmError for a file that is no film, ReviewError for a name that was taken meanwhile and for a
        film of which something is missing.
        """
        assert self._file is not None
        if self.received != self.size:
            raise refusal(
                "upload.incomplete", received=Size(self.received), size=Size(self.size), file=self.name
            )
        with as_work_folder_errors(self._part, "cannot be written"):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        self._file = None
        try:
            with open_film(self._part):
                pass
        except ShotadError as error:
            problem = error.what.replace(str(self._part), self.name).replace(self._part.name, self.name)
            raise with_texts(FilmError, "upload.not_added", problem=problem) from None
        return self._uploads.place(self._part, self.name)

    def discard(self) -> None:
        """Remove what has arrived, unless it got its name, and let others use the name."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        with suppress(OSError):
            remove_file(self._part)
        self._uploads.forget(self)


class Uploads:
    """The films that arrive in a folder. May be used by several threads."""

    def __init__(self, folder: FilmFolder) -> None:
        """Removes what a killed server left of films that had not arrived. Raises WorkFolderError."""
        self.films_folder = folder.path
        self.folder = inner_folder(folder.own_folder, UPLOADS_FOLDER)
        with as_work_folder_errors(self.folder, "cannot be made"):
            self.folder.mkdir(exist_ok=True)
        for part in own_files(self.folder, _PART_NAME):
            with suppress(OSError):
                remove_file(part)
        self._lock = threading.RLock()
        self._arriving: list[Upload] = []

    def check(self, name: str, size: int) -> str:
        """The name that a film called ``name`` of ``size`` bytes would get.

        Raises ReviewError for a name that is no film's or is taken, DiskFull where there is too little space
        for all films that arrive.
        """
        film_name = clean_name(name)
        if size <= 0:
            raise refusal("upload.empty", file=film_name)
        with self._lock:
            # Some disks take the same name in capitals for the same file.
            if film_name.casefold() in {entry.casefold() for entry in os.listdir(self.films_folder)}:
                raise _name_taken(film_name)
            if film_name.casefold() in {upload.name.casefold() for upload in self._arriving}:
                raise refusal("upload.arriving", file=film_name)
            free = free_disk(self.films_folder)
            due = sum(upload.size - upload.received for upload in self._arriving)
        if free - due - size < KEEP_FREE:
            raise with_texts(
                DiskFull,
                "upload.no_space",
                file=film_name,
                size=Size(size),
                free=Size(max(free - due, 0)),
                kept=Size(KEEP_FREE),
            )
        return film_name

    def begin(self, name: str, size: int) -> Upload:
        """Begin with a film. Raises as `check`."""
        with self._lock:
            upload = Upload(self, self.check(name, size), size)
            self._arriving.append(upload)
        return upload

    def place(self, part: Path, name: str) -> Path:
        """Give the file ``part`` its name among the films. Raises ReviewError where that is taken."""
        target = self.films_folder / name
        with as_work_folder_errors(target, "cannot be written"):
            try:
                os.link(part, target)  # unlike a rename, this never replaces a file
            except FileExistsError:
                raise _name_taken(name) from None
            except OSError:
                # A disk without hard links: an empty file of that name is made first, which fails where there
                # is one, and then replaced.
                try:
                    target.open("xb").close()
                except FileExistsError:
                    raise _name_taken(name) from None
                part.replace(target)
        return target

    def forget(self, upload: Upload) -> None:
        """An upload has ended, well or not."""
        with self._lock:
            if upload in self._arriving:
                self._arriving.remove(upload)


def _name_taken(name: str) -> ReviewError:
    return refusal("upload.name_taken", file=name)
