"""The track on the disk: read when it is another than was written, written whole and at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from shotad.core import ScriptError, write_bytes
from shotad.script import Cue, Track, cue_block, cue_span, from_json, to_json

Signature = tuple[int, int, int] | None
"""By what a file is known to be the same: when it was changed, its size, its place on the disk."""


def signature(path: Path) -> Signature:
    """None where there is no such file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def signatures(paths: Iterable[Path]) -> tuple[Signature, ...]:
    """Those of several files."""
    return tuple(map(signature, paths))


class TrackFile:
    """The file of a track, as far as this process knows it.

    Lines that did not change keep their text, so that writing 2,000 of them takes milliseconds.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: Signature = None
        self._data: bytes | None = None
        self._blocks: dict[str, tuple[Cue, str, str]] = {}
        self._broken: tuple[Signature, ScriptError] | None = None

    @property
    def is_stale(self) -> bool:
        """Whether the file is another than the one that was last read or written."""
        return self._known is None or signature(self.path) != self._known

    def forget(self) -> None:
        """Read the file again at the next `look`, whatever it holds."""
        self._known, self._data = None, None

    def look(self) -> Track | None:
        """The track, where it is not what was last read or written; else None.

        Raises ScriptError while it cannot be read or understood.
        """
        now = signature(self.path)
        if now is not None and now == self._known:
            return None
        if self._broken is not None and self._broken[0] == now:
            raise self._broken[1]
        try:
            return self._read(now)
        except ScriptError as error:
            self._broken = (now, error)
            raise

    def write(self, track: Track) -> None:
        """Replace the file; it is on the disk when this returns. Raises WorkFolderError."""
        data = to_json(track, self.block, self.span).encode()
        write_bytes(self.path, [data])
        self._known, self._data, self._broken = signature(self.path), data, None
        if len(self._blocks) > 2 * len(track.cues) + 100:
            there = {cue.id for cue in track.cues}
            self._blocks = {name: kept for name, kept in self._blocks.items() if name in there}

    def block(self, cue: Cue) -> str:
        """A line's text in the file."""
        return self._of(cue)[1]

    def span(self, cue: Cue) -> str:
        """A line's entry among those that were written."""
        return self._of(cue)[2]

    def _of(self, cue: Cue) -> tuple[Cue, str, str]:
        kept = self._blocks.get(cue.id)
        if kept is None or kept[0] is not cue:
            kept = self._blocks[cue.id] = (cue, cue_block(cue), cue_span(cue))
        return kept

    def _read(self, now: Signature) -> Track | None:
        try:
            data = self.path.read_bytes()
            text = data.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ScriptError(f"The track {self.path} cannot be read: {error}.") from None
        if data == self._data:
            self._known = now
            return None
        track = from_json(text, str(self.path))
        self._known, self._data, self._broken = now, data, None
        return track
