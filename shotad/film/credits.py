"""Where the roll of end credits is, from the text that was seen. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from shotad.core import Interval, Sighting

SHORTEST = 8.0
"""Seconds; a shorter stretch of text is a title or a sign."""
SHORTEST_FULL = 5.0
"""The same where it reaches the film's end and shows many lines at once."""
MANY_LINES = 5
"""So many lines at once are no title and no sign."""
LONGEST_BLANK = 12.0
"""Seconds without text that credits may have between two cards."""
DENSITY = 0.6
"""Share of the moments of the stretch that show text."""
LINES = 2
"""Lines of text at one moment; one alone is a title, a sign or a burnt-in subtitle."""
_SUBTITLE_TOP = 0.75
"""Height below which text is taken for subtitles."""


def credits_interval(
    sightings: Sequence[Sighting], moments: Sequence[float], film: Interval
) -> Interval | None:
    """The roll of credits in the second half of ``film``, or None.

    ``sightings`` are lines of text, ``moments`` all the seconds at which text was looked for, those
    without any included. Credits are the longest stretch in which most moments show several lines
    that are not all at the bottom.
    """
    looked = sorted(set(moments))
    shown = Counter(s.seconds for s in sightings if s.box.centre[1] < _SUBTITLE_TOP)
    lines = Counter(s.seconds for s in sightings)
    full = [m for m in looked if m >= film.middle and lines[m] >= LINES and shown[m] > 0]
    runs = [run for run in _runs(full) if _dense(run, looked)]
    stretches = [(_stretch(run, looked, film), max(lines[m] for m in run)) for run in runs]
    long = [stretch for stretch, most in stretches if _is_roll(stretch, most, film)]
    return max(long, key=lambda stretch: (stretch.duration, stretch.start), default=None)


def _is_roll(stretch: Interval, most_lines: int, film: Interval) -> bool:
    if stretch.duration >= SHORTEST:
        return True
    at_end = film.end - stretch.end < 1
    return at_end and most_lines >= MANY_LINES and stretch.duration >= SHORTEST_FULL


def _runs(moments: Sequence[float]) -> list[list[float]]:
    runs: list[list[float]] = []
    for moment in moments:
        if runs and moment - runs[-1][-1] <= LONGEST_BLANK:
            runs[-1].append(moment)
        else:
            runs.append([moment])
    return runs


def _dense(run: Sequence[float], looked: Sequence[float]) -> bool:
    inside = bisect_left(looked, run[-1]) - bisect_left(looked, run[0]) + 1
    return len(run) >= DENSITY * inside


def _stretch(run: Sequence[float], looked: Sequence[float], film: Interval) -> Interval:
    """From the first moment to the first after the run that showed none, or the film's end."""
    after = bisect_left(looked, run[-1]) + 1
    return Interval(run[0], looked[after] if after < len(looked) else max(film.end, run[-1] + 1e-3))
