"""Fetching: a film from a store to the scratch disk, in parts side by side, going on where it was stopped.

Room is asked for before anything is fetched, and made where films of ended runs still lie.

``SCRATCH/FILM-KEY/`` is for one film at work, locked by the run that uses it: it holds ``film/``, ``work/``
(the copy of a work folder) and ``beside/`` (what else was fetched); the key is that of film and folder, so
that a run that was killed is gone on with.
"""

from __future__ import annotations

import errno
import json
import re
import shutil
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from shotad.batch.places import is_local, local_path, name_of, shown
from shotad.batch.store import Store, StoredObject, is_passing, names_below
from shotad.core import NoProgress, Progress
from shotad.core.errors import FolderInUse, StorageError
from shotad.core.files import remove_file, write_text
from shotad.core.progress import progress_task, size_text
from shotad.core.system import machine_start, usable_name, when_free
from shotad.core.text_files import (
    FileKind,
    decode_text,
    read_text_file,
)
from shotad.core.workfolder import file_stem, hash_key

PART = 8 << 20
"""Bytes of one request: large enough that requests cost little, small enough that little is lost."""

SIDE_BY_SIDE = 6
"""Requests at a time: one connection to an object store gives only a part of what the line can."""

_AGAIN = 3
"""How often a film that changes while it is fetched is started again."""


def fetch_film(
    store: Store, place: str, target: Path, progress: Progress | None = None, scratch: Path | None = None
) -> StoredObject:
    """The object at ``place`` as the file ``target``, whole and of one version; what is known of it.

    A file that an earlier run fetched of this very version stays. ``scratch`` is the folder in which room is
    made for films. Raises StorageError, also where it does not fit.
    """
    progress = progress or NoProgress()
    for _ in range(_AGAIN):
        entry = store.find(place)
        if entry is None:
            raise store.missing(place)
        if target.is_file() and target.stat().st_size == entry.size and _known(target) == _version(entry):
            return entry
        trouble: StorageError | None = None
        try:
            fetch_object(store, entry, target, progress, scratch)
        except StorageError as error:
            if error.__cause__ is not None and is_passing(error.__cause__):
                raise
            trouble = error
        after = store.find(place)
        is_same = after is not None and after.mark == entry.mark
        # A film that was replaced by a shorter one lacks the ranges that were still to come.
        if trouble is not None and is_same:
            raise trouble
        if is_same:
            write_text(_notes_of(target), json.dumps(_version(entry)))
            return entry
        remove_file(target)
    raise StorageError(
        f"{shown(place)} is being written: it changed each time that it was fetched.",
        "Wait until it is whole.",
        again=True,
    )


def brought(place: str, folder: Path, *, progress: Progress | None = None) -> Path:
    """A file, or a folder with all below it, as a path: one of this machine as it is, another fetched into
    ``folder``. For what goes with a film: subtitles, a cast, a list. Raises StorageError."""
    if is_local(place):
        return local_path(place)
    store, target = Store(place), folder / usable_name(name_of(place))
    alone = None if place.endswith("/") else store.find(place)
    if alone is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        fetch_object(store, alone, target, progress)
        return target
    entries = store.entries(place)
    if not entries:
        raise store.missing(place)
    for name, entry in names_below(entries, place):
        inner = target / name
        inner.parent.mkdir(parents=True, exist_ok=True)
        fetch_object(store, entry, inner, progress)
    return target


def read_text(place: str, kind: FileKind = "list") -> str:
    """The text of a small file, on this machine or at an address. Raises StorageError."""
    hint = "Give a text in UTF-8."
    if is_local(place):
        if not local_path(place).exists():
            raise StorageError(f"There is no {shown(place)}.", "Check the path.")
        return read_text_file(local_path(place), kind, StorageError, hint=hint, encoding="utf-8").text
    try:
        data = Store(place).read(place)
    except FileNotFoundError:
        raise StorageError(f"There is no {shown(place)}.", "Check the address.") from None
    except OSError as trouble:
        raise StorageError(f"{shown(place)} cannot be read: {trouble}.", hint) from None
    return decode_text(data, shown(place), StorageError, hint=hint, encoding="utf-8").text


