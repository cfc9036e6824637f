"""Ids of people: names of files, made of names of people. Pure logic."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{i}" for port in ("com", "lpt") for i in range(1, 10))}
"""Names that Windows gives no file."""


def id_of(name: str) -> str:
    """``Zoë d'Arcy → zoe-d-arcy``; letters that are not Latin stay; ``person`` where nothing is left."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    latin = "".join(c for c in plain if not unicodedata.combining(c) or ord(c) > 0x36F)
    joined = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", latin)).strip("-")
    found = joined.encode()[:60].decode("utf-8", "ignore") or "person"
    return f"person-{found}" if found in _RESERVED else found


def is_id(text: str) -> bool:
    """Whether a text can be an id: letters, digits, ``-``, ``_`` and ``.`` within, no more than 80."""
    good = re.fullmatch(r"\w(?:[\w.-]*[\w-])?", text) is not None
    return good and len(text.encode()) <= 80 and text.casefold() not in _RESERVED


def distinct_ids(names: Iterable[str], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """An id for each name, different from each other and from those taken: ``Anna, Anna → anna, anna-2``."""
    used = {one.casefold() for one in taken}
    found = []
    for name in names:
        base = wanted = id_of(name)
        number = 1
        while wanted in used:
            number += 1
            wanted = f"{base}-{number}"
        used.add(wanted)
        found.append(wanted)
    return tuple(found)
