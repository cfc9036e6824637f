"""Translations beside a film's track: ``track.de.json`` and its scripts, ``movie.de.ad.vtt`` ….

They are people's files as the track and its scripts are: what was changed in a script comes back into its
track before anything is written over it, and a line whose source was changed since it was translated is
known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from shotad.core import (
    SETTINGS,
    Config,
    Interval,
    RecordLog,
    ShotadError,
    WorkFolder,
    read_settings,
    slots_of,
    write_text,
)
from shotad.script.edits import respeak
from shotad.script.importing import Import, import_script
from shotad.script.scriptfiles import BESIDE_TRACK, Brought, bring_back
from shotad.script.text import Format, read_script, script_format
from shotad.script.track import Track, load_track, to_json
from shotad.script.tracking import TRACK, track_lock, with_edited_scripts


def track_name(tag: str) -> str:
    """The file of a translated track: ``de → track.de.json``."""
    return f"track.{tag}.json"


def script_name(track: Track, form: Format) -> str:
    """A script's file, named as what is rendered of the track: ``movie.de.ad.vtt``."""
    stem = Path(track.film.name).stem or track.film.name
    return f"{stem}.{track.language}.{form.ending}"


def log_name(tag: str) -> str:
    """Of the answers: ``translate.de.jsonl``."""
    return f"translate.{tag}"


def is_translation(path: Path, track: Track) -> bool:
    """Whether a track's file is one that stands beside a film's own, with scripts of its own."""
    return path.name == track_name(track.language)


def translation_places(track: Track, folder: Path) -> tuple[Path, ...]:
    """Where the scripts of a translation stand, whether they are there or not."""
    return tuple(folder / script_name(track, script_format(name)) for name in BESIDE_TRACK)


def translation_of(script: Path, folder: Path) -> Path | None:
    """The translated track in ``folder`` whose script a file is by its name; None where it is of none."""
    for path in sorted(folder.glob(track_name("*"))):
        try:
            track = load_track(path)
        except ShotadError:
            continue  # whoever works with it is told what is wrong with it
        if script.name in [place.name for place in translation_places(track, folder)]:
            return path
    return None


def import_translation(
    file: Path, script: Path, form: str | None, *, reviewers: Sequence[str] = (), overwrite: bool = False
) -> Import:
    """Bring a script's edits into the translated track ``file`` and write it anew, with its scripts.

    Raises as `shotad.script.tracking.import_into`.
    """
    with WorkFolder(file.parent) as folder, track_lock(file.parent):
        rooms, pace = times_of(folder)
        track = with_translation_scripts(load_track(file), folder, rooms, pace, but=script).track
        done = import_script(
            track,
            read_script(script, form),
            script.name,
            slots=rooms,
            seconds_per_word=pace,
            overwrite=overwrite,
        )
        people = tuple(dict.fromkeys((*done.track.reviewed_by, *reviewers)))
        done = replace(done, track=replace(respeak(done.track, rooms, pace), reviewed_by=people))
        save_translation(done.track, folder)
        folder.note(f"imported {script.name}: {len(done.changed)} lines changed")
    return done


def times_of(folder: WorkFolder) -> tuple[dict[str, Interval], float]:
    """Times of the folder's slots by id, and the seconds a word of the run that planned them."""
    planned = (folder.read_json("slots.json") or {}).get("slots", ())
    known = (folder.path / SETTINGS).is_file()
    config = read_settings(folder.path).config if known else Config()
    return {slot.id: slot.interval for slot in slots_of(planned)}, config.slots.seconds_per_word


def save_translation(track: Track, folder: WorkFolder) -> tuple[Path, ...]:
    """Write the track and its scripts, each with its language in its name; their paths."""
    paths = [folder.path / track_name(track.language)]
    write_text(paths[0], to_json(track))
    hashes: dict[str, str] = {}
    for form in map(script_format, BESIDE_TRACK):
        path, text = folder.path / script_name(track, form), form.write(track)
        write_text(path, text)
        hashes[path.name] = _hash(text.encode())
        paths.append(path)
    folder.write_json(_written_name(track.language), {"scripts": hashes})
    return tuple(paths)


def with_translation_scripts(
    track: Track,
    folder: WorkFolder,
    rooms: Mapping[str, Interval],
    seconds_per_word: float,
    *,
    but: Path | None = None,
) -> Brought:
    """A translation with what people changed in the scripts beside it, all ``but`` one; ``rooms`` are the
    slots by id.

    Raises as `shotad.script.scriptfiles.bring_back`.
    """
    known = (folder.read_json(_written_name(track.language)) or {}).get("scripts", {})
    beside = [(form, folder.path / script_name(track, form)) for form in map(script_format, BESIDE_TRACK)]
    edited = [
        (form, file)
        for form, file in beside
        if file.name in known
        and file.is_file()
        and _hash(file.read_bytes()) != known[file.name]
        and (but is None or file.resolve() != but.resolve())
    ]
    return bring_back(track, edited, rooms, seconds_per_word) if edited else Brought(track, {})


def outdated(track: Track, folder: WorkFolder) -> tuple[str, ...]:
    """The lines of a translation whose source has changed since: ids of those that were retold, of those that
    came, and of those that are heard no more.

    Nothing for a track that is no translation, or whose source is not in the folder any more.
    """
    source = _source_of(track, folder)
    log = folder.path / f"{log_name(track.language)}.jsonl"
    if source is None or not log.is_file():
        return ()
    asked = {(record.get("slot"), record.get("line")) for record in RecordLog(log).records()}
    now = {cue.id: " ".join(cue.text.split()) for cue in source.heard}
    own = {cue.id for cue in track.cues if cue.edited is not None and cue.machine is None}
    retold = [name for name, text in now.items() if (name, text) not in asked]
    gone = [cue.id for cue in track.heard if cue.id not in now and cue.id not in own]
    return tuple(sorted({*retold, *gone}))


def outdated_note(track: Track, folder: WorkFolder) -> str | None:
    """The same as a sentence for people; None where every line is as it was translated."""
    lines = outdated(track, folder)
    if not lines:
        return None
    what = "1 line was" if len(lines) == 1 else f"{len(lines)} lines were"
    shown = ", ".join(lines[:_SHOWN]) + (" …" if len(lines) > _SHOWN else "")
    return (
        f"{what} changed in the source since this was translated ({shown}): run shotad translate with "
        f"--to {track.language} again; only these are asked for."
    )


_SHOWN = 5
"""Ids that are named; more help nobody."""


def _source_of(track: Track, folder: WorkFolder) -> Track | None:
    """The track in the folder that ``track`` was translated from, as people left it."""
    if not track.translated_from:
        return None
    for name in (TRACK, track_name(track.translated_from)):
        path = folder.path / name
        try:
            found = load_track(path) if path.is_file() else None
            if found is not None and found.language == track.translated_from:
                return with_edited_scripts(found, folder).track if name == TRACK else found
        except ShotadError:
            return None  # whoever works with it is told what is wrong with it
    return None


def _written_name(tag: str) -> str:
    return f"scripts.{tag}.json"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
