"""Staging: a film and its work folder, wherever they lie, as paths of this machine for the time of a run.

A work folder in a store is kept alike with its copy here while the run writes that. A lease on it says who
writes it now, so that two machines at one film are told apart: an object in the folder that names its holder
and is renewed as long as that lives. One that has not been for longer than it says has lost its holder,
and is taken over; how old it is is told by the store's own clock, for those of two machines differ.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter

from shotad.batch.downloads import ScratchFolder, brought, fetch_film
from shotad.batch.existing import existing_choice
from shotad.batch.films import name_beside
from shotad.batch.jobs import FilmJob
from shotad.batch.mirror import Mirror
from shotad.batch.places import Addresses, is_local, join, local_path, parent_of, shown
from shotad.batch.store import Store, WriteRefused, check_kind
from shotad.core import (
    Progress,
    RunInputs,
    ShotadError,
)
from shotad.core.errors import FolderInUse, StorageError
from shotad.core.files import write_bytes
from shotad.core.runsettings import GivenCast
from shotad.core.system import is_running, machine_start, process_space
from shotad.core.weight_store import cache_folder
from shotad.core.workfolder import SETTINGS_FILE


@dataclass(frozen=True, slots=True)
class Placed:
    """Film, work folder and ``run_inputs`` as paths of this machine; ``beside`` is a folder for what else is
    fetched for the run (None: nothing is), ``notes`` are sentences for the user."""

    film: Path
    folder: Path
    beside: Path | None = None
    run_inputs: RunInputs = field(default_factory=RunInputs)
    notes: tuple[str, ...] = ()


EVERY = 30.0
"""Seconds between two sendings: a killed run loses at most the records of that time."""


@contextmanager
def placed(job: FilmJob, progress: Progress) -> Iterator[Placed]:
    """The job's files here; what lies elsewhere is brought here first, and its results are sent back.

    Raises StorageError for what cannot be brought, DescriptionExists for a film that has a description and is
    not described: for what lies beside it before the film is fetched.
    """
    existing_choice(job, None)
    scratch = None if job.scratch is None else Path(job.scratch)
    with staged(job.film, job.folder, scratch, progress=progress, media=bool(job.makes)) as here:
        room = here.beside or here.folder
        subtitles, people, photos = (
            None if place_of_file is None else brought(place_of_file, room, progress=progress)
            for place_of_file in (job.subtitles, job.cast, job.cast_photos)
        )
        cast = None if people is None else GivenCast(people, job.cast_key, photos)
        choice = existing_choice(job, here.film)
        description: Path | None = None
        if choice.kept_description is not None and choice.kept_description.track is not None:
            description = here.film
        elif choice.kept_description is not None:
            kept_name = choice.kept_description.name
            kept_place = next(
                place for place in job.descriptions if name_beside(job.film, place) == kept_name
            )
            description = brought(kept_place, room, progress=progress)
        # Nobody named the subtitles: they lie beside the film.
        run_inputs = RunInputs(
            subtitles=subtitles,
            start=job.start,
            end=job.end,
            cast=cast,
            subtitles_found=subtitles is not None,
            description=description,
        )
        yield replace(here, run_inputs=run_inputs, notes=(*job.notes, *choice.notes))


@contextmanager
def staged(
    film: str,
    folder: str,
    scratch: Path | None = None,
    *,
    progress: Progress,
    every: float = EVERY,
    media: bool = False,
) -> Iterator[Placed]:
    """``film`` and ``folder`` as paths while the block runs; those of this machine are used as they are.

    A film at an address is fetched to ``scratch`` (None: a folder in shotad's own cache). A work folder at
    one is brought down first and sent up while it grows, every ``every`` seconds and at the end; ``media``:
    also what earlier runs rendered is brought down. Both leave the scratch disk when all has been sent.
    Raises StorageError; FolderInUse where another machine, or process, is at this work folder.
    """
    if is_local(film) and is_local(folder):
        yield Placed(local_path(film), local_path(folder))
        return
    with ExitStack() as stack:
        scratch = scratch or cache_folder().parent / "staged"
        ours = stack.enter_context(ScratchFolder(scratch, film, folder))
        here = local_path(film) if is_local(film) else ours.film
        local_folder = local_path(folder) if is_local(folder) else ours.folder
        places = {str(here): film, str(local_folder): folder, str(ours.beside): parent_of(film)}
        addresses = Addresses({path: place for path, place in places.items() if path != place})
        stack.enter_context(addresses.in_errors())

        def name_addresses(settings: Path) -> None:
            """Have settings of this machine name what was fetched by where it came from."""
            with suppress(FileNotFoundError):
                write_bytes(settings, [addresses.out(settings.read_bytes())])

        if is_local(folder):
            stack.callback(name_addresses, local_folder / SETTINGS_FILE)
        else:
            stack.enter_context(_kept(ours, addresses, progress, every, media=media))
        if not is_local(film):
            here.parent.mkdir(parents=True, exist_ok=True)
            fetch_film(Store(film), film, here, progress, ours.scratch)
        ours.beside.mkdir(exist_ok=True)
        yield Placed(here, local_folder, ours.beside)


@contextmanager
def _kept(
    ours: ScratchFolder, addresses: Addresses, progress: Progress, every: float, *, media: bool
) -> Iterator[None]:
    """The copy of a work folder, brought down, kept alike while the block runs, and sent up."""
    folder = ours.folder_place
    check_kind(folder)
    store = Store(folder)
    lease = Lease(store, folder, seconds=max(3 * every, 90.0))
    mirror = Mirror(store, folder, ours.folder, ours.notes, addresses, progress, media=media)
    lease.take()
    try:
        mirror.bring_down()
        with LeaseKeeper(lease, mirror, every, progress):
            yield
    finally:
        ours.unsent = mirror.unsent
        lease.release()


_PATIENCE_MEANWHILE = 10.0
"""Seconds for which a request is tried again while the run goes on: the next sending comes anyway."""


class LeaseKeeper:
    """Sends a work folder up every ``every`` seconds and at the end; a context manager around the run.

    Trouble meanwhile is told once and the run goes on. What cannot be sent at the end stays on this machine,
    and StorageError says where; where another has taken over the lease, nothing more is sent.
    """

    def __init__(self, lease: Lease, mirror: Mirror, every: float, progress: Progress) -> None:
        self._lease, self._mirror, self._every, self._progress = lease, mirror, every, progress
        self._stop = threading.Event()
        self._lost: FolderInUse | None = None
        self._told = ""
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)

    def __enter__(self) -> Self:
        self._patience, self._mirror.store.patience = self._mirror.store.patience, _PATIENCE_MEANWHILE
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
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
            local_folder = self._mirror.folder
            where = f"What is not sent is kept in {local_folder}; run again on this machine to send it."
            if error is None:
                hint = f"{trouble.hint} {where}".strip()
                raise type(trouble)(trouble.what, hint, again=trouble.again) from None
            self._progress.note(f"{trouble.what} {where}")

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            try:
                self._bring_together()
                self._told = ""
            except FolderInUse as lost:
                self._lost = lost
                self._progress.note(f"{lost.what} This run sends nothing more.")
                return
            except ShotadError as trouble:
                if trouble.what != self._told:
                    self._progress.note(f"{trouble.what} It is tried again every {self._every:g} s.")
                self._told = trouble.what

    def _bring_together(self) -> None:
        self._lease.renew()
        try:
            self._mirror.sync()
        except OSError as trouble:
            message = (
                f"The copy of the work folder in {self._mirror.folder} cannot be used: {trouble.strerror}."
            )
            raise StorageError(message, "Make room there, or name another scratch folder.") from trouble


NAME = ".shotad.lease"
_TRIES = 3
_SETTLED = 0.5
"""Seconds after which a lease in a store that knows no conditions is looked at again: it may be another's."""

_PARTING = 5.0
"""Seconds for which letting go is tried."""

_own: set[str] = set()
"""Leases that this process holds: its number alone may be that of a killed one, in a container."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lease, and for how many seconds after it was last written."""

    token: str
    host: str
    machine: str
    process: int
    seconds: float

    def is_gone(self) -> bool:
        """Whether it is known to have ended: a process of this very machine that runs no more."""
        if not self.machine or self.machine != _machine():
            return False
        if self.process == os.getpid():
            return self.token not in _own
        return not is_running(self.process)


_HOLDER = TypeAdapter(Holder)


class Lease:
    """The lease on the work folder at ``place``, renewed by `renew` within ``seconds``."""

    def __init__(self, store: Store, place: str, seconds: float) -> None:
        self._store, self._folder, self._place = store, place, join(place, NAME)
        self._me = Holder(secrets.token_hex(8), socket.gethostname(), _machine(), os.getpid(), seconds)
        self._mark: str | None = None

    def take(self) -> None:
        """Become the holder. Raises FolderInUse where another one lives."""
        for _ in range(_TRIES):
            entry = self._store.find(self._place)
            if entry is not None:
                holder = self._holder()
                if not (holder is None or holder.is_gone()):
                    age = self._store.age(self._place)
                    if age is not None and age <= holder.seconds:
                        raise self._in_use(holder, holder.seconds - age)
            try:
                self._mark = self._store.write(self._place, self._text(), over=entry.mark if entry else None)
            except WriteRefused:
                continue
            _own.add(self._me.token)
            self._store.check_conditions(self._place)
            if self._store.keeps_conditions:
                return
            time.sleep(_SETTLED)
            holder = self._holder()
            if holder is not None and holder.token == self._me.token:
                return
            _own.discard(self._me.token)
        raise self._in_use(self._holder())

    def renew(self) -> None:
        """Say that this holder lives. Raises FolderInUse where another has taken over meanwhile."""
        try:
            self._mark = self._store.write(self._place, self._text(), over=self._mark)
        except WriteRefused:
            holder = self._holder()
            if holder is not None and holder.token == self._me.token:
                # Our own writing came through though its answer did not.
                self._mark = entry.mark if (entry := self._store.find(self._place)) else None
                return
            if holder is None:
                # It was removed, as by a person who tidies up.
                with suppress(WriteRefused):
                    self._mark = self._store.write(self._place, self._text(), over=None)
                    return
            raise self._in_use(holder) from None

    def release(self) -> None:
        """Let go of it, if it is still ours. Where the store cannot be reached it ends by itself."""
        _own.discard(self._me.token)
        self._store.patience = min(self._store.patience, _PARTING)
        with suppress(StorageError):
            holder = self._holder()
            if holder is not None and holder.token == self._me.token:
                self._store.remove(self._place)

    def _holder(self) -> Holder | None:
        try:
            return _HOLDER.validate_json(self._store.read(self._place))
        except (FileNotFoundError, ValueError):
            return None

    def _text(self) -> bytes:
        return json.dumps(asdict(self._me)).encode()

    def _in_use(self, holder: Holder | None, left: float | None = None) -> FolderInUse:
        writer = "another machine" if holder is None else f"{holder.host} (process {holder.process})"
        until = "" if left is None else f" If that one has died, its hold ends in {max(1, round(left))} s."
        return FolderInUse(
            f"The work folder {shown(self._folder)} is being written by {writer}.",
            f"Wait until that is done.{until}",
        )


def _machine() -> str:
    """What tells this machine, and this container on it, from others; empty where nothing does."""
    start, space = machine_start(), process_space()
    return f"{socket.gethostname()}/{start}/{space}" if start and space else ""
