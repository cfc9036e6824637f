"""T3: lines that are spoken too fast. Pure logic."""

from __future__ import annotations

from collections.abc import Iterator

from shotad.core import is_english
from shotad.script.cue import count_words
from shotad.script.lint.lines import TrackLine
from shotad.script.rules import Finding, Level, Limits
from shotad.script.tempo import tempo, usual_words


def check_pace(line: TrackLine, limits: Limits) -> Iterator[Finding]:
    """T3 for the line as it is heard, or as it would have to be spoken in its time."""
    rate = tempo(_length(line), line.heard.duration)
    for level, limit in ((Level.ERROR, limits.rate_error), (Level.WARNING, limits.rate_warning)):
        if rate > limit + 1e-6:
            what = "spoken at" if _is_spoken(line) else "would have to be spoken at"
            yield Finding("T3", level, f"{what} {rate:.0f} words a minute, over {limit:g}")
            return


def _length(line: TrackLine) -> float:
    """In words of the usual length.

    Times of a line that no voice has spoken are planned by counting words, and a voice may need more or less
    for them: then the fewer of words and usual words count.
    """
    usual = usual_words(line.said, line.language)
    if _is_spoken(line) or not is_english(line.language):
        return usual
    return min(usual, count_words(line.said))


def _is_spoken(line: TrackLine) -> bool:
    return line.voiced is not None and line.voiced.interval is not None
