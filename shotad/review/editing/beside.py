"""The scripts beside the track, while a page is open: edits in them come in, and they follow the track."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shotad.errors import ShotadError
from shotad.review.editing.saving import signatures
from shotad.script.track import Track
from shotad.scriptfiles import WRITTEN, are_written, edited_scripts, script_places, script_texts, write_texts
from shotad.tracking import with_edited_scripts
from shotad.workfolder import WorkFolder


class Beside:
    """The scripts of a folder for the film called ``name``. Who reads or writes them holds the track's lock.

    While somebody's edits in them cannot be brought in they are left as they are.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._files = (*script_places(folder, name), folder / WRITTEN)
        self._seen: object = None
        self._blocked = False

    @property
    def is_stale(self) -> bool:
        """Whether a script is another than when they were last looked at."""
        return signatures(self._files) != self._seen

    def brought_into(self, track: Track) -> Track | None:
        """The track with what people changed in scripts; None where that is nothing new.

        Raises EditConflict and ScriptError, once for each state of the scripts, where it cannot be done.
        """
        now = signatures(self._files)
        if now == self._seen:
            return None
        self._seen, self._blocked = now, False
        try:
            brought = with_edited_scripts(track, WorkFolder(self._folder)).track
        except ShotadError:
            self._blocked = True
            raise
        return None if brought is track else brought

    def texts(self, track: Track) -> Mapping[Path, str]:
        """What the scripts of a track hold."""
        return script_texts(track, self._folder, self._name)

    def write(self, texts: Mapping[Path, str]) -> None:
        """Write the scripts, if they are not so already and nobody's edits in them wait."""
        if self._blocked or self._are_so(texts):
            return
        write_texts(texts, self._folder)
        self._seen = signatures(self._files)

    def _are_so(self, texts: Mapping[Path, str]) -> bool:
        there = all(path.is_file() for path in texts)
        return there and are_written(texts, self._folder) and not edited_scripts(self._folder, self._name)
