"""The lock that lets one server at a time open a folder, with the address at which it is open."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import Timeout

from shotad.core.errors import ReviewError, WorkFolderError
from shotad.core.files import lock_file, read_file, remove_file, write_text
from shotad.core.records import parse_json

LOCK, ADDRESS = ".review.lock", ".review.address"


@contextmanager
def folder_lock(folder: Path, name: Path | None = None) -> Iterator[Callable[[str], None]]:
    """Lock the folder for one server; gives a function that writes its address to a file.

    A second server that finds the lock taken names that address in its error, and the folder as ``name``.
    Raises ReviewError where another server holds the lock, WorkFolderError for a folder that cannot be
    written.
    """
    lock, address_file = lock_file(folder / LOCK, timeout=0), folder / ADDRESS
    try:
        # The system releases the lock of a server that was killed; its address file alone means nothing.
        lock.acquire()
    except Timeout:
        address = ""
        with suppress(OSError, WorkFolderError, ValueError, KeyError, TypeError):
            address = str(parse_json(read_file(address_file))["address"])
        at_address = f" at {address}" if address else ""
        raise ReviewError(
            f"A review of {name or folder} is open already{at_address}.",
            "Go on there, or end it first: Ctrl-C in its terminal.",
        ) from None
    except OSError as error:
        raise WorkFolderError(f"{name or folder} cannot be written: {error.strerror}.") from None

    def write_address(address: str) -> None:
        write_text(address_file, json.dumps({"address": address}) + "\n")

    try:
        yield write_address
    finally:
        remove_file(address_file)
        lock.release()
