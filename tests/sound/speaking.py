"""A studio for tests: a line is as long as its letters, and what was asked is counted."""

from __future__ import annotations

import numpy as np

from shotad.core import Interval
from shotad.sound import Take
from shotad.sound.kinds import LineToSpeak

RATE = 8000


class Slow:
    """Speaks ``pace`` seconds a letter; ``odd`` texts take as long as they say there."""

    voice = "fake:slow"

    def __init__(self, pace: float = 0.1, odd: dict[str, float] | None = None) -> None:
        self.asked: list[str] = []
        self._pace, self._odd = pace, odd or {}

    def seconds(self, text: str) -> float:
        return self._odd.get(text, sum(char.isalpha() for char in text) * self._pace)

    def say(self, text: str, speed: float = 1.0) -> Take:
        self.asked.append(text)
        number = max(1, round(self.seconds(text) / speed * RATE))
        tone = 0.3 * np.sin(np.arange(number) * 0.1)
        return Take(tone.astype(np.float32), RATE, self.voice, text, speed)


def line(
    text: str, start: float, room: tuple[float, float], name: str = "", language: str = "en"
) -> LineToSpeak:
    """A line wanted at ``start`` that may use ``room``."""
    whole = Interval(*room)
    slot = Interval(max(start, whole.start), whole.end) if start < whole.end else whole
    return LineToSpeak(name or f"s{round(start * 1000):08d}", text, start, slot, whole, language)
