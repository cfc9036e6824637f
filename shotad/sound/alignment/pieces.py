"""Which part of a recording belongs to which part of a film."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from shotad.core import Interval

SAME_LENGTH = 2.0
"""Seconds by which a recording of the description alone may be shorter or longer than its film."""


@dataclass(frozen=True, slots=True)
class AlignedPiece:
    """A part of the film and the part of the recording that holds the same sound.

    ``film`` is in film seconds, ``recording`` in seconds of the recording, both half-open. Between their ends
    time runs evenly. ``confidence`` is 0 to 1. ``residual`` is the usual distance of a moment's own place
    from that line, in seconds. ``start_error`` and ``end_error`` are seconds by which its start and end may
    be off along the line: a narrator may cover the moment of a cut.
    """

    film: Interval
    recording: Interval
    confidence: float
    residual: float = 0.0
    start_error: float = 0.0
    end_error: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"confidence must be 0 to 1, got {self.confidence}")

    @property
    def speed(self) -> float:
        """Film seconds in one second of the recording; 1.042 (25/24) where the recording is faster."""
        return self.film.duration / self.recording.duration

    def film_second(self, recording_second: float) -> float:
        """When a moment of the recording happens in the film; also beyond the piece, at its speed."""
        return self.film.start + (recording_second - self.recording.start) * self.speed

    def recording_second(self, film_second: float) -> float:
        """When a moment of the film happens in the recording; also beyond the piece, at its speed."""
        return self.recording.start + (film_second - self.film.start) / self.speed


@dataclass(frozen=True, slots=True)
class Alignment:
    """All parts of a film that a recording holds.

    ``pieces`` ascend in the film and in the recording and overlap in neither. What lies between two pieces is
    missing on one side, or was replaced. Durations are in seconds. ``ambiguous`` are parts of the recording,
    in its seconds, whose sound comes back in the film, so that they fit several places of it. They are in a
    piece that goes on there, or in none.
    """

    pieces: tuple[AlignedPiece, ...]
    film_duration: float
    recording_duration: float
    ambiguous: tuple[Interval, ...] = ()

    def __post_init__(self) -> None:
        for earlier, later in pairwise(self.pieces):
            if earlier.film.end > later.film.start or earlier.recording.end > later.recording.start:
                raise ValueError(f"pieces must ascend and not overlap, got {earlier} before {later}")

    @property
    def coverage(self) -> float:
        """Share of the film that the recording holds, 0 to 1."""
        return sum(piece.film.duration for piece in self.pieces) / self.film_duration

    @property
    def speed(self) -> float:
        """The speed of most of what the recording holds; 1.0 where it holds nothing."""
        longest = max(self.pieces, key=lambda piece: piece.film.duration, default=None)
        return 1.0 if longest is None else longest.speed

    @property
    def missing(self) -> tuple[Interval, ...]:
        """The parts of the film that the recording lacks, in film seconds."""
        return _between([piece.film for piece in self.pieces], self.film_duration)

    @property
    def added(self) -> tuple[Interval, ...]:
        """The parts of the recording that the film lacks, in seconds of the recording."""
        return _between([piece.recording for piece in self.pieces], self.recording_duration)

    def piece_at(self, film_second: float) -> AlignedPiece | None:
        """The piece that holds a moment of the film; None where the recording lacks it."""
        return next((piece for piece in self.pieces if piece.film.contains(film_second)), None)


_SHORTEST = 0.001
"""Seconds; a gap that is shorter comes of rounding."""


def _between(intervals: list[Interval], duration: float) -> tuple[Interval, ...]:
    """What ascending intervals leave free of ``[0, duration)``."""
    ends = [0.0, *(interval.end for interval in intervals)]
    starts = [*(interval.start for interval in intervals), duration]
    return tuple(
        Interval(end, start) for end, start in zip(ends, starts, strict=True) if start - end > _SHORTEST
    )
