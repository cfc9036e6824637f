"""What `shotad predict` is to do: a dataset, settings, engines, and the casts of its films."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shotad.core import Config, NoProgress, Progress
from shotad.core.errors import CastError
from shotad.core.runsettings import GivenCast
from shotad.core.workfolder import hash_key
from shotad.description import Engines
from shotad.evaluation.datasets.dataset import Dataset


@dataclass(frozen=True, slots=True)
class CharacterBanks:
    """Casts of many films from one file: ``rows`` are its entries by the film's key, ``photos`` the folder of
    the pictures."""

    path: Path
    photos: Path | None
    rows: dict[str, Any]

    def cast_of(self, film: str) -> GivenCast | None:
        """The film's cast; None for a film that is not in the bank, in which nobody is named."""
        return GivenCast(self.path, film, self.photos) if film in self.rows else None

    def known_of(self, film: str) -> str | None:
        """Hash of the film's cast, and of its pictures' names and sizes; None where the bank has neither."""
        if film not in self.rows:
            return None
        members = {str(row.get("id")) for row in self.rows[film] if isinstance(row, dict)}
        names_and_sizes = []
        if self.photos is not None:
            for member in members:
                names_and_sizes += _pictures_of(member, self.photos)
        return hash_key(self.rows[film], sorted(names_and_sizes))


def _pictures_of(member: str, photos: Path) -> list[list[Any]]:
    """Name below ``photos`` and size in bytes of each picture of a member: files, or those of a folder."""
    files = list(photos.glob(f"{member}.*"))
    folder = photos / member
    if folder.is_dir():
        files += folder.iterdir()
    return [[str(file.relative_to(photos)), file.stat().st_size] for file in files if file.is_file()]


def read_bank_of_films(path: Path, photos: Path | None) -> CharacterBanks:
    """The bank in a JSON file, ``{film: [{id, name, role}, …]}``; ``photos`` is the folder of its pictures.

    A film's entries are checked when it is described. Raises CastError.
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
    return CharacterBanks(path, photos, rows)


@dataclass(frozen=True, slots=True)
class Job:
    """A dataset to describe, and with what.

    ``out`` is the file of the lines. ``videos`` is the folder of the videos (None: the dataset's own).
    ``work`` is the folder that keeps the clips' work folders (None: they are beside ``out`` and deleted when
    a clip is done). ``published``: whether the dataset's own shots are used.
    """

    dataset: Dataset
    config: Config
    engines: Engines
    out: Path
    videos: Path | None = None
    published: bool = True
    bank: CharacterBanks | None = None
    work: Path | None = None
    progress: Progress = field(default_factory=NoProgress)
