"""A track written to files, in any of the formats of scripts."""

from __future__ import annotations

from pathlib import Path

from shotad.script.text import Format
from shotad.script.track import Track
from shotad.wholefiles import write_bytes


def script_file(track: Track, form: Format, folder: Path, *, is_translation: bool = False) -> Path:
    """Where a track goes in one format: ``FOLDER/movie.ad.vtt``; a translation ``FOLDER/movie.de.ad.vtt``."""
    stem = Path(track.film.name).stem or track.film.name
    return folder / f"{stem}{f'.{track.language}' if is_translation else ''}.{form.ending}"


def write_format(track: Track, form: Format, path: Path) -> Path:
    """Write the heard lines in one format; ``path``. Raises ScriptError where a library that the format needs
    is not installed, and WorkFolderError."""
    write_bytes(path, [form.encode(track)])
    return path
