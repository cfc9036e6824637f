"""Who is in each film: names by file, in the two forms that are published."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shotad.core import DatasetError

Casts = dict[str, tuple[str, ...]]

_REMARK = re.compile(r"(?:(?<!\s)\s+)?\((?:as|uncredited|voice|credit only)\b[^()]*\)", re.IGNORECASE)
"""Glued to some published roles: ``Robert(as Alan Marshall)``."""


def read_casts(path: Path) -> Casts:
    """Names by film, each once and in the file's order.

    ``{film: [name, …]}`` as in AutoAD's list for CRITIC, or ``{film: [{id, name, role}, …]}`` as in the
    character banks, whose names are the roles. Raises DatasetError.
    """
    try:
        tree = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DatasetError(
            f"The cast {path} cannot be read: {error}.", 'Write JSON: {"film": ["name", …], …}.'
        ) from None
    if not isinstance(tree, Mapping):
        raise DatasetError(
            f"The cast {path} has no films: it is a {type(tree).__name__}.",
            'Write JSON: {"film": ["name", …], …}.',
        )
    return {film: _names(path, film, entries) for film, entries in tree.items()}


def _names(path: Path, film: str, entries: Any) -> tuple[str, ...]:
    if not isinstance(entries, list):
        raise DatasetError(
            f"The cast {path}, film {film!r}: {entries!r} is no list of names.", 'Write ["name", …].'
        )
    names = (_name(path, film, entry) for entry in entries)
    return tuple(dict.fromkeys(name for name in names if name))


def _name(path: Path, film: str, entry: Any) -> str:
    role = entry.get("role") if isinstance(entry, Mapping) else entry
    if not isinstance(role, str):
        raise DatasetError(
            f"The cast {path}, film {film!r}: {entry!r} is no name.", 'Write a text, or {"role": text}.'
        )
    return " ".join(_REMARK.sub("", role).split())


def casts_of(films: Mapping[str, str], read: Casts) -> Casts:
    """The casts of these films (title by film), whose keys in the file are the film or its title."""
    found = {film: read.get(film) or read.get(title) for film, title in films.items()}
    return {film: names for film, names in found.items() if names}
