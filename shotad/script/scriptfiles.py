"""The scripts beside a track: written with it, and read back where a person changed one of them.

``scripts.json`` holds the hash of each script as it was written. One that has another is somebody's work:
it is brought into the track before anything is written over it. While scripts are being written it holds both
hashes of each, so that a run that is killed in between leaves nothing that looks like somebody's work.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.core import (
    EditConflict,
    Interval,
    WorkFolderError,
    in_room,
    read_record,
    readable_json,
    stem_of,
    write_text,
)
from shotad.script.importing import import_script
from shotad.script.text import Format, read_script, script_format
from shotad.script.track import Track

WRITTEN = "scripts.json"

BESIDE_TRACK = ("vtt", "srt", "dapt", "csv")
"""The formats that every run writes beside ``track.json``."""

_STAMPED = ("vtt", "dapt", "csv")
"""Those that say of each line how it was written, so that several edited ones can be told apart."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A track with what people changed in the scripts beside it; ``changed`` counts lines by file."""

    track: Track
    changed: Mapping[str, int]


@in_room("scripts")
def write_scripts(track: Track, folder: Path, name: str) -> tuple[Path, ...]:
    """Write the scripts of ``track`` for a film called ``name``; their paths."""
    return write_texts(script_texts(track, folder, name), folder)


def script_texts(track: Track, folder: Path, name: str) -> dict[Path, str]:
    """What the scripts of ``track`` hold, by where they stand; nothing is written."""
    return {_place(folder, name, form): form.write(track) for form in map(script_format, BESIDE_TRACK)}


def write_texts(texts: Mapping[Path, str], folder: Path) -> tuple[Path, ...]:
    """Write scripts, and down how they were written; their paths. Of others it stays as it is noted."""
    known, hashes = _written(folder), {path.name: _hash(text.encode()) for path, text in texts.items()}
    noted = {name: hashes.get(name, own[0]) for name, own in known.items()} | hashes
    before = {
        path.name: sorted({*known.get(path.name, _as_it_is(path))} - {hashes[path.name]}) for path in texts
    }
    write_text(folder / WRITTEN, readable_json({"scripts": noted, "before": before}))
    for path, text in texts.items():
        write_text(path, text)
    write_text(folder / WRITTEN, readable_json({"scripts": noted}))
    return tuple(texts)


def are_written(texts: Mapping[Path, str], folder: Path) -> bool:
    """Whether scripts were last written just so, and wholly."""
    written = _written(folder)
    return all(written.get(path.name) == (_hash(text.encode()),) for path, text in texts.items())


def script_places(folder: Path, name: str) -> tuple[Path, ...]:
    """Where the scripts beside a track are, there or not."""
    return tuple(_place(folder, name, form) for form in map(script_format, BESIDE_TRACK))


def edited_scripts(folder: Path, name: str) -> tuple[tuple[Format, Path], ...]:
    """The scripts beside the track that are not as they were written."""
    written = _written(folder)
    places = [(form, _place(folder, name, form)) for form in map(script_format, BESIDE_TRACK)]
    return tuple(
        (form, path)
        for form, path in places
        if path.name in written and path.is_file() and _hash(path.read_bytes()) not in written[path.name]
    )


def bring_back(
    track: Track,
    edited: Sequence[tuple[Format, Path]],
    slots: Mapping[str, Interval],
    seconds_per_word: float,
) -> Brought:
    """The track with the edits of scripts beside it.

    Raises EditConflict where two of them, or one and the track, hold other words for the same line, and where
    it cannot be told which of two is meant; ScriptError for a script that cannot be read any more.
    """
    unsure = [path.name for form, path in edited if form.name not in _STAMPED]
    if unsure and len(edited) > 1:
        names = " and ".join(path.name for _, path in edited)
        raise EditConflict(
            f"{names} were all changed, and {unsure[0]} does not say which of its lines were.",
            f"Bring one in with shotad import, and delete or undo the changes of {unsure[0]}.",
        )
    counts: dict[str, int] = {}
    for form, path in edited:
        done = import_script(
            track,
            read_script(path, form.name),
            path.name,
            slots=slots,
            seconds_per_word=seconds_per_word,
        )
        counts[path.name] = len(done.changed) + len(done.added) + len(done.removed)
        track = done.track if counts[path.name] else track
    return Brought(track, counts)


def _written(folder: Path) -> dict[str, tuple[str, ...]]:
    """Hashes by file name: of a script as it was written last, then as it may still be where that was not
    finished; none where nothing is known of them."""
    try:
        record = read_record(folder / WRITTEN)
    except WorkFolderError:
        return {}
    if record is None:
        return {}
    before = record.get("before", {})
    return {name: (value, *before.get(name, ())) for name, value in record["scripts"].items()}


def _as_it_is(path: Path) -> tuple[str, ...]:
    return (_hash(path.read_bytes()),) if path.is_file() else ()


def _place(folder: Path, name: str, form: Format) -> Path:
    return folder / f"{stem_of(name)}.{form.ending}"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
