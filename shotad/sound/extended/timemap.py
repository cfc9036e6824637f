"""From seconds of the film to seconds of the copy that pauses, and back."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from shotad.core import GainPoint, Interval, Shot, Utterance
from shotad.sound.extended.kinds import Pause
from shotad.sound.kinds import Fitting, Spoken


@dataclass(frozen=True, slots=True)
class TimeMap:
    """Film time and the time of the copy. ``pauses`` ascend; several may be at one second.

    A second of the film is one of the copy, but for that of a pause, which is a stretch of it: `early` is
    where the stretch begins and `late` where it ends. With 2 s of pause at 10 s: ``early(10) = 10``,
    ``late(10) = 12``, both take 9 to 9 and 11 to 13; `film` takes 10, 11 and 12 to 10, and 13 to 11.
    """

    pauses: tuple[Pause, ...] = ()

    def __post_init__(self) -> None:
        seconds = [pause.at for pause in self.pauses]
        if seconds != sorted(seconds):
            raise ValueError(f"pauses must ascend, got {seconds}")

    @property
    def total(self) -> float:
        """Seconds of all pauses together."""
        return self._waited(len(self.pauses))

    def early(self, second: float) -> float:
        """Where a film second is reached: for ends of what is shown or heard."""
        return second + self._waited(bisect_left(self.pauses, second, key=_at))

    def late(self, second: float) -> float:
        """Where the film goes on from a second: for starts, and for all that the film itself holds."""
        return second + self._waited(bisect_right(self.pauses, second, key=_at))

    def film(self, second: float) -> float:
        """The film second at a second of the copy; throughout a pause, that at which the film stands."""
        begins = self._begins()
        count = bisect_right(begins, second)
        if count == 0:
            return second
        last = self.pauses[count - 1]
        return max(last.at, second - self._waited(count))

    def interval(self, interval: Interval) -> Interval:
        """What stretches over a pause lasts through it; what ends or begins at one does not."""
        return Interval(self.late(interval.start), self.early(interval.end))

    def pause(self, number: int) -> Interval:
        """Pause ``number`` on the copy's time."""
        start = self._begins()[number]
        return Interval(start, start + self.pauses[number].length)

    def gains(self, points: Sequence[GainPoint]) -> tuple[GainPoint, ...]:
        """Bends of the programme's level where they fall on the copy's time."""
        return tuple(replace(point, seconds=self.late(point.seconds)) for point in points)

    def utterances(self, speech: Iterable[Utterance]) -> tuple[Utterance, ...]:
        """Speech of the film on the copy's time."""
        return tuple(replace(said, interval=self.interval(said.interval)) for said in speech)

    def shots(self, shots: Iterable[Shot]) -> tuple[Shot, ...]:
        """Shots of the film on the copy's time."""
        return tuple(Shot(shot.index, self.interval(shot.interval)) for shot in shots)

    def line(self, line: Spoken) -> Spoken:
        """A line on the copy's time; it sounds there in one piece, and asks for no pause any more.

        One with a pause of its own begins as far from the pause's beginning as it does from `pause_at` on
        film time.
        """
        number = next((i for i, pause in enumerate(self.pauses) if pause.cue_id == line.id), None)
        if number is None or not line.pause:
            return replace(line, start=self.late(line.start), pause=0.0, pause_at=0.0)
        start = self._begins()[number] + (line.start - self.pauses[number].at)
        return replace(line, start=start, pause=0.0, pause_at=0.0)

    def fitting(self, fitting: Fitting) -> Fitting:
        """All lines on the copy's time, where they ascend and do not overlap."""
        moved = sorted((self.line(line) for line in fitting.spoken), key=lambda line: line.start)
        return Fitting(tuple(moved), fitting.unspoken)

    def _waited(self, count: int) -> float:
        """Seconds of the first ``count`` pauses."""
        return sum(pause.length for pause in self.pauses[:count])

    def _begins(self) -> list[float]:
        waited = accumulate((pause.length for pause in self.pauses), initial=0.0)
        return [pause.at + before for pause, before in zip(self.pauses, waited, strict=False)]


def _at(pause: Pause) -> float:
    return pause.at
