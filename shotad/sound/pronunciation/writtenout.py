"""What is said for what is written: all rules in their order. Pure but for the language's words."""

from __future__ import annotations

from shotad.sound.pronunciation.abbreviations import abbreviations_said, romans_said
from shotad.sound.pronunciation.capitals import capitals_said
from shotad.sound.pronunciation.lexicon import NOTHING, Lexicon, spoken_marks
from shotad.sound.pronunciation.quantities import quantities_said
from shotad.sound.pronunciation.signs import signs_said, tidied, without_markup
from shotad.sound.pronunciation.words import words_of
from shotad.sound.voices.base import Reading


def said(
    text: str, language: str, lexicon: Lexicon = NOTHING, reads: frozenset[Reading] = frozenset()
) -> str:
    """The text as it is sent to a voice that turns ``reads`` into words by itself.

    Words of the lexicon are settled first, and no other rule touches their sayings.

    >>> said("SINTEL & Dr. Lee read “Chapter II”.", "en", parse_lexicon("Sintel = Sin-TELL"))
    'Sin-TELL and Doctor Lee read “Chapter two”.'
    """
    words = words_of(language)
    marked, sayings = lexicon.marked(text)
    marked = without_markup(marked)
    marked = abbreviations_said(marked, words)
    marked = romans_said(marked, words, language)
    marked = quantities_said(marked, words, language, reads)
    marked = capitals_said(signs_said(marked, words), words, reads)
    return spoken_marks(tidied(marked), sayings)
