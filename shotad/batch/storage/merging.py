"""What two sides wrote, laid together: lines of records, and a track that was edited meanwhile."""

from __future__ import annotations

from pathlib import Path

from shotad.script import TRACK, derive, load_track, save_track, without_edits


def lines_of_others(theirs: bytes, ours: bytes) -> bytes:
    """The whole lines of ``theirs`` that ``ours`` has not."""
    known = set(_whole(ours).splitlines(keepends=True))
    return b"".join(line for line in _whole(theirs).splitlines(keepends=True) if line not in known)


def with_lines(others: bytes, ours: bytes) -> bytes:
    """Lines of others, then ours; a line that is still being written is left for the next time."""
    return others + _whole(ours)


def merge_track(folder: Path, theirs: bytes) -> None:
    """Lay the edits of a track that others wrote over that of ``folder``, and write it with its scripts.

    The usual rules hold: a person's line stays as it is, the machine's is kept beside it. Whoever calls holds
    the track's lock. Raises EditConflict and ScriptError.
    """
    other = folder / f".theirs.{TRACK}"
    try:
        other.write_bytes(theirs)
        edited, own = load_track(other), load_track(folder / TRACK)
    finally:
        other.unlink(missing_ok=True)
    merged = derive(edited, without_edits(own)).track
    save_track(merged, folder, own.film.name)


def _whole(data: bytes) -> bytes:
    whole, newline, _ = data.rpartition(b"\n")
    return whole + newline
