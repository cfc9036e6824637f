"""Staging: a film and its work folder, wherever they lie, as paths of this machine for the time of a run.

Keeping a work folder in a store alike with its copy while a run writes that.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from shotad.batch.storage.addresses import Addresses
from shotad.batch.storage.fetching import fetch_film
from shotad.batch.storage.lease import Lease
from shotad.batch.storage.mirror import Mirror
from shotad.batch.storage.places import is_local, local_path, parent_of
from shotad.batch.storage.room import room_in
from shotad.batch.storage.scratch import Bench
from shotad.batch.storage.store import Store
from shotad.batch.storage.targets import check_kind
from shotad.core import SETTINGS, InUse, Progress, ShotadError, StorageError, cache_folder, write_bytes

_PATIENCE_MEANWHILE = 10.0
"""Seconds for which a request is tried again while the run goes on: the next sending comes anyway."""


class Keeper:
    """Sends a work folder up every ``every`` seconds and at the end; a context manager around the run.

    Trouble meanwhile is told once and the run goes on. What cannot be sent at the end stays on this machine,
    and StorageError says where; where another has taken over the lease, nothing more is sent.
    """

    def __init__(self, lease: Lease, mirror: Mirror, every: float, progress: Progress) -> None:
        self._lease, self._mirror, self._every, self._progress = lease, mirror, every, progress
        self._stop = threading.Event()
        self._lost: InUse | None = None
        self._told = ""
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)

    def __enter__(self) -> Self:
        self._patience, self._mirror.store.patience = self._mirror.store.patience, _PATIENCE_MEANWHILE
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        store = self._mirror.store
        store.patience = _PATIENCE_MEANWHILE if error is not None else self._patience
        if self._lost is not None:
            if error is None:
                raise self._lost
            return
        try:
            self._bring_together()
        except ShotadError as trouble:
            where = (
                f"What is not sent is kept in {self._mirror.folder}; run again on this machine to send it."
            )
            if error is None:
                raise type(trouble)(trouble.what, f"{trouble.hint} {where}".strip()) from None
            self._progress.note(f"{trouble.what} {where}")

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            try:
                self._bring_together()
                self._told = ""
            except InUse as lost:
                self._lost = lost
                self._progress.note(f"{lost.what} This run sends nothing more.")
                return
            except ShotadError as trouble:
                self._tell(trouble)

    def _bring_together(self) -> None:
        self._lease.renew()
        try:
            self._mirror.sync()
        except OSError as trouble:
            what = f"The copy of the work folder in {self._mirror.folder} cannot be used: {trouble.strerror}."
            raise StorageError(what, "Make room there, or name another scratch folder.") from trouble

    def _tell(self, trouble: ShotadError) -> None:
        if trouble.what != self._told:
            self._progress.note(f"{trouble.what} It is tried again every {self._every:g} s.")
        self._told = trouble.what


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
    with ExitStack() as stack:
        bench = stack.enter_context(Bench(scratch or cache_folder().parent / "staged", film, folder))
        here = local_path(film) if is_local(film) else bench.film
        kept = local_path(folder) if is_local(folder) else bench.folder
        places = {str(here): film, str(kept): folder, str(bench.beside): parent_of(film)}
        addresses = Addresses({path: place for path, place in places.items() if path != place})
        stack.enter_context(addresses.in_errors())
        if is_local(folder):
            stack.callback(_name_addresses, kept / SETTINGS, addresses)
        else:
            stack.enter_context(_kept(bench, addresses, progress, every, media=media))
        if not is_local(film):
            here.parent.mkdir(parents=True, exist_ok=True)
            fetch_film(Store(film), film, here, progress, room_in(bench.scratch))
        bench.beside.mkdir(exist_ok=True)
        yield Staged(here, kept, bench.beside)


def _name_addresses(settings: Path, addresses: Addresses) -> None:
    """Have ``settings.json`` of this machine name what was fetched by where it came from."""
    with suppress(FileNotFoundError):
        write_bytes(settings, [addresses.out(settings.read_bytes())])


@contextmanager
def _kept(
    bench: Bench, addresses: Addresses, progress: Progress, every: float, *, media: bool
) -> Iterator[None]:
    """The copy of a work folder, brought down, kept alike while the block runs, and sent up."""
    folder = bench.folder_place
    check_kind(folder)
    store = Store(folder)
    lease = Lease(store, folder, seconds=max(3 * every, 90.0))
    mirror = Mirror(store, folder, bench.folder, bench.notes, addresses, progress, media=media)
    lease.take()
    try:
        mirror.bring_down()
        with Keeper(lease, mirror, every, progress):
            yield
    finally:
        bench.unsent = mirror.unsent
        lease.release()
