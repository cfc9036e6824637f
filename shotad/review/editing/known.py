"""What the run found of a film, read anew when its records change."""

from __future__ import annotations

from pathlib import Path

from shotad.core.config import Config
from shotad.core.errors import WorkFolderError
from shotad.core.info import FilmInfo
from shotad.core.workfolder import WorkFolder
from shotad.film.prepared import Prepared, recorded
from shotad.review.editing.saving import signatures

_RECORDS = ("shots.json", "speech.json", "slots.json")


class Known:
    """The records of a work folder. Raises WorkFolderError where one is missing or damaged."""

    def __init__(self, folder: Path, film: FilmInfo, config: Config) -> None:
        self._folder, self._film, self._config = folder, film, config
        self._files = tuple(folder / name for name in _RECORDS)
        self.read()

    @property
    def is_stale(self) -> bool:
        """Whether a record is another than the one that was read."""
        return signatures(self._files) != self._seen

    def read(self) -> None:
        """Read the records."""
        self._seen = signatures(self._files)
        self.prepared: Prepared = recorded(WorkFolder(self._folder), self._film, self._config)

    def look(self) -> bool:
        """Read them if they are stale; whether something new was found. A run that is in the middle of
        writing them is waited for, until the next look."""
        if not self.is_stale:
            return False
        try:
            self.read()
        except WorkFolderError:
            self._seen = ()
            return False
        return True
