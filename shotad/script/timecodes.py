"""Times as script files spell them, and back to seconds."""

from __future__ import annotations

import re

from shotad.script.cue import milliseconds

_CLOCK = re.compile(r"(?:(?P<h>\d+):)?(?P<m>\d{1,2}):(?P<s>\d{1,2})(?:[.,](?P<f>\d+))?")
_SECONDS = re.compile(r"\d+(?:[.,]\d+)?")


def timecode(seconds: float, mark: str = ".") -> str:
    """``83.12 → 00:01:23.120``; ``mark`` parts the milliseconds, a comma in SRT."""
    whole, milli = divmod(milliseconds(seconds), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{mark}{milli:03d}"


def parse_time(text: str) -> float:
    """Seconds from ``00:01:23.120``, ``1:23,12``, ``83.12`` or ``83,12``. Raises ValueError with the text."""
    text = text.strip()
    if match := _CLOCK.fullmatch(text):
        if int(match["s"]) > 59 or (match["h"] is not None and int(match["m"]) > 59):
            raise ValueError(f"{text!r} has over 59 seconds or minutes")
        whole = int(match["h"] or 0) * 3600 + int(match["m"]) * 60 + int(match["s"])
        return float(f"{whole}.{match['f'] or 0}")
    if _SECONDS.fullmatch(text):
        return float(text.replace(",", "."))
    raise ValueError(f"{text!r} is no time such as 00:01:23.120 or 83.12")
