"""Which part of a recording belongs to which part of a film."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from shotad.core import Interval


@dataclass(frozen=True, slots=True)
class AlignedPiece:
    """A part of the film and the part of the recording that holds the same sound.

    ``film`` is in film seconds, ``recording`` in seconds of the recording, both half-open. Between their ends
    time runs evenly. ``confidence`` is 0 to 1.
    """

    film: Interval
    recording: Interval
    confidence: float

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"confidence must be 0 to 1, got {self.confidence}")

    @property
    def speed(self) -> float:
        """Film seconds that pass in one second of the recording; 1.042 (25/24) where the recording is faster."""
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
    missing on one side, or was replaced. Durations are in seconds.
    """

    pieces: tuple[AlignedPiece, ...]
    film_duration: float
    recording_duration: float

    def __post_init__(self) -> None:
        for earlier, later in pairwise(self.pieces):
            if earlier.film.end > later.film.start or earlier.recording.end > later.recording.start:
                raise ValueError(f"pieces must ascend and not overlap, got {earlier} before {later}")

    @property
    def coverage(self) -> float:
        """Share of the film that the recording holds, 0 to 1."""
        return sum(piece.film.duration for piece in self.pieces) / self.film_duration

    def piece_at(self, film_second: float) -> AlignedPiece | None:
        """The piece that holds a moment of the film; None where the recording lacks it."""
        return next((piece for piece in self.pieces if piece.film.contains(film_second)), None)
