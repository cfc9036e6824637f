"""Takes checked by their length: one that is shorter than anybody could say its words in is cut off.

The length is compared with the text that the voice was given, by letters (`shotad.script.pace`). Measured on
173 lines of human AD with two voices of espeak-ng and the embedded one, and on some lines in 23 languages:
36 to 268 words a minute with a breath (`tempo`), and lines of five words and more at most 1.25 times a
voice's median.
"""

from __future__ import annotations

import re
import threading
from bisect import insort
from collections.abc import Sequence
from contextlib import suppress

from shotad.core.errors import VoiceError, quoted
from shotad.script.pace import tempo, usual_words
from shotad.sound.kinds import PACE, Take
from shotad.sound.voice_engines import Speaker
from shotad.sound.voice_sound import BadTakeError

MAX_TEMPO = 300.0
"""Words a minute at the pace of AD. Twice as fast as voices speak, so that half a line is noticed."""

UNUSUAL_TEMPO = 1.6
"""Times a voice's median tempo, above which it is asked again. Half a line, with its breath, is at 1.9."""

MIN_TAKES = 8
"""Takes that a voice must have spoken before its median counts."""

MIN_WORDS = 4.0
"""Words of usual length that a line must have to count for the median: shorter ones say little of a pace."""

MAX_SECONDS_PER_WORD = 2.5
_SECONDS_FOR_PAUSES = 6.0
"""A take that lasts longer than all its words and these seconds is a voice that has lost itself."""

TRIES = 3
"""How often a voice is asked for a line. A server that breaks off does so seldom twice."""

SAME_LENGTH = 0.05
"""Share by which the lengths of two takes may differ and still count as the same length."""

MAX_SECONDS = 600.0
"""Seconds that a line may take by its words at the pace of AD. It is longer than any gap, and hours of work
for some voices."""

_DIGIT = re.compile(r"\d")


def is_speakable(text: str, language: str) -> bool:
    """Whether a text, as it is sent to a voice, is short enough to be spoken (`MAX_SECONDS`)."""
    return usual_words(text, language) * 60 / PACE <= MAX_SECONDS


class Checker:
    """Says what is wrong with a take, by how fast its voice speaks. May be used by several threads."""

    def __init__(self, voice: str, language: str) -> None:
        self._voice, self._language = voice, language
        self._tempos: list[float] = []
        self._lock = threading.Lock()

    def need_speakable(self, text: str) -> None:
        """Raise VoiceError for a text that would take too long to say."""
        if not is_speakable(text, self._language):
            minutes = usual_words(text, self._language) / PACE
            message = f"A line would take {minutes:.0f} minutes to say: {quoted(text)}."
            raise VoiceError(
                message, f"Make it shorter: {MAX_SECONDS / 60:.0f} minutes at most.", again=False
            )

    def problem(self, text: str, take: Take, pace: float) -> str:
        """Why a take of ``text`` that was asked for at ``pace`` cannot be whole; empty where it can."""
        seconds = self._seconds_at_pace_1(take, pace)
        message = f"The voice {self._voice} gave {take.seconds:.1f} s for {quoted(text)}"
        if tempo(self._fewest_words(text), seconds) > MAX_TEMPO:
            return f"{message}: nobody speaks so fast, so it is cut off."
        if seconds > _SECONDS_FOR_PAUSES + MAX_SECONDS_PER_WORD * usual_words(text, self._language):
            return f"{message}: nobody speaks so slowly, so it is something else."
        return ""

    def is_unusual(self, text: str, take: Take, pace: float) -> bool:
        """Whether a take is much faster than others of this voice; False until there are enough of them."""
        words = self._fewest_words(text)
        with self._lock:
            if len(self._tempos) < MIN_TAKES or words < MIN_WORDS:
                return False
            median = self._tempos[len(self._tempos) // 2]
        return tempo(words, self._seconds_at_pace_1(take, pace)) > UNUSUAL_TEMPO * median

    def add(self, text: str, take: Take, pace: float) -> None:
        """Count a whole take for the voice's median tempo."""
        words = self._fewest_words(text)
        if words >= MIN_WORDS:
            with self._lock:
                insort(self._tempos, tempo(words, self._seconds_at_pace_1(take, pace)))

    def _fewest_words(self, text: str) -> float:
        """How many words it takes at least to say a text: 2,000,000 has seven digits and two words."""
        return usual_words(_DIGIT.sub("a", text), self._language)

    @staticmethod
    def _seconds_at_pace_1(take: Take, pace: float) -> float:
        """How long a take would last at the pace of AD.

        A voice that states no speed of its own (`Take.speed` 1) may still have spoken at the ``pace``.
        """
        return take.seconds * max(take.speed, pace)


def speak_checked(voice: Speaker, text: str, pace: float, checker: Checker, take: Take | None = None) -> Take:
    """A take of a text that passes the ``checker``; ``take`` is one that the voice has given already.

    A take that is broken, cut off, or much faster than usual is asked for again. Raises VoiceError where none
    of them can be used.
    """
    checker.need_speakable(text)
    error: VoiceError | None = None
    unusual: list[Take] = []
    for attempt in range(TRIES):
        try:
            if take is None or attempt > 0:
                take = voice.speak(text, pace)
        except BadTakeError as bad_take:
            error = bad_take
            continue
        if not voice.speaks_words:
            # Its sound says nothing about the words, so no length is wrong.
            checker.add(text, take, pace)
            return take
        problem = checker.problem(text, take, pace)
        if problem:
            error = BadTakeError(problem, "Try another voice (shotad voices), or split the line.")
            continue
        if not checker.is_unusual(text, take, pace):
            checker.add(text, take, pace)
            return take
        # Twice the same length is no accident: this voice says the line so fast.
        is_repeated = any(abs(other.size - take.size) <= SAME_LENGTH * take.size for other in unusual)
        unusual.append(take)
        if is_repeated:
            break
    if unusual:
        # Whatever they lack, the longest lacks least.
        return max(unusual, key=lambda candidate: candidate.size)
    assert error is not None
    raise error


def speak_all_checked(voice: Speaker, texts: Sequence[str], pace: float, checker: Checker) -> list[Take]:
    """A take of each text that passes the ``checker``; the voice is given all texts in one call first."""
    for text in texts:
        checker.need_speakable(text)
    takes: Sequence[Take | None] = [None] * len(texts)
    if len(texts) > 1:
        # One bad take spoils the call, and each text is spoken by itself then.
        with suppress(BadTakeError):
            takes = voice.speak_all(texts, pace)
    return [speak_checked(voice, text, pace, checker, take) for text, take in zip(texts, takes, strict=True)]
