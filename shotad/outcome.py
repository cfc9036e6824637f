"""What a describer wants to know when a run has ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.script.cue import CueStatus
from shotad.script.track import Track
from shotad.types import Interval

LONG_SILENCE = 45.0
"""Seconds without speech and without AD that are worth a word (rule T5)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished track, the files it was written to, and what went on.

    ``silences`` are stretches of the part described in which nobody speaks and no line is spoken.
    """

    track: Track
    files: tuple[Path, ...]
    described: Interval
    silences: tuple[Interval, ...]
    failed_slots: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many lines there are of each status, and how many a person edited."""
        found = Counter(cue.status.value for cue in self.track.cues)
        counts = {status.value: found.get(status.value, 0) for status in CueStatus}
        counts["failed"] += len(self.failed_slots)
        return {**counts, "edited": sum(cue.edited is not None for cue in self.track.cues)}


def long_silences(
    track: Track, speech: Sequence[Interval], described: Interval, longest: float = LONG_SILENCE
) -> tuple[Interval, ...]:
    """Stretches of ``described`` longer than ``longest`` seconds with neither speech nor AD."""
    taken = sorted([*speech, *(cue.interval for cue in track.heard)])
    found, clear = [], described.start
    for interval in [*taken, Interval(described.end, described.end + 1)]:
        until = min(interval.start, described.end)
        if until - clear > longest:
            found.append(Interval(clear, until))
        clear = max(clear, interval.end)
    return tuple(found)
