"""Staging: a film and its work folder, wherever they lie, as paths of this machine for the time of a run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from shotad.catalogue.storage.addresses import Addresses
from shotad.catalogue.storage.fetching import fetch_film
from shotad.catalogue.storage.keeping import Keeper
from shotad.catalogue.storage.lease import Lease
from shotad.catalogue.storage.mirror import Mirror
from shotad.catalogue.storage.places import is_local, local_path, name_of, shown
from shotad.catalogue.storage.store import Store
from shotad.errors import InUse, StorageError
from shotad.progress import Progress
from shotad.weights import cache_folder
from shotad.workfolder import key_of, stem_of

EVERY = 30.0
"""Seconds between two sendings: a killed run loses at most the records of that time."""


@dataclass(frozen=True, slots=True)
class Staged:
    """A film and its work folder as paths, and a folder for what else is fetched for the run."""

    film: Path
    folder: Path
    beside: Path | None = None


@contextmanager
def staged(
    film: str,
    folder: str,
    scratch: Path | None = None,
    *,
    progress: Progress,
    every: float = EVERY,
    media: bool = False,
) -> Iterator[Staged]:
    """``film`` and ``folder`` as paths while the block runs; those of this machine are used as they are.

    A film at an address is fetched to ``scratch`` (None: a folder in shotad's own cache). A work folder at
    one is brought down first and sent up while it grows, every ``every`` seconds and at the end; ``media``:
    also what earlier runs rendered is brought down. Both leave the scratch disk when all has been sent.
    Raises StorageError; InUse where another machine, or process, is at this work folder.
    """
    if is_local(film) and is_local(folder):
        yield Staged(local_path(film), local_path(folder))
        return
    bench = (scratch or cache_folder().parent / "staged") / _bench_name(film, folder)
    with ExitStack() as stack:
        stack.enter_context(_held(bench, folder))
        place = local_path(film) if is_local(film) else bench / "film" / name_of(film)
        kept = local_path(folder) if is_local(folder) else bench / "work" / name_of(folder)
        if not is_local(folder):
            addresses = Addresses({str(place): film, str(kept): folder})
            stack.enter_context(_kept(folder, kept, bench, addresses, progress, every, media=media))
        if not is_local(film):
            place.parent.mkdir(parents=True, exist_ok=True)
            fetch_film(Store(film), film, place, progress)
        yield Staged(place, kept, bench / "beside")


@contextmanager
def _held(bench: Path, folder: str) -> Iterator[None]:
    """A folder of the scratch disk for one film at a time; it goes when the block ends well."""
    bench.mkdir(parents=True, exist_ok=True)
    lock = FileLock(bench.with_name(f"{bench.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InUse(
            f"The work folder {shown(folder)} is being written by another shotad of this machine.",
            "Wait until that is done.",
        ) from None
    except OSError as trouble:
        raise StorageError(
            f"{bench.parent} cannot be written: {trouble.strerror}.", "Name another scratch folder."
        ) from None
    try:
        yield
        shutil.rmtree(bench, ignore_errors=True)
    finally:
        lock.release()
        if not bench.exists():
            with suppress(OSError):
                Path(lock.lock_file).unlink()


@contextmanager
def _kept(
    folder: str,
    copy: Path,
    bench: Path,
    addresses: Addresses,
    progress: Progress,
    every: float,
    *,
    media: bool,
) -> Iterator[None]:
    """The copy of a work folder, brought down, kept alike while the block runs, and sent up."""
    store = Store(folder)
    lease = Lease(store, folder, seconds=max(3 * every, 90.0))
    lease.take()
    try:
        mirror = Mirror(store, folder, copy, bench / "seen.json", addresses, media=media)
        mirror.bring_down()
        with Keeper(lease, mirror, every, progress):
            yield
    finally:
        lease.release()


def _bench_name(film: str, folder: str) -> str:
    """The same for the same film and folder, so that a run that was killed is gone on with."""
    return f"{stem_of(name_of(film))[:40]}-{key_of(shown(film).partition('?')[0], shown(folder))}"
