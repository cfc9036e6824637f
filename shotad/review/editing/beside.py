"""The scripts beside the track, while a page is open: edits in them come in, and they follow the track."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from shotad.core.errors import ShotadError
from shotad.core.workfolder import WorkFolder
from shotad.review.editing.saving import signatures
from shotad.script.scriptfiles import (
    WRITTEN,
    are_written,
    edited_scripts,
    script_places,
    script_texts,
    write_texts,
)
from shotad.script.text import Format
from shotad.script.track import Track
from shotad.script.tracking import with_scripts

Edited = tuple[Format, Path]


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of a look at the scripts: the ``track`` with what people changed in them, None where that is
    nothing new; ``trouble`` is why some of it cannot be brought in."""

    track: Track | None = None
    trouble: ShotadError | None = None


class Beside:
    """The scripts of a folder for the film called ``name``. Who reads or writes them holds the track's lock.

    Those with somebody's edits that cannot be brought in are left as they are; the others follow the track.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._files = (*script_places(folder, name), folder / WRITTEN)
        self._seen: object = None
        self._blocked: frozenset[Path] = frozenset()

    @property
    def is_stale(self) -> bool:
        """Whether a script is another than when they were last looked at."""
        return signatures(self._files) != self._seen

    def brought_into(self, track: Track) -> Looked:
        """What came of the edits in scripts; nothing where the scripts are as they were looked at last."""
        now = signatures(self._files)
        if now == self._seen:
            return Looked()
        self._seen, self._blocked, trouble = now, frozenset(), None
        edited = edited_scripts(self._folder, self._name)
        try:
            brought = self._with(track, edited)
        except ShotadError as error:
            good = self._sound(track, edited)
            self._blocked = frozenset(path for _, path in edited) - {path for _, path in good}
            brought, trouble = self._with(track, good), error
        return Looked(None if brought is track else brought, trouble)

    def texts(self, track: Track) -> Mapping[Path, str]:
        """What the scripts of a track hold."""
        return script_texts(track, self._folder, self._name)

    def write(self, texts: Mapping[Path, str]) -> None:
        """Write the scripts that are not so already, but those in which somebody's edits wait."""
        free = {path: text for path, text in texts.items() if path not in self._blocked}
        if self._are_so(free):
            return
        write_texts(free, self._folder)
        self._seen = signatures(self._files)

    def _are_so(self, texts: Mapping[Path, str]) -> bool:
        edited = {path for _, path in edited_scripts(self._folder, self._name)}
        there = all(path.is_file() for path in texts)
        return there and are_written(texts, self._folder) and not edited & texts.keys()

    def _with(self, track: Track, edited: Sequence[Edited]) -> Track:
        return with_scripts(track, WorkFolder(self._folder), edited).track

    def _sound(self, track: Track, edited: Sequence[Edited]) -> list[Edited]:
        """The edited scripts that contradict neither the track nor each other."""
        alone = [script for script in edited if self._fits(track, [script])]
        pairs = (pair for pair in combinations(alone, 2) if not self._fits(track, pair))
        bad = {path for pair in pairs for _, path in pair}
        return [(form, path) for form, path in alone if path not in bad]

    def _fits(self, track: Track, edited: Sequence[Edited]) -> bool:
        try:
            self._with(track, edited)
        except ShotadError:
            return False
        return True
