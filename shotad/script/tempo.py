"""How fast a line is spoken, in words a minute.

Words a minute are told of passages, with words of all lengths and the breaths between sentences. In a single
line neither evens out: five short words without a pause are 211 words a minute at a pace of 165. So letters
are counted and told as words of the usual length (4.3 letters; of other languages as English words that take
as long, see `shotad.script.pace`), and a breath is counted with each line: of AD in the cinema it lasts 0.19
seconds (Jankowska, Ziółko, Igras-Cybulska and Psiuk, Reading rate in filmic audio description, Rivista
Internazionale di Tecnica della Traduzione 19, 2017).
"""

from __future__ import annotations

from shotad.script.pace import ENGLISH, rate_of

BREATH = 0.2
"""Seconds."""
_DIGIT = 4
"""Letters that a digit counts where words have several, as in `shotad.script.pace`."""


def tempo(words: float, seconds: float) -> float:
    """Words a minute of a line that takes ``seconds``, with the breath that goes with it."""
    return words * 60 / (seconds + BREATH)


def usual_words(text: str, language: str = "en") -> float:
    """How many English words of the usual length take as long to say.

    >>> round(usual_words("a cat"), 1), round(usual_words("Finnegan"), 1)
    (0.9, 1.8)
    """
    rate = rate_of(language)
    letters = sum(_DIGIT if char.isdigit() and rate.words else 1 for char in text if char.isalnum())
    return letters * ENGLISH.words / rate.letters
