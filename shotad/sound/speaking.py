"""Lines spoken and checked: a take that is shorter than anybody could say its words in is only half of them.

Length is compared with the text that the voice was given, by letters (`shotad.script.pace`). Measured on 173
lines of human AD with two voices of espeak-ng and the embedded one, and on some lines in 23 languages: 36 to
268 words a minute with a breath (`tempo`), and lines of five words and more at most 1.25 times a voice's
median.
"""

from __future__ import annotations

import re
import threading
from bisect import insort
from collections.abc import Sequence

from shotad.core import VoiceError, quoted
from shotad.script import tempo, usual_words
from shotad.sound.kinds import PACE, Take
from shotad.sound.voice_engines import Speaker
from shotad.sound.voice_sound import BadTakeError

FASTEST = 300.0
"""Words a minute at the pace of AD. Twice as fast as voices speak, so that half a line is found."""

TOO_FAST = 1.6
"""Times a voice's own median, above which it is asked again. Half a line, with its breath, is at 1.9."""

ENOUGH = 8
"""Takes by which a voice's median is known."""

LONG = 4.0
"""Words of usual length that a line must have to count for it: the pace of shorter ones says little."""

SLOWEST = 2.5
"""Seconds for a word, and 6 more for pauses: what lasts longer is a voice that has lost itself."""
_PAUSES = 6.0

TRIES = 3
"""How often a voice is asked for a line. A server that breaks off does so seldom twice."""

SAME = 0.05
"""Share by which the lengths of two takes may differ that are one: then the voice speaks so."""


_DIGIT = re.compile(r"\d")


LONGEST = 600.0
"""Seconds that a line may take by its words at the pace of AD. It is longer than any gap, and hours of work
for some voices."""


def is_speakable(text: str, language: str) -> bool:
    """Whether a text, as it is sent to a voice, may be spoken at all: it is not endless."""
    return usual_words(text, language) * 60 / PACE <= LONGEST


class Checker:
    """Knows how fast a voice speaks, and what is wrong with a take. May be used by several threads."""

    def __init__(self, voice: str, language: str) -> None:
        self._voice, self._language = voice, language
        self._tempos: list[float] = []
        self._lock = threading.Lock()

    def need_speakable(self, text: str) -> None:
        """Raises VoiceError for a text that would be spoken without an end."""
        if not is_speakable(text, self._language):
            minutes = usual_words(text, self._language) / PACE
            what = f"A line would take {minutes:.0f} minutes to say: {quoted(text)}."
            raise VoiceError(what, f"Make it shorter: {LONGEST / 60:.0f} minutes at most.", again=False)

    def problem(self, text: str, take: Take, pace: float) -> str:
        """Why a take of ``text`` cannot be whole; empty where nothing is wrong with it."""
        seconds = take.seconds * self._pace(take, pace)
        message = f"The voice {self._voice} gave {take.seconds:.1f} s for {quoted(text)}"
        if tempo(self._fewest_words(text), seconds) > FASTEST:
            return f"{message}: nobody speaks so fast, so it is cut off."
        if seconds > _PAUSES + SLOWEST * usual_words(text, self._language):
            return f"{message}: nobody speaks so slowly, so it is something else."
        return ""

    def is_unusual(self, text: str, take: Take, pace: float) -> bool:
        """Whether a take is much faster than others of this voice."""
        words = self._fewest_words(text)
        with self._lock:
            if len(self._tempos) < ENOUGH or words < LONG:
                return False
            median = self._tempos[len(self._tempos) // 2]
        return tempo(words, take.seconds * self._pace(take, pace)) > TOO_FAST * median

    def add(self, text: str, take: Take, pace: float) -> None:
        """Note a take that is whole."""
        words = self._fewest_words(text)
        if words >= LONG:
            with self._lock:
                insort(self._tempos, tempo(words, take.seconds * self._pace(take, pace)))

    def _fewest_words(self, text: str) -> float:
        """How many words it takes at least to say a text: 2,000,000 has seven digits and two words."""
        return usual_words(_DIGIT.sub("a", text), self._language)

    @staticmethod
    def _pace(take: Take, pace: float) -> float:
        """By what a take is faster than at the pace of AD; a voice that knows no pace may have taken it."""
        return max(take.speed, pace)


def speak_checked(voice: Speaker, text: str, pace: float, checker: Checker, take: Take | None = None) -> Take:
    """The voice's take of a text that is whole; ``take`` is one that it gave already.

    A take that is broken, cut off, or much faster than usual is asked for again. Raises VoiceError where none
    of them can be used.
    """
    checker.need_speakable(text)
    error: VoiceError | None = None
    unusual: list[Take] = []
    for attempt in range(TRIES):
        try:
            if take is None or attempt:
                take = voice.speak(text, pace)
        except BadTakeError as bad:
            error = bad
            continue
        problem = checker.problem(text, take, pace) if voice.speaks_words else ""
        if problem:
            error = BadTakeError(problem, "Try another voice (shotad voices), or split the line.")
        elif not voice.speaks_words or not checker.is_unusual(text, take, pace):
            checker.add(text, take, pace)
            return take
        else:
            unusual.append(take)
            if any(abs(other.size - take.size) <= SAME * take.size for other in unusual[:-1]):
                break
    if unusual:
        # Whatever it lacks, the longest lacks least.
        return max(unusual, key=lambda other: other.size)
    assert error is not None
    raise error


def speak_all_checked(voice: Speaker, texts: Sequence[str], pace: float, checker: Checker) -> list[Take]:
    """A whole take of each text, as `speak_checked`; all are asked for in one go where the voice can."""
    for text in texts:
        checker.need_speakable(text)
    takes: Sequence[Take | None]
    try:
        takes = voice.speak_all(texts, pace) if len(texts) > 1 else [None]
    except BadTakeError:
        takes = [None] * len(texts)
    return [speak_checked(voice, text, pace, checker, take) for text, take in zip(texts, takes, strict=True)]
