"""A speech recogniser for measuring: Whisper's tiny.en, as `shotad transcribe` has it.

English only. Small: it mishears one word in six to twenty by itself, so that what it does not find was not
necessarily unclear.
"""

from __future__ import annotations

from shotad.film.transcript import MAX_SECONDS as LONGEST, RATE, Samples, Word
from shotad.film.whisper import TinyEnglish as Whisper, words_of

__all__ = ["LONGEST", "RATE", "Samples", "Whisper", "Word", "words_of"]