def fetch_object(
    store: Store,
    entry: StoredObject,
    target: Path,
    progress: Progress | None = None,
    scratch: Path | None = None,
) -> None:
    """One object as the file ``target``, which takes that name when it is whole. Raises StorageError."""
    size, half = entry.size, target.with_name(f".{target.name[:80]}{HALF}")
    try:
        if size is not None and size <= PART:
            half.write_bytes(store.read(entry.place) if size else b"")
        else:
            _fetch_large(store, entry, target, half, progress or NoProgress(), scratch)
        if size is not None and half.stat().st_size != size:
            raise StorageError(
                f"{shown(entry.place)} came with another size than it has.", "Run again.", again=True
            )
        when_free(lambda: half.replace(target))
        remove_file(_notes_of(target))
    except FileNotFoundError:
        raise store.missing(entry.place) from None
    except OSError as trouble:
        if trouble.errno in (errno.ENOSPC, errno.EDQUOT):
            # What was fetched would only take the room from others.
            remove_file(half)
        raise StorageError(
            f"{shown(entry.place)} cannot be put to {target}: {trouble.strerror or trouble}.",
            "Make room there, or name another scratch folder.",
        ) from None


def _fetch_large(
    store: Store, entry: StoredObject, target: Path, half: Path, progress: Progress, scratch: Path | None
) -> None:
    """Fetch what is not here yet of a file, which grows in order, a few parts at a time."""
    name = f"Fetching {target.name}"
    if entry.size is None or not store.gives_ranges(entry.place):
        task = progress.task(name, entry.size, "B")
        store.fetch_whole(entry.place, half, task.advance)
        task.done()
        return
    size, place = entry.size, entry.place
    if _known(target) != _version(entry):
        remove_file(half)
        write_text(_notes_of(target), json.dumps(_version(entry)))
    half.touch()
    # Before anything is refused, films that are left on a ``scratch`` folder from runs that have ended go,
    # those first that were left first.
    bytes_needed = size - half.stat().st_size
    if scratch is not None:
        held = (folder / "film" for folder in scratch_folders(scratch, held=True))
        bytes_needed += sum(_coming(film) for film in held if film != half.parent)
        left = [folder / "film" for folder in scratch_folders(scratch, held=False)]
        films = sorted((path.stat().st_mtime, path) for path in left if path.is_dir())
        while films and shutil.disk_usage(scratch).free < bytes_needed + SPARE:
            shutil.rmtree(films.pop(0)[1])
    check_room(half.parent if scratch is None else scratch, bytes_needed, place)
    here = half.stat().st_size // PART * PART
    with (
        half.open("r+b") as out,
        progress_task(progress, name, size, "B") as task,
        ThreadPoolExecutor(SIDE_BY_SIDE) as pool,
    ):
        out.seek(out.truncate(here))
        task.advance(here)
        parts = (pool.submit(store.read, place, at, min(at + PART, size)) for at in range(here, size, PART))
        under_way = deque(islice(parts, SIDE_BY_SIDE))
        while under_way:
            data = under_way.popleft().result()
            under_way += islice(parts, 1)
            out.write(data)
            task.advance(len(data))


def _version(entry: StoredObject) -> dict[str, Any]:
    """Which version of an object is being fetched, since the machine was last started: what is fetched is not
    forced to the disk, so it may not be there when the power has failed."""
    return {"mark": entry.mark, "size": entry.size, "boot": machine_start()}


