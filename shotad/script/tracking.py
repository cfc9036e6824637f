"""The end of the third act: cues become the track, without losing what a person changed, and the
track becomes files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from shotad.core import (
    SETTINGS,
    Config,
    FilmInfo,
    Interval,
    OtherFilm,
    WorkFolder,
    WorkFolderError,
    read_settings,
    slots_of,
    write_text,
)
from shotad.script.edits import respeak
from shotad.script.importing import Import, import_script
from shotad.script.scriptfiles import Brought, bring_back, edited_scripts, write_scripts
from shotad.script.text import Format, read_script
from shotad.script.track import FilmId, Track, load_track, to_json

TRACK = "track.json"

_LOCK = ".track.lock"
LOCK_SECONDS = 15.0
"""Seconds that are waited for another who is writing the track: long lists on slow disks take a few."""


@contextmanager
def track_lock(folder: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Nobody else reads and rewrites the tracks of ``folder`` and their scripts meanwhile.

    It is held for moments only, from reading a track to having written it, also by those who do not hold the
    `WorkFolder`: so a person edits lines while a run writes others, and neither loses any. Not to be taken
    twice. Raises WorkFolderError where another holds it for longer than ``seconds``.
    """
    if not folder.is_dir():
        # The lock would make the folder anew, empty, where a person has renamed it.
        raise WorkFolderError(
            f"The work folder {folder} is not there any more.", "Name it as it was, or open it where it is."
        )
    lock = FileLock(folder / _LOCK, timeout=seconds)
    try:
        lock.acquire()
    except Timeout:
        raise WorkFolderError(
            f"The track in {folder} is being written by another shotad for more than {seconds:g} s.",
            "Wait until that is done; if nothing else runs, try again.",
            again=True,
        ) from None
    except OSError as error:
        raise WorkFolderError(
            f"{folder / _LOCK} cannot be written: {error.strerror}.", "Make the folder writable."
        ) from None
    try:
        yield
    finally:
        lock.release()


def present_track(folder: WorkFolder, film: FilmId | FilmInfo, *, with_scripts: bool = True) -> Track | None:
    """The track in the folder, edits and all; None where there is none yet.

    ``with_scripts``: also what people changed in the scripts beside it. Raises OtherFilm where the track is
    not of ``film``, EditConflict where track and scripts hold other words for the same line, and ScriptError.
    """
    path = folder.path / TRACK
    if not path.exists():
        return None
    track = load_track(path)
    if track.film.fingerprint != film.fingerprint:
        if track.film.name == film.name:
            what = f"{path} is of another version of {film.name}: the film was replaced or changed since."
            back = "put the film back"
        else:
            what = f"{path} belongs to another film: {track.film.name}, not {film.name}."
            back = "name that film"
        raise OtherFilm(
            what,
            f"Nothing was written. Move {folder.path} away, or name another folder with --out, and this film "
            f"is described from the start; or {back}.",
        )
    return with_edited_scripts(track, folder).track if with_scripts else track


def with_edited_scripts(track: Track, folder: WorkFolder, but: Path | None = None) -> Brought:
    """The track with what people changed in the scripts beside it, all ``but`` one."""
    beside = edited_scripts(folder.path, track.film.name)
    edited = [(form, path) for form, path in beside if but is None or path.resolve() != but.resolve()]
    return with_scripts(track, folder, edited)


def with_scripts(track: Track, folder: WorkFolder, edited: Sequence[tuple[Format, Path]]) -> Brought:
    """The track with what people changed in just these scripts. Raises as `bring_back`."""
    if not edited:
        return Brought(track, {})
    return bring_back(track, edited, _slot_times(folder), _pace(folder.path))


def import_into(
    place: Path, script: Path, form: str | None, *, reviewers: Sequence[str] = (), overwrite: bool = False
) -> Import:
    """Bring a script's edits into the track of the work folder ``place`` and write everything anew."""
    with WorkFolder(place) as folder, track_lock(place):
        track = with_edited_scripts(load_track(folder.path / TRACK), folder, but=script).track
        slots = _slot_times(folder)
        done = import_script(track, read_script(script, form), script.name, slots=slots, overwrite=overwrite)
        spoken = respeak(done.track, slots, _pace(folder.path))
        people = tuple(dict.fromkeys((*done.track.reviewed_by, *reviewers)))
        done = replace(done, track=replace(spoken, reviewed_by=people))
        save_track(done.track, folder.path, track.film.name)
        folder.note(f"imported {script.name}: {len(done.changed)} lines changed")
    return done


def _pace(folder: Path) -> float:
    """Seconds a word of the run that wrote the folder; the default where that is not known."""
    known = (folder / SETTINGS).is_file()
    return (read_settings(folder).config if known else Config()).slots.seconds_per_word


def _slot_times(folder: WorkFolder) -> dict[str, Interval]:
    planned = folder.read_json("slots.json") or {}
    return {slot.id: slot.interval for slot in slots_of(planned.get("slots", ()))}


def save_track(track: Track, folder: Path, name: str) -> tuple[Path, ...]:
    """Write the track and its scripts; their paths. Who read the track before holds `track_lock` by now."""
    write_text(folder / TRACK, to_json(track))
    return (folder / TRACK, *write_scripts(track, folder, name))
