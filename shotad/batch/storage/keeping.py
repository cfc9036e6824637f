"""Keeping a work folder in a store alike with its copy while a run writes that."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from shotad.batch.storage.lease import Lease
from shotad.batch.storage.mirror import Mirror
from shotad.core.errors import InUse, ShotadError, StorageError
from shotad.core.progress import Progress

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
