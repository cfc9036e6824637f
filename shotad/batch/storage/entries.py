"""Objects as stores tell of them: where one is, how large, when it was written, and its mark."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_LETTERS = frozenset("\0") | ({"\\"} if os.sep == "\\" else frozenset())
"""Letters that no name of a file here can have."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An object: its address, size in bytes (None: not told), when it was written, and its mark.

    The mark is another whenever the content is: the ETag where the store has one.
    """

    place: str
    size: int | None
    changed: datetime | None
    mark: str


def entry_of(place: str, info: Mapping[str, Any]) -> Entry:
    """What fsspec tells of an object, in whichever words its driver has for it."""
    size = info.get("size")
    told = (info.get(name) for name in ("LastModified", "last_modified", "updated", "mtime", "created"))
    changed = _moment(next((value for value in told if value), info.get("Last-Modified")))
    tag = str(info.get("ETag") or info.get("etag") or "").strip('"')
    mark = tag or f"{size}-{changed.isoformat() if changed else ''}"
    return Entry(place, None if size is None else int(size), changed, mark)


def _moment(value: Any) -> datetime | None:
    """A time as stores tell it: a moment, seconds since 1970, ISO 8601, or as in headers of the web."""
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        if isinstance(value, str):
            with suppress(ValueError):
                value = read(value)
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def names_below(entries: list[Entry], place: str) -> Iterator[tuple[str, Entry]]:
    """Each entry with its name relative to the folder ``place``: what could lead out of it is left out."""
    top = f"{place.rstrip('/')}/"
    for entry in entries:
        name = entry.place[len(top) :] if entry.place.startswith(top) else ""
        parts = name.split("/")
        if name and not any(part in ("", ".", "..") or not _LETTERS.isdisjoint(part) for part in parts):
            yield name, entry
