"""Casts of all films of a dataset from one file, with a folder of profile pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.core.errors import CastError
from shotad.core.runsettings import GivenCast
from shotad.core.workfolder import hash_key
from shotad.sight import read_films_of_bank


@dataclass(frozen=True, slots=True)
class CharacterBanks:
    """Casts of many films from one file: ``rows`` are its entries by the film's key, ``photos`` the folder of
    the pictures."""

    path: Path
    photos: Path | None
    rows: dict[str, Any]

    def key_of(self, film: str, title: str = "") -> str | None:
        """The key of a film (`Ad.film`) in the bank: its id, or its title, as in the bank of MAD-Eval.

        None for a film that is not in the bank, in which nobody is named.
        """
        return next((key for key in (film, title) if key in self.rows), None)

    def cast_of(self, film: str, title: str = "") -> GivenCast | None:
        """The cast of a film (`Ad.film`); None for one that is not in the bank."""
        key = self.key_of(film, title)
        return None if key is None else GivenCast(self.path, key, self.photos)

    def known_of(self, film: str, title: str = "") -> str | None:
        """Hash of the film's cast, and of its pictures' names and sizes; None where the bank has neither."""
        key = self.key_of(film, title)
        if key is None:
            return None
        members = {str(row.get("id")) for row in self.rows[key] if isinstance(row, dict)}
        names_and_sizes = []
        if self.photos is not None:
            for member in members:
                names_and_sizes += _pictures_of(member, self.photos)
        return hash_key(self.rows[key], sorted(names_and_sizes))


def _pictures_of(member: str, photos: Path) -> list[list[Any]]:
    """Name below ``photos`` and size in bytes of each picture of a member: files, or those of a folder."""
    files = list(photos.glob(f"{member}.*"))
    folder = photos / member
    if folder.is_dir():
        files += folder.iterdir()
    return [[file.relative_to(photos).as_posix(), file.stat().st_size] for file in files if file.is_file()]


def read_bank_of_films(path: Path, photos: Path | None) -> CharacterBanks:
    """The bank in a file, ``{film: [{id, name, role}, …]}`` in JSON or as MAD-Eval's is published (pickle).

    ``photos`` is the folder of its pictures. A film's entries are checked when it is described. Raises
    CastError.
    """
    rows = read_films_of_bank(path)
    if photos is not None and not photos.is_dir():
        raise CastError(f"There is no folder of pictures {photos}.", "Name the one that goes with the bank.")
    return CharacterBanks(path, photos, rows)
