"""A track as a script's text, by the name of the format."""

from __future__ import annotations

from shotad.script import Track, script_format


def write_script(track: Track, name: str) -> str:
    """The heard lines of the track in the format ``name``."""
    return script_format(name).write(track)