def _known(target: Path) -> Any:
    try:
        return json.loads(_notes_of(target).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _notes_of(target: Path) -> Path:
    return target.with_name(f".{hash_key(target.name)}.json")


SPARE = 512 << 20
"""Bytes that stay free: the run keeps frames and records, and others use the disk too."""

HALF = ".fetched"
"""Ending of files that are being fetched."""


def check_room(folder: Path, bytes_needed: int, place: str) -> None:
    """Refuse to fetch ``bytes_needed`` bytes where they do not fit. Raises StorageError."""
    free = shutil.disk_usage(folder).free
    if free < bytes_needed + SPARE:
        raise StorageError(
            f"{shown(place)} does not fit on the disk of {folder}: {size_text(bytes_needed)} are "
            f"to be fetched, {size_text(free)} are free, of which {size_text(SPARE)} stay so.",
            "Make room, name another scratch folder, or let fewer films be described at a time.",
            again=True,
        )


def _coming(film: Path) -> int:
    """Bytes that another run is still to fetch into its folder ``film``."""
    files = [path for path in film.glob("*") if path.is_file()]
    notes = [json.loads(path.read_bytes()) for path in files if path.suffix == ".json"]
    return max(0, sum(note["size"] or 0 for note in notes) - sum(path.stat().st_size for path in files))


_NAME = re.compile(r".+-[0-9a-f]{16}")
_GATE_SECONDS = 60.0


class ScratchFolder:
    """The scratch folder of one film and its work folder; a context manager.

    At the end it is cleared. A run that fails leaves what it could not send (``unsent``); one that is
    interrupted, or fails for the store's sake, leaves the film too, for it is likely to be run again. Raises
    FolderInUse where another run is at it.
    """

    def __init__(self, scratch: Path, film_place: str, folder_place: str) -> None:
        self.scratch, self.folder_place, self.unsent = scratch, folder_place, False
        places = (shown(film_place).partition("?")[0], shown(folder_place))
        film, folder = usable_name(name_of(film_place)), usable_name(name_of(folder_place))
        self.path = scratch / f"{file_stem(film)[:40].rstrip(' .')}-{hash_key(*places)}"
        self.film, self.folder = self.path / "film" / film, self.path / "work" / folder
        self.beside, self.notes = self.path / "beside", self.path / "seen.json"
        """Where what else is fetched is put, and what was seen of the work folder."""
        self._lock = FileLock(lock_of(self.path), timeout=0)

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with _gate(self.scratch):
                self._lock.acquire()
        except Timeout:
            raise FolderInUse(
                f"The work folder {shown(self.folder_place)} is being written by another shotad here.",
                "Wait until that is done.",
            ) from None
        except OSError as trouble:
            raise StorageError(
                f"{self.scratch} cannot be written: {trouble.strerror}.", "Name another scratch folder."
            ) from None
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        again = error is not None and (isinstance(error, StorageError) or not isinstance(error, Exception))
        if not again:
            shutil.rmtree(self.path / "film", ignore_errors=True)
            shutil.rmtree(self.beside, ignore_errors=True)
        if not self.unsent:
            shutil.rmtree(self.path / "work", ignore_errors=True)
            remove_file(self.notes)
        for folder in (self.film.parent, self.path):
            with suppress(OSError):
                folder.rmdir()
        with _gate(self.scratch):
            self._lock.release()
            if not self.path.exists():
                remove_file(lock_of(self.path))


def lock_of(folder: Path) -> Path:
    """The file that is locked by the run that uses ``folder``."""
    return folder.with_name(f"{folder.name}.lock")


def scratch_folders(scratch: Path, *, held: bool) -> list[Path]:
    """The folders that runs use now, or those that are left from runs that have ended."""
    if not scratch.is_dir():
        return []
    candidates = [
        path for path in sorted(scratch.iterdir()) if _NAME.fullmatch(path.name) and lock_of(path).exists()
    ]
    folders = []
    with _gate(scratch):
        for path in (path for path in candidates if path.is_dir()):
            try:
                with FileLock(lock_of(path), timeout=0):
                    is_held = False
            except (Timeout, OSError):
                is_held = True
            if is_held is held:
                folders.append(path)
    return folders


@contextmanager
def _gate(scratch: Path) -> Iterator[None]:
    """Locks of scratch folders are taken, asked for and removed by one process at a time, and briefly."""
    with FileLock(scratch / ".lock", timeout=_GATE_SECONDS):
        yield
