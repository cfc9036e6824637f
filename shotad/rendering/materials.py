"""What a render works with: the film, its track with all that people changed, and what the run found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from shotad.config import Config
from shotad.errors import WorkFolderError
from shotad.film.reader import Film
from shotad.prepare import Prepared
from shotad.recorded import recorded
from shotad.script.track import Track, load_track, to_json
from shotad.tracking import TRACK, save_track, with_edited_scripts
from shotad.types import Interval, SpeechKind
from shotad.workfolder import WorkFolder, write_text


@dataclass(frozen=True, slots=True)
class Materials:
    """All that is known before anything is spoken. ``brought`` counts lines changed in scripts, by file."""

    film: Film
    folder: WorkFolder
    config: Config
    track: Track
    file: Path
    prepared: Prepared
    brought: Mapping[str, int]

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

    def keep(self, track: Track) -> tuple[Path, ...]:
        """Write the track back, with its scripts where it is the film's own; the files written."""
        if not self.is_translation:
            return save_track(track, self.folder.path, self.prepared.info.name)
        write_text(self.file, to_json(track))
        return (self.file,)


def gather(film: Film, folder: WorkFolder, config: Config, file: Path | None = None) -> Materials:
    """The materials of the track in ``file`` (None: the film's own).

    Raises WorkFolderError for a track of another film, ScriptError for one that cannot be read, EditConflict
    where people changed the same line in two places.
    """
    file = file or folder.path / TRACK
    track = load_track(file)
    info = film.info
    if track.film.fingerprint != info.fingerprint:
        raise WorkFolderError(
            f"{file} belongs to another film: {track.film.name}, not {info.name}.",
            "Name its film with --film, or another work folder.",
        )
    brought: Mapping[str, int] = {}
    if file.name == TRACK:
        track, brought = _with_scripts(track, folder)
    return Materials(film, folder, config, track, file, recorded(folder, info, config), brought)


def _with_scripts(track: Track, folder: WorkFolder) -> tuple[Track, Mapping[str, int]]:
    done = with_edited_scripts(track, folder)
    return done.track, done.changed
