"""What a describer wants to know when a run has ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.core import Interval
from shotad.description.usage import Used
from shotad.script import Cue, CueStatus, Limits, Track, gaps, is_changed, silences


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished track, the files it was written to, and what went on.

    ``silences`` are stretches of the part described in which nobody speaks and no line is spoken;
    ``sheet`` is the overview page and its pictures, if they were drawn.
    """

    track: Track
    files: tuple[Path, ...]
    described: Interval
    silences: tuple[Interval, ...]
    failed_slots: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    sheet: tuple[Path, ...] = ()
    used: Used | None = None
    """What the engines of this run took."""
    recognised: tuple[tuple[str, int], ...] | None = None
    """Who of the cast was recognised in the clips, and in how many shots; None where no cast was given."""

    @property
    def cues(self) -> tuple[Cue, ...]:
        """The lines of the part that was described."""
        part = self.described
        return tuple(cue for cue in self.track.cues if part.start <= cue.interval.start < part.end)

    @property
    def failures(self) -> tuple[str, ...]:
        """Why slots of the part described have failed, a reason for each."""
        reasons = [cue.reason for cue in self.cues if cue.status is CueStatus.FAILED]
        return (*(reason for _, reason in self.failed_slots), *reasons)

    @property
    def all_failed(self) -> bool:
        """Whether every slot of the part described has failed."""
        return bool(self.failures) and all(cue.status is CueStatus.FAILED for cue in self.cues)

    @property
    def counts(self) -> dict[str, int]:
        """How many lines there are of each status, and how many a person edited."""
        found = Counter(cue.status.value for cue in self.track.cues)
        counts = {status.value: found.get(status.value, 0) for status in CueStatus}
        counts["failed"] += len(self.failed_slots)
        return {**counts, "edited": sum(map(is_changed, self.track.cues))}


def long_silences(
    track: Track, speech: Sequence[Interval], described: Interval, longest: float = Limits().stretch
) -> tuple[Interval, ...]:
    """Stretches of ``described`` over ``longest`` seconds with neither speech nor AD (rule T5)."""
    free = [part for gap in gaps(speech, track.film.duration) if (part := gap.clip(described))]
    return tuple(silences([cue.interval for cue in track.heard], free, longest))
