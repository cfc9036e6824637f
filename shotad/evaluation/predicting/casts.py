"""Whom to name in each film of a dataset: a published character bank with its profile pictures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.core import CastError, GivenCast, key_of


@dataclass(frozen=True, slots=True)
class Bank:
    """A bank of many films: ``rows`` are its entries, by the film's key."""

    path: Path
    photos: Path | None
    rows: dict[str, Any]

    def cast_of(self, film: str) -> GivenCast | None:
        """The film's cast; None for a film that the bank has not, in which nobody is named."""
        return GivenCast(self.path, film, self.photos) if film in self.rows else None

    def known_of(self, film: str) -> str | None:
        """Hash of what is known of the film's cast, its pictures by name and size; None: nothing."""
        if film not in self.rows:
            return None
        names = {str(row.get("id")) for row in self.rows[film] if isinstance(row, dict)}
        return key_of(self.rows[film], sorted(entry for name in names for entry in self._pictures(name)))

    def _pictures(self, name: str) -> list[list[Any]]:
        if self.photos is None:
            return []
        folder = self.photos / name
        files = [*self.photos.glob(f"{name}.*"), *(folder.iterdir() if folder.is_dir() else ())]
        return [[str(file.relative_to(self.photos)), file.stat().st_size] for file in files if file.is_file()]


def read_bank_of_films(path: Path, photos: Path | None) -> Bank:
    """The bank in a JSON file, ``{film: [{id, name, role}, …]}``. Raises CastError.

    What a film's own entries are is looked at when the film is described.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CastError(f"The bank {path} cannot be read: {error.strerror}.", "Look for it.") from None
    except ValueError as error:
        raise CastError(f"The bank {path} is no JSON: {error}.", "Fetch it again.") from None
    if not isinstance(rows, dict) or not all(isinstance(cast, list) for cast in rows.values()):
        raise CastError(f"{path} is no bank of films.", 'Give a file with {"film": [{"id": …, "role": …}]}.')
    if photos is not None and not photos.is_dir():
        raise CastError(f"There is no folder of pictures {photos}.", "Name the one that goes with the bank.")
    return Bank(path, photos, rows)
