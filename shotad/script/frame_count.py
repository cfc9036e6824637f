"""How a film's frames are counted: frames a second, drop-frame or not, and the first frame's time code (SMPTE
ST 12-1)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from shotad.core import Interval
from shotad.core.errors import quoted
from shotad.script.cue import DEFAULT_FRAME_RATE, nearest_frame, on_frames

NAMED_RATES = {
    "23.976": Fraction(24000, 1001),
    "23.98": Fraction(24000, 1001),
    "29.97": Fraction(30000, 1001),
    "47.952": Fraction(48000, 1001),
    "47.95": Fraction(48000, 1001),
    "59.94": Fraction(60000, 1001),
}
"""Frames a second as people write them, where that is not the exact number."""

_TIMECODE = re.compile(r"(?P<h>\d{2}):(?P<m>[0-5]\d):(?P<s>[0-5]\d)(?P<mark>[:;.,])(?P<f>\d{2,3})")
_SPEC = re.compile(r"(?P<rate>[\d./]+)(?P<drop>df)?(?:\+(?P<start>[\d:;.]+))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FilmFrames:
    """How a film's frames are counted: frames a second, in drop-frame time code or not, and the number of the
    first frame in that count. ``width`` and ``height`` are in pixels, 0 where they are not known.

    Raises ValueError for drop-frame time code at a rate that has none: only 30000/1001 and 60000/1001 do.
    """

    frame_rate: Fraction = DEFAULT_FRAME_RATE
    is_drop: bool = False
    start: int = 0
    width: int = 0
    height: int = 0

    def __post_init__(self) -> None:
        if self.is_drop and self.frame_rate not in (NAMED_RATES["29.97"], NAMED_RATES["59.94"]):
            raise ValueError(f"there is no drop-frame time code at {self.frame_rate} frames a second")

    @staticmethod
    def parse(spec: str) -> FilmFrames:
        """From ``25``, ``23.976``, ``30000/1001``, ``29.97df`` (drop-frame), ``25+01:00:00:00`` (with the
        time code of the first frame). Raises ValueError for anything else."""
        match = _SPEC.fullmatch(spec)
        if match is None:
            raise ValueError(f"{spec!r} names no frames a second")
        rate = NAMED_RATES.get(match["rate"]) or Fraction(match["rate"])
        if not 1 <= rate <= 240:
            raise ValueError(f"{rate} is no number of frames a second from 1 to 240")
        frames = FilmFrames(rate, match["drop"] is not None)
        return frames if match["start"] is None else frames.starting_at(match["start"])

    def starting_at(self, timecode: str) -> FilmFrames:
        """The same count with the time code of the first frame; a semicolon in it means drop-frame.

        Raises ValueError for what is no time code.
        """
        is_drop = self.is_drop or ";" in timecode
        frames = FilmFrames(self.frame_rate, is_drop, 0, self.width, self.height)
        return FilmFrames(self.frame_rate, is_drop, frames.number_of(timecode), self.width, self.height)

    @property
    def nominal_rate(self) -> int:
        """Frames that time code counts in each second: 30 at 29.97."""
        return math.ceil(self.frame_rate)

    @property
    def _dropped(self) -> int:
        """Frame numbers that are left out in each minute but every tenth."""
        return self.nominal_rate // 15 if self.is_drop else 0

    def timecode(self, number: int) -> str:
        """The SMPTE time code of the frame with this number: at 25 a second ``1500 → 00:01:00:00``."""
        if self.is_drop:
            in_minute = self.nominal_rate * 60 - self._dropped
            in_ten_minutes = in_minute * 10 + self._dropped
            tens, rest = divmod(number, in_ten_minutes)
            minutes = max(0, rest - self._dropped) // in_minute
            number += (tens * 9 + minutes) * self._dropped
        seconds, frame = divmod(number, self.nominal_rate)
        mark = ";" if self.is_drop else ":"
        return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{mark}{frame:02d}"

    def number_of(self, timecode: str) -> int:
        """The number of the frame with this time code. Raises ValueError for one that there is not."""
        match = _TIMECODE.fullmatch(timecode)
        if match is None or int(match["f"]) >= self.nominal_rate:
            raise ValueError(f"{quoted(timecode)} is no time code at {self.nominal_rate} frames a second")
        minutes = int(match["h"]) * 60 + int(match["m"])
        number = (minutes * 60 + int(match["s"])) * self.nominal_rate + int(match["f"])
        return number - self._dropped * (minutes - minutes // 10)

    def span(self, interval: Interval) -> tuple[int, int]:
        """The numbers of the first frame of a line and of the first after it."""
        rounded = on_frames(interval, self.frame_rate)
        return (
            self.start + nearest_frame(rounded.start, self.frame_rate),
            self.start + nearest_frame(rounded.end, self.frame_rate),
        )

    def interval(self, first: int, end: int) -> Interval:
        """Seconds of the film between two frame numbers. Raises ValueError for an empty or negative span."""
        return Interval(
            float((first - self.start) / self.frame_rate), float((end - self.start) / self.frame_rate)
        )

    @property
    def spec(self) -> str:
        """The rate as `parse` reads it: ``25``, ``30000/1001df``."""
        return f"{self.frame_rate}{'df' if self.is_drop else ''}"
