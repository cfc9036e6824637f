"""A track as a script's text, by the name of the format, and what the check of scripts says of such a text."""

from __future__ import annotations

import tempfile
from pathlib import Path

from shotad.script import Track, check_script, script_format
from shotad.script.dapt import Violation


def write_script(track: Track, name: str) -> str:
    """The heard lines of the track in the format ``name``."""
    return script_format(name).write(track)


def violations(content: str | bytes, name: str) -> tuple[Violation, ...]:
    """What is wrong with a script that stands in a file of this name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return check_script(path)


def dapt_violations(content: str | bytes) -> list[Violation]:
    """The rules of DAPT that a document breaks, those of scripts in general left out."""
    return [found for found in violations(content, "x.dapt.xml") if found.clause.startswith("#")]
