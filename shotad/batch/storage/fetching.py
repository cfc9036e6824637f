"""Fetching: a film from a store to the scratch disk, in parts side by side, going on where it was stopped."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.batch.storage.entries import Entry, names_below
from shotad.batch.storage.places import is_local, local_path, name_of, shown
from shotad.batch.storage.room import Room, room_for
from shotad.batch.storage.store import Store
from shotad.core import NoProgress, Progress, StorageError, Task, key_of, reported, write_text

PART = 8 << 20
"""Bytes of one request: large enough that requests cost little, small enough that little is lost."""

SIDE_BY_SIDE = 6
"""Requests at a time: one connection to an object store gives only a part of what the line can."""

_AGAIN = 3
"""How often a film that changes while it is fetched is begun anew."""


@dataclass(frozen=True, slots=True)
class _Beginning:
    """A film that is half fetched: which version of it, and which of its parts are here."""

    file: Path
    notes: Path
    entry: Entry
    size: int

    @property
    def parts(self) -> range:
        return range((self.size + PART - 1) // PART)

    def here(self) -> set[int]:
        """The parts that an earlier run of this very version fetched, since the machine was last started."""
        try:
            known = json.loads(self.notes.read_text(encoding="utf-8"))
            same = known["version"] == self._version and self.file.stat().st_size == self.size
            return {int(part) for part in known["parts"]} if same else set()
        except (OSError, ValueError, KeyError, TypeError):
            return set()

    def note(self, here: set[int]) -> None:
        """Write down which parts are here."""
        write_text(self.notes, json.dumps({"version": self._version, "parts": sorted(here)}))

    @property
    def _version(self) -> list[Any]:
        # Parts are not forced to the disk, so what was noted before the power failed may not be there.
        return [self.entry.mark, self.size, PART, _boot()]


def fetch_film(
    store: Store, place: str, target: Path, progress: Progress | None = None, room: Room = room_for
) -> Entry:
    """The object at ``place`` as the file ``target``, whole and of one version; what is known of it.

    A file that an earlier run fetched of this very version stays. Raises StorageError, as ``room`` does where
    it does not fit.
    """
    progress = progress or NoProgress()
    for _ in range(_AGAIN):
        entry = store.find(place)
        if entry is None:
            raise store.missing(place)
        if _is_here(target, entry):
            return entry
        _fetch(store, entry, target, progress, room)
        after = store.find(place)
        if after is not None and after.mark == entry.mark:
            write_text(_mark_file(target), entry.mark)
            return entry
        target.unlink(missing_ok=True)
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
    store, target = Store(place), folder / name_of(place)
    alone = None if place.endswith("/") else store.find(place)
    if alone is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        _fetch(store, alone, target, progress or NoProgress())
        return target
    entries = store.entries(place)
    if not entries:
        raise store.missing(place)
    for name, entry in names_below(entries, place):
        inner = target / name
        inner.parent.mkdir(parents=True, exist_ok=True)
        _fetch(store, entry, inner, progress or NoProgress())
    return target


def read_text(place: str) -> str:
    """The text of a small file, on this machine or at an address. Raises StorageError."""
    try:
        data = local_path(place).read_bytes() if is_local(place) else Store(place).read(place)
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise StorageError(f"There is no {shown(place)}.", "Check the address.") from None
    except (OSError, UnicodeDecodeError) as trouble:
        raise StorageError(f"{shown(place)} cannot be read: {trouble}.", "Give a text in UTF-8.") from None


def fetch_object(store: Store, entry: Entry, target: Path, progress: Progress | None = None) -> None:
    """One object as the file ``target``, which takes that name when it is whole. Raises StorageError."""
    _fetch(store, entry, target, progress or NoProgress())


def _fetch(store: Store, entry: Entry, target: Path, progress: Progress, room: Room = room_for) -> None:
    size = entry.size
    name = f"Fetching {target.name}"
    beginning = (
        target.with_name(f".{target.name[:80]}.fetched"),
        target.with_name(f".{target.name[:80]}.json"),
    )
    half = _Beginning(*beginning, entry, size or 0)
    try:
        if size is not None and size <= PART:
            half.file.write_bytes(store.read(entry.place) if size else b"")
        elif size is None or not store.gives_ranges(entry.place):
            task = progress.task(name, size, "B")
            store.fetch_whole(entry.place, half.file, task.advance)
            task.done()
        else:
            _fetch_parts(store, half, name, progress, room)
        if size is not None and half.file.stat().st_size != size:
            raise StorageError(
                f"{shown(entry.place)} came with another size than it has.", "Run again.", again=True
            )
        half.file.replace(target)
        half.notes.unlink(missing_ok=True)
    except FileNotFoundError:
        raise store.missing(entry.place) from None
    except OSError as trouble:
        if trouble.errno in (errno.ENOSPC, errno.EDQUOT):
            # What was fetched would only take the room from others.
            half.file.unlink(missing_ok=True)
        raise StorageError(
            f"{shown(entry.place)} cannot be put to {target}: {trouble.strerror or trouble}.",
            "Make room there, or name another scratch folder.",
        ) from None


def _fetch_parts(store: Store, half: _Beginning, name: str, progress: Progress, room: Room) -> None:
    here = half.here()
    if not here:
        half.file.unlink(missing_ok=True)
    file = os.open(half.file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        os.ftruncate(file, half.size)
        room(half.file, half.entry.place)
        with reported(progress, name, half.size, "B") as task:
            task.advance(sum(_length(half, part) for part in here))
            _all_parts(store, half, file, here, task)
    finally:
        os.close(file)


def _all_parts(store: Store, half: _Beginning, file: int, here: set[int], task: Task) -> None:
    """Fetch what is not here yet, a few at a time; what is there when one fails is noted all the same."""
    missing = iter([part for part in half.parts if part not in here])
    with ThreadPoolExecutor(SIDE_BY_SIDE, "fetch") as pool:
        under_way: dict[Future[None], int] = {}
        try:
            while _begin(pool, store, half, file, missing, under_way):
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    part = under_way.pop(future)
                    future.result()
                    here.add(part)
                    task.advance(_length(half, part))
                half.note(here)
        finally:
            for future in under_way:
                future.cancel()


def _begin(
    pool: ThreadPoolExecutor,
    store: Store,
    half: _Beginning,
    file: int,
    missing: Iterator[int],
    under_way: dict[Future[None], int],
) -> bool:
    while len(under_way) < SIDE_BY_SIDE and (part := next(missing, None)) is not None:
        under_way[pool.submit(_one_part, store, half, file, part)] = part
    return bool(under_way)


def _one_part(store: Store, half: _Beginning, file: int, part: int) -> None:
    start, length = part * PART, _length(half, part)
    data = store.read(half.entry.place, start, start + length)
    if len(data) != length:
        raise StorageError(
            f"{shown(half.entry.place)} gave {len(data)} bytes where {length} were asked for.",
            "Run again.",
            again=True,
        )
    view, at = memoryview(data), start
    while view:
        written = os.pwrite(file, view, at)
        view, at = view[written:], at + written


def _length(half: _Beginning, part: int) -> int:
    return min(PART, half.size - part * PART)


def _is_here(target: Path, entry: Entry) -> bool:
    try:
        whole = target.stat().st_size == entry.size
        return whole and _mark_file(target).read_text(encoding="utf-8") == entry.mark
    except OSError:
        return False


def _mark_file(target: Path) -> Path:
    return target.with_name(f".{_short(target)}.mark")


def _short(target: Path) -> str:
    return key_of(target.name)


def _boot() -> str:
    """What tells one start of the machine from the next; empty where nothing does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
