"""A track written to files, in any of the formats of scripts."""

from __future__ import annotations

from pathlib import Path

from shotad.core import ScriptError, write_bytes, write_text
from shotad.script.text import ALL_FORMATS, Format, script_format
from shotad.script.track import Track, to_json

TRACK_ENDING = ".json"
"""Of the whole track, with all that is known of each line."""

_ENDINGS = {
    **{f.ending.removeprefix("ad"): f.name for f in ALL_FORMATS.values() if f.name != "json"},
    ".ttml": "dapt",
    ".xml": "dapt",
}
"""How a file's name may end → the format."""


def script_file(track: Track, form: Format, folder: Path, *, is_translation: bool = False) -> Path:
    """Where a track goes in one format: ``FOLDER/movie.ad.vtt``; a translation ``FOLDER/movie.de.ad.vtt``."""
    stem = Path(track.film.name).stem or track.film.name
    return folder / f"{stem}{f'.{track.language}' if is_translation else ''}.{form.ending}"


def write_format(track: Track, form: Format, path: Path) -> Path:
    """Write the heard lines in one format; ``path``. Raises ScriptError where a library that the format needs
    is not installed, and WorkFolderError."""
    write_bytes(path, [form.encode(track)])
    return path


def save_as(track: Track, path: Path) -> Path:
    """Write a track in the format that the file's name ends in (`Track.save`); ``path``."""
    name = path.name.lower()
    if name.endswith(TRACK_ENDING):
        write_text(path, to_json(track))
        return path
    # The longest, for .reaper.csv is no .csv.
    ending = max((one for one in _ENDINGS if name.endswith(one)), key=len, default=None)
    if ending is None:
        known = ", ".join([TRACK_ENDING, *_ENDINGS])
        raise ScriptError(
            f"No format of scripts ends in {path.suffix or path.name!r}.", f"Choose of {known}."
        )
    return write_format(track, script_format(_ENDINGS[ending]), path)
