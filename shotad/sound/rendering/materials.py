"""What a render works with: the film, its track with all that people changed, and what the run found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from shotad.core import SETTINGS, Config, Interval, OtherFilm, SpeechKind, WorkFolder, write_text
from shotad.film import Film, Prepared, recorded
from shotad.script import (
    TRACK,
    Brought,
    Cue,
    Track,
    is_translation,
    load_track,
    save_track,
    save_translation,
    script_places,
    times_of,
    to_json,
    track_lock,
    translation_places as script_places_of,
    with_edited_scripts,
    with_translation_scripts,
)


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
        """Write down how the lines of ``track`` were spoken, with the scripts where it is the film's own; the
        files written. What others changed since the track was read stays as they left it."""
        with track_lock(self.folder.path):
            return self._written(track if self.is_current else self._over_newer(track))

    def _over_newer(self, track: Track) -> Track:
        """The track as it now is on the disk, with how each line was spoken that is still the same."""
        newest = _read(self.film, self.folder, self.file)[0].track
        spoken = {cue.id: cue for cue in track.cues}
        return newest.with_cues(_as_spoken(cue, spoken.get(cue.id)) for cue in newest.cues)

    def _written(self, track: Track) -> tuple[Path, ...]:
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
    done, read = _read(film, folder, file)
    prepared = recorded(folder, film.info, config, described=(folder.path / SETTINGS).is_file())
    return Materials(film, folder, config, done.track, file, prepared, done.changed, read)


def _read(film: Film, folder: WorkFolder, file: Path) -> tuple[Brought, dict[Path, str]]:
    """The track in ``file`` with what people changed in its scripts, and names of what was read."""
    read = _contents([file])
    track = load_track(file)
    _check_film(film, track, file)
    if file.name == TRACK:
        read |= _contents(script_places(folder.path, track.film.name))
        return with_edited_scripts(track, folder), read
    if is_translation(file, track):
        read |= _contents(script_places_of(track, folder.path))
        return with_translation_scripts(track, folder, *times_of(folder)), read
    return Brought(track, {}), read


def _check_film(film: Film, track: Track, file: Path) -> None:
    """Raises OtherFilm for a film that is not the track's."""
    info, own = film.info, track.film
    if own.fingerprint == info.fingerprint:
        return
    if own.name == info.name:
        raise OtherFilm(
            f"{info.path or info.name} has the name of the film that {file} was made for, and is another: it "
            "was replaced or changed since.",
            "Name the right one with --film, or describe this one.",
        )
    raise OtherFilm(
        f"{file} belongs to another film: {own.name}, not {info.name}.",
        "Name its film with --film, or another work folder.",
    )


def _contents(files: Iterable[Path]) -> dict[Path, str]:
    """Names of what files hold; empty for those that are not there."""
    return {file: hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "" for file in files}


def _as_spoken(cue: Cue, spoken: Cue | None) -> Cue:
    """A line with how another state of it was spoken, where that is the same line."""
    if spoken is None or spoken.spoken is None or not cue.heard:
        return cue
    known = replace(cue, voiced=spoken.voiced)
    return cue if known.spoken is None else replace(known, spoken_length=spoken.spoken_length)
