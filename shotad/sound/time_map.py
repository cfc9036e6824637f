"""From seconds of the film to seconds of the copy that pauses, and the side files that tell players of
the pauses.

`pauses.json` says all that is known. `pauses_vtt` is for players that pause the original film
by themselves and play the spoken lines beside it: a WebVTT track of ``kind="metadata"`` on the film's own
time, whose cues are JSON on one line, ``{"pause": 2.5, "line": "s00012300", "starts": 11.9}``: when a cue
comes up, pause for so many seconds; the line's own sound begins at film second ``starts``.

Able Player knows no such file: its metadata tracks know only ``pause`` without an end. It takes extended AD
as a second film, named by ``data-desc-src`` beside the original (the described copy serves there), or pauses
for each cue of a descriptions track that it reads aloud itself (``data-desc-pause-default="true"``).
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from shotad.core import FilmInfo, Interval
from shotad.script import timecode
from shotad.sound.kinds import Fitting, Spoken
from shotad.sound.pauses import Extension, Pause


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
        return second + self._waited(bisect_left(self.pauses, second, key=lambda pause: pause.at))

    def late(self, second: float) -> float:
        """Where the film goes on from a second: for starts, and for all that the film itself holds."""
        return second + self._waited(bisect_right(self.pauses, second, key=lambda pause: pause.at))

    def interval(self, interval: Interval) -> Interval:
        """What stretches over a pause lasts through it; what ends or begins at one does not."""
        return Interval(self.late(interval.start), self.early(interval.end))

    def pause(self, number: int) -> Interval:
        """Pause ``number`` on the copy's time."""
        start = self._begins()[number]
        return Interval(start, start + self.pauses[number].length)

    def line(self, line: Spoken) -> Spoken:
        """A line on the copy's time; it sounds there in one piece, and asks for no pause any more.

        One with a pause of its own begins as far from the pause's beginning as it does from `Pause.at` on
        film time.
        """
        number = next((i for i, pause in enumerate(self.pauses) if pause.cue_id == line.id), None)
        if number is None or not line.pause:
            return replace(line, start=self.late(line.start), pause=0.0)
        start = self._begins()[number] + (line.start - self.pauses[number].at)
        return replace(line, start=start, pause=0.0)

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


_SHOWN = 0.5
"""Seconds for which a cue stays up, so that a player that looks four times a second sees it."""


def pauses_record(info: FilmInfo, extension: Extension, language: str, voice: str) -> dict[str, Any]:
    """What `pauses.json` holds: the pauses of a film, in its order, in seconds of the original film.

    ``copy_…`` are seconds of the copy; a line that ``starts`` after ``at`` begins so much into the pause.
    """
    times = TimeMap(extension.pauses)
    by_id = {line.id: line for line in extension.fitting.spoken}
    pauses = []
    for number, pause in enumerate(extension.pauses):
        line, waits = by_id[pause.cue_id], times.pause(number)
        seconds = {
            "at": pause.at,
            "length": pause.length,
            "starts": line.start,
            "spoken": line.take.seconds,
            "copy_start": waits.start,
            "copy_end": waits.end,
            "copy_starts": times.line(line).start,
        }
        rounded = {name: round(second, 3) for name, second in seconds.items()}
        pauses.append({"line": line.id, **rounded, "text": line.text})
    return {
        "schema_version": 1,
        "film": {"name": info.name, "fingerprint": info.fingerprint, "duration": round(info.duration, 3)},
        "copy_duration": round(info.duration + times.total, 3),
        "language": language,
        "voice": voice,
        "pauses": pauses,
    }


def pauses_vtt(record: Mapping[str, Any]) -> str:
    """A WebVTT metadata track on the original film's time; see the module's own words."""
    blocks = ["WEBVTT", "NOTE Pauses for extended audio description, one JSON object a cue."]
    for pause in record["pauses"]:
        words = json.dumps({"pause": pause["length"], "line": pause["line"], "starts": pause["starts"]})
        blocks.append(
            f"{pause['line']}\n{timecode(pause['at'])} --> {timecode(pause['at'] + _SHOWN)}\n{words}"
        )
    return "\n\n".join(blocks) + "\n"
