"""Numbers that servers write into the words of their errors: how long to wait, how many images they take.

No protocol has a field for either, so they are read from sentences. Wordings are those of servers as reported:
for pauses github.com/diegosouzapw/OmniRoute/issues/9504 (``retryDelay`` and "Please retry in", Gemini).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_UNITS: Mapping[str, float] = {
    "ms": 0.001,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "秒": 1.0,
    "分": 60.0,
}
"""Seconds of each unit, by the beginning of its name."""
_QUANTITY = (
    r"(\d+(?:\.\d+)?)\s*(milliseconds?|millis|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)"
    r"(?![a-z])"
)
_DURATION = rf"(?:{_QUANTITY}[\s,]*(?:and\s+)?)+"
_WAITING = r"(?:retry(?:ing)?|try(?:ing)? again|wait(?:ing)?|resets?|available(?: again)?|come back|cooldown)"
_PAUSE_IN_WORDS = re.compile(
    rf"{_WAITING}(?:[_ ]?(?:delay|after|in))?[\"'\s:=]*"
    rf"(?:(?:in|after|for|at least|another|about|approximately|your request|of)\s+)*(?P<duration>{_DURATION})"
)
_PAUSE_FIELD = re.compile(
    r"retry[_-]?(?:after|delay|in)[_-]?(?P<unit>ms|s|seconds)?[\"']?\s*[:=]\s*[\"']?(?P<number>\d+(?:\.\d+)?)(?![\w.])"
)
"""A field of JSON with a number alone."""
_PAUSE_IN_CHINESE = re.compile(r"(\d+(?:\.\d+)?)\s*(秒|分)钟?\s*之?以?后")


def seconds_of(duration: str) -> float:
    """The seconds of a duration in words; 0 where it holds none.

    >>> seconds_of("7m12.5s"), seconds_of("1 hour and 5 minutes"), seconds_of("250ms")
    (432.5, 3900.0, 0.25)
    """
    total = 0.0
    for number, unit in re.findall(_QUANTITY, duration.lower()):
        total += float(number) * _UNITS["ms" if unit.startswith(("ms", "milli")) else unit[0]]
    return total


def pause_in(text: str) -> float | None:
    """The pause in seconds that an error asks for in its words; None where it names none.

    >>> pause_in('{"message": "Please retry in 50.1s."}'), pause_in('{"retryDelay": "50s"}')
    (50.1, 50.0)
    >>> pause_in("Please try again in 1m0.5s."), pause_in('{"retry_after": 12}'), pause_in("Try again.")
    (60.5, 12.0, None)
    """
    words = text.lower()
    if (sentence := _PAUSE_IN_WORDS.search(words)) is not None:
        return seconds_of(sentence["duration"])
    if (field := _PAUSE_FIELD.search(words)) is not None:
        return float(field["number"]) * _UNITS["ms" if field["unit"] == "ms" else "s"]
    if (chinese := _PAUSE_IN_CHINESE.search(words)) is not None:
        return float(chinese[1]) * _UNITS["s" if chinese[2] == "秒" else "m"]
    return None
