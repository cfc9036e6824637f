"""The time code of a film's first frame, as cameras and editing programs write it into the file."""

from __future__ import annotations

from pathlib import Path

from shotad.core.errors import FilmError
from shotad.film.container import find_media, readable_metadata


def start_timecode(path: Path) -> str:
    """The time code, such as ``01:00:00:00`` (drop-frame: ``01:00:00;00``); empty where the film has none, or
    cannot be read."""
    try:
        container = find_media(path).open()
    except (FilmError, OSError):
        return ""
    try:
        # In MOV it stands at the picture or in a track of its own, in MXF at the whole film.
        tables = [container.metadata, *(stream.metadata for stream in container.streams)]
        codes = [readable_metadata(table).get("timecode", "") for table in tables]
    finally:
        container.close()
    return next((code for code in codes if code), "")
