"""The lease on a work folder in a store: who writes it now, so that two machines at one film are told apart.

An object in the folder names its holder and is written anew as long as that lives. One that has not been for
longer than it says has lost its holder, and is taken over; how old it is is told by the store's own clock,
for those of two machines differ.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.batch.storage.places import join, shown
from shotad.batch.storage.store import Store
from shotad.batch.storage.trouble import Refused
from shotad.core import InUse, StorageError

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
        return not _lives(self.process)


class Lease:
    """The lease on the work folder at ``place``, written anew by `renew` within ``seconds``."""

    def __init__(self, store: Store, place: str, seconds: float) -> None:
        self._store, self._folder, self._place = store, place, join(place, NAME)
        self._me = Holder(secrets.token_hex(8), socket.gethostname(), _machine(), os.getpid(), seconds)
        self._mark: str | None = None

    def take(self) -> None:
        """Become the holder. Raises InUse where another one lives."""
        for _ in range(_TRIES):
            found = self._store.find(self._place)
            if found is not None:
                self._check_gone()
            try:
                self._mark = self._store.write(self._place, self._text(), over=found.mark if found else None)
            except Refused:
                continue
            _own.add(self._me.token)
            self._store.check_conditions(self._place)
            if self._store.keeps_conditions or self._is_mine_still():
                return
            _own.discard(self._me.token)
        raise self._in_use(self._holder())

    def renew(self) -> None:
        """Say that this holder lives. Raises InUse where another has taken over meanwhile."""
        try:
            self._mark = self._store.write(self._place, self._text(), over=self._mark)
        except Refused:
            holder = self._holder()
            if holder is not None and holder.token == self._me.token:
                # Our own writing came through though its answer did not.
                self._mark = found.mark if (found := self._store.find(self._place)) else None
                return
            if holder is None and self._is_free():
                return
            raise self._in_use(holder) from None

    def _is_free(self) -> bool:
        """Whether it had been removed, as by a person who tidies up, and could be written anew."""
        try:
            self._mark = self._store.write(self._place, self._text(), over=None)
        except Refused:
            return False
        return True

    def release(self) -> None:
        """Let go of it, if it is still ours. Where the store cannot be reached it ends by itself."""
        _own.discard(self._me.token)
        self._store.patience = min(self._store.patience, _PARTING)
        with suppress(StorageError):
            holder = self._holder()
            if holder is not None and holder.token == self._me.token:
                self._store.remove(self._place)

    def _is_mine_still(self) -> bool:
        time.sleep(_SETTLED)
        holder = self._holder()
        return holder is not None and holder.token == self._me.token

    def _check_gone(self) -> None:
        holder = self._holder()
        if holder is None or holder.is_gone():
            return
        age = self._store.age(self._place)
        if age is not None and age <= holder.seconds:
            raise self._in_use(holder, holder.seconds - age)

    def _holder(self) -> Holder | None:
        try:
            known: dict[str, Any] = json.loads(self._store.read(self._place))
            return Holder(
                str(known["token"]),
                str(known["host"]),
                str(known["machine"]),
                int(known["process"]),
                float(known["seconds"]),
            )
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def _text(self) -> bytes:
        me = self._me
        record = {
            "token": me.token,
            "host": me.host,
            "machine": me.machine,
            "process": me.process,
            "seconds": me.seconds,
        }
        return json.dumps(record).encode()

    def _in_use(self, holder: Holder | None, left: float | None = None) -> InUse:
        who = "another machine" if holder is None else f"{holder.host} (process {holder.process})"
        until = "" if left is None else f" If that one has died, its hold ends in {max(1, round(left))} s."
        return InUse(
            f"The work folder {shown(self._folder)} is being written by {who}.",
            f"Wait until that is done.{until}",
        )


def _lives(process: int) -> bool:
    """Whether a process of this machine runs; one that has ended and is not yet cleared away does not."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except PermissionError:
        return True
    except OSError:
        return False
    return state.rpartition(")")[2].split()[:1] not in (["Z"], ["X"])


def _machine() -> str:
    """What tells this machine, and this container on it, from others; empty where nothing does."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{socket.gethostname()}/{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""
