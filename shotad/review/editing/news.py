"""What others did to the lines, until the pages are told."""

from __future__ import annotations

from collections.abc import Container, Mapping

from shotad.review.editing.history import stamp_of
from shotad.review.kinds import Change
from shotad.script import REDO, Cue, Track

Before = Mapping[str, Cue | None]
"""Lines that have changed, as they were; None: they were not there."""


def differences(before: Track, after: Track) -> Before:
    """The lines that are not the same objects in two states of a track."""
    if before is after:
        return {}
    old, new = ({cue.id: cue for cue in track.cues} for track in (before, after))
    return {name: old.get(name) for name in (*new, *old) if old.get(name) is not new.get(name)}


class News:
    """Lines that others changed: which of them nobody was told of yet, and which a job may have written."""

    def __init__(self) -> None:
        self._untold: dict[str, Cue | None] = {}
        self._taken: dict[str, Cue | None] = {}
        self._expects = False

    def __bool__(self) -> bool:
        return bool(self._untold)

    def add(self, changed: Before) -> None:
        """Lines have been taken in."""
        self._untold = {**changed, **self._untold}
        self._taken = {**changed, **self._taken}

    def expect(self) -> None:
        """A job begins: what is taken in from now on is what it wrote, which it tells itself."""
        self._taken, self._expects = {}, True

    def of_job(self, now: Track, last: Before) -> Before:
        """The lines that a job wrote, as they were before it; it is at its end.

        Where nobody said when it began, they are the ``last`` that were taken in, and those that were
        described anew.
        """
        anew = {cue.id for cue in now.cues if cue.edited is not None and cue.edited.source == REDO}
        found = {
            name: cue for name, cue in self._taken.items() if self._expects or name in anew or name in last
        }
        self._taken, self._expects = {}, False
        return {**last, **found}

    def told(self, known: Container[str], now: Track) -> Change:
        """What nobody was told of, less the lines that are ``known``; from now on it is told.

        No words are made of how a render spoke a line, nor of what a job does.
        """
        before = {name: cue for name, cue in sorted(self._untold.items()) if name not in known}
        self._untold = {}
        there = {cue.id: cue for cue in now.cues}
        gone = tuple(name for name in before if name not in there)
        cues = tuple(there[name] for name in before if name in there)
        number = 0 if self._expects else len(gone) + sum(_is_other(before[cue.id], cue) for cue in cues)
        what = "1 line was" if number == 1 else f"{number} lines were"
        said = f"{what} changed by another program." if number else ""
        return Change(said, cues, gone)


def _is_other(before: Cue | None, now: Cue) -> bool:
    return before is None or stamp_of(before) != stamp_of(now)
