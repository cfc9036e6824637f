"""What a render works with: the film, its track with all that people changed, and what the run found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from shotad.config import Config
from shotad.errors import WorkFolderError
from shotad.film.reader import Film
from shotad.prepare import Prepared
from shotad.recorded import recorded
from shotad.script.track import Track, load_track, to_json
from shotad.scriptfiles import script_places
from shotad.tracking import TRACK, save_track, with_edited_scripts
from shotad.translating.beside import is_translation, save_translation, times_of, with_scripts
from shotad.translating.beside import script_places as script_places_of
from shotad.types import Interval, SpeechKind
from shotad.workfolder import WorkFolder, write_text


@dataclass(frozen=True, slots=True)
class Materials:
    """All that is known before anything is spoken.

    ``brought`` counts lines changed in scripts, by file; ``read`` names the content of the track's files as
    they were read.
    """

    film: Film
    folder: WorkFolder
    config: Config
    track: Track
    file: Path
    prepared: Prepared
    brought: Mapping[str, int]
    read: Mapping[Path, str] = field(default_factory=dict)

    @property
    def speech(self) -> tuple[Interval, ...]:
        """When somebody speaks; sung words too, unless lines may be spoken over them."""
        over = self.config.speech.over_lyrics
        heard = (u for u in self.prepared.speech if not (over and u.kind is SpeechKind.LYRICS))
        return tuple(utterance.interval for utterance in heard)

    @property
    def slots(self) -> dict[str, Interval]:
        """Times of the slots by id."""
        return {slot.id: slot.interval for slot in self.prepared.slots}

    @property
    def is_translation(self) -> bool:
        """Whether this is not the film's own track, but one made of it."""
        return self.file.name != TRACK

    def of(self, track: Track) -> Materials:
        """The same with another state of the track."""
        return replace(self, track=track)

    @property
    def is_current(self) -> bool:
        """Whether the track and its scripts are still as they were read: nobody has saved another."""
        return _contents(self.read) == self.read

    def keep(self, track: Track) -> tuple[Path, ...]:
        """Write the track back, with its scripts where it is the film's own; the files written."""
        if not self.is_translation:
            # A film that was renamed keeps its scripts' names: edits are looked for under those.
            return save_track(track, self.folder.path, track.film.name)
        if is_translation(self.file, track) and self.file.parent.resolve() == self.folder.path.resolve():
            return save_translation(track, self.folder)
        write_text(self.file, to_json(track))
        return (self.file,)


def gather(film: Film, folder: WorkFolder, config: Config, file: Path | None = None) -> Materials:
    """The materials of the track in ``file`` (None: the film's own).

    Raises WorkFolderError for a track of another film, ScriptError for one that cannot be read, EditConflict
    where people changed the same line in two places.
    """
    file = file or folder.path / TRACK
    info, own = film.info, file.name == TRACK
    read = _contents([file])
    track = load_track(file)
    _check_film(film, track, file)
    brought: Mapping[str, int] = {}
    if own:
        read |= _contents(script_places(folder.path, track.film.name))
        track, brought = _with_scripts(track, folder)
    elif is_translation(file, track):
        read |= _contents(script_places_of(track, folder.path))
        done = with_scripts(track, folder, *times_of(folder))
        track, brought = done.track, done.changed
    return Materials(film, folder, config, track, file, recorded(folder, info, config), brought, read)


def _check_film(film: Film, track: Track, file: Path) -> None:
    """Raises WorkFolderError for a film that is not the track's."""
    info, own = film.info, track.film
    if own.fingerprint == info.fingerprint:
        return
    if own.name == info.name:
        raise WorkFolderError(
            f"{info.path or info.name} has the name of the film that {file} was made for, and is another: it "
            "was replaced or changed since.",
            "Name the right one with --film, or describe this one.",
        )
    raise WorkFolderError(
        f"{file} belongs to another film: {own.name}, not {info.name}.",
        "Name its film with --film, or another work folder.",
    )


def _contents(files: Iterable[Path]) -> dict[Path, str]:
    """Names of what files hold; empty for those that are not there."""
    return {file: hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "" for file in files}


def _with_scripts(track: Track, folder: WorkFolder) -> tuple[Track, Mapping[str, int]]:
    done = with_edited_scripts(track, folder)
    return done.track, done.changed
