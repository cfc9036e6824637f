"""Benches: folders on the scratch disk, one for each film at work, locked by the run that uses it.

``SCRATCH/FILM-KEY/`` holds ``film/``, ``work/`` (the copy of a work folder) and ``beside/`` (what else was
fetched); the key is that of film and folder, so that a run that was killed is gone on with.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from shotad.batch.storage.places import name_of, shown
from shotad.core import InUse, StorageError, key_of, stem_of

_NAME = re.compile(r".+-[0-9a-f]{16}")
_GATE_SECONDS = 60.0


@dataclass(slots=True)
class Bench:
    """The bench of one film and work folder; a context manager. Raises InUse where another run is at it.

    At the end it is cleared. A run that fails leaves what it could not send (``unsent``); one that is
    interrupted, or fails for the store's sake, leaves the film too, for it is likely to be run again.
    """

    scratch: Path
    film_place: str
    folder_place: str
    unsent: bool = False
    _lock: FileLock = field(init=False)

    def __post_init__(self) -> None:
        self._lock = FileLock(lock_of(self.path), timeout=0)

    @property
    def path(self) -> Path:
        """Its folder."""
        places = shown(self.film_place).partition("?")[0], shown(self.folder_place)
        return self.scratch / f"{stem_of(name_of(self.film_place))[:40]}-{key_of(*places)}"

    @property
    def film(self) -> Path:
        """Where the film is put."""
        return self.path / "film" / name_of(self.film_place)

    @property
    def folder(self) -> Path:
        """Where the copy of the work folder is."""
        return self.path / "work" / name_of(self.folder_place)

    @property
    def beside(self) -> Path:
        """Where what else is fetched is put."""
        return self.path / "beside"

    @property
    def notes(self) -> Path:
        """What was seen of the work folder."""
        return self.path / "seen.json"

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with _gate(self.scratch):
                self._lock.acquire()
        except Timeout:
            raise InUse(
                f"The work folder {shown(self.folder_place)} is being written by another shotad here.",
                "Wait until that is done.",
            ) from None
        except OSError as trouble:
            raise StorageError(
                f"{self.scratch} cannot be written: {trouble.strerror}.", "Name another scratch folder."
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        again = error is not None and (isinstance(error, StorageError) or not isinstance(error, Exception))
        if not again:
            shutil.rmtree(self.path / "film", ignore_errors=True)
            shutil.rmtree(self.beside, ignore_errors=True)
        if not self.unsent:
            shutil.rmtree(self.path / "work", ignore_errors=True)
            self.notes.unlink(missing_ok=True)
        for folder in (self.film.parent, self.path):
            with suppress(OSError):
                folder.rmdir()
        with _gate(self.scratch):
            self._lock.release()
            if not self.path.exists():
                lock_of(self.path).unlink(missing_ok=True)


def lock_of(bench: Path) -> Path:
    """The file that is locked by the run that uses ``bench``."""
    return bench.with_name(f"{bench.name}.lock")


def benches_in(scratch: Path, *, held: bool) -> list[Path]:
    """The benches that runs use now, or those that are left from runs that have ended."""
    if not scratch.is_dir():
        return []
    known = [
        path for path in sorted(scratch.iterdir()) if _NAME.fullmatch(path.name) and lock_of(path).exists()
    ]
    with _gate(scratch):
        return [path for path in known if path.is_dir() and _is_held(path) is held]


def _is_held(bench: Path) -> bool:
    lock = FileLock(lock_of(bench), timeout=0)
    try:
        lock.acquire()
    except (Timeout, OSError):
        return True
    lock.release()
    return False


@contextmanager
def _gate(scratch: Path) -> Iterator[None]:
    """Locks of benches are taken, asked for and removed by one process at a time: held for moments only."""
    with FileLock(scratch / ".lock", timeout=_GATE_SECONDS):
        yield
