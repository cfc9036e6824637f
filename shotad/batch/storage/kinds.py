"""What kinds of files a work folder has, and so in which order and how they travel."""

from __future__ import annotations

import re
from enum import IntEnum
from pathlib import PurePosixPath

from shotad.core import SETTINGS

_MEDIA = frozenset(
    {
        *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".ts", ".m2ts", ".mts", ".mxf", ".ogv"),
        *(".wav", ".flac", ".mp3", ".m4a", ".aac", ".ac3", ".eac3", ".opus", ".ogg", ".mka", ".aiff"),
    }
)
DONE = "done.json"
_DONE = re.compile(re.escape(DONE))
_SCRIPT = re.compile(r".+\.ad\.(vtt|srt|dapt\.xml|csv)", re.DOTALL)
_TRACK = re.compile(r"track(\.[\w-]+)?\.json")
_WRITTEN = re.compile(r"scripts(\.[\w-]+)?\.json")
"""Those of a translation have its language in the middle."""
_PASSING = (".pack", ".index")
"""Of frames kept for this run alone (`shotad.film.framestore`): far larger than all else, and decoded again
where they are missing."""


_OVERVIEW = frozenset({"overview.html", "sheet"})


class Kind(IntEnum):
    """Kinds of files, in the order in which they are sent: what others rest on comes first."""

    LINES = 1
    """Records that come one by one, and the log."""
    RECORD = 2
    """Other files that are replaced whole."""
    OVERVIEW = 3
    """Pictures of the overview: drawn anew by each run, and never looked at by one."""
    MEDIA = 4
    """What is rendered: large, and not needed to describe."""
    SCRIPT = 5
    WRITTEN = 6
    """``scripts.json``, which says how scripts were written."""
    TRACK = 7
    MARK = 8
    """That all is done, and by which terms: the last, for who finds it looks no further."""

    @property
    def is_of_track(self) -> bool:
        """Whether it is written together with the track."""
        return Kind.SCRIPT <= self <= Kind.TRACK


def kind_of(name: str) -> Kind | None:
    """The kind of a file by its name within the folder (``voice/a.flac``); None: it stays where it is."""
    path = PurePosixPath(name)
    if any(part.startswith(".") for part in path.parts) or path.suffix in _PASSING:
        return None
    if path.parts[0] in _OVERVIEW:
        return Kind.OVERVIEW
    if len(path.parts) == 1 and (known := _of_track(name)) is not None:
        return known
    if path.suffix == ".jsonl" or name == "log.txt":
        return Kind.LINES
    return Kind.MEDIA if path.suffix.lower() in _MEDIA else Kind.RECORD


def _of_track(name: str) -> Kind | None:
    patterns = {Kind.MARK: _DONE, Kind.TRACK: _TRACK, Kind.WRITTEN: _WRITTEN, Kind.SCRIPT: _SCRIPT}
    return next((kind for kind, pattern in patterns.items() if pattern.fullmatch(name)), None)


_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".txt": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".vtt": "text/vtt; charset=utf-8",
    ".srt": "application/x-subrip; charset=utf-8",
    ".xml": "application/ttml+xml; charset=utf-8",
    ".png": "image/png",
    ".jpg": "image/jpeg",
}


def content_type(place: str) -> str | None:
    """What a store is told that a file is, so that players and browsers take it; None: nothing."""
    return _TYPES.get(PurePosixPath(place).suffix.lower())


def holds_paths(name: str) -> bool:
    """Whether a file tells where film and folder are."""
    return name == SETTINGS
